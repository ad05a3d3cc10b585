"""`embedding.score`: the formula, its forms, what it falls back to, and the degrees through every format."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphrefine
from graphrefine import Embedding, Graph, datasets
from graphrefine.embedding.learn import SAMPLE, draw
from graphrefine.errors import InputError
from graphrefine.evaluate import evaluate_links
from graphs import data_folder, graphs, random_graph
from strategies import PATIENT

KEEP_STATE = ("folder", "npz", "parquet", "arrow", "safetensors")  # and a server: test_pgvector


def embedded(graph: Graph, dim: int = 4) -> Embedding:
    return graphrefine.embed(graph, dim, threads=1, learn=True)


@PATIENT
@given(graphs(directed=False, least=8), st.integers(0, 99))
def test_scores_are_the_formula_and_symmetric_in_every_form(graph: Graph, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((graph.nodes, 3)).astype(np.float32)  # not unit
    X[0] = 0
    embedding = Embedding(graph.names, X, degrees=graph.neighbor_counts())
    lengths = np.where(np.linalg.norm(X, axis=1) > 0, np.linalg.norm(X, axis=1), 1)
    logs = 0.1 * np.log(np.maximum(graph.out_counts, 0.5))
    formula = (X @ X.T) / np.outer(lengths, lengths) + logs[:, None] + logs
    u, v = rng.integers(0, graph.nodes, (2, 20))
    np.testing.assert_allclose(embedding.score(u, v), formula[u, v], atol=1e-5)
    np.testing.assert_allclose(embedding.score(u, v), embedding.score(v, u), atol=1e-6)
    np.testing.assert_allclose(embedding.score(int(u[0]), v), formula[u[0], v], atol=1e-5)
    np.testing.assert_allclose(embedding.score(u.tolist(), int(v[0])), formula[u, v[0]], atol=1e-5)
    np.testing.assert_allclose(embedding.score(u), formula[u], atol=1e-5)
    np.testing.assert_allclose(embedding.score(u[0]), formula[u[0]], atol=1e-5)
    one = embedding.score(u[0], v[0])
    assert isinstance(one, float) and one == pytest.approx(formula[u[0], v[0]], abs=1e-5)


def test_without_degrees_the_score_is_the_cosine_and_says_so() -> None:
    X = np.array([[3, 4], [4, 3], [0, 0]], np.float32)
    plain = Embedding(["a", "b", "c"], X)
    assert plain.score_name == "cosine" and plain.score("a", "b") == pytest.approx(0.96)
    assert plain.score("a", "c") == 0
    assert Embedding(["a", "b", "c"], X, degrees=[1, 1, 0]).score_name == "cosine-degree"


def test_every_method_gives_degrees() -> None:
    graph = random_graph(60, weighted=True, isolated=3)
    for method in ("refine", "prone", "randne"):
        degrees = graphrefine.embed(graph, 8, method=method).degrees
        assert degrees is not None and degrees.dtype == np.float32
        np.testing.assert_array_equal(degrees, graph.out_counts)
    arcs = graphrefine.embed([("a", "b"), ("b", "c"), ("a", "c")], 2, directed=True)
    assert arcs.degrees is not None and arcs.degrees.tolist() == [2, 2, 2]


@pytest.mark.parametrize("name", ["ppi", "wikipedia-pos"])
def test_the_score_beats_the_cosine_and_the_degree_product(name: str) -> None:
    links = evaluate_links(data_folder() / f"{name}.mat", scores=["cosine", "cosine-degree"], ranked=1, corruptions=1)
    ours = links["cosine-degree"].mean("auc")
    assert ours > links["degree"].mean("auc") + 0.003
    assert ours > links["cosine"].mean("auc") + 0.01


@pytest.mark.parametrize(("structure", "least", "most"), [("hubs", 0.2, 0.6), ("grid", 0.005, 0.05)])
def test_degrees_count_where_edges_have_little_else_to_go_by(structure: str, least: float, most: float) -> None:
    if structure == "grid":
        n = np.arange(900).reshape(30, 30)
        ends = [(n[:, :-1], n[:, 1:]), (n[:-1], n[1:]), (n[:-1, :-1], n[1:, 1:])]
        graph = Graph.from_edges(*(np.concatenate([pair[side].ravel() for pair in ends]) for side in (0, 1)))
    else:
        graph = datasets.power_law(2000, 16000, exponent=2.2).graph
    embedding = graphrefine.embed(graph, 32, filter="none", learn=True)
    assert least <= embedding.degree_weight <= most


def test_the_ends_of_an_edge_are_described_without_each_other() -> None:
    graph = random_graph(300, degree=150)  # so that some rows are sampled
    ends, _ = draw(graph, seed=0)
    rows = np.repeat(np.arange(2 * SAMPLE), np.diff(ends.links.indptr))
    assert np.diff(ends.links.indptr).max() <= 64
    entries = np.random.default_rng((0, 1)).integers(0, len(graph.indices), SAMPLE)  # as drawn
    first = np.searchsorted(graph.indptr, entries, side="right") - 1
    second = graph.indices[entries]
    edges = rows < SAMPLE
    assert not (ends.links.indices[edges] == second[rows[edges]]).any()
    there = graph.to_scipy().toarray() > 0
    assert there[first[rows[edges]], ends.links.indices[edges]].all()
    np.testing.assert_array_equal(ends.degrees[:SAMPLE], graph.out_counts[first] - 1)


@pytest.mark.parametrize(
    "state",
    [
        {"degrees": [1.0]},
        {"degrees": [1.0, np.nan]},
        {"degrees": [1.0, -1.0]},
        {"degrees": ["a", "b"]},
        *({"degrees": [1, 1], "degree_weight": weight} for weight in (-0.1, float("nan"), "much", [0.1])),
    ],
)
def test_state_that_cannot_be_is_refused(state: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="degree"):
        Embedding(["a", "b"], np.eye(2), **state)


def test_unequal_numbers_of_names_are_refused() -> None:
    people = Embedding(["ada", "bob"], [[1, 0], [0, 1]])
    with pytest.raises(InputError, match="2 nodes cannot be paired with 3"):
        people.score(["ada", "bob"], ["ada", "bob", "ada"])
    assert people.score([], []).shape == (0,)


def test_without_learning_degrees_have_the_usual_weight_with_a_warning_where_it_was_called() -> None:
    plain = graphrefine.embed(random_graph(60), 4)
    assert plain.degree_weight == 0.1 and plain.score_name == "cosine-degree"
    with pytest.warns(UserWarning, match=r"usual weight, 0\.1; embed with learn=True, or call learn") as caught:
        warned = plain.score(3)
    assert [each.filename for each in caught] == [__file__]
    by_hand = Embedding(plain.names, plain.vectors, degrees=plain.degrees)  # by somebody else: nothing to learn from
    np.testing.assert_array_equal(by_hand.score(3), warned)
