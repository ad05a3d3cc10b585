"""Lookup of rows by the names of nodes; and the two sides of vectors, source and target.

The score of an edge from u to v is ``source_u . target_v``. The recipe says what the two are:

=================  ======================  ==================================================================
graph              recipe                  source and target
=================  ======================  ==================================================================
undirected         no ``sides``            both are the vectors
directed           ``sides: columns``      the first and the last half of the columns, a row for every node
bipartite          ``sides: rows``,        the first ``sources`` rows and the others: two sets of nodes
                   ``sources: <count>``
=================  ======================  ==================================================================
"""

from __future__ import annotations

import difflib
import re
import warnings
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import ArgumentWarning, InputError, UnknownNameError
from graphrefine.graph.node_ids import Names, is_range, is_text
from graphrefine.system.checks import check_choice

Side = Literal["source", "target"]
Unknown = Literal["error", "skip"]  # what to do with names that no node has
Name = Hashable  # an integer, a string, or any other id
Rows = NDArray[np.int64]

SIDES: tuple[Side, Side] = ("source", "target")
_INTEGER = re.compile("0|-?[1-9][0-9]{0,18}")
_FEW = 3  # examples in a message
_MANY = 100_000  # names beyond which the search for near matches, which reads each, would take seconds


@dataclass(frozen=True)
class Sides:
    """The two sides of vectors."""

    kind: Literal["columns", "rows"] | None  # None: every vector is both
    start: int = 0  # the column or row at which targets begin

    @classmethod
    def from_recipe(cls, recipe: Mapping[str, Any], shape: tuple[int, int]) -> Sides:
        """Return the sides that a recipe says of vectors (n, dim); InputError where it does not fit them."""
        kind = recipe.get("sides")
        if kind is None:
            return cls(None)
        if kind == "columns" and shape[1] % 2 == 0:
            return cls("columns", shape[1] // 2)
        sources = recipe.get("sources")
        if kind == "rows" and type(sources) is int and 0 <= sources <= shape[0]:
            return cls("rows", sources)
        raise InputError(
            f"the recipe says sides={kind!r}, sources={sources!r}, which does not fit {shape[0]} vectors of "
            f"{shape[1]} numbers; it can be 'columns' where dim is even, or 'rows' with sources, the rows of one side"
        )

    def vectors(self, vectors: NDArray[np.float32], side: Side) -> NDArray[np.float32]:
        """Return one side of the vectors: a view, never a copy."""
        if self.kind == "columns":
            return vectors[:, : self.start] if side == "source" else vectors[:, self.start :]
        return vectors[self.rows(len(vectors), side)]

    def names(self, names: Names, side: Side) -> Names:
        """Return the names that belong to the rows of one side."""
        return names[self.rows(len(names), side)]

    def rows(self, count: int, side: Side) -> slice:
        """Return the rows of a side, of ``count`` in all."""
        if self.kind != "rows":
            return slice(0, count)
        return slice(0, self.start) if side == "source" else slice(self.start, count)

    def first(self, side: Side) -> int:
        """Return the row of all at which the rows of a side begin."""
        return self.start if self.kind == "rows" and side == "target" else 0


ONE = Sides(None)  # the sides of an undirected graph


class Lookup:
    """The rows of an array of names: of all of them, or within a side where there are two sets of nodes.

    Examples
    --------
    >>> lookup = Lookup(np.array([10, 20]))
    >>> lookup.find(20), lookup.find(30), lookup.rows([20, 10]).tolist()
    (1, None, [1, 0])
    >>> users_and_items = Lookup(np.array([1, 2, 2, 3]), Sides("rows", 2))
    >>> users_and_items.row(3), users_and_items.row(2, "source"), users_and_items.row(2, "target")
    (3, 1, 0)
    """

    def __init__(self, names: Names, sides: Sides = ONE) -> None:
        self.names, self.sides = names, sides

    @cached_property
    def _by_side(self) -> dict[Side, dict[Any, int]]:
        """The row of each name within each side; one table where both sides are the same."""
        sides = SIDES if self.sides.kind == "rows" else SIDES[:1]
        return {side: _rows_by_name(self.sides.names(self.names, side)) for side in sides}

    def on_sides(self, name: object) -> dict[Side, int]:
        """Return the row of a name within each side that has it."""
        if isinstance(name, np.generic) and not isinstance(name, np.datetime64 | np.timedelta64):
            name = name.item()
        # True == 1 in Python, and has its hash: a lookup would find the node 1.
        if (isinstance(name, bool) or not isinstance(name, int | str)) and not self._is_object(name):
            return {}
        return {side: rows[name] for side, rows in self._by_side.items() if name in rows}

    @cached_property
    def _has_objects(self) -> bool:
        """Whether some name is neither an integer nor a string, or the names are a mix."""
        return self.names.dtype == object and not is_text(self.names)

    def _is_object(self, name: object) -> bool:
        """Return whether this may be a name of another type than integers and strings."""
        if not self._has_objects or not isinstance(name, Hashable):
            return False
        try:
            rows = [(self.sides.first(side), rows.get(name)) for side, rows in self._by_side.items()]
        except TypeError:  # a tuple that holds a list
            return False
        # Where True is a name, 1 and 1.0 do not find it.
        same = (self.names[first + row] for first, row in rows if row is not None)
        return all(isinstance(each, bool) == isinstance(name, bool) for each in same)

    def is_name(self, value: object) -> bool:
        """Return whether this is one name: a string, a number, or a tuple that is the name of a node."""
        return isinstance(value, int | float | str | np.number) or (self._has_objects and bool(self.on_sides(value)))

    def find(self, name: object, side: Side | None = None) -> int | None:
        """Return the row of a node among all, or within a side; None if there is none."""
        check_choice("side", side, [None, *SIDES])
        rows_by_side = self.on_sides(name)
        if side is not None:
            return rows_by_side.get(side if side in self._by_side else "source")
        if len(rows_by_side) > 1:
            raise InputError(
                f'{quote_name(name)} is a name on both sides; pass side="source" or side="target"',
                argument="side",
            )
        return next((row + self.sides.first(at) for at, row in rows_by_side.items()), None)

    def row(self, name: object, side: Side | None = None) -> int:
        """Return the row of a node among all, or within a side."""
        row = self.find(name, side)
        if row is None:
            raise self._unknown_error([name], 1, side, option=False)
        return row

    def rows(self, names: Iterable[object], side: Side | None = None, *, unknown: Unknown | None = None) -> Rows:
        """Return the rows of several nodes; with ``unknown="skip"``, -1 for a name that no node has.

        None is the same as "error", for a caller that has no such option to offer.
        """
        check_choice("unknown", unknown, [None, "error", "skip"])
        listed = list(names)
        each = (-1 if (row := self.find(name, side)) is None else row for name in listed)
        rows = np.fromiter(each, np.int64, len(listed))
        missing = [listed[at] for at in np.flatnonzero(rows < 0)]
        if missing and unknown != "skip":
            raise self._unknown_error(missing, len(listed), side, option=unknown is not None)
        return rows

    def _unknown_error(self, missing: list[Any], total: int, side: Side | None, *, option: bool) -> UnknownNameError:
        where = f" on the {side} side" if side and self.sides.kind == "rows" else ""
        problem = f"no node is called {quote_name(missing[0])}{where}{self.hint(missing[0], side)}"
        if total > 1:
            problem += f"; {len(missing):,} of {total:,} names are unknown, such as {list_some(missing)}"
        if option:
            problem += "; pass unknown='skip' to leave unknown names out"
        return UnknownNameError(problem)

    def all_rows(self, names: Iterable[object]) -> Rows:
        """Return the rows of several nodes among all, on both sides where both have the name."""
        if self.is_name(names):
            raise InputError(f"{names!r} is one name; give a list of names")
        listed = list(names)
        by_side = [self.on_sides(name) for name in listed]
        missing = [name for name, rows in zip(listed, by_side, strict=True) if not rows]
        if missing:
            raise self._unknown_error(missing, len(listed), None, option=False)
        rows = [row + self.sides.first(side) for each in by_side for side, row in each.items()]
        return np.array(rows, np.int64)

    def select(self, key: Any) -> int | slice | Rows:
        """Return the row, or the rows, of ``embedding[key]``.

        ==========================  ================================================================================
        key                         rows
        ==========================  ================================================================================
        a name                      that of the node; an integer is a name too, never the number of a row
        list, column of names       those of the nodes, in that order
        slice, mask of n bool       by position, as in NumPy
        NumPy array of integers     by position; refused where names are integers other than 0, 1, ..., n - 1
        ==========================  ================================================================================

        Examples
        --------
        >>> lookup = Lookup(np.array([30, 10, 20]))
        >>> lookup.select(10), lookup.select([20, 30]).tolist(), lookup.select(slice(1)), lookup.select([True] * 3)
        (1, [2, 0], slice(None, 1, None), array([0, 1, 2]))
        """
        if isinstance(key, tuple) and len(key) == 2 and key[1] is Ellipsis:  # scikit-learn writes array[rows, ...]
            key = key[0]
        if isinstance(key, slice):
            return _check_slice(key)
        if isinstance(key, np.ndarray) and key.ndim == 0:
            key = key.item()
        several = isinstance(key, Iterable) and not isinstance(key, str | bytes)
        if not several or self.is_name(key) or (isinstance(key, tuple) and self._has_objects):
            return self.row(key)
        if isinstance(key, tuple | set | frozenset | Mapping):
            raise InputError(
                f"{key!r} is no node; for several nodes give a list of their names, as in embedding[['a', 'b']]; for "
                "rows and columns take embedding.vectors, for the first axes embedding.truncated(dim)"
            )
        values = np.asarray(key) if hasattr(key, "__array__") else None
        if values is not None and values.ndim != 1:
            raise InputError(f"a key of shape {values.shape}: a list of names, or a mask, has one axis")
        listed = list(key)
        if listed and all(isinstance(value, bool | np.bool_) for value in listed) and not self.on_sides(listed[0]):
            return self._mask_rows(key, np.array(listed, bool))
        if isinstance(key, np.ndarray) and key.dtype.kind in "iu":
            return self._numbered_rows(key)
        return self.rows(listed)

    def _mask_rows(self, key: Any, mask: NDArray[np.bool_]) -> Rows:
        """Return the rows of a mask."""
        # A column of pandas is met by its index, not by position: in another order, its rows are of other nodes.
        count, index = len(self.names), getattr(key, "index", None)
        if len(mask) != count:
            raise InputError(f"a mask of {len(mask):,} truth values does not fit {count:,} nodes; give one a row")
        labels = None if index is None or callable(index) else list(index)
        if labels is not None and labels != list(range(count)) and labels != self.names.tolist():
            raise InputError(
                "the mask's index is neither 0, 1, 2, ... nor the names in the order of the rows; bring it into that "
                "order with mask.reindex(embedding.names), or give mask.to_numpy() if it has it already"
            )
        return np.flatnonzero(mask)

    @cached_property
    def _takes_row_numbers(self) -> bool:
        """Whether an integer in an array can only be a row: no name is an integer, or each is its own row."""
        if self._has_objects:
            return not any(isinstance(name, int) for name in self.names.tolist())
        return self.names.dtype == object or is_range(self.names)

    def _numbered_rows(self, numbers: NDArray[Any]) -> Rows:
        count = len(self.names)
        if not self._takes_row_numbers:
            raise InputError(
                "an array of integers may hold names or rows, as names are integers here; give names as a list, "
                "embedding[array.tolist()], and rows to embedding.vectors[array] or embedding.names[array]"
            )
        rows = numbers.astype(np.int64)
        bad = rows[(rows < -count) | (rows >= count)]
        if len(bad):
            raise InputError(f"row {bad[0]} is not there; the rows are 0 to {count - 1}")
        return np.where(rows < 0, rows + count, rows)

    def check_distinct(self) -> None:
        """Raise InputError if two rows, of one side, have one name."""
        integers = self.names.dtype == np.int64 and self.sides.kind != "rows"  # without a table of them all
        if not integers or len(np.unique(self.names)) < len(self.names):
            self.on_sides("")

    def hint(self, name: object, side: Side | None = None) -> str:
        """Return what may have been meant."""
        names = self.names if side is None else self.sides.names(self.names, side)
        if len(names) == 0:
            return "; there is no node there" if len(self.names) else "; it is empty"
        if self._has_objects:
            return f"; names are such as {', '.join(map(quote_name, names[:3].tolist()))}"
        type_, kind = (str, "strings") if names.dtype == object else (int, "integers")
        meant = self.meant_integer(name)
        if meant is not None and self.find(meant, side) is not None:
            return f"; the names are integers, and {meant} is one of them"
        if not isinstance(name, type_ | np.generic):
            row = f"; row {name} is vectors[{name}]" if type(name) is int and -1 <= name < len(names) else ""
            return f"; the names are {kind}, such as {quote_name(names[0])}{row}"
        near = find_similar(str(name), [str(each) for each in names.tolist()])
        return f"; similar names: {', '.join(near)}" if near else f"; the first is {quote_name(names[0])}"

    def meant_integer(self, name: object) -> int | None:
        """Return the integer that a text may mean where names are integers, and is not the name of: 7 for "007"."""
        try:
            return int(name) if isinstance(name, str) and self.names.dtype != object else None
        except ValueError:
            return None

    def as_name(self, text: str) -> int | str:
        """Return a text as a name: where names are integers, "7" is 7, and "007" a text that no node has."""
        return int(text) if self.names.dtype != object and is_integer(text) else text

    def shared(self, other: Lookup) -> tuple[Rows, Rows]:
        """Return the rows here, and there, of the names that both have."""
        both_one = "rows" not in (self.sides.kind, other.sides.kind)
        # Integers are sorted and met as arrays, without a table of Python's integers for each of the two.
        if both_one and self.names.dtype == other.names.dtype == np.int64:
            _, here, there = np.intersect1d(self.names, other.names, return_indices=True)
            return here.astype(np.int64), there.astype(np.int64)
        pairs = [
            (row + self.sides.first(side), other_row + other.sides.first(side))
            for side, rows in self._by_side.items()
            for name, row in rows.items()
            if (other_row := other.on_sides(name).get(side)) is not None
        ]
        both = np.array(pairs, np.int64).reshape(-1, 2)
        return both[:, 0], both[:, 1]


def warn_skipped(missing: Sequence[object], total: int, *, stacklevel: int) -> None:
    """Warn that names were left out, if some were; the caller's caller is at ``stacklevel`` 3."""
    if len(missing):
        text = f"names that no node has were left out: {len(missing):,} of {total:,}, such as {list_some(missing)}"
        warnings.warn(ArgumentWarning(text), stacklevel=stacklevel)


def find_similar(name: str, names: Sequence[str]) -> list[str]:
    """Return up to three names that begin with a text or contain it, in any case, or else are spelled almost like it.

    Examples
    --------
    >>> find_similar("arya", ["Bran-Stark", "Arya-Stark"]), find_similar("brin", ["Bran", "Arya"])
    (['Arya-Stark'], ['Bran'])
    """
    text, lower = name.casefold(), [each.casefold() for each in names]
    found = [row for row, each in enumerate(lower) if text and text in each]
    if found:
        found.sort(key=lambda row: (not lower[row].startswith(text), len(lower[row]), lower[row]))
        near = [names[row] for row in found]
    else:
        rows = dict(zip(lower, names, strict=True))
        near = [rows[each] for each in difflib.get_close_matches(text, rows)] if len(rows) <= _MANY else []
    return list(dict.fromkeys(near))[:3]


def list_some(names: Sequence[object]) -> str:
    """Return the first few of many names, for a message."""
    return ", ".join(map(quote_name, names[:_FEW])) + (", ..." if len(names) > _FEW else "")


def _check_slice(key: slice) -> slice:
    odd = [end for end in (key.start, key.stop, key.step) if end is not None and not isinstance(end, int | np.integer)]
    if odd:
        raise InputError(f"a slice counts rows, and {odd[0]!r} is no number; for nodes give a list of their names")
    return key


def is_integer(text: str) -> bool:
    """Return whether a text is an integer of 64 bits as it is written: no leading zeros, no plus.

    Examples
    --------
    >>> [is_integer(text) for text in ("-12", "0", "007", "+7", "-0", "1e3", "9223372036854775808")]
    [True, True, False, False, False, False, False]
    """
    return _INTEGER.fullmatch(text) is not None and -(2**63) <= int(text) < 2**63


def quote_name(name: object) -> str:
    """Return a name for people: 7, not np.int64(7)."""
    return repr(name.item() if isinstance(name, np.generic) else name)


def _rows_by_name(names: Names) -> dict[Any, int]:
    rows = dict(zip(names.tolist(), range(len(names)), strict=True))
    if len(rows) < len(names):
        twice = next(name for row, name in enumerate(names.tolist()) if rows[name] != row)
        raise InputError(f"duplicate name {twice!r}: names must differ to be looked up")
    return rows
