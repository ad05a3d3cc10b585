"""`find_duplicates` and ``graphrefine duplicates``: all pairs, copies, what a graph confirms, and bad input."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphrefine
from graphrefine import Embedding, Graph, find_duplicates
from graphrefine.analysis.duplicates import NeighborSets
from graphrefine.datasets import block_model
from graphrefine.display.table import Table
from graphrefine.errors import InputError
from graphrefine.progress import Stages
from graphrefine.search import close_pairs
from graphrefine.search.close_pairs import find_close_pairs
from graphs import graphs
from strategies import PATIENT


def pairs_of(table: Table) -> set[frozenset[Any]]:
    return {frozenset((row.node, row.other)) for row in table}


def whole_numbers(n: int, k: int, seed: int) -> np.ndarray[Any, Any]:
    """Vectors of small whole numbers: many equal ones, many of one direction, some zero."""
    return np.random.default_rng(seed).integers(-1, 2, (n, k)).astype(np.float32)


@PATIENT
@given(st.integers(1, 90), st.integers(1, 4), st.floats(0.2, 1), st.booleans(), st.integers(0, 999))
def test_close_pairs_are_all_pairs(n: int, k: int, above: float, blocks: bool, seed: int) -> None:
    vectors = whole_numbers(n, k, seed)
    rows = np.flatnonzero(vectors.any(axis=1))
    whole = vectors[rows].astype(np.float64)
    cosines = (whole @ whole.T) / np.sqrt(np.outer((whole**2).sum(1), (whole**2).sum(1)))
    first, second = np.nonzero(np.triu(cosines >= above - 1e-9, 1))
    expected = set(zip(rows[first].tolist(), rows[second].tolist(), strict=True))
    scored, across, span = (7, 11, 33) if blocks else (close_pairs.SCORED, close_pairs.ACROSS, close_pairs.SPAN)
    with patch.multiple(close_pairs, SCORED=scored, ACROSS=across, SPAN=span):
        for threads in (1, 3):
            pairs = find_close_pairs(vectors, rows, above=above, most=10**6, threads=threads, stages=Stages())
            assert set(zip(pairs.first.tolist(), pairs.second.tolist(), strict=True)) == expected
            np.testing.assert_allclose(
                pairs.cosines,
                cosines[np.searchsorted(rows, pairs.first), np.searchsorted(rows, pairs.second)],
                atol=1e-6,
            )
            assert len(pairs.first) == len(expected)
        if len(expected) > 1:
            with pytest.raises(InputError, match="above="):
                find_close_pairs(vectors, rows, above=above, most=1, threads=1, stages=Stages())


@PATIENT
@given(graphs(most=40), st.integers(0, 999))
def test_overlaps_are_those_of_sets(graph: Graph, seed: int) -> None:
    A = graph.to_scipy().toarray() > 0
    rng = np.random.default_rng(seed)
    first, second = rng.integers(0, graph.nodes, (2, 30))
    first, second = first[first != second], second[first != second]
    answer = NeighborSets(graph).compare(first, second)
    for at, (u, v) in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
        sets = [
            {("out", j) for j in np.flatnonzero(A[i]).tolist()}
            | ({("in", j) for j in np.flatnonzero(A[:, i]).tolist()} if graph.directed else set())
            for i in (u, v)
        ]
        mine, theirs = ({each for each in sets[at] if each[1] not in (u, v)} for at in (0, 1))
        assert answer.shared[at] == len(mine & theirs)
        assert answer.overlap[at] == pytest.approx(len(mine & theirs) / max(len(mine | theirs), 1))
        assert answer.linked[at] == (A[u, v] or (graph.directed and A[v, u]))


def hub_and_twins() -> tuple[Embedding, Graph]:
    """A hub with 40 leaves, and two nodes that share three of three neighbors."""
    edges = [("hub", f"leaf {i}") for i in range(40)]
    edges += [(twin, f"n{i}") for twin in ("twin", "other twin") for i in range(3)]
    edges += [("n0", "hub"), ("n0", "far"), *((f"n{i}", f"end {i}{j}") for i in (1, 2) for j in range(2))]
    graph = graphrefine.read(edges)
    return graphrefine.embed(graph, dim=8, learn=True), graph


def test_leaves_of_one_hub_are_told_apart_from_twins() -> None:
    embedding, graph = hub_and_twins()
    assert pairs_of(find_duplicates(embedding, graph)) == {frozenset(("twin", "other twin"))}
    table, other = (find_duplicates(embedding, graph, min_degree=1, threads=threads) for threads in (1, 3))
    assert table == other
    kinds = {frozenset((row.node, row.other)): row.kind for row in table}
    assert kinds[frozenset(("twin", "other twin"))] == "twins"
    leaves = [pair for pair, kind in kinds.items() if kind == "leaves of one hub" and "leaf 0" in pair]
    assert len(leaves) == 39, "each leaf but the first is listed once"
    assert table.stats["pairs"] == 40 * 39 // 2 + len(table) - 39, "and all pairs are counted"
    assert len({row.group for row in table if "leaf" in row.node}) == 1
    bound = find_duplicates(embedding, graph, above=0.5, min_degree=1)
    assert (bound["cosine"] >= 0.5 - 1e-6).all() and (bound["overlap"] >= 0.5).all()
    # Without a graph, degrees tell leaves apart; without degrees, nothing does.
    assert not any(str(name).startswith("leaf") for pair in pairs_of(find_duplicates(embedding)) for name in pair)
    assert {row.kind for row in find_duplicates(embedding, min_degree=1) if "leaf" in row.node} == {"leaves"}
    bare = find_duplicates(Embedding(embedding.names, embedding.vectors))
    assert "kind" not in bare.columns and bare.stats["kinds"] is None
    assert sum("leaf" in row.other for row in bare) >= 39


def test_a_planted_twin_is_named_though_its_cosine_is_below_the_usual_bound() -> None:
    rng = np.random.default_rng(0)
    graph = block_model(600, 6000, classes=4, mixing=0.2, seed=0).graph
    rows = np.repeat(np.arange(graph.nodes), graph.out_counts)
    once = rows < graph.indices
    ends = [rows[once], graph.indices[once].astype(np.int64)]
    picks = rng.choice(np.flatnonzero(graph.out_counts >= 8), 30, replace=False)
    for number, node in enumerate(picks.tolist()):
        near = rng.permutation(graph.indices[graph.indptr[node] : graph.indptr[node + 1]])
        change = round(0.15 * len(near))
        new = rng.permutation(np.setdiff1d(np.arange(graph.nodes), [*near, node]))[:change]
        ends[0] = np.concatenate([ends[0], np.full(len(near), 600 + number)])
        ends[1] = np.concatenate([ends[1], near[change:], new])
    whole = Graph.from_edges(*ends)
    embedding = graphrefine.embed(whole, dim=64)
    planted = {frozenset((node, 600 + number)) for number, node in enumerate(picks.tolist())}
    table = find_duplicates(embedding, whole)
    assert len(planted & pairs_of(table)) >= 29
    assert len(pairs_of(table) - planted) < 10
    by_cosine = pairs_of(find_duplicates(embedding, min_degree=None, above=0.98))
    assert len(planted & by_cosine) < 20, "the cosine alone does not find them"


def test_the_sides_of_a_bipartite_graph_are_not_compared() -> None:
    shop = Embedding(["ann", "bob", "tea"], [[1, 0], [1, 0], [1, 0]], {"sides": "rows", "sources": 2})
    assert pairs_of(find_duplicates(shop)) == {frozenset(("ann", "bob"))}


@pytest.mark.parametrize("graph", [None, [("a", "b")]])
def test_small_and_zero_embeddings(graph: Any) -> None:
    for vectors in (np.zeros((2, 2)), [[1, 0], [0, 0]]):
        table = find_duplicates(Embedding(["a", "b"], vectors), graph)
        assert len(table) == 0 and table.stats["pairs"] == 0
    assert len(find_duplicates(Embedding(["a"], [[1.0]]))) == 0
