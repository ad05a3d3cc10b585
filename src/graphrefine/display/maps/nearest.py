"""Nearest points by cosine: exact for few points, by cells for many.

Beyond `EXACT` points the search looks into the cells nearest to a point alone. K-means on a sample gives the centers of
cells. Each point has a short list of the centers nearest to its direction: it belongs to the first of them, and its
neighbors are searched in all. Cells that are much larger than most, as of many equal points, are cut along their
longest axis: the work is the same for any points.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.kernels import plane
from graphrefine.linalg import inverse_lengths, unit_rows
from graphrefine.linalg.kmeans import find_centers
from graphrefine.progress import Stages
from graphrefine.system.threads import run_tasks

Floats = NDArray[np.float32]
Rows = NDArray[np.int32]

# Why not `graphrefine.search`: there equal vectors have the same neighbors, the first ones. A map must not pull all
# copies to the same few, so `keep_best` begins to count equals at another point for each query. Of many points, all
# pairs would take longer than the rest of a map, and usearch is optional.

COUNT = 15  # neighbors of each point
EXACT = 20_000  # points up to which all pairs are scored
PROBES = 5  # cells that a point looks into
QUERIES = 512  # points scored at a time
LARGE = 4  # times the mean: a cell to be cut
SAMPLE = 16  # points for each center in the sample
ROUNDS = 4  # of k-means
ASSIGNED = 1024  # points scored with centers at a time


class Cells(NamedTuple):
    """Points by cell."""

    members: Rows  # (n,): all points, those of cell c from starts[c] to before starts[c + 1]
    starts: NDArray[np.int64]  # (cells + 1,)
    nearest: NDArray[np.uint16]  # (n, probes): the cells nearest to each point, its own first


def partition(vectors: Floats, points: NDArray[Any], *, count: int, probes: int, seed: int, threads: int) -> Cells:
    """Group points, which are rows of `vectors`, into `count` cells, or fewer if many points are equal.

    Examples
    --------
    >>> vectors = np.array([[1, 0], [1, 0.1], [0, 1], [0.1, 1]], np.float32)
    >>> cells = partition(vectors, np.arange(4), count=2, probes=1, seed=0, threads=1)
    >>> sorted(cells.members[cells.starts[c] : cells.starts[c + 1]].tolist() for c in range(2))
    [[0, 1], [2, 3]]
    """
    n = len(points)
    rng = np.random.default_rng(seed)
    # Sorted, so that rows of a mapped file are read in the order in which they lie on the disk.
    sample = unit_rows(vectors[points[np.sort(rng.choice(n, min(n, SAMPLE * count), replace=False))]])
    # Cells only have to be of like sizes: a few rounds from random rows do that, and k-means++ would take longer. Of
    # equal rows one begins a cell, or the few other rows would get cells too small for 15 neighbors.
    begin = np.unique(sample[rng.choice(len(sample), count, replace=False)], axis=0)
    centers = unit_rows(find_centers(sample, len(begin), seed=seed, rounds=ROUNDS, begin=begin))
    count, probes = len(centers), min(probes, len(centers))
    best = np.full((n, probes), -np.inf, np.float32)
    labels = np.full((n, probes), -1, np.int32)
    # `keep_best` passes over a candidate whose number is the query's own, which is right among points. Cells are not
    # points: negative numbers keep cell 7 from being passed over by point 7 (-1 means none).
    cell_labels = -2 - np.arange(count, dtype=np.int32)

    def assign(start: int) -> None:
        block = np.arange(start, min(start + ASSIGNED, n), dtype=np.int32)
        plane.keep_best(vectors[points[block]] @ centers.T, block, cell_labels, best=best, rows=labels)

    run_tasks(range(0, n, ASSIGNED), assign, threads)
    nearest = (-2 - labels).astype(np.uint16)
    sizes = np.bincount(nearest[:, 0], minlength=count)
    members = np.argsort(nearest[:, 0], kind="stable").astype(np.int32)
    return Cells(members, np.concatenate([[0], np.cumsum(sizes)]), nearest)


def sum_by_cell(vectors: Floats, points: NDArray[Any], cells: Cells) -> Floats:
    """Return the sum of the unit vectors of each cell: its direction, or zero if it is empty.  # (cells, k)."""
    out = np.zeros((len(cells.starts) - 1, vectors.shape[1]), np.float32)
    for cell in range(len(out)):
        members = cells.members[cells.starts[cell] : cells.starts[cell + 1]]
        out[cell] = unit_rows(vectors[points[members]]).sum(axis=0, dtype=np.float64)
    return out


