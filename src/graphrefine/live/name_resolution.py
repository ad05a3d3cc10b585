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

LEAST_WEIGHT, LARGEST_WEIGHT, RANGE = 2.0**-100, 2.0**100, "2^-100 to 2^100"  # of the kernel
SIGNS = {"+": 0, "-": 1, "=": 2}  # operations of the kernel
_NOTHING = "nothing of its group was changed"
_SKIP = f"{_NOTHING}. skip_unknown=True skips such changes and counts them"


class Change(NamedTuple):
    """A change: ``+`` adds an edge, ``-`` removes one, ``=`` sets its weight; with one end, it is of a node."""

    sign: str
    source: Any  # None for a node on the target side of a bipartite graph
    target: Any  # None for a node
    weight: float  # 0 where something is removed


def check_weight(weight: Any) -> float:
    """Return the weight of an edge, also from text; InputError for one that the kernel cannot have.

    Examples
    --------
    >>> check_weight(" 2.5 ")
    2.5
    """
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
    """Return a value for people, its middle left out if it is long."""
    text = repr(value)
    return text if len(text) <= 62 else f"{text[:58]}...{text[0] if isinstance(value, str) else ''}"


def check_name(name: Any, *, integers: bool) -> Any:
    """Return a name of the kind that the graph has: an integer, also from text, or text; InputError if it is neither.

    Examples
    --------
    >>> check_name("12", integers=True), check_name(np.int64(3), integers=False)
    (12, '3')
    """
    if isinstance(name, np.integer | int) and not isinstance(name, bool):
        name = int(name) if integers else str(name)
    elif not isinstance(name, str):
        raise InputError(f"the name {name!r} is neither an integer nor a string")
    elif integers and is_integer(name):
        name = int(name)
    if integers and not (isinstance(name, int) and -(2**63) <= name < 2**63):
        raise InputError(
            f"the name {name!r} is no integer of 64 bits, as all names of this graph are; for names of any kind create "
            "the graph again with nodes=, a file that lists such a name: then all names are text"
        )
    if not integers and not name.isascii():
        try:
            name.encode("utf-8", "surrogateescape")  # as names are stored
        except UnicodeEncodeError:
            raise InputError(f"the name {name!r} is not text that UTF-8 can write") from None
    return name


class NameResolution:
    """Rows of names while a group of changes is made: those that exist, and new ones.

    Attributes
    ----------
    positions
        For each change of the logged group, its position among the operations.
    """

    def __init__(self, table: VectorTable, sides: SideNames | None) -> None:
        self._table, self._sides = table, sides
        self._rows: dict[Any, int | None] = {}  # of names that this group adds, or removes (None)
        self.new: list[Any] = []
        self.positions: list[int] = []

    def _row(self, name: Any) -> int | None:
        return self._rows[name] if name in self._rows else self._table.find_row(name)

    def _row_or_new(self, name: Any) -> int:
        row = self._row(name)
        if row is None:
            row = self._rows[name] = len(self._table) + len(self.new)
            self.new.append(name)
        return row

    def _stored_name(self, name: Any, side: Side) -> Any:
        if self._sides is not None:
            return self._sides.key(name, side)
        return check_name(name, integers=self._table.has_integer_names)

    def resolve(self, operations: Sequence[Change], *, skip: bool) -> tuple[ChangeGroup, int]:
        """Return the changes by rows, and the number of those that were skipped as their nodes do not exist."""
        changes = list[tuple[int, int, int, float]]()
        skipped = 0
        for position, (sign, source, target, weight) in enumerate(operations):
            ends = zip((source, target), SIDES, strict=True)
            names = [self._stored_name(name, side) for name, side in ends if name is not None]
            if len(names) == 2 and names[0] == names[1]:  # also 1 and "1"
                raise InputError(f"the edge {_edge(source, target)} is a self-loop; live graphs have none")
            if sign == "-":
                rows = [self._row(name) for name in names]
                if None in rows:
                    if not skip:
                        unknown = source if source is not None and rows[0] is None else target
                        problem = f"no node is called {quote_name(unknown)}, so there is nothing to remove"
                        raise UnknownNameError(f"change {position + 1} of {len(operations)}: {problem}; {_SKIP}")
                    skipped += 1
                    continue
                if len(names) == 1:
                    self._rows[names[0]] = None
            else:
                rows = [self._row_or_new(name) for name in names]
                if len(names) == 1:
                    continue
            kind = REMOVE_NODE if len(names) == 1 else SIGNS[sign]
            changes.append((kind, rows[0] or 0, rows[-1] or 0, weight))
            self.positions.append(position)
        return ChangeGroup(np.array(changes, CHANGE), self.new, skip), skipped

    def refusal(self, problem: int, operations: Sequence[Change], change: int) -> InputError:
        """Return the error of a change of the group that the kernel's graph cannot take."""
        position = self.positions[change]
        sign, source, target, weight = operations[position]
        where, edge = f"change {position + 1} of {len(operations)}", _edge(source, target)
        if problem == 1:
            return UnknownNameError(f"{where}: there is no edge {edge} to remove; {_SKIP}")
        text = f"{where}: the weight {weight} of {edge} ({sign}), or a sum with it, lies outside of {RANGE}; {_NOTHING}"
        return InputError(text, argument="weight")


def _edge(source: Any, target: Any) -> str:
    return f"{quote_name(source)} - {quote_name(target)}"


class SideNames:
    """Names of two sides, and the keys that a folder has for them.

    Parameters
    ----------
    integers : bool
        Whether all names are integers.

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
        return f"{side[0]}{check_name(name, integers=self.integers)}"

    def is_in(self, table: VectorTable, name: Any) -> bool:
        """Return whether a name is on a side or both."""
        try:
            return any(self.key(name, side) in table for side in SIDES)
        except InputError:  # no possible name
            return False

    def row(self, table: VectorTable, name: Any, side: Side | None) -> int:
        """Return the row of a name, on the side that is given or the only one that has it."""
        sides = SIDES if side is None else (side,)
        rows = [row for each in sides if (row := table.find_row(self.key(name, each))) is not None]
        if len(rows) == 1:
            return rows[0]
        if rows:
            raise InputError(f"{name!r} is on both sides; pass side='source' or side='target'", argument="side")
        where = "" if side is None else f" on the {side} side"
        raise UnknownNameError(f"no node is called {name!r}{where}")

    @staticmethod
    def target_mask(table: VectorTable, first: int) -> NDArray[np.bool_]:
        """Return whether the rows from one on are targets."""
        return np.array([name[0] == "t" for name in table.names_from(first)], bool)

    def name(self, key: str) -> Any:
        """Return the name of a key."""
        return int(key[1:]) if self.integers else key[1:]

    @staticmethod
    def side(key: str) -> Side:
        """Return the side of a key."""
        return "source" if key[0] == "s" else "target"

    @staticmethod
    def keys(names: Names, sources: int) -> Names:
        """Return the keys of all names, of which the first are sources."""
        return object_array([f"{'s' if row < sources else 't'}{name}" for row, name in enumerate(names.tolist())])

    def names(self, keys: NDArray[Any]) -> Names:
        """Return the names of keys."""
        names = [self.name(key) for key in keys.tolist()]
        return as_names(names, len(names)) if self.integers else object_array(names)
