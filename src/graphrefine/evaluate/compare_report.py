"""Report of a comparison: the table, time against quality, and the settings of each method."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphrefine.display.colors import LEADER
from graphrefine.display.plots import log_seconds, plain, style_of
from graphrefine.display.report import Cell, CellLike, Plot, Report, Section, Table
from graphrefine.errors import OutputError
from graphrefine.evaluate.results import BASELINE, Comparison, Row
from graphrefine.kernels.numerics import KEY
from graphrefine.methods.registry import METHODS, find_method
from graphrefine.system.memory import gigabytes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

KIND = "compare"


def make_title(graph: str) -> str:
    """Return the title of the report on a graph file."""
    return f"Methods compared on {'standard input' if graph == '-' else Path(graph).name}"


def check_inputs(folder: str, previous: dict[str, Any] | None, comparison: Comparison) -> None:
    """Refuse to replace a report on other inputs."""
    stored, inputs = (previous or {}).get("inputs"), comparison.inputs
    if isinstance(stored, dict) and stored != inputs:
        differing = ", ".join(name for name in {**inputs, **stored} if stored.get(name) != inputs.get(name))
        raise OutputError(
            f"{folder}: holds a comparison with other inputs ({differing}); choose another folder, or remove it"
        )


def make_report(comparison: Comparison, title: str) -> Report:
    """Make the report of a comparison."""
    limit = comparison.limits["seconds"]
    within = f"{gigabytes(comparison.limits['bytes'])}{'' if limit is None else f' and {limit:g} s'}"
    threads, nodes, edges = comparison.inputs["threads"], comparison.graph["nodes"], comparison.graph["edges"]
    method = (
        f"Each method ran in a separate process, with {threads} threads at most, within {within}. "
        "Time is that of computing the vectors, reading and writing aside; memory is the most that the process held. "
        "Random vectors know nothing of the graph: a method that is not above them has learnt nothing."
    )
    plots = [Plot("time-quality", f"Time and quality: {nodes:,} nodes, {edges:,} edges",
                  lambda axes: _draw(axes, comparison), "Up and to the left is better.")]  # fmt: skip
    by_method = {row.method: row for row in comparison.finished}
    settings = Table(["method", "settings", "reference"], [_list_settings(row) for row in by_method.values()])
    sections = [
        Section(
            "Result",
            f"{_summarize(comparison)}\n\n{comparison.protocol}.",
            [_make_table(comparison)],
            plots if comparison.finished else [],
        ),
        Section("How it was measured", method),
        Section("Settings", "", [settings] if comparison.finished else []),
    ]
    return Report(KIND, title, sections)


def _summarize(comparison: Comparison) -> str:
    if not comparison.finished:
        return "No method finished."
    best = comparison.finished[0]
    fastest = min(comparison.finished, key=lambda row: row.seconds or 0.0)
    verdict = f"Best: {best.name} ({_first_cell(best)} in {best.cost()[0]})."
    if fastest is best:
        return verdict
    return f"{verdict} Fastest: {fastest.name} ({_first_cell(fastest)} in {fastest.cost()[0]})."


def _first_cell(row: Row) -> str:
    return next(iter(row.cells.values()))


def _make_table(comparison: Comparison) -> Table:
    rows: list[list[CellLike]] = []
    best = comparison.finished[0] if comparison.finished else None
    for row in comparison.rows:
        cells: list[CellLike] = [row.cells.get(column) for column in comparison.columns]
        if row is best:
            cells[0] = Cell(row.cells[comparison.columns[0]], "good")
        mark = "bad" if row.status not in ("done", BASELINE) else "missing" if row.status == BASELINE else ""
        rows.append([row.method, row.dim, *row.cost(), *cells, Cell(row.reason, mark)])  # type: ignore[arg-type]
    return Table(["method", "dim", "time", "memory", *comparison.columns, "status"], rows)


def _list_settings(row: Row) -> list[CellLike]:
    columns = ("method", "dim", "version", KEY)
    others = (f"{key}={value}" for key, value in row.recipe.items() if key not in columns and value is not None)
    return [row.method, ", ".join(others), find_method(row.method).reference if row.method in METHODS else None]


def _draw(axes: Axes, comparison: Comparison) -> None:
    """Draw the points of the methods, those of one method joined, and baselines as lines."""
    positions = {name: position for position, name in enumerate(METHODS)}  # the same look in every report
    dims = {row.dim for row in comparison.finished}
    for name in sorted({row.method for row in comparison.finished}):
        rows = sorted((row for row in comparison.finished if row.method == name), key=lambda row: row.dim or 0)
        path = [(max(row.seconds or 0.0, 1e-4), row.quality or 0.0) for row in rows]  # 0 has no logarithm
        style = style_of(positions.get(name, 0))
        axes.plot(*zip(*path, strict=True), markersize=7, linewidth=1, label=plain(name), **style)
        for row, point in zip(rows, path, strict=True):
            if len(dims) > 1:
                axes.annotate(f"{row.dim}", point, xytext=(5, 4), textcoords="offset points", fontsize=8)
    for row in comparison.rows:
        if row.status == BASELINE:
            axes.axhline(row.quality or 0.0, linestyle="--", color=LEADER, linewidth=1, label=plain(row.method))
    axes.set_ylabel(comparison.axis)
    axes.margins(0.08)
    log_seconds(axes, "time to compute the vectors")
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
