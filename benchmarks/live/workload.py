"""What the benchmarks of live vectors share: changes of a graph, groups of them that are timed, and bars."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

sys.path.append(str(Path(__file__).resolve().parent.parent))  # these scripts are run by their path

import results  # found by the line above
from common import data, graph, machine
from graphrefine.graph.graph import Graph
from graphrefine.live.writer import Live

__all__ = [
    "Changes",
    "Edges",
    "Times",
    "apply",
    "at_least",
    "at_most",
    "data",
    "drop_edges",
    "edges_of",
    "graph",
    "grow",
    "machine",
    "replace_edges",
    "results",
]

Rows = NDArray[np.int64]
Reals = NDArray[np.float64]


@dataclass(frozen=True)
class Edges:
    """Edges of a graph by rows, each once."""

    sources: Rows
    targets: Rows
    weights: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.sources)

    def take(self, which: Any) -> Edges:
        """Some of them."""
        return Edges(self.sources[which], self.targets[which], self.weights[which])

    @classmethod
    def join(cls, several: Iterable[Edges]) -> Edges:
        """All of several, in order."""
        arrays = zip(*((each.sources, each.targets, each.weights) for each in several), strict=True)
        return cls(*map(np.concatenate, arrays))


@dataclass(frozen=True)
class Changes:
    """Edges that come (True) or go, in order."""

    added: NDArray[np.bool_]
    edges: Edges

    @classmethod
    def additions(cls, edges: Edges) -> Changes:
        """Edges that come."""
        return cls(np.ones(len(edges), np.bool_), edges)

    def __len__(self) -> int:
        return len(self.added)

    def part(self, start: int, end: int) -> Changes:
        """Some of them."""
        return Changes(self.added[start:end], self.edges.take(slice(start, end)))

    def ends(self) -> Rows:
        """Rows of the nodes whose edges change."""
        return np.unique(np.concatenate([self.edges.sources, self.edges.targets]))


def edges_of(whole: Graph) -> Edges:
    """All edges of an undirected graph."""
    rows = np.repeat(np.arange(whole.nodes), whole.out_counts)
    once = rows < whole.indices
    weights = np.ones(int(once.sum()), np.float32) if whole.weights is None else whole.weights[once]
    return Edges(rows[once], whole.indices[once].astype(np.int64), weights)


def replace_edges(whole: Graph, count: int, *, seed: int = 0) -> Changes:
    """Changes that remove so many edges and add as many, in any order.

    Edges that go are drawn uniformly, so that their ends are drawn by degree; both ends and the weight of an edge that
    comes are those of edges that are drawn uniformly. None comes that was there before.
    """
    rng = np.random.default_rng(seed)
    edges = edges_of(whole)
    gone = edges.take(rng.choice(len(edges), count, replace=False))
    come = _draw_new(edges, whole.nodes, count, rng)
    order = rng.permutation(2 * count)
    return Changes(order >= count, Edges.join([gone, come]).take(order))


def _draw_new(edges: Edges, nodes: int, count: int, rng: np.random.Generator) -> Edges:
    keys, fresh = edges.sources * nodes + edges.targets, np.empty(0, np.int64)  # keys ascend

    def ends() -> Rows:
        drawn = edges.take(rng.integers(0, len(edges), 2 * count))
        return np.where(rng.random(2 * count) < 0.5, drawn.sources, drawn.targets)

    while len(fresh) < count:
        one, other = ends(), ends()
        drawn = np.minimum(one, other) * nodes + np.maximum(one, other)
        there = keys[np.minimum(np.searchsorted(keys, drawn), len(keys) - 1)] == drawn
        fresh = np.concatenate([fresh, drawn[(one != other) & ~there]])
        fresh = fresh[np.sort(np.unique(fresh, return_index=True)[1])]  # once each, in the order of the draws
    weights = edges.weights[rng.integers(0, len(edges), count)]
    return Edges(fresh[:count] // nodes, fresh[:count] % nodes, weights)


def drop_edges(whole: Graph, share: float, *, seed: int = 0) -> tuple[Graph, Changes]:
    """The graph without a share of its edges, drawn uniformly, and those edges to come, in any order."""
    edges, n = edges_of(whole), whole.nodes
    later = edges.take(np.random.default_rng(seed).permutation(len(edges))[: round(share * len(edges))])
    rows = np.repeat(np.arange(n), whole.out_counts)
    keys = np.minimum(rows, whole.indices) * n + np.maximum(rows, whole.indices)
    stay = ~np.isin(keys, later.sources * n + later.targets)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows[stay], minlength=n))])
    weights = None if whole.weights is None else whole.weights[stay]
    first = Graph(indptr, whole.indices[stay], weights, whole.names)
    return first, Changes.additions(later)


def grow(nodes: int, degree: int, *, seed: int = 0) -> tuple[Graph, Changes]:
    """A graph of preferential attachment at half of its edges, and the other half to come, in the model's order.

    Each node comes with ``degree`` edges, whose other ends are drawn by degree among the nodes before it.
    """
    rng = np.random.default_rng(seed)
    ends = np.empty(2 * nodes * degree, np.int64)  # of all edges so far, in pairs
    at = 0
    for new in range(1, nodes):
        drawn = ends[rng.integers(0, at, degree)] if at else np.zeros(degree, np.int64)
        for old in np.unique(drawn).tolist():
            ends[at : at + 2] = old, new
            at += 2
    sources, targets = ends[0:at:2], ends[1:at:2]
    half = len(sources) // 2
    first = Graph.from_edges(sources[:half], targets[:half])
    later = Edges(sources[half:], targets[half:], np.ones(len(sources) - half, np.float32))
    return first, Changes.additions(later)


class Times(NamedTuple):
    """Seconds of groups of changes."""

    wall: Reals
    processor: Reals


def apply(live: Live, changes: Changes, *, size: int) -> Times:
    """Commit the changes in groups of a size, one call for each change; the seconds of each group."""
    wall, processor = list[float](), list[float]()
    edges = changes.edges
    arrays = (changes.added, edges.sources, edges.targets, edges.weights)
    lists = [array.tolist() for array in arrays]
    for start in range(0, len(changes), size):
        group = list(zip(*(each[start : start + size] for each in lists), strict=True))
        begin, used = time.perf_counter(), time.process_time()
        for added, source, target, weight in group:
            if added:
                live.add(source, target, weight)
            else:
                live.remove(source, target)
        live.commit()
        wall.append(time.perf_counter() - begin)
        processor.append(time.process_time() - used)
    return Times(np.array(wall), np.array(processor))


def at_most(what: str, value: float, most: float, unit: str = "") -> bool:
    """Print a figure beside the most that it may be; whether it is."""
    return _bar(what, value, value <= most, f"at most {most:g}", unit)


def at_least(what: str, value: float, least: float, unit: str = "") -> bool:
    """Print a figure beside the least that it must be; whether it is."""
    return _bar(what, value, value >= least, f"at least {least:g}", unit)


def _bar(what: str, value: float, reached: bool, bar: str, unit: str) -> bool:
    print(f"  {what:58} {value:10.4g}{unit}   bar {bar}{unit}: {'reached' if reached else 'MISSED'}", flush=True)
    return reached
