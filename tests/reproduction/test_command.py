"""``python -m reproduction``: what it prints, and what it refuses."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from reproduce_setups import tiny

from cli_runs import Outcome, contents
from graphs import data_folder
from reproduction import EXPERIMENTS, quick
from reproduction.__main__ import main
from reproduction.findings import Gap
from reproduction.setup import Graphs, Source


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A quick run that is quicker, without real graphs and without drawings."""
    monkeypatch.delenv("GRAPHREFINE_DATA", raising=False)
    small = lambda *, threads, data, seed: tiny(seed=seed)
    with patch("graphrefine.display.report.can_draw", return_value=False), patch("reproduction.quick", small):
        yield


def run(*arguments: str | Path, code: int = 0) -> Outcome:
    """Run the program in this process, which must end with a code."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            ended: Any = main([str(argument) for argument in arguments])
        except SystemExit as stop:
            ended = stop.code
    assert ended == code and "Traceback" not in err.getvalue(), err.getvalue()
    return Outcome(code, out.getvalue(), err.getvalue())


def test_it_prints_what_was_found_and_lists_what_is_left(tmp_path: Path) -> None:
    first = run("--quick", "--only", "figure3,table3", "-o", tmp_path / "r")
    assert "table3" in first.out and "figure3" in first.out and "table1" not in first.out
    assert "4 measurements computed, 0 reused, 0 failed" in first.out
    again = run("--quick", "--only", "figure3", "-o", tmp_path / "r")
    assert "0 measurements computed, 4 reused, 0 failed" in again.out
    done = run("--quick", "--only", "figure3", "-o", tmp_path / "r", "--json")
    written = json.loads((tmp_path / "r" / "results.json").read_text())
    assert done.figures["experiments"] == written["experiments"]
    assert {"kind", "title", "version", "machine", "date", "run", "seed", "threads"} <= set(written)
    for cell in written["experiments"]["figure3"]["cells"]:
        assert {"what", "ours", "paper", "difference"} <= set(cell)
    assert all(experiment.name in run("--quick", "--list").out for experiment in EXPERIMENTS)
    run("--quick", "--only", "figure3", "-o", tmp_path / "r")
    rows = run("--quick", "--list", "-o", tmp_path / "r", "--json").figures["experiments"]
    by_name = {row["name"]: row for row in rows}
    assert by_name["figure3"]["work"] == by_name["figure3"]["finished"] == 4
    assert by_name["figure3"]["seconds_left"] == 0 < by_name["table1"]["seconds_left"]


def test_mistakes_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("other").mkdir()
    Path("other", "results.json").write_text(json.dumps({"kind": "compare", "title": "Methods on friends.csv"}))
    Path("other", "report.html").write_text("<p>of another kind")
    before = contents(tmp_path)
    for arguments, fact in (
        (["--only", "tabel1", "-o", "r"], "did you mean 'table1'"),
        (["--only", "", "-o", "r"], "''"),
        (["--only", "table1"], "--output"),
        (["-o", "no/such/place"], "no/such"),
        (["-o", "other"], "friends.csv"),
        (["-o", "r", "--data", "no-such-folder"], "no-such-folder"),
        (["-o", "r", "--seed", "-1"], "seed"),
        (["-o", "r", "--threads", "0"], "threads"),
    ):
        with patch("reproduction.quick", quick):
            assert fact in run("--quick", *arguments, code=2).err
    assert contents(tmp_path) == before


def test_an_interruption_says_that_the_run_can_go_on(tmp_path: Path) -> None:
    with patch("reproduction.label_scores.measure_f1", autospec=True, side_effect=KeyboardInterrupt):
        done = run("--quick", "--only", "figure3", "-o", tmp_path / "r", code=130)
    assert "run the same command to continue" in done.err


def test_graphs_are_real_or_stand_ins_or_gaps(tmp_path: Path) -> None:
    (tmp_path / "ppi.mat").write_bytes(b"x" * 10)
    graphs = Graphs(tmp_path, scale=0.5, largest=0.1)
    real, small, large, none = (graphs.find(name) for name in ("ppi", "wikipedia", "youtube", "lastfm"))
    assert isinstance(real, Source) and real.comparable and not real.note
    assert isinstance(small, Source) and small.standin and "0.5 times" in small.note and not small.comparable
    assert isinstance(large, Source) and large.size.nodes == 113_850
    assert isinstance(none, Gap) and "lastfm-asia.mat" in none.reason and "--data" in none.reason


def test_real_graphs_are_counted_and_the_paper_is_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    folder = data_folder()
    with patch("reproduction.quick", lambda **_: tiny(graphs=Graphs(folder))):
        results = run("--quick", "--only", "table3", "-o", tmp_path / "r", "--json").figures
    cells = {(c["what"]["graph"], c["what"]["count"]): c for c in results["experiments"]["table3"]["cells"]}
    assert cells["blogcatalog", "edges"]["difference"] == 0
    assert cells["wikipedia", "edges"]["ours"] == 92_295 and "stored entries" in cells["wikipedia", "edges"]["note"]
    assert cells["flickr", "nodes"]["ours"] is None
