"""Groups of nodes to colour by: communities of the graph or, without one, clusters of the vectors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphrefine.embedding import Embedding
from graphrefine.explore.colouring import Categories
from graphrefine.explore.linking import Linked
from graphrefine.graph import Graph
from graphrefine.linalg import one_blas_thread, unit_rows

CLUSTERS = 12  # as many as there are colours that people can tell apart
SAMPLE = 20_000  # rows that clusters are found with
BLOCK = 1 << 14  # rows that are assigned at a time


def make_groups(embedding: Embedding, graph: Graph | None, linked: Linked | None) -> Categories:
    """The community of each row, or its cluster; called by numbers from 1, the largest first."""
    if graph is None or linked is None:
        return _called(clusters(embedding.vectors))
    found = _communities(graph)
    groups = np.where(linked.node >= 0, found[linked.node], -1)
    return _called(groups.astype(np.int64))


def _communities(graph: Graph) -> NDArray[np.int64]:
    """Louvain's; a node without edges has none (-1)."""
    from graphrefine.coarsen import communities

    adjacency = graph.to_scipy()
    if graph.directed:
        adjacency = (adjacency + adjacency.T).tocsr()
    found = communities(adjacency, np.zeros(graph.nodes, np.int64))
    return np.where(graph.without_edges(), -1, found)


def clusters(vectors: NDArray[np.float32], *, count: int = CLUSTERS) -> NDArray[np.int64]:
    """The nearest of a few centres, found by k-means in a sample of the unit rows; -1 for zero rows.

    Examples
    --------
    >>> clusters(np.array([[1, 0], [2, 0.1], [0, 1], [0, 0]], np.float32), count=2).tolist()
    [0, 0, 1, -1]
    """
    from sklearn.cluster import KMeans

    found = np.full(len(vectors), -1, np.int64)
    some = np.unique(np.linspace(0, len(vectors) - 1, min(len(vectors), SAMPLE)).astype(np.int64))
    sample = unit_rows(vectors[some])
    sample = sample[sample.any(axis=1)]
    count = min(count, len(np.unique(sample, axis=0)))
    if count == 0:
        return found
    with one_blas_thread():
        centres = KMeans(count, n_init=1, random_state=0).fit(sample).cluster_centers_.astype(np.float32)
    halves = (centres**2).sum(axis=1) / 2
    for lo in range(0, len(vectors), BLOCK):
        block = unit_rows(vectors[lo : lo + BLOCK])
        nearest = np.argmax(block @ centres.T - halves, axis=1)
        found[lo : lo + BLOCK] = np.where(block.any(axis=1), nearest, -1)
    return _in_order(found)


def _in_order(groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """Groups numbered from 0 in the order of their first rows, so that nothing depends on the way they were found."""
    kinds, first, inverse = np.unique(groups, return_index=True, return_inverse=True)
    rank = np.empty(len(kinds), np.int64)
    rank[np.argsort(first)] = np.arange(len(kinds))
    rank = np.where(kinds < 0, -1, rank - ((kinds < 0).any() & (rank > rank[0])) if len(kinds) else rank)
    return rank[inverse.reshape(-1)]


def _called(groups: NDArray[np.int64]) -> Categories:
    """Groups as categories called 1, 2, ... from the largest to the smallest."""
    counts = np.bincount(groups[groups >= 0])
    order = np.argsort(-counts, kind="stable")
    rank = np.empty(len(order) + 1, np.int32)
    rank[order], rank[-1] = np.arange(len(order)), -1  # the last is that of -1
    return Categories(rank[groups], [str(number) for number in range(1, len(order) + 1)])
