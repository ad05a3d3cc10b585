"""Results of evaluations: of labels, of links, of reconstruction. Each has a protocol, a table and a form for JSON."""

from __future__ import annotations

from dataclasses import dataclass, fields
from statistics import fmean, stdev
from typing import Any, ClassVar

from graphrefine.evaluate.metrics import FIGURES, METRICS
from graphrefine.visuals.console import format_table


class Repeats:
    """Figures with one value for each repeat, by name."""

    values: dict[str, tuple[float, ...]]

    def mean(self, figure: str) -> float:
        """Mean of a figure over the repeats."""
        return fmean(self.values[figure])

    def std(self, figure: str) -> float:
        """Standard deviation of a figure between repeats (0 for a single one)."""
        values = self.values[figure]
        return stdev(values) if len(values) > 1 else 0.0

    def to_dict(self) -> dict[str, Any]:
        """All figures as plain numbers."""
        figures = {
            name: {"mean": self.mean(name), "std": self.std(name), "values": list(values)}
            for name, values in self.values.items()
        }
        return {**{name: value for name, value in _plain_fields(self).items() if name != "values"}, **figures}


class Result:
    """Base of results; printed, a result is its protocol and its table."""

    json_names: ClassVar[dict[str, str]] = {}  # of fields that have another name in JSON

    @property
    def protocol(self) -> str:
        """The meaning of the numbers, in a sentence."""
        raise NotImplementedError

    def table(self) -> list[tuple[str, ...]]:
        """Rows of text, the column titles first."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain numbers, lists and strings, for JSON."""
        return {self.json_names.get(name, name): value for name, value in _plain_fields(self).items()}

    def __str__(self) -> str:
        return f"{self.protocol}\n{format_table(self.table())}"


def _plain_fields(result: Any) -> dict[str, Any]:
    """Fields of a dataclass that are set, as JSON has them."""
    values = ((field.name, getattr(result, field.name)) for field in fields(result))
    return {name: _plain(value) for name, value in values if value is not None}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    return value.to_dict() if isinstance(value, Repeats) else value


@dataclass(frozen=True)
class RatioScores(Repeats):
    """Figures at one ratio of training nodes, one value for each repeat.

    Examples
    --------
    >>> scores = RatioScores(0.5, 50, 50, {"micro_f1": (60.0, 62.0), "macro_f1": (40.0, 40.0)}, C=(1.0, 1.0))
    >>> scores.micro_mean, round(scores.micro_std, 3), scores.macro_std
    (61.0, 1.414, 0.0)
    """

    ratio: float  # part of the nodes that trained
    train_nodes: int
    test_nodes: int
    values: dict[str, tuple[float, ...]]  # by the names of `metrics.METRICS`; also as `micro` and `macro`
    C: tuple[float, ...]  # weight of the data in each repeat

    @property
    def micro(self) -> tuple[float, ...]:
        """Micro F1 of each repeat, in percent."""
        return self.values["micro_f1"]

    @property
    def micro_mean(self) -> float:
        """Mean Micro F1."""
        return self.mean("micro_f1")

    @property
    def micro_std(self) -> float:
        """Standard deviation of Micro F1 between repeats."""
        return self.std("micro_f1")

    @property
    def macro(self) -> tuple[float, ...]:
        """Macro F1 of each repeat, in percent."""
        return self.values["macro_f1"]

    @property
    def macro_mean(self) -> float:
        """Mean Macro F1."""
        return self.mean("macro_f1")

    @property
    def macro_std(self) -> float:
        """Standard deviation of Macro F1 between repeats."""
        return self.std("macro_f1")


@dataclass(frozen=True)
class LabelScores(Result):
    """Result of `evaluate_labels`; printed, it is a table."""

    nodes: int
    classes: int
    source: str  # file of the labels
    unlabelled: str  # "drop": nodes without labels were left out before splitting; "keep": all nodes were split
    unlabelled_nodes: int  # of the embedding
    missing_nodes: int  # labelled nodes that the embedding does not have
    empty_classes: int  # left out, because none of the evaluated nodes has them
    repeats: int
    C: float | tuple[float, ...]
    seed: int
    ratios: tuple[RatioScores, ...]  # scores at each ratio
    json_names: ClassVar[dict[str, str]] = {"source": "labels"}

    @property
    def protocol(self) -> str:
        """The meaning of the numbers, in a sentence."""
        unlabelled = {"drop": "left out", "keep": "kept"}[self.unlabelled]
        C = f"C = {self.C:g}" if isinstance(self.C, float) else "C by cross-validation"
        notes = [
            f"{self.nodes} nodes, {self.classes} classes",
            f"{C}, {self.repeats} random splits a ratio, seed {self.seed}",
            f"nodes without labels {unlabelled} ({self.unlabelled_nodes})",
        ]
        if self.missing_nodes:
            notes.append(f"{self.missing_nodes} labelled nodes are not in the embedding")
        if self.empty_classes:
            notes.append(f"{self.empty_classes} classes without nodes left out")
        return "; ".join(notes)

    def table(self) -> list[tuple[str, ...]]:
        """Rows of text, the column titles first."""
        rows = [("train", *(metric.title for metric in METRICS.values()))]
        for scores in self.ratios:
            cells = (f"{scores.mean(name):.2f} ± {scores.std(name):.2f}" for name in METRICS)
            rows.append((f"{100 * scores.ratio:g}%", *cells))
        return rows


