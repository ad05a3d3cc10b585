"""The vectors that readers and the writer of a folder answer from: unit rows, their lengths, and names of nodes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import InputError, UnknownNameError
from graphrefine.graph.lookup import SIDES, Side, is_integer, list_some, quote_name
from graphrefine.graph.node_ids import Names, as_names, object_array
from graphrefine.kernels.nearest import ExcludedRows, nearest
from graphrefine.live.change_log import Update, check_name

Floats = NDArray[np.float32]
Reals = NDArray[np.float64]
GROWTH = 1.5


class VectorTable:
    """Names, unit rows, lengths of the vectors before (-1: a node without edges) and degrees; it grows at its end.

    Rows of the checkpoint are mapped, and only pages of those that moved are in memory; rows of new nodes are in a
    second array. In a bipartite graph a name may be on both sides. Its keys, which the folder has in place of names,
    are text that differs: ``s7`` and ``t7``. ``sides`` says whether the names there are "integers" or "strings".
    """

    def __init__(
        self, keys: Names, vectors: Floats, lengths: Reals, degrees: Reals, *, sides: str | None = None
    ) -> None:
        self._base, self.dim = vectors, vectors.shape[1]
        self._added = np.empty((0, self.dim), np.float32)
        self.has_sides = sides is not None
        self.has_integers = keys.dtype != object if sides is None else sides == "integers"
        self._keys: list[Any] = []
        self._row_of: dict[Any, int] = {}
        self.lengths, self.degrees = np.empty(0), np.empty(0)
        self.groups = np.empty(0, np.int64)  # that moved or removed each row last; 0: none since
        self.removed, self.is_target = np.empty(0, bool), np.empty(0, bool)
        self._append(keys.tolist())
        self.lengths[:], self.degrees[:] = lengths, degrees

    def __len__(self) -> int:
        return len(self._keys)

    @property
    def nodes(self) -> int:
        """Number of nodes, without removed ones."""
        return len(self._row_of)

    # ---- updates -----------------------------------------------------------------------------------------------------

    def _append(self, keys: list[Any]) -> None:
        """Add nodes without edges, and thus without vectors."""
        first = len(self._keys)
        self._keys += keys
        self._row_of |= dict(zip(keys, range(first, len(self._keys)), strict=True))
        self.lengths, self.degrees = extend(self.lengths, len(keys), -1.0), extend(self.degrees, len(keys), 0.0)
        self.groups, self.removed = extend(self.groups, len(keys), 0), extend(self.removed, len(keys), False)
        self.is_target = extend(self.is_target, len(keys), False)
        self.is_target[first:] = [self.has_sides and key[0] == "t" for key in keys]

    def apply(self, update: Update) -> None:
        """Add the nodes of a group, put in the vectors that moved, and take out the nodes that it removes."""
        names, moved = update.group.names, update.moved
        self._append(names)
        self._added = extend(self._added, len(names), 0.0)
        rows, vectors = moved["row"], moved["vector"]
        is_new = rows >= len(self._base)
        self._base[rows[~is_new]] = vectors[~is_new]
        self._added[rows[is_new] - len(self._base)] = vectors[is_new]
        self.lengths[rows], self.degrees[rows], self.groups[rows] = moved["length"], moved["degree"], update.number
        gone = update.group.removed()
        for row in gone.tolist():
            # A name that is added and removed in one group may have come back in a row after this one.
            if self._row_of.get(self._keys[row]) == row:
                del self._row_of[self._keys[row]]
        self.removed[gone], self.groups[gone] = True, update.number
        self.lengths[gone], self.degrees[gone] = -1.0, 0.0

    # ---- names -------------------------------------------------------------------------------------------------------

    def key(self, name: Any, side: Side) -> Any:
        """Return the key of a name that was checked; InputError for text among integers."""
        if self.has_integers and isinstance(name, str) and not is_integer(name):
            raise InputError(
                f"the name {name!r} is no integer, as all names of this graph are; for names of any kind create the "
                "graph again with nodes=, a file that lists such a name: then all names are text"
            )
        stored = int(name) if self.has_integers else str(name)
        return f"{side[0]}{stored}" if self.has_sides else stored

    def name(self, key: Any) -> Any:
        """Return the name of a key."""
        if not self.has_sides:
            return key
        return int(key[1:]) if self.has_integers else key[1:]

    def row_of(self, key: Any) -> int | None:
        """Return the row of a key, or None."""
        return self._row_of.get(key)

    def find_rows(self, name: Any, side: Side | None = None) -> list[int]:
        """Return the rows of a name: none or one, or in a bipartite graph one on each side that has it."""
        sides = SIDES if side is None else (side,)
        try:
            keys = [self.key(check_name(name), each) for each in sides] if self.has_sides else [name]
            return [row for row in map(self._row_of.get, keys) if row is not None]
        except (InputError, TypeError):  # no possible name
            return []

    def row(self, name: Any, side: Side | None = None) -> int:
        """Return the row of a name, on the side that is given or the only one that has it."""
        rows = self.find_rows(name, side)
        if len(rows) == 2:
            raise InputError(f"{name!r} is on both sides; pass side='source' or side='target'", argument="side")
        if not rows:
            where = f" on the {side} side" if side is not None and self.has_sides else ""
            some = list_some([self.name(key) for key in islice(self._row_of, 8)])
            raise UnknownNameError(f"no node is called {quote_name(name)}{where}; names are such as {some}")
        return rows[0]

    def keys(self, rows: NDArray[Any]) -> Names:
        """Return the keys of rows, as the folder has them."""
        keys = [self._keys[row] for row in rows.tolist()]
        return as_names(keys, len(keys)) if self.has_integers and not self.has_sides else object_array(keys)

    def names(self, rows: NDArray[Any]) -> Names:
        """Return the names of rows."""
        names = [self.name(self._keys[row]) for row in rows.tolist()]
        return as_names(names, len(names)) if self.has_integers else object_array(names)

    def present(self) -> NDArray[np.int64]:
        """Return the rows of all nodes."""
        return np.flatnonzero(~self.removed)

    def ordered(self) -> NDArray[np.int64]:
        """Return the rows of all nodes, sources before targets."""
        return np.concatenate([np.flatnonzero(~self.removed & (self.is_target == side)) for side in (False, True)])

    # ---- vectors -----------------------------------------------------------------------------------------------------

    def rows(self, rows: NDArray[Any]) -> Floats:
        """Return the unit vectors of rows; zeros where a node has none."""
        out, is_new = np.empty((len(rows), self.dim), np.float32), rows >= len(self._base)
        out[~is_new] = self._base[rows[~is_new]]
        out[is_new] = self._added[rows[is_new] - len(self._base)]
        return out

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
        excluded = self.lengths <= 0
        excluded[np.asarray(exclude, np.int64)] = True
        answers = list[tuple[int, float]]()
        for first, vectors in ((0, self._base), (len(self._base), self._added)):
            if len(vectors):
                part = slice(first, first + len(vectors))
                left_out = ExcludedRows.from_lists([np.flatnonzero(excluded[part])])
                factors = None if scale is None else scale[part]
                near = nearest(vector[None], vectors, k, threads=threads, scale=factors, excluded_rows=left_out)
                pairs = zip(near.rows[0].tolist(), near.scores[0].tolist(), strict=True)
                answers += [(first + row, score) for row, score in pairs if row >= 0]
        return sorted(answers, key=lambda each: (-each[1], each[0]))[:k]


def extend(array: NDArray[Any], count: int, value: Any) -> NDArray[Any]:
    """Return a longer array, with a value at its end; the two share memory where it has room.

    Room is made for half as many again, so that many small extensions cost no copy each.
    """
    size, room = len(array) + count, array.base
    if not isinstance(room, np.ndarray) or len(room) < size or room.ctypes.data != array.ctypes.data:
        room = np.empty((int(size * GROWTH) + 16, *array.shape[1:]), array.dtype)
        room[: len(array)] = array
    room[len(array) : size] = value
    return room[:size]
