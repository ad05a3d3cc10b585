"""Changes by names, and the same changes by rows: names that are new get rows, in the order in which they come."""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from graphrefine.errors import InputError, UnknownNameError
from graphrefine.graph.lookup import is_integer, quote_name
from graphrefine.live.logged import REMOVE_NODE, LoggedGroup
from graphrefine.live.published import Published

LEAST_WEIGHT, LARGEST_WEIGHT, RANGE = 2.0**-100, 2.0**100, "2^-100 to 2^100"  # of the kernel
_TEXT_NAMES = (
    "; for names of any kind create the graph anew with nodes=, a file that lists such a name: then all names are text"
)
_SPELLING = re.compile(r"\s*[+-]?[0-9]{1,18}\s*")  # of an integer that is written otherwise
SIGNS = {"+": 0, "-": 1, "=": 2}  # operations of the kernel


class Operation(NamedTuple):
    """A change: ``+`` adds an edge, ``-`` removes one, ``=`` sets its weight; without a target, of a node."""

    sign: str
    source: Any
    target: Any  # None: the node itself
    weight: float

    @classmethod
    def checked(cls, sign: str, source: Any, target: Any, weight: Any) -> Operation:
        """A change of an edge, of proper ends and weight.

        Examples
        --------
        >>> Operation.checked("+", "ann", "ann", 1)
        Traceback (most recent call last):
        graphrefine.errors.InputError: the edge 'ann' - 'ann' is a self-loop; live graphs have none
        """
        if source is None or target is None:
            raise InputError("None is no name; add_nodes() and remove_nodes() take nodes without an edge")
        if source == target:
            raise InputError(f"the edge {_edge(source, target)} is a self-loop; live graphs have none")
        if sign == "-":
            return cls(sign, source, target, 0.0)
        if type(weight) is not float or not LEAST_WEIGHT <= weight <= LARGEST_WEIGHT:  # most are
            _check_weight(source, target, weight)
        return cls(sign, source, target, float(weight))


def _edge(source: Any, target: Any) -> str:
    return f"{quote_name(source)} - {quote_name(target)}"


def _check_weight(source: Any, target: Any, weight: Any) -> None:
    """Raise InputError for a weight that an edge cannot have."""
    what = f"the weight {weight!r} of the edge {_edge(source, target)}"
    if isinstance(weight, bool) or not isinstance(weight, numbers.Real) or not math.isfinite(weight) or weight <= 0:
        more = "; remove() takes an edge away" if weight == 0 else ""
        raise InputError(f"{what} is not a positive number{more}", argument="weight")
    if not LEAST_WEIGHT <= float(weight) <= LARGEST_WEIGHT:
        raise InputError(f"{what} lies outside of {RANGE}", argument="weight")


