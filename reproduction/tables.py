"""Tables 1 to 5, and Figures 1 to 3, which are pictures: few of their numbers are known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphrefine.methods import registry as methods
from reproduction import published
from reproduction.cache import Cache, Measurement
from reproduction.findings import Cell, Findings, Gap, Layout, Line, Picture, join_notes, make_gap_cell
from reproduction.label_scores import PRESETS, PROTOCOL, MethodScores, make_f1_cells, measure_size, score_method
from reproduction.measure_times import time_files
from reproduction.setup import LARGE, Setup, Source

TITLES = {"deepwalk": "DeepWalk", "line": "LINE", "prone": "ProNE", "rbqr": "RBQR", "refine": "REFINE"}
NO_FIGURES: dict[published.Measure, tuple[None]] = {"micro": (None,), "macro": (None,)}  # at one ratio
VARIANTS = {  # settings of Figures 2 and 3: name of the figure, symbol, values, and the value of Table 1
    "power": ("figure2", "q", published.FIGURE2_POWERS, 3),
    "block": ("figure3", "b", published.FIGURE3_BLOCKS, 16),
}


def score_row(setup: Setup, cache: Cache, graph: str, method: str, **options: Any) -> MethodScores | Gap:
    """A row of Table 1 or 2."""
    ratios = setup.select_ratios(published.RATIOS[graph])
    return score_method(setup, cache, graph, method, ratios=ratios, **options)


def fill_f1_table(setup: Setup, cache: Cache, *, graphs: tuple[str, ...]) -> Findings:
    """Tables 1 and 2: F1 on two graphs."""
    cells: list[Cell] = []
    for graph in graphs:
        for method in published.ROWS:
            note = "a row in the paper's source that its print leaves out" if method in published.COMMENTED_OUT else ""
            cells += _make_row_cells(graph, method, score_row(setup, cache, graph, method), note)
        if graph == "wikipedia":  # the only weighted one, and so the only one on which this differs
            scores = score_row(setup, cache, graph, "refine", published_settings=False)
            note = "REFINE as Eqs. 3-4 have it, with ln A_ij in M: the authors' code leaves it out"
            cells += _make_row_cells(graph, "refine, weights kept", scores, note, row="refine")
    return Findings(cells, Layout("method", "train", split=("graph", "measure")), notes=[PROTOCOL])


def _make_row_cells(graph: str, name: str, scores: MethodScores | Gap, note: str, row: str | None = None) -> list[Cell]:
    paper = {measure: table[graph][row or name] for measure, table in published.F1.items()}
    what = {"graph": graph, "method": name}
    return make_f1_cells(scores, what, ratios=published.RATIOS[graph], paper=paper, note=note)


def fill_table3(setup: Setup, cache: Cache) -> Findings:
    """Sizes of the graphs."""
    cells: list[Cell] = []
    for graph, sizes in published.TABLE3.items():
        source = setup.graphs.find_real(graph)
        counts = source if isinstance(source, Gap) else cache.measure(measure_size, source)
        for name, paper in sizes._asdict().items():
            what = {"graph": graph, "count": name}
            if isinstance(counts, Gap):
                cells.append(make_gap_cell(what, counts, paper))
            elif name == "edges":
                details = {key: counts[key] for key in ("entries", "self_loops", "isolated")}
                cells.append(Cell(what, counts[name], paper, note=_explain_edges(counts, paper), details=details))
            else:
                cells.append(Cell(what, counts[name], paper))
    return Findings(cells, Layout("graph", "count"), notes=["Ours / the paper's; each undirected edge counts once."])


def _explain_edges(counts: Measurement, paper: int) -> str:
    """Reason why our number of edges is another.

    Examples
    --------
    >>> _explain_edges({"edges": 100, "entries": 200, "self_loops": 12}, 212)
    'the paper counts stored entries: both directions of an edge, and self-loops'
    """
    if counts["edges"] == paper:
        return ""
    if paper == counts["entries"] + counts["self_loops"]:
        return "the paper counts stored entries: both directions of an edge, and self-loops"
    return f"{counts['entries']:,} stored entries and {counts['self_loops']:,} self-loops in the file"


def fill_table4(setup: Setup, cache: Cache) -> Findings:
    """REFINE against fast methods, Micro F1 with 80% for training."""
    cells: list[Cell] = []
    for graph, row in published.TABLE4.items():
        other = "ppi" if graph == "blogcatalog" and not setup.full else graph
        real = setup.graphs.find_real(graph)
        for method, paper in row.items():
            ratio = published.TABLE4_OURS_RATIO if method == "refine" and graph in LARGE else published.TABLE4_RATIO
            what = {"graph": graph, "method": method, "measure": "micro", "train": ratio}
            if graph in LARGE and isinstance(real, Gap):
                scores: MethodScores | Gap = Gap("missing", f"F1 on a stand-in tells nothing; {real.reason}")
            else:
                scores = score_method(setup, cache, other, method, ratios=(ratio,))
            cells.append(_make_table4_cell(scores, what, paper, other))
    return Findings(cells, Layout("graph", "method"), notes=[PROTOCOL])


def _make_table4_cell(scores: MethodScores | Gap, what: dict[str, Any], paper: float, graph: str) -> Cell:
    unit = "% Micro F1"
    if isinstance(scores, Gap):
        return make_gap_cell(what, scores, paper, unit)
    replaced = graph != what["graph"]
    note = join_notes(f"on {graph} instead" if replaced else "", scores.note)
    details = {"std": scores.spread["micro"][0], "seeds": scores.seeds, "seconds": scores.seconds}
    return Cell(what, scores.f1["micro"][0], paper, unit, note, scores.comparable and not replaced, details)


def fill_table5(setup: Setup, cache: Cache) -> Findings:
    """Runtime with input and output, REFINE against ProNE."""
    cells: list[Cell] = []
    for graph, paper in published.TABLE5.items():
        source, times = setup.graphs.find_or_replace(graph), time_graph(setup, cache, graph)
        for method in ("prone", "refine"):
            what = {"graph": graph, "method": method}
            if isinstance(times, Gap):
                cells.append(make_gap_cell(what, times, paper[method], "s"))
                continue
            details = {"all": times["all"][method]}
            ours, comparable = times["best"][method], not source.standin
            cells.append(Cell(what, ours, paper[method], "s", source.note, comparable, details))
        if not isinstance(times, Gap):
            cells.append(make_speedup_cell(setup, times, {"graph": graph, "method": "prone / refine"}))
    note = (
        "One thread; from the graph's file to the file of vectors, in a process that is already up. ProNE is ours, on "
        "the same kernels as REFINE. The paper's machine: AMD Ryzen 2700."
    )
    return Findings(cells, Layout("method", "graph"), notes=[note])


def time_graph(setup: Setup, cache: Cache, graph: str) -> Measurement | Gap:
    """Best and all seconds by method from file to file, on one thread."""
    settings = {method: _select_settings(setup, method) for method in ("refine", "rbqr", "prone")}
    rounds = 1 if graph in LARGE and setup.full else setup.rounds
    source = setup.graphs.find_or_replace(graph)
    return cache.time(time_files, source, settings=settings, threads=1, rounds=rounds)


def _select_settings(setup: Setup, method: str) -> dict[str, Any]:
    settings = methods.make_settings(method, PRESETS.get(method), dim=setup.dim, seed=setup.seed)
    names = ("dim", "seed", "log_weights", "two_sided")
    return {name: getattr(settings, name) for name in names if hasattr(settings, name)}


def make_speedup_cell(setup: Setup, times: Measurement | Gap, what: dict[str, Any]) -> Cell:
    """ProNE's seconds in REFINE's, on the graph of a row of Table 5."""
    source, row = setup.graphs.find_or_replace(what["graph"]), published.TABLE5[what["graph"]]
    paper = row["prone"] / row["refine"]
    if isinstance(times, Gap):
        return make_gap_cell(what, times, paper, "x")
    ours = times["best"]["prone"] / times["best"]["refine"]
    return Cell(what, ours, paper, "x", source.note, not source.standin)


def find_youtube(setup: Setup) -> Source:
    """The YouTube graph if it is here, else the part of it that is, else a stand-in."""
    part = setup.graphs.find_real("youtube-part")
    if isinstance(part, Source) and isinstance(setup.graphs.find_real("youtube"), Gap):
        return part
    return setup.graphs.find_or_replace("youtube")


def score_youtube(setup: Setup, cache: Cache) -> dict[str, MethodScores | Gap]:
    """F1 and seconds on YouTube with 90% for training, by method."""
    graph, ratios = find_youtube(setup).name, (published.FIGURE1_RATIO,)
    return {method: score_method(setup, cache, graph, method, ratios=ratios) for method in TITLES}


def draw_figure1(setup: Setup, cache: Cache) -> Findings:
    """F1 against runtime."""
    source, ratios = find_youtube(setup), (published.FIGURE1_RATIO,)
    cells: list[Cell] = []
    scores_by_method = score_youtube(setup, cache)
    for method, scores in scores_by_method.items():
        what = {"graph": source.name, "method": method}
        cells += make_f1_cells(scores, what, ratios=ratios, paper=NO_FIGURES)
        paper = published.YOUTUBE_SECONDS.get(method)
        if isinstance(scores, Gap):
            cells.append(make_gap_cell({**what, "measure": "seconds"}, scores, paper, "s"))
        else:
            note = join_notes(scores.note, f"{setup.threads} threads; the paper: 1 or 16")
            seconds = {"seconds": (scores.seconds, paper), "processor seconds": (scores.processor, None)}
            for measure, (ours, theirs) in seconds.items():
                if ours is not None:
                    named = {**what, "measure": measure}
                    cells.append(Cell(named, ours, theirs, "s", note, comparable=source.name == "youtube"))
    name = "YouTube" if source.comparable else f"a {'stand-in for' if source.standin else 'part of'} YouTube"
    measured = {method: scores for method, scores in scores_by_method.items() if not isinstance(scores, Gap)}
    pictures = []
    for measure in NO_FIGURES:
        points = [
            Line(TITLES[method], [one.spent], one.f1[measure], points_only=True) for method, one in measured.items()
        ]
        title, label = f"{measure.capitalize()} F1 against time, {name}, 90% for training", _format_axis(measure)
        time = "seconds of all cores together"
        pictures.append(Picture(f"figure1-{measure}", title, points, time, label, log_x=True, note=source.note))
    layout = Layout("method", "measure", split=("graph",))
    times = (
        "Seconds are those of the clock, processor seconds those of all cores together: the same for any number of "
        "threads, and on a busy machine too, so the pictures have these."
    )
    notes = [PROTOCOL, f"Graph: {source.name}. {source.note}".strip(), times]
    return Findings(cells, layout, pictures, notes=notes)


def draw_variants(setup: Setup, cache: Cache, *, setting: str) -> Findings:
    """Figures 2 and 3: F1 by number of power iterations, and by block size."""
    cells: list[Cell] = []
    lines: dict[published.Measure, list[Line]] = {"micro": [], "macro": []}
    ratios, (name, symbol, values, in_table1) = published.RATIOS["blogcatalog"], VARIANTS[setting]
    for value in values:
        scores = score_row(setup, cache, "blogcatalog", "refine", **{setting: value})
        paper: dict[published.Measure, Sequence[float | None]] = {
            measure: table["blogcatalog"]["refine"] if value == in_table1 else [None] * len(ratios)
            for measure, table in published.F1.items()
        }
        cells += make_f1_cells(scores, {"graph": "blogcatalog", setting: value}, ratios=ratios, paper=paper)
        if not isinstance(scores, Gap):
            for measure, curves in lines.items():
                curves.append(Line(f"{symbol} = {value}", [100 * r for r in scores.ratios], scores.f1[measure]))
    pictures = []
    for measure, curves in lines.items():
        title = f"{measure.capitalize()} F1 by {setting}, BlogCatalog"
        pictures.append(Picture(f"{name}-{measure}", title, curves, "nodes for training (%)", _format_axis(measure)))
    return Findings(cells, Layout(setting, "train", split=("measure",)), pictures, notes=[PROTOCOL])


def _format_axis(measure: published.Measure) -> str:
    return f"{measure.capitalize()} F1 (%)"