class Neighbors(NamedTuple):
    """Neighbors of each point, the nearest first."""

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
    """Find the neighbors of points, which are rows of `vectors` that are not zero; point i is row ``points[i]``.

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
        with stages.stage("neighbors"):
            members = np.arange(n, dtype=np.int32)
            blocks = [members[start : start + QUERIES] for start in range(0, n, QUERIES)]
            unit = search.unit(members)
            run_tasks(blocks, lambda queries: search.score(queries, members, unit), threads)
    else:
        with stages.stage("cells"):
            cells = partition(vectors, points, count=_cell_count(n), probes=PROBES, seed=seed, threads=threads)
        with stages.stage("neighbors", steps=PROBES):
            for probe in range(cells.nearest.shape[1]):
                run_tasks(_tasks(cells, probe), search.score_cell, threads)
                stages.advance()
    best *= lengths[:, None]
    best[rows < 0] = 0
    return Neighbors(rows, np.clip(best, -1, 1, out=best), cells)


def _cell_count(n: int) -> int:
    """Return the number of cells for which making them and searching in them are the same work."""
    return min(int(np.sqrt(PROBES * n)), 1 << 16)


def _tasks(cells: Cells, probe: int) -> Iterator[tuple[Rows, Rows, int]]:
    """Yield, for each cell, the points whose probe it is, its members, and the largest size that is searched as one."""
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
        """Return vectors scaled to length 1."""
        vectors: Floats = self.vectors[self.points[rows]]
        vectors *= self.lengths[rows][:, None]
        return vectors

    def score_cell(self, task: tuple[Rows, Rows, int]) -> None:
        """Compare points with the members of a cell; of a large one, with those of their part."""
        queries, members, most = task
        unit = self.unit(members)
        if len(members) <= most:
            for start in range(0, len(queries), QUERIES):
                self.score(queries[start : start + QUERIES], members, unit)
            return
        axis = _longest_axis(unit)
        along = unit @ axis
        order = np.argsort(along, kind="stable")
        parts = -(-len(members) // most)
        cuts = np.arange(1, parts) * len(members) // parts
        part_of = np.searchsorted(along[order][cuts], self.unit(queries) @ axis)
        rank = np.empty(len(members), np.int64)
        rank[order] = np.arange(len(members))
        positions = np.searchsorted(members, queries)  # members ascend
        positions[positions == len(members)] = 0
        inside = members[positions] == queries
        part_of[inside] = np.searchsorted(cuts, rank[positions[inside]], side="right")
        for number, (lo, hi) in enumerate(zip([0, *cuts], [*cuts, len(members)], strict=True)):
            part_queries, part = queries[part_of == number], order[lo:hi]
            for start in range(0, len(part_queries), QUERIES):
                self.score(part_queries[start : start + QUERIES], members[part], unit[part])

    def score(self, queries: Rows, members: Rows, unit: Floats) -> None:
        """Compare points with members, whose unit vectors these are."""
        scores = self.vectors[self.points[queries]] @ unit.T
        plane.keep_best(scores, queries, members, best=self.best, rows=self.rows)


def _longest_axis(unit: Floats) -> Floats:
    """Return the direction in which vectors differ most, or nearly so."""
    differences = unit - unit.mean(axis=0)
    # Power iteration from the farthest point: three rounds decide the cut well enough.
    axis: Floats = differences[np.einsum("ij,ij->i", differences, differences).argmax()]
    for _ in range(3):
        axis = differences.T @ (differences @ axis)
        length = float(np.sqrt(axis @ axis))
        axis = axis / np.float32(length) if length > 0 else axis
    return axis
