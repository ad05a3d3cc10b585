"""Who is near whom: the points whose directions are most alike, by cosine; exact for few, by cells for many.

Beyond `EXACT` points each looks into the cells nearest to it alone. Cells that are much larger than most, as where many
points are the same, are cut along their longest axis: it is the same work for any points.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.kernels import plane
from graphrefine.maps.kmeans_cells import Cells, part, work_on
from graphrefine.progress import Stages
from graphrefine.vectors.lengths import inverse_lengths

Floats = NDArray[np.float32]
Rows = NDArray[np.int32]

COUNT = 15  # neighbours of each point
EXACT = 20_000  # points up to which all pairs are scored
PROBES = 5  # cells that a point looks into
BLOCK = 512  # points scored at a time
LARGE = 4  # times the mean: a cell to be cut


class Near(NamedTuple):
    """Neighbours of each point, the nearest first."""

    rows: Rows  # (n, k): points; -1 where there are no more
    cosines: Floats  # (n, k)
    cells: Cells | None  # in which they were found, where all pairs were too many

    @property
    def order(self) -> Rows:
        """The points in an order in which near ones stand together.  # (n,)."""
        return np.arange(len(self.rows), dtype=np.int32) if self.cells is None else self.cells.members


def nearest(
    vectors: Floats, points: NDArray[Any], *, count: int = COUNT, seed: int = 0, threads: int = 1, stages: Stages
) -> Near:
    """The neighbours of points, which are rows of `vectors` that are not zero; point i is row ``points[i]``.

    Examples
    --------
    >>> vectors = np.array([[1, 0], [0, 1], [1, 1], [0, 0]], np.float32)
    >>> near = nearest(vectors, np.array([0, 1, 2]), count=1, stages=Stages())
    >>> near.rows.tolist(), near.cosines.round(2).tolist()
    ([[2], [2], [0]], [[0.7099999785423279], [0.7099999785423279], [0.7099999785423279]])
    """
    n = len(points)
    k = max(1, min(count, n - 1))
    best, rows = np.full((n, k), -np.inf, np.float32), np.full((n, k), -1, np.int32)
    lengths = inverse_lengths(vectors)[points]
    search = _Search(vectors, points, lengths, best, rows)
    cells = None
    if n <= EXACT:
        with stages.stage("neighbours"):
            everyone = np.arange(n, dtype=np.int32)
            queries = [everyone[start : start + BLOCK] for start in range(0, n, BLOCK)]
            members = search.unit(everyone)
            work_on(queries, lambda some: search.among(some, everyone, members), threads)
    else:
        with stages.stage("cells"):
            cells = part(vectors, points, count=_cells(n), probes=PROBES, seed=seed, threads=threads)
        with stages.stage("neighbours", steps=PROBES):
            for probe in range(cells.nearest.shape[1]):
                work_on(_tasks(cells, probe), search.cell, threads)
                stages.advance()
    best *= lengths[:, None]
    best[rows < 0] = 0
    return Near(rows, np.clip(best, -1, 1, out=best), cells)


def _cells(n: int) -> int:
    """As many as make finding the cells and searching in them the same work."""
    return min(int(np.sqrt(PROBES * n)), 1 << 16)


def _tasks(cells: Cells, probe: int) -> Iterator[tuple[Rows, Rows, int]]:
    """Of each cell, who looks into it at this turn, who is in it, and how many of these are too many."""
    wanted = cells.nearest[:, probe]
    queries = np.argsort(wanted, kind="stable").astype(np.int32)
    ends = np.concatenate([[0], np.cumsum(np.bincount(wanted, minlength=len(cells.starts) - 1))])
    most = LARGE * len(cells.members) // (len(cells.starts) - 1)
    for cell in range(len(cells.starts) - 1):
        members = cells.members[cells.starts[cell] : cells.starts[cell + 1]]
        if len(members) and ends[cell + 1] > ends[cell]:
            yield queries[ends[cell] : ends[cell + 1]], members, most


class _Search:
    """Scores of some points with others, offered to what is known so far."""

    def __init__(self, vectors: Floats, points: NDArray[Any], lengths: Floats, best: Floats, rows: Rows) -> None:
        self.vectors, self.points, self.lengths, self.best, self.rows = vectors, points, lengths, best, rows

    def unit(self, some: Rows) -> Floats:
        """Vectors of length 1."""
        vectors: Floats = self.vectors[self.points[some]]
        vectors *= self.lengths[some][:, None]
        return vectors

    def cell(self, task: tuple[Rows, Rows, int]) -> None:
        """Look into a cell."""
        queries, members, most = task
        unit = self.unit(members)
        if len(members) <= most:
            for start in range(0, len(queries), BLOCK):
                self.among(queries[start : start + BLOCK], members, unit)
            return
        axis = _longest_axis(unit)
        along = unit @ axis
        order = np.argsort(along, kind="stable")
        parts = -(-len(members) // most)
        cuts = np.arange(1, parts) * len(members) // parts
        place = np.searchsorted(along[order][cuts], self.unit(queries) @ axis)
        rank = np.empty(len(members), np.int64)
        rank[order] = np.arange(len(members))
        mine = np.searchsorted(members, queries)  # members ascend
        mine[mine == len(members)] = 0
        inside = members[mine] == queries
        place[inside] = np.searchsorted(cuts, rank[mine[inside]], side="right")
        for number, (lo, hi) in enumerate(zip([0, *cuts], [*cuts, len(members)], strict=True)):
            some, these = queries[place == number], order[lo:hi]
            for start in range(0, len(some), BLOCK):
                self.among(some[start : start + BLOCK], members[these], unit[these])

    def among(self, queries: Rows, members: Rows, unit: Floats) -> None:
        """Look among these."""
        scores = self.vectors[self.points[queries]] @ unit.T
        plane.keep_best(scores, queries, members, best=self.best, rows=self.rows)


def _longest_axis(unit: Floats) -> Floats:
    """The direction in which vectors differ most, or nearly so."""
    apart = unit - unit.mean(axis=0)
    axis: Floats = apart[np.einsum("ij,ij->i", apart, apart).argmax()]
    for _ in range(3):
        axis = apart.T @ (apart @ axis)
        length = float(np.sqrt(axis @ axis))
        axis = axis / np.float32(length) if length > 0 else axis
    return axis
