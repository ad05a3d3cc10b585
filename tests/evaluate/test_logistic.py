from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from graphrefine.evaluate import logistic
from graphrefine.evaluate.logistic import Classifiers, fit_logistic
from graphrefine.linalg import unit_rows


def problem(
    n: int, features: int, classes: int, *, share: float, seed: int
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Unit rows and classes that a noisy linear rule gives to about `share` of them, never to all or none."""
    rng = np.random.default_rng(seed)
    rows = unit_rows(rng.standard_normal((n, features)))
    score = rows @ rng.standard_normal((features, classes)) + 0.5 * rng.standard_normal((n, classes))
    targets = score > np.quantile(score, 1 - share, axis=0)
    targets[0], targets[1] = True, False
    return rows, targets


def liblinear(rows: NDArray[Any], targets: NDArray[np.bool_], C: float) -> NDArray[np.float64]:
    """Decision values of scikit-learn's liblinear, fitted to the end."""
    exact = rows.astype(np.float64)
    scores = []
    for column in targets.T:
        model = LogisticRegression(solver="liblinear", C=C, tol=1e-9, max_iter=1000).fit(exact, column)
        scores.append(model.decision_function(exact))
    return np.stack(scores, axis=1)


@settings(max_examples=40, deadline=None)
@given(
    n=st.integers(6, 300),
    features=st.integers(1, 20),
    classes=st.integers(1, 6),
    share=st.floats(0.01, 0.99),
    C=st.sampled_from([0.01, 1.0, 10.0, 300.0]),
    block=st.sampled_from([37, logistic.BLOCK]),
    seed=st.integers(0, 1000),
)
def test_decision_values_are_those_of_liblinear(
    n: int, features: int, classes: int, share: float, C: float, block: int, seed: int
) -> None:
    rows, targets = problem(n, features, classes, share=share, seed=seed)
    with patch.object(logistic, "BLOCK", block):
        fit = fit_logistic(rows, targets, C=C)
    np.testing.assert_allclose(fit.decision(rows), liblinear(rows, targets, C), atol=1e-3)


@settings(max_examples=40, deadline=None)
@given(
    n=st.integers(4, 200),
    features=st.integers(1, 12),
    share=st.floats(0.05, 0.95),
    C=st.floats(1e-3, 1e4),
    length=st.sampled_from([1e-3, 1.0, 30.0]),
    seed=st.integers(0, 1000),
)
def test_one_more_exact_newton_step_would_change_no_decision(
    n: int, features: int, share: float, C: float, length: float, seed: int
) -> None:
    rows, targets = problem(n, features, 3, share=share, seed=seed)
    rows = rows * np.float32(length)
    fit = fit_logistic(rows, targets, C=C)
    design = np.column_stack([rows, np.ones(n)]).astype(np.float64)
    lengths = np.linalg.norm(design, axis=1)
    for column in range(3):
        weights = np.append(fit.weights[column], fit.intercepts[column])
        probability = expit(design @ weights)
        gradient = weights + C * design.T @ (probability - targets[:, column])
        curvature = C * probability * (1 - probability)
        hessian = np.eye(features + 1) + design.T @ (curvature[:, None] * design)
        change = design @ np.linalg.solve(hessian, gradient)
        # The bound of the module: `tol` times the length of the row, and the rounding of the row to float32.
        rounding = 32 * np.finfo(np.float32).eps * np.linalg.norm(weights)
        assert (np.abs(change) < (1e-4 + rounding) * lengths).all()


def test_classes_without_positives_or_negatives_come_last_or_first() -> None:
    rows, targets = problem(50, 4, 3, share=0.3, seed=0)
    targets[:, 0], targets[:, 2] = False, True
    scores = fit_logistic(rows, targets).decision(rows)
    assert (scores[:, 0] == -np.inf).all()
    assert (scores[:, 2] == np.inf).all()
    np.testing.assert_allclose(scores[:, 1:2], liblinear(rows, targets[:, 1:2], 1.0), atol=1e-3)


def test_a_start_far_away_is_brought_back_by_shorter_steps() -> None:
    rows, targets = problem(200, 5, 2, share=0.3, seed=2)
    far = Classifiers(np.full((2, 5), 40.0), np.full(2, -40.0))
    fit = fit_logistic(rows, targets, C=10.0, start=far)
    np.testing.assert_allclose(fit.decision(rows), liblinear(rows, targets, 10.0), atol=1e-3)
