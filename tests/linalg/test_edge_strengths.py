"""Strengths of edges: the median without a copy, and degrees by logarithm block by block, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from graphrefine.engine.local import LocalEngine
from graphrefine.graph.graph import Graph
from graphrefine.linalg import operators
from graphrefine.linalg.operators import EdgeStrengths, by_logarithm, edge_terms, median, walk
from graphs import random_graph

weights = st.floats(2.0**-100, 2.0**100, width=32)


@given(arrays(np.float32, st.integers(1, 60), elements=weights))
def test_the_median_is_that_of_numpy(values: np.ndarray) -> None:
    with np.errstate(over="ignore"):
        assert median(values) == np.median(values)


def test_degrees_and_the_median_do_not_depend_on_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = random_graph(700, degree=20, weighted=True, isolated=4)
    assert graph.weights is not None
    logs = edge_terms("log1p", graph.weights, unit=float(np.median(graph.weights)))
    expected = Graph(graph.indptr, graph.indices, logs, graph.names).degrees()
    assert np.array_equal(by_logarithm(graph).degrees, expected)
    monkeypatch.setattr(operators, "ENTRIES", 37)
    assert np.array_equal(by_logarithm(graph).degrees, expected)
    values = np.random.default_rng(0).lognormal(0, 5, 5001).astype(np.float32)
    monkeypatch.setattr(operators, "ENTRIES", 100)
    assert median(values) == np.median(values) and median(values[1:]) == np.median(values[1:])


def test_an_operator_by_logarithm_is_that_of_the_graph_of_logarithms() -> None:
    graph = random_graph(300, weighted=True)
    assert graph.weights is not None
    logs = edge_terms("log1p", graph.weights, unit=float(np.median(graph.weights)))
    other = Graph(graph.indptr, graph.indices, logs, graph.names)
    both = ((graph, by_logarithm(graph)), (other, EdgeStrengths(other)))
    here, there = (tied.walk().to_scipy().toarray() for _, tied in both)
    assert np.array_equal(here, there) and not np.array_equal(here, walk(graph).to_scipy().toarray())
    made = []
    for each, tied in both:
        engine = LocalEngine(each, columns=32)
        made.append(engine.collect(engine.apply(tied.walk(), engine.random(seed=0))))
    assert np.array_equal(made[0], made[1])
