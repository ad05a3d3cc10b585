"""Formulas that a change of one sign or factor would break, against NumPy on whole matrices."""

from __future__ import annotations

import numpy as np
import pytest

from graphrefine.engine.engine import collect_centered
from graphrefine.engine.local import LocalEngine
from graphrefine.graph.graph import Graph
from graphrefine.linalg import unit_rows
from graphrefine.linalg.operators import EdgeStrengths
from graphrefine.refine.far_view import far_view
from graphrefine.refine.refine import axes_of_sample
from graphrefine.refine.regions import Regions


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("exponent", [0.0, 0.5, 1.0])
def test_axes_are_the_principal_ones_of_rows_without_their_mean(exponent: float, center: bool) -> None:
    """Or with their mean, where that is wanted."""
    rng = np.random.default_rng(0)
    # Far from the origin: axes of the rows as they are would begin with the direction of the mean.
    F = (rng.standard_normal((50, 4)) * [3, 2, 1, 0.5] + [20, -10, 5, 0]).astype(np.float32)
    U, S, _ = np.linalg.svd(F - center * F.mean(axis=0, dtype=np.float64), full_matrices=False)
    expected = unit_rows(U * S**exponent)
    rotation, middle = axes_of_sample(F, exponent=exponent, center=center)
    rows = unit_rows(F @ rotation - (0 if middle is None else middle))
    assert (middle is None) != center
    np.testing.assert_allclose(rows @ rows.T, expected @ expected.T, atol=2e-3)
    if center:
        graph = Graph.from_edges(np.arange(50), (np.arange(50) + 1) % 50)
        engine = LocalEngine(graph, columns=4, bfloat16=False, reorder=False)
        tall = engine.fill(lambda start, stop: F[start:stop], precise=True)
        found = collect_centered(engine, tall, nodes=50, axes=exponent)
        np.testing.assert_allclose(found @ found.T, expected @ expected.T, atol=2e-3)


@pytest.mark.parametrize("spectrum", [0.5, 1.0])
def test_the_far_view_weighs_regions_by_their_nodes(spectrum: float) -> None:
    """Where rows are equal within a region, the axes from mean rows are exactly those of all rows."""
    sizes = np.array([3, 9, 30])
    of = np.repeat(np.arange(3, dtype=np.int32), sizes)
    strength = np.array([[40.0, 1.0, 0.5], [1.0, 20.0, 2.0], [0.5, 2.0, 9.0]])
    first, second = np.triu_indices(len(of), 1)
    graph = Graph.from_edges(first, second, strength[of[first], of[second]], names=np.arange(len(of)))
    A = graph.to_scipy().toarray().astype(np.float64) + np.diag(strength[of, of])  # a loop makes rows exactly equal
    members = np.eye(3)[of]
    degrees = graph.degrees()
    P = (A - np.diag(np.diag(A))) / degrees[:, None]
    x = sum(np.linalg.matrix_power(P, r) for r in (2, 3, 4)) @ members / 3
    logs = np.log(np.maximum(x * degrees.sum() / (degrees @ members), 1))
    U, S, _ = np.linalg.svd(logs, full_matrices=False)
    expected = (U * S**spectrum) @ (U * S**spectrum).T

    engine = LocalEngine(graph, columns=3, bfloat16=False)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    found = far_view(engine, EdgeStrengths(graph), Regions(of, starts), columns=3, steps=(2, 4), spectrum=spectrum)
    np.testing.assert_allclose(found @ found.T, expected, atol=0.02 * np.abs(expected).max())
