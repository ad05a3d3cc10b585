"""From names of nodes to rows, one or many, with an error that says what may have been meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import InputError
from graphrefine.vector_formats.names import Names

Name = int | str | np.integer[Any]
Rows = NDArray[np.int64]

_MANY = 100_000  # names beyond which looking for near matches would take too long


class Lookup:
    """The rows of an array of names.

    Examples
    --------
    >>> lookup = Lookup(np.array([10, 20]))
    >>> lookup.find(20), lookup.find(30), lookup.rows([20, 10]).tolist()
    (1, None, [1, 0])
    """

    def __init__(self, names: Names) -> None:
        self.names = names

    @cached_property
    def _rows(self) -> dict[int | str, int]:
        rows = dict(zip(self.names.tolist(), range(len(self.names)), strict=True))
        if len(rows) < len(self.names):
            twice = next(name for row, name in enumerate(self.names.tolist()) if rows[name] != row)
            raise InputError(f"the name {twice!r} stands for several rows; names must differ to be looked up")
        return rows

    def find(self, name: object) -> int | None:
        """The row of a node, or None."""
        if isinstance(name, np.integer | np.str_):
            name = name.item()
        if isinstance(name, bool) or not isinstance(name, int | str):
            return None
        return self._rows.get(name)

    def row(self, name: object) -> int:
        """The row of a node."""
        row = self.find(name)
        if row is None:
            raise InputError(f"no node is called {shown(name)}{self.hint(name)}")
        return row

    def rows(self, names: Iterable[object]) -> Rows:
        """The rows of several nodes."""
        return np.fromiter(map(self.row, names), np.int64)

    def check_distinct(self) -> None:
        """Raise InputError if two rows have one name."""
        self.find("")

    def hint(self, name: object) -> str:
        """What may have been meant."""
        if len(self.names) == 0:
            return "; the embedding is empty"
        wanted, first = (str, "strings") if self.names.dtype == object else (int, "integers")
        if not isinstance(name, wanted | np.generic):
            return f"; the names are {first}, such as {shown(self.names[0])}"
        few = len(self.names) <= _MANY
        near = difflib.get_close_matches(str(name), map(str, self.names)) if few else []
        return f"; near it: {', '.join(near)}" if near else f"; the first is {shown(self.names[0])}"

    def shared(self, other: Lookup) -> tuple[Rows, Rows]:
        """The rows here, and there, of the names that both have.

        Examples
        --------
        >>> here, there = Lookup(np.array([1, 2, 3])).shared(Lookup(np.array([3, 1])))
        >>> here.tolist(), there.tolist()
        ([0, 2], [1, 0])
        """
        if self.names.dtype == other.names.dtype == np.int64:  # the same, in no time
            _, here, there = np.intersect1d(self.names, other.names, return_indices=True)
            return here.astype(np.int64), there.astype(np.int64)
        pairs = [(row, place) for name, row in self._rows.items() if (place := other.find(name)) is not None]
        both = np.array(pairs, np.int64).reshape(-1, 2)
        return both[:, 0], both[:, 1]


def is_name(value: object) -> bool:
    """Whether this is a name, rather than several."""
    return isinstance(value, int | str | np.integer)


def shown(name: object) -> str:
    """A name for people: 7, not np.int64(7)."""
    return repr(name.item() if isinstance(name, np.generic) else name)
