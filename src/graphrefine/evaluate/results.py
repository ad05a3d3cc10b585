"""Results of evaluations and comparisons: frozen dataclasses with one way to print, to show and to store.

Every result has a `protocol` (the meaning of its numbers, in a sentence), `table` (for data frames), `text_rows` (for
people) and `to_dict` (for JSON).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any, ClassVar

from graphrefine.display.console import format_table, seconds
from graphrefine.display.table import Table, Tabular, table_of, text_html
from graphrefine.evaluate.metrics import LINK_METRICS, METRICS
from graphrefine.system import as_plain

BASELINE = "baseline"  # status of a row of a comparison that methods must beat


class Result(Tabular):
    """Base of results; printed and in a notebook, a result is its protocol and its table."""

    title: ClassVar[str]
    left_columns: ClassVar[tuple[str, ...]]  # titles of the columns of text
    json_names: ClassVar[dict[str, str]] = {}  # of fields that have another name in JSON

    if TYPE_CHECKING:  # at run time a property here would be the default of a field of this name

        @property
        def protocol(self) -> str:
            """Meaning of the numbers, in a sentence."""

    def text_rows(self) -> list[tuple[str, ...]]:
        """Return rows of text, the column titles first."""
        raise NotImplementedError

    def text(self) -> str:
        """Return the table as text."""
        rows = self.text_rows()
        return format_table(rows, left=[at for at, name in enumerate(rows[0]) if name in self.left_columns])

    def to_dict(self) -> dict[str, Any]:
        """Return all fields that are set as plain numbers, lists and strings, for JSON."""
        return {self.json_names.get(name, name): value for name, value in _plain_fields(self).items()}

    def notes(self) -> list[str]:
        """Return lines that explain the table in a notebook."""
        return [self.protocol]

    def _repr_html_(self) -> str:
        """Show the result in a notebook."""
        return text_html(self.text_rows(), self.title, self.notes())

    def __str__(self) -> str:
        return f"{self.protocol}\n{self.text()}"


class Repeats:
    """Numbers with one value for each repeat, by name."""

    values: dict[str, tuple[float, ...]]

    # The spread is between random splits of the same nodes, which overlap: the standard error is that of the mean over
    # splits, and not the uncertainty on other nodes or another graph.
    def mean(self, name: str) -> float:
        """Return the mean over the repeats."""
        return fmean(self.values[name])

    def std(self, name: str) -> float:
        """Return the standard deviation between repeats (0 for a single one)."""
        values = self.values[name]
        return stdev(values) if len(values) > 1 else 0.0

    def error(self, name: str) -> float:
        """Return the standard error of the mean: the standard deviation / sqrt(repeats)."""
        return self.std(name) / math.sqrt(len(self.values[name]))

    def columns(self) -> dict[str, float]:
        """Return means and standard deviations, by the name of a column."""
        pairs = ({name: self.mean(name), f"{name}_std": self.std(name)} for name in self.values)
        return {column: value for pair in pairs for column, value in pair.items()}

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers, lists and strings, for JSON."""
        plain = _plain_fields(self)
        values = plain.pop("values")
        stats = {
            name: {"mean": self.mean(name), "std": self.std(name), "error": self.error(name), "values": each}
            for name, each in values.items()
        }
        return plain | stats


def _plain_fields(result: Any) -> dict[str, Any]:
    """Return the fields of a dataclass that are set, as JSON has them."""
    # Not `asdict`: it would copy the scores of each repeat as they are, where JSON has their mean and spread too.
    values = ((each.name, getattr(result, each.name)) for each in fields(result))
    return {name: _plain(value) for name, value in values if value is not None}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    return value.to_dict() if isinstance(value, Repeats) else as_plain(value)


@dataclass(frozen=True)
class RatioScores(Repeats):
    """Scores at one ratio of training nodes, one value for each repeat.

    Attributes
    ----------
    ratio : float
        Part of the nodes that trained.
    train_nodes, test_nodes : int
        Numbers of nodes that trained and that were tested.
    values : dict
        For each of `metrics.METRICS`, one number for each repeat.
    C : tuple of float
        Weight of the data in each repeat.

    Examples
    --------
    >>> scores = RatioScores(0.5, 50, 50, {"micro_f1": (60.0, 62.0), "macro_f1": (40.0, 40.0)}, C=(1.0, 1.0))
    >>> scores.micro_mean, round(scores.std("micro_f1"), 3), scores.std("macro_f1")
    (61.0, 1.414, 0.0)
    """

    ratio: float
    train_nodes: int
    test_nodes: int
    values: dict[str, tuple[float, ...]]
    C: tuple[float, ...]

    def cell(self, metric: str) -> str:
        """Return the mean and the standard deviation of a metric as text."""
        return f"{self.mean(metric):.2f} ± {self.std(metric):.2f}"

    @property
    def micro_mean(self) -> float:
        """Mean Micro F1."""
        return self.mean("micro_f1")

    @property
    def macro_mean(self) -> float:
        """Mean Macro F1."""
        return self.mean("macro_f1")


