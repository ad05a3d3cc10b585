"""Changes by names, and the same changes by rows: names that are new get rows, in the order in which they come.

In a bipartite graph an edge joins a source (a user) and a target (an item), and a name may be on both sides. A folder
keeps such names as keys, text with the side before it, so that all differ.
"""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import InputError, UnknownNameError
from graphrefine.graph.lookup import is_integer, quote_name
from graphrefine.graph.node_ids import Names, as_names, object_array
from graphrefine.live.change_log import CHANGE, REMOVE_NODE, ChangeGroup
from graphrefine.live.vector_table import VectorTable

LEAST_WEIGHT, LARGEST_WEIGHT, RANGE = 2.0**-100, 2.0**100, "2^-100 to 2^100"  # of the kernel
_TEXT_NAMES = (
    "; for names of any kind create the graph again with nodes=, a file that lists such a name: then all names are text"
)
_SPELLING = re.compile(r"\s*[+-]?[0-9]{1,18}\s*")  # of an integer that is written otherwise
SIGNS = {"+": 0, "-": 1, "=": 2}  # operations of the kernel
Side = Literal["source", "target"]
SIDES: tuple[Side, Side] = ("source", "target")


class Change(NamedTuple):
    """A change that is checked: ``+`` adds an edge, ``-`` removes one, ``=`` sets its weight."""

    sign: str
    source: Any  # None for a node on the target side of a bipartite graph
    target: Any  # None for a node
    weight: float  # 0 where something is removed

    @classmethod
    def from_edge(cls, sign: str, source: Any, target: Any, weight: Any) -> Change:
        """Return a change of an edge, with its weight checked; `NameResolution` checks the names.

        Examples
        --------
        >>> Change.from_edge("+", "ann", "ann", 1)
        Traceback (most recent call last):
        graphrefine.errors.InputError: the edge 'ann' - 'ann' is a self-loop; live graphs have none
        """
        if source is None or target is None:
            raise InputError("None is no name; add_nodes() and remove_nodes() take nodes without an edge")
        if source == target:
            raise InputError(f"the edge {_edge(source, target)} is a self-loop; live graphs have none")
        if sign == "-":
            return cls(sign, source, target, 0.0)
        if isinstance(weight, str):
            raise InputError(f"non-numeric weight {shorten(weight)}; weights are positive numbers", argument="weight")
        return cls(sign, source, target, check_weight(weight))


def _edge(source: Any, target: Any) -> str:
    return f"{quote_name(source)} - {quote_name(target)}"


def check_weight(weight: Any) -> float:
    """Return the weight of an edge, also from text; InputError for one that the kernel cannot have.

    Examples
    --------
    >>> check_weight(" 2.5 ")
    2.5
    """
    try:
        is_odd = isinstance(weight, str) and not (weight.isascii() and "_" not in weight)
        if is_odd or isinstance(weight, bool) or not isinstance(weight, numbers.Real | str):
            raise ValueError
        number = float(weight)
    except ValueError:
        problem = f"non-numeric weight {shorten(weight)}; pass a positive number such as 2 or 0.5, or none for 1"
        raise InputError(problem, argument="weight") from None
    except OverflowError:
        number = math.inf
    if number < 0:
        raise InputError(f"negative weight {shorten(weight)}; weights must be positive", argument="weight")
    if number == 0:
        raise InputError(f"weight {shorten(weight)} is no edge; remove an edge by - or remove()", argument="weight")
    if not LEAST_WEIGHT <= number <= LARGEST_WEIGHT:
        raise InputError(f"weight {shorten(weight)} is not a positive number in {RANGE}", argument="weight")
    return number


def shorten(value: object) -> str:
    """Return a value for people, its middle left out if it is long."""
    text = repr(value)
    return text if len(text) <= 62 else f"{text[:58]}...{text[0] if isinstance(value, str) else ''}"


