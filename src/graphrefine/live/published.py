"""Published vectors: what readers and the writer of a folder answer from.

A table of unit rows that grows at its end, with the length that each vector had before and the name of its node. Rows
of the generation are mapped, and those that moved since lie beside them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import InputError, UnknownNameError
from graphrefine.graph.lookup import list_some, quote_name
from graphrefine.graph.node_ids import Names, as_names, object_array
from graphrefine.kernels.nearest import ExcludedRows, NearestRows, nearest

Floats = NDArray[np.float32]
GROWTH = 1.5


class Published:
    """Unit rows, lengths and names.

    Parameters
    ----------
    names
        The node of each row.
    vectors
        Unit rows, (n, dim); never changed here.
    lengths
        Lengths of the vectors before they were made unit; -1 for nodes without edges.
    degrees
        Sums of the weights of the nodes, when their vectors were published.

    Examples
    --------
    >>> table = Published(np.array(["ann", "bob"], object), np.eye(2, dtype=np.float32), np.ones(2))
    >>> table.put(np.array([1]), np.array([2.0]), np.array([[1, 0]], np.float32))
    >>> table.rows(np.array([0, 1])).tolist(), table.row("bob")
    ([[1.0, 0.0], [1.0, 0.0]], 1)
    """

    def __init__(
        self,
        names: Names,
        vectors: Floats,
        lengths: NDArray[np.float64],
        degrees: NDArray[np.float64] | None = None,
    ) -> None:
        self.base, self.dim = vectors, vectors.shape[1]
        self.lengths = np.array(lengths)
        self.degrees = np.zeros(len(lengths)) if degrees is None else np.array(degrees)
        self.groups = np.zeros(len(lengths), np.int64)  # that each row was last published by; 0: the generation
        self._names: list[Any] = names.tolist()
        self._row_of: dict[Any, int] = dict(zip(self._names, range(len(self._names)), strict=True))
        self._place = np.full(len(self._names), -1, np.int32)  # of a row among those that moved
        self._moved = np.empty((0, self.dim), np.float32)
        self._count = 0  # rows that moved
        self._gone = np.zeros(len(self._names), bool)
        self.takes_integers = names.dtype != object  # names are integers, or strings

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._row_of

    @property
    def nodes(self) -> int:
        """Number of nodes that are there; rows of removed ones are not."""
        return len(self._row_of)

    def add(self, names: Sequence[Any]) -> None:
        """Rows for new nodes, without vectors; None is the name of a row whose node was removed since."""
        if not names:
            return
        first = len(self._names)
        self._names += names
        self._row_of |= {name: row for row, name in enumerate(names, first) if name is not None}
        self.lengths = extend(self.lengths, len(names), -1.0)
        self.degrees = extend(self.degrees, len(names), 0.0)
        self.groups = extend(self.groups, len(names), 0)
        self._gone = extend(self._gone, len(names), False)
        self._place = extend(self._place, len(names), -1)

    def remove(self, rows: NDArray[Any]) -> None:
        """Forget the names of rows; the rows stay, of zeros."""
        for row in rows.tolist():
            if self._names[row] is not None and self._row_of.get(self._names[row]) == row:
                del self._row_of[self._names[row]]
            self._names[row] = None
        self._gone[rows] = True

    def removed(self) -> NDArray[np.bool_]:
        """Mask of the rows whose node was removed."""
        return self._gone

    def put(
        self,
        rows: NDArray[Any],
        lengths: NDArray[np.float64],
        vectors: Floats,
        groups: NDArray[np.int64] | int = 0,
        degrees: NDArray[np.float64] | float = 0.0,
    ) -> None:
        """New vectors for rows, the groups that they come with, and the degrees of the nodes."""
        if not len(rows):
            return
        fresh = rows[self._place[rows] < 0]
        if self._count + len(fresh) > len(self._moved):
            room = np.empty((int((self._count + len(fresh)) * GROWTH) + 16, self.dim), np.float32)
            room[: self._count] = self._moved[: self._count]
            self._moved = room
        self._place[fresh] = np.arange(self._count, self._count + len(fresh), dtype=np.int32)
        self._count += len(fresh)
        self._moved[self._place[rows]] = vectors
        self.lengths[rows] = lengths
        self.groups[rows] = groups
        self.degrees[rows] = degrees

    @property
    def moved(self) -> int:
        """Number of rows with vectors other than those of the generation."""
        return self._count

    def moved_rows(self) -> NDArray[np.int64]:
        """Rows with vectors other than those of the generation."""
        return np.flatnonzero(self._place >= 0)

    def new_names(self) -> list[Any]:
        """Names that came after the generation; None for nodes that were removed since."""
        return self.names_from(len(self.base))

    def names_from(self, first: int) -> list[Any]:
        """Names of the rows from one on; None for nodes that were removed."""
        return self._names[first:]

    def row(self, name: object) -> int:
        """The row of a node; UnknownNameError for a name that none has."""
        try:
            return self._row_of[name]
        except (KeyError, TypeError):
            some = list_some([each for each in self._names[:8] if each is not None])
            raise UnknownNameError(f"no node is called {quote_name(name)}; names are such as {some}") from None

    def row_of(self, name: object) -> int | None:
        """The row of a node, or None."""
        return self._row_of.get(name)

    def rows(self, rows: NDArray[Any]) -> Floats:
        """Unit vectors of rows; of zeros where a node has none."""
        out, places = np.zeros((len(rows), self.dim), np.float32), self._place[rows]
        moved, old = places >= 0, (places < 0) & (rows < len(self.base))
        out[moved] = self._moved[places[moved]]
        out[old] = self.base[rows[old]]
        return out

    def names_array(self, rows: NDArray[Any]) -> Names:
        """Names of rows as an array."""
        names = [self._names[row] for row in rows.tolist()]
        return as_names(names, len(names)) if self.takes_integers else object_array(names)

    def nearest(
        self,
        vector: Floats,
        k: int,
        *,
        without: Sequence[int] | NDArray[np.int64] = (),
        scale: Floats | None = None,
        threads: int = 1,
    ) -> list[tuple[int, float]]:
        """Rows of the highest cosine with a unit vector, times the row's scale, and that score: an exact search."""
        if k < 1:
            raise InputError(f"k={k} must be at least 1", argument="k")
        hidden = np.flatnonzero(self._place[: len(self.base)] >= 0)
        gone = np.union1d(np.flatnonzero((self.lengths <= 0) | self._gone), np.asarray(without, np.int64))
        base = ExcludedRows.from_lists([np.union1d(hidden, gone[gone < len(self.base)])])
        factors = None if scale is None else scale[: len(self.base)]
        answers = _answers(nearest(vector[None], self.base, k, scale=factors, excluded_rows=base, threads=threads))
        rows = np.full(self._count, -1)
        places = np.flatnonzero(self._place >= 0)
        rows[self._place[places]] = places
        bad = np.flatnonzero(np.isin(rows, gone))
        if self._count:
            factors = None if scale is None else scale[rows]
            options: dict[str, Any] = {
                "scale": factors,
                "excluded_rows": ExcludedRows.from_lists([bad]),
                "threads": threads,
            }
            moved = nearest(vector[None], self._moved[: self._count], k, **options)
            answers += [(int(rows[row]), score) for row, score in _answers(moved)]
        return sorted(answers, key=lambda each: (-each[1], each[0]))[:k]


def extend(array: NDArray[Any], count: int, value: Any) -> NDArray[Any]:
    """A longer array with the same numbers, and a value at its end; the two share memory where it has room.

    Room is made for half as many again, so that many small extensions cost no copy each.

    Examples
    --------
    >>> array = extend(np.array([1, 2]), 1, 7)
    >>> longer = extend(array, 2, 8)
    >>> longer.tolist(), np.shares_memory(array, longer)
    ([1, 2, 7, 8, 8], True)
    """
    size, room = len(array) + count, array.base
    if not isinstance(room, np.ndarray) or len(room) < size or room.ctypes.data != array.ctypes.data:
        room = np.empty(int(size * GROWTH) + 16, array.dtype)
        room[: len(array)] = array
    room[len(array) : size] = value
    return room[:size]


def _answers(near: NearestRows) -> list[tuple[int, float]]:
    pairs = zip(near.rows[0].tolist(), near.scores[0].tolist(), strict=True)
    return [(row, score) for row, score in pairs if row >= 0]
