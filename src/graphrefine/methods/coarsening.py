"""Coarsening: groups of nodes become the nodes of a smaller weighted graph, and the map back is kept.

A strategy returns the group of each node; `merge` makes the smaller graph of any grouping; `hierarchy` repeats both.

* `star_collapse`, `edge_collapse` and `hybrid_collapse`, the one after the other: HARP (AAAI 2018, Figure 2).
* `matched`: structural equivalence, then normalized heavy edges: MILE (Algorithm 1).
* `communities`: Louvain's, for LouvainNE (WSDM 2020); all parts of a graph are divided in one call.

Groups are numbered in the order of their first nodes. A node without edges is a group by itself, and no strategy makes
one. Nothing here depends on a seed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import MissingExtraError
from graphrefine.graph.adjacency import merge_edges
from graphrefine.graph.graph import Graph, edge_ends, graph_of

Groups = NDArray[np.int32]  # (n,), from 0
Weights = NDArray[np.float64]
Pairs = tuple[NDArray[np.int32], NDArray[np.int32]]  # the two ends of some edges
Scored = tuple[NDArray[np.int32], NDArray[np.int32], Weights]
# Rounds of a matching by score. A path whose edges get ever better gives one pair a round, so as many rounds as it has
# edges: after these the order is random, and expected rounds are few.
PATIENCE = 16
# Of Louvain: well above the rounding of its float32 sums, which could move nodes back and forth for ever.
TOLERANCE = 1e-5


@dataclass(frozen=True, eq=False)
class Level:
    """A graph in a hierarchy, from the given one (the first) to the coarsest (the last)."""

    graph: Graph
    sizes: NDArray[np.int64]  # (n,), number of nodes of the first graph in each
    loops: Weights  # (n,), the weight inside each node: what the diagonal of the merged adjacency matrix would hold
    groups: Groups | None = None  # (n,), the node of the next level that each becomes; None in the last

    @classmethod
    def first(cls, graph: Graph) -> Level:
        """Return the graph itself."""
        return cls(graph, np.ones(graph.nodes, np.int64), np.zeros(graph.nodes))

    @property
    def linked(self) -> int:
        """Number of nodes that have edges."""
        return self.graph.nodes - self.graph.isolated

    def degrees(self) -> Weights:
        """Return the sum of the weights at each node, those inside it included."""
        return self.graph.degrees() + self.loops


Strategy = Callable[[Level], Groups]


def merge(graph: Graph, groups: Groups, *, threads: int = 1) -> Graph:
    """Return the graph of the groups: an edge weighs as much as all edges between its two groups.

    Examples
    --------
    >>> path = Graph.from_edges([0, 1, 2, 0], [1, 2, 3, 2])
    >>> merge(path, np.array([0, 0, 1, 2], np.int32)).to_scipy().toarray().astype(int).tolist()
    [[0, 2, 0], [2, 0, 1], [0, 1, 0]]
    """
    u, v, weights = edge_ends(graph)
    a, b = groups[u], groups[v]
    names = np.arange(int(groups.max(initial=-1)) + 1)
    # Ends in one order: `merge_edges` adds up edges listed twice, but takes the two directions of one for the same edge
    # seen from both ends, and would keep one of their weights.
    ends = (np.minimum(a, b), np.maximum(a, b), names)
    return graph_of(merge_edges(ends, weights, directed=False, threads=threads), source=graph.source)


def hierarchy(
    graph: Graph,
    strategy: Strategy,
    *,
    enough: int = 1,
    least: int = 1,
    levels: int | None = None,
    shrink: float = 1.0,
    threads: int = 1,
) -> list[Level]:
    """Return the graph, coarser and coarser.

    It ends with the first level of at most ``enough`` nodes; before a level of fewer than ``least``, or of more than a
    share ``shrink`` of those before it, or as many; and after ``levels`` levels beyond the first. Nodes without edges
    do not count.

    Examples
    --------
    >>> ring = Graph.from_edges(range(64), [(i + 1) % 64 for i in range(64)])
    >>> sizes = [level.graph.nodes for level in hierarchy(ring, hybrid_collapse, enough=8)]
    >>> sizes[0], sizes[-1] <= 8 < sizes[-2], sizes == sorted(set(sizes), reverse=True)
    (64, True, True)
    """
    hierarchy = [Level.first(graph)]
    while hierarchy[-1].linked > enough and (levels is None or len(hierarchy) <= levels):
        fine = hierarchy[-1]
        groups = strategy(fine)
        coarse = _coarser(fine, groups, threads)
        if coarse.linked < least or coarse.linked >= fine.linked or coarse.linked > shrink * fine.linked:
            break
        hierarchy[-1:] = [Level(fine.graph, fine.sizes, fine.loops, groups), coarse]
    return hierarchy


def _coarser(level: Level, groups: Groups, threads: int) -> Level:
    merged = merge(level.graph, groups, threads=threads)
    sizes = _sums(groups, level.sizes, merged.nodes).astype(np.int64)
    u, v, weights = edge_ends(level.graph)
    inside = groups[u] == groups[v]
    both = np.full(np.count_nonzero(inside), 2.0) if weights is None else 2.0 * weights[inside].astype(np.float64)
    loops = _sums(groups, level.loops, merged.nodes) + _sums(groups[u[inside]], both, merged.nodes)
    return Level(merged, sizes, loops)


def _sums(groups: Groups, values: NDArray[Any], nodes: int) -> Weights:
    return np.asarray(np.bincount(groups, weights=values, minlength=nodes), np.float64)


def equivalent(graph: Graph) -> Groups:
    """Group nodes with the same neighbors, of any weights: structural equivalence.

    Examples
    --------
    >>> equivalent(Graph.from_edges([0, 0, 0, 3], [1, 2, 3, 4])).tolist()
    [0, 1, 1, 2, 3]
    """
    linked = np.flatnonzero(graph.out_counts)
    keys = np.empty((2, graph.nodes), np.uint64)
    keys[:] = np.arange(graph.nodes, dtype=np.uint64)  # those of nodes without edges
    draw = np.random.default_rng(0)
    # Sums of 128 random bits for each neighbor: rows of one key have the same neighbors but for a chance of 2^-128 a
    # pair, and no two rows of hubs are ever compared entry by entry.
    for key in keys:
        bits = draw.integers(0, 2**64, graph.nodes, np.uint64)
        if linked.size:
            key[linked] = np.add.reduceat(bits[graph.indices], graph.indptr[:-1][linked])
    order = np.lexsort(keys)
    fresh = np.ones(graph.nodes, bool)
    fresh[1:] = (keys[:, order[1:]] != keys[:, order[:-1]]).any(axis=0)
    labels = np.empty(graph.nodes, np.int64)
    labels[order] = np.cumsum(fresh)
    return number_labels(labels)


def star_collapse(level: Level) -> Groups:
    """Pair nodes with the same neighbors: the rays of a star, two by two. HARP, Figure 2(c).

    Examples
    --------
    >>> star_collapse(Level.first(Graph.from_edges([0, 0, 0, 0, 0], [1, 2, 3, 4, 5]))).tolist()
    [0, 1, 1, 2, 2, 3]
    """
    groups = equivalent(level.graph)
    order = np.argsort(groups, kind="stable")
    starts = np.searchsorted(groups[order], groups[order])
    rank = np.arange(len(groups)) - starts  # of each node within its group
    labels = np.empty(len(groups), np.int64)
    labels[order] = np.cumsum(rank % 2 == 0)
    return number_labels(labels)


def edge_collapse(level: Level) -> Groups:
    """Pair neighbors, until no two free nodes are neighbors. HARP, Figure 2(b).

    Examples
    --------
    >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3], [1.0, 5.0, 1.0])
    >>> edge_collapse(Level.first(path)).tolist()
    [0, 1, 1, 2]
    """
    # HARP leaves open which edges. The heavy ones by A_ij / sqrt(d_i d_j) come first, as in MILE: by the weight alone
    # hubs would be paired with hubs, and the many nodes around them left over.
    return _with_pairs(np.arange(level.graph.nodes), _match(level.graph, _score_edges(level)))


def hybrid_collapse(level: Level) -> Groups:
    """Collapse stars, then edges of the graph that is left: HARP's step."""
    stars = star_collapse(level)
    edges = edge_collapse(_coarser(level, stars, 1))
    return edges[stars]


