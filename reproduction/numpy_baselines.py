"""Algorithm 1 and its relatives in plain NumPy, stage by stage: the operations that the paper's formulas count.

`reference.refine` is the same algorithm in one piece; here every stage is timed, and the variants that the paper
discusses (one QR of all columns, a deflated residual, two-sided powers) work on one matrix M.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg  # noqa: F401  loads the BLAS of SciPy, which `limit_blas_threads` could not limit otherwise
import scipy.sparse as sp
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from graphrefine.progress import Stages
from reproduction import reference

Array = NDArray[Any]


def limit_blas_threads(threads: int) -> AbstractContextManager[Any]:
    """A stretch of code with a number of BLAS threads, for NumPy and for SciPy, which has its own library."""
    limit: AbstractContextManager[Any] = threadpool_limits(threads, user_api="blas")
    return limit


class Basis(NamedTuple):
    """``M ~ C R^T``."""

    C: Array  # (n, k), orthonormal
    R: Array  # (n, k): M^T C


def draw_gaussian(rows: int, columns: int, *, seed: int) -> Array:
    """Sketch of Algorithm 1, line 2."""
    return np.random.default_rng(seed).standard_normal((rows, columns))


def apply_powers(M: sp.csr_array, sketch: Array, power: int) -> Array:
    """``M^q Omega``."""
    Y = sketch
    for _ in range(power):
        Y = M @ Y
    return Y


def blocked_qr(Y: Array, block: int, stages: Stages) -> Array:
    """Algorithm 1, lines 3 and 4, the QR factorizations and the projections timed apart."""
    C = np.empty_like(Y)
    for start in range(0, Y.shape[1], block):
        stop = min(start + block, Y.shape[1])
        with stages.stage("qr"):
            Q = np.linalg.qr(Y[:, start:stop])[0]
        with stages.stage("projections"):
            Q -= C[:, :start] @ (C[:, :start].T @ Q)
        with stages.stage("qr"):
            C[:, start:stop] = np.linalg.qr(Q)[0]
    return C


def rbqr(M: sp.csr_array, sketch: Array, *, block: int, power: int, stages: Stages | None = None) -> Basis:
    """Algorithm 1.

    Examples
    --------
    >>> M = sp.csr_array(np.diag([3.0, 2.0, 0.0]))
    >>> C, R = rbqr(M, draw_gaussian(3, 2, seed=0), block=1, power=1)
    >>> np.abs(C @ R.T).round(6).tolist()
    [[3.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 0.0]]
    """
    stages = stages or Stages()
    with stages.stage("products"):
        Y = apply_powers(M, sketch, power)
    C = blocked_qr(Y, block, stages)
    with stages.stage("target"):
        return Basis(C, M.T @ C)


def unblocked_rbqr(M: sp.csr_array, sketch: Array, *, power: int) -> Basis:
    """Algorithm 1 with one QR factorization of all columns."""
    C = np.linalg.qr(apply_powers(M, sketch, power))[0]
    return Basis(C, M.T @ C)


def deflated_rbqr(M: sp.csr_array, sketch: Array, *, block: int, power: int) -> Basis:
    """Algorithm 1 with the line that it leaves out: each block is sought in the residual ``M - C R^T`` of those before.

    The residual is applied, never formed: as a matrix it is dense.
    """
    n, k = sketch.shape
    C, R = np.empty((n, k), sketch.dtype), np.empty((n, k), sketch.dtype)
    for start in range(0, k, block):
        stop = min(start + block, k)
        Y = sketch[:, start:stop]
        for _ in range(power):
            Y = M @ Y - C[:, :start] @ (R[:, :start].T @ Y)
        Q = np.linalg.qr(Y)[0]
        Q -= C[:, :start] @ (C[:, :start].T @ Q)
        C[:, start:stop] = np.linalg.qr(Q)[0]
        R[:, start:stop] = M.T @ C[:, start:stop]
    return Basis(C, R)


def two_sided_rbqr(M: sp.csr_array, sketch: Array, *, power: int) -> Basis:
    """``(M M^T)^(q-1) M Omega``, orthonormalized between products: the power scheme of Halko, Martinsson and Tropp."""
    Y = M @ sketch
    for _ in range(power - 1):
        Y = M @ np.linalg.qr(M.T @ np.linalg.qr(Y)[0])[0]
    C = np.linalg.qr(Y)[0]
    return Basis(C, M.T @ C)


def make_transition(A: sp.csr_array) -> sp.csr_array:
    """T of Eq. 7: the rows of A + I divided by their sums."""
    loops = sp.csr_array(A + sp.eye_array(A.shape[0], dtype=A.dtype))
    inverse = sp.diags_array(1 / np.asarray(loops.sum(axis=1)).ravel())
    T: sp.csr_array = sp.csr_array(inverse @ loops).astype(A.dtype)
    return T


def filter_basis(A: sp.csr_array, R: Array, stages: Stages | None = None) -> Array:
    """The end of REFINE, from R = M^T C to vectors (n, k): the filter of Eq. 7, the axes, unit rows."""
    stages = stages or Stages()
    with stages.stage("filter"):
        T, power, F = make_transition(A), reference.unit_rows(R), np.zeros_like(R)
        for coefficient in reference.TAYLOR[1:]:
            power = T @ power
            F += coefficient * power
    with stages.stage("axes"):
        U, S, _ = np.linalg.svd(F, full_matrices=False)
        return reference.unit_rows(U * np.sqrt(S))


def run_stages(A: sp.csr_array, *, dim: int, block: int, power: int, seed: int) -> tuple[Array, Stages]:
    """REFINE as the paper's formulas count it: vectors (n, k), and the seconds of its stages."""
    stages = Stages()
    A = A.astype(np.float64)
    with stages.stage("proximity"):
        M = reference.proximity(A, 1.0, 0.75, False)
    with stages.stage("random"):
        sketch = draw_gaussian(A.shape[0], dim, seed=seed)
    basis = rbqr(M, sketch, block=block, power=power, stages=stages)
    return filter_basis(A, basis.R, stages), stages
