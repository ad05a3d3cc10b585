"""Scores of pairs of nodes: how likely an edge is, by vectors, by degrees, or by both.

Every score has one form, so that two functions serve them all:

``score(u, v) = (offset + inner_u inner_v sum_k middle_k X_uk X_vk) * outer_u outer_v``

============  ==========================================================================================
dot           ``x_u . x_v``
cosine        the same of rows of length 1
dot-degree    ``x_u . x_v (d_u d_v)^.4``
cosine-degree ``(1 + cos(x_u, x_v)) (d_u d_v)^.2``: never negative, so that degrees count one way
spectral      ``(U (w + w^2 + w^3) U^T)_uv (d_u d_v)^.4``, with ``D^-.4 A D^-.4 ~ U w U^T``: paths of one, two
              and three steps, of the graph itself and not of the vectors that are judged
degree        ``d_u d_v``: what every other score must beat
============  ==========================================================================================

Degrees are numbers of neighbours in the graph without the held-out edges; D has their weights, where it has any.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import InputError
from graphrefine.evaluate.holding_out import Pairs

if TYPE_CHECKING:
    from graphrefine.graph import Graph

BASELINE = "degree"
DAMPING = 0.4  # the exponent of degrees in the normalised matrix, and beside its eigenvectors
BLOCK = 1 << 14  # pairs scored at a time

Floats = NDArray[np.float32]
Which = NDArray[np.int64] | slice  # nodes


@dataclass(frozen=True)
class PairScore:
    """A score of pairs of nodes, in the form above; what is None is 1 everywhere."""

    vectors: Floats  # (n, k)
    middle: Floats | None = None  # (k,)
    inner: Floats | None = None  # (n,)
    outer: Floats | None = None  # (n,)
    offset: float = 0.0

    def of_pairs(self, pairs: Pairs) -> Floats:
        """The scores of pairs.

        Examples
        --------
        >>> score = PairScore(np.array([[1, 2], [3, 4]], np.float32), outer=np.array([1, 2], np.float32))
        >>> score.of_pairs(Pairs(np.array([0]), np.array([1]))).tolist()
        [22.0]
        """
        scores = np.empty(len(pairs.first), np.float32)
        for lo in range(0, len(scores), BLOCK):
            first, second = (side[lo : lo + BLOCK] for side in pairs)
            sums = np.einsum("ij,ij->i", self._left(first), self.vectors[second])
            scores[lo : lo + BLOCK] = self._finished(sums, first, second)
        return scores

    def against(self, nodes: Which, others: Which) -> Floats:
        """The score of each node with each of the others.  # (nodes, others)."""
        return self._finished(self._left(nodes) @ self.vectors[others].T, nodes, others)

    def in_order(self, order: NDArray[np.int64]) -> PairScore:
        """The same score where node ``order[i]`` is called i."""
        if np.array_equal(order, np.arange(len(order))):
            return self
        inner, outer = (None if scale is None else scale[order] for scale in (self.inner, self.outer))
        return replace(self, vectors=self.vectors[order], inner=inner, outer=outer)

    def sizes(self, pairs: Pairs) -> Floats:
        """What the terms of these scores can come to, signs aside: rounding is in proportion to it."""
        lengths = [np.sqrt(np.einsum("ij,ij->i", rows, rows)) for rows in map(self._weighted, pairs)]
        return self._finished(lengths[0] * lengths[1], *pairs)

    def _weighted(self, nodes: NDArray[np.int64]) -> Floats:
        rows = self.vectors[nodes]
        return rows if self.middle is None else rows * np.sqrt(np.abs(self.middle))

    def _left(self, nodes: Which) -> Floats:
        rows = self.vectors[nodes]
        return rows if self.middle is None else rows * self.middle

    def _finished(self, sums: Floats, first: Which, second: Which) -> Floats:
        """Scores from sums: of pairs, or of all first with all second."""
        for scale, added in ((self.inner, self.offset), (self.outer, 0.0)):
            if scale is not None:
                sums *= scale[first].reshape(-1, *[1] * (sums.ndim - 1))
                sums *= scale[second]
            if added:
                sums += np.float32(added)
        return sums


@dataclass(frozen=True)
class Known:
    """What scores are made from: the graph without the held-out edges, and vectors made from it."""

    graph: Graph
    vectors: Floats  # (n, k)
    seed: int
    threads: int

    def degrees(self, power: float) -> Floats:
        """Powers of the number of neighbours, zero for none.  # (n,)."""
        counts = self.graph.out_counts.astype(np.float64)
        powers: Floats = np.where(counts > 0, np.maximum(counts, 1) ** power, 0).astype(np.float32)
        return powers

    def inverse_lengths(self) -> Floats:
        """What makes rows unit; zero for rows of zeros.  # (n,)."""
        lengths = np.sqrt(np.einsum("ij,ij->i", self.vectors, self.vectors, dtype=np.float64))
        inverse: Floats = np.where(lengths > 0, 1 / np.where(lengths > 0, lengths, 1), 0).astype(np.float32)
        return inverse


def _spectral(known: Known) -> PairScore:
    from graphrefine.engine.local import LocalEngine
    from graphrefine.operators import adjacency
    from graphrefine.svd import randomized_eigh

    graph, columns = known.graph, min(known.vectors.shape[1], known.graph.nodes)
    weight = graph.degrees()
    scale = np.where(weight > 0, np.where(weight > 0, weight, 1) ** -DAMPING, 0).astype(np.float32)
    engine = LocalEngine(graph, columns=columns, threads=known.threads)
    normalised = replace(adjacency(graph), row_scale=scale, column_scale=scale)
    pairs = randomized_eigh(engine, normalised, rows=graph.nodes, seed=known.seed)
    basis = engine.collect(pairs.basis, pairs.axes)
    w = pairs.values
    return PairScore(basis, middle=(w + w**2 + w**3).astype(np.float32), outer=known.degrees(DAMPING))


SCORES: dict[str, Callable[[Known], PairScore]] = {
    "dot": lambda known: PairScore(known.vectors),
    "cosine": lambda known: PairScore(known.vectors, inner=known.inverse_lengths()),
    "dot-degree": lambda known: PairScore(known.vectors, outer=known.degrees(0.4)),
    "cosine-degree": lambda known: PairScore(
        known.vectors, inner=known.inverse_lengths(), outer=known.degrees(0.2), offset=1.0
    ),
    "spectral": _spectral,
    BASELINE: lambda known: PairScore(np.ones((known.graph.nodes, 1), np.float32), outer=known.degrees(1.0)),
}


def chosen_scores(names: Sequence[str]) -> tuple[str, ...]:
    """The scores asked for, each once, and the baseline in any case, last.

    Examples
    --------
    >>> chosen_scores(["cosine"])
    ('cosine', 'degree')
    """
    unknown = [name for name in names if name not in SCORES]
    if unknown:
        raise InputError(f"scores={unknown[0]!r} is not known; the scores are {', '.join(SCORES)}")
    return (*(name for name in SCORES if name in names and name != BASELINE), BASELINE)
