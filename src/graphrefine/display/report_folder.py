"""The pages of a report, and its folder: replaced as one, and only by the same report made again.

::

    report.html      one page that needs nothing else
    report.md        the same; shows the pictures in plots/
    plots/           each plot as .png and .svg
    results.json     the figures, the machine, the command and the date
"""

from __future__ import annotations

import json
import os
import re
import shutil
from base64 import b64encode
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from markupsafe import Markup

from graphrefine.display.console import json_text
from graphrefine.display.html import render
from graphrefine.display.machine import describe_machine, provenance
from graphrefine.display.plots import Picture, can_draw, draw, missing_plots_note
from graphrefine.display.report import Cell, Report, paragraphs
from graphrefine.errors import OutputError
from graphrefine.system.files import CLUTTER, check_writable, replacing, replacing_folder

RESULTS = "results.json"
OURS = {"report.html", "report.md", RESULTS, "plots"}

FilePath = str | os.PathLike[str]


def check_report_folder(
    folder: FilePath, *, kind: str, identity: str, beside: Collection[str] = ()
) -> dict[str, Any] | None:
    """Check before the work that a report can be written.

    Parameters
    ----------
    folder : path
        A folder that is not there yet, is empty, or holds an earlier version of the same report.
    kind, identity : str
        The report's ``kind`` and ``title``.
    beside : collection of str
        Folders that may stand beside the report, and stay.

    Returns
    -------
    dict or None
        The results of the earlier version, if there is one.

    Raises
    ------
    OutputError
        If it cannot be written, or other files would be lost.
    """
    target = check_writable(folder, folder=True, replaceable=lambda place: _check_same(place, kind, identity, beside))
    return _read_results(target)


def write_report(folder: FilePath, report: Report, results: Mapping[str, Any], *, beside: Collection[str] = ()) -> None:
    """Write a report, replacing its earlier version in one step or, if anything fails, not at all.

    Parameters
    ----------
    folder : path
        See `check_report_folder`.
    report : Report
        The pages for people. Without matplotlib its plots are left out, and the pages say so.
    results : mapping
        The figures for programs; ``kind``, ``title``, ``version``, ``machine``, ``command`` and ``date`` are added.
    beside : collection of str
        See `check_report_folder`.

    Examples
    --------
    >>> import tempfile
    >>> from graphrefine.display.report import Section, Table
    >>> folder = Path(tempfile.mkdtemp()) / "report"
    >>> table = Table(["node", "degree"], [["ann", 2], ["bob", 1]])
    >>> write_report(folder, Report("example", "Two nodes", [Section("Degrees", tables=[table])]), {"sum": 3})
    >>> sorted(path.name for path in folder.iterdir())
    ['plots', 'report.html', 'report.md', 'results.json']
    >>> json.loads((folder / "results.json").read_text())["sum"]
    3
    """
    facts = provenance()
    pictures = {plot.name: draw(plot) for plot in report.plots} if can_draw() else {}
    note = missing_plots_note() if report.plots and not pictures else ""
    texts = {
        "report.html": render_html(report, facts, pictures=pictures, note=note),
        "report.md": render_markdown(report, facts, pictures=pictures, note=note),
        RESULTS: _results_text(report.kind, report.title, facts, results),
    }
    try:
        replaceable = lambda place: _check_same(place, report.kind, report.title, beside)
        with replacing_folder(folder, replaceable=replaceable) as hidden:
            for name, text in texts.items():
                (hidden / name).write_text(text, encoding="utf-8")
            _write_pictures(hidden / "plots", pictures)
            for neighbor in (Path(folder) / name for name in beside):
                if neighbor.is_dir():
                    shutil.copytree(neighbor, hidden / neighbor.name)
    except OSError as error:
        raise _as_output_error(folder, error) from error


def save_results(
    folder: FilePath, results: Mapping[str, Any], *, kind: str, title: str, beside: Collection[str] = ()
) -> None:
    """Write ``results.json`` alone, so that a long run that is cut short keeps its figures so far."""
    try:
        same = lambda place: _check_same(place, kind, title, beside)
        target = check_writable(folder, folder=True, replaceable=same)
        target.mkdir(exist_ok=True)
        with replacing(target / RESULTS) as hidden:
            hidden.write_text(_results_text(kind, title, provenance(), results), encoding="utf-8")
    except OSError as error:
        raise _as_output_error(folder, error) from error


