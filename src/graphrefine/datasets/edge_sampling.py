"""Edges drawn at random, for nodes with expected degrees and communities; see `graphrefine.datasets.generate`.

A draw in proportion to degrees is one look into a table that holds a node as often as its degree says, the members of a
community side by side. Edges are drawn in pieces with seeds of their own, so the graph does not depend on the threads;
sorted as numbers, edges that were drawn twice are side by side.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphrefine.errors import InputError
from graphrefine.graph.adjacency import merge_edges
from graphrefine.graph.graph import Graph, graph_of
from graphrefine.system.threads import thread_pool

PIECE = 1 << 18  # edges drawn with one seed
ROUNDS = 100  # of drawing edges anew that were drawn twice, before giving up
SLOTS = 8  # places in the table for each node, at most twice the edges

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]


@dataclass(frozen=True)
class Places:
    """Places of the starts and ends of edges; nodes are numbered by their first community."""

    degrees: Floats  # (n,): expected
    members: sp.csr_array[np.bool_]  # (n, classes)
    starts: Whole  # (n + 1,): edges starts[i] to starts[i + 1] start at node i
    table: NDArray[np.int32]  # nodes, as often as their degree says; by community
    bounds: Whole  # (classes + 1,): first place of each community
    mixing: float
    names: NDArray[np.int32]  # (n,): number of each node in the graph, in no order

    @classmethod
    def of(
        cls, degrees: Floats, members: sp.csr_array[np.bool_], edges: int, *, mixing: float, rng: np.random.Generator
    ) -> Places:
        """Places of nodes of these degrees and memberships, numbered by first community."""
        n = len(degrees)
        counts = degrees / 2  # edges that start at each node
        if edges > n:  # at least one at each node, so that none is isolated
            above = np.maximum(counts - 1, 0)
            counts = 1 + above * ((edges - n) / above.sum())
        starts = np.concatenate([[0], _round(np.cumsum(counts) * (edges / counts.sum()), rng)])
        starts[-1] = edges
        by_class = members.tocsc()
        weights = (degrees / np.diff(members.indptr))[by_class.indices]
        size = max(min(2 * edges, SLOTS * n), 1 << 16)
        ends = np.concatenate([[0], _round(np.cumsum(weights) * (size / weights.sum()), rng)])
        table = np.repeat(by_class.indices.astype(np.int32), np.diff(ends))
        return cls(degrees, members, starts, table, ends[by_class.indptr], mixing, rng.permutation(n).astype(np.int32))

    def draw_ends(self, first: NDArray[Any], rng: np.random.Generator) -> NDArray[np.int32]:
        """Ends of edges that start at these nodes."""
        low, size = np.zeros(len(first), np.int64), np.full(len(first), len(self.table))
        if self.mixing < 1:
            at = self.members.indptr[first]
            count = self.members.indptr[first + 1] - at
            community = self.members.indices[at + (rng.random(len(first)) * count).astype(np.int64)]
            inside = self.bounds[community + 1] - self.bounds[community]
            stays = (rng.random(len(first)) >= self.mixing) & (inside > 0)
            low, size = np.where(stays, self.bounds[community], 0), np.where(stays, inside, size)
        ends: NDArray[np.int32] = self.table[low + (rng.random(len(first)) * size).astype(np.int64)]
        return ends

    def keys(self, first: NDArray[Any], second: NDArray[Any]) -> Whole:
        """One number for each edge, the same for both directions; -1 for a self-loop."""
        u, v = self.names[first], self.names[second]
        keys: Whole = np.minimum(u, v) * np.int64(len(self.degrees)) + np.maximum(u, v)
        keys[u == v] = -1
        return keys


def least_offset(largest: Callable[[float], float], limit: float, *, rounds: int) -> float:
    """The offset of a power law, at least 0, from which on its largest degree does not exceed a limit; by bisection.

    Examples
    --------
    >>> round(least_offset(lambda offset: 10 / (1 + offset), 4, rounds=30), 6)
    1.5
    """
    low, high = 0.0, 1.0
    if largest(low) <= limit:
        return low
    while largest(high) > limit:
        low, high = high, 2 * high
    for _ in range(rounds):
        middle = (low + high) / 2
        low, high = (middle, high) if largest(middle) > limit else (low, middle)
    return high


def _round(sums: Floats, rng: np.random.Generator) -> Whole:
    """Cumulative sums as whole numbers: the difference of two is rounded up or down, by chance."""
    whole: Whole = np.floor(sums + rng.random()).astype(np.int64)
    return whole


def draw(places: Places, edges: int, *, seed: int, threads: int) -> Graph:
    """Graph of random edges: drawn, sorted, and drawn anew if they were drawn before."""
    keys = np.empty(edges, np.int64)

    def draw_piece(piece: int) -> None:
        lo, hi = piece * PIECE, min((piece + 1) * PIECE, edges)
        keys[lo:hi] = _piece(places, lo, hi, np.random.default_rng((seed, 2, piece)))

    with thread_pool(threads) as pool:
        list(pool.map(draw_piece, range(-(-edges // PIECE))))
    keys.sort()
    _fill(keys, _compact(keys), places, np.random.default_rng((seed, 3)))
    return _graph(keys, len(places.degrees), threads)


def _piece(places: Places, lo: int, hi: int, rng: np.random.Generator) -> Whole:
    """Edges from number ``lo`` to before ``hi``."""
    first = int(np.searchsorted(places.starts, lo, side="right")) - 1
    last = int(np.searchsorted(places.starts, hi, side="left"))
    bounds = np.clip(places.starts[first : last + 1], lo, hi)
    starts = np.repeat(np.arange(first, last), bounds[1:] - bounds[:-1])
    return places.keys(starts, places.draw_ends(starts, rng))


def _compact(keys: Whole) -> int:
    """Move the different keys of a sorted array to its front, in order; their number."""
    count, before = 0, -1
    for lo in range(0, len(keys), PIECE):
        part = keys[lo : lo + PIECE]
        fresh = part[part != np.concatenate([[before], part[:-1]])]
        fresh = fresh[fresh >= 0]
        before = int(part[-1])
        keys[count : count + len(fresh)] = fresh
        count += len(fresh)
    return count


def _fill(keys: Whole, count: int, places: Places, rng: np.random.Generator) -> None:
    """Draw edges that are not among the first ``count`` keys, which are sorted, until the array is full of them."""
    for _ in range(ROUNDS):
        missing = len(keys) - count
        if not missing:
            return
        starts = places.table[rng.integers(0, len(places.table), 2 * missing + 64)]
        candidates = places.keys(starts, places.draw_ends(starts, rng))
        different, when = np.unique(candidates, return_index=True)
        place = np.minimum(np.searchsorted(keys[:count], different), count - 1)
        new = (different >= 0) & (keys[place] != different)
        fresh = candidates[np.sort(when[new])[:missing]]  # the first of the draw, not the smallest
        keys[count : count + len(fresh)] = fresh
        count += len(fresh)
        keys[:count].sort()
    raise InputError(
        f"edges={len(keys)}: after {ROUNDS} rounds, {len(keys) - count} of them have found no place that is free; "
        "ask for fewer edges, more nodes, a larger exponent or more mixing",
        argument="edges",
    )


def _graph(keys: Whole, nodes: int, threads: int) -> Graph:
    ends = np.empty((2, len(keys)), np.int32)
    for lo in range(0, len(keys), PIECE):
        part = keys[lo : lo + PIECE]
        ends[0, lo : lo + PIECE] = part // nodes
        ends[1, lo : lo + PIECE] = part % nodes
    keys.resize(0, refcheck=False)  # half of all memory, and not needed to the end
    numbered = (ends[0], ends[1], np.arange(nodes))
    return graph_of(merge_edges(numbered, None, directed=False, threads=threads), source="generated")
