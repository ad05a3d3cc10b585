"""What an evaluation of links returns: numbers with what they mean, for JSON and for a table."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any

FIGURES = {  # as in JSON -> as in a table, and the decimals there
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
    """How well one score finds the held-out edges.

    Attributes
    ----------
    score : str
        Its name, see `graphrefine.evaluate.link_scores`.
    values : dict
        For each of `FIGURES`, one number a repeat.

    Examples
    --------
    >>> found = ScoreFigures("dot", {"auc": (0.75, 0.85)})
    >>> found.mean("auc"), round(found.std("auc"), 4)
    (0.8, 0.0707)
    """

    score: str
    values: dict[str, tuple[float, ...]]

    def mean(self, figure: str) -> float:
        """The mean over the repeats."""
        return fmean(self.values[figure])

    def std(self, figure: str) -> float:
        """The standard deviation between repeats (0 for a single one)."""
        values = self.values[figure]
        return stdev(values) if len(values) > 1 else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers."""
        figures = {
            name: {"mean": self.mean(name), "std": self.std(name), "values": list(values)}
            for name, values in self.values.items()
        }
        return {"score": self.score, **figures}


@dataclass(frozen=True)
class LinkScores:
    """The outcome of `evaluate_links`; printed, it is a table.

    Attributes
    ----------
    scores : tuple of ScoreFigures
        The figures of each score, the degree product last.
    method : str
        What made the vectors.
    settings : dict
        With which settings.
    nodes, edges : int
        Of the whole graph.
    held_out : float
        The part of the edges that was held out.
    held_out_edges : int
        How many that were; as many pairs without an edge stood against them.
    ranked_edges : int
        How many of them were ranked.
    corruptions : int
        Nodes that each of these was ranked against, before those that are its neighbours were left out.
    repeats, seed
        As asked for.
    source : str
        Where the graph came from.
    turned_arcs : int, optional
        Of a directed graph: how many of the pairs without an arc were held-out arcs turned round (in the last repeat).
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
        """The figures of a score, by its name."""
        return next(found for found in self.scores if found.score == score)

    @property
    def protocol(self) -> str:
        """One sentence that says what the numbers are."""
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
        """Rows of text, the names of the columns first."""
        rows = [("score", *(title for title, _ in FIGURES.values()))]
        for found in self.scores:
            cells = (self._cell(found, name, decimals) for name, (_, decimals) in FIGURES.items())
            rows.append((found.score, *cells))
        return list(rows)

    def _cell(self, found: ScoreFigures, name: str, decimals: int) -> str:
        spread = f" ± {found.std(name):.{decimals}f}" if self.repeats > 1 else ""
        return f"{found.mean(name):.{decimals}f}{spread}"

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers, lists and strings, ready for JSON."""
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
            "scores": [found.to_dict() for found in self.scores],
        }

    def __str__(self) -> str:
        lines = ["  ".join(f"{cell:>13}" for cell in row) for row in self.table()]
        return "\n".join([self.protocol, *lines])
