"""Comparisons: the same figures as by hand, failures that are rows, runs that are taken up again, and bad input."""

from __future__ import annotations

import json
import re
import signal
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_embed_subprocess import alive, children_of

from cli_runs import PROGRAM, Outcome, refuses, ring_of_cliques, run, works, write_csv
from graphrefine.evaluate import embed_subprocess, evaluate_labels, evaluate_links
from graphrefine.evaluate.compare import compare
from graphrefine.graph.graph import Graph
from graphrefine.methods import refine
from graphrefine.methods.registry import make_settings
from graphrefine.pipeline.embed_run import embed_graph
from graphrefine.readers.read import read
from processes import eventually, start_process

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


@pytest.mark.parametrize("status", ["failed", "timeout", "memory", "killed"])
def test_every_end_of_a_method_is_a_row(status: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    instead(monkeypatch, {"rbqr": ended(status)})
    done = compares(folder)
    assert done.code == 0 and f"rbqr, dim 4: {status}: for a reason\n" in done.out
    lines = [(line.split()[0], line.split()[-1]) for line in done.out.split("\n\n")[0].splitlines()[1:]]
    assert lines == [("refine", "done"), ("random", "baseline"), ("rbqr", status)]


def test_limits_are_kept_and_methods_say_what_they_cannot_take(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = compares(folder, "--time-limit", "0.05", "--methods", "refine")
    assert done.code == 2 and "refine, dim 4: timeout" in done.out and "no method finished" in done.err
    rbqr = refine.RBQR_METHOD
    monkeypatch.setattr(refine, "RBQR_METHOD", replace(rbqr, most_nodes=19))
    started = instead(monkeypatch, {})
    done = compares(folder, "--dims", "4,21")
    assert done.code == 0 and started == ["refine"]
    assert re.search(r"rbqr, dim 4: refused: .* at most 19", done.out)
    assert "refine, dim 21: refused: dim=21" in done.out
    monkeypatch.setattr(refine, "RBQR_METHOD", replace(rbqr, memory=lambda *_: 10**10))
    done = compares(folder, "--methods", "rbqr", "--memory-limit", "2GB")
    assert done.code == 2 and "rbqr would need 10.0 GB" in done.out


def test_vectors_that_cannot_be_judged_are_a_row(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    instead(monkeypatch, {})
    load = np.load

    def broken(*given: Any, **options: Any) -> Any:
        loaded = load(*given, **options)
        return loaded * np.nan if isinstance(loaded, np.ndarray) else loaded

    monkeypatch.setattr(np, "load", broken)
    done = compares(folder, "--methods", "refine")
    assert done.code == 2 and "has nan, not a number" in done.out and "failed\n" in done.out


def test_the_report(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    instead(monkeypatch, {})
    monkeypatch.setattr("graphrefine.display.report.can_draw", lambda: True)
    works("compare", folder / "graph.csv", "--labels", folder / "labels.csv", *FAST, "-o", folder / "out")
    page = (folder / "out" / "report.html").read_text()
    assert all(shown in page for shown in ("graph.csv", "random vectors", "Best: re", "filter=reach"))
    results = json.loads((folder / "out" / "results.json").read_text())
    assert results["kind"] == "compare" and len(results["rows"]) == 3 and results["inputs"]["ratios"] == [0.5]
    assert {path.name for path in (folder / "out" / "plots").iterdir()} == {"time-quality.svg"}


def test_what_is_done_is_not_made_again_and_what_failed_is(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def rows(method: str) -> list[dict[str, Any]]:
        return list(compares(folder, "-o", folder / "out", "--methods", method, "--json").figures["rows"])

    started = instead(monkeypatch, {"rbqr": ended("failed")})
    assert compares(folder, "-o", folder / "out").code == 0 and started == ["refine", "rbqr"]
    started = instead(monkeypatch, {})
    kept = rows("refine")
    assert started == [] and [row["status"] for row in kept] == ["done", "baseline", "failed"]
    again = rows("rbqr")
    assert started == ["rbqr"] and sorted(row["status"] for row in again) == ["baseline", "done", "done"]
    assert all(row in again for row in kept if row["status"] != "failed")


def test_another_comparison_is_not_replaced(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    (folder / "names.txt").write_text("somebody else\n")
    write_labels(folder / "others.csv", {f"{NASTY} {node}": f"{node % 2}" for node in range(20)})
    instead(monkeypatch, {})
    assert compares(folder, "-o", "out", "--methods", "refine").code == 0
    for arguments, differing in (
        (["--repeats", "3", "--seed", "1"], "(repeats, seed)"),
        (["--nodes", "names.txt"], "(graph)"),
        (["--labels", "others.csv"], "(labels)"),
    ):
        typed = ("compare", "graph.csv", "--labels", "labels.csv", *FAST, "-o", "out", *arguments)
        refuses(*typed, folder=folder, expected=(differing,))


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
        eventually(lambda: len(children_of(process.pid)) == 1)
        (child,) = children_of(process.pid)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert process.returncode == 130 and out == b"" and b"refine " in err
    eventually(lambda: not alive(child))
    kept = json.loads((tmp_path / "out" / "results.json").read_text())["rows"]
    done = subprocess.run([*typed, "--json"], cwd=tmp_path, capture_output=True, timeout=60)
    rows = json.loads(done.stdout)["rows"]
    assert all(row in rows for row in kept) and len(rows) > len(kept) > 0


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--methods", "refin"], "--methods 'refin'"),
        (["--methods", ","], "--methods"),
        (["--dims", "0"], "--dims 0"),
        (["--ratio", "0.01"], "0.01 of 20 nodes"),
        (["--time-limit", "0"], "--time-limit 0.0"),
        (["--memory-limit", "much"], "'much'"),
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
