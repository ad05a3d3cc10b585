"""Results of an evaluation of labels, for JSON and for a table."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any

from graphrefine.evaluate.label_metrics import METRICS


@dataclass(frozen=True)
class RatioScores:
    """Figures at one ratio of training nodes, one value for each repeat.

    Attributes
    ----------
    ratio : float
        Part of the nodes that trained.
    train_nodes, test_nodes : int
        Numbers of nodes that trained and that were tested.
    values : dict
        For each of `label_metrics.METRICS`, one number for each repeat. Also as ``micro`` and ``macro``.
    C : tuple of float
        Weight of the data in each repeat.

    Examples
    --------
    >>> scores = RatioScores(0.5, 50, 50, {"micro_f1": (60.0, 62.0), "macro_f1": (40.0, 40.0)}, C=(1.0, 1.0))
    >>> scores.micro_mean, round(scores.micro_std, 3), scores.macro_std
    (61.0, 1.414, 0.0)
    """

    ratio: float
    train_nodes: int
    test_nodes: int
    values: dict[str, tuple[float, ...]]
    C: tuple[float, ...]

    def mean(self, metric: str) -> float:
        """Mean of a metric over the repeats."""
        return fmean(self.values[metric])

    def std(self, metric: str) -> float:
        """Standard deviation of a metric between repeats (0 for a single one)."""
        values = self.values[metric]
        return stdev(values) if len(values) > 1 else 0.0

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

    def to_dict(self) -> dict[str, Any]:
        """All figures as plain numbers."""
        figures = {
            name: {"mean": self.mean(name), "std": self.std(name), "values": list(values)}
            for name, values in self.values.items()
        }
        nodes = {"train_nodes": self.train_nodes, "test_nodes": self.test_nodes}
        return {"ratio": self.ratio, **nodes, **figures, "C": list(self.C)}


@dataclass(frozen=True)
class LabelScores:
    """Result of `evaluate_labels`; printed, it is a table.

    Attributes
    ----------
    ratios : tuple of RatioScores
        Scores at each ratio.
    nodes, classes : int
        Numbers of nodes and classes in the evaluation.
    unlabelled : str
        "drop": nodes without labels were left out before splitting; "keep": all nodes were split.
    unlabelled_nodes : int
        Nodes of the embedding without labels.
    missing_nodes : int
        Labelled nodes that the embedding does not have.
    empty_classes : int
        Classes left out because none of the evaluated nodes has them.
    repeats, C, seed
        Arguments of `evaluate_labels`.
    source : str
        File of the labels.
    """

    ratios: tuple[RatioScores, ...]
    nodes: int
    classes: int
    unlabelled: str
    unlabelled_nodes: int
    missing_nodes: int
    empty_classes: int
    repeats: int
    C: float | tuple[float, ...]
    seed: int
    source: str

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

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain numbers, lists and strings, for JSON."""
        return {
            "nodes": self.nodes,
            "classes": self.classes,
            "labels": self.source,
            "unlabelled": self.unlabelled,
            "unlabelled_nodes": self.unlabelled_nodes,
            "missing_nodes": self.missing_nodes,
            "empty_classes": self.empty_classes,
            "repeats": self.repeats,
            "C": self.C if isinstance(self.C, float) else list(self.C),
            "seed": self.seed,
            "ratios": [scores.to_dict() for scores in self.ratios],
        }

    def __str__(self) -> str:
        lines = ["  ".join(f"{cell:>14}" for cell in row) for row in self.table()]
        return "\n".join([self.protocol, *lines])
