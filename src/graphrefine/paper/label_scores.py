"""F1 of a method on a graph as the experiments use it: the mean over seeds, with the notes that its cells need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any

from graphrefine.methods import registry as methods
from graphrefine.paper import measure_scores
from graphrefine.paper.cache import Cache, Measurement
from graphrefine.paper.findings import Cell, Gap, gather, join_notes, make_gap_cell
from graphrefine.paper.graphs import Source
from graphrefine.paper.published import Measure
from graphrefine.paper.setup import Setup

PRESETS = {"refine": "paper", "rbqr": "paper"}  # settings of the authors' code
PROTOCOL = (
    "One-vs-rest logistic regression on unit rows, C = 1; the number of labels of each test node is known; nodes "
    "without labels are left out before splitting. In each cell: ours / the paper's."
)


@dataclass(frozen=True)
class LabelScores:
    """F1 of a method on a graph, in percent."""

    ratios: list[float]  # shares of nodes for training
    f1: Mapping[Measure, list[float]]  # at each ratio: the mean over the seeds
    spread: Mapping[Measure, list[float]]  # at each ratio: the standard deviation over the splits
    seconds: float  # of the fastest embedding
    seeds: int
    note: str  # for the cells
    comparable: bool  # whether the paper's figures are about the same graph and settings
    conclusive: bool  # whether a verdict may rest on them: a real graph, and no setting shortened

    def mean(self, measure: Measure) -> float:
        """Mean over the ratios."""
        return fmean(self.f1[measure])


def score_method(
    setup: Setup,
    cache: Cache,
    graph: str,
    method: str,
    *,
    ratios: Sequence[float],
    seeds: int | None = None,
    published_settings: bool = True,
    **settings: Any,
) -> LabelScores | Gap:
    """Measure F1 of a method at some ratios.

    Parameters
    ----------
    setup, cache
        Extent of the run, and its measurements.
    graph, method
        Names of the two.
    ratios
        Shares of nodes for training.
    seeds
        Limit of the number of embeddings.
    published_settings
        Whether settings that differ between the paper's text and the authors' code are those of the code.
    **settings
        Other settings of the method.
    """
    source = setup.graphs.find(graph)
    if isinstance(source, Gap):
        return source
    if gap := setup.check_method(graph, method):
        return gap
    costly = source.standin and source.size.nodes > 50_000  # F1 on it is not worth more than one embedding and split
    short = setup.shorten(method)
    preset = PRESETS.get(method) if published_settings else None
    measurements = []
    for seed in setup.list_seeds(method, limit=1 if costly else seeds):
        settings_of_seed = methods.make_settings(method, preset, dim=setup.dim, seed=seed, **{**short, **settings})
        measurements.append(
            cache.measure(
                measure_scores.measure_f1,
                source,
                threads=setup.threads,
                method=method,
                settings=asdict(settings_of_seed),
                ratios=list(ratios),
                repeats=1 if costly else setup.repeats,
            )
        )
    whole = gather(measurements)
    return whole if isinstance(whole, Gap) else _average(whole, source, short)


def _average(measurements: Sequence[Measurement], source: Source, short: Mapping[str, Any]) -> LabelScores:
    def average(name: str) -> list[float]:
        return [fmean(values) for values in zip(*(one[name] for one in measurements), strict=True)]

    shortened = "shortened: " + ", ".join(f"{name}={value}" for name, value in short.items()) if short else ""
    return LabelScores(
        ratios=measurements[0]["ratios"],
        f1={"micro": average("micro"), "macro": average("macro")},
        spread={"micro": average("micro_std"), "macro": average("macro_std")},
        seconds=min(one["seconds"] for one in measurements),
        seeds=len(measurements),
        note=join_notes(source.note, shortened),
        comparable=source.comparable and not short,
        conclusive=not source.standin and not short,
    )


def make_f1_cells(
    scores: LabelScores | Gap,
    what: Mapping[str, Any],
    *,
    ratios: Sequence[float],
    paper: Mapping[Measure, Sequence[float | None]],
    note: str = "",
) -> list[Cell]:
    """A cell for each measure and ratio; ``paper`` has the measures, and the paper's figures at the ratios."""
    cells = []
    for measure, figures in paper.items():
        for ratio, figure in zip(ratios, figures, strict=True):
            names, unit = {**what, "measure": measure, "train": ratio}, f"% {measure.capitalize()} F1"
            if isinstance(scores, Gap):
                cells.append(make_gap_cell(names, scores, figure, unit))
            elif ratio not in scores.ratios:
                cells.append(make_gap_cell(names, Gap("left out", "by --quick; the full run has it"), figure, unit))
            else:
                place = scores.ratios.index(ratio)
                details = {"std": scores.spread[measure][place], "seeds": scores.seeds}
                notes = join_notes(note, scores.note)
                ours = scores.f1[measure][place]
                cells.append(Cell(names, ours, figure, unit, notes, scores.comparable, details))
    return cells


def make_mean_cell(scores: LabelScores | Gap, what: Mapping[str, Any], measure: Measure, note: str = "") -> Cell:
    """A cell of the mean over the ratios, beside no figure of the paper."""
    names, unit = {**what, "measure": measure}, "F1, mean over ratios"
    if isinstance(scores, Gap):
        return make_gap_cell(names, scores, unit=unit)
    return Cell(names, scores.mean(measure), None, unit, join_notes(note, scores.note))
