r"""Dimension of a graph: how many axes of its spectrum held-out edges confirm, and what fewer axes lose.

A fifth of the edges is held out. Of the rest, the 256 leading eigenpairs (w, u) of :math:`D^{-a} A D^{-a}`, of both
signs, are found as in the local view (`graphrefine.refine.local_view`). An axis counts where ``u^T H u``, with H the
same matrix of the held-out edges, has the sign of w and is more than three times its standard error. (Cross-validated
eigenvalues: Chen, Roch, Rohe and Yu, 2021.)

The number of such axes is the dimension. The energy of an axis is :math:`w^2`; what k axes lose is the share of the
energy of all confirmed axes that the strongest k of them do not hold. ``benchmarks/dimension.py`` measures the rule by
the F1 of labels.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.engine.engine import Small
from graphrefine.engine.local import LocalEngine
from graphrefine.graph.graph import Graph
from graphrefine.graph.node_ids import identities
from graphrefine.kernels.exact import power
from graphrefine.kernels.hashing import golden, mixed
from graphrefine.linalg.operators import EdgeStrengths, by_logarithm, edge_terms
from graphrefine.refine.local_view import EXPONENT
from graphrefine.refine.svd import symmetric_eigh

PROBE = 256  # axes looked at: no automatic dimension is larger
STEP = 16  # an automatic dimension is a multiple, or the number of nodes
SHOWN = (32, 64, 128, 256)  # numbers of axes whose loss is reported
HELD = 0.2  # share of the edges that is held out
# Standard errors from zero of an axis that is more than noise. 256 axes are tested at once: of a normal distribution,
# 5.8 of them would pass at two standard errors by chance alone, and 0.35 at three.
LEAST = 3.0
PRODUCTS = 18  # for the eigenpairs
# Not the seed of the run: the dimension is a property of the graph, and two runs must not differ in their width.
SEED = 0
TURN = 17  # of the random numbers that deal the edges
BLOCK = 8192  # nodes whose edges are dealt at a time
PAIRS = 1024  # held-out edges worked at a time

Mask = NDArray[np.bool_]


class Dimension(NamedTuple):
    """An automatic dimension, and the energies of the axes that are more than noise."""

    dim: int
    energies: Small  # largest first

    def lost(self, axes: int) -> float:
        """Return the share of the energy that the strongest axes leave out.

        Examples
        --------
        >>> round(Dimension(16, np.array([0.5, 0.3, 0.2])).lost(2), 3)
        0.2
        """
        return float(self.energies[axes:].sum() / max(float(self.energies.sum()), 1e-300))

    def stats(self) -> dict[str, Any]:
        """Return the number of axes above the noise, and what 32, 64, 128 and 256 axes lose, for recipes and JSON.

        Examples
        --------
        >>> Dimension(48, np.full(40, 0.1)).stats()
        {'axes': 40, 'lost': {'32': 0.2, '64': 0.0, '128': 0.0, '256': 0.0}}
        """
        return {"axes": len(self.energies), "lost": {str(k): round(self.lost(k), 4) for k in SHOWN}}


def measure_dimension(graph: Graph, *, threads: int = 1) -> Dimension:
    """Return the dimension of an undirected graph: the axes above the noise, rounded up to 16; at most 256.

    Examples
    --------
    Twenty groups of nodes, most of them linked within their group:

    >>> from graphrefine import datasets
    >>> groups = datasets.block_model(2000, 20_000, classes=20, mixing=0.2).graph
    >>> dimension = measure_dimension(groups)
    >>> len(dimension.energies), dimension.dim
    (20, 32)
    """
    most = min(PROBE, graph.nodes)
    values, scores = cross_validated(by_logarithm(graph), most, seed=SEED, threads=threads)
    energies = np.sort(np.square(values[scores > LEAST]))[::-1]
    return Dimension(min(max(-(-len(energies) // STEP), 1) * STEP, most), energies)


def cross_validated(strengths: EdgeStrengths, columns: int, *, seed: int, threads: int = 1) -> tuple[Small, Small]:
    """Return eigenvalues without the held-out edges, and how many standard errors these are in favor of each."""
    graph = strengths.graph
    # The axes must not have seen the edges that confirm them: an eigenvector of the whole graph fits the noise of its
    # own edges, and would always be confirmed.
    held = deal_edges(graph, HELD, seed=seed)
    rest = EdgeStrengths(take_entries(graph, ~held), strengths.edge, strengths.unit)
    if not len(rest.graph.indices) or not held.any():
        return np.zeros(0), np.zeros(0)
    engine = LocalEngine(rest.graph, columns=columns, threads=threads)
    pairs = symmetric_eigh(engine, rest.normalized(EXPONENT), seed=seed, products=PRODUCTS)
    axes = engine.collect(pairs.basis, pairs.axes)  # (n, columns)
    degree = rest.degrees
    scale = np.where(degree > 0, power(np.where(degree > 0, degree, 1.0), -EXPONENT), 0.0)
    test, sums, squares = take_entries(graph, held), np.zeros(columns), np.zeros(columns)
    rows = np.repeat(np.arange(graph.nodes, dtype=np.int32), test.out_counts)
    for start in range(0, len(rows), PAIRS):
        i, j = rows[start : start + PAIRS], test.indices[start : start + PAIRS]
        entries = scale[i] * scale[j]
        if test.weights is not None:
            entries *= edge_terms(strengths.edge, test.weights[start : start + PAIRS], strengths.unit)
        products = axes[i].astype(np.float64)
        products *= axes[j]
        products *= entries[:, None]
        sums += products.sum(axis=0)
        squares += np.square(products, out=products).sum(axis=0)
    # Each edge is there twice, with the same product: a sum over entries is twice the one over edges, its variance four
    # times as large, and so twice the sum of squares over entries.
    errors = np.sqrt(2 * squares)
    return pairs.values, np.divide(np.sign(pairs.values) * sums, errors, out=np.zeros(columns), where=errors > 0)


def deal_edges(graph: Graph, share: float, *, seed: int) -> Mask:
    """Return a mask of the entries that belong to a random share of the edges: by names and seed, not by order.

    Examples
    --------
    >>> ring = Graph.from_edges(range(1000), [*range(1, 1000), 0])
    >>> held = deal_edges(ring, 0.1, seed=0)
    >>> 150 < int(held.sum()) < 250
    True
    """
    ids = identities(graph.names)
    words = mixed((np.arange(graph.nodes) if ids is None else ids).astype(np.uint64) ^ golden(TURN))
    salt, held = mixed(np.array([seed], np.uint64)), np.empty(len(graph.indices), bool)
    bounds = np.arange(0, graph.nodes + BLOCK, BLOCK).clip(max=graph.nodes)
    for first, last in pairwise(bounds.tolist()):
        entries = slice(graph.indptr[first], graph.indptr[last])
        own = np.repeat(words[first:last], np.diff(graph.indptr[first : last + 1]))
        # A sum does not know which end is first: both entries of an edge are dealt to the same side.
        keys = mixed(salt ^ (own + words[graph.indices[entries]]))
        held[entries] = (keys >> np.uint64(11)).astype(np.float64) * 2.0**-53 < share
    return held


def take_entries(graph: Graph, which: Mask) -> Graph:
    """Return the graph with some of its entries.

    Examples
    --------
    >>> path = Graph.from_edges([0, 1], [1, 2])
    >>> take_entries(path, np.array([True, True, False, False])).edges
    1
    """
    ends = np.concatenate([[0], np.cumsum(which)])[graph.indptr].astype(graph.indptr.dtype)
    weights = None if graph.weights is None else graph.weights[which]
    return Graph(ends, graph.indices[which], weights, graph.names, graph.directed, graph.report, graph.source)
