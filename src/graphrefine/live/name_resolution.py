"""Changes by names, and the same changes by rows: names that are new get rows, in the order in which they come.

In a bipartite graph an edge joins a source (a user) and a target (an item), and a name may be on both sides. A folder
keeps such names as keys, text with the side before it, so that all differ.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import InputError, UnknownNameError
from graphrefine.graph.lookup import SIDES, Side, is_integer, quote_name
from graphrefine.graph.node_ids import Names, as_names, object_array
from graphrefine.live.change_log import CHANGE, REMOVE_NODE, ChangeGroup
from graphrefine.live.vector_table import VectorTable

# Limits of the kernel. It keeps weights in float32 and sums of them in float64: between these, neither a degree nor the
# product of a weight and a vector overflows or becomes subnormal.
LEAST_WEIGHT, LARGEST_WEIGHT, RANGE = 2.0**-100, 2.0**100, "2^-100 to 2^100"
SIGNS = {"+": 0, "-": 1, "=": 2}  # operations of the kernel
_SKIP = "nothing of its group was changed. skip_unknown=True skips such changes and counts them"


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
    source, target = (None if name is None else _check_name(name) for name in (source, target))
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


def _check_name(name: Any) -> str | int:
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


def stored_name(name: Any, *, integers: bool) -> Any:
    """Return a name as the graph has it: an integer, also from text, or text; InputError for text among integers."""
    if not integers:
        return str(name)
    if isinstance(name, str) and not is_integer(name):
        raise InputError(
            f"the name {name!r} is no integer, as all names of this graph are; for names of any kind create the graph "
            "again with nodes=, a file that lists such a name: then all names are text"
        )
    return int(name)


class NameResolution:
    """Rows of names while a group of changes is made: those that exist, and new ones."""

    def __init__(self, table: VectorTable, sides: SideNames | None) -> None:
        self._table, self._sides = table, sides
        self._rows: dict[Any, int | None] = {}  # of names that this group adds, or removes (None)
        self._new: list[Any] = []
        self._positions: list[int] = []  # of the changes by rows among those by names

    def _row(self, name: Any) -> int | None:
        return self._rows[name] if name in self._rows else self._table.find_row(name)

    def _row_or_new(self, name: Any) -> int:
        row = self._row(name)
        if row is None:
            row = self._rows[name] = len(self._table) + len(self._new)
            self._new.append(name)
        return row

    def _stored_name(self, name: Any, side: Side) -> Any:
        if self._sides is not None:
            return self._sides.key(name, side)
        return stored_name(name, integers=self._table.has_integer_names)

    def resolve(self, changes: Sequence[Change], *, skip: bool) -> tuple[ChangeGroup, int]:
        """Return the changes by rows, and the number of those that were skipped as their nodes do not exist."""
        resolved = list[tuple[int, int, int, float]]()
        skipped = 0
        for position, change in enumerate(changes):
            try:
                kind, rows = self._resolve(change)
            except InputError as error:
                if skip and isinstance(error, UnknownNameError):
                    skipped += 1
                    continue
                raise type(error)(f"change {position + 1} of {len(changes)}: {error}") from None
            if kind is not None:
                resolved.append((kind, rows[0], rows[-1], change.weight))
                self._positions.append(position)
        return ChangeGroup(np.array(resolved, CHANGE), self._new, skip), skipped

    def _resolve(self, change: Change) -> tuple[int | None, list[int]]:
        """Return the kernel's operation (None: there is nothing more to do) and the rows of the ends."""
        if change.source is None and self._sides is None:
            raise InputError("the source is empty; only a change of a bipartite graph has a target alone")
        ends = zip((change.source, change.target), SIDES, strict=True)
        names = [self._stored_name(name, side) for name, side in ends if name is not None]
        if len(names) == 2 and names[0] == names[1]:  # also 1 and "1"
            raise InputError(f"the edge {_edge(change)} is a self-loop; live graphs have none")
        if change.sign != "-":
            rows = [self._row_or_new(name) for name in names]
            return (None if len(names) == 1 else SIGNS[change.sign]), rows
        rows = []
        for name in names:
            if (row := self._row(name)) is None:
                shown = name if self._sides is None else self._sides.name(name)
                raise UnknownNameError(f"no node is called {quote_name(shown)}, so there is nothing to remove; {_SKIP}")
            rows.append(row)
        if len(names) == 1:
            self._rows[names[0]] = None
            return REMOVE_NODE, rows
        return SIGNS["-"], rows

    def refusal(self, problem: int, changes: Sequence[Change], index: int) -> InputError:
        """Return the error of a change of the group that the kernel's graph cannot take."""
        position = self._positions[index]
        change = changes[position]
        where, edge = f"change {position + 1} of {len(changes)}", _edge(change)
        if problem == 1:
            return UnknownNameError(f"{where}: there is no edge {edge} to remove; {_SKIP}")
        text = f"{where}: the weight {change.weight} of {edge}, or a sum with it, lies outside of {RANGE}"
        return InputError(f"{text}; nothing of its group was changed", argument="weight")


def _edge(change: Change) -> str:
    return f"{quote_name(change.source)} - {quote_name(change.target)}"


class SideNames:
    """Names of two sides, and the keys that a folder has for them; ``integers``: all names are integers.

    Examples
    --------
    >>> names = SideNames(integers=True)
    >>> names.key(7, "target"), names.name("t7"), names.side("t7")
    ('t7', 7, 'target')
    """

    def __init__(self, *, integers: bool) -> None:
        self.integers = integers

    def key(self, name: Any, side: Side) -> str:
        """Return the key of a name on a side."""
        return f"{side[0]}{stored_name(_check_name(name), integers=self.integers)}"

    def find_rows(self, table: VectorTable, name: Any, sides: Sequence[Side] = SIDES) -> list[int]:
        """Return the rows of a name on some sides: none, one or two."""
        try:
            rows = [table.find_row(self.key(name, side)) for side in sides]
        except InputError:  # no possible name
            return []
        return [row for row in rows if row is not None]

    def row(self, table: VectorTable, name: Any, side: Side | None) -> int:
        """Return the row of a name, on the side that is given or the only one that has it."""
        rows = self.find_rows(table, name, SIDES if side is None else (side,))
        if len(rows) == 2:
            raise InputError(f"{name!r} is on both sides; pass side='source' or side='target'", argument="side")
        if not rows:
            raise UnknownNameError(f"no node is called {name!r}{'' if side is None else f' on the {side} side'}")
        return rows[0]

    def name(self, key: str) -> Any:
        """Return the name of a key."""
        return int(key[1:]) if self.integers else key[1:]

    def side(self, key: str) -> Side:
        """Return the side of a key."""
        return "source" if key[0] == "s" else "target"

    def keys(self, names: Names, sources: int) -> Names:
        """Return the keys of all names, of which the first are sources."""
        return object_array([f"{'s' if row < sources else 't'}{name}" for row, name in enumerate(names.tolist())])

    def names(self, keys: NDArray[Any]) -> Names:
        """Return the names of keys."""
        names = [self.name(key) for key in keys.tolist()]
        return as_names(names, len(names)) if self.integers else object_array(names)
