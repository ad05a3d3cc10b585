"""Work that measures errors of approximation, beside the best possible ones (Theorem 1, power iterations)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphrefine.operators import Operator, proximity
from graphrefine.paper import numpy_baselines
from graphrefine.paper.cache import Outcome
from graphrefine.paper.loaded_graphs import Bench
from graphrefine.paper.numpy_baselines import blas_threads
from graphrefine.rangefinder import basis_error, theorem_bound

Array = NDArray[np.float64]
Scheme = Callable[[sp.csr_array, NDArray[Any], int], numpy_baselines.Basis]

SCHEMES: dict[str, Scheme] = {
    "published": lambda M, sketch, power: numpy_baselines.unblocked(M, sketch, power=power),
    "two-sided": lambda M, sketch, power: numpy_baselines.two_sided(M, sketch, power=power),
}


def errors(bench: Bench, asked: Mapping[str, Any]) -> Outcome:
    """Errors of the range finder beside Theorem 1's bound, by width; and over the best possible, by q and scheme."""
    operator = proximity(bench.graph(asked["graph"]), log_weights=False)
    M = operator.to_scipy().astype(np.float64)
    with blas_threads(1):
        values = singular_values(M)
        points = [_bound_at(operator, M, values, columns, asked) for columns in asked["columns"]]
        schemes = {name: [_factors_at(M, values, name, q, asked) for q in asked["powers"]] for name in SCHEMES}
    return {"norm": float(np.linalg.norm(values)), "points": points, "schemes": schemes}


def _bound_at(
    operator: Operator, M: sp.csr_array, values: Array, columns: int, asked: Mapping[str, Any]
) -> dict[str, float]:
    """``||M - C C^T M||_F`` for one product with Gaussian sketches of a width, beside the bound of Theorem 1."""
    found = []
    for draw in range(asked["draws"]):
        sketch = numpy_baselines.gaussian(M.shape[0], columns, seed=asked["seed"] + draw)
        found.append(basis_error(operator, numpy_baselines.unblocked(M, sketch, power=1).R))
    return {
        "columns": columns,
        "mean": float(np.mean(found)),
        "largest": float(np.max(found)),
        "bound": theorem_bound(values, columns),
        "best": tail(values, columns),
    }


def _factors_at(M: sp.csr_array, values: Array, scheme: str, power: int, asked: Mapping[str, Any]) -> dict[str, float]:
    """The factor c' by which the errors of a scheme exceed the best of rank k, in two norms.

    Halko, Martinsson and Tropp speak of the spectral norm; Theorem 1 is stated in Frobenius'.
    """
    k, factors = asked["dim"], []
    for draw in range(asked["draws"]):
        basis = SCHEMES[scheme](M, numpy_baselines.gaussian(M.shape[0], k, seed=asked["seed"] + draw), power)
        frobenius = np.sqrt(max(float((values**2).sum() - (basis.R**2).sum()), 0.0))
        factors.append((spectral_error(M, basis) / values[k], frobenius / tail(values, k)))
    spectral, frobenius = np.mean(factors, axis=0).tolist()
    return {"power": power, "spectral": spectral, "frobenius": frobenius}


def singular_values(M: sp.csr_array) -> Array:
    """All of them, largest first, from the eigenvalues of ``M M^T``.

    Examples
    --------
    >>> singular_values(sp.csr_array(np.diag([3.0, -4.0]))).tolist()
    [4.0, 3.0]
    """
    gram = (M @ M.T).toarray()
    values: Array = np.sqrt(np.maximum(np.linalg.eigvalsh(gram)[::-1], 0.0))
    return values


def tail(values: Array, rank: int) -> float:
    """The least error of any approximation of this rank, in Frobenius' norm."""
    return float(np.linalg.norm(values[rank:]))


def spectral_error(M: sp.csr_array, basis: numpy_baselines.Basis) -> float:
    """``||M - C R^T||_2``."""
    from scipy.sparse.linalg import LinearOperator, svds

    residual = LinearOperator(
        M.shape,
        matvec=lambda x: M @ x - basis.C @ (basis.R.T @ x),
        rmatvec=lambda x: M.T @ x - basis.R @ (basis.C.T @ x),
        dtype=np.float64,
    )
    start = np.random.default_rng(0).standard_normal(M.shape[0])
    return float(svds(residual, 1, v0=start, return_singular_vectors=False, tol=1e-3)[0])
