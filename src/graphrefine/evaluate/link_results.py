"""Results of an evaluation of links, for JSON and for a table."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any

FIGURES = {  # name in JSON -> title in a table, and decimals there
    "auc": ("AUC", 4),
    "ap": ("AP", 4),
    "mr": ("MR", 1),
    "mrr": ("MRR", 4),
    "hits@1": ("HITS@1", 4),
    "hits@10": ("HITS@10", 4),
    "hits@50": ("HITS@50", 4),
}


@dataclass(frozen=True)
class ScoreFigures:
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

    def mean(self, figure: str) -> float:
        """Mean over the repeats."""
        return fmean(self.values[figure])

    def std(self, figure: str) -> float:
        """Standard deviation between repeats (0 for a single one)."""
        values = self.values[figure]
        return stdev(values) if len(values) > 1 else 0.0

    def to_dict(self) -> dict[str, Any]:
        """All figures as plain numbers."""
        figures = {
            name: {"mean": self.mean(name), "std": self.std(name), "values": list(values)}
            for name, values in self.values.items()
        }
        return {"score": self.score, **figures}


@dataclass(frozen=True)
class LinkScores:
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
        Nodes that each of these was ranked against, before its neighbours were left out.
    repeats, seed
        Arguments of `evaluate_links`.
    source : str
        File of the graph.
    turned_arcs : int, optional
        Directed graphs: number of pairs without an arc that are held-out arcs turned round (in the last repeat).
    """

    scores: tuple[ScoreFigures, ...]
    method: str
    settings: dict[str, Any]
    nodes: int
    edges: int
    held_out: float
    held_out_edges: int
    ranked_edges: int
    corruptions: int
    repeats: int
    seed: int
    source: str
    turned_arcs: int | None = None

    def __getitem__(self, score: str) -> ScoreFigures:
        """Figures of a score, by its name."""
        return next(figures for figures in self.scores if figures.score == score)

    @property
    def protocol(self) -> str:
        """The meaning of the numbers, in a sentence."""
        times = f"{self.repeats} repeats" if self.repeats > 1 else "1 repeat"
        hidden = f"{self.held_out_edges:,} ({100 * self.held_out:g}%)"
        return "; ".join(
            [
                f"{self.nodes:,} nodes, {self.edges:,} edges, of which {hidden} held out",
                f"vectors by {self.method} from the rest",
                f"AUC and AP against as many pairs without an edge{self._turned()}; {self.ranked_edges:,} edges ranked "
                f"with {'one end' if self.turned_arcs is None else 'the target'} replaced by each of "
                f"{self.corruptions:,} random nodes, those that make an edge left out",
                f"{times}, seed {self.seed}",
            ]
        )

    def _turned(self) -> str:
        return "" if self.turned_arcs is None else f", {self.turned_arcs:,} of them held-out arcs turned round"

    def table(self) -> list[tuple[str, ...]]:
        """Rows of text, the column titles first."""
        rows = [("score", *(title for title, _ in FIGURES.values()))]
        for figures in self.scores:
            cells = (self._cell(figures, name, decimals) for name, (_, decimals) in FIGURES.items())
            rows.append((figures.score, *cells))
        return rows

    def _cell(self, figures: ScoreFigures, name: str, decimals: int) -> str:
        spread = f" ± {figures.std(name):.{decimals}f}" if self.repeats > 1 else ""
        return f"{figures.mean(name):.{decimals}f}{spread}"

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain numbers, lists and strings, for JSON."""
        return {
            "graph": self.source,
            "nodes": self.nodes,
            "edges": self.edges,
            "method": self.method,
            "settings": self.settings,
            "held_out": self.held_out,
            "held_out_edges": self.held_out_edges,
            "ranked_edges": self.ranked_edges,
            "corruptions": self.corruptions,
            "repeats": self.repeats,
            "seed": self.seed,
            **({} if self.turned_arcs is None else {"turned_arcs": self.turned_arcs}),
            "scores": [figures.to_dict() for figures in self.scores],
        }

    def __str__(self) -> str:
        lines = ["  ".join(f"{cell:>13}" for cell in row) for row in self.table()]
        return "\n".join([self.protocol, *lines])
