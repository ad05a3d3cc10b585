"""Dataset: a graph, the labels of its nodes, and where they came from."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graphrefine.evaluate import Labels
    from graphrefine.graph.graph import Graph


@dataclass(frozen=True)
class Dataset:
    """A graph with labels.

    Attributes
    ----------
    name, title : str
        As one types it, and as one reads it.
    graph : Graph
    labels : Labels, or None where there are none
    path : Path, or None
        The file that it was read from.
    generated : bool
        Whether it was drawn at random: figures on it say nothing of the graph whose shape it may have.
    note : str
        What a reader of figures should know of it.
    recipe : dict
        How it was generated.
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
        """How many kinds of labels there are."""
        return 0 if self.labels is None else len(self.labels.classes)

    def __repr__(self) -> str:
        kind = "generated, " if self.generated else ""
        size = f"{self.graph.nodes:,} nodes, {self.graph.edges:,} edges, {self.classes} classes"
        return f"Dataset({self.name!r}: {kind}{size})"
