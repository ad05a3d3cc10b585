"""Exact algebra: elementary functions, products and factors that have the same bits on every processor.

The compiled kernels use + - * / and square roots alone, each rounded as IEEE 754 says, with fixed polynomials and
orders of sums (``native/exact_*.cpp`` says which). NumPy's functions and LAPACK differ by processor and build.
"""

from __future__ import annotations

from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphrefine.kernels import native

Reals = NDArray[np.float64]
Floats = NDArray[np.float32]

# Least entry of a factor of unit columns for which two passes by Cholesky leave nothing but rounding: a pass loses the
# square of the condition, and 1e-5 squared is still far above the 1e-16 of float64. Else reflectors, which are slower,
# do it.
WELL = 1e-5

__all__ = [
    "cholesky",
    "dot",
    "eigh",
    "exp",
    "expm1",
    "gram",
    "log",
    "log1p",
    "log_at_least",
    "matmul",
    "matmul_tall",
    "power",
    "power_where",
    "qr",
    "row_dots",
    "solve",
    "solve_lower",
    "squares_of_rows",
]


@overload
def log(x: float, *, threads: int = 1) -> float: ...
@overload
def log(x: NDArray[Any], *, threads: int = 1) -> Reals: ...
def log(x: float | NDArray[Any], *, threads: int = 1) -> float | Reals:
    """Return the natural logarithm: -inf of 0, NaN of what is negative.

    Examples
    --------
    >>> log(np.array([1.0, 0.0])).tolist(), log(2.0)
    ([0.0, -inf], 0.6931471805599453)
    """
    return _evaluate("log", x, threads=threads)


@overload
def log1p(x: float, *, threads: int = 1) -> float: ...
@overload
def log1p(x: NDArray[Any], *, threads: int = 1) -> Reals: ...
def log1p(x: float | NDArray[Any], *, threads: int = 1) -> float | Reals:
    """Return ``log(1 + x)``, also next to 0.

    Examples
    --------
    >>> log1p(1e-20), log1p(1.0)
    (1e-20, 0.6931471805599453)
    """
    return _evaluate("log1p", x, threads=threads)


@overload
def exp(x: float, *, threads: int = 1) -> float: ...
@overload
def exp(x: NDArray[Any], *, threads: int = 1) -> Reals: ...
def exp(x: float | NDArray[Any], *, threads: int = 1) -> float | Reals:
    """Return the exponential function.

    Examples
    --------
    >>> round(exp(1.0), 14), exp(np.array([0.0, -1000.0])).tolist()
    (2.71828182845905, [1.0, 0.0])
    """
    return _evaluate("exp", x, threads=threads)


@overload
def expm1(x: float, *, threads: int = 1) -> float: ...
@overload
def expm1(x: NDArray[Any], *, threads: int = 1) -> Reals: ...
def expm1(x: float | NDArray[Any], *, threads: int = 1) -> float | Reals:
    """Return ``exp(x) - 1``, also next to 0.

    Examples
    --------
    >>> expm1(1e-20), expm1(-50.0)
    (1e-20, -1.0)
    """
    return _evaluate("expm1", x, threads=threads)


@overload
def power(x: float, p: float, *, threads: int = 1) -> float: ...
@overload
def power(x: NDArray[Any], p: float, *, threads: int = 1) -> Reals: ...
def power(x: float | NDArray[Any], p: float, *, threads: int = 1) -> float | Reals:
    """Return ``x ** p`` for one finite p; p = 0, 1, 2, -1, 1/2 and -1/2 by products, quotients and roots.

    Examples
    --------
    >>> power(np.array([0.0, 1.0, 8.0]), 1 / 3).tolist(), power(4.0, 0.5)
    ([0.0, 1.0, 2.0], 2.0)
    """
    return _evaluate("power", x, exponent=float(p), threads=threads)


def power_where(where: NDArray[np.bool_], x: NDArray[Any], p: float) -> Reals:
    """Return ``x ** p`` where a mask is set, else 0.

    Examples
    --------
    >>> power_where(np.array([True, False]), np.array([4.0, 0.0]), -0.5).tolist()
    [0.5, 0.0]
    """
    return np.where(where, power(np.where(where, x, 1.0), p), 0.0)


