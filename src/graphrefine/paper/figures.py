"""Figures 1 to 3. The paper's are pictures: their numbers are known only where a table or the text repeats them."""

from __future__ import annotations

from collections.abc import Sequence

from graphrefine.paper import published
from graphrefine.paper.cache import Cache
from graphrefine.paper.findings import Cell, Findings, Gap, Layout, Line, Picture, join_notes, make_gap_cell
from graphrefine.paper.graphs import Source
from graphrefine.paper.label_scores import PROTOCOL, LabelScores, make_f1_cells, score_method
from graphrefine.paper.setup import Setup
from graphrefine.paper.tables import score_row

TITLES = {"deepwalk": "DeepWalk", "line": "LINE", "prone": "ProNE", "rbqr": "RBQR", "refine": "REFINE"}
NO_FIGURES: dict[published.Measure, tuple[None]] = {"micro": (None,), "macro": (None,)}  # at one ratio


def find_youtube(setup: Setup) -> Source:
    """The YouTube graph if it is here, else the part of it that is, else a stand-in."""
    part = setup.graphs.find_real("youtube-part")
    if isinstance(part, Source) and isinstance(setup.graphs.find_real("youtube"), Gap):
        return part
    return setup.graphs.find_or_replace("youtube")


def score_youtube(setup: Setup, cache: Cache) -> dict[str, LabelScores | Gap]:
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
        paper, what = published.YOUTUBE_SECONDS.get(method), {**what, "measure": "seconds"}
        if isinstance(scores, Gap):
            cells.append(make_gap_cell(what, scores, paper, "s"))
        else:
            note = join_notes(scores.note, f"{setup.threads} threads; the paper: 1 or 16")
            cells.append(Cell(what, scores.seconds, paper, "s", note, comparable=source.name == "youtube"))
    name = "YouTube" if source.comparable else f"a {'stand-in for' if source.standin else 'part of'} YouTube"
    measured = {method: scores for method, scores in scores_by_method.items() if not isinstance(scores, Gap)}
    pictures = []
    for measure in NO_FIGURES:
        points = [Line(TITLES[m], [one.seconds], one.f1[measure], points_only=True) for m, one in measured.items()]
        title, label = f"{measure.capitalize()} F1 against time, {name}, 90% for training", _format_axis(measure)
        pictures.append(Picture(f"figure1-{measure}", title, points, "seconds", label, log_x=True, note=source.note))
    layout = Layout("method", "measure", split=("graph",))
    notes = [PROTOCOL, f"Graph: {source.name}. {source.note}".strip()]
    return Findings(cells, layout, pictures, notes=notes)


def draw_figure2(setup: Setup, cache: Cache) -> Findings:
    """F1 by number of power iterations."""
    return _draw_variants(setup, cache, "power", "q", published.FIGURE2_POWERS, "figure2")


def draw_figure3(setup: Setup, cache: Cache) -> Findings:
    """F1 by block size."""
    return _draw_variants(setup, cache, "block", "b", published.FIGURE3_BLOCKS, "figure3")


def score_variant(setup: Setup, cache: Cache, **settings: int) -> LabelScores | Gap:
    """REFINE on BlogCatalog with another q or b."""
    return score_row(setup, cache, "blogcatalog", "refine", **settings)


def _draw_variants(setup: Setup, cache: Cache, setting: str, symbol: str, values: Sequence[int], name: str) -> Findings:
    cells: list[Cell] = []
    lines: dict[published.Measure, list[Line]] = {"micro": [], "macro": []}
    ratios = published.RATIOS["blogcatalog"]
    for value in values:
        scores = score_variant(setup, cache, **{setting: value})
        in_table1 = value == {"power": 3, "block": 16}[setting]
        paper: dict[published.Measure, list[float | None]] = {
            measure: [published.find_f1(measure, "blogcatalog", "refine", r) if in_table1 else None for r in ratios]
            for measure in lines
        }
        cells += make_f1_cells(scores, {"graph": "blogcatalog", setting: value}, ratios=ratios, paper=paper)
        if not isinstance(scores, Gap):
            for measure, drawn in lines.items():
                drawn.append(Line(f"{symbol} = {value}", [100 * r for r in scores.ratios], scores.f1[measure]))
    pictures = []
    for measure, drawn in lines.items():
        title = f"{measure.capitalize()} F1 by {setting}, BlogCatalog"
        pictures.append(Picture(f"{name}-{measure}", title, drawn, "nodes for training (%)", _format_axis(measure)))
    return Findings(cells, Layout(setting, "train", split=("measure",)), pictures, notes=[PROTOCOL])


def _format_axis(measure: published.Measure) -> str:
    return f"{measure.capitalize()} F1 (%)"
