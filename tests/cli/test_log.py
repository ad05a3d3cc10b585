"""The log: what a run tells to whoever listens, and that nothing is printed where nobody does."""

from __future__ import annotations

import logging
import subprocess
import sys
from pathlib import Path

import pytest

import graphrefine
from cli_runs import check_refused, run, spawn

RING = [(f"n{i}", f"n{(i + 1) % 12}") for i in range(12)]
QUIET = """
import sys
import graphrefine
ring = [(i, (i + 1) % 12) for i in range(12)]
embedding = graphrefine.embed(ring, dim=4, learn=True)
embedding.save(sys.argv[1])
loaded = graphrefine.load(sys.argv[1])
loaded.neighbors(3), loaded.score(1, 2), graphrefine.REFINE(dim=4).fit(graphrefine.read(ring).to_scipy())
"""


def test_the_library_prints_nothing(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-W", "error", "-c", QUIET, str(tmp_path / "x.npz")], capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_run_is_logged_from_reading_to_writing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="graphrefine"):
        graphrefine.embed(RING, dim=4, threads=1).save(tmp_path / "ring.npz")
    records = [(record.name.split(".")[1], record.getMessage().split(":")[0]) for record in caplog.records]
    assert records == [
        ("readers", "read memory"),
        ("progress", "read"),
        ("pipeline", "plan"),
        ("pipeline", "embed by refine, dim 4, threads 1"),
        ("progress", "proximity"),
        ("progress", "range"),
        ("progress", "filter"),
        *(("progress", view) for view in ("memory", "regions", "far", "local", "axes")),
        ("embedding", f"wrote {tmp_path / 'ring.npz'}"),
    ]
    assert caplog.messages[0].startswith("read memory: 12 nodes, 12 edges; an iterable")


def test_an_index_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    embedding = graphrefine.embed(RING, dim=4)
    with caplog.at_level(logging.INFO, logger="graphrefine.search"):
        embedding.neighbors("n3", index=True)
    assert "made an index of 12 nodes by cosine, recall 1.000" in caplog.messages


def test_the_command_shows_the_log_on_request(tmp_path: Path) -> None:
    (tmp_path / "g.csv").write_text("a,b\nb,c\nc,a\n")
    typed = ("embed", tmp_path / "g.csv", "-o", tmp_path / "out.npz", "--dim", "2")
    assert "INFO" not in run(*typed).err
    shown = spawn(*typed, env={"GRAPHREFINE_LOG": "info"})
    assert shown.code == 0 and "INFO graphrefine.pipeline.embed_run: plan: memory" in shown.err
    check_refused(spawn(*typed, env={"GRAPHREFINE_LOG": "loud"}), "GRAPHREFINE_LOG is 'loud'")
