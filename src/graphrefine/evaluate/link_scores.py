"""Scores of links by name: the likelihood of an edge by vectors, by degrees, or by both (`embedding.scores.PairScore`).

============  ==========================================================================================
dot           ``x_u . x_v``
cosine        the same of rows of length 1
dot-degree    ``x_u . x_v (d_u d_v)^.4``
cosine-degree ``cos(x_u, x_v) + w (ln d_u + ln d_v)``: the score of an `Embedding`, w by `embedding.degree_weight`
spectral      ``(U (w + w^2 + w^3) U^T)_uv (d_u d_v)^.4``, with ``D^-.4 A D^-.4 ~ U w U^T``: paths of one, two
              and three steps in the graph itself, not in the vectors that are judged
degree        ``d_u d_v``: the baseline of every other score
============  ==========================================================================================

Degrees are numbers of neighbors in the graph without the held-out edges; D has their weights, if there are any. In a
directed graph u is a source and v a target: x_u, d_u and their lengths are those of ``source``, x_v and d_v those of
``target``; ``spectral`` is for undirected graphs alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from graphrefine.embedding.embedding import Embedding
from graphrefine.embedding.learn import learn_degree_weight
from graphrefine.embedding.scores import Floats, PairScore, cosine, cosine_degree
from graphrefine.embedding.state import DEGREE_WEIGHT
from graphrefine.engine.local import LocalEngine
from graphrefine.errors import InputError
from graphrefine.graph.graph import Graph
from graphrefine.linalg.operators import EdgeStrengths
from graphrefine.refine.svd import randomized_eigh
from graphrefine.system.checks import check_choice

BASELINE = "degree"
UNDIRECTED = "spectral"  # the score that needs a symmetric matrix
DAMPING = 0.4  # exponent of the degrees, in the normalized matrix and as factors of its eigenvectors


@dataclass(frozen=True)
class ScoreInputs:
    """Inputs of a score: the graph without the held-out edges, and vectors made from it."""

    graph: Graph
    vectors: Floats  # (n, k)
    seed: int
    threads: int

    @classmethod
    def from_embedding(
        cls, graph: Graph, embedding: Embedding, seed: int, threads: int
    ) -> tuple[ScoreInputs, ScoreInputs | None]:
        """Make inputs for the first node of a pair, and for the second if they differ."""
        if not graph.directed:
            return cls(graph, embedding.vectors, seed, threads), None
        arrivals = graph.transposed()
        return cls(graph, embedding.source, seed, threads), cls(arrivals, embedding.target, seed, threads)

    def degrees(self, power: float) -> Floats:
        """Return powers of the number of neighbors, zero for none.  # (n,)."""
        counts = self.graph.out_counts.astype(np.float64)
        powers: Floats = np.where(counts > 0, np.maximum(counts, 1) ** power, 0).astype(np.float32)
        return powers

    def weight(self) -> float:
        """Return the weight of the degrees that are added to the cosine."""
        if self.graph.directed:
            return DEGREE_WEIGHT
        return learn_degree_weight(self.graph, self.vectors, seed=self.seed)


def _spectral(inputs: ScoreInputs) -> PairScore:
    graph, columns = inputs.graph, min(inputs.vectors.shape[1], inputs.graph.nodes)
    engine = LocalEngine(graph, columns=columns, threads=inputs.threads)
    pairs = randomized_eigh(engine, EdgeStrengths(graph).normalized(DAMPING), seed=inputs.seed)
    basis = engine.collect(pairs.basis, pairs.axes)
    w = pairs.values
    return PairScore(basis, middle=(w + w**2 + w**3).astype(np.float32), outer=inputs.degrees(DAMPING))


SCORES: dict[str, Callable[[ScoreInputs], PairScore]] = {
    "dot": lambda inputs: PairScore(inputs.vectors),
    "cosine": lambda inputs: cosine(inputs.vectors),
    "dot-degree": lambda inputs: PairScore(inputs.vectors, outer=inputs.degrees(0.4)),
    "cosine-degree": lambda inputs: cosine_degree(inputs.vectors, inputs.graph.out_counts, inputs.weight()),
    "spectral": _spectral,
    BASELINE: lambda inputs: PairScore(np.ones((inputs.graph.nodes, 1), np.float32), outer=inputs.degrees(1.0)),
}


def make_pair_score(name: str, inputs: tuple[ScoreInputs, ScoreInputs | None]) -> PairScore:
    """Make the score of this name."""
    first, second = inputs
    score = SCORES[name](first)
    return score if second is None else replace(score, second=SCORES[name](second))


def select_scores(names: Sequence[str], *, directed: bool = False) -> tuple[str, ...]:
    """Select names of scores, each once; the baseline is always last."""
    for name in names:
        check_choice("scores", name, SCORES)
    # All scores, the default, are those that the graph can have; a name that was asked for must not vanish silently.
    if directed and UNDIRECTED in names and tuple(names) != tuple(SCORES):
        raise InputError(
            f"scores={UNDIRECTED!r} is for undirected graphs, and this one was read as directed", argument="scores"
        )
    excluded = (BASELINE, UNDIRECTED) if directed else (BASELINE,)
    return (*(name for name in SCORES if name in names and name not in excluded), BASELINE)
