"""What the text claims about quality, and what we measure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from statistics import fmean
from typing import Any

from graphrefine.paper import published, verdicts
from graphrefine.paper.cache import Outcome
from graphrefine.paper.figures import FIGURE1_METHODS, ask_figure1, ask_variant
from graphrefine.paper.findings import Findings, Layout, Line, Picture
from graphrefine.paper.graphs import Source
from graphrefine.paper.jobs import Ask, Gap, Job
from graphrefine.paper.label_scores import Cell, ask_scores, f1_cells, gap_cell, guess_splits
from graphrefine.paper.setup import Setup
from graphrefine.paper.tables import PRESETS, ask_row
from graphrefine.paper.verdicts import NOT_MEASURED, Verdict

SMALL = ("blogcatalog", "ppi", "wikipedia")
SPARSE = ("coauthor-cs", "pubmed", "lastfm", "amazon-photo")
ORDERS = (1, 2, 3, 4, 8, 16, 32)
NOISE = 0.5  # F1: what two runs of one method with other seeds and splits differ by
MARGIN = 1.0  # F1: less is no "large margin", and "significantly" needs as much


def mean_f1(found: Outcome | Gap, measure: str) -> float | None:
    """The mean over the ratios; None where it would tell nothing."""
    return None if isinstance(found, Gap) or not found["telling"] else fmean(found[measure])


def difference_cells(
    setup: Setup, ask: Ask, pairs: Mapping[str, tuple[str, str, str]], measure: str
) -> tuple[list[Cell], dict[str, float]]:
    """For each name: (graph, method, other) -> the mean F1 of the one less that of the other, ours and the paper's."""
    cells, measured = [], {}
    for name, (graph, method, other) in pairs.items():
        mine, others = (ask_row(setup, ask, graph, one) for one in (method, other))
        table = {"micro": published.MICRO, "macro": published.MACRO}[measure][graph]
        theirs = fmean(table[method]) - fmean(table[other])
        what, unit = {"graph": graph, "measure": measure, "method": method, "less": other}, "F1, mean over ratios"
        gap = next((found for found in (mine, others) if isinstance(found, Gap)), None)
        if isinstance(mine, Gap) or isinstance(others, Gap):
            cells.append(gap_cell(what, gap or Gap("missing", ""), theirs, unit))
            continue
        figure = fmean(mine[measure]) - fmean(others[measure])
        if mine["telling"] and others["telling"]:
            measured[name] = figure
        note = "; ".join(dict.fromkeys(filter(None, (mine["note"], others["note"]))))
        comparable = mine["comparable"] and others["comparable"]
        cells.append(Cell(what, figure, theirs, unit, "measured", note, comparable))
    return cells, measured


def claim_beats_deepwalk(setup: Setup, ask: Ask) -> Findings:
    """REFINE beats DeepWalk by about 8% on Wikipedia (Micro)."""
    cells, measured = difference_cells(setup, ask, {"wikipedia": ("wikipedia", "refine", "deepwalk")}, "micro")
    return Findings(cells, verdict=verdicts.at_least(measured, 6.0, unit=" F1"))


def claim_beats_line(setup: Setup, ask: Ask) -> Findings:
    """REFINE beats LINE on Macro F1 on Wikipedia at 10% and 30%."""
    cells: list[Cell] = []
    measured: dict[str, float] = {}
    mine, others = (ask_row(setup, ask, "wikipedia", method) for method in ("refine", "line"))
    for at, ratio in enumerate((0.1, 0.3)):
        what = {"graph": "wikipedia", "measure": "macro", "train": ratio, "method": "refine", "less": "line"}
        theirs = published.MACRO["wikipedia"]["refine"][at] - published.MACRO["wikipedia"]["line"][at]
        if isinstance(mine, Gap) or isinstance(others, Gap):
            gap = mine if isinstance(mine, Gap) else others
            cells.append(gap_cell(what, gap, theirs, "F1"))  # type: ignore[arg-type]
        elif ratio in mine["ratios"]:
            place = mine["ratios"].index(ratio)
            figure = mine["macro"][place] - others["macro"][place]
            if mine["telling"] and others["telling"]:
                measured[f"{ratio:.0%}"] = figure
            cells.append(Cell(what, figure, theirs, "F1", "measured", others["note"], others["comparable"]))
    return Findings(cells, verdict=verdicts.at_least(measured, 0.0, unit=" F1"))


