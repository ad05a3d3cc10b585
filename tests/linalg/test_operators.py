"""Operators: the paper's formulas entry by entry, and the adjoint test for every way of applying them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from graphrefine.engine.local import LocalEngine, LocalTall
from graphrefine.graph.graph import Graph
from graphrefine.kernels import to_float32
from graphrefine.linalg.operators import Operator, by_logarithm, inverse_degrees, proximity, transition, walk
from graphs import dense, dense_walk, graphs, random_graph


@given(graphs(most=60), st.floats(0.1, 20), st.floats(0, 1), st.booleans())
@settings(deadline=None, max_examples=40)
def test_proximity_is_equations_2_to_4(graph: Graph, negative: float, exponent: float, log_weights: bool) -> None:
    A, p = dense(graph), dense_walk(graph)
    phi = np.where(p.sum(axis=0) > 0, p.sum(axis=0) ** exponent, 0.0)
    phi /= phi.sum()
    weight = np.where(A > 0, A, 1.0) if not log_weights else np.ones_like(A)
    with np.errstate(divide="ignore", invalid="ignore"):
        M = np.where(A > 0, np.log(p / weight) - np.log(negative * phi), 0.0)
    ours = proximity(graph, negative=negative, exponent=exponent, log_weights=log_weights)
    assert np.abs(ours.to_scipy().toarray() - M).max() < 1e-4


@given(graphs(most=60))
@settings(deadline=None, max_examples=30)
def test_transition_averages_a_node_and_its_neighbors_and_transposes(graph: Graph) -> None:
    T = transition(graph).to_scipy().toarray()
    assert np.allclose(T.sum(axis=1), 1.0, atol=1e-5)
    A = graph.to_scipy().toarray() + np.eye(graph.nodes)
    assert np.allclose(T, A / A.sum(axis=1, keepdims=True), atol=1e-6)
    for operator in (proximity(graph), transition(graph)):
        assert np.allclose(operator.T.to_scipy().toarray(), operator.to_scipy().toarray().T, atol=1e-5)
        assert np.array_equal(operator.T.T.to_scipy().toarray(), operator.to_scipy().toarray())


@given(graphs(), st.sampled_from(["proximity", "plain", "transition"]), st.booleans())
@settings(deadline=None, max_examples=40)
def test_adjoint(graph: Graph, which: str, reorder: bool) -> None:
    """<A x, y> = <x, A^T y>, for random x and y, through the engine's products."""
    operator = {
        "proximity": lambda: proximity(graph),
        "plain": lambda: proximity(graph, log_weights=False),
        "transition": lambda: transition(graph),
    }[which]()
    engine = LocalEngine(graph, columns=32, bfloat16=False, reorder=reorder)
    x, y = engine.random(seed=1), engine.random(seed=2)
    forth, back = engine.apply(operator, x, precise=True), engine.apply(operator.T, y, precise=True)

    def wide(tall: LocalTall) -> NDArray[np.float64]:
        return to_float32(tall.data).astype(np.float64)

    left, right = (wide(forth) * wide(y)).sum(axis=0), (wide(x) * wide(back)).sum(axis=0)
    size = np.abs(wide(forth)).sum(axis=0).max() + 1.0
    assert np.abs(left - right).max() <= 1e-5 * size


def test_weights_count_in_the_proximity() -> None:
    light = Graph.from_edges([0, 0, 1], [1, 2, 2], [1.0, 1.0, 1.0])
    heavy = Graph.from_edges([0, 0, 1], [1, 2, 2], [1.0, 8.0, 1.0])
    kept = proximity(heavy).to_scipy().toarray()
    canceled = proximity(heavy, log_weights=False).to_scipy().toarray()
    assert kept[0, 2] - canceled[0, 2] == pytest.approx(np.log(8), abs=1e-5)
    assert kept[0, 1] == canceled[0, 1]  # ln 1 = 0
    assert not np.allclose(canceled, proximity(light).to_scipy().toarray())  # degrees count all the same


def test_a_wrong_transpose_would_be_seen() -> None:
    """The control of the adjoint test: an operator that is not the transpose fails it."""
    graph = random_graph(60, directed=True)
    M = proximity(graph)
    wrong = Operator(graph, edge=M.edge, row_shift=M.column_shift, column_shift=M.row_shift)
    assert np.abs(wrong.to_scipy().toarray() - M.to_scipy().toarray().T).max() > 0.1


def test_rows_of_a_weighted_walk_are_shares_of_the_weights() -> None:
    graph = random_graph(80, weighted=True, isolated=2, seed=3)
    A = dense(graph)
    sums = A.sum(axis=1)
    np.testing.assert_allclose(walk(graph).to_scipy().toarray(), dense_walk(graph), atol=1e-6)
    np.testing.assert_allclose(inverse_degrees(graph)[sums > 0], 1 / sums[sums > 0], rtol=1e-6)
    logs = np.log1p(A / np.median(graph.weights)) * (A > 0)  # type: ignore[arg-type]  # it has weights
    rows = logs.sum(axis=1)
    expected = np.divide(logs, rows[:, None], out=np.zeros_like(A), where=rows[:, None] > 0)
    np.testing.assert_allclose(by_logarithm(graph).walk().to_scipy().toarray(), expected, atol=1e-6)
