"""`measure_drift` and ``graphrefine drift``: rotations, lost and new nodes, neighbors kept, bad input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrefine import Embedding, measure_drift
from strategies import PATIENT


def normal(n: int, k: int, seed: int = 0) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).standard_normal((n, k)).astype(np.float32)


@PATIENT
@given(st.integers(11, 40), st.integers(0, 99))
def test_values_are_those_of_the_definition(n: int, seed: int) -> None:
    old = Embedding(range(n), normal(n, 5, seed))
    new = Embedding(range(3, n + 3), normal(n, 5, seed + 1))
    table = measure_drift(old, new, k=3)
    turned = new.align_to(old)
    for row in table:
        if row.change == "shared":
            before, after = (each[row.node] / np.linalg.norm(each[row.node]) for each in (old, turned))
            assert row.moved == pytest.approx(np.linalg.norm(before - after), abs=1e-5)
    assert [row.node for row in table if row.change == "lost"] == [0, 1, 2]
    assert [row.node for row in table if row.change == "new"] == [n, n + 1, n + 2]
    moved = table["moved"][: n - 3]
    assert (np.diff(moved) <= 0).all() and table.stats["moved"]["mean"] == pytest.approx(moved.mean(), rel=1e-5)
    assert table.stats["moved"]["mean"] == pytest.approx(turned.recipe["aligned"]["after"], rel=1e-5)


def test_a_sample_and_zero_vectors() -> None:
    old, new = Embedding(range(50), normal(50, 4)), Embedding(range(50), normal(50, 4, 1))
    whole, some = measure_drift(old, new, sample=None), measure_drift(old, new, sample=20)
    there = ~np.isnan(some["kept"])
    assert whole.stats["sampled"] == 50 and there.sum() == some.stats["sampled"] == 20
    np.testing.assert_array_equal(some["kept"][there], whole["kept"][there])
    vectors = normal(10, 3)
    vectors[4] = 0
    table = measure_drift(Embedding(range(10), vectors), Embedding(range(10), vectors), k=3)
    (row,) = [row for row in table if row.node == 4]
    assert np.isnan(row.moved) and np.isnan(row.kept) and row.change == "shared"
