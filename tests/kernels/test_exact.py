"""Exact algebra: right to the last places, with the bits of an oracle, for any number of threads.

That every instruction set gives the same bits is tested in `test_variants`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from graphrefine.kernels import exact
from oracles import exact as exact_oracle

Reals = NDArray[np.float64]
Long = np.longdouble
WIDER = np.finfo(Long).nmant >= 60  # elsewhere there are no wider numbers to compare with

SPECIAL = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, -1.0, 5e-324, 1e-310, 1.0, 2.0, -2.0, 1.7e308, -0.5, -1e-320])


def ulps(result: Reals, truth: Any) -> float:
    """The largest distance, in units of the last place of the truth."""
    places = np.spacing(np.abs(np.asarray(truth, np.float64))).astype(Long)
    return float(np.max(np.abs((result.astype(Long) - truth) / places), initial=0.0))


def numbers(low: float, high: float, count: int = 20_011, seed: int = 0) -> Reals:
    return np.random.default_rng(seed).uniform(low, high, count)


FUNCTIONS: list[tuple[str, Reals, float]] = [
    ("log", np.exp(numbers(-740, 709)), 1),
    ("log", numbers(0.5, 2), 1),
    ("log", 1 + numbers(-1e-3, 1e-3), 1),
    ("log1p", numbers(-0.9999, 5), 1),
    ("log1p", np.exp(numbers(-740, 100)), 1),
    ("log1p", -np.exp(numbers(-700, -1)), 1),
    ("exp", numbers(-708, 709), 1),
    ("exp", numbers(-1, 1), 1),
    ("expm1", numbers(-600, 709), 2),
    ("expm1", numbers(-1, 1), 2),
    ("expm1", np.exp(numbers(-700, -3)), 2),
]


@pytest.mark.parametrize(("name", "x", "most"), FUNCTIONS)
def test_functions_are_right_to_the_last_place_with_the_bits_of_the_oracle(name: str, x: Reals, most: float) -> None:
    result = getattr(exact, name)(x)
    assert np.array_equal(result, getattr(exact_oracle, name)(x))
    if WIDER:
        assert ulps(result, getattr(np, name)(x.astype(Long))) <= most


@pytest.mark.parametrize("p", [0.75, -0.4, 0.25, 1 / 3, -1.7, 3.0, -15.9, 0.001])
def test_powers_are_right_to_the_last_place_with_the_bits_of_the_oracle(p: float) -> None:
    x = np.exp(numbers(-40, 40))
    result = exact.power(x, p)
    assert np.array_equal(result, exact_oracle.power(x, p))
    if WIDER:
        assert ulps(result, np.power(x.astype(Long), Long(p))) <= 1


@pytest.mark.parametrize("name", ["log", "log1p", "exp", "expm1"])
def test_special_numbers_go_where_numpy_sends_them(name: str) -> None:
    with np.errstate(all="ignore"):
        truth = getattr(np, name)(SPECIAL)
    result = getattr(exact, name)(SPECIAL)
    assert np.allclose(result, truth, rtol=1e-15, atol=0, equal_nan=True)
    assert np.array_equal(np.signbit(result[:2]), np.signbit(truth[:2]))


@pytest.mark.parametrize("p", [0.0, 1.0, 2.0, -1.0, 0.5, -0.5, 0.3, -0.3, 3.0, -3.0, 1e300, -1e300, 1e-300])
def test_powers_of_special_numbers_are_numpys(p: float) -> None:
    with np.errstate(all="ignore"):
        truth = np.sqrt(SPECIAL) if p == 0.5 else np.power(SPECIAL, p)  # older NumPy has another root of -inf
    assert np.allclose(exact.power(SPECIAL, p), truth, rtol=1e-15, atol=0, equal_nan=True)


def test_float32_logarithms_are_right_to_the_last_place() -> None:
    x = np.concatenate([np.exp(numbers(-2, 88)), numbers(1, 2), [np.inf]]).astype(np.float32)
    truth = np.log(np.maximum(x, 1.0).astype(np.float64))
    result = x.copy()
    exact.log_at_least(result[:-1], 1.0, threads=2)
    places = np.spacing(truth[:-1].astype(np.float32))
    assert np.all(np.abs(result[:-1] - truth[:-1]) <= 4 * places)  # NumPy's own have up to four
    assert np.array_equal(result[:-1], exact_oracle.log_at_least(x[:-1], 1.0))
    whole = np.stack([x, x])[:, ::2]  # not in one piece
    exact.log_at_least(whole, 1.0)
    assert whole[0].tolist() == whole[1].tolist() == np.append(result[:-1], np.inf)[::2].tolist()


@given(
    a=arrays(np.float64, st.tuples(st.integers(0, 9), st.integers(0, 9)), elements=st.floats(-9, 9)),
    columns=st.integers(1, 40),
)
def test_products_are_numpys(a: Reals, columns: int) -> None:
    b = np.random.default_rng(columns).standard_normal((columns, a.shape[1])).T
    assert np.allclose(exact.matmul(a, b), a @ b, atol=1e-12)
    assert np.allclose(exact.matmul(a, b[:, 0]), a @ b[:, 0], atol=1e-12)
    assert np.allclose(exact.matmul(b[:, 0], b), b[:, 0] @ b, atol=1e-12)
    assert exact.matmul(b[:, 0], b[:, 0]) == pytest.approx(b[:, 0] @ b[:, 0])
    single = a.astype(np.float32)
    assert np.allclose(exact.matmul_tall(single, b.astype(np.float32)), single @ b, atol=1e-4)
    assert np.allclose(exact.gram(single), single.T.astype(np.float64) @ single, atol=1e-4)
    assert np.allclose(exact.row_dots(a, 2 * a), 2 * np.square(a).sum(axis=1), atol=1e-12)
    assert np.allclose(exact.squares_of_rows(single), np.square(single.astype(np.float64)).sum(axis=1), atol=1e-12)


def test_what_has_no_answer_is_refused() -> None:
    with pytest.raises(ValueError, match=r"fit|mismatch"):
        exact.matmul(np.ones((2, 3)), np.ones((2, 3)))
    with pytest.raises(np.linalg.LinAlgError, match="positive definite"):
        exact.cholesky(np.array([[1.0, 2.0], [2.0, 1.0]]))
    with pytest.raises(np.linalg.LinAlgError):
        exact.eigh(np.array([[1.0, np.nan], [np.nan, 1.0]]))


@given(k=st.integers(1, 40), columns=st.integers(1, 9), seed=st.integers(0, 99))
def test_factors_solve(k: int, columns: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    a = rng.standard_normal((k, k + 5))
    a, b = a @ a.T, rng.standard_normal((k, columns))
    lower = exact.cholesky(a)
    assert np.allclose(lower @ lower.T, a) and not np.triu(lower, 1).any()
    assert np.allclose(lower @ exact.solve_lower(lower, b), b)
    assert np.allclose(a @ exact.solve(a, b), b, atol=1e-6)
    assert np.allclose(exact.solve(a, b[:, 0]), exact.solve(a, b)[:, 0])


@given(rows=st.integers(1, 60), columns=st.integers(1, 60), rank=st.integers(1, 60), seed=st.integers(0, 99))
def test_columns_of_q_are_orthonormal_and_span(rows: int, columns: int, rank: int, seed: int) -> None:
    rng, columns = np.random.default_rng(seed), min(rows, columns)
    a = rng.standard_normal((rows, min(rank, columns))) @ rng.standard_normal((min(rank, columns), columns))
    a *= 10.0 ** rng.uniform(-12, 12, columns)
    Q = exact.qr(a)
    assert Q.shape == a.shape
    assert np.allclose(Q.T @ Q, np.eye(columns), atol=1e-13)
    unit = a / np.linalg.norm(a, axis=0)
    assert np.allclose(Q @ (Q.T @ unit), unit, atol=1e-12)


def make_symmetric(kind: int, k: int, seed: int) -> Reals:
    rng = np.random.default_rng(seed)
    a = rng.standard_normal((k, k))
    if kind == 1:  # of low rank
        a = a[:, : k // 3 + 1] @ a[:, : k // 3 + 1].T
    elif kind in (2, 3):  # graded, either way
        size = 10.0 ** (np.linspace(0, -150, k) if kind == 2 else np.linspace(-150, 0, k))
        a *= np.sqrt(np.outer(size, size))
    elif kind == 4:  # mostly zeros, many equal values
        a = rng.integers(-1, 2, (k, k)).astype(np.float64) * (rng.random((k, k)) < 0.1)
    elif kind == 5:
        a = np.ones((k, k))
    elif kind == 6:
        a *= 1e300
    elif kind == 7:
        a *= 1e-305
    symmetric: Reals = a / 2 + a.T / 2
    return symmetric


@given(kind=st.integers(0, 7), k=st.integers(1, 60), seed=st.integers(0, 99))
def test_eigenpairs_are_right(kind: int, k: int, seed: int) -> None:
    a = make_symmetric(kind, k, seed)
    values, vectors = exact.eigh(a)
    size = max(float(np.abs(values).max()), 1e-300)
    assert np.all(np.diff(values) >= 0)
    assert np.allclose(vectors.T @ vectors, np.eye(k), atol=1e-13)
    assert np.allclose((a / size) @ vectors, vectors * (values / size), atol=1e-13)
    assert np.allclose(values / size, np.linalg.eigvalsh(a / size), atol=1e-13)


@pytest.mark.parametrize("k", [300, 517])
@pytest.mark.parametrize("rank", [40, 280])
def test_large_matrices_of_low_rank_converge(k: int, rank: int) -> None:
    a = np.random.default_rng(k).standard_normal((rank, k))
    values, vectors = exact.eigh(a.T @ a)
    assert np.count_nonzero(values > 1e-9 * values[-1]) == rank
    assert np.allclose(vectors.T @ vectors, np.eye(k), atol=1e-12)


def draw(*shape: int, dtype: str = "f8") -> NDArray[Any]:
    return np.random.default_rng(shape[0]).uniform(-1, 1, shape).astype(dtype)


def dots(module: Any, x: NDArray[Any]) -> Reals:
    return np.array([module.dot(x[:n], x[-n:]) for n in range(1, len(x))])


CASES: dict[str, Callable[[Any], Any]] = {
    "exp of denormals": lambda module: module.exp(numbers(-745, -700)),
    "power of extremes": lambda module: [module.power(np.exp(numbers(-200, 200)), p) for p in (0.75, -0.4, 3.0)],
    "matmul": lambda module: module.matmul(draw(23, 301), draw(301, 41)),
    "matmul_tall": lambda module: module.matmul_tall(draw(23, 301, dtype="f4"), draw(301, 41, dtype="f4")),
    "gram": lambda module: module.gram(draw(301, 41, dtype="f4")),
    "dot": lambda module: dots(module, draw(70)),
    "dot of float32": lambda module: dots(module, draw(70, dtype="f4")),
    "cholesky": lambda module: module.cholesky(exact_oracle.matmul(draw(29, 40), draw(29, 40).T)),
}


@pytest.mark.parametrize("name", CASES)
def test_kernels_have_the_bits_of_the_oracle(name: str) -> None:
    assert np.array_equal(CASES[name](exact), CASES[name](exact_oracle))


@pytest.mark.parametrize("threads", [2, 5])
def test_threads_change_no_bit(threads: int) -> None:
    a = np.random.default_rng(0).standard_normal((1000, 70)).astype(np.float32)
    assert exact.gram(a, threads=threads).tobytes() == exact.gram(a).tobytes()
    assert exact.matmul_tall(a, a[:70], threads=threads).tobytes() == exact.matmul_tall(a, a[:70]).tobytes()
    assert exact.row_dots(a, a, threads=threads).tobytes() == exact.row_dots(a, a).tobytes()
    assert exact.exp(a, threads=threads).tobytes() == exact.exp(a).tobytes()