def matched(level: Level, *, most: float = np.inf) -> Groups:
    """Group equivalent nodes, then pair the others by ``A_ij / sqrt(d_i d_j)``, heavy ones first: MILE's step.

    No pair has more than ``most`` nodes of the first graph.

    Examples
    --------
    >>> star_and_tail = Graph.from_edges([0, 0, 0, 3, 4], [1, 2, 3, 4, 5])
    >>> matched(Level.first(star_and_tail)).tolist()
    [0, 1, 1, 0, 2, 2]
    """
    groups = equivalent(level.graph)
    alone = np.bincount(groups)[groups] == 1
    u, v, scores = _score_edges(level)
    use = alone[u] & alone[v] & (level.sizes[u] + level.sizes[v] <= most)
    return _with_pairs(groups, _match(level.graph, (u[use], v[use], scores[use])))


def communities(adjacency: Any, parts: NDArray[Any], *, aggregations: int = -1) -> NDArray[np.int64]:
    """Return the community of each node by Louvain, for each part of a SciPy matrix by itself.

    No entry may lead from one part to another.

    Examples
    --------
    >>> two = Graph.from_edges([0, 1, 2, 3, 4, 5, 2], [1, 2, 0, 4, 5, 3, 3])
    >>> communities(two.to_scipy(), np.zeros(6, int)).tolist()
    [0, 0, 0, 1, 1, 1]
    """
    try:
        from sknetwork.clustering import Louvain
    except ModuleNotFoundError as error:
        raise MissingExtraError("Louvain's method", "scikit-network", "methods") from error
    from scipy.sparse import csr_matrix

    row = np.repeat(parts, np.diff(adjacency.indptr))
    if not len(row):
        return np.arange(len(parts))
    # The modularity of a part alone weighs the edge (i, j) by A_ij - d_i d_j / w with the part's own weight w, that of
    # the whole by A_ij - r d_i d_j / W. With all c parts scaled to the same weight, the resolution r = c makes them
    # one: a single call divides all of them.
    totals = np.bincount(row, weights=adjacency.data)
    scaled = csr_matrix((adjacency.data / totals[row], adjacency.indices, adjacency.indptr), shape=adjacency.shape)
    method = Louvain(
        resolution=float(np.count_nonzero(totals)),
        modularity="newman",
        tol_optimization=TOLERANCE,
        tol_aggregation=TOLERANCE,
        n_aggregations=aggregations,
        sort_clusters=False,
        return_probs=False,
        return_aggregate=False,
    )
    return np.asarray(method.fit_predict(scaled), np.int64)


