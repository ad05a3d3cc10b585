"""Randomized singular triplets and eigenpairs: near the best possible, orthonormal, the same on every engine."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from graphrefine.engine.local import LocalEngine
from graphrefine.graph.graph import Graph
from graphrefine.linalg.operators import Operator, adjacency, proximity
from graphrefine.refine.arc_svd import normalize_arcs
from graphrefine.refine.svd import Decomposition, randomized_eigh, randomized_svd
from graphs import graphs, random_graph

Array = NDArray[Any]
# Ten columns to spare in graphs of 30 nodes and more, as the theorem wants: one square sketch of signs in a thousand is
# so nearly singular that it misses the direction of the smallest value.
COLUMNS = st.integers(1, 20)


def exact_engine(graph: Graph, columns: int) -> LocalEngine:
    return LocalEngine(graph, columns=columns, bfloat16=False, threads=2)


def dense(operator: Operator) -> Array:
    matrix: Array = operator.to_scipy().toarray().astype(np.float64)
    return matrix


def factors(engine: Any, found: Decomposition[Any], columns: int) -> tuple[Array, Array, Array]:
    U = engine.collect(found.basis, found.left(columns=columns)).astype(np.float64)
    V = engine.collect(found.target, found.right(columns=columns)).astype(np.float64)
    return U, found.values[:columns], V


@given(graphs(least=30, most=120), COLUMNS, st.integers(0, 2**32))
@settings(deadline=None, max_examples=25)
def test_triplets_are_near_the_best_possible(graph: Graph, columns: int, seed: int) -> None:
    M = proximity(graph)
    matrix = dense(M)
    engine = exact_engine(graph, columns + 10)
    U, S, V = factors(engine, randomized_svd(engine, M, seed=seed), columns)
    for side in (U, V):  # orthonormal where there is a value
        assert np.abs(side.T @ side - np.diag((S > 0).astype(float))).max() < 2e-3
    exact = np.linalg.svd(matrix, compute_uv=False)
    best = np.sqrt((exact[columns:] ** 2).sum())
    assert np.linalg.norm(matrix - U * S @ V.T) <= 1.01 * best + 2e-4 * np.linalg.norm(matrix)
    assert np.all(exact[:columns] - S >= -1e-4 * exact[0])


@given(graphs(directed=False, least=30, most=120), COLUMNS, st.integers(0, 2**32))
@settings(deadline=None, max_examples=25)
def test_eigenpairs_are_near_the_best_possible(graph: Graph, columns: int, seed: int) -> None:
    A = adjacency(graph)
    matrix = dense(A)
    engine = exact_engine(graph, columns + 10)
    found = randomized_eigh(engine, A, seed=seed)
    U, values = engine.collect(found.basis, found.axes[:, :columns]).astype(np.float64), found.values[:columns]
    best = np.sqrt((np.sort(np.linalg.eigvalsh(matrix) ** 2)[: graph.nodes - columns]).sum())
    assert np.linalg.norm(matrix - U * values @ U.T) <= 1.02 * best + 2e-4 * np.linalg.norm(matrix)
    assert np.all(np.diff(np.abs(values)) <= 0)


def test_a_single_product_is_not_enough_where_values_decay_slowly() -> None:
    """The control: without iterations the error is well above the best possible, with five it is at it."""
    graph = random_graph(400, degree=8)
    M = proximity(graph)
    exact = np.linalg.svd(dense(M), compute_uv=False)
    excess = {}
    for iterations in (0, 5):
        engine = exact_engine(graph, 30)
        found = randomized_svd(engine, M, seed=1, iterations=iterations)
        U, S, V = factors(engine, found, 20)
        excess[iterations] = np.linalg.norm(dense(M) - U * S @ V.T) / np.sqrt((exact[20:] ** 2).sum()) - 1
    assert excess[5] < 0.003
    assert excess[0] > 10 * excess[5]


@pytest.mark.parametrize("bfloat16", [False, True])
def test_columns_beyond_the_rank_silence_no_triplet(bfloat16: bool) -> None:
    """Users of few items: the rounding of the sketch to bfloat16 must not be taken for further directions."""
    taken = np.random.default_rng(0).random((300, 12)) < 0.2
    users, items = taken.nonzero()
    graph = Graph.from_edges(users, items + 300, directed=True)
    N = normalize_arcs(graph)[0]
    exact = np.linalg.svd(dense(N), compute_uv=False)
    for seed in range(10):
        engine = LocalEngine(graph, columns=64, bfloat16=bfloat16, threads=1)
        values = randomized_svd(engine, N, seed=seed, iterations=3).values
        np.testing.assert_allclose(values[:12], exact[:12], rtol=2e-2, err_msg=f"seed {seed}")


def test_values_beyond_the_rank_are_zero() -> None:
    """A star has rank 2, a complete bipartite graph too; the columns that it has not are zero, not noise."""
    left, right = np.repeat(np.arange(3), 40), np.tile(np.arange(3, 43), 3)
    for graph in (Graph.from_edges(np.zeros(60, int), np.arange(1, 61)), Graph.from_edges(left, right)):
        A = adjacency(graph)
        engine = exact_engine(graph, 12)
        found = randomized_svd(engine, A, seed=0)
        assert np.count_nonzero(found.values) == 2
        U, S, V = factors(engine, found, 12)
        assert np.abs(U * S @ V.T - dense(A)).max() < 1e-4 * S[0]
        assert not U[:, 2:].any() and not V[:, 2:].any()
        pairs = randomized_eigh(engine, A, seed=0)
        assert np.abs(pairs.values[2:]).max() < 1e-4 * S[0]
        assert np.allclose(np.sort(pairs.values[:2]), [-S[0], S[0]], rtol=1e-5)


def test_powers_of_the_singular_values() -> None:
    graph = random_graph(60, directed=True)
    engine = exact_engine(graph, 6)
    found = randomized_svd(engine, proximity(graph), seed=0)
    U, S, V = factors(engine, found, 4)
    assert np.allclose(engine.collect(found.basis, found.left(power=0.5, columns=4)), U * S**0.5, atol=1e-4)
    assert np.allclose(engine.collect(found.target, found.right(power=0.5, columns=4)), V * S**0.5, atol=1e-4)
    assert np.allclose(dense(proximity(graph)).T @ U, V * S, atol=1e-3)
