"""An index of neighbors that follows live vectors: usearch's graph, rows added and removed by key.

A row is put into the graph again once its vector has moved by `MOVED` since it last was: vectors that move a little
stay near where they are looked for. Candidates of the graph are scored by the vectors of this moment, so that scores
and their order are exact; what the graph does not find is missing, as with any index. An exact search is always
possible.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import MissingExtraError
from graphrefine.kernels import exact
from graphrefine.live.change_log import Update
from graphrefine.live.vector_table import VectorTable

MOVED = 0.25  # length of the way of a unit vector, after which it is put into the graph again
ADDED = 1 << 14  # rows added at a time
SPARE = 4  # candidates for each answer
LEAST = 64  # candidates at least

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]


class LiveIndex:
    """The index of a table of vectors; `apply` keeps it in step.

    Parameters
    ----------
    table : VectorTable
        The vectors.
    threads : int
        Threads of making it.

    Examples
    --------
    >>> unit = np.eye(40, dtype=np.float32)
    >>> table = VectorTable(np.arange(40), unit, np.ones(40), np.ones(40))
    >>> LiveIndex(table).nearest(unit[3], 1, exclude=4)
    [(3, 1.0)]
    """

    def __init__(self, table: VectorTable, *, threads: int = 1) -> None:
        try:
            from usearch.index import Index
        except ModuleNotFoundError:
            raise MissingExtraError("an index of neighbors", "usearch", "ann") from None
        self.table, self._threads = table, threads
        self._graph: Any = Index(ndim=table.dim, metric="ip", dtype="f16", connectivity=16, expansion_add=128)
        self._way = np.zeros(len(table))  # of each row since it was put into the graph
        rows = np.flatnonzero((table.lengths > 0) & ~table.removed())
        for start in range(0, len(rows), ADDED):
            some = rows[start : start + ADDED]
            self._graph.add(some, table.rows(some), threads=threads)

    def __len__(self) -> int:
        return len(self._graph)

    def apply(self, update: Update) -> None:
        """Follow an update that the table does not have yet."""
        rows, vectors = update.moved["row"].astype(np.int64), update.moved["vector"].astype(np.float32)
        if len(rows):
            if (more := int(rows.max()) + 1 - len(self._way)) > 0:
                self._way = np.concatenate([self._way, np.zeros(more)])
            is_old = rows < len(self.table)
            before = np.zeros_like(vectors)
            before[is_old] = self.table.rows(rows[is_old])
            self._way[rows] += np.sqrt(exact.squares_of_rows(vectors - before))
            is_inside, has_vector = self._graph.contains(rows), vectors.any(axis=1)
            is_late = has_vector & (~is_inside | (self._way[rows] > MOVED))
            self._remove(rows[is_inside & (is_late | ~has_vector)])
            if is_late.any():
                self._graph.add(rows[is_late], vectors[is_late], threads=self._threads)
                self._way[rows[is_late]] = 0
        if len(update.removed):
            self._remove(update.removed[self._graph.contains(update.removed)])

    def _remove(self, rows: Rows) -> None:
        if len(rows):
            self._graph.remove(rows)

    def nearest(self, vector: Floats, k: int, *, exclude: int) -> list[tuple[int, float]]:
        """Return the rows of the highest cosine with a unit vector among the candidates, and that cosine."""
        count = min(max(SPARE * k, LEAST), len(self._graph))
        if not count:
            return []
        self._graph.expansion_search = max(count, 2 * LEAST)
        rows = np.sort(self._graph.search(vector, count, threads=self._threads).keys.astype(np.int64))
        rows = rows[rows != exclude]
        scores = self.table.rows(rows) @ vector
        order = np.argsort(-scores, kind="stable")[:k]
        return list(zip(rows[order].tolist(), scores[order].tolist(), strict=True))
