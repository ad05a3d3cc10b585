"""A step of a random walk goes to a neighbor in proportion to the weight of the edge."""

from __future__ import annotations

import numpy as np

from graphrefine.linalg.operators import by_logarithm, inverse_degrees, walk
from graphs import random_graph


def test_rows_of_a_weighted_walk_are_shares_of_the_weights() -> None:
    graph = random_graph(80, weighted=True, isolated=2, seed=3)
    A = graph.to_scipy().toarray().astype(np.float64)
    sums = A.sum(axis=1)
    shares = np.divide(A, sums[:, None], out=np.zeros_like(A), where=sums[:, None] > 0)
    np.testing.assert_allclose(walk(graph).to_scipy().toarray(), shares, atol=1e-6)
    np.testing.assert_allclose(inverse_degrees(graph)[sums > 0], 1 / sums[sums > 0], rtol=1e-6)
    logs = np.log1p(A / np.median(graph.weights)) * (A > 0)  # type: ignore[arg-type]  # it has weights
    rows = logs.sum(axis=1)
    expected = np.divide(logs, rows[:, None], out=np.zeros_like(A), where=rows[:, None] > 0)
    np.testing.assert_allclose(by_logarithm(graph).walk().to_scipy().toarray(), expected, atol=1e-6)
