"""How much is run: all that the paper has (`full`), or a little of everything (`quick`).

Both ask the same questions of the same code; a quick run has fewer seeds, splits and rounds, shorter walks, and leaves
the slow methods to the smallest graph. Each cell says what was left out or shortened.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from functools import cache
from typing import Any

from graphrefine.reproduce.graphs import Graphs
from graphrefine.reproduce.jobs import Gap
from graphrefine.system.threads import usable_threads

SLOW = frozenset({"line", "deepwalk", "node2vec", "netmf", "netsmf", "grarep", "harp", "mile"})
LARGE = frozenset({"flickr", "youtube"})
SHORTENED = ("walks", "samples")  # settings that time is proportional to
ON_WALKS = frozenset({"harp", "mile"})  # made of DeepWalk, whose walks are shortened


@dataclass(frozen=True)
class Setup:
    """How much is run, on which graphs, with how many threads.

    Parameters
    ----------
    name
        "full", "quick", or of a test.
    graphs
        Where they come from.
    threads
        For all that is not timed on one thread.
    seed
        The first of the seeds.
    dim
        Length k of the vectors.
    seeds, repeats, ratios
        Embeddings for each cell (of slow methods: one), splits for each ratio, and how many of the paper's ratios.
    rounds
        Of timings, the best of which counts.
    shorter
        What walks and samples are divided by.
    size
        Of generated graphs of which time or error is measured, in parts of the full run's.
    slow_graphs
        Those of the paper's graphs on which slow methods run.
    """

    name: str
    graphs: Graphs
    threads: int
    seed: int = 0
    dim: int = 128
    seeds: int = 3
    repeats: int = 10
    ratios: int = 5
    rounds: int = 5
    shorter: int = 1
    size: float = 1.0
    slow_graphs: frozenset[str] = frozenset({"blogcatalog", "ppi", "wikipedia", "youtube-part"})

    @property
    def machine(self) -> str:
        """What times depend on beside the work: they are not reused on another."""
        return _machine()

    def some(self, ratios: tuple[float, ...]) -> tuple[float, ...]:
        """As many of the ratios as there is time for: the middle first, then the ends.

        Examples
        --------
        >>> quick(threads=1, data=None).some((0.1, 0.3, 0.5, 0.7, 0.9))
        (0.1, 0.5, 0.9)
        """
        order = sorted(range(len(ratios)), key=lambda at: (at != len(ratios) // 2, at not in (0, len(ratios) - 1)))
        return tuple(ratios[at] for at in sorted(order[: self.ratios]))

    def seeds_of(self, method: str, *, at_most: int | None = None) -> range:
        """The seeds of the embeddings of a method."""
        count = 1 if method in SLOW else self.seeds
        return range(self.seed, self.seed + min(count, at_most or count))

    def sized(self, count: int) -> int:
        """A size of a generated graph."""
        return max(1, round(count * self.size))

    def left_out(self, graph: str, method: str) -> Gap | None:
        """Why a method is not run on a graph, if it is not."""
        if method not in SLOW or graph in self.slow_graphs:
            return None
        if self.name == "full":
            return Gap("left out", f"{method} would take hours on a graph of this size")
        return Gap("left out", f"by --quick, which runs {method} on small graphs only; the full run has it")

    def shortened(self, method: str) -> dict[str, Any]:
        """Settings that make a slow method quick; empty where nothing is shortened."""
        from graphrefine.methods.registry import find

        if self.shorter == 1:
            return {}
        if method in ON_WALKS:
            return {"base_settings": f"walks={max(1, 80 // self.shorter)}"}
        defaults: dict[str, Any] = {field.name: field.default for field in fields(find(method).settings)}
        return {name: max(1, int(defaults[name]) // self.shorter) for name in SHORTENED if name in defaults}


@cache
def _machine() -> str:
    from graphrefine.reports.machine import machine

    facts = machine()
    return f"{facts['cpu']}, {facts['cores']} cores"


def full(*, threads: int | None, data: str | os.PathLike[str] | None, seed: int = 0) -> Setup:
    """All that the paper has."""
    return Setup("full", Graphs.of(data), usable_threads(threads), seed=seed)


def quick(*, threads: int | None, data: str | os.PathLike[str] | None, seed: int = 0) -> Setup:
    """A little of everything, in minutes."""
    graphs = Graphs.of(data, scale=0.3, largest=0.01)
    return Setup(
        "quick",
        graphs,
        usable_threads(threads),
        seed=seed,
        seeds=1,
        repeats=2,
        ratios=3,
        rounds=2,
        shorter=10,
        size=0.2,
        slow_graphs=frozenset({"ppi"}),
    )
