"""Theorem 1's bound against its formula, and against errors that are sampled."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from graphrefine.refine.range_finder import theorem_bound


@pytest.mark.parametrize("columns", [4, 5, 9, 20])
def test_the_bound_is_the_least_of_the_formula_over_all_ranks(columns: int) -> None:
    sigma = 0.8 ** np.arange(30)
    bounds = []
    for k in range(2, columns - 1):
        p = columns - k  # at least 2, as the theorem asks
        bounds.append(sqrt((1 + k / (p - 1)) * sum(s**2 for s in sigma[k:])))
    assert theorem_bound(sigma, columns) == pytest.approx(min(bounds), rel=1e-12)


def test_sampled_errors_are_between_the_bound_and_what_a_looser_oversampling_would_claim() -> None:
    # Two huge singular values and a flat tail: k = p = 2 is the best split of four columns. With p for p - 1 the
    # bound would be 76 instead of 114, and the sampled mean is about 103.
    rng = np.random.default_rng(0)
    k, p, n = 2, 2, 40
    sigma = np.concatenate([np.full(k, 1e4), np.ones(n - k)])
    tail = float((sigma[k:] ** 2).sum())
    errors = []
    for _ in range(1500):
        Q = np.linalg.qr(sigma[:, None] * rng.standard_normal((n, k + p)))[0]
        errors.append(np.square(np.diag(sigma) - Q @ (Q.T * sigma)).sum())
    assert (1 + k / p) * tail < np.mean(errors) < theorem_bound(sigma, k + p) ** 2
