"""Reports: what the pages show, that nothing in them runs or is lost, and what happens to the folder."""

from __future__ import annotations

import errno
import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli_runs import contents
from graphrefine.display import machine, plots
from graphrefine.display.plots import log_seconds, style_of
from graphrefine.display.report import (
    NOTHING,
    Cell,
    CellLike,
    Plot,
    Report,
    Section,
    Table,
    check_report_folder,
    render_html,
    save_results,
    write_report,
)
from graphrefine.errors import OutputError
from html_pages import Page

NASTY = "<script>alert(1)</script> & a|b `c` $x_1$ \"q\" 'r'\n**d**"
FACTS = {
    "version": "1",
    "date": "2021-11-01T00:00:00+00:00",
    "command": f"graphrefine compare {NASTY}",
    "machine": {"cpu": NASTY, "cores": 2, "memory_gb": 8.0, "os": "Linux", "python": "3.11"},
}


def draw_points(axes: Any) -> None:
    seconds, quality = [0.1, 0.11, 5.0, 300.0], [60.0, 60.2, 61.0, 55.0]
    for place, at in enumerate(zip(seconds, quality, strict=True)):
        axes.scatter(*at, **style_of(place))
    axes.set_ylabel("Micro F1")
    axes.set_title(plots.plain(NASTY))
    log_seconds(axes)


def report(title: str = "Methods compared", *, plots: bool = True, text: str = "") -> Report:
    rows: list[list[CellLike]] = [["refine", Cell(61.25, "good"), 12345], [NASTY, Cell("timeout", "bad"), None]]
    section = Section(
        "All methods",
        f"First {text}.\n\nSecond.",
        [Table(["method", "F1", "edges"], rows, note=NASTY)],
        [Plot("time-f1", NASTY, draw_points, "Higher is better.")] if plots else [],
    )
    return Report("compare", title, [section])


def test_a_report_is_a_page_plots_and_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "out"
    write_report(folder, report(), {"rows": [1, 2]})
    assert {path for path in contents(folder) if "." in path} == {"report.html", "results.json", "plots/time-f1.svg"}
    results = json.loads((folder / "results.json").read_text())
    assert results["rows"] == [1, 2] and results["kind"] == "compare"
    assert {"version", "machine", "command", "date", "title"} <= results.keys()
    ElementTree.fromstring((folder / "plots" / "time-f1.svg").read_bytes())
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)  # and without matplotlib, a note
    write_report(folder, report(), {})
    page = (folder / "report.html").read_text()
    assert "Plots were left out" in page and "refine" in page and not list((folder / "plots").iterdir())


def test_marks_are_not_in_color_alone() -> None:
    rows: list[list[CellLike]] = [["a", Cell("61.25 ± 0.30", "good")], ["b2", Cell("-3 ms", "bad")], ["c", None]]
    table = Table(["method", "F1"], rows)
    page = Page(render_html(Report("x", "t", [Section("s", tables=[table])]), FACTS, pictures={}))
    assert all(text in "".join(page.texts) for text in ("61.25 ± 0.30 ✓", "-3 ms ✗", NOTHING))


@given(st.text(max_size=60))
def test_any_name_is_shown_and_nothing_else(name: str) -> None:
    table = Table(["name"], [[name], ["plain"]])
    page = Page(render_html(Report("x", "t", [Section(name or "s", tables=[table])]), FACTS, pictures={}))
    shown = " ".join("".join(page.texts).split()).replace("\x00", "\ufffd")
    assert " ".join(name.split()).replace("\x00", "\ufffd") in shown
    assert [tag for tag, _ in page.tags].count("td") == 2


def test_the_page_needs_nothing_and_runs_nothing(tmp_path: Path) -> None:
    write_report(tmp_path / "out", report(), {})
    page = Page((tmp_path / "out" / "report.html").read_text())
    assert not {"script", "link", "iframe", "object", "base", "form"} & {tag for tag, _ in page.tags}
    for _, attributes in page.tags:
        assert not any(name.startswith("on") for name in attributes)
        for name in ("src", "srcset", "href"):
            assert (attributes.get(name) or "#").startswith(("data:", "#"))
    (policy,) = [a["content"] for tag, a in page.tags if a.get("http-equiv") == "Content-Security-Policy"]
    assert policy is not None and policy.startswith("default-src 'none'")
    sources = [a["srcset"] for tag, a in page.tags if tag == "source"]
    images = [a["src"] for tag, a in page.tags if tag == "img"]
    assert len(sources) == len(images) == 1 and sources != images, "a dark picture and a light one"


