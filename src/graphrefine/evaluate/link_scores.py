"""The scores that are judged, by name: how likely an edge is by vectors, by degrees, or by both (`scoring.PairScore`).

============  ==========================================================================================
dot           ``x_u . x_v``
cosine        the same of rows of length 1
dot-degree    ``x_u . x_v (d_u d_v)^.4``
cosine-degree ``cos(x_u, x_v) + w (ln d_u + ln d_v)``: the score of an `Embedding`, w learnt by `weighing`
spectral      ``(U (w + w^2 + w^3) U^T)_uv (d_u d_v)^.4``, with ``D^-.4 A D^-.4 ~ U w U^T``: paths of one, two
              and three steps, of the graph itself and not of the vectors that are judged
degree        ``d_u d_v``: what every other score must beat
============  ==========================================================================================

Degrees are numbers of neighbours in the graph without the held-out edges; D has their weights, where it has any. In a
directed graph u is a source and v a target: x_u, d_u and their lengths are those of ``source``, x_v and d_v those of
``target``; ``spectral`` is for undirected graphs alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from graphrefine.embedding import degree_weight as weighing
from graphrefine.embedding.scores import Floats, PairScore, cosine, cosine_degree
from graphrefine.errors import InputError
from graphrefine.vectors.state import DEGREE_WEIGHT

if TYPE_CHECKING:
    from graphrefine.embedding.embedding import Embedding
    from graphrefine.graph.graph import Graph

BASELINE = "degree"
UNDIRECTED = "spectral"  # the score that needs a symmetric matrix
DAMPING = 0.4  # the exponent of degrees in the normalised matrix, and beside its eigenvectors


@dataclass(frozen=True)
class Known:
    """What scores are made from: the graph without the held-out edges, and vectors made from it."""

    graph: Graph
    vectors: Floats  # (n, k)
    seed: int
    threads: int

    @classmethod
    def of(cls, graph: Graph, embedding: Embedding, seed: int, threads: int) -> tuple[Known, Known | None]:
        """What is known of the first node of a pair, and of the second, where that is something else."""
        if not graph.directed:
            return cls(graph, embedding.vectors, seed, threads), None
        arrivals = graph.transposed()
        return cls(graph, embedding.source, seed, threads), cls(arrivals, embedding.target, seed, threads)

    def degrees(self, power: float) -> Floats:
        """Powers of the number of neighbours, zero for none.  # (n,)."""
        counts = self.graph.out_counts.astype(np.float64)
        powers: Floats = np.where(counts > 0, np.maximum(counts, 1) ** power, 0).astype(np.float32)
        return powers

    def weight(self) -> float:
        """How much degrees count beside the cosine."""
        if self.graph.directed:
            return DEGREE_WEIGHT
        return weighing.learn_from(self.graph, self.vectors, seed=self.seed)


def _spectral(known: Known) -> PairScore:
    from graphrefine.engine.local import LocalEngine
    from graphrefine.linalg.operators import normalised
    from graphrefine.refine.svd import randomized_eigh

    graph, columns = known.graph, min(known.vectors.shape[1], known.graph.nodes)
    engine = LocalEngine(graph, columns=columns, threads=known.threads)
    pairs = randomized_eigh(engine, normalised(graph, DAMPING), rows=graph.nodes, seed=known.seed)
    basis = engine.collect(pairs.basis, pairs.axes)
    w = pairs.values
    return PairScore(basis, middle=(w + w**2 + w**3).astype(np.float32), outer=known.degrees(DAMPING))


SCORES: dict[str, Callable[[Known], PairScore]] = {
    "dot": lambda known: PairScore(known.vectors),
    "cosine": lambda known: cosine(known.vectors),
    "dot-degree": lambda known: PairScore(known.vectors, outer=known.degrees(0.4)),
    "cosine-degree": lambda known: cosine_degree(known.vectors, known.graph.out_counts, known.weight()),
    "spectral": _spectral,
    BASELINE: lambda known: PairScore(np.ones((known.graph.nodes, 1), np.float32), outer=known.degrees(1.0)),
}


def pair_score(name: str, known: tuple[Known, Known | None]) -> PairScore:
    """The score of this name."""
    first, second = known
    score = SCORES[name](first)
    return score if second is None else replace(score, second=SCORES[name](second))


def chosen_scores(names: Sequence[str], *, directed: bool = False) -> tuple[str, ...]:
    """The scores asked for, each once, and the baseline in any case, last.

    Examples
    --------
    >>> chosen_scores(["cosine"])
    ('cosine', 'degree')
    """
    unknown = [name for name in names if name not in SCORES]
    if unknown:
        raise InputError(f"scores={unknown[0]!r} is not known; the scores are {', '.join(SCORES)}")
    if directed and UNDIRECTED in names and tuple(names) != tuple(SCORES):  # asked for by name, not with all
        raise InputError(f"scores={UNDIRECTED!r} is for undirected graphs, and this one was read as directed")
    left_out = (BASELINE, UNDIRECTED) if directed else (BASELINE,)
    return (*(name for name in SCORES if name in names and name not in left_out), BASELINE)
