"""DeepWalk and node2vec: skip-gram on random walks.

From every node start ``walks`` walks of ``length`` nodes. Each node of a walk is a center, and the nodes up to w steps
before and after it are its contexts, w drawn from 1 to the window as word2vec does. DeepWalk's paper normalizes by
hierarchical softmax; here, as in node2vec and in the comparison of the REFINE paper, it is negative sampling.

A step of DeepWalk goes to a neighbor in proportion to the weight of the edge. node2vec multiplies the weight by 1/p
for the node it came from, by 1 for neighbors of that node, and by 1/q for others.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from graphrefine.graph.graph import Graph
from graphrefine.kernels.hashing import golden, mixed
from graphrefine.kernels.sampling import random_walks
from graphrefine.methods.contract import Floats, Method, Resources
from graphrefine.methods.skipgram import CHUNK, SkipGramSettings, Training, memory, steps_of
from graphrefine.refine.settings import setting


@dataclass(frozen=True)
class DeepWalkSettings(SkipGramSettings):
    """Settings of DeepWalk, those of the REFINE paper."""

    walks: int = setting(80, "Walks from each node.", least=1, most=1_000_000)
    length: int = setting(40, "Nodes of a walk.", least=2, most=100_000)
    window: int = setting(10, "Most steps between a center and its contexts.", least=1, most=10_000)
    epochs: int = setting(1, "Rounds of training on all walks.", least=1, most=1_000_000)


@dataclass(frozen=True)
class Node2VecSettings(DeepWalkSettings):
    """Settings of node2vec; lengths and numbers as in its reference implementation."""

    walks: int = setting(10, "Walks from each node.", least=1, most=1_000_000)
    length: int = setting(80, "Nodes of a walk.", least=2, most=100_000)
    p: float = setting(1.0, "Reluctance to go back.", least=0.001, most=1000.0)
    # With p = q = 1 node2vec is DeepWalk: 0.5, outward, is one of the values that its authors searched.
    q: float = setting(0.5, "Reluctance to go farther.", least=0.001, most=1000.0)


class Walks:
    """All walks of a method on a graph, in chunks: round by round, the starts of each in another order."""

    def __init__(self, graph: Graph, settings: DeepWalkSettings, threads: int) -> None:
        self._steps, self._settings, self._threads = steps_of(graph), settings, threads
        self._bias = {"p": settings.p, "q": settings.q} if isinstance(settings, Node2VecSettings) else {}
        self.starts = np.flatnonzero(graph.out_counts).astype(np.int32)
        self._size = max(16, CHUNK // (settings.length * (settings.window + 1) * (settings.negatives + 1)))

    @property
    def chunks(self) -> range:
        """Where the chunks of a round begin."""
        return range(0, len(self.starts), self._size)

    def chunk(self, round: int, begin: int) -> NDArray[np.int32]:
        """Return the walks of a round from `begin` on, -1 after the end of each.  # (walks, length)."""
        starts = self.starts[_shuffled(len(self.starts), begin, self._size, (self._settings.seed, round))]
        length, seed = self._settings.length, self._settings.seed
        return random_walks(
            self._steps, starts, length=length, seed=seed, round=round, threads=self._threads, **self._bias
        )


def _shuffled(count: int, begin: int, size: int, key: tuple[int, int]) -> NDArray[np.int64]:
    """Return ``size`` of 0 ... count - 1 from `begin` on, in an order that depends on the key."""
    # Nodes are sorted by name, and neighbors often have close names: in that order the rate would fall from one corner
    # of the graph to the other. A multiple and a shift are a permutation of which any part is known at once.
    seed, round = key
    words = mixed(golden(seed + 1) + np.arange(2 * round, 2 * round + 2, dtype=np.uint64))
    factor, shift = (int(word) % count for word in words)
    while math.gcd(factor, count) > 1:
        factor += 1
    return (factor * np.arange(begin, min(begin + size, count)) + shift) % count


def fit(graph: Graph, settings: DeepWalkSettings, resources: Resources, vectors: Floats | None = None) -> Floats:
    """Return the vectors by skip-gram on walks, from small random vectors or given ones."""
    walks = Walks(graph, settings, resources.threads)
    if not len(walks.starts):
        return np.zeros((graph.nodes, settings.dim), np.float32)
    with resources.stages.stage("noise", steps=len(walks.chunks)):
        counts = np.zeros(graph.nodes)  # how often the walks of a round meet each node
        for begin in walks.chunks:
            counts += np.bincount(walks.chunk(0, begin).ravel() + 1, minlength=graph.nodes + 1)[1:]
            resources.stages.advance()
    rounds = settings.epochs * settings.walks
    training = Training(graph, settings, resources, total=rounds * len(walks.starts), vectors=vectors)
    model = training.model(counts, window=settings.window, both=True)
    with resources.stages.stage("training", steps=rounds * len(walks.chunks)):
        for round in range(rounds):
            for begin in walks.chunks:
                training.train(model, walks.chunk(round % settings.walks, begin))
    return training.vectors()


DEEPWALK = Method(
    name="deepwalk",
    reference="Perozzi, Al-Rfou and Skiena, KDD 2014",
    summary="skip-gram with negative sampling on random walks",
    cost="walks length window negatives n k",
    settings=DeepWalkSettings,
    fit=fit,
    memory=memory,
    bound="two matrices n x k",
    processor_dependence=None,
    directed=True,
    resume=fit,
)
NODE2VEC = replace(
    DEEPWALK,
    name="node2vec",
    reference="Grover and Leskovec, KDD 2016",
    summary="DeepWalk whose walks prefer to return, or to go farther",
    settings=Node2VecSettings,
)
