"""Results of evaluations: of links, of reconstruction, and their base: a protocol, a table and a form for JSON."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from statistics import fmean, stdev
from typing import Any, ClassVar

from graphrefine.display.console import format_table
from graphrefine.display.table import Table, Tabular, table_of, text_html
from graphrefine.evaluate.metrics import FIGURES
from graphrefine.system import as_plain


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

    def error(self, figure: str) -> float:
        """Standard error of the mean of a figure: its standard deviation / sqrt(repeats)."""
        return self.std(figure) / math.sqrt(len(self.values[figure]))

    def columns(self) -> dict[str, float]:
        """Mean and standard deviation of each figure, by the name of a column."""
        pairs = ({name: self.mean(name), f"{name}_std": self.std(name)} for name in self.values)
        return {column: value for pair in pairs for column, value in pair.items()}

    def to_dict(self) -> dict[str, Any]:
        """All figures as plain numbers."""
        figures = {
            name: {"mean": self.mean(name), "std": self.std(name), "error": self.error(name), "values": list(values)}
            for name, values in self.values.items()
        }
        plain: dict[str, Any] = {}
        for name, value in _plain_fields(self).items():
            plain |= figures if name == "values" else {name: value}
        return plain


class Result(Tabular):
    """Base of results; printed and in a notebook, a result is its protocol and its table."""

    title: ClassVar[str] = ""
    json_names: ClassVar[dict[str, str]] = {}  # of fields that have another name in JSON

    @property
    def protocol(self) -> str:
        """The meaning of the numbers, in a sentence."""
        raise NotImplementedError

    def text_rows(self) -> list[tuple[str, ...]]:
        """Rows of text, the column titles first."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        """The result in a notebook."""
        return text_html(self.text_rows(), self.title, [self.protocol])

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain numbers, lists and strings, for JSON."""
        return {self.json_names.get(name, name): value for name, value in _plain_fields(self).items()}

    def __str__(self) -> str:
        return f"{self.protocol}\n{format_table(self.text_rows())}"


def _plain_fields(result: Any) -> dict[str, Any]:
    """Fields of a dataclass that are set, as JSON has them."""
    values = ((each.name, getattr(result, each.name)) for each in fields(result))
    return {name: _plain(value) for name, value in values if value is not None}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    return value.to_dict() if isinstance(value, Repeats) else as_plain(value)


@dataclass(frozen=True)
class ScoreFigures(Repeats):
    """Figures of one score of pairs.

    Attributes
    ----------
    score : str
        Name of the score, see `graphrefine.evaluate.link_scores`.
    values : dict
        For each of `FIGURES`, one number for each repeat.

    Examples
    --------
    >>> figures = ScoreFigures("dot", {"auc": (0.75, 0.85)})
    >>> figures.mean("auc"), round(figures.std("auc"), 4)
    (0.8, 0.0707)
    """

    score: str
    values: dict[str, tuple[float, ...]]

    def cell(self, figure: str, decimals: int) -> str:
        """A figure as text, with its spread if there are repeats."""
        spread = f" ± {self.std(figure):.{decimals}f}" if len(self.values[figure]) > 1 else ""
        return f"{self.mean(figure):.{decimals}f}{spread}"


@dataclass(frozen=True, kw_only=True)
class LinkScores(Result):
    """Result of `evaluate_links`; printed, it is a table.

    Attributes
    ----------
    scores : tuple of ScoreFigures
        Figures of each score, the degree product last.
    method, settings : str, dict
        The method that made the vectors, and its settings.
    nodes, edges : int
        Size of the whole graph.
    held_out : float
        Part of the edges that was held out.
    held_out_edges : int
        Number of these edges; as many pairs without an edge stood against them.
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
    scores: tuple[ScoreFigures, ...]
    title: ClassVar[str] = "Held-out edges told from pairs without an edge"
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

    def table(self) -> Table:
        """A row for each score: mean and standard deviation of each figure."""
        return table_of([{"score": each.score, **each.columns()} for each in self.scores], self.to_dict())

    def text_rows(self) -> list[tuple[str, ...]]:
        """Rows of text, the column titles first."""
        titles = ("score", *(title for title, _ in FIGURES.values()))
        cells = ((figures.cell(name, decimals) for name, (_, decimals) in FIGURES.items()) for figures in self.scores)
        return [titles, *((figures.score, *row) for figures, row in zip(self.scores, cells, strict=True))]


@dataclass(frozen=True, kw_only=True)
class Reconstruction(Result):
    """Result of `evaluate_reconstruction`; printed, it is a table.

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
    >>> figures = Reconstruction(
    ...     source="memory", seed=0, top=(10, 100), precision={"dot": (0.9, 0.4)}, **sizes
    ... )
    >>> figures.possible, round(figures.chance, 4)
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

    def table(self) -> Table:
        """A row for each K: precision by each score, by chance, and the highest that is possible."""
        columns = {"k": self.top, **self.precision, "chance": [self.chance] * len(self.top), "possible": self.possible}
        return Table(columns, self.to_dict())

    def text_rows(self) -> list[tuple[str, ...]]:
        """Rows of text, the column titles first."""
        rows = [("precision@K", *self.precision, "chance", "possible")]
        for place, (k, possible) in enumerate(zip(self.top, self.possible, strict=True)):
            cells = (f"{values[place]:.4f}" for values in self.precision.values())
            rows.append((f"{k:,}", *cells, f"{self.chance:.2g}", f"{possible:.4f}"))
        return rows

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain numbers, lists and strings, for JSON."""
        return {**super().to_dict(), "chance": self.chance, "possible": list(self.possible)}
