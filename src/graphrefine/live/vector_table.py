"""The vectors that readers and the writer of a folder answer from: unit rows, their lengths, and names of nodes.

The table grows at its end. Rows of the checkpoint are mapped, and those that moved since are in an array of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import InputError, UnknownNameError
from graphrefine.graph.lookup import list_some, quote_name
from graphrefine.graph.node_ids import Names, as_names, object_array
from graphrefine.kernels.nearest import ExcludedRows, NearestRows, nearest
from graphrefine.live.change_log import Update, vector_records

Floats = NDArray[np.float32]
GROWTH = 1.5
UPDATE_ROWS = 8192  # of one update, when all are written again


class VectorTable:
    """Unit rows, lengths and names.

    Parameters
    ----------
    names : ndarray
        The node of each row.
    vectors : ndarray
        Unit rows, (n, dim); never changed here.
    lengths : ndarray
        Lengths of the vectors before they were made unit; -1 for nodes without edges.
    degrees : ndarray
        Sums of the weights of the nodes, when their vectors were published.

    Examples
    --------
    >>> table = VectorTable(np.array(["ann", "bob"], object), np.eye(2, dtype=np.float32), np.ones(2), np.ones(2))
    >>> moved = vector_records(np.array([1]), dim=2)
    >>> moved["length"], moved["vector"] = 2.0, [1, 0]
    >>> table.put(moved)
    >>> table.rows(np.array([0, 1])).tolist(), table.row("bob")
    ([[1.0, 0.0], [1.0, 0.0]], 1)
    """

    def __init__(
        self, names: Names, vectors: Floats, lengths: NDArray[np.float64], degrees: NDArray[np.float64]
    ) -> None:
        self.base, self.dim = vectors, vectors.shape[1]
        self.lengths, self.degrees = np.array(lengths), np.array(degrees)
        self.groups = np.zeros(len(lengths), np.int64)  # that moved each row last; 0: the checkpoint has it
        self._names: list[Any] = names.tolist()
        self._row_of: dict[Any, int] = dict(zip(self._names, range(len(self._names)), strict=True))
        self._position = np.full(len(self._names), -1, np.int32)  # of a row among those that moved
        self._moved = np.empty((0, self.dim), np.float32)
        self._count = 0  # rows that moved
        self._is_removed = np.zeros(len(self._names), bool)
        self.has_integer_names = names.dtype != object

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._row_of

    @property
    def nodes(self) -> int:
        """Number of nodes, without removed ones."""
        return len(self._row_of)

    @property
    def moved(self) -> int:
        """Number of rows with vectors other than those of the checkpoint."""
        return self._count

    # ---- updates -----------------------------------------------------------------------------------------------------

    def apply(self, update: Update) -> None:
        """Bring the table to the moment of an update; names that are there already are skipped."""
        self._add(update.names[max(len(self) - update.first, 0) :])
        self.put(update.moved)
        for row in update.removed.tolist():
            if self._names[row] is not None and self._row_of.get(self._names[row]) == row:
                del self._row_of[self._names[row]]
            self._names[row] = None
        self._is_removed[update.removed] = True

    def _add(self, names: Sequence[Any]) -> None:
        """Add rows for new nodes, without vectors; None is the name of a row whose node was removed since."""
        if not names:
            return
        first = len(self._names)
        self._names += names
        self._row_of |= {name: row for row, name in enumerate(names, first) if name is not None}
        self.lengths = extend(self.lengths, len(names), -1.0)
        self.degrees = extend(self.degrees, len(names), 0.0)
        self.groups = extend(self.groups, len(names), 0)
        self._is_removed = extend(self._is_removed, len(names), False)
        self._position = extend(self._position, len(names), -1)

    def put(self, moved: NDArray[Any]) -> None:
        """Replace the vectors of rows by `vector_records`."""
        rows = moved["row"].astype(np.int64)
        if not len(rows):
            return
        fresh = rows[self._position[rows] < 0]
        if self._count + len(fresh) > len(self._moved):
            room = np.empty((int((self._count + len(fresh)) * GROWTH) + 16, self.dim), np.float32)
            room[: self._count] = self._moved[: self._count]
            self._moved = room
        self._position[fresh] = np.arange(self._count, self._count + len(fresh), dtype=np.int32)
        self._count += len(fresh)
        self._moved[self._position[rows]] = moved["vector"]
        self.lengths[rows], self.groups[rows], self.degrees[rows] = moved["length"], moved["group"], moved["degree"]

    def updates(self) -> Iterator[Update]:
        """Yield updates that bring the vectors of the checkpoint to this moment; each vector is in one of them."""
        rows, none = np.flatnonzero(self._position >= 0), np.empty(0, np.int64)
        first, end = len(self.base), len(self)
        yield Update(first, self._names[first:], np.flatnonzero(self._is_removed), vector_records(none, self.dim))
        for start in range(0, len(rows), UPDATE_ROWS):
            moved = vector_records(rows[start : start + UPDATE_ROWS], self.dim)
            some = moved["row"].astype(np.int64)
            moved["group"], moved["length"], moved["degree"] = self.groups[some], self.lengths[some], self.degrees[some]
            moved["vector"] = self.rows(some)
            yield Update(end, [], none, moved)

    # ---- answers -----------------------------------------------------------------------------------------------------

    def removed(self) -> NDArray[np.bool_]:
        """Return the mask of the rows whose node was removed."""
        return self._is_removed

    def names_from(self, first: int) -> list[Any]:
        """Return the names of the rows from one on; None for nodes that were removed."""
        return self._names[first:]

    def row(self, name: object) -> int:
        """Return the row of a node; UnknownNameError for a name that none has."""
        try:
            return self._row_of[name]
        except (KeyError, TypeError):
            some = list_some([each for each in self._names[:8] if each is not None])
            raise UnknownNameError(f"no node is called {quote_name(name)}; names are such as {some}") from None

    def find_row(self, name: object) -> int | None:
        """Return the row of a node, or None."""
        return self._row_of.get(name)

    def rows(self, rows: NDArray[Any]) -> Floats:
        """Return the unit vectors of rows; zeros where a node has none."""
        out, positions = np.zeros((len(rows), self.dim), np.float32), self._position[rows]
        moved, old = positions >= 0, (positions < 0) & (rows < len(self.base))
        out[moved] = self._moved[positions[moved]]
        out[old] = self.base[rows[old]]
        return out

    def names_array(self, rows: NDArray[Any]) -> Names:
        """Return the names of rows as an array."""
        names = [self._names[row] for row in rows.tolist()]
        return as_names(names, len(names)) if self.has_integer_names else object_array(names)

    def nearest(
        self,
        vector: Floats,
        k: int,
        *,
        exclude: Sequence[int] | NDArray[np.int64] = (),
        scale: Floats | None = None,
        threads: int = 1,
    ) -> list[tuple[int, float]]:
        """Return the rows of the highest cosine with a unit vector, times the row's scale, and that score, exactly."""
        if k < 1:
            raise InputError(f"k={k} must be at least 1", argument="k")
        excluded = np.union1d(np.flatnonzero((self.lengths <= 0) | self._is_removed), np.asarray(exclude, np.int64))
        old = np.union1d(np.flatnonzero(self._position[: len(self.base)] >= 0), excluded[excluded < len(self.base)])
        answers = _search(vector, self.base, k, old, None if scale is None else scale[: len(self.base)], threads)
        if self._count:
            rows = np.empty(self._count, np.int64)
            moved = np.flatnonzero(self._position >= 0)
            rows[self._position[moved]] = moved
            bad = np.flatnonzero(np.isin(rows, excluded))
            factors = None if scale is None else scale[rows]
            near = _search(vector, self._moved[: self._count], k, bad, factors, threads)
            answers += [(int(rows[position]), score) for position, score in near]
        return sorted(answers, key=lambda each: (-each[1], each[0]))[:k]


def extend(array: NDArray[Any], count: int, value: Any) -> NDArray[Any]:
    """Return a longer array, with a value at its end; the two share memory where it has room.

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


def _search(
    vector: Floats, rows: Floats, k: int, excluded: NDArray[np.int64], scale: Floats | None, threads: int
) -> list[tuple[int, float]]:
    near: NearestRows = nearest(
        vector[None], rows, k, scale=scale, excluded_rows=ExcludedRows.from_lists([excluded]), threads=threads
    )
    pairs = zip(near.rows[0].tolist(), near.scores[0].tolist(), strict=True)
    return [(row, score) for row, score in pairs if row >= 0]
