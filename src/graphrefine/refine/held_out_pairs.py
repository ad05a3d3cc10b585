"""Edges of some sources apart, and how well vectors find them again: a choice of settings without labels.

A fifth of the edges, one at least, of a sample of the sources that have two or more; of half of them at most. The score
of vectors is the mean of ``1 / (1 + (r / 20)^4)`` over these edges, r the rank of the target among those that the
source does not have: a smooth form of recall at 20.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.graph.graph import Graph
from graphrefine.kernels import native
from graphrefine.kernels.exact import matmul_tall

SAMPLE = 1024, 4096  # sources, at least and at most: more where there are few targets
SCORES = 1 << 24  # of sources and targets, beyond the least sample
SHARE = 0.2  # of their edges
TOP = 20
BLOCK = 64  # sources scored at a time


class HeldOut(NamedTuple):
    """A graph of arcs without some, and those."""

    rest: Graph
    nodes: NDArray[np.int64]  # (s,): sources
    source: NDArray[np.int64]  # (m,): place in ``nodes`` of each arc that was taken out, ascending
    target: NDArray[np.int64]  # (m,)


def hold_out(arcs: Graph, sources: int, *, seed: int) -> HeldOut | None:
    """Arcs of some sources apart; None where no source has two.

    Examples
    --------
    >>> arcs = Graph.from_edges([0, 0, 0, 1], [2, 3, 4, 4], directed=True)
    >>> held = hold_out(arcs, 2, seed=0)
    >>> held.nodes.tolist(), held.rest.out_counts.tolist()
    ([0], [2, 1, 0, 0, 0])
    """
    counts = arcs.out_counts[:sources]
    nodes = np.flatnonzero(counts > 1)
    if not len(nodes):
        return None
    rng = np.random.Generator(np.random.Philox(key=[seed, 0x68656C64]))
    wanted = min(max(SCORES // (arcs.nodes - sources), SAMPLE[0]), SAMPLE[1])
    nodes = np.sort(rng.choice(nodes, min(wanted, -(-len(nodes) // 2)), replace=False))
    apart = np.maximum(np.rint(SHARE * counts[nodes]).astype(np.int64), 1)
    source = np.repeat(np.arange(len(nodes)), counts[nodes])
    ends = np.cumsum(counts[nodes])
    place = np.arange(int(ends[-1])) - np.repeat(ends - counts[nodes], counts[nodes])
    entries = np.repeat(arcs.indptr[nodes], counts[nodes]) + place
    order = np.lexsort((rng.random(len(entries)), source))  # at random within a source
    picks = order[place < apart[source]]
    remains = np.ones(len(arcs.indices), np.bool_)
    remains[entries[picks]] = False
    losses = np.zeros(arcs.nodes, np.int64)
    losses[nodes] = apart
    indptr = arcs.indptr - np.concatenate([[0], np.cumsum(losses)])
    weights = None if arcs.weights is None else arcs.weights[remains]
    rest = Graph(indptr, arcs.indices[remains], weights, arcs.names, True, arcs.report, arcs.source)
    return HeldOut(rest, nodes, source[picks], arcs.indices[entries[picks]].astype(np.int64))


def score_vectors(held: HeldOut, x: NDArray[np.float32], y: NDArray[np.float32], first: int) -> float:
    """How well ``x_u . y_i`` finds the arcs again: 1 at best. Targets are the nodes from ``first`` on."""
    total, turned = 0.0, np.ascontiguousarray(y.T)
    for start in range(0, len(held.nodes), BLOCK):
        nodes = held.nodes[start : start + BLOCK]
        scores = matmul_tall(x[nodes], turned)
        at, stop = np.searchsorted(held.source, [start, start + len(nodes)])
        source, target = held.source[at:stop] - start, held.target[at:stop] - first
        wanted, ranks = scores[source, target], np.empty(stop - at)
        for place, node in enumerate(nodes):
            scores[place, held.rest.indices[held.rest.indptr[node] : held.rest.indptr[node + 1]] - first] = -np.inf
        scores[source, target] = -np.inf  # they are not against each other
        native.rank_scores(scores, source, wanted, ranks)
        total += float(np.sum(1 / (1 + np.square(np.square(ranks / TOP)))))
    return total / len(held.source)
