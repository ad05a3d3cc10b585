"""Dataset: a graph, the labels of its nodes, and their origin."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from graphrefine.graph.graph import Graph
from graphrefine.readers.labels import Labels


@dataclass(frozen=True)
class Dataset:
    """A graph with labels.

    Attributes
    ----------
    name, title : str
        Name for `load`, and title in reports.
    graph : Graph
    labels : Labels, optional
    path : Path, optional
        File of the graph.
    generated : bool
        True if the graph was drawn at random: scores on it say nothing of a real graph of the same shape.
    note : str
        Note for readers of scores.
    recipe : dict
        Settings of the generator.
    """

    name: str
    title: str
    graph: Graph
    labels: Labels | None = None
    path: Path | None = None
    generated: bool = False
    note: str = ""
    recipe: dict[str, Any] = field(default_factory=dict)

    @property
    def classes(self) -> int:
        """Number of different labels."""
        return 0 if self.labels is None else len(self.labels.classes)

    def __repr__(self) -> str:
        kind = "generated, " if self.generated else ""
        size = f"{self.graph.nodes:,} nodes, {self.graph.edges:,} edges, {self.classes} classes"
        return f"Dataset({self.name!r}: {kind}{size})"
