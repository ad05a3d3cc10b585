"""Children: how each end of one looks from outside, and that none is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

from cli_runs import ring_of_cliques, write_csv
from graphrefine.embedding.embedding import load
from graphrefine.evaluate import embed_subprocess
from graphrefine.evaluate.embed_subprocess import run_embed
from graphrefine.pipeline.embed import embed
from graphrefine.system.memory import tree_bytes
from processes import eventually, start_process

needs_proc = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux's /proc")
needs_signals = pytest.mark.skipif(os.name != "posix", reason="signals of Unix")
PATIENCE = 60


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_csv(tmp_path_factory.mktemp("graph") / "graph.csv", ring_of_cliques())


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A graph large enough to be stopped in."""
    path = tmp_path_factory.mktemp("graph") / "large.txt"
    np.savetxt(path, np.random.default_rng(0).integers(0, 30_000, (120_000, 2)), fmt="%d")
    return path


ENDLESS: dict[str, Any] = {"method": "deepwalk", "dim": 64, "seed": 0, "threads": 1}  # minutes of walks


def test_a_child_is_the_library_or_says_why_not(graph: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limits: dict[str, Any] = {"seconds": 60, "memory": 2 * 10**9}
    outcome = run_embed(graph, method="refine", dim=4, seed=3, threads=1, **limits, output=tmp_path / "out")
    assert (outcome.status, outcome.message) == ("done", "")
    assert outcome.seconds is not None and 0 < outcome.seconds < outcome.total
    assert outcome.peak_bytes >= 1e6
    assert outcome.stats["nodes"] == 20 and outcome.stats["threads"] == 1
    made = load(tmp_path / "out")
    same = embed(graph, dim=4, seed=3, directed=False)
    assert np.array_equal(made.vectors, same.vectors) and made.recipe == same.recipe
    given: dict[str, Any] = {"method": "refine", "seed": 0, "threads": 1, "output": tmp_path / "none"}
    outcome = run_embed(graph, dim=21, **given)
    assert outcome.status == "failed" and "--dim 21" in outcome.message
    assert outcome.seconds is None and not (tmp_path / "none").exists()
    # A bug is told by the last line of its traceback.
    (tmp_path / "sitecustomize.py").write_text(
        "import graphrefine.cli.main\ndef broken(): raise ZeroDivisionError('of a method')\n"
        "graphrefine.cli.main.main = broken\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    outcome = run_embed(graph, dim=4, **given)
    assert (outcome.status, outcome.message) == ("failed", "ZeroDivisionError: of a method")


@needs_signals
def test_a_child_is_stopped_at_its_limits(large: Path, tmp_path: Path) -> None:
    start = time.perf_counter()
    outcome = run_embed(large, seconds=1.5, output=tmp_path / "out", **ENDLESS)
    assert outcome.status == "timeout" and "1.5 s" in outcome.message
    assert 1.5 <= outcome.total <= time.perf_counter() - start < 10
    outcome = run_embed(large, memory=40_000_000, seconds=60, output=tmp_path / "out", **ENDLESS)
    assert outcome.status == "memory" and outcome.peak_bytes > 40_000_000 and "40 MB" in outcome.message
    assert not (tmp_path / "out").exists()


@needs_proc
@pytest.mark.parametrize("by", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_child_is_an_outcome(
    large: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by: signal.Signals
) -> None:
    seen: list[int] = []

    def strike(pid: int) -> int:
        seen.append(pid)
        caught = int(Path(f"/proc/{pid}/status").read_text().split("SigCgt:")[1].split()[0], 16)
        if caught >> (signal.SIGTERM - 1) & 1:  # it is up, and has taken signals into its hands
            os.kill(pid, by)
        return 1

    monkeypatch.setattr(embed_subprocess, "tree_bytes", strike)
    outcome = run_embed(large, seconds=60, output=tmp_path / "out", **ENDLESS)
    assert outcome.status == "killed" and outcome.message.startswith(f"ended by signal {by.value}")
    assert not alive(seen[0])


PARENT = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever the tests were started with
signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
from pathlib import Path
from graphrefine.cli import main
from graphrefine.evaluate.embed_subprocess import run_embed
def embed(_):
    run_embed(sys.argv[1], method="deepwalk", dim=64, seed=0, threads=1, output=Path(sys.argv[2]))
main._dispatch = embed
sys.exit(main.run([]))
"""


@needs_signals
@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_child_ends_with_its_parent(large: Path, tmp_path: Path, by: signal.Signals) -> None:
    typed = [sys.executable, "-c", PARENT, str(large), str(tmp_path / "out")]
    children: list[int] = []  # that are at work; what Python itself starts for a moment is none

    def is_at_work() -> bool:
        children[:] = [each for each in children_of(parent.pid) if tree_bytes(each) > 40_000_000]
        return bool(children)

    with start_process(typed, stderr=subprocess.PIPE) as parent:
        eventually(is_at_work)
        (child,) = children
        parent.send_signal(by)
        _, err = parent.communicate(timeout=PATIENCE)
    assert parent.returncode == (-by if by == signal.SIGKILL else 128 + by), err
    eventually(lambda: not alive(child))
    assert b"Traceback" not in err


def children_of(pid: int) -> list[int]:
    return [child.pid for child in psutil.Process(pid).children()]


def alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
