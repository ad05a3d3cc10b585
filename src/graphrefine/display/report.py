"""Reports: sections with text, tables and plots; their page, and their folder.

The folder is replaced as one, and only by the same report made again::

    report.html      one page that needs nothing else
    plots/           each plot as .svg
    results.json     the numbers, the machine, the command and the date
"""

from __future__ import annotations

import json
import os
import re
import shutil
from base64 import b64encode
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from graphrefine.display.console import json_text
from graphrefine.display.html import render
from graphrefine.display.machine import describe_machine, provenance
from graphrefine.display.plots import Picture, can_draw, draw_plot, missing_plots_note
from graphrefine.errors import OutputError
from graphrefine.system.files import CLUTTER, check_only, check_writable, replacing, replacing_folder

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Mark = Literal["", "good", "bad", "missing"]
SIGNS: dict[Mark, str] = {"": "", "good": " ✓", "bad": " ✗", "missing": ""}
NOTHING = "–"  # noqa: RUF001  the text of an empty cell
RESULTS = "results.json"
OURS = {"report.html", RESULTS, "plots"}
FilePath = str | os.PathLike[str]


@dataclass(frozen=True)
class Cell:
    """A cell of a table, with a mark: good, bad, or missing."""

    value: str | float | None
    mark: Mark = ""

    @property
    def text(self) -> str:
        """Value as text."""
        if self.value is None or self.value != self.value:  # NaN alone differs from itself
            return NOTHING
        if isinstance(self.value, str):
            return self.value
        return f"{self.value:,}" if isinstance(self.value, int) else f"{self.value:.4g}"

    @property
    def numeric(self) -> bool:
        """Whether it reads as a number, and is aligned to the right."""
        # Numbers come as text too, with units and deviations: "3 min 20 s", "61.2 ± 0.3", "-0.4". No word begins so.
        return not isinstance(self.value, str) or bool(re.match(r"\W*\d", self.value))

    @property
    def sign(self) -> str:
        """The mark as a character, as color alone is not for everybody."""
        return SIGNS[self.mark]


CellLike = Cell | str | float | None


def as_cell(value: CellLike) -> Cell:
    """Return a cell of any value; None is missing."""
    if isinstance(value, Cell):
        return value
    return Cell(value, "missing" if value is None else "")


@dataclass(frozen=True)
class Table:
    """Rows below a header. A cell is text, a number, None (no value) or a `Cell`."""

    header: Sequence[str]
    rows: Sequence[Sequence[CellLike]]
    note: str = ""

    def cells(self) -> list[list[Cell]]:
        """Return the rows, every cell a `Cell`."""
        return [[as_cell(value) for value in row] for row in self.rows]

    def numeric_columns(self) -> list[bool]:
        """Return whether all cells of a column are numbers, for each column."""
        columns = list(zip(*self.cells(), strict=True)) or [()] * len(self.header)
        present = [[cell for cell in column if cell.mark != "missing"] for column in columns]
        return [bool(cells) and all(cell.numeric for cell in cells) for cells in present]


@dataclass(frozen=True)
class Plot:
    """A picture: ``draw`` is called with axes of the right size and colors, several times, and must not keep them."""

    name: str  # of its file
    title: str
    draw: Callable[[Axes], Any]
    note: str = ""


@dataclass(frozen=True)
class Section:
    """A heading, paragraphs (an empty line between them), tables and plots, in this order."""

    title: str
    text: str = ""
    tables: Sequence[Table] = ()
    plots: Sequence[Plot] = ()


@dataclass(frozen=True)
class Report:
    """A whole report. ``kind`` and ``title`` identify it, so that no other report is overwritten by mistake."""

    kind: str
    title: str
    sections: Sequence[Section] = field(default_factory=tuple)

    @property
    def plots(self) -> list[Plot]:
        """The plots of all sections."""
        return [plot for section in self.sections for plot in section.plots]


def paragraphs(text: str) -> list[str]:
    """Split text at empty lines."""
    parts = (" ".join(part.split()) for part in re.split(r"\n\s*\n", text))
    return [part for part in parts if part]


def check_report_folder(
    folder: FilePath, *, kind: str, identity: str, keep: Collection[str] = ()
) -> dict[str, Any] | None:
    """Check before the work that a report can be written; return the results of its earlier version, if there is one.

    The folder is not there yet, is empty, or holds an earlier version of the report of this kind and title (identity);
    ``keep`` are folders in it that other code writes.
    """
    target = check_writable(folder, folder=True, replaceable=lambda path: _check_same(path, kind, identity, keep))
    return _read_results(target)


