"""LINE (2nd order) and PTE: skip-gram on edges drawn in proportion to their weights.

LINE takes an edge (u, v), u as a center and v as its context, and raises log p(v | u): nodes with the same neighbors
get near each other. An undirected edge is drawn in either direction.

PTE learns from bipartite networks that share nodes. A plain graph is one: every node once on the left and once on the
right. Each edge that is drawn raises both log p(v | u), with noise from the right, and log p(u | v), with noise from
the left. The embedding is the left side.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from graphrefine.graph.graph import Graph
from graphrefine.kernels.sampling import random_edges
from graphrefine.methods.contract import Floats, Method, Resources
from graphrefine.methods.skipgram import CHUNK, SkipGramSettings, Training, memory, steps_of
from graphrefine.refine.settings import setting


@dataclass(frozen=True)
class LineSettings(SkipGramSettings):
    """Settings of LINE and PTE."""

    samples: float = setting(10.0, "Edges to draw, in millions, as in the REFINE paper.", least=1e-6, most=1e9)

    @property
    def edges(self) -> int:
        """Edges to draw."""
        return round(self.samples * 1_000_000)

    @property
    def chunks(self) -> range:
        """Where the chunks of edges begin."""
        return range(0, self.edges, CHUNK // (self.negatives + 1))


def fit(
    graph: Graph,
    settings: LineSettings,
    resources: Resources,
    vectors: Floats | None = None,
    *,
    both_ways: bool = False,
) -> Floats:
    """Return the vectors by LINE, or by PTE with ``both_ways``, from small random vectors or given ones."""
    if not len(graph.indices):
        return np.zeros((graph.nodes, settings.dim), np.float32)
    training, steps = Training(graph, settings, resources, total=settings.edges, vectors=vectors), steps_of(graph)
    # LINE with a second half, in which the two tables exchange their roles: both halves share the vectors of both
    # sides. The noise of each is drawn by how often nodes are contexts there, which differs on directed graphs.
    ahead = training.model(graph.transposed().degrees(), window=1, both=False)
    back = training.model(graph.degrees(), window=1, both=False) if both_ways else None
    with resources.stages.stage("training", steps=len(settings.chunks)):
        for first in settings.chunks:
            count = min(settings.chunks.step, settings.edges - first)
            edges = random_edges(steps, count=count, first=first, seed=settings.seed, threads=resources.threads)
            if back is None:
                training.train(ahead, edges)
            else:
                training.train_both_ways(ahead, back, edges)
    return training.vectors()


LINE = Method(
    name="line",
    reference="Tang et al., WWW 2015",
    summary="skip-gram on edges: second-order proximity",
    cost="samples negatives k",
    settings=LineSettings,
    fit=fit,
    memory=memory,
    bound="two matrices n x k",
    processor_dependence=None,
    directed=True,
    resume=fit,
)
PTE = replace(
    LINE,
    name="pte",
    reference="Tang, Qu and Mei, KDD 2015",
    summary="skip-gram on edges both ways: the graph as one bipartite network",
    cost="2 samples negatives k",
    fit=partial(fit, both_ways=True),
    resume=partial(fit, both_ways=True),
)
