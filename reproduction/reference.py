"""REFINE on one page of NumPy: the oracle of the tests and the divisor of the benchmarks.

It computes what the authors' code computes (their choices where the paper is silent), in the plainest way:
SciPy's ``@`` for products, NumPy's QR on column blocks, a dense SVD. Nothing of graphrefine is in it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Array = NDArray[Any]
TAYLOR = (0.0, -1.0, -2.0, 1.0)  # T^3 - 2 T^2 - T, the filter of the authors' code


def proximity(A: sp.csr_array, negative: float, exponent: float, weighted: bool) -> sp.csr_array:
    """Return M of Eqs. 2-4: ln p_ij - ln(lambda phi_j) on the edges; without ``weighted``, ln A_ij is left out."""
    degree = np.asarray(A.sum(axis=1)).ravel()
    inverse = np.divide(1.0, degree, out=np.zeros_like(degree), where=degree > 0)
    context = np.asarray((sp.diags_array(inverse) @ A).sum(axis=0)).ravel() ** exponent
    context /= context.sum()
    coo = A.tocoo()
    values = -np.log(degree[coo.row]) - np.log(negative * context[coo.col])
    if weighted:
        values += np.log(coo.data)
    return sp.csr_array((values.astype(A.dtype), (coo.row, coo.col)), shape=A.shape)


def blocked_qr(Y: Array, block: int) -> Array:
    """Orthonormalize each column block against those before it: Algorithm 1, lines 3-4."""
    C = np.empty_like(Y)
    for start in range(0, Y.shape[1], block):
        stop = min(start + block, Y.shape[1])
        Q = np.linalg.qr(Y[:, start:stop])[0]
        Q -= C[:, :start] @ (C[:, :start].T @ Q)
        C[:, start:stop] = np.linalg.qr(Q)[0]
    return C


def unit_rows(X: Array) -> Array:
    """Scale rows to length 1; a zero row stays zero."""
    length: Array = np.linalg.norm(X, axis=1, keepdims=True)
    return X / np.where(length > 0, length, 1)


def refine(
    adjacency: sp.csr_array,
    sketch: Array,
    *,
    block: int = 16,
    power: int = 3,
    negative: float = 1.0,
    exponent: float = 0.75,
    weighted: bool = False,
    theta: tuple[float, ...] | None = TAYLOR,
) -> Array:
    """Return the vectors (n, k) of a graph from a sketch (n, k); ``theta=None`` leaves out the filter (RBQR).

    Examples
    --------
    >>> path = sp.csr_array(np.diag([1.0, 1.0, 1.0], 1) + np.diag([1.0, 1.0, 1.0], -1))
    >>> sketch = np.random.default_rng(0).standard_normal((4, 2))
    >>> np.linalg.norm(refine(path, sketch), axis=1).round(6).tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    A = adjacency.astype(sketch.dtype)
    M = proximity(A, negative, exponent, weighted)
    Y = sketch
    for _ in range(power):
        Y = M @ Y
    C = blocked_qr(Y, block)
    R = unit_rows(M.T @ C)
    if theta is None:
        return R
    loops = sp.csr_array(A + sp.eye_array(A.shape[0], dtype=A.dtype))
    T = sp.csr_array(sp.diags_array(1 / np.asarray(loops.sum(axis=1)).ravel()) @ loops).astype(A.dtype)
    F = theta[0] * R
    for coefficient in theta[1:]:
        R = T @ R
        F += coefficient * R
    U, S, _ = np.linalg.svd(F, full_matrices=False)
    U[~F.any(axis=1)] = 0  # in the rows of isolated nodes LAPACK leaves rounding noise
    return unit_rows(U * np.sqrt(S))
