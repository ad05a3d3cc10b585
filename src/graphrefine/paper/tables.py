"""Tables 1 to 5."""

from __future__ import annotations

from typing import Any

from graphrefine import methods
from graphrefine.paper import published
from graphrefine.paper.cache import Outcome
from graphrefine.paper.findings import Findings, Layout
from graphrefine.paper.graphs import Source
from graphrefine.paper.jobs import Ask, Gap, Job
from graphrefine.paper.label_scores import Cell, ask_scores, f1_cells, gap_cell, known
from graphrefine.paper.setup import LARGE, Setup

PRESETS = {"refine": "paper", "rbqr": "paper"}  # what the authors' code computes
OTHER_GRAPHS = ("flickr-8k-subset", "youtube-part")
PROTOCOL = (
    "One-vs-rest logistic regression on unit rows, C = 1; the number of labels of each test node is known; nodes "
    "without labels are left out before splitting. In each cell: ours / the paper's."
)


def ask_row(setup: Setup, ask: Ask, graph: str, method: str) -> Outcome | Gap:
    """A row of Table 1 or 2."""
    ratios = setup.some(published.RATIOS[graph])
    return ask_scores(setup, ask, graph, method, ratios=ratios, preset=PRESETS.get(method))


def classification(setup: Setup, ask: Ask, graphs: tuple[str, ...]) -> Findings:
    """Table 1 or 2."""
    cells: list[Cell] = []
    for graph in graphs:
        for method in published.ROWS:
            note = "a row in the paper's source that its print leaves out" if method in published.COMMENTED_OUT else ""
            cells += _row(graph, method, ask_row(setup, ask, graph, method), note)
        if graph == "wikipedia":  # the only weighted one, and so the only one on which this differs
            ratios = setup.some(published.RATIOS[graph])
            kept = ask_scores(setup, ask, graph, "refine", ratios=ratios)
            note = "REFINE as Eqs. 3-4 have it, with ln A_ij in M: the authors' code leaves it out"
            cells += _row(graph, "refine, weights kept", kept, note, row="refine")
    return Findings(cells, Layout("method", "train", split=("graph", "measure")), notes=[PROTOCOL])


def _row(graph: str, name: str, found: Outcome | Gap, note: str, row: str | None = None) -> list[Cell]:
    ratios, row = published.RATIOS[graph], row or name
    theirs = {"micro": published.MICRO[graph][row], "macro": published.MACRO[graph][row]}
    return f1_cells(found, {"graph": graph, "method": name}, ratios=ratios, paper=theirs, note=note)


def table1(setup: Setup, ask: Ask) -> Findings:
    """F1 on BlogCatalog and PPI."""
    return classification(setup, ask, published.TABLE1_GRAPHS)


def table2(setup: Setup, ask: Ask) -> Findings:
    """F1 on Wikipedia and Flickr."""
    return classification(setup, ask, published.TABLE2_GRAPHS)


def table3(setup: Setup, ask: Ask) -> Findings:
    """The sizes of the graphs."""
    cells: list[Cell] = []
    for graph, theirs in published.TABLE3.items():
        source = setup.graphs.real(graph)
        found = ask(Job("count", {"graph": source.asked}, 0.5)) if isinstance(source, Source) else source
        for name in ("nodes", "edges", "labels"):
            what, figure = {"graph": graph, "count": name}, getattr(theirs, name)
            if isinstance(found, Gap):
                cells.append(gap_cell(what, found, figure))
            else:
                note = _edges_note(found, figure) if name == "edges" else ""
                details = {key: found[key] for key in ("entries", "self_loops", "isolated") if name == "edges"}
                cells.append(Cell(what, found[name], figure, "", "measured", note, details=details))
    return Findings(cells, Layout("graph", "count"), notes=["Ours / the paper's; each undirected edge counts once."])


def _edges_note(found: Outcome, theirs: int) -> str:
    """Why our number of edges is another.

    Examples
    --------
    >>> _edges_note({"edges": 100, "entries": 200, "self_loops": 12}, 212)
    'the paper counts stored entries: both directions of an edge, and self-loops'
    """
    if found["edges"] == theirs:
        return ""
    if theirs == found["entries"] + found["self_loops"]:
        return "the paper counts stored entries: both directions of an edge, and self-loops"
    return f"{found['entries']:,} stored entries and {found['self_loops']:,} self-loops in the file"