class NameResolution:
    """Rows of names while a group of changes is made: those that are there, and new ones.

    Attributes
    ----------
    positions
        For each change of the logged group, its position among the operations.
    """

    def __init__(self, table: VectorTable) -> None:
        self._table = table
        self._rows: dict[Any, int | None] = {}  # of names that this group adds, or removes (None)
        self.new: list[Any] = []
        self.positions: list[int] = []

    def _row(self, name: Any) -> int | None:
        return self._rows[name] if name in self._rows else self._table.find_row(name)

    def _row_or_new(self, name: Any) -> int:
        row = self._row(name)
        if row is None:
            _check_new(name)
            row = self._rows[name] = len(self._table) + len(self.new)
            self.new.append(name)
        return row

    def resolve(self, operations: Sequence[Change], *, skip: bool) -> tuple[ChangeGroup, int]:
        """Return the changes by rows, and the number of those that were skipped as their nodes do not exist."""
        changes = list[tuple[int, int, int, float]]()
        skipped = 0
        for position, operation in enumerate(operations):
            sign, weight = operation.sign, operation.weight
            source = self._proper(operation.source)
            target = None if operation.target is None else self._proper(operation.target)
            if source == target:  # also 1 and "1"
                raise InputError(f"the edge {_edge(source, target)} is a self-loop; live graphs have none")
            if target is None and sign == "+":
                self._row_or_new(source)
                continue
            if sign == "-":
                first, second = self._row(source), self._row(source if target is None else target)
                if first is None or second is None:
                    if not skip:
                        raise self._unknown(source if first is None else target, position, len(operations))
                    skipped += 1
                    continue
                if target is None:
                    self._rows[source] = None
            else:
                first, second = self._row_or_new(source), self._row_or_new(target)
            changes.append((REMOVE_NODE if target is None else SIGNS[sign], first, second, weight))
            self.positions.append(position)
        return ChangeGroup(np.array(changes, CHANGE), self.new, skip), skipped

    def _proper(self, name: Any) -> Any:
        """Return a name of the kind that the graph has: integers, also from text, or strings."""
        return integer_name(name) if self._table.has_integer_names else _text_name(name)

    @staticmethod
    def _unknown(name: Any, position: int, count: int) -> UnknownNameError:
        return UnknownNameError(
            f"change {position + 1} of {count}: no node is called {quote_name(name)}, so there is nothing to remove; "
            "nothing of its group was changed. skip_unknown=True skips such changes and counts them"
        )

    def refusal(self, problem: int, operations: Sequence[Change], change: int) -> InputError:
        """Return the error of a change of the group that the kernel's graph cannot take."""
        position = self.positions[change]
        sign, source, target, weight = operations[position]
        where = f"change {position + 1} of {len(operations)}"
        if problem == 1:
            return UnknownNameError(
                f"{where}: there is no edge {_edge(source, target)} to remove; nothing of its group was changed. "
                "skip_unknown=True skips such changes and counts them"
            )
        return InputError(
            f"{where}: the weight {weight} of {_edge(source, target)} ({sign}), or a sum with it, lies outside of "
            f"{RANGE}; nothing of its group was changed",
            argument="weight",
        )


def integer_name(name: Any) -> int:
    """Return a name as an integer; InputError if it is none.

    Examples
    --------
    >>> integer_name("12"), integer_name(np.int64(3))
    (12, 3)
    """
    if type(name) is int:
        return name
    if not isinstance(name, str):
        return int(_text_name(name))
    if not is_integer(name):
        meant = f"; write {int(name)} if that is meant" if _SPELLING.fullmatch(name) else ""
        problem = f"the name {name!r} is no integer, as all names of this graph are{meant}"
        raise InputError(f"{problem}{_TEXT_NAMES}")
    return int(name)


def _text_name(name: Any) -> str:
    """Return a name as text; InputError for what is neither an integer nor a string."""
    if isinstance(name, str):
        return name
    if not isinstance(name, np.integer | int) or isinstance(name, bool):
        raise InputError(f"the name {name!r} is neither an integer nor a string")
    return str(name)


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


class SideKey(str):
    """A key, which messages show as the name that it stands for."""

    def __repr__(self) -> str:
        return repr(str(self)[1:])


class SideNames:
    """Names of two sides, and the keys that a folder has for them.

    Parameters
    ----------
    integers : bool
        Whether all names are integers.

    Examples
    --------
    >>> names = SideNames(integers=True)
    >>> str(names.key(7, "target")), names.name("t7"), names.side("t7")
    ('t7', 7, 'target')
    """

    def __init__(self, *, integers: bool) -> None:
        self.integers = integers

    def key(self, name: Any, side: Side) -> str:
        """Return the key of a name on a side."""
        return SideKey(f"{side[0]}{integer_name(name) if self.integers else _text_name(name)}")

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