def _write_pictures(folder: Path, pictures: Mapping[str, Picture]) -> None:
    folder.mkdir()
    for name, picture in pictures.items():
        (folder / f"{name}.png").write_bytes(picture.png)
        (folder / f"{name}.svg").write_bytes(picture.svg)


def _results_text(kind: str, title: str, facts: Mapping[str, Any], results: Mapping[str, Any]) -> str:
    return json_text({"kind": kind, "title": title, **facts, **results}) + "\n"


def _as_output_error(folder: FilePath, error: OSError) -> OutputError:
    if isinstance(error, OutputError):
        return error
    return OutputError(f"{os.fspath(folder)}: the report cannot be written: {error.strerror or error}")


def _check_same(folder: Path, kind: str, title: str, beside: Collection[str] = ()) -> None:
    """Refuse a folder with anything in it but an earlier version of this report."""
    names = {path.name for path in folder.iterdir() if not _is_clutter(path.name)}
    if not names:
        return
    plots = folder / "plots"
    plot_names = {path.name for path in plots.iterdir()} - CLUTTER if plots.is_dir() else set()
    foreign = sorted(names - OURS - set(beside))
    foreign += sorted(name for name in plot_names if not name.endswith((".png", ".svg")))
    if foreign:
        raise OutputError(f"{folder}: holds {foreign[0]!r}, which is no part of a report; choose another folder")
    old = _read_results(folder)
    if old is None:
        raise OutputError(f"{folder}: holds no report that could be updated; choose another folder")
    if (old["kind"], old["title"]) != (kind, title):
        raise OutputError(f"{folder}: holds another report ({old['title']!r}); choose another folder or remove it")


def _is_clutter(name: str) -> bool:
    """Whether a file is no loss: one of the system's, or the unfinished file of a killed run."""
    return name in CLUTTER or name.startswith(f".{RESULTS}.graphrefine-")


def _read_results(folder: Path) -> dict[str, Any] | None:
    """The content of ``results.json``, if it is a report's."""
    try:
        results = json.loads((folder / RESULTS).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    is_report = isinstance(results, dict) and all(isinstance(results.get(key), str) for key in ("kind", "title"))
    return results if is_report else None


def render_html(report: Report, facts: Mapping[str, Any], *, pictures: Mapping[str, Picture], note: str = "") -> str:
    """The page: styles and pictures inside it, no script. Plots without a picture are left out; `note` says why."""
    return _render("report.html", report, facts, pictures, note, title=report.title, svg_uri=_svg_uri)


def render_markdown(report: Report, facts: Mapping[str, Any], *, pictures: Mapping[str, Any], note: str = "") -> str:
    """The same as Markdown, as GitHub and others show it."""
    functions = {"markdown": escape_markdown, "markdown_cell": _markdown_cell, "markdown_code": _markdown_code}
    return _render("report.md", report, facts, pictures, note, **functions)


def _render(
    template: str, report: Report, facts: Mapping[str, Any], pictures: Mapping[str, Any], note: str, **others: Any
) -> str:
    machine = describe_machine(facts["machine"])
    figures = {"report": report, "facts": facts, "pictures": pictures, "note": note, "machine": machine}
    return render(template, **figures, paragraphs=paragraphs, **others)


def _svg_uri(svg: bytes) -> str:
    return f"data:image/svg+xml;base64,{b64encode(svg).decode()}"


def escape_markdown(text: str) -> Markup:
    r"""Text that means nothing to Markdown or HTML, on one line.

    Examples
    --------
    >>> print(escape_markdown("a|b <i> *c* & d"))
    a\|b \<i\> \*c\* &amp; d
    """
    one_line = " ".join(text.split())
    return Markup(re.sub(r"([\\`*_\[\]<>|~$#!])", r"\\\1", one_line.replace("&", "&amp;")))


def _markdown_cell(cell: Cell) -> Markup:
    text = escape_markdown(cell.text)
    return (text if cell.mark != "good" or not text.strip() else "**" + text + "**") + cell.sign


def _markdown_code(text: str) -> Markup:
    """Text set as code, whatever backticks it holds."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence, pad = "`" * (longest + 1), " " * bool(longest)
    return Markup(f"{fence}{pad}{' '.join(text.split())}{pad}{fence}")
