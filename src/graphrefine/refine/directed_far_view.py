r"""The far view of a directed graph: how often walks along its arcs and back are in the regions of its targets.

With :math:`P = D_{out}^{-1} A` from sources to targets, :math:`Q = D_{in}^{-1} A^T` back to sources, and regions J of
targets, the columns of sources and of targets are

.. math:: X = \tfrac{1}{2} (P + P Q P) H \qquad Y = Q X \qquad H_{jJ} = \frac{\mathrm{vol}}{\mathrm{vol}(J)} [j \in J]

X says how many times more often than by chance a walk from u is in J after one step or three, Y the same from v after
two or four: v is with what those who point to v point to. A step always goes on to the other side, so walks do not end
where a DAG does. A node without arcs on a side has a row of zeros there.

Of a row of :math:`\log \max(1, X)`, made unit, and the unit row of the singular vectors (`graphrefine.refine.directed`)
side by side, the former has the `SHARE` of the squared length. Both sides are turned to the same principal axes, where
each side counts as much as the other, and their rows are made unit again. Weights count by their logarithm, as in the
views of undirected graphs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Generic

import numpy as np
from numpy.typing import NDArray

from graphrefine.engine.engine import Engine, T, descending_eigh
from graphrefine.graph.adjacency import inverses
from graphrefine.graph.graph import Graph
from graphrefine.kernels import exact
from graphrefine.kernels.exact import matmul_tall
from graphrefine.linalg import unit_rows
from graphrefine.linalg.operators import EdgeStrengths, Operator, by_logarithm
from graphrefine.refine.far_view import Logarithms, heights, region_blocks, region_columns
from graphrefine.refine.regions import Regions, draw_nodes, draw_regions
from graphrefine.system.threads import in_blocks

Floats = NDArray[np.float32]

REGIONS = 256  # of targets
# The far view's part of the squared length of a row: on generated graphs 0.8 does as well, 0.3 gains half as much.
SHARE = 0.6
BLOCK = 2048  # rows worked on at a time
SAMPLE = 16384  # nodes that the axes are learned from
LEAST = 1e-6  # of the largest eigenvalue: axes of less are rounding


def join_far_view(
    engine: Engine[T],
    graph: Graph,
    source: Floats,
    target: Floats,
    *,
    seed: int,
    advance: Callable[[], None] = lambda: None,
) -> None:
    """Overwrite the unit rows of both sides, (n, k) each, with those of both views; rows of zeros stay.

    Parameters
    ----------
    engine
        Of the directed graph, which has at least one arc; it is as wide as the blocks of columns.
    graph
        The graph.
    source, target
        Unit rows, zero for nodes without arcs on that side; in the same space.
    seed
        Of the regions, and of the nodes that the axes are learned from.
    advance
        Called `count_blocks` times.

    Examples
    --------
    Where singular vectors tell nothing, walks do: sources 0 and 1 point to target 3, and 2 to 4.

    >>> from graphrefine.engine.local import LocalEngine
    >>> arcs = Graph.from_edges([0, 1, 2], [3, 3, 4], directed=True)
    >>> source, target = np.zeros((5, 2), np.float32), np.zeros((5, 2), np.float32)
    >>> join_far_view(LocalEngine(arcs, columns=2), arcs, source, target, seed=0)
    >>> np.abs(source @ target.T).astype(float).round(3)[:3, 3:].tolist()
    [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]
    """
    walks = ArcWalks(engine, by_logarithm(graph), target_regions(graph, target, seed=seed, threads=engine.threads))
    logs = Logarithms(engine, walks.height), Logarithms(engine, walks.height)
    for part, columns in walks.averages():
        for side, each in zip(logs, columns, strict=True):
            side.add(each, part.stop - part.start)
            engine.release(each)
        advance()
    del walks
    engine.trim()
    views = [_SideBySide(engine, rows, each) for rows, each in zip((source, target), logs, strict=True)]
    axes = _shared_axes(views, draw_nodes(graph, SAMPLE, seed=seed), source.shape[1], engine.threads)
    for view in views:
        in_blocks(engine.nodes, _turn(view, axes), threads=engine.threads, rows=BLOCK)


def count_blocks(graph: Graph, columns: int) -> int:
    """Return how often `join_far_view` calls ``advance`` with an engine of this width.

    Examples
    --------
    >>> count_blocks(Graph.from_edges([0, 1, 2], [3, 3, 4], directed=True), 1)
    2
    """
    return -(-min(REGIONS, int(np.count_nonzero(graph.transposed().out_counts))) // columns)


def bytes_held(nodes: int, dim: int) -> int:
    """Return the bytes held besides an engine and the vectors: logarithms, numbers of nodes, and rows at work.

    Examples
    --------
    >>> bytes_held(1_000_000, 128) / 1e9
    0.67501056
    """
    regions, few = min(REGIONS, nodes), 96  # bytes of each node for degrees, a region and the like
    wide = regions + dim // 2
    return nodes * (2 * regions + few) + 3 * min(SAMPLE, nodes) * wide * 4 + 40 * wide**2


def target_regions(graph: Graph, target: Floats, *, seed: int, threads: int = 1) -> Regions:
    """Return at most `REGIONS` regions of nodes that have arcs in, by their rows as targets.

    Examples
    --------
    >>> arcs = Graph.from_edges([0, 1, 2], [3, 3, 4], directed=True)
    >>> target_regions(arcs, np.zeros((5, 2), np.float32), seed=0).of.tolist()
    [-1, -1, -1, 0, 1]
    """
    alone = graph.transposed().out_counts == 0
    return draw_regions(graph, target, REGIONS, seed=seed, threads=threads, alone=alone)


class ArcWalks(Generic[T]):
    """Columns of the regions of targets, a block at a time: X and Y above."""

    def __init__(self, engine: Engine[T], strengths: EdgeStrengths, regions: Regions) -> None:
        self.engine, self.regions = engine, regions
        inward = EdgeStrengths(strengths.graph.transposed(), strengths.edge, strengths.unit).degrees
        self.height = heights(regions, inward)
        self.forth = strengths.walk()
        scale = inverses(inward).astype(np.float32)
        self.back = Operator(
            strengths.graph, edge=strengths.edge, unit=strengths.unit, row_scale=scale, transposed=True
        )

    def averages(self) -> Iterator[tuple[slice, tuple[T, T]]]:
        """Yield which regions, and the columns of sources and of targets, in float32."""
        engine = self.engine
        for part in region_blocks(self.regions, engine.columns):
            H = region_columns(engine, self.regions, part, self.height)
            # A step always changes the side, as far as arcs lead: along them, back, along. Steps along the arcs alone
            # would end where a DAG does, and lose nearly all walks.
            first = engine.apply(self.forth, H)
            del H
            again = engine.apply(self.back, first)
            source = engine.apply(self.forth, again, scale=0.5, plus=(0.5, first), precise=True)
            del first, again
            yield part, (source, engine.apply(self.back, source, precise=True))


class _SideBySide(Generic[T]):
    """The rows of both views of one side, in the engine's order; each with its share of the squared length."""

    def __init__(self, engine: Engine[T], near: Floats, logs: Logarithms[T]) -> None:
        self.near, self.logs, self.order = near, logs, engine.order

    def rows(self, which: slice | NDArray[np.int64]) -> Floats:
        near = self.near[self.nodes(which)] * np.float32(np.sqrt(1 - SHARE))
        return np.hstack([near, unit_rows(self.logs.rows(which)) * np.float32(np.sqrt(SHARE))])

    def nodes(self, which: slice | NDArray[np.int64]) -> slice | NDArray[np.int32] | NDArray[np.int64]:
        """Return the graph's rows of these rows of the engine."""
        return which if self.order is None else self.order[which]


def _shared_axes(views: list[_SideBySide[T]], sample: NDArray[np.int64], columns: int, threads: int) -> Floats:
    """Return the leading axes of the rows of both sides, both of one length; zeros where there are no more."""
    order = views[0].order
    if order is not None:  # the same rows one after the other in any order of the engine: sums keep their bits
        positions = np.empty(len(order), np.int64)
        positions[order] = np.arange(len(order))
        sample = positions[sample]
    # Each side by its own number of rows: of many sources and few targets, the sources alone would choose the axes.
    grams = []
    for view in views:
        wide = view.rows(sample)
        there = int(np.count_nonzero(wide.any(axis=1)))
        grams.append(exact.gram(wide, threads=threads) / max(there, 1))
        del wide
    values, vectors = descending_eigh(grams[0] + grams[1])
    axes: Floats = np.where(values[:columns] > LEAST * values[0], vectors[:, :columns], 0.0).astype(np.float32)
    return axes


def _turn(view: _SideBySide[T], axes: Floats) -> Callable[[slice], None]:
    def work(rows: slice) -> None:
        view.near[view.nodes(rows)] = unit_rows(matmul_tall(view.rows(rows), axes))

    return work
