"""`fold_in` and ``graphrefine fold-in``: the formula, known nodes folded again, bad input, and the command."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphrefine
from cli_runs import refuses, works
from graphrefine import Embedding, Graph, load
from graphrefine.embedding import fold_in
from graphrefine.embedding.fold_in import CLASSES, Links, Scale, features, sample
from graphrefine.embedding.learn import learn_state
from graphrefine.embedding.state import FOLD_BLOCKS, State
from graphrefine.errors import InputError
from graphrefine.linalg import unit_rows
from graphs import graphs, random_graph
from strategies import PATIENT

PEOPLE = Embedding(["ada", "bob", "cy"], np.array([[1, 0], [0, 1], [0.6, 0.8]]))


def links(matrix: Any) -> Links:
    from scipy.sparse import csr_array

    rows = csr_array(np.asarray(matrix, np.float32))
    return Links(rows.indptr.astype(np.int64), rows.indices.astype(np.int64), rows.data)


def communities(nodes: int = 900, *, seed: int = 0) -> Graph:
    from graphrefine import datasets

    return datasets.block_model(nodes, 10 * nodes, classes=6, mixing=0.1, seed=seed).graph


def own_edges(graph: Graph, nodes: list[int]) -> list[tuple[Any, ...]]:
    return [(f"new {u}", int(v)) for u in nodes for v in graph.indices[graph.indptr[u] : graph.indptr[u + 1]]]


def test_without_a_map_the_vector_is_the_weighted_mean_of_the_neighbors() -> None:
    folded = PEOPLE.fold_in([("eve", "ada", 3.0), ("eve", "bob", 4.0), ("gus", "cy", 2.0)])
    np.testing.assert_allclose(folded["eve"], [0.6, 0.8], atol=1e-6)
    np.testing.assert_allclose(folded["gus"], PEOPLE["cy"], atol=1e-6)
    assert folded.degrees is not None and folded.degrees.tolist() == [2, 1]
    assert folded.recipe["learnt"] is False and folded.names.tolist() == ["eve", "gus"]
    again = PEOPLE.fold_in([("eve", "ada", 1.0), ("eve", "bob", 4.0), ("eve", "ada", 2.0), ("gus", "cy", 2.0)])
    np.testing.assert_array_equal(again.vectors, folded.vectors, err_msg="an edge listed again adds its weight")
    long = Embedding(["ada", "bob"], [[2, 0], [0, 4]])
    assert np.linalg.norm(long.fold_in([("eve", "ada"), ("eve", "bob")])["eve"]) == pytest.approx(3)
    folded = PEOPLE.fold_in([("eve", "ada"), ("gus", "eve")])
    np.testing.assert_allclose(folded["gus"], [1, 0], atol=1e-6)
    turned_round = PEOPLE.fold_in([("eve", "ada"), ("eve", "gus"), ("gus", "cy")])
    assert turned_round["gus"] @ PEOPLE["ada"] > PEOPLE["cy"] @ PEOPLE["ada"], "eve pulls gus towards ada"


@PATIENT
@given(graphs(directed=False, least=10), st.integers(0, 999))
def test_features_are_the_formula(graph: Graph, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = unit_rows(rng.standard_normal((graph.nodes, 3)))
    degrees = graph.out_counts.astype(np.float32)
    scale, A = Scale.of(degrees), graph.to_scipy().toarray()
    mean, f = features(links(A), X, scale.classes(degrees), scale.standardized(degrees))
    for i in rng.integers(0, graph.nodes, 5):
        sums = [
            sum((A[i, j] * X[j] for j in range(graph.nodes) if scale.classes(degrees)[j] == c), np.zeros(3))
            for c in range(CLASSES)
        ]
        length = np.linalg.norm(sum(sums)) or 1.0
        s = np.concatenate(sums) / length
        logs = np.log1p(degrees[degrees > 0].astype(float))
        own = (np.log1p(degrees[i]) - logs.mean()) / (logs.std() or 1.0)
        np.testing.assert_allclose(f[i], np.concatenate([s, own * s]), atol=float(2e-4 / length))
        np.testing.assert_allclose(mean[i], sum(sums) / length, atol=float(2e-4 / length))


def test_many_vectors_give_what_few_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unit rows of all vectors at once, or of the neighbors of a part at a time: the same but for rounding."""
    graph = random_graph(400, degree=10, weighted=True)
    X = np.random.default_rng(0).standard_normal((400, 5)).astype(np.float32)
    degrees = np.asarray(graph.out_counts, np.float32)
    at_once = learn_state(graph, X, degrees, seed=0).fold_map
    monkeypatch.setattr(fold_in, "NUMBERS_AT_A_TIME", 300)
    in_parts = learn_state(graph, X, degrees, seed=0).fold_map
    assert in_parts is not None and at_once is not None
    np.testing.assert_allclose(in_parts, at_once, atol=1e-4 * np.abs(at_once).max())


