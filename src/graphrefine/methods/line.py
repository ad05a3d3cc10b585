"""LINE (2nd order) and PTE: skip-gram on edges drawn in proportion to their weights.

LINE takes an edge (u, v), u as a center and v as its context, and raises log p(v | u): nodes with the same neighbors
get near each other. An undirected edge is drawn in either direction.

PTE learns from bipartite networks that share nodes: words and documents, words and labels, words and the words near
them. A plain graph is one such network, read as bipartite: every node once on the left (as a word) and once on the
right (as a context), an edge (u, v) joining u on the left with v on the right. Each edge that is drawn raises both
log p(v | u), with noise from the right, and log p(u | v), with noise from the left; the two share the vectors of both
sides. So it is LINE with a second half, in which the tables exchange their roles. The embedding is the left side.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

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


def fit_line(graph: Graph, settings: LineSettings, resources: Resources, vectors: Floats | None = None) -> Floats:
    """Return the vectors by LINE, from small random vectors or given ones."""
    if not len(graph.indices):
        return np.zeros((graph.nodes, settings.dim), np.float32)
    training = Training(graph, settings, resources, total=settings.edges, vectors=vectors)
    model = training.model(graph.transposed().degrees(), window=1, both=False)
    with resources.stages.stage("training", steps=len(settings.chunks)):
        for edges in _drawn(graph, settings, resources):
            training.train(model, edges)
    return training.vectors()


def fit_pte(graph: Graph, settings: LineSettings, resources: Resources, vectors: Floats | None = None) -> Floats:
    """Return the vectors by PTE, from small random vectors or given ones."""
    if not len(graph.indices):
        return np.zeros((graph.nodes, settings.dim), np.float32)
    training = Training(graph, settings, resources, total=settings.edges, vectors=vectors)
    ahead = training.model(graph.transposed().degrees(), window=1, both=False)
    back = training.model(graph.degrees(), window=1, both=False)
    with resources.stages.stage("training", steps=len(settings.chunks)):
        for edges in _drawn(graph, settings, resources):
            training.train_both_ways(ahead, back, edges)
    return training.vectors()


def _drawn(graph: Graph, settings: LineSettings, resources: Resources) -> Iterator[NDArray[np.int32]]:
    steps = steps_of(graph)
    for first in settings.chunks:
        count = min(settings.chunks.step, settings.edges - first)
        yield random_edges(steps, count=count, first=first, seed=settings.seed, threads=resources.threads)


LINE = Method(
    name="line",
    reference="Tang et al., WWW 2015",
    summary="skip-gram on edges: second-order proximity",
    cost="samples negatives k",
    settings=LineSettings,
    fit=fit_line,
    memory=memory,
    bound="two matrices n x k",
    processor_dependence=None,
    directed=True,
    resume=fit_line,
)
PTE = replace(
    LINE,
    name="pte",
    reference="Tang, Qu and Mei, KDD 2015",
    summary="skip-gram on edges both ways: the graph as one bipartite network",
    cost="2 samples negatives k",
    fit=fit_pte,
    resume=fit_pte,
)
