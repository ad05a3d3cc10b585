"""System calls of writers that fail, one at a time: outputs are old or new, nothing is left, exit codes are right."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from faults import filter

TESTS = Path(__file__).parent.parent
pytestmark = pytest.mark.skipif(filter.problem() is not None, reason=str(filter.problem()))

BAD = """
import contextlib, os, pathlib, sys
from graphrefine.embedding.formats import io
from faults import __main__ as program

@contextlib.contextmanager
def replacing(path, *, durable=False):
    if {how!r} == "half":
        yield pathlib.Path(path)
        return
    beside = pathlib.Path(f"{{path}}.new")
    yield beside
    if {how!r} == "lost":
        pathlib.Path(path).unlink(missing_ok=True)
    beside.rename(path)

io.replacing = replacing
sys.exit(program.main())
"""


def run_program(*arguments: str, code: str | None = None) -> tuple[int, str]:
    """Run the program in a process of its own: it forks."""
    command = [sys.executable, *(["-m", "faults"] if code is None else ["-c", code]), *arguments]
    environment = {**os.environ, "PYTHONPATH": str(TESTS), "GRAPHREFINE_DATA": ""}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=900)
    assert not done.stderr, done.stderr
    return done.returncode, done.stdout


def count_faults(text: str) -> dict[str, int]:
    """Faults by writer."""
    return {match[1].strip(): int(match[2]) for match in re.finditer(r"(?m)^(\S.*?) +\d+ +(\d+) +0 +\S+$", text)}


def test_a_sample_of_faults_does_no_harm() -> None:
    code, text = run_program("embed, npy", "--every", "29")
    assert code == 0, text
    assert sum(count_faults(text).values()) >= 5


@pytest.mark.parametrize("how", ["half", pytest.param("lost", marks=pytest.mark.slow)])
def test_a_writer_that_does_harm_is_found(how: str) -> None:
    code, text = run_program("embed, npy", "--kinds", "kill", "--calls-on", "x.npy", code=BAD.format(how=how))
    assert code == 1 and "half a file, or the old one lost" in text


def test_writes_that_are_cut_short_go_on() -> None:
    """Some write calls take a part of their bytes, as all of more than 2 GB do."""
    code, text = run_program("ingest, numbers", "--kinds", "short", "--calls-on", "arcs/")
    assert code == 0, text
    assert count_faults(text)["ingest, numbers"] >= 1


@pytest.mark.slow
def test_faults_do_no_harm_to_any_writer() -> None:
    code, text = run_program("--every", "400")
    assert code == 0, text
    found = count_faults(text)
    assert len(found) >= 25 and all(found.values()), text