def _score_edges(level: Level) -> Scored:
    """Return the ends of each edge and its weight, normalized: ``A_ij / sqrt(d_i d_j)``."""
    u, v, weights = edge_ends(level.graph)
    degrees = level.degrees()
    return u, v, (1.0 if weights is None else weights) / np.sqrt(degrees[u] * degrees[v])


def number_labels(labels: NDArray[Any]) -> Groups:
    """Return labels as numbers from 0, in the order of their first nodes."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int32)
    rank[np.argsort(first)] = np.arange(len(first), dtype=np.int32)
    return rank[inverse.reshape(-1)]


def _with_pairs(labels: NDArray[Any], pairs: Pairs) -> Groups:
    joined = labels.copy()
    joined[pairs[1]] = joined[pairs[0]]
    return number_labels(joined)


def _match(graph: Graph, edges: Scored) -> Pairs:
    """Return pairs of ends, each node in at most one, that leave no edge with two free ends.

    In rounds: an edge that is the best at both its ends is taken. Equal scores are put in an order drawn once.
    """
    u, v, scores = edges
    # An edge that is a component by itself is not collapsed: it would become a node without edges, which has no vector
    # to prolong.
    whole = (graph.out_counts[u] == 1) & (graph.out_counts[v] == 1)
    draw = np.random.default_rng(0)
    order = draw.permutation(np.flatnonzero(~whole))
    order = order[np.argsort(scores[order], kind="stable")]
    u, v = u[order], v[order]  # the best last
    matched = np.zeros(graph.nodes, bool)
    best = np.empty((2, graph.nodes), np.int64)
    pairs: list[Pairs] = []
    for done in count():
        if done == PATIENCE:
            shuffled = draw.permutation(len(u))
            u, v = u[shuffled], v[shuffled]
        rank = np.arange(len(u))
        best.fill(-1)
        best[0, u] = rank  # the last of several assignments stays
        best[1, v] = rank
        top = best.max(axis=0)
        mutual = (top[u] == rank) & (top[v] == rank)
        pairs.append((u[mutual], v[mutual]))
        matched[u[mutual]] = matched[v[mutual]] = True
        free = ~(matched[u] | matched[v])
        u, v = u[free], v[free]
        if not len(u):
            break
    first, second = (np.concatenate(side) for side in zip(*pairs, strict=True))
    return first, second
