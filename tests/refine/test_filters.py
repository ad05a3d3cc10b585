"""Eq. 7: the coefficients of each filter, and Horner's rule against the plain sum."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphrefine.engine.engine import principal_rotation
from graphrefine.engine.local import LocalEngine
from graphrefine.errors import InputError
from graphrefine.graph.graph import Graph
from graphrefine.linalg.operators import transition
from graphrefine.refine.filters import FILTERS, coefficients, diffuse
from graphs import graphs


@pytest.mark.parametrize(
    ("name", "options", "expected"),
    [
        ("taylor", {}, (0.0, -1.0, -2.0, 1.0)),
        ("heat", {"order": 2, "scale": 1.0}, (0.367879, 0.367879, 0.18394)),
        ("markov", {"order": 4, "scale": 0.2}, (0.2, 0.2, 0.2, 0.2, 0.2)),
        ("pagerank", {"order": 2, "scale": 0.5}, (0.5, 0.25, 0.125)),
        ((1, 0, 2, 0), {}, (1.0, 0.0, 2.0)),
        ("reach", {"order": 5, "degree": 20.0}, (0.0, 0.0, 0.0, 1.0, 0.0, 2.0)),  # 40 over the mean degree
        ("reach", {"order": 4, "degree": 0.5}, (0.0, 0.0, 0.0, 1.0, 40.0)),  # a degree below 1 counts as 1
    ],
)
def test_coefficients(name: str, options: dict[str, float], expected: tuple[float, ...]) -> None:
    assert coefficients(name, **options) == pytest.approx(expected, abs=1e-6)  # type: ignore[arg-type]


def test_every_filter_has_coefficients_and_diffusions_keep_their_mass() -> None:
    assert coefficients("none") is None
    for name in FILTERS:
        theta = coefficients(name)
        assert theta is not None and len(theta) >= 2
    for name in ("heat", "pagerank"):
        assert sum(coefficients(name, order=100) or ()) == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize(
    ("name", "options", "argument"),
    [
        ("fourier", {}, "filter"),
        ("taylor", {"order": 4}, "order"),
        ("none", {"scale": 1.0}, "scale"),
        ([1.0], {"order": 1}, "order"),
        ("heat", {"order": 0}, "order"),
        ("heat", {"scale": -1.0}, "scale"),
        ("pagerank", {"scale": 1.5}, "scale"),
        ("reach", {"order": 2}, "order"),
        ([], {}, "filter"),
        ([0.0, 0.0], {}, "filter"),
        ([1.0, float("nan")], {}, "filter"),
    ],
)
def test_wrong_filters_are_refused(name: Any, options: dict[str, Any], argument: str) -> None:
    with pytest.raises(InputError) as caught:
        coefficients(name, **options)
    assert caught.value.argument == argument


@given(graphs(most=80), st.lists(st.sampled_from([-2.0, -1.0, 0.0, 0.5, 3.0]), min_size=1, max_size=6))
@settings(deadline=None, max_examples=40)
def test_horner_equals_the_plain_sum(graph: Graph, theta: list[float]) -> None:
    if not any(theta):
        return
    trimmed = coefficients(theta)
    assert trimmed is not None
    engine = LocalEngine(graph, columns=8, bfloat16=False)
    T = transition(graph)
    R = engine.collect(engine.apply(T, engine.random(seed=0), precise=True))  # T @ signs, row by row
    tall = engine.apply(T, engine.random(seed=0), precise=True)
    F = engine.collect(diffuse(engine, T, tall, trimmed))
    dense = T.to_scipy().toarray().astype(np.float64)
    plain = np.sum([c * np.linalg.matrix_power(dense, k) @ R for k, c in enumerate(trimmed)], axis=0)
    if len(trimmed) == 1:
        plain = plain / trimmed[0]  # R itself comes back: a multiple of it has the same axes
    assert np.abs(F - plain).max() < 1e-5 * max(1.0, np.abs(trimmed).sum())


def test_principal_rotation_gives_u_root_s() -> None:
    F = np.random.default_rng(0).standard_normal((60, 7)) * np.array([9, 5, 3, 2, 1, 0.1, 0])
    U, S, _ = np.linalg.svd(F, full_matrices=False)
    ours = F @ principal_rotation(F.T @ F)
    assert np.allclose(np.abs(ours), np.abs(U * np.sqrt(S)), atol=1e-6)
    assert np.all(ours[:, 6] == 0)