def test_the_same_figures_give_the_same_pictures() -> None:
    plot = report().plots[0]
    first, again = plots.draw_plot(plot.title, plot.draw), plots.draw_plot(plot.title, plot.draw)
    assert first == again and first.light != first.dark


def test_the_same_report_is_updated_in_place(tmp_path: Path) -> None:
    folder, same = tmp_path / "out", {"kind": "compare", "identity": "Methods compared"}
    assert check_report_folder(folder, **same) is None
    save_results(folder, {"run": 1}, kind="compare", title="Methods compared")  # before there is a report
    found = check_report_folder(folder, **same)
    assert found is not None and found["run"] == 1 and contents(folder).keys() == {"results.json"}
    write_report(folder, report(), {"run": 2})
    (folder / "plots" / ".DS_Store").touch()
    write_report(folder, report(plots=False, text="again"), {"run": 3})
    assert contents(folder).keys() == {"report.html", "results.json", "plots"}
    assert "First again" in (folder / "report.html").read_text()


def write_with_notes(out: Path) -> None:
    write_report(out, report(plots=False), {})
    (out / "plots" / "notes.txt").write_text("mine")


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda out: write_report(out, report("Another", plots=False), {}), r"holds another report \('Another'\)"),
        (lambda out: (out.mkdir(), (out / "thesis.tex").write_text("x")), "no report"),
        (lambda out: (out.mkdir(), (out / "results.json").write_text("{}")), "no report"),
        (lambda out: out.write_text("a file"), "a file"),
        (write_with_notes, "notes"),
    ],
)
def test_nothing_else_is_replaced(tmp_path: Path, make: Any, problem: str) -> None:
    folder = tmp_path / "out"
    make(folder)
    before = contents(tmp_path)
    with pytest.raises(OutputError, match=problem):
        check_report_folder(folder, kind="compare", identity="Methods compared")
    with pytest.raises(OutputError, match=problem):
        write_report(folder, report(plots=False), {})
    assert contents(tmp_path) == before


@pytest.mark.parametrize("file", ["report.html", "results.json", "time-f1.svg"])
def test_a_full_disk_leaves_the_old_report_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str) -> None:
    write_report(tmp_path / "out", report(plots=False, text="old"), {})
    before = contents(tmp_path)

    def fails(write: Any) -> Any:
        def full(path: Path, *arguments: Any, **options: Any) -> int:
            if path.name == file:
                raise OSError(errno.ENOSPC, "No space left on device")
            done: int = write(path, *arguments, **options)
            return done

        return full

    monkeypatch.setattr(Path, "write_text", fails(Path.write_text))
    monkeypatch.setattr(Path, "write_bytes", fails(Path.write_bytes))
    with pytest.raises(OutputError, match="out: the report cannot be written: No space left on device"):
        write_report(tmp_path / "out", report(text="new"), {})
    assert contents(tmp_path) == before


def test_no_name_of_the_machine_and_no_path_is_published(monkeypatch: pytest.MonkeyPatch) -> None:
    import platform

    typed = ["/usr/bin/graphrefine", "compare", "/home/ann/my graph.csv", "--labels=/home/ann/l.csv", "-o", "out/"]
    monkeypatch.setattr("sys.argv", typed)
    facts = machine.provenance()
    assert facts["command"] == "graphrefine compare 'my graph.csv' --labels=l.csv -o out/"
    assert platform.node() not in json.dumps(facts["machine"])
    assert "/" not in json.dumps({k: v for k, v in facts["machine"].items() if k != "cpu"})
    assert facts["machine"]["cores"] >= 1
    assert machine.describe_machine(facts["machine"]).startswith(facts["machine"]["cpu"])
    monkeypatch.setattr("sys.argv", ["/home/ann/analysis.py", "--all"])
    assert machine.command() is None, "a script"
