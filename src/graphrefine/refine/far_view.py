r"""The far view: the logarithm of random walks, seen from the regions of a graph; a matrix n x n that is never formed.

.. math:: x_{iJ} = \frac{\mathrm{vol}}{\mathrm{vol}(J)} \frac{1}{T - s + 1} \sum_{r=s}^{T} \sum_{j \in J} (P^r)_{ij}

says how many times more often than by chance a walk from node i is in region J, s to T steps later. NetMF, and so
DeepWalk, factorizes the logarithm for single nodes j, from the first step on. Regions (`graphrefine.refine.regions`)
cost as many columns as there are of them instead of n; and since a walk is in a region more often than at a node, the
logarithm of each entry has less noise.

The columns are exact: a block of them is one product with P for each step. Vectors are ``U S^p`` of
:math:`\log \max(1, x)`, its axes from the mean rows of the regions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Generic

import numpy as np
from numpy.typing import NDArray

from graphrefine.engine.engine import Engine, Small, T, descending_eigh
from graphrefine.kernels import PAD, exact, native
from graphrefine.linalg.operators import EdgeStrengths
from graphrefine.refine.regions import Regions
from graphrefine.system.threads import in_blocks

if TYPE_CHECKING:
    from graphrefine.kernels._native import Product

Floats = NDArray[np.float32]

# Steps of a logarithm that is kept in a byte: n x regions floats would be several times the vectors. The size of a step
# is known before the first column, since no ratio is above the height of its region.
LEVELS = 255
ROWS = 2048  # in a block of logarithms
# Columns beyond those wanted of the subspace iteration for many regions. It replaces the eigen-decomposition of their
# Gram matrix, whose cost grows with the cube of their number: up to 4,096 in the tier "best".
SPARE = 64
ROUNDS = 4  # products with the Gram matrix, for them
LEAST = 1e-6  # of the largest eigenvalue of the Gram matrix: dividing by less would amplify rounding


def far_view(
    engine: Engine[T],
    strengths: EdgeStrengths,
    regions: Regions,
    *,
    columns: int,
    steps: tuple[int, int],
    spectrum: float = 0.5,
    advance: Callable[[], None] = lambda: None,
) -> Floats:
    """Return ``U S^p`` (n, columns); columns beyond the number of regions are zero.

    Parameters
    ----------
    engine
        Of an undirected graph with at least one edge; it is as wide as the blocks of columns.
    strengths
        How the weights of its edges count.
    regions
        See `graphrefine.refine.regions.draw_regions`.
    columns
        How many leading axes.
    steps
        s and T, the first and the last step that count: s < T.
    spectrum
        p: 1/2 is usual; more brings the strong directions forward, which is what few labels need.
    advance
        Called `count_blocks` times.

    Examples
    --------
    Two triangles: what a walk can tell is in which of them it is.

    >>> from graphrefine.engine.local import LocalEngine
    >>> from graphrefine.graph.graph import Graph
    >>> triangles = Graph.from_edges([0, 1, 2, 3, 4, 5], [1, 2, 0, 4, 5, 3])
    >>> regions = Regions(np.array([0, 0, 0, 1, 1, 1], np.int32), np.array([0, 3]))
    >>> engine = LocalEngine(triangles, columns=2)
    >>> vectors = far_view(engine, EdgeStrengths(triangles), regions, columns=2, steps=(3, 10))
    >>> (vectors @ vectors[0] / (vectors[0] @ vectors[0])).astype(float).round(2).tolist()
    [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]
    """
    walks, order = Walks(engine, strengths, regions), engine.order
    logs = Logarithms(engine, walks.height)
    sums, members = np.empty((regions.size, regions.size)), Members(engine, regions)
    for part, ratios in walks.averages(*steps):
        sums[:, part] = logs.add(ratios, part.stop - part.start, members)
        engine.release(ratios)
        advance()
    counts = members.counts
    del members, walks
    # Sums over c rows divided by sqrt(c) are mean rows times sqrt(c): as rows are alike within a region, these have
    # nearly the Gram matrix of all n rows, without a second pass over n x regions numbers.
    sums /= np.sqrt(counts)[:, None]
    axes = _axes(sums, columns, spectrum, engine.threads) * np.float32(logs.step)
    engine.trim()  # what the walks held makes room for the vectors
    vectors = engine.array(columns, np.float32)

    def work(rows: slice) -> None:
        vectors[rows if order is None else order[rows]] = exact.matmul_tall(logs.rows(rows), axes)

    in_blocks(engine.nodes, work, threads=engine.threads, rows=ROWS)
    return vectors


def count_blocks(regions: Regions, columns: int) -> int:
    """Return how often `far_view` calls ``advance`` with an engine of this width.

    Examples
    --------
    >>> count_blocks(Regions(np.zeros(9, np.int32), np.arange(5)), 2)
    3
    """
    return -(-regions.size // columns)


class Walks(Generic[T]):
    """Columns of the regions, a block at a time: how many times more often than by chance a walk is there."""

    def __init__(self, engine: Engine[T], strengths: EdgeStrengths, regions: Regions) -> None:
        self.engine, self.regions, self.degree = engine, regions, strengths.degrees
        self.volume = float(self.degree.sum())
        self.height = heights(regions, self.degree)
        self.step = strengths.walk()

    def after(self, part: slice, count: int) -> T:
        """Return the columns after a number of steps."""
        x = region_columns(self.engine, self.regions, part, self.height)
        for _ in range(count):
            x = self.engine.apply(self.step, x)
        return x

    def averages(self, start: int, stop: int) -> Iterator[tuple[slice, T]]:
        """Yield which regions, and their columns in float32, averaged over the steps ``start`` to ``stop``."""
        # Horner's rule: total = P total + first, once for each step beyond the first that counts, and the share with
        # the last product. Float32 at the end alone: between steps columns are only gathered from.
        for part in region_blocks(self.regions, self.engine.columns):
            first = self.after(part, start)
            total, share = first, 1.0 / (stop - start + 1)
            for left in range(stop - start - 1, -1, -1):
                end = left == 0
                scale = share if end else 1.0
                total = self.engine.apply(self.step, total, scale=scale, plus=(scale, first), precise=end)
            del first
            yield part, total


def region_blocks(regions: Regions, columns: int) -> Iterator[slice]:
    """Yield which regions are in each block of columns."""
    for start in range(0, regions.size, columns):
        yield slice(start, min(start + columns, regions.size))


def region_columns(engine: Engine[T], regions: Regions, part: slice, height: Floats) -> T:
    """Return the columns of some regions before any step."""
    inside = np.flatnonzero((regions.of >= part.start) & (regions.of < part.stop))
    return engine.one_hot(inside, regions.of[inside] - part.start, height[regions.of[inside]])


def heights(regions: Regions, degrees: NDArray[np.float64]) -> Floats:
    """Return the volume of the graph over that of each region, 0 for an empty one: its column before any step.

    Examples
    --------
    >>> heights(Regions(np.array([0, 0, 1], np.int32), np.array([0, 2])), np.array([1.0, 1.0, 2.0])).tolist()
    [2.0, 2.0]
    """
    inside = regions.of >= 0
    volumes = np.bincount(regions.of[inside], weights=degrees[inside], minlength=regions.size)
    volume = float(degrees.sum())
    return np.divide(volume, volumes, out=np.zeros_like(volumes), where=volumes > 0).astype(np.float32)


class Members(Generic[T]):
    """The nodes of each region, to sum rows over."""

    def __init__(self, engine: Engine[T], regions: Regions) -> None:
        self.order, self.of = engine.order, regions.of if engine.order is None else regions.of[engine.order]
        counts = np.bincount(self.of[self.of >= 0], minlength=regions.size)
        self.counts = np.maximum(counts, 1).astype(np.float32)
        self.threads = engine.threads
        self._products: dict[int, Product] = {}  # by the first row of a block

    def add(self, rows: slice, block: Floats, sums: Floats) -> None:
        """Add rows of a block to the ``sums`` of their regions, in the graph's order.  # (regions, width)."""
        if rows.start not in self._products:
            self._products[rows.start] = self._product(rows)
        self._products[rows.start].apply(block, out=sums, onto=sums if rows.start else None, threads=self.threads)

    def _product(self, rows: slice) -> Product:
        of = self.of[rows]
        # Sums of a region run in the graph's order, not in the engine's: else the order of rows in memory, which
        # depends on the size of the graph, would change bits.
        by_region = np.argsort(of, kind="stable") if self.order is None else np.lexsort((self.order[rows], of))
        inside = by_region[np.count_nonzero(of < 0) :].astype(np.int32)
        ends = np.concatenate([[0], np.cumsum(np.bincount(of[inside], minlength=len(self.counts)))])
        product: Product = native.Product(ends, inside, columns=len(of), constant=1.0)
        return product


