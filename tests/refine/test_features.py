"""Node features: what they are worth, what they may never depend on, and input that cannot be used."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import graphrefine
from cli_runs import run
from graphrefine.engine.local import LocalEngine
from graphrefine.errors import ArgumentWarning, FormatError, GraphRefineError
from graphrefine.evaluate import evaluate_labels
from graphrefine.graph.graph import Graph
from graphrefine.linalg import unit_rows
from graphrefine.pipeline.feature_table import read_features
from graphrefine.refine.features import feature_vectors, join, leading, prepare, relate
from graphs import random_graph
from strategies import PATIENT


class Attributed(NamedTuple):
    """A block model whose nodes have words."""

    graph: Graph
    words: sp.csr_array[Any]  # (n, f)
    classes: NDArray[np.int64]


@pytest.fixture(scope="module")
def blocks() -> Attributed:
    """Eight classes; 0.6 of the edges and all but a quarter of the words have nothing to do with them."""
    rng, nodes = np.random.default_rng(0), 2000
    classes = np.sort(rng.integers(0, 8, nodes))
    start, size = np.searchsorted(classes, np.arange(8)), np.bincount(classes, minlength=8)
    first, second = rng.integers(0, nodes, (2, 4 * nodes))
    own = start[classes[first]] + (rng.random(4 * nodes) * size[classes[first]]).astype(int)
    second = np.where(rng.random(4 * nodes) < 0.6, second, own)
    row, word = np.repeat(np.arange(nodes), 20), rng.zipf(1.3, 20 * nodes) % 400
    topical = rng.random(20 * nodes) < 0.25
    word[topical] = 50 * classes[row[topical]] + rng.integers(0, 50, topical.sum())
    words = sp.coo_array((np.ones(len(row)), (row, word)), shape=(nodes, 400)).tocsr()
    both = sp.coo_array((np.ones(4 * nodes), (first, second)), shape=(nodes, nodes))
    return Attributed(Graph.from_matrix(both), words, classes)


def micro(vectors: NDArray[Any], classes: NDArray[np.int64]) -> float:
    return evaluate_labels(vectors, classes, ratios=(0.1,), repeats=3).ratios[0].micro_mean


def alone(graph: Graph, X: Any, *, dim: int) -> NDArray[np.float32]:
    return feature_vectors(lambda columns: LocalEngine(graph, columns=columns), graph, X, dim=dim, seed=0)[0]


def test_features_help_where_they_tell_and_both_sides_are_better_than_one(blocks: Attributed) -> None:
    B = prepare(blocks.words)
    raw = micro(B.times(leading(B, 64, seed=0), 0, blocks.graph.nodes), blocks.classes)
    structure = graphrefine.embed(blocks.graph, dim=64)
    both = graphrefine.embed(blocks.graph, dim=64, features=blocks.words)
    assert micro(both.vectors, blocks.classes) > max(micro(structure.vectors, blocks.classes), raw) + 10
    about = both.recipe["features"]
    assert (about["columns"], about["nodes"], about["unknown"]) == (400, 2000, 0)
    assert about["weight"] > 0.75 and about["directions"] == 7  # eight classes
    assert "features" not in structure.recipe


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_features_of_other_nodes_do_next_to_no_harm(blocks: Attributed, seed: int) -> None:
    shuffled = blocks.words[np.random.default_rng(seed).permutation(blocks.graph.nodes)]
    structure = micro(graphrefine.embed(blocks.graph, dim=64).vectors, blocks.classes)
    embedding = graphrefine.embed(blocks.graph, dim=64, features=shuffled)
    assert micro(embedding.vectors, blocks.classes) > structure - 1
    assert embedding.recipe["features"]["directions"] == 0 and embedding.recipe["features"]["weight"] < 0.75


@PATIENT
@given(exponent=st.integers(-200, 200), sign=st.sampled_from([1.0, -1.0]))
def test_unit_of_features_is_free(exponent: int, sign: float) -> None:
    X = np.random.default_rng(0).standard_normal((60, 7))
    scaled = X * sign * 2.0**exponent
    assert np.array_equal(prepare(scaled).matrix, np.float32(sign) * prepare(X).matrix)
    np.testing.assert_allclose(prepare(X * 2.0 ** np.arange(7)).matrix, prepare(X).matrix, rtol=1e-5)


@PATIENT
@given(st.integers(0, 10**6))
def test_order_of_nodes_and_columns_is_free(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph = Graph.from_edges(*rng.integers(0, 80, (2, 240)), names=list(range(80)))
    X = sp.random_array((80, 30), density=0.2, rng=rng)
    order = rng.permutation(80)
    turned = Graph.from_matrix(graph.to_scipy()[order][:, order])
    expected = alone(graph, X, dim=30)
    found = alone(turned, X.tocsr()[order][:, rng.permutation(30)], dim=30)
    assert np.abs(found @ found.T - (expected @ expected.T)[np.ix_(order, order)]).max() < 0.05  # bfloat16


@pytest.mark.parametrize("density", [0.2, 1.0])
def test_columns_are_weighted_and_rows_centered_by_the_formula(density: float) -> None:
    X = sp.random_array((60, 12), density=density, rng=np.random.default_rng(3)).toarray()
    share = (X != 0).mean(axis=0)
    weights = np.sqrt(share) * np.log1p(1 / share) / (np.log(2) * X.std(axis=0))
    expected = unit_rows((X - X.mean(axis=0)) * weights) * X.any(axis=1, keepdims=True)
    np.testing.assert_allclose(prepare(X).times(np.eye(12), 0, 60), expected, atol=1e-6)


def test_correlation_of_neighbors_is_morans() -> None:
    """The largest generalized eigenvalue of ``Z^T S Z`` and ``Z^T Z``, S the walk both ways."""
    graph = random_graph(300, weighted=True, seed=2)
    A = graph.to_scipy().toarray().astype(np.float64)
    W = A / A.sum(axis=1, keepdims=True)
    Z = np.linalg.matrix_power(W + np.eye(300), 2) @ np.random.default_rng(0).standard_normal((300, 8))
    engine = LocalEngine(graph, columns=8, bfloat16=False)
    found = relate(engine, graph, engine.fill(lambda start, stop: Z[start:stop].astype(np.float32), precise=True))
    expected = scipy.linalg.eigh(Z.T @ (W + W.T) @ Z / 2, Z.T @ Z, eigvals_only=True)
    assert found.correlation == pytest.approx(expected[-1], rel=1e-3)


@pytest.mark.parametrize("density", [0.05, 0.8])
def test_sparse_and_dense_give_the_same_bits(density: float) -> None:
    graph = random_graph(500)
    X = sp.random_array((500, 60), density=density, rng=np.random.default_rng(0))
    expected = graphrefine.embed(graph, dim=16, features=X.toarray()).vectors
    for kind in ("csr", "csc", "coo"):
        assert np.array_equal(graphrefine.embed(graph, dim=16, features=X.asformat(kind)).vectors, expected)


def test_wide_sparse_features_are_never_made_dense(blocks: Attributed) -> None:
    rng, nodes = np.random.default_rng(0), blocks.graph.nodes
    place = rng.permutation(300_000)[: blocks.words.shape[1]]
    stored = blocks.words.tocoo()
    wide = sp.coo_array((stored.data, (stored.row, place[stored.col])), shape=(nodes, 300_000))  # 2.4 GB if dense
    ours, theirs = (alone(blocks.graph, X, dim=400).astype(np.float64) for X in (wide, blocks.words))
    np.testing.assert_allclose(ours[:300] @ ours.T, theirs[:300] @ theirs.T, atol=0.05)


def test_nodes_without_edges_have_vectors_from_their_features(blocks: Attributed) -> None:
    cut = np.arange(0, blocks.graph.nodes, 20)
    adjacency = blocks.graph.to_scipy().tolil()
    adjacency[cut] = 0
    adjacency[:, cut] = 0
    X = blocks.words.tolil()
    X[cut[0]] = 0
    vectors = graphrefine.embed(adjacency.tocsr(), dim=32, features=X.tocsr()).vectors
    assert not vectors[cut[0]].any()
    np.testing.assert_allclose(np.linalg.norm(vectors[cut[1:]], axis=1), 1, rtol=1e-5)
    others = np.setdiff1d(np.arange(len(vectors)), cut)
    middles = np.array([vectors[others][blocks.classes[others] == c].mean(axis=0) for c in range(8)])
    guessed = (vectors[cut[1:]] @ middles.T).argmax(axis=1)
    assert (guessed == blocks.classes[cut[1:]]).mean() > 0.8


def test_join_keeps_both_sides() -> None:
    rng = np.random.default_rng(0)
    left, right = (rng.standard_normal((100, k)).astype(np.float32) for k in (6, 2))
    left[:, 4:] = 0  # room for both
    expected = np.hstack([left, 0.5 * right])
    expected /= np.linalg.norm(expected, axis=1)[:, None]
    join(left, right, weight=0.5, threads=2)
    np.testing.assert_allclose(left @ left.T, expected @ expected.T, atol=1e-5)


NAMED = Graph.from_edges(["a", "b", "c"], ["b", "c", "d"])
ROWS = {"d": [1.0, 0.0], "b": [0.0, 1.0], "a": [2.0, 1.0], "x": [5.0, 5.0]}
IN_ORDER = np.array([[2.0, 1.0], [0.0, 1.0], [0.0, 0.0], [1.0, 0.0]])


def test_named_features_are_put_in_the_order_of_the_nodes(tmp_path: Path) -> None:
    names, matrix = list(ROWS), np.array(list(ROWS.values()))
    frame = pytest.importorskip("pandas").DataFrame(matrix, index=names)
    lines = "\n".join(f"{name}\t{x}\t{y}" for name, (x, y) in ROWS.items())
    text = f"node\tx\ty\n{lines}\n"
    (tmp_path / "some.tsv").write_text(text)
    (tmp_path / "some.csv").write_text(text.replace("\t", ","))
    (tmp_path / "some.tsv.gz").write_bytes(gzip.compress(text.encode()))
    sparse = sp.csr_array(matrix)
    parts = {"data": sparse.data, "indices": sparse.indices, "indptr": sparse.indptr, "shape": sparse.shape}
    np.savez(tmp_path / "some.npz", **parts, format=np.bytes_(b"csr"), _is_array=True, names=names)
    embedding = graphrefine.Embedding(names, matrix)
    files = [tmp_path / f"some.{suffix}" for suffix in ("tsv", "tsv.gz", "csv", "npz")]
    for form in (ROWS, (names, matrix), (names, sparse), frame, embedding, *files):
        found = read_features(form, NAMED)
        assert np.array_equal(sp.csr_array(found.matrix).toarray(), IN_ORDER), form
        assert (found.nodes, found.unknown) == (3, 1)


@pytest.mark.parametrize(
    ("options", "fact"),
    [
        ({"features": np.ones((4, 2))}, "4"),
        ({"features": sp.csr_array((7, 2))}, "7"),
        ({"features": {"x": [1.0]}}, "'x'"),
        ({"features": {"a": [1.0], "b": [1.0, 2.0]}}, "'b'"),
        ({"features": {}}, "empty"),
        ({"features": (["a", "a"], np.ones((2, 1)))}, "'a'"),
        ({"features": (["a", "b"], np.ones((3, 1)))}, "3 rows"),
        ({"features": (["a", "b"], sp.csr_array([[0.0, -np.inf], [3.0, np.nan]]))}, "column 1"),
        ({"features": (["a", "b"], np.array([["x"], ["y"]]))}, "numbers"),
        ({"features": (["a", "b"], np.ones((2, 0)))}, "columns"),
        ({"features": (["a", "b", "c", "d"], np.ones((4, 3)))}, "3 columns"),
        ({"method": "prone", "features": ROWS}, "prone"),
        ({"graph": [(0, 1), (1, 2)], "directed": True, "features": np.eye(3)}, "undirected"),
        ({"features": "missing.tsv"}, "missing.tsv"),
    ],
)
def test_features_that_cannot_be_used(options: dict[str, Any], fact: str) -> None:
    with pytest.raises(GraphRefineError, match=fact):
        graphrefine.embed(**{"graph": NAMED, "dim": 2, **options})


@pytest.mark.parametrize(("mark", "suffix"), [(",", "csv"), (";", "csv"), ("\t", "tsv")])
def test_headers_say_whose_features_they_are(mark: str, suffix: str, tmp_path: Path) -> None:
    graph, path = Graph.from_edges([0, 1, 2], [1, 2, 3]), tmp_path / f"f.{suffix}"

    def read(text: str) -> Any:
        path.write_text(text.replace(",", mark))
        return read_features(path, graph).matrix.tolist()

    expected = [[2, 8], [1, 9], [0, 7], [0, 0]]
    assert read("node,x,v0\n2,0,7\n1,1,9\n0,2,8\n") == expected  # integers that are names of nodes too
    with pytest.warns(ArgumentWarning, match="names are those of its column 'node'.*left out: its column 1"):
        assert read(",node,x,v0\n0,2,0,7\n1,1,1,9\n2,0,2,8\n") == expected
    assert read("v0,v1,rank,node\n7,1,5,3\n8,1,5,1\n") == [[0] * 3, [8, 1, 5], [0] * 3, [7, 1, 5]]
    with pytest.raises(FormatError, match=r"line 2: .*'1_0'.* column 'x'"):
        read("node,x,y\n0,1_0,2\n")
    with pytest.raises(FormatError, match=r"line 1: its columns 'source', 'target' are those of a list of edges"):
        read("source,target\n0,1\n")


def test_command_takes_features_and_says_what_it_did(tmp_path: Path) -> None:
    edges, table, out = tmp_path / "g.txt", tmp_path / "f.csv", tmp_path / "v.npz"
    edges.write_text("a b\nb c\nc d\n")
    table.write_text("node,x,y\nd,1,0\nb,0,1\na,2,1\nx,5,5\n")
    outcome = run("embed", edges, "-o", out, "--dim", "2", "--features", table)
    assert outcome.code == 0, outcome.err
    assert "note: nodes without features: 1\n" in outcome.err
    assert "note: rows of features for nodes that the graph does not have: 1\n" in outcome.err
    expected = graphrefine.embed(edges, dim=2, features=ROWS)
    assert np.array_equal(graphrefine.load(out).vectors, expected.vectors)
