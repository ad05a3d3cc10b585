"""Measurements of errors of approximation, beside the smallest possible ones (Theorem 1, power iterations)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, svds

from graphrefine.datasets import Dataset
from graphrefine.linalg.operators import Operator, proximity
from graphrefine.paper.cache import Measurement
from graphrefine.paper.numpy_baselines import Basis, draw_gaussian, limit_blas_threads, two_sided_rbqr, unblocked_rbqr
from graphrefine.refine.range_finder import basis_error, theorem_bound

Array = NDArray[np.float64]

SCHEMES: dict[str, Callable[..., Basis]] = {"published": unblocked_rbqr, "two-sided": two_sided_rbqr}


def measure_errors(
    dataset: Dataset, *, columns: Sequence[int], dim: int, powers: Sequence[int], draws: int, seed: int
) -> Measurement:
    """Errors by width of the sketch beside Theorem 1's bound; factors over the smallest error by q and scheme."""
    operator = proximity(dataset.graph, log_weights=False)
    M = operator.to_scipy().astype(np.float64)
    seeds = range(seed, seed + draws)
    with limit_blas_threads(1):
        values = compute_singular_values(M)
        points = [_measure_bound(operator, M, values, width, seeds) for width in columns]
        schemes = {name: [_measure_factors(M, values, name, dim, q, seeds) for q in powers] for name in SCHEMES}
    return {"norm": float(np.linalg.norm(values)), "points": points, "schemes": schemes}


def _measure_bound(
    operator: Operator, M: sp.csr_array, values: Array, columns: int, seeds: Sequence[int]
) -> dict[str, float]:
    """``||M - C C^T M||_F`` for one product with Gaussian sketches of a width, beside the bound of Theorem 1."""
    sketches = (draw_gaussian(M.shape[0], columns, seed=seed) for seed in seeds)
    errors = [basis_error(operator, unblocked_rbqr(M, sketch, power=1).R) for sketch in sketches]
    return {
        "columns": columns,
        "mean": float(np.mean(errors)),
        "largest": float(np.max(errors)),
        "bound": theorem_bound(values, columns),
        "best": compute_smallest_error(values, columns),
    }


def _measure_factors(
    M: sp.csr_array, values: Array, scheme: str, dim: int, power: int, seeds: Sequence[int]
) -> dict[str, float]:
    """The factor c' by which the errors of a scheme exceed the smallest of rank k, in two norms.

    Halko, Martinsson and Tropp use the spectral norm; Theorem 1 is stated in Frobenius'.
    """
    factors = []
    for seed in seeds:
        basis = SCHEMES[scheme](M, draw_gaussian(M.shape[0], dim, seed=seed), power=power)
        frobenius = np.sqrt(max(float((values**2).sum() - (basis.R**2).sum()), 0.0))
        factors.append(
            (compute_spectral_error(M, basis) / values[dim], frobenius / compute_smallest_error(values, dim))
        )
    spectral, frobenius = np.mean(factors, axis=0).tolist()
    return {"power": power, "spectral": spectral, "frobenius": frobenius}


def compute_singular_values(M: sp.csr_array) -> Array:
    """All singular values, largest first, from the eigenvalues of ``M M^T``.

    Examples
    --------
    >>> compute_singular_values(sp.csr_array(np.diag([3.0, -4.0]))).tolist()
    [4.0, 3.0]
    """
    gram = (M @ M.T).toarray()
    values: Array = np.sqrt(np.maximum(np.linalg.eigvalsh(gram)[::-1], 0.0))
    return values


def compute_smallest_error(values: Array, rank: int) -> float:
    """The smallest error of any approximation of this rank, in Frobenius' norm."""
    return float(np.linalg.norm(values[rank:]))


def compute_spectral_error(M: sp.csr_array, basis: Basis) -> float:
    """``||M - C R^T||_2``."""
    residual: Any = LinearOperator(
        M.shape,
        matvec=lambda x: M @ x - basis.C @ (basis.R.T @ x),
        rmatvec=lambda x: M.T @ x - basis.R @ (basis.C.T @ x),
        dtype=np.float64,
    )
    start = np.random.default_rng(0).standard_normal(M.shape[0])
    return float(svds(residual, 1, v0=start, return_singular_vectors=False, tol=1e-3)[0])