def write_report(folder: FilePath, report: Report, results: Mapping[str, Any], *, keep: Collection[str] = ()) -> None:
    """Write a report, replacing its earlier version in one step or, if anything fails, not at all.

    Without matplotlib plots are left out, and the page says so. To the results, the numbers for programs, ``kind``,
    ``title``, ``version``, ``machine``, ``command`` and ``date`` are added.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp()) / "report"
    >>> table = Table(["node", "degree"], [["ann", 2], ["bob", 1]])
    >>> write_report(folder, Report("example", "Two nodes", [Section("Degrees", tables=[table])]), {"sum": 3})
    >>> sorted(path.name for path in folder.iterdir())
    ['plots', 'report.html', 'results.json']
    >>> json.loads((folder / "results.json").read_text())["sum"]
    3
    """
    facts = provenance()
    pictures = {plot.name: draw_plot(plot.title, plot.draw) for plot in report.plots} if can_draw() else {}
    page = render_html(report, facts, pictures=pictures)
    replaceable = lambda path: _check_same(path, report.kind, report.title, keep)
    with _output_errors(folder), replacing_folder(folder, replaceable=replaceable) as hidden:
        (hidden / "report.html").write_text(page, encoding="utf-8")
        (hidden / RESULTS).write_text(_results_text(report.kind, report.title, facts, results), encoding="utf-8")
        (hidden / "plots").mkdir()
        for name, picture in pictures.items():
            (hidden / "plots" / f"{name}.svg").write_bytes(picture.light)
        # Copied, not moved: until the new folder has its name, the old one must be whole.
        for kept in (Path(folder) / name for name in keep):
            if kept.is_dir():
                shutil.copytree(kept, hidden / kept.name)


def save_results(
    folder: FilePath, results: Mapping[str, Any], *, kind: str, title: str, keep: Collection[str] = ()
) -> None:
    """Write ``results.json`` alone, so that a long run that is cut short keeps its numbers so far."""
    with _output_errors(folder):
        same = lambda path: _check_same(path, kind, title, keep)
        target = check_writable(folder, folder=True, replaceable=same)
        target.mkdir(exist_ok=True)
        with replacing(target / RESULTS) as hidden:
            hidden.write_text(_results_text(kind, title, provenance(), results), encoding="utf-8")


@contextmanager
def _output_errors(folder: FilePath) -> Iterator[None]:
    """Raise OutputError for errors of the disk: `compare` warns, and goes on with its methods."""
    try:
        yield
    except OutputError:
        raise
    except OSError as error:
        raise OutputError(f"{os.fspath(folder)}: the report cannot be written: {error.strerror or error}") from error


def _results_text(kind: str, title: str, facts: Mapping[str, Any], results: Mapping[str, Any]) -> str:
    return json_text({"kind": kind, "title": title, **facts, **results}) + "\n"


def _check_same(folder: Path, kind: str, title: str, keep: Collection[str] = ()) -> None:
    """Refuse a folder with anything in it but an earlier version of this report."""
    old = _read_results(folder)
    plots = {path.name for path in folder.glob("plots/*") if path.suffix != ".svg"} - CLUTTER
    parts = {path.name for path in folder.glob(f".{RESULTS}.graphrefine-*")}  # of a run that was killed
    check_only(folder, None if old is None else {*OURS, *keep, *parts}, kind="report")
    if plots:
        raise OutputError(f"{folder}: also holds {min(plots)}, which would be lost; choose another name")
    if old is not None and (old["kind"], old["title"]) != (kind, title):
        raise OutputError(f"{folder}: holds another report ({old['title']!r}); choose another folder or remove it")


def _read_results(folder: Path) -> dict[str, Any] | None:
    """Return the content of ``results.json``, if it is a report's."""
    try:
        results = json.loads((folder / RESULTS).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    is_report = isinstance(results, dict) and all(isinstance(results.get(key), str) for key in ("kind", "title"))
    return results if is_report else None


def render_html(report: Report, facts: Mapping[str, Any], *, pictures: Mapping[str, Picture]) -> str:
    """Render the page: styles and pictures inside it, no script. A note says why plots have no picture."""
    return render(
        "report.html",
        title=report.title,
        report=report,
        facts=facts,
        machine=describe_machine(facts["machine"]),
        pictures=pictures,
        note=missing_plots_note() if report.plots and not pictures else "",
        paragraphs=paragraphs,
        svg_uri=lambda svg: f"data:image/svg+xml;base64,{b64encode(svg).decode()}",
    )
