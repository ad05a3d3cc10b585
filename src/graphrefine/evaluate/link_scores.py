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

Degrees are numbers of neighbours in the graph without the held-out edges; D has their weights, where it has any.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from graphrefine import weighing
from graphrefine.errors import InputError
from graphrefine.scoring import Floats, PairScore, cosine, cosine_degree

if TYPE_CHECKING:
    from graphrefine.graph import Graph

BASELINE = "degree"
DAMPING = 0.4  # the exponent of degrees in the normalised matrix, and beside its eigenvectors


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

    def weight(self) -> float:
        """How much degrees count beside the cosine."""
        return weighing.learn_weight(self.vectors, weighing.draw(self.graph, seed=self.seed))


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
    "cosine": lambda known: cosine(known.vectors),
    "dot-degree": lambda known: PairScore(known.vectors, outer=known.degrees(0.4)),
    "cosine-degree": lambda known: cosine_degree(known.vectors, known.graph.out_counts, known.weight()),
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
