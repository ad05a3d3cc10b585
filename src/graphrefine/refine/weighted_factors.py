r"""Weighted factors of two sets of nodes: least squares over all pairs, those with an edge and those without.

.. math:: \sum_{ui} c_{ui} (1 - x_u \cdot y_i)^2 + a \sum_{u,i} q_i (x_u \cdot y_i)^2
          + \lambda \Big( \sum_u b_u |x_u|^2 + \sum_i b_i |y_i|^2 \Big)

The first sum is over edges, the second over all pairs: that an edge is missing says a little (Hu, Koren and Volinsky,
ICDM 2008). b is the weight of all pairs of a node, so that :math:`\lambda` acts alike on nodes with many and with few
edges (Rendle, Krichene, Zhang and Koren, RecSys 2022). :math:`c = \log_2(1 + w / \mathrm{median})`.

Given one side, each row of the other is the solution of k equations.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.engine.engine import descending_eigh
from graphrefine.graph.graph import Graph
from graphrefine.kernels import PAD, exact, native
from graphrefine.kernels.exact import log, matmul_tall, power
from graphrefine.linalg.operators import median

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]

# a is such that all missing pairs have 1.5 times the weight of the edges. q, 1 in the mean, grows with the popularity
# of an item: who leaves out what everybody has may not want it.
MISSING = 1.5
POPULARITY = 0.25  # exponent of an item's degree in q
STEPS = 3  # of conjugate gradients
HUB = 2048  # edges beyond which a row is solved directly


class Rows(NamedTuple):
    """The edges of one side of the graph, by its nodes."""

    indptr: NDArray[np.int64]  # (n + 1,)
    indices: NDArray[np.int32]  # (edges,): nodes of the other side
    weights: Floats  # (edges,): c
    missing: Doubles  # (n,): q; 1 for the sources

    @property
    def sums(self) -> Doubles:
        """Weights of the edges of each node.  # (n,)."""
        sums = np.concatenate([[0.0], np.cumsum(self.weights, dtype=np.float64)])
        total: Doubles = np.where(np.diff(self.indptr) > 0, sums[self.indptr[1:]] - sums[self.indptr[:-1]], 0.0)
        return total


class Pairs(NamedTuple):
    """A bipartite graph for weighted least squares."""

    sources: Rows
    targets: Rows
    scale: float  # a

    def totals(self) -> tuple[Doubles, Doubles]:
        """Return the weights b of all pairs of each source and of each target."""
        return _totals(self.sources, self.targets, self.scale), _totals(self.targets, self.sources, self.scale)


def weigh_pairs(arcs: Graph, sources: int) -> Pairs:
    """Return the pairs of a bipartite graph from its arcs one way.

    Examples
    --------
    >>> from graphrefine.readers.read import read
    >>> from graphrefine.refine.bipartite import one_way
    >>> pairs = weigh_pairs(one_way(read([("ann", "tea"), ("bob", "tea"), ("bob", "cake")], bipartite=True)), 2)
    >>> pairs.sources.indices.tolist(), pairs.targets.indices.tolist(), pairs.scale
    ([1, 0, 1], [1, 0, 1], 1.125)
    """
    back = arcs.transposed()
    middle = 1.0 if arcs.weights is None or not len(arcs.weights) else float(median(arcs.weights))
    first = Rows(arcs.indptr[: sources + 1], arcs.indices - np.int32(sources), _levels(arcs, middle), np.ones(sources))
    indptr = back.indptr[sources:] - back.indptr[sources]
    degrees = power(np.maximum(np.diff(indptr), 0.5), POPULARITY)
    second = Rows(indptr, back.indices, _levels(back, middle), degrees / degrees.mean() if len(degrees) else degrees)
    cells = float(sources) * (arcs.nodes - sources)
    return Pairs(first, second, MISSING * float(first.weights.sum(dtype=np.float64)) / max(cells, 1.0))


