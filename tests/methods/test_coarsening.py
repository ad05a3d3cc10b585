"""Coarsening: what every grouping keeps, what each strategy promises, and the awkward graphs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.sparse import block_diag, csr_array

from graphrefine.errors import MissingExtraError
from graphrefine.graph.graph import Graph
from graphrefine.methods import coarsening
from graphrefine.methods.coarsening import Groups, Level
from graphs import check, dense, graphs, random_graph

STRATEGIES = [coarsening.star_collapse, coarsening.edge_collapse, coarsening.hybrid_collapse, coarsening.matched]
each_strategy = pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda strategy: str(strategy.__name__))


@given(graphs(directed=False, most=80), st.data())
def test_merging_is_the_product_with_the_membership_matrix(graph: Graph, data: st.DataObject) -> None:
    raw = np.array(data.draw(st.lists(st.integers(0, 9), min_size=graph.nodes, max_size=graph.nodes)))
    groups = np.unique(raw, return_inverse=True)[1].astype(np.int32)
    membership = np.eye(groups.max() + 1)[groups]  # (n, groups)
    wanted = membership.T @ dense(graph) @ membership
    level = coarsening._coarser(Level.first(graph), groups, 1)
    check(level.graph)
    np.testing.assert_allclose(level.graph.to_scipy().toarray(), wanted - np.diag(np.diag(wanted)), rtol=1e-6)
    np.testing.assert_allclose(level.loops, np.diag(wanted), rtol=1e-6)
    np.testing.assert_array_equal(level.sizes, membership.sum(axis=0))


@pytest.mark.parametrize(("weights", "loop"), [(None, 6.0), ([1.0, 2.0, 4.0], 14.0)])
def test_edges_inside_a_group_count_from_both_ends(weights: list[float] | None, loop: float) -> None:
    triangle = Graph.from_edges([0, 1, 2], [1, 2, 0], weights)
    assert coarsening._coarser(Level.first(triangle), np.zeros(3, np.int32), 1).loops.tolist() == [loop]


@each_strategy
@given(graph=graphs(directed=False))
def test_what_every_strategy_keeps(strategy: Callable[[Level], Groups], graph: Graph) -> None:
    level = Level.first(graph)
    groups = strategy(level)
    _, first = np.unique(groups, return_index=True)
    assert groups.shape == (graph.nodes,) and groups.dtype == np.int32
    np.testing.assert_array_equal(np.argsort(first), np.arange(groups.max() + 1), "numbered by the first node")
    np.testing.assert_array_equal(strategy(level), groups, "nothing is random")
    coarse = coarsening._coarser(level, groups, 1)
    assert coarse.degrees().sum() == pytest.approx(graph.degrees().sum(), rel=1e-6), "weight is kept"
    assert coarse.graph.isolated == graph.isolated, "isolated nodes stay, and none is made"
    alone = groups[graph.out_counts == 0]
    assert np.all(np.bincount(groups)[alone] == 1), "isolated nodes are groups of their own"


@given(graph=graphs(directed=False, most=60))
def test_stars_are_collapsed_into_pairs_of_equivalent_nodes(graph: Graph) -> None:
    groups = coarsening.equivalent(graph)
    rows = [tuple(graph.indices[a:b]) for a, b in zip(graph.indptr, graph.indptr[1:], strict=False)]
    for i in range(graph.nodes):
        for j in range(i):
            assert (groups[i] == groups[j]) == (rows[i] == rows[j] != ())
    pairs, same = coarsening.star_collapse(Level.first(graph)), coarsening.equivalent(graph)
    assert np.bincount(pairs).max() <= 2
    for group in range(pairs.max() + 1):
        assert len(set(same[pairs == group])) == 1
    odd = np.bincount(same) % 2
    assert (np.bincount(pairs) == 1).sum() == odd.sum(), "at most one node of a class is left"


@given(graph=graphs(directed=False, most=80))
def test_collapsed_edges_are_a_maximal_matching_of_neighbors(graph: Graph) -> None:
    groups = coarsening.edge_collapse(Level.first(graph))
    sizes, adjacency, counts = np.bincount(groups), dense(graph), graph.out_counts
    assert sizes.max() <= 2
    for group in np.flatnonzero(sizes == 2):
        u, v = np.flatnonzero(groups == group)
        assert adjacency[u, v] > 0
    free = sizes[groups] == 1
    left, right = np.nonzero(adjacency * free * free[:, None])
    assert np.all((counts[left] == 1) & (counts[right] == 1)), "but for components of two nodes"


def test_the_heaviest_edge_by_the_normalized_weight_is_taken() -> None:
    graph = random_graph(60, degree=5, weighted=True, seed=3)
    u, v, scores = coarsening._score_edges(Level.first(graph))
    best = np.argmax(scores)
    for strategy in (coarsening.edge_collapse, coarsening.matched):
        groups = strategy(Level.first(graph))
        assert groups[u[best]] == groups[v[best]]
    degrees = graph.degrees()
    weight = dense(graph)[u[best], v[best]]
    assert scores[best] == pytest.approx(weight / np.sqrt(degrees[u[best]] * degrees[v[best]]))


def test_a_chain_of_ever_heavier_edges_does_not_take_a_round_for_each() -> None:
    """Two by two from the heavy end would be 5,000 rounds of 10,000 edges each."""
    nodes = 10_000
    rising = 1.0 + np.arange(nodes - 1) / nodes
    graph = Graph.from_edges(np.arange(nodes - 1), np.arange(1, nodes), rising**20)
    groups = coarsening.edge_collapse(Level.first(graph))
    assert groups.max() + 1 < 0.7 * nodes
    assert np.all(np.abs(np.diff(np.flatnonzero(np.diff(groups) != 0))) <= 2)


def test_no_pair_stands_for_more_nodes_than_it_may() -> None:
    graph = random_graph(300, seed=1)
    levels = coarsening.hierarchy(graph, lambda level: coarsening.matched(level, most=4))
    pairs = [level for level in levels if level.sizes.max() > 1]
    assert len(levels) > 2 and all(level.sizes.max() <= 4 for level in pairs)
    assert all(level.sizes.sum() == graph.nodes for level in levels)


@given(graphs(directed=False), st.integers(1, 40))
@settings(max_examples=25)
def test_a_hierarchy_shrinks_and_keeps_the_weight(graph: Graph, least: int) -> None:
    levels = coarsening.hierarchy(graph, coarsening.hybrid_collapse, enough=20, least=least, shrink=0.9)
    linked = [level.linked for level in levels]
    for fine, coarse in pairwise(levels):
        assert least <= coarse.linked <= 0.9 * fine.linked and fine.linked > 20
        assert fine.groups is not None and len(fine.groups) == fine.graph.nodes
        assert fine.groups.max() + 1 == coarse.graph.nodes
        assert coarse.degrees().sum() == pytest.approx(graph.degrees().sum(), rel=1e-5)
    assert levels[-1].groups is None and linked == sorted(linked, reverse=True)
    assert len(coarsening.hierarchy(graph, coarsening.matched, levels=1)) <= 2


@each_strategy
def test_what_cannot_shrink_stays(strategy: Callable[[Level], Groups]) -> None:
    """Two nodes, two pairs, no edges, and nothing."""
    pairs = [Graph.from_edges([0], [1]), Graph.from_edges([0, 2], [1, 3])]
    for graph in (*pairs, Graph.from_matrix(np.zeros((3, 3))), Graph.from_matrix(np.zeros((0, 0)))):
        assert len(coarsening.hierarchy(graph, strategy)) == 1


def modularity(adjacency: NDArray[np.float64], labels: NDArray[np.int64]) -> float:
    degrees = adjacency.sum(axis=1)
    same = labels[:, None] == labels
    return float(((adjacency - np.outer(degrees, degrees) / degrees.sum()) * same).sum() / degrees.sum())


def planted(blocks: int) -> Graph:
    """Dense blocks of twelve nodes, with few edges between them."""
    rng, block = np.random.default_rng(blocks), np.arange(12 * blocks) // 12
    close = rng.random((len(block), len(block))) < np.where(block[:, None] == block, 0.8, 0.02)
    u, v = np.nonzero(np.triu(close, 1))
    return Graph.from_edges(u, v, rng.uniform(0.5, 2.0, len(u)), names=np.arange(len(block)))


def test_parts_are_divided_as_if_each_were_alone() -> None:
    """Without the resolution and the scales, a part would be divided by the modularity of the whole."""
    blocks = (2, 3, 6)
    alone = [planted(each) for each in blocks]
    # One part weighs a thousand times the others.
    matrices = [graph.to_scipy() * scale for graph, scale in zip(alone, (1.0, 1000.0, 0.1), strict=True)]
    parts = np.repeat(np.arange(3), [graph.nodes for graph in alone])
    labels = coarsening.communities(csr_array(block_diag(matrices)), parts)
    for part, (graph, matrix) in enumerate(zip(alone, matrices, strict=True)):
        mine = labels[parts == part]
        single = coarsening.communities(csr_array(matrix), np.zeros(graph.nodes, int))
        assert len(set(mine)) == len(set(single)) == blocks[part]
        adjacency = dense(graph)
        assert modularity(adjacency, mine) == pytest.approx(modularity(adjacency, single), abs=1e-6)
    assert len(set(labels)) == 11, "and no community lies in two parts"


def test_communities_need_their_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sknetwork.clustering", None)
    with pytest.raises(MissingExtraError, match=r"scikit-network.*graphrefine\[methods\]"):
        coarsening.communities(random_graph(4).to_scipy(), np.zeros(4, int))