@dataclass(frozen=True, kw_only=True)
class LabelScores(Result):
    """Result of `evaluate_labels`.

    Attributes
    ----------
    ratios : tuple of RatioScores
        Scores at each ratio.
    nodes, classes : int
        Numbers of nodes and classes in the evaluation.
    unlabeled : str
        "drop": nodes without labels were left out before splitting; "keep": all nodes were split.
    unlabeled_nodes, missing_nodes : int
        Nodes of the embedding without labels, and labeled nodes that it does not have.
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
    left_columns: ClassVar[tuple[str, ...]] = ("train",)

    @property
    def protocol(self) -> str:
        """Meaning of the numbers, in a sentence."""
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
        return "; ".join(notes)

    def table(self) -> Table:
        """Return a row for each ratio: numbers of nodes, mean and standard deviation of each metric."""
        rows = [
            {"ratio": each.ratio, "train_nodes": each.train_nodes, "test_nodes": each.test_nodes, **each.columns()}
            for each in self.ratios
        ]
        return table_of(rows, self.to_dict())

    def text_rows(self) -> list[tuple[str, ...]]:
        """Return rows of text, the column titles first."""
        titles = [title for metric in METRICS.values() for title in (metric.title, "std error")]
        rows = [("train", "nodes", "splits", *titles)]
        for scores in self.ratios:
            cells = [cell for name in METRICS for cell in (scores.cell(name), f"{scores.error(name):.2f}")]
            rows.append((f"{100 * scores.ratio:g}%", f"{scores.train_nodes:,}", f"{len(scores.C)}", *cells))
        return rows


@dataclass(frozen=True, kw_only=True)
class ClusterScores(Result):
    """Result of `evaluate_clusters`.

    Attributes
    ----------
    nmi, ari : float
        Normalized mutual information and adjusted Rand index of clusters and labels.
    control_nmi, control_ari : float
        The same of random unit vectors.
    nodes, classes : int
        Numbers of nodes with exactly one label, and of their classes.
    clusters : int
        Number of clusters: that of the classes, or fewer if there are not as many different vectors.
    sampled_nodes : int
        Nodes that the centers were found with.
    zero_nodes : int
        Nodes with a zero vector, which are one more group.
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
    left_columns: ClassVar[tuple[str, ...]] = ("vectors",)

    @property
    def protocol(self) -> str:
        """Meaning of the numbers, in a sentence."""
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
        """Return a row for the embedding and one for the random control."""
        rows = [
            {"vectors": "embedding", "nmi": self.nmi, "ari": self.ari},
            {"vectors": "random control", "nmi": self.control_nmi, "ari": self.control_ari},
        ]
        return table_of(rows, self.to_dict())

    def text_rows(self) -> list[tuple[str, ...]]:
        """Return rows of text, the column titles first."""
        return [
            ("vectors", "NMI", "ARI"),
            ("embedding", f"{self.nmi:.4f}", f"{self.ari:.4f}"),
            ("random control", f"{self.control_nmi:.4f}", f"{self.control_ari:.4f}"),
        ]


@dataclass(frozen=True)
class ScoreStats(Repeats):
    """Measures of one score of pairs.

    Attributes
    ----------
    score : str
        Name of the score, see `graphrefine.evaluate.link_scores`.
    values : dict
        For each of `metrics.LINK_METRICS`, one number for each repeat.

    Examples
    --------
    >>> stats = ScoreStats("dot", {"auc": (0.75, 0.85)})
    >>> stats.mean("auc"), round(stats.std("auc"), 4)
    (0.8, 0.0707)
    """

    score: str
    values: dict[str, tuple[float, ...]]

    def cell(self, name: str, decimals: int) -> str:
        """Return a number as text, with its spread if there are repeats."""
        spread = f" ± {self.std(name):.{decimals}f}" if len(self.values[name]) > 1 else ""
        return f"{self.mean(name):.{decimals}f}{spread}"