def test_the_classes_share_the_ends_of_edges() -> None:
    degrees = random_graph(3000, degree=12).out_counts
    kinds = Scale.of(degrees).classes(degrees)
    shares = [degrees[kinds == kind].sum() / degrees.sum() for kind in range(CLASSES)]
    assert min(shares) > 0.25 and max(shares) < 0.42


def test_learning_is_the_ridge_regression_of_what_is_beyond_the_mean() -> None:
    graph = random_graph(400, degree=10, weighted=True)
    embedding = graphrefine.embed(graph, 5, learn=True)
    nodes, rows = sample(graph, seed=0)
    assert sorted(nodes.tolist()) == list(range(400))
    degrees = np.asarray(graph.out_counts, np.float32)
    scale = Scale.of(degrees)
    X = unit_rows(embedding.vectors)
    mean, f = features(rows, X, scale.classes(degrees), scale.standardized(degrees[nodes]))
    F = f.astype(np.float64)
    G = F.T @ F
    W = np.linalg.solve(G + 0.01 * np.trace(G) / len(G) * np.eye(len(G)), F.T @ (X[nodes] - mean))
    assert embedding.fold_map is not None and embedding.fold_map.shape == (FOLD_BLOCKS * 5, 5)
    np.testing.assert_allclose(embedding.fold_map, W, atol=1e-3 * np.abs(W).max())


@pytest.mark.parametrize("method", ["refine", "prone"])
def test_the_edges_of_a_known_node_give_about_its_vector(method: str) -> None:
    graph = communities()
    embedding = graphrefine.embed(graph, 16, method=method, learn=True)
    nodes = np.flatnonzero(graph.out_counts > 5)[:200].tolist()
    folded = embedding.fold_in(own_edges(graph, nodes))
    same = [float(unit_rows(folded[f"new {u}"][None])[0] @ unit_rows(embedding[u][None])[0]) for u in nodes]
    other = [float(folded[f"new {u}"] @ embedding[v]) for u, v in zip(nodes, reversed(nodes), strict=True)]
    assert np.mean(same) > 0.9 > 0.5 > np.mean(other)


