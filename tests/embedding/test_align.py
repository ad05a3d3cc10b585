"""`align_to` and ``embed --align-to``: the rotation, the drift, the sketch that goes with the names, bad input."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphrefine
from cli_runs import works, write_csv
from graphrefine import Embedding, Graph, load
from graphrefine.embedding.derive import rotation
from graphrefine.errors import InputError
from graphrefine.graph.node_ids import identities
from graphrefine.linalg import unit_rows
from graphs import random_graph
from strategies import PATIENT


def random_rotation(k: int, seed: int) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    return np.linalg.qr(np.random.default_rng(seed).standard_normal((k, k)))[0]


@PATIENT
@given(st.integers(1, 12), st.integers(12, 60), st.integers(0, 10**6))
def test_any_rotation_is_found_and_undone(k: int, n: int, seed: int) -> None:
    X = unit_rows(np.random.default_rng(seed).standard_normal((n, k)))
    old = Embedding(None, X)
    shuffled = np.random.default_rng(seed + 1).permutation(n)
    turned = Embedding(shuffled, (X @ random_rotation(k, seed)).astype(np.float32)[shuffled])
    back = turned.align_to(old)
    np.testing.assert_allclose(back.vectors, X[shuffled], atol=2e-6)
    assert back.recipe["aligned"]["after"] < 1e-5 and back.recipe["aligned"]["shared"] == n
    np.testing.assert_array_equal(back.names, shuffled)


@PATIENT
@given(st.integers(1, 10), st.integers(1, 30), st.integers(0, 10**6))
def test_the_rotation_is_orthogonal_and_no_other_is_better(k: int, n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, Y = (rng.standard_normal((n, k)).astype(np.float32) for _ in range(2))
    everyone = np.arange(n)
    R = rotation(X, Y, (everyone, everyone))
    np.testing.assert_allclose(R.T @ R, np.eye(k), atol=1e-10)
    U, V = unit_rows(X), unit_rows(Y)
    best = np.square(U @ R - V).sum()
    for other in (np.eye(k), random_rotation(k, seed), R @ random_rotation(k, seed + 1)):
        assert best <= np.square(U @ other - V).sum() + 1e-6


def test_scores_and_folding_turn_with_the_vectors() -> None:
    graph = random_graph(300, degree=8)
    old, new = (graphrefine.embed(graph, 8, seed=seed, learn=True) for seed in (0, 1))
    turned = new.align_to(old)
    np.testing.assert_allclose(turned.score(5), new.score(5), atol=1e-5)
    edges = [("x", 1), ("x", 2), ("y", 3), ("x", "y")]
    folded, again = (each.fold_in(edges).vectors for each in (new, turned))
    R = rotation(new.vectors, turned.vectors, (np.arange(300), np.arange(300)))
    np.testing.assert_allclose(folded @ R, again, atol=2e-4)


def test_few_shared_nodes_zero_rows_and_none_at_all() -> None:
    old = Embedding("abcd", [[1, 0], [0, 1], [0, 0], [1, 0]])
    new = Embedding("abcd", [[0, 1], [-1, 0], [1, 0], [0, 0]])
    aligned = new.align_to(old)
    drift = aligned.recipe["aligned"]
    assert (drift["shared"], drift["before"], drift["after"]) == (2, pytest.approx(2**0.5), pytest.approx(0, abs=1e-6))
    assert not aligned["d"].any()
    for other, fact in (
        (Embedding("ab", [[1, 0, 0], [0, 1, 0]]), "vectors of 3 and of 2 numbers"),
        (Embedding([1, 2], [[1, 0], [0, 1]]), "new embedding has 1, 2, the old embedding has 'a', 'b'"),
    ):
        with pytest.raises(InputError, match=fact):
            other.align_to(old)
    old = Embedding(["a"], [[1, 0, 0]])
    new = Embedding(["a", "z"], [[1, 0, 0], [0, 1, 0]])
    with pytest.warns(UserWarning, match="1 shared nodes with vectors do not settle a rotation of 3"):
        aligned = new.align_to(old)
    np.testing.assert_allclose(aligned.vectors, new.vectors, atol=1e-6)


def changed(graph: Graph, *, gone: int) -> Graph:
    """The graph without its first nodes, by its edges alone: every row moves."""
    rows = np.repeat(np.arange(graph.nodes), graph.out_counts)
    staying = (rows < graph.indices) & (rows >= gone) & (graph.indices >= gone)
    return Graph.from_edges(graph.names[rows[staying]], graph.names[graph.indices[staying]])


@pytest.mark.parametrize("kind", ["integers", "large integers", "strings"])
def test_nodes_keep_their_place_when_others_go(kind: str) -> None:
    graph = random_graph(1500, degree=10)
    if kind == "large integers":
        graph = replace(graph, names=graph.names + 10**12)
    if kind == "strings":
        graph = replace(graph, names=np.array([f"node {i:05}" for i in range(1500)], object))
    old = graphrefine.embed(graph, 32)
    new = graphrefine.embed(changed(graph, gone=3), 32)
    drift = new.align_to(old).recipe["aligned"]["after"]
    other = graphrefine.embed(graph, 32, seed=1).align_to(old).recipe["aligned"]["after"]
    assert drift < 0.45 < 0.6 < other, "the control: another sketch is another embedding"


def test_identities_depend_on_the_name_alone() -> None:
    names = np.array(["ada", "bob", "caf\udce9", "日本"], object)
    ids = identities(names)
    assert ids is not None and ids.dtype == np.int32 and len(set(ids.tolist())) == 4 and (ids >= 0).all()
    np.testing.assert_array_equal(identities(names[::-1]), ids[::-1])
    numbers = np.array([5, -1, 2**40, 2**31 - 1, 7])
    ids = identities(numbers)
    assert ids is not None and (ids >= 0).all()
    assert ids[[0, 3, 4]].tolist() == [5, 2**31 - 1, 7] and len(set(ids.tolist())) == 5
    assert identities(np.arange(5)) is None


def test_the_command_aligns_and_tells_the_drift(tmp_path: Path) -> None:
    edges = write_csv(tmp_path / "g.csv", np.array([(i, j % 40) for i in range(40) for j in (i + 1, i + 7)]))
    works("embed", edges, "-o", tmp_path / "old", "--dim", "8", "--seed", "1")
    done = works("embed", edges, "-o", tmp_path / "new", "--align-to", tmp_path / "old", "--json")
    drift = done.figures["aligned"]
    assert done.figures["dim"] == 8 and drift["shared"] == 40 and drift["to"] == str(tmp_path / "old")
    assert drift["after"] < drift["before"]
    old, new = load(tmp_path / "old"), load(tmp_path / "new")
    assert new.recipe["aligned"]["after"] == drift["after"]
    assert np.linalg.norm(old.vectors - new.vectors, axis=1).mean() == pytest.approx(drift["after"], abs=1e-4)
    done = works("embed", edges, "-o", tmp_path / "old", "--align-to", tmp_path / "old")  # onto itself, in place
    assert "aligned to" in done.out and "by 40 shared nodes: mean drift" in done.out