@dataclass(frozen=True, kw_only=True)
class LinkScores(Result):
    """Result of `evaluate_links`.

    Attributes
    ----------
    scores : tuple of ScoreStats
        Measures of each score, the degree product last.
    method, settings : str, dict
        The method that made the vectors, and its settings.
    nodes, edges : int
        Size of the whole graph.
    held_out : float
        Part of the edges that was held out.
    held_out_edges : int
        Number of these edges, and of the pairs without an edge that they were compared with.
    ranked_edges : int
        Number of held-out edges that were ranked.
    corruptions : int
        Nodes that each of these was ranked against, before its neighbors were left out.
    repeats, seed
        Arguments of `evaluate_links`.
    source : str
        File of the graph.
    turned_arcs : int, optional
        Directed graphs: number of pairs without an arc that are held-out arcs turned round (in the last repeat).
    """

    source: str
    nodes: int
    edges: int
    method: str
    settings: dict[str, Any]
    held_out: float
    held_out_edges: int
    ranked_edges: int
    corruptions: int
    repeats: int
    seed: int
    turned_arcs: int | None = None
    scores: tuple[ScoreStats, ...]
    title: ClassVar[str] = "Held-out edges against pairs without an edge"
    json_names: ClassVar[dict[str, str]] = {"source": "graph"}
    left_columns: ClassVar[tuple[str, ...]] = ("score",)

    def __getitem__(self, score: str) -> ScoreStats:
        """Return the measures of a score, by its name."""
        return next(stats for stats in self.scores if stats.score == score)

    @property
    def protocol(self) -> str:
        """Meaning of the numbers, in a sentence."""
        times = f"{self.repeats} repeats" if self.repeats > 1 else "1 repeat"
        hidden = f"{self.held_out_edges:,} ({100 * self.held_out:g}%)"
        turned = "" if self.turned_arcs is None else f", {self.turned_arcs:,} of them held-out arcs turned round"
        return (
            f"{self.nodes:,} nodes, {self.edges:,} edges, of which {hidden} held out; vectors by {self.method} from "
            f"the rest; AUC and AP against as many pairs without an edge{turned}; {self.ranked_edges:,} edges ranked "
            f"with {'one end' if self.turned_arcs is None else 'the target'} replaced by each of "
            f"{self.corruptions:,} random nodes, those that make an edge left out; {times}, seed {self.seed}"
        )

    def table(self) -> Table:
        """Return a row for each score: mean and standard deviation of each measure."""
        return table_of([{"score": each.score, **each.columns()} for each in self.scores], self.to_dict())

    def text_rows(self) -> list[tuple[str, ...]]:
        """Return rows of text, the column titles first."""
        rows = [("score", *(title for title, _ in LINK_METRICS.values()))]
        for stats in self.scores:
            cells = (stats.cell(name, decimals) for name, (_, decimals) in LINK_METRICS.items())
            rows.append((stats.score, *cells))
        return rows


