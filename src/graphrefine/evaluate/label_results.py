"""Results of evaluations by labels: F1 of predicted labels, and clusters against labels."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from graphrefine.display.table import Table, table_of
from graphrefine.evaluate.metrics import METRICS
from graphrefine.evaluate.results import Repeats, Result


@dataclass(frozen=True)
class RatioScores(Repeats):
    """Figures at one ratio of training nodes, one value for each repeat.

    Attributes
    ----------
    ratio : float
        Part of the nodes that trained.
    train_nodes, test_nodes : int
        Numbers of nodes that trained and that were tested.
    values : dict
        For each of `metrics.METRICS`, one number for each repeat. Also as ``micro`` and ``macro``.
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

    def cell(self, metric: str) -> str:
        """Mean and standard deviation of a metric as text."""
        return f"{self.mean(metric):.2f} ± {self.std(metric):.2f}"

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


@dataclass(frozen=True, kw_only=True)
class LabelScores(Result):
    """Result of `evaluate_labels`; printed, it is a table.

    Attributes
    ----------
    ratios : tuple of RatioScores
        Scores at each ratio.
    nodes, classes : int
        Numbers of nodes and classes in the evaluation.
    unlabeled : str
        "drop": nodes without labels were left out before splitting; "keep": all nodes were split.
    unlabeled_nodes : int
        Nodes of the embedding without labels.
    missing_nodes : int
        Labeled nodes that the embedding does not have.
    empty_classes : int
        Classes left out because none of the evaluated nodes has them.
    repeats : int, or tuple of int
        Splits of each ratio; several numbers where ratios differ in it.
    C, seed
        Arguments of `evaluate_labels`.
    source : str
        File of the labels.
    reading : str
        How the labels were read, and how many nodes they label, in words.
    """

    nodes: int
    classes: int
    source: str
    reading: str = field(compare=False)  # the same scores may come of labels in another form
    unlabeled: str
    unlabeled_nodes: int
    missing_nodes: int
    empty_classes: int
    repeats: int | tuple[int, ...]
    C: float | tuple[float, ...]
    seed: int
    ratios: tuple[RatioScores, ...]
    title: ClassVar[str] = "Labels predicted from vectors"
    json_names: ClassVar[dict[str, str]] = {"source": "labels", "reading": "labels_reading"}

    @property
    def protocol(self) -> str:
        """The meaning of the numbers, in a sentence."""
        unlabeled = {"drop": "left out", "keep": "kept"}[self.unlabeled]
        C = f"C = {self.C:g}" if isinstance(self.C, float) else "C by cross-validation"
        splits = self.repeats if isinstance(self.repeats, int) else " or ".join(map(str, sorted(set(self.repeats))))
        notes = [
            f"{self.nodes} nodes, {self.classes} classes",
            f"{C}, {splits} random splits a ratio, seed {self.seed}",
            f"nodes without labels {unlabeled} ({self.unlabeled_nodes})",
        ]
        if self.missing_nodes:
            notes.append(f"{self.missing_nodes} labeled nodes are not in the embedding")
        if self.empty_classes:
            notes.append(f"{self.empty_classes} classes without nodes left out")
        short = [f"{100 * each.ratio:g}%" for each in self.ratios if each.train_nodes < self.classes]
        if short:
            notes.append(f"fewer training nodes than classes at {', '.join(short)}: classes without one come last")
        return "; ".join(notes)

    def table(self) -> Table:
        """A row for each ratio: numbers of nodes, mean and standard deviation of each metric."""
        rows = [
            {"ratio": each.ratio, "train_nodes": each.train_nodes, "test_nodes": each.test_nodes, **each.columns()}
            for each in self.ratios
        ]
        return table_of(rows, self.to_dict())

    def text_rows(self) -> list[tuple[str, ...]]:
        """Rows of text, the column titles first."""
        titles = [title for metric in METRICS.values() for title in (metric.title, "std error")]
        rows = [("train", "nodes", "splits", *titles)]
        for scores in self.ratios:
            cells = [cell for name in METRICS for cell in (scores.cell(name), f"{scores.error(name):.2f}")]
            rows.append((f"{100 * scores.ratio:g}%", f"{scores.train_nodes:,}", f"{len(scores.C)}", *cells))
        return rows


@dataclass(frozen=True, kw_only=True)
class ClusterScores(Result):
    """Result of `evaluate_clusters`; printed, it is a table.

    Attributes
    ----------
    nmi, ari : float
        Normalized mutual information and adjusted Rand index of clusters and labels.
    control_nmi, control_ari : float
        The same of random unit vectors, by the same way.
    nodes, classes : int
        Numbers of nodes with exactly one label, and of their classes.
    clusters : int
        Number of clusters: that of the classes, or fewer if there are not as many different vectors.
    sampled_nodes : int
        Nodes that the centers were found with.
    zero_nodes : int
        Nodes with a zero vector, which are a group of their own beside the clusters.
    several_nodes : int
        Nodes left out because they have several labels.
    unlabeled_nodes, missing_nodes : int
        Nodes of the embedding without labels, and labeled nodes that it does not have.
    starts, seed
        Arguments of `evaluate_clusters`.
    source, reading : str
        File of the labels, and how it was read.
    """

    nodes: int
    classes: int
    source: str
    reading: str = field(compare=False)  # the same scores may come of labels in another form
    clusters: int
    sampled_nodes: int
    zero_nodes: int
    several_nodes: int
    unlabeled_nodes: int
    missing_nodes: int
    starts: int
    seed: int
    nmi: float
    ari: float
    control_nmi: float
    control_ari: float
    title: ClassVar[str] = "Clusters of vectors against labels"
    json_names: ClassVar[dict[str, str]] = {"source": "labels", "reading": "labels_reading"}

    @property
    def protocol(self) -> str:
        """The meaning of the numbers, in a sentence."""
        sample = f" of {self.sampled_nodes:,} nodes" if self.sampled_nodes < self.nodes else ""
        notes = [
            f"{self.nodes} nodes with one label, {self.classes} classes",
            f"{self.clusters} clusters by k-means{sample}, the best of {self.starts} starts, seed {self.seed}",
            f"nodes with several labels left out ({self.several_nodes})",
            f"nodes without labels left out ({self.unlabeled_nodes})",
        ]
        if self.zero_nodes:
            notes.append(f"{self.zero_nodes} zero vectors are one more group")
        if self.missing_nodes:
            notes.append(f"{self.missing_nodes} labeled nodes are not in the embedding")
        return "; ".join(notes)

    def table(self) -> Table:
        """A row for the embedding and one for the random control."""
        rows = [
            {"vectors": "embedding", "nmi": self.nmi, "ari": self.ari},
            {"vectors": "random control", "nmi": self.control_nmi, "ari": self.control_ari},
        ]
        return table_of(rows, self.to_dict())

    def text_rows(self) -> list[tuple[str, ...]]:
        """Rows of text, the column titles first."""
        return [
            ("vectors", "NMI", "ARI"),
            ("embedding", f"{self.nmi:.4f}", f"{self.ari:.4f}"),
            ("random control", f"{self.control_nmi:.4f}", f"{self.control_ari:.4f}"),
        ]