@dataclass(frozen=True)
class ScoreFigures(Repeats):
    """Figures of one score of pairs.

    Examples
    --------
    >>> figures = ScoreFigures("dot", {"auc": (0.75, 0.85)})
    >>> figures.mean("auc"), round(figures.std("auc"), 4)
    (0.8, 0.0707)
    """

    score: str  # its name, see `link_scores`
    values: dict[str, tuple[float, ...]]  # by the names of `metrics.FIGURES`

    def cell(self, figure: str, decimals: int) -> str:
        """A figure as text, with its spread if there are repeats."""
        spread = f" ± {self.std(figure):.{decimals}f}" if len(self.values[figure]) > 1 else ""
        return f"{self.mean(figure):.{decimals}f}{spread}"


@dataclass(frozen=True)
class LinkScores(Result):
    """Result of `evaluate_links`; printed, it is a table."""

    source: str  # file of the graph
    nodes: int  # of the whole graph
    edges: int
    method: str  # that made the vectors
    settings: dict[str, Any]  # of the method
    held_out: float  # part of the edges
    held_out_edges: int  # their number; as many pairs without an edge stood against them
    ranked_edges: int  # number of held-out edges that were ranked
    corruptions: int  # nodes that each of these was ranked against, before its neighbours were left out
    repeats: int
    seed: int
    turned_arcs: int | None  # directed graphs: pairs that are held-out arcs turned round (in the last repeat)
    scores: tuple[ScoreFigures, ...]  # figures of each score, the degree product last
    json_names: ClassVar[dict[str, str]] = {"source": "graph"}

    def __getitem__(self, score: str) -> ScoreFigures:
        """Figures of a score, by its name."""
        return next(figures for figures in self.scores if figures.score == score)

    @property
    def protocol(self) -> str:
        """The meaning of the numbers, in a sentence."""
        times = f"{self.repeats} repeats" if self.repeats > 1 else "1 repeat"
        hidden = f"{self.held_out_edges:,} ({100 * self.held_out:g}%)"
        turned = "" if self.turned_arcs is None else f", {self.turned_arcs:,} of them held-out arcs turned round"
        return (
            f"{self.nodes:,} nodes, {self.edges:,} edges, of which {hidden} held out; vectors by {self.method} from "
            f"the rest; AUC and AP against as many pairs without an edge{turned}; {self.ranked_edges:,} edges ranked "
            f"with {'one end' if self.turned_arcs is None else 'the target'} replaced by each of "
            f"{self.corruptions:,} random nodes, those that make an edge left out; {times}, seed {self.seed}"
        )

    def table(self) -> list[tuple[str, ...]]:
        """Rows of text, the column titles first."""
        titles = ("score", *(title for title, _ in FIGURES.values()))
        cells = ((figures.cell(name, decimals) for name, (_, decimals) in FIGURES.items()) for figures in self.scores)
        return [titles, *((figures.score, *row) for figures, row in zip(self.scores, cells, strict=True))]


@dataclass(frozen=True)
class Reconstruction(Result):
    """Result of `evaluate_reconstruction`; printed, it is a table.

    Examples
    --------
    >>> figures = Reconstruction("memory", 40, 40, 780, 50, 0, 0, (10, 100), {"dot": (0.9, 0.4)})
    >>> figures.possible, round(figures.chance, 4)
    ((1.0, 0.5), 0.0641)
    """

    source: str  # file of the graph
    nodes: int
    sampled: int  # nodes whose pairs were judged
    pairs: int  # that were judged
    edges: int  # among the pairs
    extra_nodes: int  # of the embedding, that the graph does not have
    seed: int  # of the sample
    top: tuple[int, ...]  # the K of precision@K
    precision: dict[str, tuple[float, ...]]  # for dot, cosine and degree: the part of edges among the first K pairs
    json_names: ClassVar[dict[str, str]] = {"source": "graph", "sampled": "sampled_nodes"}

    @property
    def chance(self) -> float:
        """Precision of a random order: the part of edges among all pairs."""
        return self.edges / self.pairs

    @property
    def possible(self) -> tuple[float, ...]:
        """Highest possible precision, for each K."""
        return tuple(min(1.0, self.edges / k) for k in self.top)

    @property
    def protocol(self) -> str:
        """The meaning of the numbers, in a sentence."""
        judged = "all pairs" if self.sampled == self.nodes else f"the pairs of {self.sampled:,} random nodes"
        notes = [
            f"{self.nodes:,} nodes; {judged}: {self.pairs:,}, of which {self.edges:,} are edges",
            f"seed {self.seed}" if self.sampled < self.nodes else "",
            f"{self.extra_nodes:,} nodes of the embedding are not in the graph" if self.extra_nodes else "",
        ]
        return "; ".join(note for note in notes if note)

    def table(self) -> list[tuple[str, ...]]:
        """Rows of text, the column titles first."""
        rows = [("precision@K", *self.precision, "chance", "possible")]
        for place, (k, possible) in enumerate(zip(self.top, self.possible, strict=True)):
            cells = (f"{values[place]:.4f}" for values in self.precision.values())
            rows.append((f"{k:,}", *cells, f"{self.chance:.2g}", f"{possible:.4f}"))
        return rows

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain numbers, lists and strings, for JSON."""
        return {**super().to_dict(), "chance": self.chance, "possible": list(self.possible)}
