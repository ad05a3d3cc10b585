"""`find_communities` and ``graphrefine communities``: groups, their number, names and modularity."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import normalized_mutual_info_score

import graphrefine
from graphrefine import Embedding, Graph, find_communities
from graphrefine.analysis.communities import modularity
from graphrefine.datasets import block_model
from graphs import graphs
from strategies import PATIENT


def blocks(classes: int = 6) -> tuple[Embedding, Graph, Any]:
    data = block_model(600, 6000, classes=classes, mixing=0.1, seed=0)
    return graphrefine.embed(data.graph, dim=32), data.graph, data.labels


@PATIENT
@given(graphs(directed=False, most=60), st.integers(1, 6), st.integers(0, 99))
def test_modularity_is_that_of_networkx(graph: Graph, count: int, seed: int) -> None:
    groups = np.random.default_rng(seed).integers(0, count, graph.nodes)
    whole = nx.from_scipy_sparse_array(graph.to_scipy())
    sets = [set(np.flatnonzero(groups == group).tolist()) for group in range(count)]
    expected = nx.community.modularity(whole, [each for each in sets if each]) if graph.edges else 0.0
    Q, inside = modularity(graph.to_scipy(), groups)
    assert pytest.approx(expected, abs=1e-6) == Q
    assert ((inside >= 0) & (inside <= 1 + 1e-9)).all()


@pytest.mark.parametrize("with_graph", [True, False])
def test_the_blocks_of_a_graph_are_its_communities_on_any_threads(with_graph: bool) -> None:
    embedding, graph, labels = blocks()
    one, table = (find_communities(embedding, graph if with_graph else None, threads=threads) for threads in (1, 3))
    assert one == table and one.stats == table.stats
    truth = np.asarray(labels.indicator.argmax(axis=1)).ravel()
    assert len(table.stats["communities"]) == 6
    assert normalized_mutual_info_score(truth, table["community"]) > 0.95
    assert (table.stats["modularity"] is not None) == with_graph


def test_the_facts_of_each_community() -> None:
    embedding, graph, _ = blocks()
    table = find_communities(embedding, graph, count=4)
    degrees = graph.neighbor_counts()
    A = graph.to_scipy()
    X = embedding.vectors / np.linalg.norm(embedding.vectors, axis=1, keepdims=True)
    sizes = [each["size"] for each in table.stats["communities"]]
    assert sizes == sorted(sizes, reverse=True) and sum(sizes) == len(embedding)
    for each in table.stats["communities"]:
        rows = np.flatnonzero(table["community"] == each["community"])
        assert len(rows) == each["size"] and each["name"] == embedding.names[rows[np.argmax(degrees[rows])]]
        assert set(table["name"][rows].tolist()) == {each["name"]}
        assert each["inside"] == pytest.approx(A[rows][:, rows].sum() / A[rows].sum())
        assert each["cohesion"] == pytest.approx(
            (X[rows] @ X[rows].mean(0)).mean() / np.linalg.norm(X[rows].mean(0)), abs=0.02
        )


@pytest.mark.parametrize("vectors", [[[1.0, 0.0]], [[0.0, 0.0]], np.ones((5, 2))])
def test_few_and_equal_nodes(vectors: Any) -> None:
    table = find_communities(Embedding(None, vectors))
    assert len(table.stats["communities"]) == bool(np.any(vectors))
