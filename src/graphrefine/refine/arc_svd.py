"""Arcs as a matrix from sources to targets: normalized, decomposed, and freed of noise.

``N = (D_out + m_out)^-1/2 A (D_in + m_in)^-1/2 ~ U S V^T``, m the mean degree of the nodes that have arcs on that side.
Without m, the leading singular vectors are those of the smallest isolated groups of nodes; with it, groups count by
their arcs (regularized spectral clustering: Chaudhuri, Chung and Tsiatas, COLT 2012).

How much of a singular value is noise: were the entries of N spread at random, without structure, its singular values
would end at the edge ``e = |N|_F (1/sqrt n_out + 1/sqrt n_in)`` (Marchenko and Pastur, 1967). So what a singular vector
counts is ``s (s^2 / (s^2 + e^2))^strength``: all of s far above the edge, little of it at the edge and below.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic

import numpy as np
from numpy.typing import NDArray

from graphrefine.engine.engine import Engine, Small, T
from graphrefine.graph.graph import Graph
from graphrefine.kernels import native
from graphrefine.kernels.exact import dot, power
from graphrefine.linalg.operators import Floats, Operator
from graphrefine.refine.svd import Decomposition, randomized_svd

# The smallest weight whose square float32 still holds (1e-36); its inverse is the largest. Beyond these, squares are
# zero or infinite, and with them the edge of the noise: such graphs are summed in float64, at the price of copies.
SMALLEST = 1e-18


@dataclass(frozen=True)
class Side:
    """The nodes of a graph as sources, or as targets."""

    degrees: NDArray[np.float64]  # (n,): weights of their arcs on this side

    @property
    def count(self) -> int:
        """How many have arcs on this side."""
        return int(np.count_nonzero(self.degrees))

    @property
    def mean(self) -> float:
        """The mean degree of those."""
        return float(self.degrees.sum() / max(self.count, 1))

    def scale(self) -> Floats:
        """Return ``(d + m)^-1/2``, zero for nodes without arcs.  # (n,)."""
        there = self.degrees > 0
        scale = np.where(there, 1 / np.sqrt(np.where(there, self.degrees + self.mean, 1.0)), 0.0)
        return scale.astype(np.float32)


@dataclass(frozen=True)
class Arcs(Generic[T]):
    """``N ~ U S V^T``, and the edge of what may be noise."""

    source: Side
    target: Side
    svd: Decomposition[T]
    edge: float

    def left(self, strength: float, *, columns: int) -> Small:
        """Return the rotation that takes the basis of ``svd`` to U, each column times the root of what it counts."""
        return self.svd.left(columns=columns) * np.sqrt(self._counts(strength)[:columns])

    def right(self, strength: float, *, columns: int) -> Small:
        """Return the same for V."""
        return self.svd.right(columns=columns) * np.sqrt(self._counts(strength)[:columns])

    def _counts(self, strength: float) -> Small:
        return shrunk(self.svd.values, self.edge, strength)


def decompose(
    engine: Engine[T], graph: Graph, *, rounds: int, seed: int, threads: int, advance: Callable[[], None]
) -> Arcs[T]:
    """Return the singular triplets of the arcs of a directed graph, as many as the engine has columns."""
    N, source, target = normalize_arcs(graph)
    # A round is a product with N^T and one with N. The paper's powers of N alone vanish where there are no cycles: on a
    # DAG of depth q, N^q is zero, and so would be all vectors.
    svd = randomized_svd(engine, N, seed=seed, iterations=rounds, advance=advance)
    return Arcs(source, target, svd, noise_edge(N, source.count, target.count, threads=threads))


def normalize_arcs(graph: Graph) -> tuple[Operator, Side, Side]:
    """Return N, and the nodes as sources and as targets."""
    source, target = Side(graph.degrees()), Side(graph.transposed().degrees())
    return Operator(graph, edge="weight", row_scale=source.scale(), column_scale=target.scale()), source, target


def noise_edge(N: Operator, sources: int, targets: int, *, threads: int = 1) -> float:
    """Return the largest singular value that N would have if its entries were spread at random over sources x targets.

    Examples
    --------
    A single arc is all there is to know: one source, one target, |N|_F = 1/2, so the edge is 1/2 + 1/2.

    >>> pair = Graph.from_edges([0], [1], directed=True)
    >>> round(noise_edge(normalize_arcs(pair)[0], 1, 1), 3)
    1.0
    """
    rows, columns = (np.square(x, dtype=np.float64) for x in (N.row_scale, N.column_scale) if x is not None)
    squares = _sum_squares(N.graph, columns, threads=threads)
    return float(np.sqrt(dot(rows, squares)) * (1 / np.sqrt(max(sources, 1)) + 1 / np.sqrt(max(targets, 1))))


def _sum_squares(graph: Graph, columns: NDArray[np.float64], *, threads: int) -> NDArray[np.float64]:
    """Return the sum of ``weight^2 columns[target]`` of each node's arcs; in float64 where float32 lacks squares."""
    weights = graph.weights
    if weights is None or not len(weights) or (weights.min() > SMALLEST and weights.max() < 1 / SMALLEST):
        squares = None if weights is None else np.square(weights)
        sums: NDArray[np.float64] = native.row_sums(graph.indptr, graph.indices, squares, columns, threads=threads)
        return sums
    sources = np.repeat(np.arange(graph.nodes), np.diff(graph.indptr))
    terms = np.square(weights, dtype=np.float64) * columns[graph.indices]
    return np.bincount(sources, terms, minlength=graph.nodes).astype(np.float64, copy=False)


def shrunk(values: Small, edge: float, strength: float) -> Small:
    """Return ``s (s^2 / (s^2 + edge^2))^strength``: what singular values count, beyond noise.

    Examples
    --------
    >>> shrunk(np.array([10.0, 1.0, 0.0]), 1.0, 1.0).round(3).tolist()
    [9.901, 0.5, 0.0]
    """
    squares = np.square(values)
    share = np.divide(squares, squares + edge * edge, out=np.zeros_like(values), where=squares > 0)
    return values * power(share, strength)
