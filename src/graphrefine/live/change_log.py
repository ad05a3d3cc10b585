"""Changes of a graph: by names, as they are checked; and by rows, as a folder's log has them."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import InputError

SIGNS = {"+": 0, "-": 1, "=": 2}  # operations of the kernel
REMOVE_NODE = 3
CHANGE = np.dtype([("operation", "u1"), ("source", "<i4"), ("target", "<i4"), ("weight", "<f4")])

# Limits of the kernel. It keeps weights in float32 and sums of them in float64: between these, neither a degree nor the
# product of a weight and a vector overflows or becomes subnormal.
LEAST_WEIGHT, LARGEST_WEIGHT, RANGE = 2.0**-100, 2.0**100, "2^-100 to 2^100"


class Change(NamedTuple):
    """A change: ``+`` adds an edge, ``-`` removes one, ``=`` sets its weight; with one end, it is of a node."""

    sign: str
    source: Any  # None for a node on the target side of a bipartite graph
    target: Any  # None for a node
    weight: float  # 0 for a removal or a node


def parse_change(fields: Sequence[Any]) -> Change:
    """Return the change of a list of two to four fields, as files and requests have them.

    Empty text and NaN, as tables write a missing name, are none.

    Examples
    --------
    >>> parse_change(["+", "ann", 3.0])
    Change(sign='+', source='ann', target=3, weight=1.0)
    >>> parse_change(["-", "ann", "bob", 2])
    Traceback (most recent call last):
    graphrefine.errors.InputError: weight 2 of a removal or of a node; leave it empty
    """
    if not isinstance(fields, list | tuple) or not 2 <= len(fields) <= 4:
        raise InputError('a list such as ["+", "ann", "bob", 2] is expected')
    sign, source, target, weight = (*fields, None, None)[:4]
    source, target = (None if name == "" or name != name else name for name in (source, target))
    return check_change(sign, source, target, None if weight == "" else weight)


def check_change(sign: Any, source: Any, target: Any, weight: Any = None) -> Change:
    """Return a change; InputError if it is none in any graph. What it means in a graph, `NameResolution` checks."""
    if not isinstance(sign, str) or sign not in SIGNS:
        raise InputError(f"unknown op {shorten(sign)}; it must be + (add), - (remove) or = (set a weight)")
    source, target = (None if name is None else check_name(name) for name in (source, target))
    is_node = source is None or target is None
    if source is None and target is None:
        raise InputError("both source and target are empty; name a node")
    if is_node and sign == "=":
        raise InputError("an end is empty; = sets the weight of an edge: name both of its nodes")
    if is_node or sign == "-":
        if weight is not None:
            raise InputError(f"weight {shorten(weight)} of a removal or of a node; leave it empty")
        return Change(sign, source, target, 0.0)
    return Change(sign, source, target, 1.0 if weight is None else _check_weight(weight))


def check_name(name: Any) -> str | int:
    """Return a name as text or integer, also where a table has made it a float; InputError if it is neither."""
    # Floats up to 2^53 are exact; a larger one may come from several ids.
    is_whole = isinstance(name, float) and name.is_integer() and abs(name) <= 2.0**53
    if (isinstance(name, int | np.integer) and not isinstance(name, bool)) or is_whole:
        number = int(name)
        if -(2**63) <= number < 2**63:
            return number
    if isinstance(name, str) and not any(character in name for character in "\n\r\0"):
        with suppress(UnicodeEncodeError):
            name.encode("utf-8", "surrogateescape")  # as names are stored
            return str(name)
    raise InputError(f"{shorten(name)} is no name; name a node by text on one line or an integer of 64 bits")


def _check_weight(weight: Any) -> float:
    """Return the weight of an edge, also from text; InputError for one that the kernel cannot have."""
    number = math.nan
    # float() would also take True, "1_0" and digits of other scripts, which no table means as a weight.
    is_number = isinstance(weight, numbers.Real) and not isinstance(weight, bool)
    if is_number or (isinstance(weight, str) and weight.isascii() and "_" not in weight):
        with suppress(ValueError, OverflowError):
            number = float(weight)
    if not LEAST_WEIGHT <= number <= LARGEST_WEIGHT:
        problem = f"weight {shorten(weight)} is not a positive number in {RANGE}; - or remove() removes an edge"
        raise InputError(problem, argument="weight")
    return number


def shorten(value: object) -> str:
    """Return a value for a message, its middle left out if it is long."""
    text = repr(value)
    return text if len(text) <= 62 else f"{text[:58]}...{text[0] if isinstance(value, str) else ''}"


class ChangeGroup(NamedTuple):
    """A group of changes by rows of nodes, not names."""

    changes: NDArray[Any]  # of the type CHANGE
    names: list[Any]  # of the nodes that are new with it, integers or strings
    skip: bool = False  # whether removals of edges that do not exist are skipped

    def removed(self) -> NDArray[np.int64]:
        """Return the rows of nodes that are removed with it."""
        return np.unique(self.changes["source"][self.changes["operation"] == REMOVE_NODE]).astype(np.int64)

    def apply(self, kernel: Any) -> tuple[int, int]:
        """Apply the changes to the kernel's graph and settle it, without a commit; return what `change` returns."""
        kernel.add_nodes(len(self.names))
        ends = (self.changes[each].astype(np.int32) for each in ("source", "target"))
        operations, weights = self.changes["operation"].copy(), self.changes["weight"].astype(np.float32)
        outcome: tuple[int, int] = kernel.change(operations, *ends, weights, skip=self.skip)
        if not outcome[1]:
            kernel.settle()
        return outcome


class Origin(NamedTuple):
    """The origin of a group: a request, or a file of changes up to some record."""

    request: str | None = None
    stream: str | None = None
    records: int | None = None
    digest: str | None = None


class Update(NamedTuple):
    """A group with the vectors that moved: what a reader needs to go on from the group before it."""

    number: int  # of the group, from 1
    group: ChangeGroup
    moved: NDArray[Any]  # of the type `vector_dtype`, a record for each row


def vector_dtype(dim: int) -> np.dtype[Any]:
    """Return the type of a record of a vector that moved; its length is the one before it was made unit."""
    return np.dtype([("row", "<i8"), ("length", "<f8"), ("degree", "<f8"), ("vector", "<f4", (dim,))])
