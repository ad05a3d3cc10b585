"""Algorithm 1 and its relatives in plain NumPy, stage by stage: what the paper's formulas count.

`reference.refine` is the same algorithm in one piece; here every stage is timed, and the variants that the paper talks
about (unblocked QR, the residual deflated, a truncated SVD) are set side by side on one matrix.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphrefine import reference

Array = NDArray[Any]


@contextmanager
def blas_threads(threads: int) -> Iterator[None]:
    """A stretch of code in which BLAS uses so many threads: NumPy's, and SciPy's, which is another."""
    import scipy.linalg  # noqa: F401  a library that is not loaded yet would not be told
    from threadpoolctl import threadpool_limits

    with threadpool_limits(threads, user_api="blas"):
        yield


class Clock:
    """Seconds by stage.

    Examples
    --------
    >>> clock = Clock()
    >>> with clock("qr"):
    ...     pass
    >>> list(clock.seconds)
    ['qr']
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        """A stretch of a stage; stretches of one name add up."""
        start = perf_counter()
        try:
            yield
        finally:
            self.seconds[stage] = self.seconds.get(stage, 0.0) + perf_counter() - start

    @property
    def total(self) -> float:
        """Of all stages."""
        return sum(self.seconds.values())


class Basis(NamedTuple):
    """``M ~ C R^T``."""

    C: Array  # (n, k), orthonormal
    R: Array  # (n, k): M^T C


def gaussian(rows: int, columns: int, *, seed: int, dtype: type[np.floating[Any]] = np.float64) -> Array:
    """The sketch of Algorithm 1, line 2."""
    return np.random.default_rng(seed).standard_normal((rows, columns)).astype(dtype, copy=False)


def powers(M: sp.csr_array, sketch: Array, power: int) -> Array:
    """``M^q Omega``."""
    Y = sketch
    for _ in range(power):
        Y = M @ Y
    return Y


def blocked_qr(Y: Array, block: int, clock: Clock) -> Array:
    """Algorithm 1, lines 3 and 4, the QR factorisations and the projections timed apart."""
    C = np.empty_like(Y)
    for start in range(0, Y.shape[1], block):
        stop = min(start + block, Y.shape[1])
        with clock("qr"):
            Q = np.linalg.qr(Y[:, start:stop])[0]
        with clock("projections"):
            Q -= C[:, :start] @ (C[:, :start].T @ Q)
        with clock("qr"):
            C[:, start:stop] = np.linalg.qr(Q)[0]
    return C


def rbqr(M: sp.csr_array, sketch: Array, *, block: int, power: int, clock: Clock | None = None) -> Basis:
    """Algorithm 1.

    Examples
    --------
    >>> M = sp.csr_array(np.diag([3.0, 2.0, 0.0]))
    >>> found = rbqr(M, gaussian(3, 2, seed=0), block=1, power=1)
    >>> np.abs(found.C @ found.R.T).round(6).tolist()
    [[3.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 0.0]]
    """
    clock = clock or Clock()
    with clock("products"):
        Y = powers(M, sketch, power)
    C = blocked_qr(Y, block, clock)
    with clock("target"):
        return Basis(C, M.T @ C)


def unblocked(M: sp.csr_array, sketch: Array, *, power: int, clock: Clock | None = None) -> Basis:
    """The same with one QR factorisation of all columns."""
    clock = clock or Clock()
    with clock("products"):
        Y = powers(M, sketch, power)
    with clock("qr"):
        C = np.linalg.qr(Y)[0]
    with clock("target"):
        return Basis(C, M.T @ C)


def deflated(M: sp.csr_array, sketch: Array, *, block: int, power: int) -> Basis:
    """Algorithm 1 with the line that it leaves out: each block is found in the residual ``M - C R^T`` of those before.

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


def two_sided(M: sp.csr_array, sketch: Array, *, power: int) -> Basis:
    """``(M M^T)^(q-1) M Omega``, orthonormalised between products: the power scheme of Halko, Martinsson and Tropp."""
    Y = M @ sketch
    for _ in range(power - 1):
        Y = M @ np.linalg.qr(M.T @ np.linalg.qr(Y)[0])[0]
    C = np.linalg.qr(Y)[0]
    return Basis(C, M.T @ C)


def transition(A: sp.csr_array) -> sp.csr_array:
    """T of Eq. 7: the rows of A + I divided by their sums."""
    loops = sp.csr_array(A + sp.eye_array(A.shape[0], dtype=A.dtype))
    inverse = sp.diags_array(1 / np.asarray(loops.sum(axis=1)).ravel())
    T: sp.csr_array = sp.csr_array(inverse @ loops).astype(A.dtype)
    return T


def filtered(A: sp.csr_array, R: Array, clock: Clock | None = None) -> Array:
    """The end of REFINE, from R = M^T C to vectors: the filter of Eq. 7, the axes, unit rows."""
    clock = clock or Clock()
    with clock("filter"):
        T, power, F = transition(A), reference.unit_rows(R), np.zeros_like(R)
        for coefficient in reference.TAYLOR[1:]:
            power = T @ power
            F += coefficient * power
    with clock("axes"):
        U, S, _ = np.linalg.svd(F, full_matrices=False)
        return reference.unit_rows(U * np.sqrt(S))


def staged_refine(
    A: sp.csr_array, *, dim: int, block: int, power: int, seed: int, dtype: type[np.floating[Any]] = np.float64
) -> tuple[Array, Clock]:
    """REFINE as the paper's formulas count it; the vectors, and the seconds of its stages."""
    clock = Clock()
    A = A.astype(dtype)
    with clock("proximity"):
        M = reference.proximity(A, 1.0, 0.75, False)
    with clock("random"):
        sketch = gaussian(A.shape[0], dim, seed=seed, dtype=dtype)
    found = rbqr(M, sketch, block=block, power=power, clock=clock)
    return filtered(A, found.R, clock), clock