def claim_filter_helps(setup: Setup, ask: Ask) -> Findings:
    """REFINE beats RBQR by a large margin."""
    cells, measured = difference_cells(setup, ask, {g: (g, "refine", "rbqr") for g in SMALL}, "micro")
    more, macro = difference_cells(setup, ask, {g: (g, "refine", "rbqr") for g in SMALL}, "macro")
    parts = {
        "Micro": verdicts.at_least(measured, MARGIN, unit=" F1"),
        "Macro": verdicts.at_least(macro, MARGIN, unit=" F1"),
    }
    return Findings([*cells, *more], verdict=verdicts.all_of(parts))


def claim_macro(setup: Setup, ask: Ask) -> Findings:
    """REFINE, RBQR, LINE and ProNE are alike in Macro F1, and DeepWalk is better."""
    others = ("refine", "rbqr", "line", "prone")
    pairs = {f"{m}, {g}": (g, "deepwalk", m) for g in SMALL for m in others}
    cells, measured = difference_cells(setup, ask, pairs, "macro")
    leads = {g: [measured[f"{m}, {g}"] for m in others if f"{m}, {g}" in measured] for g in SMALL}
    spread = {g: max(lead) - min(lead) for g, lead in leads.items() if len(lead) == len(others)}
    best = {g: min(lead) for g, lead in leads.items() if len(lead) == len(others)}
    parts = {
        "the four are alike (spread)": verdicts.at_most(spread, 3.0, unit=" F1"),
        "DeepWalk leads": verdicts.at_least(best, 0.0, unit=" F1"),
    }
    return Findings(cells, verdict=verdicts.all_of(parts))


def claim_fast_methods(setup: Setup, ask: Ask) -> Findings:
    """REFINE beats the fast methods of Table 4 significantly."""
    graph = "blogcatalog" if setup.name == "full" else "ppi"
    ratios = (published.TABLE4_RATIO,)
    mine = ask_scores(setup, ask, graph, "refine", ratios=ratios, preset="paper")
    cells: list[Cell] = []
    measured: dict[str, float] = {}
    for method, theirs in published.TABLE4["blogcatalog"].items():
        if method == "refine":
            continue
        found = ask_scores(setup, ask, graph, method, ratios=ratios, preset=PRESETS.get(method))
        what = {"graph": graph, "measure": "micro", "method": "refine", "less": method}
        claimed = published.TABLE4["blogcatalog"]["refine"] - theirs
        if isinstance(found, Gap) or isinstance(mine, Gap):
            cells.append(gap_cell(what, found if isinstance(found, Gap) else mine, claimed, "F1"))  # type: ignore[arg-type]
            continue
        figure = mine["micro"][0] - found["micro"][0]
        if mine["telling"] and found["telling"]:
            measured[f"{method} on {graph}"] = figure
        comparable = found["comparable"] and graph == "blogcatalog"
        cells.append(Cell(what, figure, claimed, "F1", "measured", found["note"], comparable))
    return Findings(cells, verdict=verdicts.at_least(measured, MARGIN, unit=" F1"))


