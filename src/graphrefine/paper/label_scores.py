"""The questions that experiments ask, and the cells that they make of the answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import fmean
from typing import Any

from graphrefine import methods
from graphrefine.paper.cache import Outcome
from graphrefine.paper.graphs import Source
from graphrefine.paper.jobs import Ask, Gap, Job, Status
from graphrefine.paper.setup import Setup

SPLIT = 7e-7  # seconds to fit and score one split, half of it for training, for each node and class
PER_NODE = {"deepwalk": 8e-3, "node2vec": 1e-2, "harp": 1.2e-2, "mile": 2e-3, "netsmf": 1e-3, "line": 1e-3}
PER_EDGE = 2e-6  # seconds of the fast methods


@dataclass(frozen=True)
class Cell:
    """A figure of ours beside the paper's.

    Parameters
    ----------
    what
        Which figure it is.
    ours, paper
        The two, None where there is none; ``difference`` is ours - paper.
    unit
        Of both.
    status, note
        "measured", or why there is no figure; and what has to be said beside it.
    comparable
        False where ours is about another graph or other settings, so that there is no difference.
    """

    what: Mapping[str, Any]
    ours: float | None = None
    paper: float | None = None
    unit: str = ""
    status: Status = "measured"
    note: str = ""
    comparable: bool = True
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def difference(self) -> float | None:
        """Ours - paper, where that means something."""
        if self.ours is None or self.paper is None or not self.comparable:
            return None
        return self.ours - self.paper

    def to_dict(self) -> dict[str, Any]:
        """For results.json.

        Examples
        --------
        >>> Cell({"method": "line"}, 36.0, 35.5).to_dict()["difference"]
        0.5
        """
        shown = {**asdict(self), "difference": self.difference}
        return {name: value for name, value in shown.items() if value not in ("", {})}


def gap_cell(what: Mapping[str, Any], gap: Gap, paper: float | None = None, unit: str = "") -> Cell:
    """A cell without a figure of ours."""
    return Cell(what, None, paper, unit, gap.status, gap.reason)


def known(method: str) -> Gap | None:
    """A gap where the method is not in this version."""
    return None if method in methods.METHODS else Gap("missing", f"the method {method} is not in this version")


def ask_scores(
    setup: Setup,
    ask: Ask,
    graph: str,
    method: str,
    *,
    ratios: Sequence[float],
    preset: str | None = None,
    seeds: int | None = None,
    **settings: Any,
) -> Outcome | Gap:
    """F1 at some ratios, the mean over the seeds.

    ``note`` has what must be said beside it; ``comparable`` whether it can be compared with the paper's figure,
    ``telling`` whether it tells anything of the method: on a real graph, with all of its settings.
    """
    source = setup.graphs.find(graph)
    if not isinstance(source, Source):
        return source
    gap = known(method) or setup.left_out(graph, method)
    if gap is not None:
        return gap
    short = setup.shortened(method)
    outcomes = [
        ask(score_job(setup, source, method, ratios, seed, preset=preset, **{**short, **settings}))
        for seed in setup.seeds_of(method, at_most=1 if _costly(source) else seeds)
    ]
    for outcome in outcomes:
        if isinstance(outcome, Gap):
            return outcome
    short_note = ", ".join(f"{name}={value}" for name, value in short.items())
    notes = [source.note, f"shortened: {short_note}" if short else ""]
    return {
        **_mean([outcome for outcome in outcomes if not isinstance(outcome, Gap)]),
        "note": "; ".join(filter(None, notes)),
        "comparable": source.comparable and not short,
        "telling": not source.standin and not short,
    }


def score_job(setup: Setup, source: Source, method: str, ratios: Sequence[float], seed: int, **settings: Any) -> Job:
    """A question for `work_scores.score`; the settings that it depends on are all in it."""
    preset = settings.pop("preset", None)
    dim = min(setup.dim, settings.pop("dim", setup.dim))
    chosen = methods.settings(method, preset, dim=dim, seed=seed, **settings)
    asked: dict[str, Any] = {
        "graph": source.asked,
        "method": method,
        "settings": asdict(chosen),
        "ratios": list(ratios),
        "repeats": 1 if _costly(source) else setup.repeats,
    }
    return Job("score", asked, guess_embedding(source, method) + guess_splits(source, ratios, asked["repeats"]))


def _costly(source: Source) -> bool:
    """Whether one embedding and one split have to do: F1 on a large stand-in is not worth more."""
    return source.standin and source.size.nodes > 50_000


def guess_embedding(source: Source, method: str) -> float:
    """Seconds of one embedding, roughly."""
    nodes, edges, _ = source.size
    if method in ("netmf", "grarep"):
        return float(60 * (nodes / 1e4) ** 3)
    return float(nodes * PER_NODE.get(method, 0.0) + edges * PER_EDGE)


def guess_splits(source: Source, ratios: Sequence[float], repeats: int) -> float:
    """Seconds of fitting and scoring, roughly."""
    nodes, _, labels = source.size
    return float(nodes * labels * SPLIT * repeats * sum(0.3 + 1.4 * ratio for ratio in ratios))


def _mean(outcomes: Sequence[Outcome]) -> Outcome:
    lists = ("micro", "macro", "micro_std", "macro_std")
    mean = {name: [fmean(values) for values in zip(*(o[name] for o in outcomes), strict=True)] for name in lists}
    seconds = min(outcome["seconds"] for outcome in outcomes)
    return {**mean, "ratios": outcomes[0]["ratios"], "seconds": seconds, "seeds": len(outcomes)}


def f1_cells(
    found: Outcome | Gap,
    what: Mapping[str, Any],
    *,
    ratios: Sequence[float],
    paper: Mapping[str, Sequence[float | None]],
    note: str = "",
) -> list[Cell]:
    """A cell for each measure and ratio: those in ``paper`` are the measures, its values the paper's figures."""
    cells = []
    for measure, theirs in paper.items():
        for ratio, figure in zip(ratios, theirs, strict=True):
            named, unit = {**what, "measure": measure, "train": ratio}, f"% {measure.capitalize()} F1"
            if isinstance(found, Gap):
                cells.append(gap_cell(named, found, figure, unit))
            elif ratio not in found["ratios"]:
                cells.append(gap_cell(named, Gap("left out", "by --quick; the full run has it"), figure, unit))
            else:
                at = found["ratios"].index(ratio)
                said = "; ".join(filter(None, (note, found["note"])))
                details = {"std": found[f"{measure}_std"][at], "seeds": found["seeds"]}
                comparable = found["comparable"]
                cells.append(Cell(named, found[measure][at], figure, unit, "measured", said, comparable, details))
    return cells
