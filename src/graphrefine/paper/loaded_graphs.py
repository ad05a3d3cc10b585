"""The bench that work is done on: graphs and labels, loaded when they are first needed, and the number of threads."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from graphrefine.datasets import Dataset
from graphrefine.evaluate import Labels
from graphrefine.graph import Graph
from graphrefine.paper.graphs import Graphs

KEPT = 3  # graphs held in memory at a time


class Bench:
    """Graphs by what was asked; the last few stay loaded.

    Parameters
    ----------
    graphs
        Where they come from.
    threads
        For all that is not timed.
    """

    def __init__(self, graphs: Graphs, threads: int) -> None:
        self.graphs, self.threads = graphs, threads
        self._loaded: dict[str, Dataset] = {}

    def graph(self, asked: Mapping[str, Any]) -> Graph:
        """The graph itself."""
        return self._load(asked).graph

    def labels(self, asked: Mapping[str, Any]) -> Labels:
        """The labels of its nodes."""
        labels = self._load(asked).labels
        assert labels is not None, asked
        return labels

    def file(self, asked: Mapping[str, Any], folder: Path) -> Path:
        """A file of it: its own, or for a stand-in one that is written into ``folder``."""
        from scipy.sparse import save_npz

        loaded = self._load(asked)
        if loaded.path is not None:
            return loaded.path
        path = folder / "standin.npz"
        save_npz(path, loaded.graph.to_scipy(), compressed=False)
        return path

    def _load(self, asked: Mapping[str, Any]) -> Dataset:
        name = asked["name"]
        if name not in self._loaded:
            while len(self._loaded) >= KEPT:
                self._loaded.pop(next(iter(self._loaded)))
            self._loaded[name] = self.graphs.load(name, self.threads)
        return self._loaded[name]
