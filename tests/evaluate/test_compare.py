"""Comparisons: the same figures as by hand, failures that are rows, runs that are taken up again, and bad input."""

from __future__ import annotations

import errno
import json
import os
import re
import signal
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_embed_subprocess import alive, children_of, wait_for

from cli_runs import PROGRAM, Outcome, contents, refuses, ring_of_cliques, run, works, write_csv
from graphrefine.evaluate import embed_subprocess, evaluate_labels, evaluate_links
from graphrefine.evaluate.compare import compare
from graphrefine.evaluate.compare_report import make_report, make_title
from graphrefine.evaluate.results import Comparison, Row
from graphrefine.graph.graph import Graph
from graphrefine.methods.registry import make_settings
from graphrefine.pipeline.embed_run import embed_graph
from graphrefine.readers.read import read
from processes import start_process

FAST = ("--repeats", "2", "--threads", "1", "--dims", "4", "--methods", "refine,rbqr")
NASTY = "a|b <i>&"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A graph of four cliques with names, and which clique each node is in."""
    edges = ring_of_cliques()
    names = np.array([f"{NASTY} {node}" for node in range(20)])
    write_csv(tmp_path / "graph.csv", names[edges])
    write_labels(tmp_path / "labels.csv", {name: f"clique {node // 5}" for node, name in enumerate(names.tolist())})
    return tmp_path


def write_labels(path: Path, labels: dict[str, str]) -> Path:
    path.write_text("node,label\n" + "".join(f"{node},{label}\n" for node, label in labels.items()))
    return path


@pytest.fixture(autouse=True)
def no_plots(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw nothing where the test is not about plots: that takes longer than all the rest."""
    monkeypatch.setattr("graphrefine.display.report.can_draw", lambda: False)


def compares(folder: Path, *arguments: str | Path) -> Outcome:
    return run("compare", folder / "graph.csv", "--labels", folder / "labels.csv", *FAST, *arguments)


def instead(monkeypatch: pytest.MonkeyPatch, ends: dict[str, embed_subprocess.Outcome]) -> list[str]:
    """Embed in this process, which is faster, or let some methods end in some way; which methods were started."""
    started: list[str] = []

    def run_embed(
        path: Path, *, method: str, dim: int, seed: int, output: Path, directed: bool, **others: Any
    ) -> embed_subprocess.Outcome:
        started.append(method)
        if method in ends:
            return ends[method]
        graph = read(path, directed=directed)
        embedding, _ = embed_graph(graph, make_settings(method, dim=dim, seed=seed), method=method)
        np.save(output, embedding.vectors)
        return embed_subprocess.Outcome("done", "", 0.25, 0.75, 50_000_000, {"recipe": embedding.recipe})

    monkeypatch.setattr("graphrefine.evaluate.compare.run_embed", run_embed)
    return started


def ended(status: embed_subprocess.Status, message: str = "for a reason") -> embed_subprocess.Outcome:
    return embed_subprocess.Outcome(status, message, None, 1.5, 50_000_000)


# The figures.


@pytest.mark.parametrize("directed", [False, True])
def test_the_figures_are_those_of_the_library(directed: bool) -> None:
    rng = np.random.default_rng(0)
    ends, weights = rng.integers(0, 60, (2, 400)), rng.uniform(0.5, 3.0, 400)
    graph = Graph.from_edges(ends[0], ends[1], weights, names=np.arange(64), directed=directed)
    labels = [f"{i % 3}" for i in range(64)]
    done = compare(graph, labels=labels, methods=["refine", "rbqr"], dims=[8, 4], ratios=[0.3, 0.6], repeats=3, seed=5)
    assert {(row.method, row.dim) for row in done.finished} == {(m, d) for m in ("refine", "rbqr") for d in (8, 4)}
    for row in done.finished:
        embedding, _ = embed_graph(graph, make_settings(row.method, dim=row.dim, seed=5), method=row.method)
        scores = evaluate_labels(embedding, labels, ratios=[0.3, 0.6], repeats=3, seed=5)
        assert row.scores == {"ratios": scores.to_dict()["ratios"]}
        assert row.quality == pytest.approx(np.mean([at.micro_mean for at in scores.ratios]))
        assert row.recipe == {name: value for name, value in embedding.recipe.items() if name != "reading"}
        assert row.seconds is not None and row.total_seconds is not None and 0 < row.seconds < row.total_seconds
    assert [row.quality for row in done.rows] == sorted((row.quality or 0 for row in done.rows), reverse=True)


def test_without_labels_links_decide() -> None:
    graph = read(ring_of_cliques(6, 8))
    done = compare(graph, methods=["refine", "rbqr"], dims=[6], repeats=2, seed=3)
    assert done.columns == ("AUC", "AP", "score")
    for row in done.finished:
        figures = evaluate_links(graph, row.method, dim=6, repeats=2, seed=3, corruptions=1, ranked=1)
        best = max(figures[name].mean("auc") for name in ("dot", "cosine", "dot-degree", "cosine-degree"))
        assert row.quality == best == figures[row.cells["score"]].mean("auc")
        assert set(row.scores["scores"]) == {"dot", "cosine", "dot-degree", "cosine-degree", "degree"}
    baselines = {row.method: row for row in done.rows if row.status == "baseline"}
    assert baselines.keys() == {"random vectors", "degree product"}
    assert done.rows[0].status == "done", "vectors beat degrees where all degrees are alike"