def log_at_least(x: Floats, least: float, *, threads: int = 1) -> None:
    """Overwrite float32 numbers with ``log(max(x, least))``, in float32; ``least`` is positive.

    Examples
    --------
    >>> x = np.array([0.1, 1.0, 2.0], np.float32)
    >>> log_at_least(x, 0.5)
    >>> x.astype(float).round(3).tolist()
    [-0.693, 0.0, 0.693]
    """
    whole = np.ascontiguousarray(x)
    native.log_at_least(whole.reshape(-1), least, threads=threads)
    if not np.shares_memory(whole, x):
        x[...] = whole


def matmul(a: ArrayLike, b: ArrayLike, *, threads: int = 1) -> Any:
    """Return ``a @ b`` in float64, of matrices and vectors.

    An entry is summed over the inner index, ascending; each product is rounded, then added.

    Examples
    --------
    >>> matmul(np.array([[1, 2], [3, 4]]), np.array([1, 1])).tolist()
    [3.0, 7.0]
    """
    left, right = _reals(a), _reals(b)
    rows, columns = left.ndim == 2, right.ndim == 2
    matrix = left if rows else left[None, :]
    other = right if columns else right[:, None]
    out = np.empty((len(matrix), other.shape[1]))
    native.multiply(matrix, other, out, threads=threads)
    shape = (*out.shape[:1][: int(rows)], *out.shape[1:][: int(columns)])
    return out.reshape(shape) if shape else float(out[0, 0])


def matmul_tall(x: NDArray[Any], y: NDArray[Any], *, threads: int = 1) -> Floats:
    """Return ``x @ y`` in float32 of a tall x (n, p) and a small y (p, q), summed over p, ascending, by fma.

    Examples
    --------
    >>> matmul_tall(np.ones((3, 2), np.float32), np.array([[1], [2]], np.float32)).tolist()
    [[3.0], [3.0], [3.0]]
    """
    out = np.empty((len(x), y.shape[1]), np.float32)
    native.multiply_tall(_floats(x), _floats(y), out, threads=threads)
    return out


def gram(x: NDArray[Any], *, threads: int = 1) -> Reals:
    """Return ``x^T x`` (k, k) of a float32 x (n, k): sums of 128 rows in float32 by fma, these added in float64.

    Examples
    --------
    >>> gram(np.array([[1, 2], [0, 3]], np.float32), threads=2).tolist()
    [[1.0, 2.0], [2.0, 13.0]]
    """
    out = np.empty((x.shape[1], x.shape[1]))
    native.gram_matrix(_floats(x), out, threads=threads)
    return out


def row_dots(x: NDArray[Any], y: NDArray[Any], *, threads: int = 1) -> Reals:
    """Return the sums of ``x[i] * y[i]`` in float64: 16 sums of every 16th column, folded in halves.

    A vector y is the row of all.

    Examples
    --------
    >>> row_dots(np.array([[1, 2], [3, 4]], np.float32), np.ones((2, 2), np.float32)).tolist()
    [3.0, 7.0]
    """
    # 16 partial sums on every processor, as many as its widest vector has: with as many as the vector at hand has, the
    # order of additions, and so the last bits, would be those of the processor.
    y = y if y.ndim == 2 else y[None, :]
    convert: Any = _floats if x.dtype == y.dtype == np.float32 else _reals
    out = np.empty(len(x))
    native.dot_rows(convert(x), convert(y), out, threads=threads)
    return out


def squares_of_rows(x: NDArray[Any], *, threads: int = 1) -> Reals:
    """Return the squared lengths of rows, in float64; see `row_dots`.

    Examples
    --------
    >>> squares_of_rows(np.array([[3, 4], [0, 0]], np.float32)).tolist()
    [25.0, 0.0]
    """
    return row_dots(x, x, threads=threads)


def dot(a: NDArray[Any], b: NDArray[Any]) -> float:
    """Return the sum of ``a * b`` of two vectors, in float64; see `row_dots`.

    Examples
    --------
    >>> dot(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    11.0
    """
    return float(row_dots(a[None, :], b[None, :])[0])


def cholesky(a: NDArray[Any]) -> Reals:
    """Return the lower triangular L with ``L L^T = a``; the upper triangle of ``a`` counts.

    Raises
    ------
    numpy.linalg.LinAlgError
        Where a pivot is not positive.

    Examples
    --------
    >>> cholesky(np.array([[4.0, 2.0], [2.0, 5.0]])).tolist()
    [[2.0, 0.0], [1.0, 2.0]]
    """
    factor = np.array(a, np.float64, order="C")
    if not native.factor_cholesky(factor):
        raise np.linalg.LinAlgError("the matrix is not positive definite")
    return factor


