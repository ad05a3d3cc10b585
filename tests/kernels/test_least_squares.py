"""Rows of weighted least squares: the kernel, the dense equations, and the bits of an oracle in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from graphrefine.kernels import native
from oracles import nearest as nearest_oracle
from oracles.fused import Floats, dots, fma
from strategies import PATIENT

Doubles = NDArray[np.float64]


Problem = dict[str, Any]
"""Arguments of the kernel, but for the solution."""


def problem(counts: list[int], columns: int = 7, *, seed: int = 0, steps: int = 3, hub: int = 2048) -> Problem:
    """Rows of so many entries each, of random others; padded to 32 columns or more."""
    rng = np.random.default_rng(seed)
    others = np.zeros((50, -(-columns // 32) * 32), np.float32)
    others[:, :columns] = rng.standard_normal((50, columns)) / np.sqrt(columns)
    indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    indices = rng.integers(0, 50, indptr[-1]).astype(np.int32)
    weights = rng.uniform(0.1, 3, indptr[-1]).astype(np.float32)
    diagonal = np.ones((2, others.shape[1]))
    diagonal[:, :columns] = rng.uniform(0.01, 0.5, (2, columns))
    terms = {"missing": rng.uniform(0.5, 2, len(counts)), "totals": rng.uniform(1, 4, len(counts))}
    rows = {"indptr": indptr, "indices": indices, "weights": weights, "others": others}
    return {**rows, **terms, "diagonal": diagonal, "steps": steps, "hub": hub, "threads": 1}


def solve(each: Problem, start: Floats | None = None, *, threads: int = 1) -> Floats:
    shape = len(each["missing"]), each["others"].shape[1]
    solution = np.zeros(shape, np.float32) if start is None else start.copy()
    native.solve_rows(**{**each, "solution": solution, "threads": threads})
    return solution


def parts(each: Problem, row: int) -> tuple[Floats, Floats, Floats]:
    """The others of a row's entries, their weights, and its diagonal."""
    entries = slice(*each["indptr"][row : row + 2].tolist())
    diagonal = each["missing"][row] * each["diagonal"][0] + each["totals"][row] * each["diagonal"][1]
    return each["others"][each["indices"][entries]], each["weights"][entries], diagonal.astype(np.float32)


def dense(each: Problem) -> Doubles:
    out = np.zeros((len(each["missing"]), each["others"].shape[1]))
    for row in range(len(out)):
        near, weights, diagonal = (part.astype(np.float64) for part in parts(each, row))
        if len(near):
            out[row] = np.linalg.solve((near.T * weights) @ near + np.diag(diagonal), weights @ near)
    return out


def oracle(each: Problem, row: int, v: Floats) -> Floats:
    """Conjugate gradients of one row, each operation rounded as the kernel rounds it."""
    near, weights, diagonal = parts(each, row)

    def add(factors: Floats, out: Floats) -> Floats:
        for factor, z in zip(factors, near, strict=True):
            out = fma(factor, z, out)
        return out

    rest = add(weights * (np.float32(1) - dots(v, near)), -(diagonal * v))
    p, size = rest, dots(rest, rest[None])[0]
    for _ in range(each["steps"] if len(near) else 0):
        product = add(weights * dots(p, near), diagonal * p)
        ahead = size / dots(p, product[None])[0]
        v, rest = fma(ahead, p, v), fma(-ahead, product, rest)
        before, size = size, dots(rest, rest[None])[0]
        p = fma(size / before, p, rest)
    return v if len(near) else np.zeros_like(v)


COUNTS = st.lists(st.integers(0, 40), min_size=1, max_size=12)


@pytest.mark.parametrize(("hub", "steps"), [(2048, 14), (0, 0)])
def test_rows_solve_the_dense_equations(hub: int, steps: int) -> None:
    """By as many steps as there are unknown numbers, twice; and directly."""
    each = problem([0, 1, 3, 17, 300], hub=hub, steps=steps)
    assert solve(each) == pytest.approx(dense(each), rel=1e-3, abs=1e-4)


@PATIENT
@given(counts=COUNTS, columns=st.sampled_from([5, 32, 50, 128]), seed=st.integers(0, 99))
def test_steps_have_the_bits_of_the_oracle(counts: list[int], columns: int, seed: int) -> None:
    each = problem(counts, columns, seed=seed)
    start = np.zeros((len(counts), each["others"].shape[1]), np.float32)
    start[:, :columns] = np.random.default_rng(seed).standard_normal((len(counts), columns))
    ours = solve(each, start)
    assert np.array_equal(ours, [oracle(each, row, start[row]) for row in range(len(counts))])


@pytest.mark.parametrize("hub", [0, 25])
def test_threads_change_nothing(hub: int) -> None:
    each = problem([0, 50, 3, 11] * 40, 40, hub=hub)
    one = solve(each)
    assert one.any() and all(np.array_equal(one, solve(each, threads=n)) for n in (2, 5))


@PATIENT
@given(seed=st.integers(0, 99), rows=st.integers(1, 5), columns=st.integers(1, 70), count=st.integers(0, 9))
def test_ranks_are_those_of_the_oracle(seed: int, rows: int, columns: int, count: int) -> None:
    """Small whole numbers, many of them equal, and some that count for nothing."""
    rng = np.random.default_rng(seed)
    scores = rng.integers(-2, 3, (rows, columns)).astype(np.float32)
    scores[rng.random(scores.shape) < 0.2] = -np.inf
    which, values = rng.integers(0, rows, count), rng.integers(-2, 3, count).astype(np.float32)
    ours, theirs = np.empty((2, count))
    native.rank_scores(scores, which, values, ours)
    nearest_oracle.rank_scores(scores, which, values, theirs)
    assert ours.tolist() == theirs.tolist()
