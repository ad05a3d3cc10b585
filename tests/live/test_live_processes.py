"""Live vectors across processes: writers that are killed, and readers beside a writer, as in the benchmarks."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks" / "live"


def run(name: str, *options: object) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, str(BENCHMARKS / name), *map(str, options)]
    return subprocess.run(words, capture_output=True, text=True, check=False, timeout=600)


@pytest.mark.slow
def test_a_killed_writer_leaves_what_it_committed_to_the_bit() -> None:
    kills = run("writer_kills.py", "--kills", 30)
    assert kills.returncode == 0, kills.stdout + kills.stderr
    assert "not survived to the bit: 0 (bar 0: reached)" in kills.stdout


@pytest.mark.slow
def test_one_other_bit_is_seen_by_the_check_of_killed_writers() -> None:
    control = run("writer_kills.py", "--kills", 2, "--control")
    assert control.returncode == 1
    assert "other bits than the replay's" in control.stdout


def figure(text: str, name: str) -> float:
    """The value of a bar that a benchmark has printed."""
    value = re.search(rf"^{name}: (\S+) \(bar", text, re.MULTILINE)
    assert value is not None, text
    return float(value[1])


@pytest.mark.slow
def test_readers_beside_a_writer_see_whole_moments() -> None:
    options = ("--graph", "generated", "--dim", 16, "--rate", 500, "--batch", 50, "--readers", 2, "--seconds", 5)
    readers = run("readers.py", *options)
    assert figure(readers.stdout, "torn reads") == figure(readers.stdout, "errors") == 0, (
        readers.stdout + readers.stderr
    )
    control = run("readers.py", *options, "--control")
    assert control.returncode == 1
    assert figure(control.stdout, "torn reads") > 0
