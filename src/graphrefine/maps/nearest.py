"""Nearest points by cosine: exact for few points, by cells for many.

Beyond `EXACT` points the search looks into the cells nearest to a point alone. Cells that are much larger than most, as
of many equal points, are cut along their longest axis: the work is the same for any points.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.kernels import plane
from graphrefine.linalg.small import inverse_lengths
from graphrefine.maps.kmeans_cells import Cells, partition, run_tasks
from graphrefine.progress import Stages

Floats = NDArray[np.float32]
Rows = NDArray[np.int32]

COUNT = 15  # neighbours of each point
EXACT = 20_000  # points up to which all pairs are scored
PROBES = 5  # cells that a point looks into
BLOCK = 512  # points scored at a time
LARGE = 4  # times the mean: a cell to be cut


class Neighbors(NamedTuple):
    """Neighbours of each point, the nearest first."""

    rows: Rows  # (n, k): points; -1 beyond the last
    cosines: Floats  # (n, k)
    cells: Cells | None  # of the search; None if all pairs were scored

    @property
    def order(self) -> Rows:
        """An order of the points with near ones side by side.  # (n,)."""
        return np.arange(len(self.rows), dtype=np.int32) if self.cells is None else self.cells.members


def find_nearest(
    vectors: Floats, points: NDArray[Any], *, count: int = COUNT, seed: int = 0, threads: int = 1, stages: Stages
) -> Neighbors:
    """The neighbours of points, which are rows of `vectors` that are not zero; point i is row ``points[i]``.

    Examples
    --------
    >>> vectors = np.array([[1, 0], [0, 1], [1, 1], [0, 0]], np.float32)
    >>> neighbors = find_nearest(vectors, np.array([0, 1, 2]), count=1, stages=Stages())
    >>> neighbors.rows.tolist(), neighbors.cosines.round(2).tolist()
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
            members = np.arange(n, dtype=np.int32)
            blocks = [members[start : start + BLOCK] for start in range(0, n, BLOCK)]
            unit = search.unit(members)
            run_tasks(blocks, lambda queries: search.score(queries, members, unit), threads)
    else:
        with stages.stage("cells"):
            cells = partition(vectors, points, count=_cell_count(n), probes=PROBES, seed=seed, threads=threads)
        with stages.stage("neighbours", steps=PROBES):
            for probe in range(cells.nearest.shape[1]):
                run_tasks(_tasks(cells, probe), search.score_cell, threads)
                stages.advance()
    best *= lengths[:, None]
    best[rows < 0] = 0
    return Neighbors(rows, np.clip(best, -1, 1, out=best), cells)


def _cell_count(n: int) -> int:
    """The number of cells for which making them and searching in them are the same work."""
    return min(int(np.sqrt(PROBES * n)), 1 << 16)


def _tasks(cells: Cells, probe: int) -> Iterator[tuple[Rows, Rows, int]]:
    """Of each cell, the points whose probe it is, its members, and the largest size that is searched as one."""
    targets = cells.nearest[:, probe]
    queries = np.argsort(targets, kind="stable").astype(np.int32)
    ends = np.concatenate([[0], np.cumsum(np.bincount(targets, minlength=len(cells.starts) - 1))])
    most = LARGE * len(cells.members) // (len(cells.starts) - 1)
    for cell in range(len(cells.starts) - 1):
        members = cells.members[cells.starts[cell] : cells.starts[cell + 1]]
        if len(members) and ends[cell + 1] > ends[cell]:
            yield queries[ends[cell] : ends[cell + 1]], members, most


class _Search:
    """The best scores so far, and the points that they are of; further scores improve them."""

    def __init__(self, vectors: Floats, points: NDArray[Any], lengths: Floats, best: Floats, rows: Rows) -> None:
        self.vectors, self.points, self.lengths, self.best, self.rows = vectors, points, lengths, best, rows

    def unit(self, rows: Rows) -> Floats:
        """Vectors of length 1."""
        vectors: Floats = self.vectors[self.points[rows]]
        vectors *= self.lengths[rows][:, None]
        return vectors

    def score_cell(self, task: tuple[Rows, Rows, int]) -> None:
        """Score points with the members of a cell; of a large one, with those of their part."""
        queries, members, most = task
        unit = self.unit(members)
        if len(members) <= most:
            for start in range(0, len(queries), BLOCK):
                self.score(queries[start : start + BLOCK], members, unit)
            return
        axis = _longest_axis(unit)
        along = unit @ axis
        order = np.argsort(along, kind="stable")
        parts = -(-len(members) // most)
        cuts = np.arange(1, parts) * len(members) // parts
        place = np.searchsorted(along[order][cuts], self.unit(queries) @ axis)
        rank = np.empty(len(members), np.int64)
        rank[order] = np.arange(len(members))
        positions = np.searchsorted(members, queries)  # members ascend
        positions[positions == len(members)] = 0
        inside = members[positions] == queries
        place[inside] = np.searchsorted(cuts, rank[positions[inside]], side="right")
        for number, (lo, hi) in enumerate(zip([0, *cuts], [*cuts, len(members)], strict=True)):
            part_queries, part = queries[place == number], order[lo:hi]
            for start in range(0, len(part_queries), BLOCK):
                self.score(part_queries[start : start + BLOCK], members[part], unit[part])

    def score(self, queries: Rows, members: Rows, unit: Floats) -> None:
        """Score points with members, whose unit vectors these are."""
        scores = self.vectors[self.points[queries]] @ unit.T
        plane.keep_best(scores, queries, members, best=self.best, rows=self.rows)


def _longest_axis(unit: Floats) -> Floats:
    """The direction in which vectors differ most, or nearly so."""
    differences = unit - unit.mean(axis=0)
    axis: Floats = differences[np.einsum("ij,ij->i", differences, differences).argmax()]
    for _ in range(3):
        axis = differences.T @ (differences @ axis)
        length = float(np.sqrt(axis @ axis))
        axis = axis / np.float32(length) if length > 0 else axis
    return axis