def test_what_is_learnt_is_better_than_the_mean() -> None:
    """Two sides whose edges cross: a node's neighbors are all of the other kind."""
    rng = np.random.default_rng(0)
    left = rng.integers(0, 300, 6000)
    graph = Graph.from_edges(left, 300 + (left // 30 * 30 + rng.integers(0, 30, 6000)) % 300)
    embedding = graphrefine.embed(graph, 8, filter="none", learn=True)
    plain = Embedding(embedding.names, embedding.vectors)
    edges = own_edges(graph, list(range(200)))
    folded = [each.fold_in(edges) for each in (embedding, plain)]
    near = [np.mean([new[f"new {u}"] @ embedding[u] for u in range(200)]) for new in folded]
    assert near[0] > 0.75 > 0.4 > near[1]


def test_learning_is_the_same_in_any_run_later_and_on_any_number_of_threads() -> None:
    graph = communities()
    first, second = (graphrefine.embed(graph, 16, filter="none", threads=threads, learn=True) for threads in (1, 2))
    assert first == second and first.fold_map is not None and first.degree_weight != 0.1
    graph = communities(300)
    at_once = graphrefine.embed(graph, 8, seed=3, learn=True)
    plain = graphrefine.embed(graph, 8, seed=3)
    later = plain.learn(graph, seed=3)
    assert plain.fold_map is None and plain.degree_weight == 0.1
    assert later.fold_map is not None and at_once.fold_map is not None
    assert later.fold_map.tobytes() == at_once.fold_map.tobytes()
    assert later.degree_weight == at_once.degree_weight
    assert later.vectors.tobytes() == at_once.vectors.tobytes() == plain.vectors.tobytes()
    assert later.names.tolist() == plain.names.tolist() and later.recipe == plain.recipe


def test_without_learning_the_mean_is_folded_with_a_warning_where_it_was_called() -> None:
    plain = graphrefine.embed(communities(300), 8)
    with pytest.warns(UserWarning, match=r"are the mean of their neighbors'; embed with learn=True, or call learn"):
        folded = plain.fold_in([("x", 1), ("x", 2)])
    assert folded.recipe["learnt"] is False
    by_hand = Embedding(plain.names, plain.vectors)  # by somebody else: there was no graph to learn from
    np.testing.assert_array_equal(by_hand.fold_in([("x", 1), ("x", 2)]).vectors, folded.vectors)
    with pytest.warns(UserWarning) as caught:
        plain.fold_in([("x", 1)])
    assert [each.filename for each in caught] == [__file__]


def test_a_dense_graph_is_sampled_for_less(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphrefine.embedding.fold_in.ENTRIES", 100)
    nodes, rows = sample(random_graph(400, degree=10), seed=0)
    assert 1 <= len(nodes) < 100 and len(rows.indices) <= 100


def test_isolated_nodes_and_graphs_of_two_nodes() -> None:
    pair = graphrefine.embed([(0, 1)], 2, learn=True)
    assert np.isfinite(pair.fold_in([(7, 0), (8, 1)]).vectors).all()
    graph = random_graph(50, isolated=5)
    embedding = graphrefine.embed(graph, 4, learn=True)
    with pytest.warns(UserWarning, match=r"1 of 2, such as 'x'; their vectors are zero"):
        folded = embedding.fold_in([("x", 49), ("y", 1)])  # 49 is known, and has no vector
    assert not folded["x"].any() and folded["y"].any()


ARCS = Embedding(["a", "b"], [[1, 0], [0, 1]], {"directed": True})


@pytest.mark.parametrize(
    ("table", "edges", "problem"),
    [
        (PEOPLE, [("eve", "adda")], "'adda' is not known.*similar names: ada"),
        (PEOPLE, [("eve", "ada"), ("bob", "ada")], "node 'bob' has a vector already"),
        (PEOPLE, [("eve", "ada", float("nan"))], "weight nan is not allowed"),
        (PEOPLE, [("eve", "ada", -1.0)], "weight -1.0 is not allowed"),
        (PEOPLE, [("eve", "x1"), ("eve", "x2")], r"'x1' \(and 1 more\)"),
        (PEOPLE, [], "there is no edge"),
        (ARCS, [("x", "a")], "directed graph, without source and target"),
    ],
)
def test_what_cannot_be_folded_is_refused(table: Embedding, edges: list[Any], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        table.fold_in(edges)


def test_extended_holds_both_with_every_piece_of_the_state() -> None:
    graph = communities(300)
    embedding = graphrefine.embed(graph, 8, quality="fast", learn=True)
    new = embedding.fold_in([(1000, 1), (1000, 2)])
    whole = embedding.extended(new)
    assert len(whole) == 301 and whole.score_name == "cosine-degree"
    assert whole.score(1000, 1) > np.median(whole.score(1000))
    assert whole.fold_map is not None and 1001 in whole.fold_in([(1001, 1000)])
    with pytest.raises(InputError, match=r"duplicate names.*such as 1000"):
        whole.extended(new)
    embedding = graphrefine.embed(communities(300), 8, learn=True)
    whole = embedding.extended(embedding.fold_in([(1000, 1)]))
    for each in fields(State):
        assert getattr(whole.state, each.name) is not None, each.name
        assert getattr(whole.align_to(embedding).state, each.name) is not None, each.name


def test_the_command(tmp_path: Path) -> None:
    (tmp_path / "g.csv").write_text("a,b\nb,c\nc,d\nd,a\na,c\n")
    (tmp_path / "new.csv").write_text("x,a\nx,b\ny,x\n")
    works("embed", tmp_path / "g.csv", "-o", tmp_path / "old", "--dim", "3")
    done = works("fold-in", tmp_path / "new.csv", "--into", tmp_path / "old", "-o", tmp_path / "new", "--json")
    assert done.figures["nodes"] == 2 and done.figures["learnt"] is True
    assert done.err == "read: csv without a header; edges column 0 -> column 1, directed; no weights\n"
    assert load(tmp_path / "new").names.tolist() == ["x", "y"]
    done = works("fold-in", tmp_path / "new.csv", "--into", tmp_path / "old", "-o", tmp_path / "all.csv", "--extend")
    assert "2 new nodes x 3 from 3 edges" in done.out and load(tmp_path / "all.csv").names.tolist() == list("abcdxy")
    works("convert", tmp_path / "old", tmp_path / "old.csv")
    done = works("fold-in", tmp_path / "new.csv", "--into", tmp_path / "old.csv", "-o", tmp_path / "z")
    assert "note: " in done.err and "means of their neighbors" in done.err
    typed: list[str | Path] = ["fold-in", tmp_path / "g.csv", "--into", tmp_path / "old", "-o", tmp_path / "no"]
    refuses(*typed, folder=tmp_path, expected=("node 'a' has a vector already",))
