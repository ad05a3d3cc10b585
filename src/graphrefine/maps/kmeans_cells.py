"""Cells by k-means: points grouped by direction, so that a search for neighbours looks into a few cells alone.

Spherical k-means on a sample gives the centres. Each point has a short list of the centres nearest to its direction: it
belongs to the first of them, and its neighbours are searched in all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphrefine.kernels import plane
from graphrefine.linalg.small import one_blas_thread, unit_rows

Floats = NDArray[np.float32]
Rows = NDArray[np.int32]
Task = TypeVar("Task")
Result = TypeVar("Result")

SAMPLE = 16  # points for each centre in the sample
ROUNDS = 4  # of k-means
BLOCK = 1024  # points scored at a time


class Cells(NamedTuple):
    """Points by cell."""

    members: Rows  # (n,): all points, those of cell c from starts[c] to before starts[c + 1]
    starts: NDArray[np.int64]  # (cells + 1,)
    nearest: NDArray[np.uint16]  # (n, probes): the cells nearest to each point, its own first


def map_tasks(tasks: Iterable[Task], work: Callable[[Task], Result], threads: int) -> Iterator[Result]:
    """`work` of each task, in order; BLAS runs on one thread in each, so that the bits are the same for any number."""
    with one_blas_thread():
        if threads == 1:
            yield from map(work, tasks)
            return
        with ThreadPoolExecutor(threads) as pool:
            yield from pool.map(work, tasks)


def run_tasks(tasks: Iterable[Task], work: Callable[[Task], None], threads: int) -> None:
    """Call `work` with each task, in the same way."""
    for _ in map_tasks(tasks, work, threads):
        pass


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
    centres = _centres(vectors, points, count=count, seed=seed, threads=threads)
    count, probes = len(centres), min(probes, len(centres))
    best = np.full((n, probes), -np.inf, np.float32)
    labels = np.full((n, probes), -1, np.int32)
    cell_labels = -2 - np.arange(count, dtype=np.int32)  # numbers that no point has

    def assign(start: int) -> None:
        block = np.arange(start, min(start + BLOCK, n), dtype=np.int32)
        plane.keep_best(vectors[points[block]] @ centres.T, block, cell_labels, best=best, rows=labels)

    run_tasks(range(0, n, BLOCK), assign, threads)
    nearest = (-2 - labels).astype(np.uint16)
    sizes = np.bincount(nearest[:, 0], minlength=count)
    members = np.argsort(nearest[:, 0], kind="stable").astype(np.int32)
    return Cells(members, np.concatenate([[0], np.cumsum(sizes)]), nearest)


def _centres(vectors: Floats, points: NDArray[Any], *, count: int, seed: int, threads: int) -> Floats:
    """Centres of the cells: unit vectors.  # (count, k)."""
    rng = np.random.default_rng(seed)
    rows = np.sort(rng.choice(len(points), min(len(points), SAMPLE * count), replace=False))
    sample = unit_rows(vectors[points[rows]])
    centres = sample[np.sort(rng.choice(len(sample), count, replace=False))]
    owner = np.empty(len(sample), np.int64)

    def assign(start: int) -> None:
        owner[start : start + BLOCK] = (sample[start : start + BLOCK] @ centres.T).argmax(axis=1)

    for _ in range(ROUNDS):
        run_tasks(range(0, len(sample), BLOCK), assign, threads)
        ends = np.arange(len(sample) + 1)
        shares = sp.csr_array((np.ones(len(sample), np.float32), owner, ends), shape=(len(sample), len(centres)))
        centres = unit_rows(shares.T @ sample)
        centres = centres[centres.any(axis=1)]  # of equal points, several centres began as one
    return centres


def sum_by_cell(vectors: Floats, points: NDArray[Any], cells: Cells) -> Floats:
    """The sum of the unit vectors of each cell: its direction, or zero if it is empty.  # (cells, k)."""
    out = np.zeros((len(cells.starts) - 1, vectors.shape[1]), np.float32)
    for cell in range(len(out)):
        members = cells.members[cells.starts[cell] : cells.starts[cell + 1]]
        out[cell] = unit_rows(vectors[points[members]]).sum(axis=0, dtype=np.float64)
    return out
