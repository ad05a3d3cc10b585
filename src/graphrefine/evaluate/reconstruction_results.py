"""Results of an evaluation of reconstruction, for JSON and for a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Reconstruction:
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
    >>> figures = Reconstruction((10, 100), {"dot": (0.9, 0.4)}, 40, 40, 780, 50, 0, 0, "memory")
    >>> figures.possible, round(figures.chance, 4)
    ((1.0, 0.5), 0.0641)
    """

    top: tuple[int, ...]
    precision: dict[str, tuple[float, ...]]
    nodes: int
    sampled: int
    pairs: int
    edges: int
    extra_nodes: int
    seed: int
    source: str

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
        return {
            "graph": self.source,
            "nodes": self.nodes,
            "sampled_nodes": self.sampled,
            "pairs": self.pairs,
            "edges": self.edges,
            "extra_nodes": self.extra_nodes,
            "seed": self.seed,
            "top": list(self.top),
            "precision": {name: list(values) for name, values in self.precision.items()},
            "chance": self.chance,
            "possible": list(self.possible),
        }

    def __str__(self) -> str:
        lines = ["  ".join(f"{cell:>12}" for cell in row) for row in self.table()]
        return "\n".join([self.protocol, *lines])
