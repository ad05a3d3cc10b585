"""A comparison as a report: the table, time against quality, and what each method was set to."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphrefine.errors import OutputError
from graphrefine.evaluate.compare_rows import BASELINE, Comparison, Row
from graphrefine.methods.registry import METHODS, find_method
from graphrefine.system.memory import gigabytes
from graphrefine.visuals.colours import LEADER
from graphrefine.visuals.plots import LABEL_SIZE, label_points, log_seconds, path_points, plain, style_of
from graphrefine.visuals.report import Cell, CellLike, Plot, Report, Section, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

KIND = "compare"


def title_of(graph: str) -> str:
    """What the report on a graph is called.

    Examples
    --------
    >>> title_of("data/friends.csv"), title_of("-")
    ('Methods compared on friends.csv', 'Methods compared on standard input')
    """
    return f"Methods compared on {'standard input' if graph == '-' else Path(graph).name}"


def check_inputs(folder: str, old: dict[str, Any] | None, done: Comparison) -> None:
    """Refuse to replace a report on other inputs."""
    stored = None if old is None else old.get("inputs")
    if not isinstance(stored, dict) or stored == done.inputs:
        return
    name = next(key for key in {**done.inputs, **stored} if stored.get(key) != done.inputs.get(key))
    if name in ("graph", "labels", "task"):
        what = {"graph": "another graph", "labels": "other labels", "task": f"the task {stored.get('task')!r}"}[name]
    else:
        what = f"{name} {stored.get(name)}, not {done.inputs.get(name)}"
    raise OutputError(f"{folder}: holds a comparison with {what}; choose another folder, or remove it")


def report_of(done: Comparison, title: str) -> Report:
    """What people read of a comparison."""
    limit = done.limits["seconds"]
    within = f"{gigabytes(done.limits['bytes'])}{'' if limit is None else f' and {limit:g} s'}"
    how = (
        f"Each method ran in a process of its own, with {done.inputs['threads']} threads at most, within {within}. "
        "Time is that of computing the vectors, reading and writing aside; memory is the most that the process held. "
        "Random vectors know nothing of the graph: what is not above them has learnt nothing."
    )
    plots = [Plot("time-quality", f"Time and quality: {done.graph['nodes']:,} nodes, {done.graph['edges']:,} edges",
                  lambda axes: _draw(axes, done), "Up and to the left is better.")]  # fmt: skip
    once = {row.method: row for row in done.finished}.values()
    settings = Table(["method", "settings", "reference"], [_settings(row) for row in once])
    sections = [
        Section("Result", f"{_verdict(done)}\n\n{done.protocol}.", [_table(done)], plots if done.finished else []),
        Section("How it was measured", how),
        Section("Settings", "", [settings] if done.finished else []),
    ]
    return Report(KIND, title, sections)


def _verdict(done: Comparison) -> str:
    if not done.finished:
        return "No method finished."
    best = done.finished[0]
    fastest = min(done.finished, key=lambda row: row.seconds or 0.0)
    words = f"Best: {best.name} ({_quality(best)} in {best.cost()[0]})."
    return (
        words if fastest is best else f"{words} Fastest: {fastest.name} ({_quality(fastest)} in {fastest.cost()[0]})."
    )


def _quality(row: Row) -> str:
    return next(iter(row.shown.values()))


def _table(done: Comparison) -> Table:
    rows: list[list[CellLike]] = []
    best = done.finished[0] if done.finished else None
    for row in done.rows:
        measured: list[CellLike] = [row.shown.get(column) for column in done.columns]
        if row is best:
            measured[0] = Cell(row.shown[done.columns[0]], "good")
        mark = "bad" if row.status not in ("done", BASELINE) else "missing" if row.status == BASELINE else ""
        rows.append([row.method, row.dim, *row.cost(), *measured, Cell(row.reason, mark)])  # type: ignore[arg-type]
    return Table(["method", "dim", "time", "memory", *done.columns, "status"], rows)


def _settings(row: Row) -> list[CellLike]:
    told = ("method", "dim", "version")
    others = (f"{key}={value}" for key, value in row.recipe.items() if key not in told and value is not None)
    return [row.method, ", ".join(others), find_method(row.method).reference if row.method in METHODS else None]


def _draw(axes: Axes, done: Comparison) -> None:
    """Points of the methods, those of one method joined; what they must beat as lines."""
    points: list[tuple[float, float]] = []
    between: list[tuple[float, float]] = []
    texts: list[str] = []
    places = {name: place for place, name in enumerate(METHODS)}  # the same look in every report
    one = len({row.dim for row in done.finished}) == 1
    for name in sorted({row.method for row in done.finished}):
        mine = sorted((row for row in done.finished if row.method == name), key=lambda row: row.dim or 0)
        path = [(max(row.seconds or 0.0, 1e-4), row.quality or 0.0) for row in mine]  # 0 has no logarithm
        axes.plot(*zip(*path, strict=True), markersize=7, linewidth=1, **style_of(places.get(name, 0)))
        texts += [name if one else f"{name} {row.dim}" for row in mine]
        points += path
        between += path_points(path)
    baselines = [row for row in done.rows if row.status == BASELINE]
    for row in baselines:
        axes.axhline(row.quality or 0.0, linestyle="--", color=LEADER, linewidth=1)
    axes.set_ylabel(done.axis)
    axes.margins(0.08)
    log_seconds(axes, "time to compute the vectors")
    for row in baselines:
        axes.annotate(
            plain(row.method),
            (0.995, row.quality or 0.0),
            xycoords=("axes fraction", "data"),
            xytext=(0, 1),
            textcoords="offset points",
            ha="right",
            va="bottom",
            fontsize=LABEL_SIZE,
        )
    label_points(axes, [x for x, _ in points], [y for _, y in points], texts, clear_of=between)