def claim_youtube_best(setup: Setup, ask: Ask) -> Findings:
    """REFINE is best and fastest on YouTube, and even RBQR beats DeepWalk there."""
    found = {method: ask_figure1(setup, ask, method) for method in FIGURE1_METHODS}
    cells: list[Cell] = []
    for method, outcome in found.items():
        what = {"method": method, "graph": "youtube"}
        cells += f1_cells(outcome, what, ratios=(0.9,), paper={"micro": (None,), "macro": (None,)})
    there = {m: outcome for m, outcome in found.items() if not isinstance(outcome, Gap) and outcome["telling"]}
    if not {"refine", "rbqr"} < set(there):
        return Findings(cells, verdict=NOT_MEASURED)
    parts = {}
    for measure in ("micro", "macro"):
        lead = {m: there["refine"][measure][0] - o[measure][0] for m, o in there.items() if m not in ("refine", "rbqr")}
        parts[f"REFINE's lead in {measure.capitalize()} F1"] = verdicts.at_least(lead, 0.0, unit=" F1")
    ratio = {m: o["seconds"] / there["refine"]["seconds"] for m, o in there.items() if m not in ("refine", "rbqr")}
    parts["REFINE is faster"] = verdicts.at_least(ratio, 1.0)
    if "deepwalk" in there:
        lead = {m: there["rbqr"][m][0] - there["deepwalk"][m][0] for m in ("micro", "macro")}
        parts["RBQR's lead over DeepWalk"] = verdicts.at_least(lead, 0.0, unit=" F1")
    return Findings(cells, verdict=verdicts.all_of(parts))


def claim_power(setup: Setup, ask: Ask) -> Findings:
    """More power iterations are better; q = 2 much better than 1; q = 3 saturates."""
    found = {q: ask_variant(setup, ask, power=q) for q in published.FIGURE2_POWERS}
    cells = [_mean_cell(outcome, {"graph": "blogcatalog", "power": q}, "micro") for q, outcome in found.items()]
    means = {q: mean_f1(outcome, "micro") for q, outcome in found.items()}
    return Findings(cells, verdict=power_verdict({q: mean for q, mean in means.items() if mean is not None}))


def _mean_cell(found: Outcome | Gap, what: dict[str, Any], measure: str, note: str = "") -> Cell:
    named, unit = {**what, "measure": measure}, "F1, mean over ratios"
    if isinstance(found, Gap):
        return gap_cell(named, found, unit=unit)
    said = "; ".join(filter(None, (note, found["note"])))
    return Cell(named, fmean(found[measure]), None, unit, "measured", said)


def power_verdict(f1: Mapping[int, float]) -> Verdict:
    """What Micro F1 by q says.

    Examples
    --------
    >>> power_verdict({1: 36.0, 2: 40.0, 3: 41.0, 4: 41.1}).word
    'holds'
    >>> power_verdict({1: 40.0, 2: 40.1, 3: 42.0, 4: 44.0}).word
    'partly'
    """
    if set(f1) != set(published.FIGURE2_POWERS):
        return NOT_MEASURED
    parts = {
        "larger q is better": verdicts.rising(
            {"q = 1 to 4": [f1[q] for q in published.FIGURE2_POWERS]}, noise=NOISE / 2
        ),
        "q = 2 is better than 1": verdicts.at_least({"gain": f1[2] - f1[1]}, NOISE, unit=" F1"),
        "q = 4 gains nothing over 3": verdicts.at_most({"gain": f1[4] - f1[3]}, NOISE, unit=" F1"),
    }
    return verdicts.all_of(parts)


def claim_block(setup: Setup, ask: Ask) -> Findings:
    """The block size makes no difference; and the condition q b >= k, which the defaults violate, guards nothing."""
    found = {b: ask_variant(setup, ask, block=b) for b in published.FIGURE3_BLOCKS}
    cells: list[Cell] = []
    spreads: dict[str, float] = {}
    for measure in ("micro", "macro"):
        for b, outcome in found.items():
            note = f"q b = {3 * b} {'>=' if 3 * b >= setup.dim else '<'} k = {setup.dim}"
            cells.append(_mean_cell(outcome, {"graph": "blogcatalog", "block": b}, measure, note))
        means = [mean for outcome in found.values() if (mean := mean_f1(outcome, measure)) is not None]
        if means:
            spreads[measure.capitalize()] = max(means) - min(means)
    return Findings(cells, verdict=verdicts.harmless(spreads, within=NOISE, called="spread"))


