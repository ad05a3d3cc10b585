"""An index of neighbors that follows published vectors: usearch's graph, rows added and removed by key.

A row is put into the graph anew once its vector has moved by `MOVED` since it last was: vectors that move a little stay
near where they are looked for. Candidates of the graph are scored by the vectors of this moment, so that scores and
their order are exact; what the graph does not find is missing, as with any index. An exact search is always possible.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import MissingExtraError
from graphrefine.kernels import exact
from graphrefine.live.published import Published

MOVED = 0.25  # way of a unit vector, after which its place in the graph is found anew
ADDED = 1 << 14  # rows added at a time
SPARE = 4  # candidates for each answer
LEAST = 64  # candidates at least

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]


class LiveIndex:
    """The index of published vectors; `follow` keeps it in step.

    Parameters
    ----------
    published
        The vectors.
    threads
        Threads of making it.

    Examples
    --------
    >>> unit = np.eye(40, dtype=np.float32)
    >>> table = Published(np.arange(40), unit, np.ones(40))
    >>> index = LiveIndex(table)
    >>> index.follow(np.array([7]), unit[[3]])
    >>> table.put(np.array([7]), np.ones(1), unit[[3]])
    >>> index.nearest(unit[3], 2)
    [(3, 1.0), (7, 1.0)]
    """

    def __init__(self, published: Published, *, threads: int = 1) -> None:
        try:
            from usearch.index import Index
        except ModuleNotFoundError:
            raise MissingExtraError("an index of neighbors", "usearch", "ann") from None
        self.published, self._threads = published, threads
        self._graph: Any = Index(ndim=published.dim, metric="ip", dtype="f16", connectivity=16, expansion_add=128)
        self._way = np.zeros(len(published))  # of each row since it was put into the graph
        rows = np.flatnonzero((published.lengths > 0) & ~published.removed())
        for start in range(0, len(rows), ADDED):
            some = rows[start : start + ADDED]
            self._graph.add(some, published.rows(some), threads=threads)

    def __len__(self) -> int:
        return len(self._graph)

    def follow(self, rows: Rows, vectors: Floats, *, removed: Rows | None = None) -> None:
        """Vectors that rows get now, before they are published; and rows whose nodes are gone."""
        if len(rows):
            self._grow(int(rows.max()) + 1)
            known = rows < len(self.published)  # others are new
            before = np.zeros_like(vectors)
            before[known] = self.published.rows(rows[known])
            self._way[rows] += np.sqrt(exact.squares_of_rows(vectors - before))
            inside = self._graph.contains(rows)
            there = vectors.any(axis=1)
            self._remove(rows[inside & ~there])
            late = there & (~inside | (self._way[rows] > MOVED))
            self._remove(rows[late & inside])
            if late.any():
                self._graph.add(rows[late], vectors[late], threads=self._threads)
                self._way[rows[late]] = 0
        if removed is not None and len(removed):
            self._remove(removed[self._graph.contains(removed)])

    def _grow(self, count: int) -> None:
        if count > len(self._way):
            self._way = np.concatenate([self._way, np.zeros(count - len(self._way))])

    def _remove(self, rows: Rows) -> None:
        if len(rows):
            self._graph.remove(rows)

    def nearest(self, vector: Floats, k: int, *, without: int | None = None) -> list[tuple[int, float]]:
        """Rows of the highest cosine with a unit vector among the candidates, and that cosine."""
        count = min(max(SPARE * k, LEAST), len(self._graph))
        if not count:
            return []
        self._graph.expansion_search = max(count, 2 * LEAST)
        rows = np.sort(self._graph.search(vector, count, threads=self._threads).keys.astype(np.int64))
        rows = rows[rows != without] if without is not None else rows
        scores = self.published.rows(rows) @ vector
        order = np.argsort(-scores, kind="stable")[:k]
        return list(zip(rows[order].tolist(), scores[order].tolist(), strict=True))
