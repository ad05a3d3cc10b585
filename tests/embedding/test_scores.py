"""`embedding.score`: the formula, its forms, what it falls back to, and the degrees through every format."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphrefine
from cli_runs import refuses, works
from graphrefine import Embedding, Graph, datasets
from graphrefine.embedding.formats import FORMATS, SERVER, Format
from graphrefine.embedding.learn import SAMPLE, draw
from graphrefine.errors import ArgumentWarning, InputError
from graphrefine.search.vectors import STATE_FORMATS
from graphs import graphs, random_graph
from strategies import PATIENT


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


def test_every_method_gives_degrees_and_without_them_the_score_is_the_cosine() -> None:
    X = np.array([[3, 4], [4, 3], [0, 0]], np.float32)
    plain = Embedding(["a", "b", "c"], X)
    assert plain.score_name == "cosine" and plain.score("a", "b") == pytest.approx(0.96)
    assert plain.score("a", "c") == 0 and plain.score([], []).shape == (0,)
    with pytest.raises(InputError, match="2 nodes cannot be paired with 3"):
        plain.score(["a", "b"], ["a", "b", "a"])
    assert Embedding(["a", "b", "c"], X, degrees=[1, 1, 0]).score_name == "cosine-degree"
    graph = random_graph(60, weighted=True, isolated=3)
    for method in ("refine", "prone", "randne"):
        degrees = graphrefine.embed(graph, 8, method=method).degrees
        assert degrees is not None and degrees.dtype == np.float32
        np.testing.assert_array_equal(degrees, graph.out_counts)
    arcs = graphrefine.embed([("a", "b"), ("b", "c"), ("a", "c")], 2, directed=True)
    assert arcs.degrees is not None and arcs.degrees.tolist() == [2, 2, 2]


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


def test_without_learning_degrees_have_the_usual_weight_with_a_warning_where_it_was_called() -> None:
    plain = graphrefine.embed(random_graph(60), 4)
    assert plain.degree_weight == 0.1 and plain.score_name == "cosine-degree"
    with pytest.warns(UserWarning, match=r"usual weight, 0\.1; embed with learn=True, or call learn") as caught:
        warned = plain.score(3)
    assert [each.filename for each in caught] == [__file__]
    by_hand = Embedding(plain.names, plain.vectors, degrees=plain.degrees)  # by somebody else: nothing to learn from
    np.testing.assert_array_equal(by_hand.score(3), warned)


EDGES = [(f"u{i}", f"i{j}") for i in range(12) for j in range(9) if (i * j + i) % 3 == 0]
BARE = [each for each in FORMATS if not each.state]


def embed_edges(kind: str) -> Embedding:
    return graphrefine.embed(EDGES, dim=4, directed=kind == "directed", bipartite=kind == "bipartite")


def test_the_formats_with_a_recipe_are_named() -> None:
    assert tuple(each.name for each in (*FORMATS, SERVER) if each.state) == STATE_FORMATS


@pytest.mark.parametrize("format", BARE, ids=[each.name for each in BARE])
@pytest.mark.parametrize("kind", ["undirected", "directed", "bipartite"])
def test_bare_files_have_no_scores_of_links(kind: str, format: Format, tmp_path: Path) -> None:
    path = tmp_path / f"e{format.suffixes[0]}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that npy loses names
        embed_edges(kind).save(path)
    bare = graphrefine.load(path)
    name = bare.names.tolist()[0]
    assert len(bare.neighbors(name, 2)) == len(bare.neighbors(name, 2, score="dot")) == 2
    for again in (bare, pickle.loads(pickle.dumps(bare))):
        with pytest.raises(InputError, match=r"does not say; .*\(folder, npz, .* or score='cosine'"):
            again.neighbors(name, score="link")
        with pytest.raises(InputError, match="recommend needs"):
            again.recommend(name)
        with pytest.raises(InputError, match="score='link'"):
            again.all_neighbors(1, score="link")
        with pytest.warns(ArgumentWarning, match="so score is the cosine alone") as caught:
            again.score(name)
        assert caught[0].filename == __file__
    for call in ([str(name)], ["--all", "-o", str(tmp_path / "all.csv")]):
        expected = (f"{path}: --score 'link'", "safetensors, pgvector), or --score 'cosine'")
        refuses("neighbors", path, *call, "--score", "link", folder=tmp_path, expected=expected)
    works("neighbors", path, str(name), "-k", "2")