def table4(setup: Setup, ask: Ask) -> Findings:
    """REFINE against fast methods, Micro F1 with 80% for training."""
    cells: list[Cell] = []
    for graph, row in published.TABLE4.items():
        here = "ppi" if graph == "blogcatalog" and setup.name != "full" else graph
        real = setup.graphs.real(graph)
        for method, figure in row.items():
            ratio = published.TABLE4_OURS_RATIO if method == "refine" and graph in LARGE else published.TABLE4_RATIO
            what = {"graph": graph, "method": method, "measure": "micro", "train": ratio}
            found: Outcome | Gap
            if graph in LARGE and isinstance(real, Gap):
                found = Gap("missing", f"F1 on a stand-in tells nothing; {real.reason}")
            else:
                found = ask_scores(setup, ask, here, method, ratios=(ratio,), preset=PRESETS.get(method))
            cells.append(_table4_cell(found, what, figure, here))
    return Findings(cells, Layout("graph", "method"), notes=[PROTOCOL])


def _table4_cell(found: Outcome | Gap, what: dict[str, Any], figure: float, here: str) -> Cell:
    if isinstance(found, Gap):
        return gap_cell(what, found, figure, "% Micro F1")
    note = "; ".join(filter(None, (f"on {here} instead" if here != what["graph"] else "", found["note"])))
    comparable = found["comparable"] and here == what["graph"]
    details = {"std": found["micro_std"][0], "seeds": found["seeds"], "seconds": found["seconds"]}
    return Cell(what, found["micro"][0], figure, "% Micro F1", "measured", note, comparable, details)


def ask_runtimes(setup: Setup, ask: Ask, graph: str) -> Outcome | Gap:
    """Best seconds by method from file to file, on one thread."""
    source = setup.graphs.find(graph)
    if not isinstance(source, Source):
        return source
    run = [method for method in ("refine", "rbqr", "prone") if known(method) is None]
    settings = {method: _timed_settings(setup, method) for method in run}
    rounds = 1 if graph in LARGE and setup.name == "full" else setup.rounds
    asked = {"graph": source.asked, "methods": run, "settings": settings, "threads": 1, "rounds": rounds}
    guess = rounds * (0.2 + 20 * source.size.edges * 2e-6)
    found = ask(Job("time_with_io", {**asked, "machine": setup.machine}, guess))
    if isinstance(found, Gap):
        return found
    return {"seconds": found["best"], "all": found["all"], "note": source.note, "comparable": not source.standin}


def _timed_settings(setup: Setup, method: str) -> dict[str, Any]:
    chosen = methods.settings(method, PRESETS.get(method), dim=setup.dim, seed=setup.seed)
    names = ("dim", "seed", "log_weights", "two_sided")
    return {name: getattr(chosen, name) for name in names if hasattr(chosen, name)}


def table5(setup: Setup, ask: Ask) -> Findings:
    """Runtime with input and output, REFINE against ProNE."""
    cells: list[Cell] = []
    for graph, theirs in published.TABLE5.items():
        found = ask_runtimes(setup, ask, graph)
        cells += [_runtime_cell(found, graph, method, theirs[method]) for method in ("prone", "refine")]
        if not isinstance(found, Gap) and "prone" in found["seconds"]:
            ratio = found["seconds"]["prone"] / found["seconds"]["refine"]
            what = {"graph": graph, "method": "prone / refine"}
            claimed = theirs["prone"] / theirs["refine"]
            cells.append(Cell(what, ratio, claimed, "x", "measured", found["note"], found["comparable"]))
    note = (
        "One thread; from the graph's file to the file of vectors, in a process that is already up. ProNE is ours, on "
        "the same kernels as REFINE. The paper's machine: AMD Ryzen 2700."
    )
    return Findings(cells, Layout("method", "graph"), notes=[note])


def _runtime_cell(found: Outcome | Gap, graph: str, method: str, theirs: float) -> Cell:
    what = {"graph": graph, "method": method}
    gap = found if isinstance(found, Gap) else known(method)
    if gap is not None or isinstance(found, Gap):
        return gap_cell(what, gap or Gap("missing", ""), theirs, "s")
    return Cell(
        what,
        found["seconds"][method],
        theirs,
        "s",
        note=found["note"],
        comparable=found["comparable"],
        details={"all": found["all"][method]},
    )
