"""Findings as a report: a summary, then a section for each table, figure and claim."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from graphrefine.paper.findings import Experiment, Findings, Layout, Picture
from graphrefine.paper.label_scores import Cell
from graphrefine.reports import Cell as Shown
from graphrefine.reports import Plot, Report, Section, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from graphrefine.reports.parts import Mark

KIND = "reproduce"
NEAR = 1.0  # F1: a cell this far below the paper's, or nearer, or above it, is reproduced
WORDS: dict[str, Mark] = {"holds": "good", "does not hold": "bad", "partly": "", "not measured": "missing"}


def title_of(setup_name: str) -> str:
    """The title, which tells a quick report from a full one."""
    return "The REFINE paper, reproduced" + ("" if setup_name == "full" else f" ({setup_name} run)")


def as_report(found: Mapping[str, tuple[Experiment, Findings]], *, setup_name: str, preface: str) -> Report:
    """The whole report."""
    rows: list[list[Any]] = []
    for experiment, findings in found.values():
        word, because = headline(findings)
        rows.append([experiment.title, Shown(word, WORDS.get(word, "")), because])
    summary = Section("Summary", preface, [Table(["what", "verdict", "because"], rows)])
    sections = [_section(experiment, findings) for experiment, findings in found.values()]
    return Report(KIND, title_of(setup_name), [summary, *sections])


def headline(findings: Findings) -> tuple[str, str]:
    """The verdict of a claim; of a table or a figure, how far its F1 is from the paper's."""
    if findings.verdict is not None:
        return findings.verdict.word, findings.verdict.because
    measured = [cell for cell in findings.cells if cell.ours is not None]
    missing = len(findings.cells) - len(measured)
    gaps = [cell.difference for cell in measured if cell.difference is not None and "F1" in cell.unit]
    parts = [f"{len(measured)} cells measured"]
    if gaps:
        near = sum(gap >= -NEAR for gap in gaps)
        mean = sum(gaps) / len(gaps)
        parts.append(f"{near} of {len(gaps)} within {NEAR:g} F1 of the paper or above, {mean:+.2f} on average")
    if missing:
        parts.append(f"{missing} without a figure of ours")
    return "", "; ".join(parts)


def _section(experiment: Experiment, findings: Findings) -> Section:
    text = [experiment.says, *findings.notes]
    if findings.verdict is not None:
        text.insert(1, f"Verdict: {findings.verdict.word}. {findings.verdict.because}.")
    tables = flat(findings.cells) if findings.layout is None else grids(findings.cells, findings.layout)
    return Section(experiment.title, "\n\n".join(text), tables, [as_plot(p) for p in findings.pictures if p.lines])


def flat(cells: Sequence[Cell]) -> list[Table]:
    """A row for each cell."""
    names = list(dict.fromkeys(name for cell in cells for name in cell.what))
    details = list(dict.fromkeys(name for cell in cells for name, value in cell.details.items() if _number(value)))
    paper = any(cell.paper is not None for cell in cells)
    rows: list[list[Any]] = []
    for cell in cells:
        row: list[Any] = [_named(cell.what.get(name, "")) for name in names]
        row += [cell.ours if cell.ours is not None else cell.status]
        row += [cell.paper] if paper else []
        row += [cell.details.get(name) for name in details] + [cell.unit, cell.note]
        rows.append(row)
    header = [*names, "ours", *(["paper"] if paper else []), *details, "unit", "note"]
    return [Table(header, rows)] if rows else []


def grids(cells: Sequence[Cell], layout: Layout) -> list[Table]:
    """Tables of ours / the paper's; a note below each has what was said beside its cells."""
    tables = []
    groups: dict[tuple[Any, ...], list[Cell]] = {}
    for cell in cells:
        groups.setdefault(tuple(cell.what.get(name) for name in layout.split), []).append(cell)
    for key, group in groups.items():
        columns = list(dict.fromkeys(cell.what[layout.column] for cell in group))
        placed: dict[Any, dict[Any, Cell]] = {}
        for cell in group:
            placed.setdefault(cell.what[layout.row], {})[cell.what[layout.column]] = cell
        rows: list[list[Any]] = [
            [_named(row), *(_both(by_column.get(column)) for column in columns)] for row, by_column in placed.items()
        ]
        head = ", ".join([*map(str, key), layout.row]) if key else layout.row
        tables.append(Table([head, *map(_named, columns)], rows, _notes(group, layout)))
    return tables


def _notes(cells: Sequence[Cell], layout: Layout) -> str:
    """What is to be said beside cells, once for each row."""
    said: dict[str, list[str]] = {}
    for cell in cells:
        if cell.note:
            rows = said.setdefault(cell.note, [])
            if _named(cell.what[layout.row]) not in rows:
                rows.append(_named(cell.what[layout.row]))
    return "\n\n".join(f"{', '.join(rows)}: {note}." for note, rows in said.items())


def _both(cell: Cell | None) -> Shown:
    """Ours / the paper's."""
    if cell is None:
        return Shown(None, "missing")
    theirs = "" if cell.paper is None else f" / {_figure(cell.paper)}"
    if cell.ours is None:
        return Shown(f"{cell.status}{theirs}", "missing")
    gap = cell.difference
    mark: Mark = "" if gap is None or "F1" not in cell.unit else "good" if gap >= -NEAR else "bad"
    return Shown(f"{_figure(cell.ours)}{theirs}", mark)


def _figure(value: float) -> str:
    """A number as a table shows it.

    Examples
    --------
    >>> _figure(184812), _figure(41.0), _figure(0.0973), _figure(305.0)
    ('184,812', '41.00', '0.097', '305')
    """
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.2f}" if abs(value) >= 1 else f"{value:.3f}"


def _named(value: Any) -> str:
    """A share of nodes as percent, all else as it is."""
    return f"{100 * value:g}%" if isinstance(value, float) and 0 < value < 1 else str(value)


def _number(value: Any) -> bool:
    return isinstance(value, (int, float))


def _log_sizes(axes: Axes, sizes: Sequence[float]) -> None:
    """A logarithmic axis with a tick at each of a few sizes."""
    axes.set_xscale("log")
    axes.set_xticks(list(sizes), [f"{size:,g}" if size < 1e6 else f"{size / 1e6:g} M" for size in sizes])
    axes.minorticks_off()


def as_plot(picture: Picture) -> Plot:
    """A picture as the report draws it."""

    def draw(axes: Axes) -> None:
        from graphrefine.reports.drawing import label_points, log_seconds, plain, style_of

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
            _log_sizes(axes, sorted({value for line in picture.lines for value in line.x}))
        if all(line.points_only for line in picture.lines):
            x, y = ([value for line in picture.lines for value in getattr(line, axis)] for axis in ("x", "y"))
            axes.margins(0.15)
            label_points(axes, x, y, [line.name for line in picture.lines])
        else:
            axes.legend()

    return Plot(picture.name, picture.title, draw, picture.note)