class Logarithms(Generic[T]):
    """Logarithms of the columns of regions, a byte each: whole steps; rows in the engine's order."""

    def __init__(self, engine: Engine[T], height: Floats) -> None:
        self.engine = engine
        highest = float(height.max(initial=1.0))  # no ratio is above a region's height
        self.step = max(exact.log(highest), 1e-30) / LEVELS
        self.parts: list[NDArray[np.uint8]] = []

    def add(self, ratios: T, width: int, members: Members[T] | None = None) -> Floats:
        """Keep the logarithms of the first columns, and return their sums over regions; ``ratios`` is overwritten."""
        out, regions = self.engine.array(width, np.uint8), 0 if members is None else len(members.counts)
        sums = np.zeros((regions, -(-self.engine.columns // PAD) * PAD), np.float32)

        def work(rows: slice, block: Floats) -> None:
            exact.log_at_least(block, 1.0, threads=self.engine.threads)
            if members is not None:
                members.add(rows, block, sums)
            _store(block, self.step, out[rows], self.engine.threads)

        self.engine.visit(ratios, work, sums)
        self.parts.append(out)
        return sums[:, :width]

    def rows(self, which: slice | NDArray[np.int64]) -> Floats:
        """Return all columns of some rows, in steps."""
        parts = [part[which] for part in self.parts]
        wide = np.empty((len(parts[0]), sum(part.shape[1] for part in parts)), np.float32)
        return np.concatenate(parts, axis=1, out=wide, casting="same_kind")


def _store(logs: Floats, step: float, out: NDArray[np.uint8], threads: int) -> None:
    """Write the first columns to ``out`` in whole steps; ``logs`` is overwritten."""

    def work(rows: slice) -> None:
        entries = logs[rows, : out.shape[1]]
        entries *= np.float32(1.0 / step)
        entries += np.float32(0.5)
        np.minimum(entries, LEVELS, out=entries)
        out[rows] = entries.astype(np.uint8)

    in_blocks(len(logs), work, threads=threads, rows=ROWS)


def _axes(means: Small, columns: int, spectrum: float, threads: int) -> Floats:
    """Return ``V S^(p-1)`` (regions, columns) of the right singular vectors of ``means``; zero where S is near zero."""
    size = means.shape[1]
    gram = exact.gram(means.astype(np.float32), threads=threads)
    if size <= columns + SPARE + 64:
        values, vectors = descending_eigh(gram)
    else:
        Q = _signs(size, columns + SPARE)
        for _ in range(ROUNDS):
            Q = exact.qr(exact.matmul(gram, Q, threads=threads))
        values, small = descending_eigh(exact.matmul(Q.T, exact.matmul(gram, Q, threads=threads), threads=threads))
        vectors = exact.matmul(Q, small, threads=threads)
    values, vectors = values[:columns], vectors[:, :columns]
    large = (values > LEAST * values[:1]) & (values > 0)
    axes = np.zeros((size, columns), np.float32)
    axes[:, : len(values)] = vectors * exact.power_where(large, values, (spectrum - 1) / 2)
    return axes


def _signs(rows: int, columns: int) -> Small:
    """Return random signs, the same for the same size."""
    words = np.random.Philox(key=rows).random_raw(rows * columns)
    return 1.0 - 2.0 * (words >> np.uint64(63)).astype(np.float64).reshape(rows, columns)
