"""Extent of a run: everything that the paper has (`full`), or a little of everything (`quick`).

Both run the same code; a quick run has fewer seeds, splits and rounds, shorter walks, and slow methods on the smallest
graph alone. Each cell says what was left out or shortened.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from typing import Any

from graphrefine.methods import registry as methods
from graphrefine.paper.findings import Gap
from graphrefine.paper.graphs import Graphs
from graphrefine.system.threads import usable_threads

SLOW = frozenset({"line", "deepwalk", "node2vec", "netmf", "netsmf", "grarep", "harp", "mile"})
LARGE = frozenset({"flickr", "youtube"})
SHORTENED = ("walks", "samples")  # settings that time is proportional to
ON_WALKS = frozenset({"harp", "mile"})  # built on DeepWalk, whose walks are shortened


@dataclass(frozen=True)
class Setup:
    """Extent of a run, its graphs and threads."""

    name: str  # "full", "quick", or that of a test
    graphs: Graphs  # real graphs and stand-ins
    threads: int  # of everything that is not timed on one thread
    seed: int = 0  # first of the seeds
    dim: int = 128  # length k of the vectors
    seeds: int = 3  # embeddings for each cell; one for slow methods
    repeats: int = 10  # splits for each ratio
    ratios: int = 5  # number of the paper's ratios
    rounds: int = 5  # of each timing, the best of which counts
    shortening: int = 1  # divisor of walks and samples
    scale: float = 1.0  # size of generated graphs on which time or error is measured, in parts of the full run's
    slow_graphs: frozenset[str] = frozenset({"blogcatalog", "ppi", "wikipedia", "youtube-part"})  # for slow methods

    @property
    def full(self) -> bool:
        """Whether nothing is left out."""
        return self.name == "full"

    def select_ratios(self, ratios: tuple[float, ...]) -> tuple[float, ...]:
        """As many of the ratios as the run has: the middle first, then the ends.

        Examples
        --------
        >>> quick(threads=1, data=None).select_ratios((0.1, 0.3, 0.5, 0.7, 0.9))
        (0.1, 0.5, 0.9)
        """
        order = sorted(range(len(ratios)), key=lambda at: (at != len(ratios) // 2, at not in (0, len(ratios) - 1)))
        return tuple(ratios[at] for at in sorted(order[: self.ratios]))

    def list_seeds(self, method: str, *, limit: int | None = None) -> range:
        """Seeds of the embeddings by a method."""
        count = 1 if method in SLOW else self.seeds
        return range(self.seed, self.seed + min(count, limit or count))

    def scale_count(self, count: int) -> int:
        """Number of nodes or edges of a generated graph."""
        return max(1, round(count * self.scale))

    def check_method(self, graph: str, method: str) -> Gap | None:
        """A gap if the method does not run on the graph."""
        if method not in SLOW or graph in self.slow_graphs:
            return None
        if self.full:
            return Gap("left out", f"{method} would take hours on a graph of this size")
        return Gap("left out", f"by --quick, which runs {method} on small graphs only; the full run has it")

    def shorten(self, method: str) -> dict[str, Any]:
        """Settings that make a slow method quick; empty if nothing is shortened."""
        if self.shortening == 1:
            return {}
        if method in ON_WALKS:
            return {"base_settings": f"walks={max(1, 80 // self.shortening)}"}
        defaults: dict[str, Any] = {field.name: field.default for field in fields(methods.find_method(method).settings)}
        return {name: max(1, int(defaults[name]) // self.shortening) for name in SHORTENED if name in defaults}


def full(*, threads: int | None, data: str | os.PathLike[str] | None, seed: int = 0) -> Setup:
    """Everything that the paper has."""
    return Setup("full", Graphs.from_folder(data), usable_threads(threads), seed=seed)


def quick(*, threads: int | None, data: str | os.PathLike[str] | None, seed: int = 0) -> Setup:
    """A little of everything, in minutes."""
    return Setup(
        "quick",
        Graphs.from_folder(data, scale=0.3, largest=0.01),
        usable_threads(threads),
        seed=seed,
        seeds=1,
        repeats=2,
        ratios=3,
        rounds=2,
        shortening=10,
        scale=0.2,
        slow_graphs=frozenset({"ppi"}),
    )
