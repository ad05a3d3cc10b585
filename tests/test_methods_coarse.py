"""LouvainNE, HARP and MILE: each against what its paper says, piece by piece, and on real graphs."""

from __future__ import annotations

import sys
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.sparse import csr_array

import graphrefine
from graphrefine.coarsen import communities
from graphrefine.errors import InputError, MissingExtraError
from graphrefine.evaluate import evaluate_labels, read_labels
from graphrefine.graph import Graph
from graphrefine.methods import louvainne
from graphs import data_folder, graphs, random_graph

Leaves = dict[int, tuple[int, ...]]  # the way from the root to each node, the number of a child at every step


def recursive(adjacency: csr_array, nodes: NDArray[np.int64], way: tuple[int, ...]) -> Leaves:
    """The tree as the paper has it: each community by itself."""
    labels = communities(adjacency, np.zeros(len(nodes), int)) if adjacency.nnz else np.zeros(len(nodes), int)
    names = np.unique(labels)
    if len(names) == 1:
        return dict.fromkeys(nodes.tolist(), way)
    found: Leaves = {}
    for number, name in enumerate(names):
        inside = np.flatnonzero(labels == name)
        found |= recursive(csr_array(adjacency[inside][:, inside]), nodes[inside], (*way, number))
    return found


def all_at_once(graph: Graph) -> Leaves:
    ways: dict[int, list[int]] = {node: [] for node in range(graph.nodes)}
    for depth in louvainne.tree(graph.to_scipy(), -1):
        for node, community in zip(depth.nodes.tolist(), depth.communities.tolist(), strict=True):
            ways[node].append(community)
    return {node: tuple(way) for node, way in ways.items()}


def same_tree(one: Leaves, other: Leaves) -> bool:
    """Whether two nodes go the same way equally far in both."""
    depths = {len(way) for way in (*one.values(), *other.values())}
    for depth in range(max(depths) + 1):
        pairs = {(one[node][:depth], other[node][:depth]) for node in one}
        if not len({a for a, _ in pairs}) == len({b for _, b in pairs}) == len(pairs):
            return False
    return True


@pytest.mark.parametrize("seed", range(4))
def test_the_tree_is_that_of_communities_divided_one_by_one(seed: int) -> None:
    """With random weights: where two moves gain equally, rounding may choose between them."""
    pytest.importorskip("sknetwork")
    graph = random_graph(120, degree=2 + seed, weighted=True, isolated=2, seed=seed)
    ours = all_at_once(graph)
    assert same_tree(ours, recursive(graph.to_scipy(), np.arange(graph.nodes), ()))
    assert max(map(len, ours.values())) > 2
    assert not same_tree(ours, all_at_once(random_graph(120, degree=2 + seed, weighted=True, isolated=2, seed=9)))


@given(graphs(directed=False, most=150), st.sampled_from(["first", "last"]))
@settings(max_examples=30, deadline=None)
def test_every_node_goes_down_to_one_leaf(graph: Graph, partition: str) -> None:
    pytest.importorskip("sknetwork")
    depths = list(louvainne.tree(graph.to_scipy(), louvainne.PARTITIONS[partition]))
    leaves = np.concatenate([depth.leaves for depth in depths])
    np.testing.assert_array_equal(np.sort(leaves), np.arange(graph.nodes))
    for above, below in pairwise(depths):
        np.testing.assert_array_equal(np.sort(np.concatenate([below.nodes, below.leaves])), above.nodes)
        parent = dict(zip(above.nodes.tolist(), above.communities.tolist(), strict=True))
        for community in np.unique(below.communities):
            members = below.nodes[below.communities == community]
            assert len({parent[node] for node in members.tolist()}) == 1


def test_vectors_are_sums_down_the_tree() -> None:
    """Nodes that part at depth h differ by decay**h, and no less."""
    pytest.importorskip("sknetwork")
    graph, decay = random_graph(200, degree=5, seed=4), 0.1
    vectors = graphrefine.embed(graph, dim=64, method="louvainne", decay=decay).vectors.astype(np.float64)
    ways = all_at_once(graph)
    for i in range(0, 200, 7):
        for j in range(i):
            shared = next((d for d, (a, b) in enumerate(zip(ways[i], ways[j], strict=False)) if a != b), None)
            depth = len(ways[i]) if shared is None else shared
            apart = np.abs(vectors[i] - vectors[j]).max() / decay**depth
            assert 1.0 < apart < 2.0 / (1 - decay) + 1e-3  # 64 differences of two numbers from (-1, 1)


def test_settings_of_louvainne() -> None:
    for bad, message in (
        ({"decay": 0}, "decay=0 must be greater than 0"),
        ({"decay": 1.5}, r"decay=1.5 must be at most 1"),
        ({"partition": "second"}, "partition='second' is not known; it can be 'first' or 'last'"),
    ):
        with pytest.raises(InputError, match=message):
            graphrefine.embed([(0, 1)], dim=2, method="louvainne", **bad)


def test_louvainne_without_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sknetwork.clustering", None)
    with pytest.raises(MissingExtraError, match=r'pip install "graphrefine\[methods\]"'):
        graphrefine.embed([(0, 1), (1, 2)], dim=2, method="louvainne")


def micro(name: str, **options: object) -> float:
    path = data_folder() / f"{name}.mat"
    vectors = graphrefine.embed(path, **options).vectors  # type: ignore[arg-type]
    return float(evaluate_labels(vectors, read_labels(path), ratios=(0.5,), repeats=3).ratios[0].micro_mean)


def test_louvainne_on_ppi() -> None:
    """What the tree knows, at the authors' decay and where all depths count; random vectors reach 7."""
    pytest.importorskip("sknetwork")
    assert micro("ppi", method="louvainne") > 14.5
    assert micro("ppi", method="louvainne", decay=0.5) > 17
