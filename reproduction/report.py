"""Report of the findings: a summary, then a section for each table, figure and claim."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from graphrefine.display.plots import log_seconds, plain, style_of
from graphrefine.display.report import Cell as TableCell
from graphrefine.display.report import Plot, Report, Section, Table
from reproduction.experiments import Experiment
from reproduction.findings import Cell, Findings, Layout, Picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from graphrefine.display.report import Mark

KIND = "reproduce"
NEAR = 1.0  # F1: a cell this far below the paper's, or nearer, or above it, is reproduced
MARKS: dict[str, Mark] = {"holds": "good", "does not hold": "bad", "partly": "", "not measured": "missing"}


def make_title(setup_name: str) -> str:
    """The title, which tells a quick report from a full one."""
    return "The REFINE paper, reproduced" + ("" if setup_name == "full" else f" ({setup_name} run)")


def make_report(studies: Sequence[tuple[Experiment, Findings]], *, setup_name: str, preface: str) -> Report:
    """The whole report."""
    rows: list[list[Any]] = []
    for experiment, findings in studies:
        word, reason = summarize(findings)
        rows.append([experiment.title, TableCell(word, MARKS.get(word, "")), reason])
    summary = Section("Summary", preface, [Table(["what", "verdict", "because"], rows)])
    return Report(KIND, make_title(setup_name), [summary, *(_make_section(*study) for study in studies)])


def summarize(findings: Findings) -> tuple[str, str]:
    """The verdict of a claim; for a table or a figure, the distance of its F1 from the paper's."""
    if findings.verdict is not None:
        return findings.verdict.word, findings.verdict.reason
    measured = [cell for cell in findings.cells if cell.ours is not None]
    differences = [cell.difference for cell in measured if cell.difference is not None and "F1" in cell.unit]
    parts = [f"{len(measured)} cells measured"]
    if differences:
        near = sum(difference >= -NEAR for difference in differences)
        mean = sum(differences) / len(differences)
        parts.append(f"{near} of {len(differences)} within {NEAR:g} F1 of the paper or above, {mean:+.2f} on average")
    if len(measured) < len(findings.cells):
        parts.append(f"{len(findings.cells) - len(measured)} without a figure of ours")
    return "", "; ".join(parts)


def _make_section(experiment: Experiment, findings: Findings) -> Section:
    text = [experiment.text, *findings.notes]
    if findings.verdict is not None:
        text.insert(1, f"Verdict: {findings.verdict.word}. {findings.verdict.reason}.")
    tables = _make_list(findings.cells) if findings.layout is None else _make_grids(findings.cells, findings.layout)
    plots = [_make_plot(picture) for picture in findings.pictures if picture.lines]
    return Section(experiment.title, "\n\n".join(text), tables, plots)


def _make_list(cells: Sequence[Cell]) -> list[Table]:
    """A row for each cell."""
    names = list(dict.fromkeys(name for cell in cells for name in cell.what))
    figures = (item for cell in cells for item in cell.details.items())
    details = list(dict.fromkeys(name for name, value in figures if isinstance(value, int | float)))
    paper = ["paper"] if any(cell.paper is not None for cell in cells) else []
    rows: list[list[Any]] = []
    for cell in cells:
        row: list[Any] = [_format_name(cell.what.get(name, "")) for name in names]
        row += [cell.ours if cell.ours is not None else cell.status]
        row += [cell.paper] if paper else []
        row += [cell.details.get(name) for name in details] + [cell.unit, cell.note]
        rows.append(row)
    return [Table([*names, "ours", *paper, *details, "unit", "note"], rows)] if rows else []


def _make_grids(cells: Sequence[Cell], layout: Layout) -> list[Table]:
    """Tables of ours / the paper's, with the notes of the cells below each."""
    tables = []
    groups: dict[tuple[Any, ...], list[Cell]] = {}
    for cell in cells:
        groups.setdefault(tuple(cell.what.get(name) for name in layout.split), []).append(cell)
    for key, group in groups.items():
        columns = list(dict.fromkeys(cell.what[layout.column] for cell in group))
        grid: dict[Any, dict[Any, Cell]] = {}
        for cell in group:
            grid.setdefault(cell.what[layout.row], {})[cell.what[layout.column]] = cell
        rows: list[list[Any]] = [
            [_format_name(row), *(_format_cell(by_column.get(column)) for column in columns)]
            for row, by_column in grid.items()
        ]
        header = [", ".join([*map(str, key), layout.row]), *map(_format_name, columns)]
        tables.append(Table(header, rows, _list_notes(group, layout)))
    return tables


def _list_notes(cells: Sequence[Cell], layout: Layout) -> str:
    """Every note once, after the names of its rows."""
    rows: dict[str, dict[str, None]] = {}
    for cell in cells:
        if cell.note:
            rows.setdefault(cell.note, {})[_format_name(cell.what[layout.row])] = None
    return "\n\n".join(f"{', '.join(names)}: {note}." for note, names in rows.items())


def _format_cell(cell: Cell | None) -> TableCell:
    """Ours / the paper's."""
    if cell is None:
        return TableCell(None, "missing")
    paper = "" if cell.paper is None else f" / {_format_figure(cell.paper)}"
    if cell.ours is None:
        return TableCell(f"{cell.status}{paper}", "missing")
    difference = cell.difference if "F1" in cell.unit else None
    mark: Mark = "" if difference is None else "good" if difference >= -NEAR else "bad"
    return TableCell(f"{_format_figure(cell.ours)}{paper}", mark)


def _format_figure(value: float) -> str:
    """A number as a table shows it.

    Examples
    --------
    >>> _format_figure(184812), _format_figure(41.0), _format_figure(0.0973), _format_figure(305.0)
    ('184,812', '41.00', '0.097', '305')
    """
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.2f}" if abs(value) >= 1 else f"{value:.3f}"


def _format_name(value: Any) -> str:
    """A share of nodes as percent, all else unchanged."""
    return f"{100 * value:g}%" if isinstance(value, float) and 0 < value < 1 else str(value)


def _make_plot(picture: Picture) -> Plot:
    """A picture as the report draws it."""

    def draw(axes: Axes) -> None:
        for place, line in enumerate(picture.lines):
            style = "none" if line.points_only else "-"
            axes.plot(line.x, line.y, label=plain(line.name), linestyle=style, **style_of(place))
        axes.set_xlabel(plain(picture.x))
        axes.set_ylabel(plain(picture.y))
        if picture.log_y:
            axes.set_yscale("log")
        if picture.log_x and picture.x == "seconds":
            log_seconds(axes)
        elif picture.log_x:
            _set_log_ticks(axes, sorted({value for line in picture.lines for value in line.x}))
        axes.legend()

    return Plot(picture.name, picture.title, draw, picture.note)


def _set_log_ticks(axes: Axes, sizes: Sequence[float]) -> None:
    """A logarithmic axis with a tick at each of a few sizes."""
    axes.set_xscale("log")
    axes.set_xticks(list(sizes), [f"{size:,g}" if size < 1e6 else f"{size / 1e6:g} M" for size in sizes])
    axes.minorticks_off()