class NameRows:
    """Rows of names while a group of changes is made: those that are there, and new ones.

    Parameters
    ----------
    published
        The names that are there.
    first
        The row of the first new one.

    Attributes
    ----------
    places
        For each change of the logged group, its place among the operations.
    """

    def __init__(self, published: Published, first: int) -> None:
        self._published, self._first = published, first
        self._kind = int if published.takes_integers else str
        self._own: dict[Any, int | None] = {}  # names that this group adds, or removes (None)
        self.new: list[Any] = []
        self.places: list[int] = []

    def row(self, name: Any) -> int | None:
        """The row of a name, or None."""
        return self._own[name] if name in self._own else self._published.row_of(name)

    def row_or_new(self, name: Any) -> int:
        """The row of a name; a new one if it has none."""
        row = self.row(name)
        if row is None:
            row = self._first + len(self.new)
            _check_new(name)
            self._own[name] = row
            self.new.append(name)
        return row

    def group(self, operations: Sequence[Operation], *, skip: bool) -> tuple[LoggedGroup, int]:
        """The changes by rows, and the number of those that were passed over as their nodes are not there."""
        kinds, sources, targets, weights = list[int](), list[int](), list[int](), list[float]()
        skipped = 0
        for place, operation in enumerate(operations):
            sign, weight = operation.sign, operation.weight
            source, target = self._proper(operation.source), self._proper(operation.target, empty=True)
            if source == target:  # also 1 and "1"
                edge = f"{quote_name(source)} - {quote_name(target)}"
                raise InputError(f"the edge {edge} is a self-loop; live graphs have none")
            if target is None and sign == "+":
                self.row_or_new(source)
                continue
            if sign == "-":
                ends = [self.row(source), source if target is None else self.row(target)]
                if ends[0] is None or ends[1] is None:
                    if not skip:
                        raise self._unknown(operation, place, len(operations))
                    skipped += 1
                    continue
                kind = REMOVE_NODE if target is None else SIGNS[sign]
                pair = (ends[0], ends[0] if target is None else ends[1])
                if target is None:
                    self._own[source] = None
            else:
                kind, pair = SIGNS[sign], (self.row_or_new(source), self.row_or_new(target))
            kinds.append(kind)
            sources.append(pair[0])
            targets.append(pair[1])
            weights.append(weight)
            self.places.append(place)
        ends32 = np.array(sources, np.int32), np.array(targets, np.int32)
        return LoggedGroup(np.array(kinds, np.uint8), *ends32, np.array(weights, np.float32), self.new, skip), skipped

    def _proper(self, name: Any, *, empty: bool = False) -> Any:
        """A name of the kind that the graph has: integers, also from text, or strings; None if it may be ``empty``."""
        if type(name) is self._kind or (empty and name is None):
            return name
        if self._published.takes_integers:
            return integer_name(name)
        if isinstance(name, np.integer) or (isinstance(name, int) and not isinstance(name, bool)):
            return str(name)
        if not isinstance(name, str):
            raise InputError(f"the name {name!r} is neither an integer nor a string")
        return name

    def _unknown(self, operation: Operation, place: int, count: int) -> UnknownNameError:
        names = [name for name in (operation.source, operation.target) if name is not None]
        missing = next(name for name in names if self.row(self._proper(name)) is None)
        return UnknownNameError(
            f"change {place + 1} of {count}: no node is called {quote_name(missing)}, so there is nothing to remove; "
            "nothing of its group was changed. skip_unknown=True passes over such changes and counts them",
        )

    def refusal(self, problem: int, operations: Sequence[Operation], place: int) -> InputError:
        """The error of a change of the group that the kernel's graph cannot take."""
        at = self.places[place]
        sign, source, target, weight = operations[at]
        edge, where = f"{quote_name(source)} - {quote_name(target)}", f"change {at + 1} of {len(operations)}"
        if problem == 1:
            return UnknownNameError(
                f"{where}: there is no edge {edge} to remove; nothing of its group was changed. skip_unknown=True "
                "passes over such changes and counts them",
            )
        return InputError(
            f"{where}: the weight {weight} of {edge} ({sign}), or a sum with it, lies outside of {RANGE}; "
            "nothing of its group was changed",
            argument="weight",
        )


def integer_name(name: Any) -> int:
    """A name as an integer; InputError if it is none.

    Examples
    --------
    >>> integer_name("12"), integer_name(np.int64(3))
    (12, 3)
    """
    if isinstance(name, np.integer) or (isinstance(name, int) and not isinstance(name, bool)):
        return int(name)
    if not isinstance(name, str):
        raise InputError(f"the name {name!r} is neither an integer nor a string")
    if not is_integer(name):
        meant = f"; write {int(name)} if that is meant" if _SPELLING.fullmatch(name) else ""
        problem = f"the name {name!r} is no integer, as all names of this graph are{meant}"
        raise InputError(f"{problem}{_TEXT_NAMES}")
    return int(name)


def _check_new(name: Any) -> None:
    """Raise InputError for a name that a file cannot hold."""
    if isinstance(name, int):
        if not -(2**63) <= name < 2**63:
            raise InputError(f"the name {name} does not fit 64-bit integers{_TEXT_NAMES}")
        return
    try:
        name.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise InputError(f"the name {name!r} is not text that UTF-8 can write") from None
