"""What an evaluation returns: numbers with what they mean, for JSON and for a table."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any


@dataclass(frozen=True)
class RatioScores:
    """F1 in percent at one ratio of training nodes, one value for each repeat.

    Attributes
    ----------
    ratio : float
        Part of the nodes that trained.
    train_nodes, test_nodes : int
        How many that were.
    micro, macro : tuple of float
        Micro and Macro F1, in percent.
    C : tuple of float
        The weight of the data that each repeat was fitted with.

    Examples
    --------
    >>> scores = RatioScores(0.5, 50, 50, micro=(60.0, 62.0), macro=(40.0, 40.0), C=(1.0, 1.0))
    >>> scores.micro_mean, round(scores.micro_std, 3), scores.macro_std
    (61.0, 1.414, 0.0)
    """

    ratio: float
    train_nodes: int
    test_nodes: int
    micro: tuple[float, ...]
    macro: tuple[float, ...]
    C: tuple[float, ...]

    @property
    def micro_mean(self) -> float:
        """Mean Micro F1."""
        return fmean(self.micro)

    @property
    def micro_std(self) -> float:
        """Standard deviation of Micro F1 between repeats (0 for a single one)."""
        return _spread(self.micro)

    @property
    def macro_mean(self) -> float:
        """Mean Macro F1."""
        return fmean(self.macro)

    @property
    def macro_std(self) -> float:
        """Standard deviation of Macro F1 between repeats (0 for a single one)."""
        return _spread(self.macro)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers."""
        return {
            "ratio": self.ratio,
            "train_nodes": self.train_nodes,
            "test_nodes": self.test_nodes,
            "micro_f1": {"mean": self.micro_mean, "std": self.micro_std, "values": list(self.micro)},
            "macro_f1": {"mean": self.macro_mean, "std": self.macro_std, "values": list(self.macro)},
            "C": list(self.C),
        }


@dataclass(frozen=True)
class LabelScores:
    """The outcome of `evaluate_labels`; printed, it is a table.

    Attributes
    ----------
    ratios : tuple of RatioScores
        The scores, in the order asked for.
    nodes, classes : int
        How many were evaluated.
    unlabelled : str
        "drop": nodes without labels were left out before splitting; "keep": all nodes were split.
    unlabelled_nodes : int
        Nodes of the embedding without labels.
    missing_nodes : int
        Labelled nodes that the embedding does not have.
    empty_classes : int
        Classes left out because none of the evaluated nodes has them.
    repeats, C, seed
        As asked for.
    source : str
        Where the labels came from.
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
        """One sentence that says what the numbers are."""
        kept = {"drop": "left out", "keep": "kept"}[self.unlabelled]
        C = f"C = {self.C:g}" if isinstance(self.C, float) else "C by cross-validation"
        notes = [
            f"{self.nodes} nodes, {self.classes} classes",
            f"{C}, {self.repeats} random splits a ratio, seed {self.seed}",
            f"nodes without labels {kept} ({self.unlabelled_nodes})",
        ]
        if self.missing_nodes:
            notes.append(f"{self.missing_nodes} labelled nodes are not in the embedding")
        if self.empty_classes:
            notes.append(f"{self.empty_classes} classes without nodes left out")
        return "; ".join(notes)

    def table(self) -> list[tuple[str, ...]]:
        """Rows of text, the names of the columns first."""
        rows = [("train", "Micro F1", "Macro F1")]
        for at in self.ratios:
            micro = f"{at.micro_mean:.2f} ± {at.micro_std:.2f}"
            macro = f"{at.macro_mean:.2f} ± {at.macro_std:.2f}"
            rows.append((f"{100 * at.ratio:g}%", micro, macro))
        return list(rows)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers, lists and strings, ready for JSON."""
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
            "ratios": [at.to_dict() for at in self.ratios],
        }

    def __str__(self) -> str:
        lines = ["  ".join(f"{cell:>14}" for cell in row) for row in self.table()]
        return "\n".join([self.protocol, *lines])


def _spread(values: tuple[float, ...]) -> float:
    return stdev(values) if len(values) > 1 else 0.0