def test_by_default_all_methods_are_compared(folder: Path) -> None:
    from graphrefine.methods.registry import METHODS

    done = compare(folder / "graph.csv", labels=folder / "labels.csv", repeats=1, methods=None, time_limit=0.01)
    tried = [row for row in done.rows if row.status != "baseline"]
    assert {row.method for row in tried} == set(METHODS) and {row.dim for row in tried} == {20}


# Failures are rows.


def test_whatever_becomes_of_a_method_is_a_row(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for status in ("failed", "timeout", "memory", "killed"):
        instead(monkeypatch, {"rbqr": ended(status)})
        done = compares(folder)
        assert done.code == 0 and f"rbqr, dim 4: {status}: for a reason\n" in done.out
        table = done.out.split("\n\n")[0].splitlines()
        assert table[0].split()[:2] == ["method", "dim"] and table[1].startswith("refine") and table[1].endswith("done")
        assert table[2].startswith("random vectors") and table[3].startswith("rbqr") and table[3].endswith(status)


def test_limits_are_kept(folder: Path) -> None:
    done = compares(folder, "--time-limit", "0.05", "--methods", "refine")
    assert done.code == 2 and "refine, dim 4: timeout: not done after 0.05 s\n" in done.out
    assert done.err.endswith("error: no method finished; the rows say why\n")


def test_a_method_that_cannot_take_the_graph_says_so(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from graphrefine.methods import refine

    rbqr = refine.RBQR_METHOD
    monkeypatch.setattr(refine, "RBQR_METHOD", replace(rbqr, most_nodes=19))
    started = instead(monkeypatch, {})
    done = compares(folder, "--dims", "4,21")
    assert done.code == 0 and started == ["refine"]
    assert re.search(r"rbqr, dim 4: refused: \S*graph.csv has 20 nodes, and rbqr takes at most 19", done.out)
    assert "refine, dim 21: refused: dim=21 is larger than the graph" in done.out
    monkeypatch.setattr(refine, "RBQR_METHOD", replace(rbqr, memory=lambda *_: 10**10))
    done = compares(folder, "--methods", "rbqr", "--memory-limit", "2GB")
    assert done.code == 2 and "rbqr would need 10.0 GB (two matrices n x k), and" in done.out


def test_vectors_that_cannot_be_judged_are_a_row(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    instead(monkeypatch, {})
    load = np.load

    def broken(*given: Any, **options: Any) -> Any:
        loaded = load(*given, **options)
        return loaded * np.nan if isinstance(loaded, np.ndarray) else loaded

    monkeypatch.setattr(np, "load", broken)
    done = compares(folder, "--methods", "refine")
    assert done.code == 2 and "has nan, not a number" in done.out and "failed\n" in done.out


# The report.


def test_the_report(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    instead(monkeypatch, {})
    monkeypatch.setattr("graphrefine.display.report.can_draw", lambda: True)
    works("compare", folder / "graph.csv", "--labels", folder / "labels.csv", *FAST, "-o", folder / "out")
    page = (folder / "out" / "report.html").read_text()
    for shown in ("Methods compared on graph.csv", "random vectors", "Best: re", "filter=reach", "Zhu and Koniusz"):
        assert shown in page
    results = json.loads((folder / "out" / "results.json").read_text())
    assert results["kind"] == "compare" and len(results["rows"]) == 3 and results["inputs"]["ratios"] == [0.5]
    assert {path.name for path in (folder / "out" / "plots").iterdir()} == {"time-quality.svg"}


def test_a_report_of_many_rows_names_best_and_fastest() -> None:
    rows = [Row("a", 8, "done", quality=2.0, cells={"F1": "2.0"}, seconds=9.0),
            Row("b", 8, "done", quality=1.0, cells={"F1": "1.0"}, seconds=0.0)]  # fmt: skip
    done = Comparison(tuple(rows), ("F1",), "F1", "how", {"nodes": 1, "edges": 1}, {"threads": 1},
                      {"seconds": None, "bytes": 10**9})  # fmt: skip
    made = make_report(done, make_title("x/g.csv"))
    assert made.sections[0].text.startswith("Best: a, dim 8 (2.0 in 9.0 s). Fastest: b, dim 8 (1.0 in 0 ms).")
    assert str(done).splitlines()[0] == "how"


# Taken up again.


def test_what_is_done_is_not_made_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    instead(monkeypatch, {})
    first = compares(folder, "-o", folder / "out", "--methods", "refine", "--json").figures
    assert (first["rows"][0]["status"], first["graph"]["nodes"]) == ("done", 20)
    assert [at["ratio"] for at in first["rows"][0]["scores"]["ratios"]] == first["inputs"]["ratios"] == [0.5]
    started = instead(monkeypatch, {})
    again = compares(folder, "-o", folder / "out", "--methods", "refine", "--json").figures
    assert again["rows"] == first["rows"] and started == []
    more = compares(folder, "-o", folder / "out", "--methods", "rbqr", "--json").figures
    assert started == ["rbqr"] and all(row in more["rows"] for row in first["rows"]) and len(more["rows"]) == 3


def test_a_failed_row_is_tried_again_and_what_is_not_asked_for_stays(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    instead(monkeypatch, {"refine": ended("timeout"), "rbqr": ended("failed")})
    assert compares(folder, "-o", folder / "out").code == 2
    started = instead(monkeypatch, {})
    alone = compares(folder, "-o", folder / "out", "--methods", "refine", "--json").figures
    assert started == ["refine"] and sorted(row["status"] for row in alone["rows"]) == ["baseline", "done", "failed"]


def test_another_comparison_is_not_replaced(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    (folder / "names.txt").write_text("somebody else\n")
    write_labels(folder / "others.csv", {f"{NASTY} {node}": f"{node % 2}" for node in range(20)})
    instead(monkeypatch, {})
    assert compares(folder, "-o", "out", "--methods", "refine").code == 0
    started = instead(monkeypatch, {})
    for arguments, differing in (
        (["--repeats", "3", "--seed", "1"], "(repeats, seed)"),
        (["--nodes", "names.txt"], "(graph)"),
        (["--labels", "others.csv"], "(labels)"),
    ):
        typed = ("compare", "graph.csv", "--labels", "labels.csv", *FAST, "-o", "out", *arguments)
        refuses(*typed, folder=folder, expected=(f"holds a comparison with other inputs {differing}",))
    assert started == []


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux's /proc")
def test_interrupted_and_taken_up_again(tmp_path: Path) -> None:
    """Ctrl-C while the second child runs: the first row is shown and kept, no child is left, and the rest is made."""
    edges = np.random.default_rng(0).integers(0, 3000, (12_000, 2))
    write_csv(tmp_path / "graph.csv", edges)
    write_labels(tmp_path / "labels.csv", {str(node): str(node % 3) for node in np.unique(edges).tolist()})
    typed = [*PROGRAM, "compare", "graph.csv", "--labels", "labels.csv", "--repeats", "1"]
    typed += ["--dims", "8", "--methods", "refine,rbqr", "-o", "out"]
    with start_process(typed, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        assert [process.stderr.readline()[:5] for _ in range(3)] == [b"read:", b"label", b"refin"]
        wait_for(lambda: len(children_of(process.pid)) == 1)
        (child,) = children_of(process.pid)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert process.returncode == 130 and out == b""
    wait_for(lambda: not alive(child))
    lines = err.decode().splitlines()
    assert any(line.startswith("refine ") and line.endswith("done") for line in lines)
    kept = json.loads((tmp_path / "out" / "results.json").read_text())["rows"]
    done = subprocess.run([*typed, "--json"], cwd=tmp_path, capture_output=True, timeout=60, env={**os.environ})
    rows = json.loads(done.stdout)["rows"]
    assert all(row in rows for row in kept) and len(rows) > len(kept)


# A full disk.


def full_for(name: str) -> Callable[..., int]:
    write = Path.write_text

    def write_text(path: Path, *given: Any, **options: Any) -> int:
        if name in str(path):
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(path, *given, **options)

    return write_text


def test_a_full_disk_while_the_report_is_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    instead(monkeypatch, {})
    assert compares(folder, "-o", folder / "out", "--methods", "refine").code == 0
    before = contents(folder)
    with monkeypatch.context() as full:
        full.setattr(Path, "write_text", full_for("report.html"))
        done = compares(folder, "-o", folder / "out")
    assert done.code == 2 and done.err.endswith("out: the report cannot be written: No space left on device\n")
    assert "rbqr" in done.out, "and the rows are printed"
    after = contents(folder)
    assert {**after, "out/results.json": b""} == {**before, "out/results.json": b""}
    started = instead(monkeypatch, {})
    assert compares(folder, "-o", folder / "out").code == 0 and started == []


# Bad input, refused before the work.


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--methods", "refin"], "--methods 'refin'"),
        (["--methods", ","], "--methods"),
        (["--dims", "0"], "--dims 0"),
        (["--ratio", "0.01"], "0.01 of 20 nodes"),
        (["--time-limit", "0"], "--time-limit 0.0"),
        (["--memory-limit", "much"], "'much'"),
        (["--labels", "nowhere.csv"], "nowhere.csv"),
        (["--labels", "same.csv"], "same.csv"),
        (["-o", "no/such/place"], "no/such"),
    ],
)
def test_refused(folder: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], expected: str) -> None:
    monkeypatch.chdir(folder)
    write_labels(folder / "same.csv", {f"{NASTY} {node}": "same" for node in range(20)})
    started = instead(monkeypatch, {})
    typed = ("compare", "graph.csv", "--labels", "labels.csv", *FAST[:2], *arguments)
    refuses(*typed, folder=folder, expected=(expected,))
    refuses("compare", "graph.csv", "--directed", folder=folder, expected=("directed",))  # links need no direction
    assert started == []