@dataclass(frozen=True, kw_only=True)
class Reconstruction(Result):
    """Result of `evaluate_reconstruction`.

    Attributes
    ----------
    top : tuple of int
        The K of precision@K.
    precision : dict
        For dot, cosine and degree, the part of edges among the first K pairs, for each K.
    nodes, sampled : int
        Nodes of the graph, and nodes whose pairs were judged.
    pairs, edges : int
        Number of pairs that were judged, and of edges among them.
    extra_nodes : int
        Nodes of the embedding that the graph does not have.
    seed : int
        Seed of the sample.
    source : str
        File of the graph.

    Examples
    --------
    >>> sizes = {"nodes": 40, "sampled": 40, "pairs": 780, "edges": 50, "extra_nodes": 0}
    >>> result = Reconstruction(
    ...     source="memory", seed=0, top=(10, 100), precision={"dot": (0.9, 0.4)}, **sizes
    ... )
    >>> result.possible, round(result.chance, 4)
    ((1.0, 0.5), 0.0641)
    """

    source: str
    nodes: int
    sampled: int
    pairs: int
    edges: int
    extra_nodes: int
    seed: int
    top: tuple[int, ...]
    precision: dict[str, tuple[float, ...]]
    title: ClassVar[str] = "Edges among the pairs of the highest scores"
    json_names: ClassVar[dict[str, str]] = {"source": "graph", "sampled": "sampled_nodes"}
    left_columns: ClassVar[tuple[str, ...]] = ("precision@K",)

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
        """Meaning of the numbers, in a sentence."""
        judged = "all pairs" if self.sampled == self.nodes else f"the pairs of {self.sampled:,} random nodes"
        notes = [
            f"{self.nodes:,} nodes; {judged}: {self.pairs:,}, of which {self.edges:,} are edges",
            f"seed {self.seed}" if self.sampled < self.nodes else "",
            f"{self.extra_nodes:,} nodes of the embedding are not in the graph" if self.extra_nodes else "",
        ]
        return "; ".join(note for note in notes if note)

    def table(self) -> Table:
        """Return a row for each K: precision by each score, by chance, and the highest that is possible."""
        columns = {"k": self.top, **self.precision, "chance": [self.chance] * len(self.top), "possible": self.possible}
        return Table(columns, self.to_dict())

    def text_rows(self) -> list[tuple[str, ...]]:
        """Return rows of text, the column titles first."""
        rows = [("precision@K", *self.precision, "chance", "possible")]
        for at, (k, possible) in enumerate(zip(self.top, self.possible, strict=True)):
            cells = (f"{values[at]:.4f}" for values in self.precision.values())
            rows.append((f"{k:,}", *cells, f"{self.chance:.2g}", f"{possible:.4f}"))
        return rows

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as plain numbers, lists and strings, for JSON."""
        return {**super().to_dict(), "chance": self.chance, "possible": list(self.possible)}


@dataclass(frozen=True)
class Row:
    """One method with one dimension, in a `Comparison`.

    The status is "done", "refused" (the method cannot take the graph), "baseline" (a row that methods must beat), or
    that of a `graphrefine.evaluate.embed_subprocess.Outcome`.
    """

    method: str  # or the name of a baseline
    dim: int | None  # of the vectors, if there are any
    status: str
    message: str = ""  # the reason of any other status than "done"
    quality: float | None = None  # Micro F1 in percent, or AUC: rows are sorted by it
    cells: Mapping[str, str] = field(default_factory=dict)  # a text for each of `Comparison.columns`
    scores: Mapping[str, Any] = field(default_factory=dict)  # all numbers behind the cells
    seconds: float | None = None  # of computing
    total_seconds: float | None = None  # with start, reading and writing
    peak_bytes: int | None = None
    recipe: Mapping[str, Any] = field(default_factory=dict)  # the settings that made the vectors

    @property
    def name(self) -> str:
        """Method and dimension."""
        return self.method if self.dim is None else f"{self.method}, dim {self.dim}"

    @property
    def reason(self) -> str:
        """Status and its reason."""
        return f"{self.status}: {self.message}" if self.message else self.status

    def cost(self) -> tuple[str | None, str | None]:
        """Return time and memory as text."""
        time = None if self.seconds is None else seconds(self.seconds)
        return time, f"{self.peak_bytes / 1e6:,.0f} MB" if self.peak_bytes else None


@dataclass(frozen=True)
class Comparison(Result):
    """Result of `graphrefine.evaluate.compare.compare`."""

    rows: tuple[Row, ...]  # best first; then methods that did not finish
    columns: tuple[str, ...]  # titles of the scores, the keys of `Row.cells`
    axis: str  # name of `Row.quality`
    protocol: str  # meaning of the numbers, in a sentence
    graph: Mapping[str, Any]  # its size
    inputs: Mapping[str, Any]  # everything that the numbers depend on
    limits: Mapping[str, Any]  # of each child process
    title: ClassVar[str] = "Methods compared, the best first"
    left_columns: ClassVar[tuple[str, ...]] = ("method", "score", "status")

    @property
    def finished(self) -> list[Row]:
        """Rows with vectors, best first."""
        return [row for row in self.rows if row.status == "done"]

    def table(self) -> Table:
        """Return a row for each method and dimension: quality (named by `axis`), seconds, bytes, and how it ended."""
        names = ("method", "dim", "quality", "seconds", "total_seconds", "peak_bytes", "status", "message")
        rows = [{name: getattr(row, name) for name in names} for row in self.rows]
        return table_of(rows, {"quality": self.axis, "protocol": self.protocol})

    def text_rows(self) -> list[tuple[str, ...]]:
        """Return rows of text, the column titles first; `Row.reason` has the reason of a status."""
        table = [("method", "dim", "time", "memory", *self.columns, "status")]
        for row in self.rows:
            scores = [row.cells.get(column) for column in self.columns]
            cells = (None if row.dim is None else str(row.dim), *row.cost(), *scores)
            table.append((row.method, *(cell or "" for cell in cells), row.status))
        return table

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as plain numbers, lists and strings, for JSON."""
        return {**asdict(self), "rows": [asdict(row) for row in self.rows]}


def sort_rows(rows: Sequence[Row]) -> tuple[Row, ...]:
    """Sort rows, the best first; rows without a quality last, in their order."""
    return tuple(sorted(rows, key=lambda row: -float("inf") if row.quality is None else row.quality, reverse=True))