def start_targets(pairs: Pairs, right: Floats, values: Doubles, regularization: float) -> None:
    """Overwrite the rows of V with the solution for edges that are spread evenly: ``(t / b)^1/2 V (s - r)^1/2``.

    ``right`` are right singular vectors of the normalized edges (items, k), t is the weight of all pairs.
    """
    totals = pairs.totals()[1]
    # The regularization is about what each singular value of the normalized edges loses. None is reduced below its
    # half: a column of zeros would stay one in all sweeps to come.
    rest = np.maximum(values - regularization, values / 2) * float(totals.sum())
    right *= np.sqrt(rest).astype(np.float32)
    right *= (1 / np.sqrt(np.maximum(totals, 1e-30)))[:, None].astype(np.float32)


def solve_sources(
    pairs: Pairs, x: Floats, y: Floats, regularization: float, *, steps: int = STEPS, threads: int = 1
) -> None:
    """Move the vectors x of the sources towards the solution for the vectors y of the targets; x is overwritten."""
    _solve(pairs.sources, pairs.targets, pairs.scale, x, y, regularization, steps=steps, threads=threads)


def solve_targets(
    pairs: Pairs, x: Floats, y: Floats, regularization: float, *, steps: int = STEPS, threads: int = 1
) -> None:
    """Move the vectors y of the targets towards the solution for the vectors x of the sources; y is overwritten.

    Examples
    --------
    One user, one item: y = x c / (x^2 (c + a) + r (c + a)), with c = 1 and a = 1.5.

    >>> from graphrefine.readers.read import read
    >>> from graphrefine.refine.bipartite import one_way
    >>> pairs = weigh_pairs(one_way(read([("ann", "tea")], bipartite=True)), 1)
    >>> x, y = np.full((1, 1), 2, np.float32), np.zeros((1, 1), np.float32)
    >>> solve_targets(pairs, x, y, 0.1)
    >>> round(float(y[0, 0]), 4), round(2 / (2.5 * 4 + 0.1 * 2.5), 4)
    (0.1951, 0.1951)
    """
    _solve(pairs.targets, pairs.sources, pairs.scale, y, x, regularization, steps=steps, threads=threads)


def _levels(arcs: Graph, middle: float) -> Floats:
    if arcs.weights is None:
        return np.ones(len(arcs.indices), np.float32)
    levels: Floats = (log(1.0 + arcs.weights.astype(np.float64) / middle) / log(2.0)).astype(np.float32)
    return levels


def _totals(rows: Rows, others: Rows, scale: float) -> Doubles:
    return rows.sums + scale * rows.missing * float(others.missing.sum())


def _solve(
    rows: Rows, others: Rows, scale: float, x: Floats, y: Floats, regularization: float, *, steps: int, threads: int
) -> None:
    totals, mass = _totals(rows, others, scale), max(scale * float(others.missing.sum()), 1e-30)
    weighted = y * np.sqrt(others.missing)[:, None].astype(np.float32)
    values, axes = descending_eigh(scale * exact.gram(weighted, threads=threads))
    values = np.maximum(values, 0.0)
    # In coordinates in which the matrix of the missing pairs, with the regularization, is the identity for a node of
    # total 1, a row's equations are that and a term for its edges: a few steps of conjugate gradients from the last
    # solution are enough, instead of the k^3 operations of a direct solution for each row.
    level = np.sqrt(values / mass + regularization)  # (k,)
    del weighted
    k, columns = len(level), -(-len(level) // PAD) * PAD
    diagonal = np.ones((2, columns))  # times q, and times b; columns that are padded have a solution, zero
    diagonal[:, :k] = values / np.square(level), regularization / np.square(level)
    there, back = np.zeros((2, k, columns), np.float32)
    there[:, :k], back[:, :k] = axes / level, axes * level
    z, v = matmul_tall(y, there, threads=threads), matmul_tall(x, back, threads=threads)
    solve = native.solve_rows
    edges = rows.indptr, rows.indices, rows.weights
    solve(*edges, v, z, missing=rows.missing, totals=totals, diagonal=diagonal, steps=steps, hub=HUB, threads=threads)
    x[:] = matmul_tall(v, np.ascontiguousarray(there.T), threads=threads)
