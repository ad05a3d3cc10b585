"""The twin of ``native/exact*.cpp``: elementary functions, products and factors by NumPy; the same but for rounding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.system.threads import one_blas_thread

Reals = NDArray[np.float64]
Floats = NDArray[np.float32]

FUNCTIONS: dict[str, Callable[[Reals, float], Any]] = {
    "log": lambda x, _: np.log(x),
    "log1p": lambda x, _: np.log1p(x),
    "exp": lambda x, _: np.exp(x),
    "expm1": lambda x, _: np.expm1(x),
    "power": lambda x, p: np.sqrt(x) if p == 0.5 else np.power(x, p),  # as newer NumPy has it, of -inf too
}


def evaluate(name: str, x: Reals, out: Reals, *, exponent: float, threads: int) -> None:
    """``out[i] = function(x[i])``; the exponent is that of "power"."""
    with np.errstate(all="ignore"):
        out[:] = FUNCTIONS[name](x, exponent)


def log_at_least(x: Floats, least: float, *, threads: int) -> None:
    """``x = log(max(x, least))`` in place."""
    np.log(np.maximum(x, np.float32(least), out=x), out=x)


@one_blas_thread()
def multiply(a: Reals, b: Reals, out: Reals, *, threads: int) -> None:
    """``out = a @ b``."""
    np.matmul(a, b, out=out)


@one_blas_thread()
def multiply_tall(a: Floats, b: Floats, out: Floats, *, threads: int) -> None:
    """``out = a @ b``."""
    np.matmul(a, b, out=out)


@one_blas_thread()
def gram_matrix(x: Floats, out: Reals, *, threads: int) -> None:
    """``out = x^T x``."""
    out[:] = x.T @ x


def dot_rows(x: NDArray[Any], y: NDArray[Any], out: Reals, *, threads: int) -> None:
    """``out[i] = sum_c x[i, c] y[i, c]``; a y of one row is that of all."""
    np.einsum("ij,ij->i", x, np.broadcast_to(y, x.shape), out=out, dtype=np.float64)


@one_blas_thread()
def factor_cholesky(a: Reals) -> bool:
    """``a = L`` in its place; whether there is one."""
    try:
        a[:] = np.linalg.cholesky(a.T)
    except np.linalg.LinAlgError:
        return False
    return True


@one_blas_thread()
def solve_triangular(lower: Reals, b: Reals, *, transposed: bool) -> None:
    """``b = L^-1 b``, or ``L^-T b``, in its place."""
    b[:] = np.linalg.solve(lower.T if transposed else lower, b)


@one_blas_thread()
def reflect(turned: Reals) -> None:
    """Rows of ``turned`` = those of Q^T, for ``turned.T = Q R``."""
    turned[:] = np.linalg.qr(turned.T)[0].T


@one_blas_thread()
def find_eigenpairs(a: Reals, values: Reals, vectors: Reals) -> bool:
    """Eigenvalues, ascending, and eigenvectors; whether they were found."""
    try:
        values[:], vectors[:] = np.linalg.eigh(a)
    except np.linalg.LinAlgError:
        return False
    return True