def claim_residual(setup: Setup, ask: Ask) -> Findings:
    """Dropping the residual M - R C^T is harmless."""
    cells: list[Cell] = []
    losses: dict[str, float] = {}
    for graph in SMALL if setup.name == "full" else ("ppi",):
        source = setup.graphs.find(graph)
        found = ask(_residual_job(setup, source)) if isinstance(source, Source) else source
        if isinstance(found, Gap):
            cells.append(gap_cell({"graph": graph}, found))
            continue
        for measure in ("micro", "macro"):
            dropped, deflated = (fmean(found[way][measure]) for way in ("dropped", "deflated"))
            if not source.standin:  # type: ignore[union-attr]
                losses[f"{graph} {measure.capitalize()}"] = deflated - dropped
            for way, figure in (("dropped", dropped), ("deflated", deflated)):
                what = {"graph": graph, "residual": way, "measure": measure}
                details = {"share of M found": found[way]["share"], "seconds": found[way]["seconds"]}
                cells.append(Cell(what, figure, None, "F1, mean over ratios", "measured", source.note, details=details))  # type: ignore[union-attr]
    return Findings(cells, verdict=verdicts.harmless(losses, within=NOISE, called="lost by dropping it"))


def _residual_job(setup: Setup, source: Source) -> Job:
    ratios = setup.some(published.RATIOS.get(source.name, published.RATIOS["ppi"]))
    asked: dict[str, Any] = {
        "graph": source.asked,
        "dim": setup.dim,
        "block": 16,
        "power": 3,
        "seed": setup.seed,
        "ratios": list(ratios),
        "repeats": setup.repeats,
    }
    return Job("score_residual", asked, 4 + 2 * guess_splits(source, ratios, setup.repeats))


def claim_order(setup: Setup, ask: Ask) -> Findings:
    """K = 2 is sufficient: the average of T ... T^K, and T^K alone, with K up to 32, on dense and on sparse graphs."""
    orders = ORDERS if setup.name == "full" else (2, 8)
    graphs = (*SMALL, *SPARSE) if setup.name == "full" else ("ppi", "lastfm", "coauthor-cs")
    cells: list[Cell] = []
    lines: dict[str, list[Line]] = {family: [] for family in FAMILIES}
    gains: dict[str, float] = {}
    for graph in graphs:
        curves: dict[str, dict[int, float]] = {}
        for family, settings in FAMILIES.items():
            for K in orders:
                found = ask_scores(setup, ask, graph, "refine", ratios=(0.1,), preset="paper", seeds=1, **settings(K))
                cells += f1_cells(found, {"graph": graph, "filter": family, "K": K}, ratios=(0.1,), paper=NO_PAPER)
                if not isinstance(found, Gap) and found["telling"]:
                    curves.setdefault(family, {})[K] = found["micro"][0]
        for family, curve in curves.items():
            lines[family].append(Line(graph, list(curve), [value - curve[2] for value in curve.values()]))
        if curves:
            best = max(value for curve in curves.values() for value in curve.values())
            gains[graph] = best - max(curve[2] for curve in curves.values())
    label = "Micro F1 less that at K = 2, 10% for training"
    pictures = [
        Picture(f"order-{family}", f"How far to smooth: {CALLED[family]}", drawn, "K", label, log_x=True)
        for family, drawn in lines.items()
    ]
    verdict = verdicts.everywhere(gains, noise=NOISE, margin=MARGIN, called="the best K gains over K = 2")
    note = "Micro F1 with 10% for training; the range finder is the published one, only the filter changes."
    return Findings(cells, Layout("graph", "K", split=("filter",)), pictures, verdict, notes=[note])


def _average(K: int) -> dict[str, Any]:
    return {"filter": "markov", "order": K, "scale": 0.0}


def _alone(K: int) -> dict[str, Any]:
    return {"filter": (*(0.0,) * K, 1.0)}


FAMILIES: dict[str, Callable[[int], dict[str, Any]]] = {"average": _average, "power": _alone}
CALLED = {"average": "the average of T to T^K", "power": "T^K"}
NO_PAPER = {"micro": (None,)}
