"""Bipartite graphs: two sets of nodes, read, embedded by the plain formula, and what they are worth."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray

import graphrefine
from graphrefine.embedding.embedding import Embedding
from graphrefine.errors import InputError
from graphrefine.evaluate import evaluate_labels, evaluate_links, evaluate_reconstruction
from graphrefine.evaluate.compare import compare
from graphrefine.evaluate.held_out_edges import find_entries, hold_out
from graphrefine.graph.graph import Graph
from graphrefine.refine.bipartite import one_way
from graphs import check

PAIRS = [(1, 1), (1, 2), (2, 1), (3, 2), (3, 9), (1, 2)]  # user, item: 1, 2 and 3 stand on both sides or on one


def tastes(users: int = 300, items: int = 120, groups: int = 6, each: int = 12, seed: int = 0) -> sp.csr_array:
    """Users take items of two groups, the popular ones more often."""
    rng = np.random.default_rng(seed)
    user = np.repeat(np.arange(users), each)
    group = np.where(rng.random(len(user)) < 0.6, user % groups, (user // groups) % groups)
    item = (items // groups * rng.random(len(user)) ** 2).astype(int) * groups + group
    taken = sp.csr_array((np.ones(len(user), np.float32), (user, item)), shape=(users, items))
    taken.data[:] = 1
    return taken


def recall(embedding: Embedding, train: sp.csr_array, test: sp.csr_array, *, n: int = 10) -> float:
    scores = embedding.source @ embedding.target.T
    scores[train.nonzero()] = -np.inf
    top = np.argsort(-scores, axis=1, kind="stable")[:, :n]
    hits = np.take_along_axis(test.toarray() > 0, top, axis=1).sum(axis=1)
    counts = np.diff(test.indptr)
    return float(np.mean(hits[counts > 0] / np.minimum(counts[counts > 0], n)))


def test_names_that_coincide_are_two_nodes() -> None:
    """User 1 and item 1 are not the same, and (1, 1) is no self-loop; duplicates add their weights."""
    graph = graphrefine.read(PAIRS, bipartite=True)
    check(graph)
    assert graph.sources == 3 and graph.names.tolist() == [1, 2, 3, 1, 2, 9] and graph.edges == 5
    assert graph.report["self_loops"] == 0 and graph.report["duplicates"] == 1
    assert one_way(graph).to_scipy().toarray()[:3, 3:].tolist() == [[1, 2, 0], [1, 0, 0], [0, 1, 1]]
    assert repr(graph) == "Graph(6 nodes, 5 edges, bipartite (3 + 3), weighted)"
    assert graph.summary()["sources"] == 3 and graph.summary()["bipartite"] is True


def test_what_source_and_target_are() -> None:
    """The rows of users and those of items, with their names; every method has them."""
    for method in ("refine", "prone", "rbqr", "fastrp"):
        embedding = graphrefine.embed(PAIRS, dim=4, method=method, bipartite=True)
        assert embedding.recipe["sides"] == "rows" and embedding.recipe["sources"] == 3
        assert embedding.source.shape == (3, 4) and embedding.target.shape == (3, 4)
        assert embedding.source_names.tolist() == [1, 2, 3] and embedding.target_names.tolist() == [1, 2, 9]
        assert embedding.index(2, side="target") == 1 and embedding.index(9) == 5
    with pytest.raises(InputError, match="1 is a name on both sides"):
        embedding[1]


def plain_scores(matrix: NDArray[np.float64], dim: int) -> NDArray[np.float64]:
    """The formula of `graphrefine.refine.bipartite` in dense NumPy."""
    users, items = matrix.sum(axis=1), matrix.sum(axis=0)
    means = users.mean(), items.mean()
    N = matrix / np.sqrt(np.outer(users + means[0], items + means[1]))
    U, s, V = np.linalg.svd(N, full_matrices=False)
    edge = np.linalg.norm(N) * (len(users) ** -0.5 + len(items) ** -0.5)
    root = np.sqrt(s * (s**2 / (s**2 + edge**2)) ** 4)[:dim]
    x, y = U[:, :dim] * root, V[:dim].T * root
    lengths = np.outer(np.linalg.norm(x, axis=1), np.linalg.norm(y, axis=1))
    scores: NDArray[np.float64] = np.outer(users / means[0], items / means[1]) ** 0.3 * (x @ y.T) / np.sqrt(lengths)
    return scores


def test_the_formula_and_what_follows_from_it() -> None:
    """The engine computes what is written; the transpose swaps the sides; permuting moves the rows."""
    rng = np.random.default_rng(0)
    matrix = (rng.random((30, 22)) < 0.3) * rng.uniform(0.5, 3.0, (30, 22)) + np.eye(30, 22) + np.eye(30, 22, -10)
    how: dict[str, Any] = {"dim": 10, "bipartite": True, "bfloat16": False, "power": 39}

    def scores(given_: NDArray[np.float64]) -> NDArray[np.float32]:
        embedding = graphrefine.embed(sp.csr_array(given_), **how)
        return embedding.source @ embedding.target.T

    ours = scores(matrix)
    assert np.abs(ours - plain_scores(matrix, 10)).max() < 1e-4
    assert np.abs(scores(matrix.T) - ours.T).max() < 1e-4
    users, items = rng.permutation(30), rng.permutation(22)
    assert np.abs(scores(matrix[np.ix_(users, items)]) - ours[np.ix_(users, items)]).max() < 1e-4
    assert np.abs(scores(1000 * matrix) - ours).max() < 1e-4  # the unit of weights does not matter
    heavier = matrix.copy()
    heavier[3, np.flatnonzero(matrix[3])[0]] += 9.0
    assert np.abs(scores(heavier) - ours).max() > 0.01  # weights do


def test_held_out_items_are_found() -> None:
    """Far better than popularity, and than users whose vectors were mixed up: a control that must fail."""
    taken = tastes()
    test = taken.copy()
    test.data = (np.random.default_rng(0).random(taken.nnz) < 0.2).astype(np.float32)
    test.eliminate_zeros()
    train = sp.csr_array(taken - test)
    train.eliminate_zeros()
    embedding = graphrefine.embed(train, dim=16, bipartite=True)
    popularity = Embedding(None, np.concatenate([np.ones(300), train.sum(axis=0)])[:, None], embedding.recipe)
    mixed = np.vstack([embedding.source[np.random.default_rng(0).permutation(300)], embedding.target])
    control = Embedding(embedding.names, mixed, embedding.recipe)
    ours, popular, chance = (recall(each, train, test) for each in (embedding, popularity, control))
    assert ours > 0.5 and ours > 1.5 * popular and chance < 0.6 * ours


def test_links_are_judged_between_the_sides() -> None:
    """Pairs without an edge are of a user and an item, and items replace items."""
    graph = graphrefine.read(tastes(), bipartite=True)
    held = hold_out(graph, 0.3, repeat=0, seed=0)
    assert held.rest.sources == 300
    for pairs in (held.edges, held.others):
        assert (pairs.first < 300).all() and (pairs.second >= 300).all()
    assert (find_entries(graph, held.others) < 0).all()
    found = evaluate_links(graph, dim=16, scores=["dot"])
    assert found.corruptions == 120
    assert found["dot"].mean("auc") > found["degree"].mean("auc") + 0.05
    dense = graphrefine.read(np.ones((5, 6)) - np.eye(5, 6), bipartite=True)
    assert len(hold_out(dense, 0.1, repeat=0, seed=0).others.first) == 2


def test_what_is_refused(tmp_path: Path) -> None:
    """Reconstruction and comparison are about one kind of nodes; labels by name need names that differ."""
    graph = graphrefine.read(PAIRS, bipartite=True)
    embedding = graphrefine.embed(graph, dim=2)
    (tmp_path / "labels.csv").write_text("1,x\n2,y\n")
    refused: list[Callable[[], object]] = [
        lambda: evaluate_reconstruction(graph, embedding),
        lambda: compare(graph),
        lambda: evaluate_labels(embedding, tmp_path / "labels.csv"),
        lambda: graphrefine.embed(graph, dim=2, filter="heat"),
        lambda: graphrefine.embed(graph, dim=2, quality="best"),
        lambda: graphrefine.read(np.ones((4, 6))),
        lambda: graphrefine.read(PAIRS, bipartite=True, directed=True),
        lambda: graphrefine.read(Graph.from_edges([0], [1]), bipartite=True),
    ]
    for call in refused:
        with pytest.raises(InputError):
            call()