def solve_lower(lower: NDArray[Any], b: NDArray[Any]) -> Reals:
    """Return the X with ``lower @ X = b``, for a lower triangular matrix.

    Examples
    --------
    >>> solve_lower(np.array([[2.0, 0.0], [1.0, 2.0]]), np.array([2.0, 5.0])).tolist()
    [1.0, 2.0]
    """
    return _solve_triangular(_reals(lower), b, transposed=False)


def solve(a: NDArray[Any], b: NDArray[Any]) -> Reals:
    """Return the X with ``a @ X = b``, for a symmetric positive definite matrix.

    Examples
    --------
    >>> solve(np.array([[4.0, 2.0], [2.0, 5.0]]), np.array([8.0, 12.0])).tolist()
    [1.0, 2.0]
    """
    lower = cholesky(a)
    return _solve_triangular(lower, _solve_triangular(lower, b, transposed=False), transposed=True)


def qr(a: NDArray[Any]) -> Reals:
    """Return orthonormal columns Q (m, p) of the span of ``a``, m at least p; where its rank is less, of a larger span.

    Examples
    --------
    >>> np.abs(qr(np.array([[3.0, 0.0], [4.0, 0.0], [0.0, 2.0]]))).round(9).tolist()
    [[0.6, 0.0], [0.8, 0.0], [0.0, 1.0]]
    """
    columns = np.ascontiguousarray(np.asarray(a, np.float64).T)  # (p, m)
    first = _free(columns)
    if first is not None:
        second = _free(first)
        if second is not None:
            return np.ascontiguousarray(second.T)
    native.reflect(columns)
    return np.ascontiguousarray(columns.T)


def eigh(a: NDArray[Any]) -> tuple[Reals, Reals]:
    """Return eigenvalues, ascending, and eigenvectors (columns) of a symmetric matrix; its lower triangle counts.

    Raises
    ------
    numpy.linalg.LinAlgError
        Where an entry is not finite, or an eigenvalue is not found.

    Examples
    --------
    >>> values, vectors = eigh(np.array([[2.0, 1.0], [1.0, 2.0]]))
    >>> values.round(12).tolist(), np.abs(vectors).round(3).tolist()
    ([1.0, 3.0], [[0.707, 0.707], [0.707, 0.707]])
    """
    matrix = _reals(a)
    values, vectors = np.empty(len(matrix)), np.empty(matrix.shape)
    if not np.isfinite(matrix).all() or not native.find_eigenpairs(matrix, values, vectors):
        raise np.linalg.LinAlgError("eigenvalues did not converge")
    return values, vectors


def _free(columns: Reals) -> Reals | None:
    """Make rows (p, m) orthonormal by one pass of Cholesky; None where they are too close to each other."""
    lengths = np.sqrt(squares_of_rows(columns))
    if not np.all(lengths > 0) or not np.isfinite(lengths).all():
        return None
    unit = columns / lengths[:, None]
    try:
        lower = cholesky(matmul(unit, unit.T))
    except np.linalg.LinAlgError:
        return None
    return solve_lower(lower, unit) if np.diag(lower).min() > WELL else None


def _evaluate(name: str, x: float | NDArray[Any], *, exponent: float = 0.0, threads: int) -> float | Reals:
    numbers = _reals(x)
    out = np.empty(numbers.shape)
    native.evaluate(name, numbers.reshape(-1), out.reshape(-1), exponent=exponent, threads=threads)
    return out if isinstance(x, np.ndarray) and x.ndim else float(out)


def _solve_triangular(lower: Reals, b: NDArray[Any], *, transposed: bool) -> Reals:
    out = np.array(b, np.float64, order="C")
    native.solve_triangular(lower, out.reshape(len(out), -1), transposed=transposed)
    return out


def _reals(x: ArrayLike) -> Reals:
    return np.ascontiguousarray(x, np.float64) if np.ndim(x) else np.asarray(x, np.float64)


def _floats(x: ArrayLike) -> Floats:
    return np.ascontiguousarray(x, np.float32)
