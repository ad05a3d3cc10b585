"""The benchmark of hostile files: its cheapest cells reach their bars, and miss them where limits are taken away."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "trust" / "attacks.py"
pytestmark = [
    pytest.mark.skipif(not SCRIPT.is_file(), reason="the benchmarks are not here"),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is measured by /proc"),
]


def attack(*arguments: str) -> tuple[int, list[dict[str, Any]]]:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--json", *arguments], capture_output=True, text=True, timeout=110, check=False
    )
    assert not done.stderr, done.stderr
    return done.returncode, json.loads(done.stdout)


def test_claims_are_refused() -> None:
    code, cells = attack("--only", "metis", "load-npy", "--kinds", "claim")
    assert code == 0 and [(cell["reader"], cell["outcome"]) for cell in cells] == [
        ("metis", "refused"),
        ("load-npy", "refused"),
    ]
    assert all(cell["message"] and not cell["problem"] for cell in cells)


@pytest.mark.slow
def test_a_limit_that_is_taken_away_is_missed() -> None:
    bomb = ("--only", "arrow", "--kinds", "bomb within")
    code, (cell,) = attack(*bomb)
    assert code == 0 and cell["outcome"] == "refused", cell
    code, (cell,) = attack(*bomb, "--break", "limit")
    assert code == 1 and cell["problem"], cell
