"""Figures 1 to 3. The paper's are pictures: its figures are known only where a table or the text repeats them."""

from __future__ import annotations

from collections.abc import Sequence

from graphrefine.paper import published
from graphrefine.paper.cache import Outcome
from graphrefine.paper.findings import Findings, Layout, Line, Picture
from graphrefine.paper.graphs import Source
from graphrefine.paper.jobs import Ask, Gap
from graphrefine.paper.label_scores import Cell, ask_scores, f1_cells, gap_cell
from graphrefine.paper.setup import Setup
from graphrefine.paper.tables import PRESETS, PROTOCOL

CALLED = {"deepwalk": "DeepWalk", "line": "LINE", "prone": "ProNE", "rbqr": "RBQR", "refine": "REFINE"}
FIGURE1_METHODS = tuple(CALLED)


def youtube(setup: Setup) -> str:
    """The YouTube graph if it is here, else the part of it that is, else a stand-in."""
    here = [name for name in ("youtube", "youtube-part") if isinstance(setup.graphs.real(name), Source)]
    return here[0] if here else "youtube"


def ask_figure1(setup: Setup, ask: Ask, method: str) -> Outcome | Gap:
    """F1 and seconds of a method on YouTube, 90% for training."""
    return ask_scores(setup, ask, youtube(setup), method, ratios=(published.FIGURE1_RATIO,), preset=PRESETS.get(method))


def figure1(setup: Setup, ask: Ask) -> Findings:
    """F1 against runtime."""
    graph = youtube(setup)
    source = setup.graphs.find(graph)
    cells: list[Cell] = []
    points: dict[str, list[tuple[str, float, float]]] = {"micro": [], "macro": []}
    for method in FIGURE1_METHODS:
        found = ask_figure1(setup, ask, method)
        what = {"graph": graph, "method": method}
        cells += f1_cells(found, what, ratios=(0.9,), paper={"micro": (None,), "macro": (None,)})
        theirs = published.YOUTUBE_SECONDS.get(method)
        timed = {**what, "measure": "seconds"}
        if isinstance(found, Gap):
            cells.append(gap_cell(timed, found, theirs, "s"))
            continue
        note = "; ".join(filter(None, (found["note"], f"{setup.threads} threads; the paper: 1 or 16")))
        cells.append(Cell(timed, found["seconds"], theirs, "s", "measured", note, comparable=graph == "youtube"))
        for measure, at in points.items():
            at.append((method, found["seconds"], found[measure][0]))
    note = source.note if isinstance(source, Source) else source.reason
    pictures = [
        Picture(
            f"figure1-{measure}",
            f"{measure.capitalize()} F1 against time, {_called(source)}, 90% for training",
            [Line(CALLED[method], [seconds], [f1], points_only=True) for method, seconds, f1 in at],
            "seconds",
            f"{measure.capitalize()} F1 (%)",
            log_x=True,
            note=note,
        )
        for measure, at in points.items()
        if at
    ]
    layout = Layout("method", "measure", split=("graph",))
    return Findings(cells, layout, pictures, notes=[PROTOCOL, f"Graph: {graph}. {note}".strip()])


def _called(source: Source | Gap) -> str:
    if isinstance(source, Gap) or source.comparable:
        return "YouTube"
    return "a stand-in for YouTube" if source.standin else "a part of YouTube"


def ask_variant(setup: Setup, ask: Ask, **settings: int) -> Outcome | Gap:
    """REFINE on BlogCatalog with another q or b."""
    ratios = setup.some(published.RATIOS["blogcatalog"])
    return ask_scores(setup, ask, "blogcatalog", "refine", ratios=ratios, preset="paper", **settings)


def _variants(setup: Setup, ask: Ask, setting: str, symbol: str, values: Sequence[int], name: str) -> Findings:
    cells: list[Cell] = []
    lines: dict[published.Measure, list[Line]] = {"micro": [], "macro": []}
    ratios = published.RATIOS["blogcatalog"]
    for value in values:
        found = ask_variant(setup, ask, **{setting: value})
        in_table1 = value == {"power": 3, "block": 16}[setting]  # the settings of Table 1
        theirs: dict[str, list[float | None]] = {
            measure: [published.f1(measure, "blogcatalog", "refine", ratio) if in_table1 else None for ratio in ratios]
            for measure in lines
        }
        cells += f1_cells(found, {"graph": "blogcatalog", setting: value}, ratios=ratios, paper=theirs)
        if not isinstance(found, Gap):
            for measure, drawn in lines.items():
                drawn.append(Line(f"{symbol} = {value}", [100 * r for r in found["ratios"]], found[measure]))
    pictures = [
        Picture(
            f"{name}-{measure}",
            f"{measure.capitalize()} F1 by {setting}, BlogCatalog",
            drawn,
            "nodes for training (%)",
            f"{measure.capitalize()} F1 (%)",
        )
        for measure, drawn in lines.items()
        if drawn
    ]
    return Findings(cells, Layout(setting, "train", split=("measure",)), pictures, notes=[PROTOCOL])


def figure2(setup: Setup, ask: Ask) -> Findings:
    """F1 by number of power iterations."""
    return _variants(setup, ask, "power", "q", published.FIGURE2_POWERS, "figure2")


def figure3(setup: Setup, ask: Ask) -> Findings:
    """F1 by block size."""
    return _variants(setup, ask, "block", "b", published.FIGURE3_BLOCKS, "figure3")
