"""`measure_drift` and ``graphrefine drift``: rotations, lost and new nodes, neighbors kept, bad input."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli_runs import refuses, works
from graphrefine import Embedding, measure_drift
from graphrefine.errors import InputError
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


def test_a_sample_and_all() -> None:
    old, new = Embedding(range(50), normal(50, 4)), Embedding(range(50), normal(50, 4, 1))
    whole, some = measure_drift(old, new, sample=None), measure_drift(old, new, sample=20)
    there = ~np.isnan(some["kept"])
    assert whole.stats["sampled"] == 50 and there.sum() == some.stats["sampled"] == 20
    np.testing.assert_array_equal(some["kept"][there], whole["kept"][there])


def test_zero_vectors_have_not_moved_nor_neighbors() -> None:
    vectors = normal(10, 3)
    vectors[4] = 0
    table = measure_drift(Embedding(range(10), vectors), Embedding(range(10), vectors), k=3)
    (row,) = [row for row in table if row.node == 4]
    assert np.isnan(row.moved) and np.isnan(row.kept) and row.change == "shared"


@pytest.mark.parametrize(
    ("new", "settings", "message"),
    [
        (Embedding(["a"], [[1, 0, 0]]), {}, "vectors of 3 and of 2 numbers"),
        (Embedding(["c"], [[1, 0]]), {}, "no node is in both embeddings"),
        (Embedding(["a", "b"], [[1, 0], [0, 1]], {"sides": "columns"}), {}, "source and target vectors"),
        (Embedding(["a", "b"], [[1, 0], [0, 1]]), {"k": 0}, "k=0"),
        (Embedding(["a", "b"], [[1, 0], [0, 1]]), {"sample": 0}, "sample=0"),
    ],
)
def test_what_cannot_be_compared_is_refused(new: Embedding, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        measure_drift(Embedding(["a", "b"], [[1, 0], [0, 1]]), new, **settings)


def test_the_command(tmp_path: Path) -> None:
    Embedding(range(20), normal(20, 4)).save(tmp_path / "old")
    Embedding(range(1, 22), normal(21, 4, 1)).save(tmp_path / "new")
    out = works("drift", tmp_path / "old", tmp_path / "new", "-k", "3", "-o", tmp_path / "d.csv")
    assert "19 nodes shared, 1 lost, 2 new" in out.err
    lines = (tmp_path / "d.csv").read_text().splitlines()
    assert lines[0] == "node,change,moved,kept" and len(lines) == 23 and lines[20] == "0,lost,,"
    figures = works("drift", tmp_path / "old", tmp_path / "new", "--json", "--all").figures
    assert figures["shared"] == 19 and len(figures["rows"]) == 22 and figures["rows"][-1]["moved"] is None
    refuses("drift", tmp_path / "old", tmp_path / "none", folder=tmp_path, expected=("none",))
