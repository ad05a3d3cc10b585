"""``benchmarks/bits.py``: its rows and columns, one hash for each row, and a difference that is seen."""

from __future__ import annotations

import doctest
import importlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from graphrefine.kernels import native

SCRIPTS = Path(__file__).parents[2] / "benchmarks"
SIDES = [f"{sides} {tier}" for sides in ("directed", "bipartite") for tier in ("default", "fast")]
METHODS = {"paper", "fast", "default", "best", "rbqr", *SIDES, "features", "deepwalk", "node2vec", "line", "pte"}

pytestmark = pytest.mark.skipif(not SCRIPTS.is_dir(), reason="the benchmarks are not here")


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(SCRIPTS))


def test_every_method_has_rows_on_generated_graphs_and_on_a_real_one() -> None:
    for name in ("bits", "bits_worker"):
        failed, tried = doctest.testmod(importlib.import_module(name))
        assert tried and not failed
    rows: dict[str, Any] = importlib.import_module("bits_worker").ROWS
    graphs = {method: {name for name in rows if name.startswith(f"{method}, ")} for method in METHODS}
    assert set(rows) == {name for names in graphs.values() for name in names}
    assert all(len(names) >= 2 and f"{method}, PPI" in names for method, names in graphs.items())
    on_disk = {name for method in ("paper", "fast", "default", "best", "rbqr") for name in graphs[method]}
    assert {row.name for row in rows.values() if "disk" in row.ways} == on_disk


def run_bits(*options: str) -> tuple[int, dict[str, Any]]:
    """The exit code of the program, and the object that it prints."""
    command = [sys.executable, str(SCRIPTS / "bits.py"), "--no-arm", "--json", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=110)
    return done.returncode, json.loads(done.stdout)


@pytest.mark.skipif(str(native.simd()) == "none", reason="no compiled kernels here")
@pytest.mark.parametrize(("row", "column"), [
    ("deepwalk, weighted", "2 threads"), pytest.param("rbqr, weighted", "dask", marks=pytest.mark.slow)
])  # fmt: skip
def test_one_hash_and_a_bit_that_is_not_right(row: str, column: str) -> None:
    code, answer = run_bits("--only", row)
    assert (code, answer["differing"]) == (0, []) and len(set(answer["rows"][row].values())) == 1
    code, answer = run_bits("--only", row, "--break", column)
    cells = answer["rows"][row]
    assert (code, answer["differing"]) == (1, [row])
    assert len({value for name, value in cells.items() if name != column} | {cells[column]}) == 2
    assert list(cells.values()).count(cells[column]) == 1
