"""Candidates for edges: of each feature the pairs with the highest values, of all pairs that could have an edge.

Rows are taken in the order of their degrees, in blocks. A value below the smallest of the highest so far is passed
over, so that memory is bounded. Of equal values the pair with the smaller key counts first: which pairs are candidates
does not depend on the threads.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.analysis.pair_features import Floats, PairFeatures, Rows
from graphrefine.graph.graph import Graph
from graphrefine.progress import Stages
from graphrefine.system.threads import one_blas_thread, thread_pool

CELLS = 1 << 21  # of one feature of a block
WORK = 6e10  # entries visited for the rows that are searched: a minute or two on two cores
WIDTH = 100  # entries that a column of a dense row counts for


class Candidates(NamedTuple):
    """Pairs, and their features."""

    first: Rows  # (m,)
    second: Rows  # (m,)
    values: Floats  # (m, features)


def search_rows(graph: Graph) -> Rows:
    """Rows whose pairs are searched, by descending degree: all that have edges, or as many as the work allows.

    Examples
    --------
    >>> search_rows(Graph.from_edges([0, 0, 0, 1], [1, 2, 3, 2])).tolist()
    [0, 1, 2, 3]
    """
    counts = graph.out_counts if graph.sources is None else graph.out_counts[: graph.sources]
    order = np.argsort(-counts, kind="stable")
    most = int(WORK / (graph.entries + WIDTH * graph.nodes))
    return order[counts[order] > 0][: max(most, 1)]


def collect_candidates(features: PairFeatures, rows: Rows, *, count: int, threads: int, stages: Stages) -> Candidates:
    """Of each feature the ``count`` highest positive values among the pairs of ``rows``, each pair once."""
    graph = features.graph
    rank = np.full(graph.nodes, len(rows))  # place of a node among the rows, or after all of them
    rank[rows] = np.arange(len(rows))
    size = max(1, min(CELLS // graph.nodes, 256))
    pool = _Pool(len(features.names), count)

    def search(start: int) -> tuple[Rows, Floats]:
        block = rows[start : start + size]
        arrays = features.block(block)
        free = _could_be_edges(graph, block, rank).ravel()
        flat = [array.ravel() for array in arrays]
        cells = np.unique(np.concatenate([pool.select(values, free, place) for place, values in enumerate(flat)]))
        keys = block[cells // graph.nodes] * graph.nodes + cells % graph.nodes
        return keys, np.stack([values[cells] for values in flat], axis=1)

    starts = range(0, len(rows), size)
    with stages.stage("search", steps=len(starts)), one_blas_thread(), thread_pool(threads) as workers:
        for group in _groups(starts, 4 * threads):  # so that few results wait
            try:
                for keys, values in workers.map(search, group):
                    pool.add(keys, values)
                    stages.advance()
            except BaseException:  # Ctrl-C too: stop before the queue is worked through
                workers.shutdown(wait=False, cancel_futures=True)
                raise
    pool.shrink()
    order = np.argsort(pool.keys, kind="stable")
    keys, values = pool.keys[order], pool.values[order]
    return Candidates(keys // graph.nodes, keys % graph.nodes, values)


def _groups(starts: range, size: int) -> Iterator[range]:
    return (starts[at : at + size] for at in range(0, len(starts), size))


def _could_be_edges(graph: Graph, block: Rows, rank: Rows) -> NDArray[np.bool_]:
    """Mask of the pairs of these rows that are no edges and may be one; each undirected pair in one row alone."""
    if graph.directed or graph.sources is not None:
        free = np.ones((len(block), graph.nodes), np.bool_)
        free[:, : graph.sources or 0] = False
    else:
        free = rank > rank[block][:, None]
    for place, row in enumerate(block.tolist()):
        free[place, graph.indices[graph.indptr[row] : graph.indptr[row + 1]]] = False
        free[place, row] = False
    return free


class _Pool:
    """The pairs with the highest values of each feature, so far."""

    def __init__(self, features: int, count: int) -> None:
        self.keys, self.values = np.empty(0, np.int64), np.empty((0, features), np.float32)
        self._parts: list[tuple[Rows, Floats]] = []
        self._waiting = 0
        self._count = count
        self._least = np.zeros(features, np.float32)  # values below are not among the highest

    def select(self, values: Floats, free: NDArray[np.bool_], feature: int) -> Rows:
        """Cells of a block that may be among the highest: at most ``count``, the first of equals."""
        cells = np.flatnonzero(free & (values >= self._least[feature]) & (values > 0))
        if len(cells) <= self._count:
            return cells
        among = values[cells]
        edge = np.partition(among, len(among) - self._count)[len(among) - self._count]
        level = np.flatnonzero(among == edge)[: self._count - int((among > edge).sum())]
        return np.concatenate([cells[among > edge], cells[level]])

    def add(self, keys: Rows, values: Floats) -> None:
        """Take pairs in."""
        self._parts.append((keys, values))
        self._waiting += len(keys)
        if self._waiting > 4 * self._count or not self.keys.size:
            self.shrink()

    def shrink(self) -> None:
        """Leave out the pairs that are not among the highest of any feature."""
        keys = np.concatenate([self.keys, *(keys for keys, _ in self._parts)])
        values = np.concatenate([self.values, *(values for _, values in self._parts)])
        stays = np.zeros(len(keys), np.bool_)
        for feature in range(values.shape[1]):
            column = values[:, feature]
            above = np.flatnonzero(column >= self._least[feature])
            highest = above[np.lexsort((keys[above], -column[above]))[: self._count]]
            stays[highest[column[highest] > 0]] = True
            if len(highest) == self._count:
                self._least[feature] = max(column[highest[-1]], 0)
        self.keys, self.values, self._parts, self._waiting = keys[stays], values[stays], [], 0
