"""Edges held out of a graph, the rest of the graph, and pairs of nodes without an edge.

Edges are numbered by the names of their ends, so the held-out edges depend on the graph, the part, the repeat and the
seed, and not on the order in which the nodes are stored: two embeddings of one graph are judged alike.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.embedding.scores import Pairs
from graphrefine.errors import InputError
from graphrefine.graph.graph import Graph
from graphrefine.graph.node_ids import sort_rows

Rows = NDArray[np.int64]


class HeldOut(NamedTuple):
    """A graph without some of its edges."""

    rest: Graph  # the same nodes
    edges: Pairs  # the edges taken out
    others: Pairs  # as many pairs that are no edges
    turned: int  # number of held-out arcs turned round among these, at their front
    key: tuple[int, ...]  # seed of the draw


def hold_out(graph: Graph, part: float, *, repeat: int, seed: int, turned: float = 0.0) -> HeldOut:
    """Take a random part of the edges out of a graph, and draw as many pairs that are no edges.

    The pairs of a directed graph are ordered, and a part ``turned`` of them are held-out arcs the other way round, as
    far as there are any that are no arcs. The pairs of a bipartite graph have a source and a target.
    """
    size = round(part * graph.edges)
    if not 0 < size < graph.edges:
        raise InputError(
            f"held_out={part:g} of the {graph.edges:,} edges of {graph.source} leaves none to embed or none to find; "
            "a graph with more edges is needed",
            argument="held_out",
        )
    free = count_pairs(graph) - graph.edges
    if free < size:
        raise InputError(
            f"{graph.source} has {free:,} pairs of nodes without an edge, and {size:,} are needed, as many as the held "
            "out edges; hold out less"
        )
    key = (seed, round(part * 1e6), repeat)
    rng = np.random.default_rng(key)
    order = order_by_name(graph)
    edges = select_edges(graph, rng.permutation(graph.edges)[:size], order)
    free_back = np.flatnonzero(find_entries(graph, Pairs(edges.second, edges.first)) < 0)[: round(turned * size)]
    back = Pairs(edges.second[free_back], edges.first[free_back])
    random_pairs = draw_non_edges(graph, size - len(back.first), order, rng)
    others = Pairs(*(np.concatenate(sides) for sides in zip(back, random_pairs, strict=True)))
    return HeldOut(remove_edges(graph, edges), edges, others, len(back.first), key)


def order_by_name(graph: Graph) -> Rows:
    """Return rows in the order of the names of their nodes; all sources of a bipartite graph first.  # (n,)."""
    sources = graph.nodes if graph.sources is None else graph.sources
    sides = (graph.names[:sources], graph.names[sources:])
    first, second = (sort_rows(names) for names in sides)
    return np.concatenate([first, second + sources])


def count_pairs(graph: Graph) -> int:
    """Return the number of pairs of nodes that could have an edge."""
    if graph.sources is not None:
        return graph.sources * (graph.nodes - graph.sources)
    ordered = graph.nodes * (graph.nodes - 1)
    return ordered if graph.directed else ordered // 2


def find_entries(graph: Graph, pairs: Pairs) -> NDArray[np.int64]:
    """Find the entries of pairs in a graph; -1 for a pair that is no edge."""
    if not len(graph.indices):
        return np.full(len(pairs.first), -1)
    low, end = graph.indptr[pairs.first], graph.indptr[pairs.first + 1]
    high = end.copy()
    while (open_ := low < high).any():  # a binary search in each of the rows, all at once
        middle = (low + high) >> 1
        smaller = open_ & (graph.indices[np.where(open_, middle, 0)] < pairs.second)
        low = np.where(smaller, middle + 1, low)
        high = np.where(open_ & ~smaller, middle, high)
    is_edge = low < end
    is_edge &= graph.indices[np.where(is_edge, low, 0)] == pairs.second
    return np.where(is_edge, low, -1)


def select_edges(graph: Graph, numbers: Rows, order: Rows) -> Pairs:
    """Return the edges with these numbers, counted by the names of their ends."""
    # By rank and not by row: rows are in the order of the file, and another order must not hold out other edges.
    rank = np.argsort(order)
    first, second = rank[np.repeat(np.arange(graph.nodes), graph.out_counts)], rank[graph.indices]
    keys = first * graph.nodes + second
    keys = np.sort(keys if graph.directed else keys[first < second])[numbers]
    return Pairs(order[keys // graph.nodes], order[keys % graph.nodes])


def remove_edges(graph: Graph, edges: Pairs) -> Graph:
    """Remove edges from a graph; the nodes stay."""
    stays = np.ones(len(graph.indices), np.bool_)
    stays[find_entries(graph, edges)] = False
    if not graph.directed:
        stays[find_entries(graph, Pairs(edges.second, edges.first))] = False
    before = np.concatenate([[0], np.cumsum(stays)])  # number of entries that stay before each
    weights = None if graph.weights is None else graph.weights[stays]
    if weights is not None and bool((weights == 1).all()):
        weights = None  # all 1: the same graph, and products without weights are faster
    return replace(
        graph, indptr=before[graph.indptr].astype(np.int64), indices=graph.indices[stays], weights=weights, report={}
    )


def draw_non_edges(graph: Graph, size: int, order: Rows, rng: np.random.Generator) -> Pairs:
    """Draw pairs that could have an edge and have none, each once; ``order`` is that of the names."""
    n = graph.nodes
    if 2 * (graph.edges + size) > count_pairs(graph):  # so dense that drawing would mostly miss: list all pairs
        first, second = _list_pairs(graph)
        free = np.flatnonzero(find_entries(graph, Pairs(order[first], order[second])) < 0)
        drawn = rng.choice(free, size, replace=False)
        return Pairs(order[first[drawn]], order[second[drawn]])
    keys = np.empty(0, np.int64)
    while len(keys) < size:
        ends = _draw_pairs(graph, 2 * (size - len(keys)) + 16, rng)
        ends = ends[find_entries(graph, Pairs(order[ends[:, 0]], order[ends[:, 1]])) < 0]
        keys = np.concatenate([keys, ends[:, 0] * n + ends[:, 1]])
        keys = drop_repeated(keys)[:size]
    return Pairs(order[keys // n], order[keys % n])


def drop_repeated(keys: Rows) -> Rows:
    """Return each key once, in the order of the first ones: the smallest keys would favor nodes with early names."""
    _, first = np.unique(keys, return_index=True)
    return keys[np.sort(first)]


def _list_pairs(graph: Graph) -> tuple[Rows, Rows]:
    """List every pair that could have an edge."""
    if graph.sources is not None:
        grid = np.indices((graph.sources, graph.nodes - graph.sources)).reshape(2, -1)
        return grid[0], grid[1] + graph.sources
    if graph.directed:
        first, second = np.indices((graph.nodes, graph.nodes)).reshape(2, -1)
        return first[first != second], second[first != second]
    return np.triu_indices(graph.nodes, 1)


def _draw_pairs(graph: Graph, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw pairs that could have an edge.  # (about count, 2)."""
    if graph.sources is not None:
        sides = ((0, graph.sources), (graph.sources, graph.nodes))
        return np.stack([rng.integers(low, high, count) for low, high in sides], axis=1)
    ends: NDArray[np.int64] = rng.integers(0, graph.nodes, (count, 2))
    if graph.directed:
        different: NDArray[np.int64] = ends[ends[:, 0] != ends[:, 1]]
        return different
    ends.sort(axis=1)
    ascending: NDArray[np.int64] = ends[ends[:, 0] < ends[:, 1]]
    return ascending
