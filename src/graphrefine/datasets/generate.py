"""Random graphs, from a thousand edges to a hundred million: power laws, communities, labels.

Each node i has an expected degree t_i. They fall as a power law and level off at the largest,

``t_i ~ (i + i0)^(-1 / (exponent - 1))``, with i0 such that the first is ``most`` and the sum is twice the edges.

Each edge starts at a node, in proportion to t. It ends at a node drawn in proportion to t: among all nodes with
probability ``mixing``, else among those of one of the communities of its start. That is the degree-corrected stochastic
block model of Karrer and Newman (Physical Review E, 2011) and, with ``mixing`` 1, the model of Chung and Lu. Self-loops
and repeated edges are drawn again, so the number of edges is exact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphrefine.datasets.catalog import Dataset
from graphrefine.errors import InputError
from graphrefine.graph.adjacency import merge_edges
from graphrefine.graph.graph import Graph, graph_of
from graphrefine.readers.labels import Labels
from graphrefine.system.checks import check_integer, check_number
from graphrefine.system.threads import thread_pool, usable_threads

SIZES = 0.7  # classes are as large as rank^-SIZES
PIECE = 1 << 18  # edges drawn with one seed: part of what a seed means, so a change draws other graphs
ROUNDS = 100  # of drawing again what was drawn before, before giving up
SLOTS = 8  # entries of the sampling table for each node, at most twice the edges

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]


def power_law(
    nodes: int,
    edges: int,
    *,
    exponent: float = 2.5,
    most: int | None = None,
    seed: int = 0,
    threads: int | None = None,
) -> Dataset:
    """Draw a graph whose degrees fall as a power law, without any other structure.

    Parameters
    ----------
    nodes, edges : int
        Numbers of both; the edges at most a quarter of all pairs.
    exponent : float
        A degree of x has a probability of about ``x^-exponent``; above 2.
    most : int, optional
        About the largest degree; by the exponent if not given.
    seed : int
        Seed of all that is drawn.
    threads : int, optional
        The number of processors if not given. The graph does not depend on it.

    Examples
    --------
    >>> graph = power_law(1000, 5000).graph
    >>> graph.nodes, graph.edges, int(graph.out_counts.max()) > 100
    (1000, 5000, True)
    """
    degrees = expected_degrees(nodes, edges, exponent=exponent, most=most)
    recipe = {"model": "power law", "nodes": nodes, "edges": edges, "exponent": exponent, "most": most, "seed": seed}
    rng = np.random.default_rng((seed, 0))
    one_class = sp.csr_array(np.ones((nodes, 1), np.bool_))
    sampler = EndSampler.from_degrees(rng.permutation(degrees), one_class, edges, mixing=1.0, rng=rng)
    graph = draw(sampler, edges, seed=seed, threads=usable_threads(threads))
    return Dataset("power-law", "power law, generated", graph, generated=True, note="no labels", recipe=recipe)


def block_model(
    nodes: int,
    edges: int,
    *,
    classes: int = 10,
    mixing: float = 0.3,
    exponent: float = 2.5,
    most: int | None = None,
    labels_per_node: float = 1.0,
    labeled: int | None = None,
    noise: float = 0.0,
    seed: int = 0,
    threads: int | None = None,
) -> Dataset:
    """Draw a graph of communities of different sizes, with hubs in them; the communities of a node are its labels.

    Parameters
    ----------
    nodes, edges, exponent, most, seed, threads
        See `power_law`.
    classes : int
        Communities; the first is the largest.
    mixing : float
        Part of the edges without regard to communities, from 0 to 1.
    labels_per_node : float
        Mean number of communities of a node, at least 1.
    labeled : int, optional
        Number of nodes with labels, nodes with many edges more often than others; all if not given.
    noise : float
        Part of the labels that are replaced by random ones, which no method can predict, from 0 to 1.

    Examples
    --------
    >>> block_model(300, 2000, classes=3)
    Dataset('block-model': generated, 300 nodes, 2,000 edges, 3 classes)
    """
    degrees = expected_degrees(nodes, edges, exponent=exponent, most=most)
    check_integer("classes", classes, least=1, most=nodes)
    check_number("mixing", mixing, least=0, most=1)
    check_number("labels_per_node", labels_per_node, least=1, most=classes)
    check_number("noise", noise, least=0, most=1)
    check_integer("labeled", nodes if labeled is None else labeled, least=1, most=nodes)
    recipe = {name: value for name, value in locals().items() if name not in ("degrees", "threads")}
    # The second number keeps the streams of one seed apart: 0 and 1 for nodes and labels, 2 for each piece of edges,
    # 3 for those that are drawn again. Otherwise the edges would be correlated with the communities.
    rng = np.random.default_rng((seed, 1))
    share = np.arange(1, classes + 1) ** -SIZES
    members = _members(nodes, share / share.sum(), labels_per_node, rng)
    sampler = EndSampler.from_degrees(rng.permutation(degrees), members, edges, mixing=mixing, rng=rng)
    labels = _labels(sampler, labeled, noise, share / share.sum(), rng)
    graph = draw(sampler, edges, seed=seed, threads=usable_threads(threads))
    return Dataset(
        "block-model", "block model, generated", graph, labels, generated=True, recipe={"model": "blocks", **recipe}
    )


def expected_degrees(nodes: int, edges: int, *, exponent: float, most: int | None) -> Floats:
    """Return degrees that fall as a power law, largest first; their sum is twice the edges.

    Examples
    --------
    >>> degrees = expected_degrees(1000, 5000, exponent=2.5, most=200)
    >>> round(degrees.sum()), round(degrees[0]), round(degrees[-1])
    (10000, 200, 4)
    """
    check_integer("nodes", nodes, least=3, most=2**31 - 1)
    check_integer("edges", edges, least=1, most=nodes * (nodes - 1) // 4)
    check_number("exponent", exponent, above=2)
    rank, power, mean = np.arange(1.0, nodes + 1), -1 / (exponent - 1), 2 * edges / nodes
    if most is not None:
        check_integer("most", most, least=int(mean) + 1, most=nodes - 1)

    def scaled(offset: float) -> Floats:
        fall = (rank + offset) ** power
        return np.asarray(fall * (2 * edges / fall.sum()))

    largest = most or nodes - 1  # the exponent alone may ask for more neighbors than there are nodes
    return scaled(least_offset(lambda offset: scaled(offset)[0], largest, rounds=30))


def _members(nodes: int, share: Floats, labels_per_node: float, rng: np.random.Generator) -> sp.csr_array[np.bool_]:
    """Draw communities of the nodes: the first in order, further ones at random.  # (n, classes)."""
    bounds = np.concatenate([[0], np.cumsum(share)])
    first = np.searchsorted(bounds[1:-1], (np.arange(nodes) + 0.5) / nodes)
    further = np.repeat(np.arange(nodes), rng.poisson(labels_per_node - 1, nodes))
    others = np.searchsorted(bounds[1:-1], rng.random(len(further)))
    rows, columns = np.concatenate([np.arange(nodes), further]), np.concatenate([first, others])
    return sp.csr_array((np.ones(len(rows), np.bool_), (rows, columns)), shape=(nodes, len(share)))


def _labels(sampler: EndSampler, labeled: int | None, noise: float, share: Floats, rng: np.random.Generator) -> Labels:
    """Return the communities as labels, some of them wrong, of all nodes or of a part."""
    n, classes = sampler.members.shape
    rows, columns = sampler.members.tocoo().coords
    columns = np.where(rng.random(len(rows)) < noise, rng.choice(classes, len(rows), p=share), columns)
    if labeled is not None:
        chance = rng.exponential(size=n) / sampler.degrees  # the smallest of these are a draw in proportion to degrees
        is_labeled = np.zeros(n, np.bool_)
        is_labeled[np.argpartition(chance, labeled - 1)[:labeled]] = True
        rows, columns = rows[is_labeled[rows]], columns[is_labeled[rows]]
    indicator = sp.csr_array((np.ones(len(rows), np.bool_), (sampler.names[rows], columns)), shape=(n, classes))
    names = tuple(str(number) for number in range(classes))
    return Labels(np.arange(n), indicator, names, by_row=True, source="generated", by_number=True)


@dataclass(frozen=True)
class EndSampler:
    """A sampler of the starts and ends of edges; nodes are numbered by their first community."""

    degrees: Floats  # (n,): expected
    members: sp.csr_array[np.bool_]  # (n, classes)
    starts: Whole  # (n + 1,): edges starts[i] to starts[i + 1] start at node i
    table: NDArray[np.int32]  # nodes, as often as their degree says; by community
    bounds: Whole  # (classes + 1,): offset of each community in the table
    mixing: float
    names: NDArray[np.int32]  # (n,): number of each node in the graph, in no order

    @classmethod
    def from_degrees(
        cls, degrees: Floats, members: sp.csr_array[np.bool_], edges: int, *, mixing: float, rng: np.random.Generator
    ) -> EndSampler:
        """Make the sampler of nodes of these degrees and memberships, numbered by first community."""
        n = len(degrees)
        counts = degrees / 2  # edges that start at each node
        if edges > n:  # at least one at each node, so that none is isolated
            above = np.maximum(counts - 1, 0)
            counts = 1 + above * ((edges - n) / above.sum())
        # Sums are rounded, not counts: the number of edges is exact, and each count is off by less than one.
        starts = np.concatenate([[0], _round(np.cumsum(counts) * (edges / counts.sum()), rng)])
        starts[-1] = edges
        by_class = members.tocsc()
        weights = (degrees / np.diff(members.indptr))[by_class.indices]
        # A table with an entry for each half of an edge would be exact, and as large as the graph. A smaller one rounds
        # the probabilities of nodes of few edges; the number of edges that start at a node stays exact.
        size = max(min(2 * edges, SLOTS * n), 1 << 16)
        ends = np.concatenate([[0], _round(np.cumsum(weights) * (size / weights.sum()), rng)])
        table = np.repeat(by_class.indices.astype(np.int32), np.diff(ends))
        return cls(degrees, members, starts, table, ends[by_class.indptr], mixing, rng.permutation(n).astype(np.int32))

    def draw_ends(self, first: NDArray[Any], rng: np.random.Generator) -> NDArray[np.int32]:
        """Draw ends of edges that start at these nodes."""
        low, size = np.zeros(len(first), np.int64), np.full(len(first), len(self.table))
        if self.mixing < 1:
            # One of the communities of the start, then any slot of that community's part of the table.
            at = self.members.indptr[first]
            count = self.members.indptr[first + 1] - at
            community = self.members.indices[at + (rng.random(len(first)) * count).astype(np.int64)]
            inside = self.bounds[community + 1] - self.bounds[community]
            stays = (rng.random(len(first)) >= self.mixing) & (inside > 0)
            low, size = np.where(stays, self.bounds[community], 0), np.where(stays, inside, size)
        ends: NDArray[np.int32] = self.table[low + (rng.random(len(first)) * size).astype(np.int64)]
        return ends

    def keys(self, first: NDArray[Any], second: NDArray[Any]) -> Whole:
        """Return one number for each edge, the same for both directions; -1 for a self-loop."""
        u, v = self.names[first], self.names[second]
        keys: Whole = np.minimum(u, v) * np.int64(len(self.degrees)) + np.maximum(u, v)
        keys[u == v] = -1
        return keys


def least_offset(largest: Callable[[float], float], limit: float, *, rounds: int) -> float:
    """Find by bisection the least offset of a power law, at least 0, whose largest degree is within a limit.

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
    """Round cumulative sums so that the difference of two is rounded up or down, by chance."""
    whole: Whole = np.floor(sums + rng.random()).astype(np.int64)
    return whole


def draw(sampler: EndSampler, edges: int, *, seed: int, threads: int) -> Graph:
    """Draw a graph of random edges; those that were drawn before are drawn again.

    Edges are drawn in pieces with their own seeds, so the graph does not depend on the threads. Sorted as numbers,
    edges that were drawn twice are side by side.
    """
    keys, nodes = np.empty(edges, np.int64), len(sampler.degrees)

    def draw_piece(piece: int) -> None:
        lo, hi = piece * PIECE, min((piece + 1) * PIECE, edges)
        keys[lo:hi] = _piece(sampler, lo, hi, np.random.default_rng((seed, 2, piece)))

    with thread_pool(threads) as pool:
        list(pool.map(draw_piece, range(-(-edges // PIECE))))
    keys.sort()
    is_new = np.concatenate([keys[:1] >= 0, keys[1:] > keys[:-1]])  # self-loops, -1, are not above what is before them
    keys = keys[is_new]
    keys = _fill(keys, edges, sampler, np.random.default_rng((seed, 3)))
    first = (keys // nodes).astype(np.int32)
    keys %= nodes  # in place, as keys are half of all memory
    second = keys.astype(np.int32)
    keys.resize(0, refcheck=False)
    merged = merge_edges((first, second, np.arange(nodes)), None, directed=False, threads=threads)
    return graph_of(merged, source="generated")


def _piece(sampler: EndSampler, lo: int, hi: int, rng: np.random.Generator) -> Whole:
    """Draw the edges from number ``lo`` to before ``hi``."""
    first = int(np.searchsorted(sampler.starts, lo, side="right")) - 1
    last = int(np.searchsorted(sampler.starts, hi, side="left"))
    bounds = np.clip(sampler.starts[first : last + 1], lo, hi)
    starts = np.repeat(np.arange(first, last), bounds[1:] - bounds[:-1])
    return sampler.keys(starts, sampler.draw_ends(starts, rng))


def _fill(keys: Whole, edges: int, sampler: EndSampler, rng: np.random.Generator) -> Whole:
    """Draw edges that are not among the keys, which are sorted, until there are as many as asked for."""
    for _ in range(ROUNDS):
        missing = edges - len(keys)
        if not missing:
            return keys
        starts = sampler.table[rng.integers(0, len(sampler.table), 2 * missing + 64)]
        candidates = sampler.keys(starts, sampler.draw_ends(starts, rng))
        different, when = np.unique(candidates, return_index=True)
        left, right = (np.searchsorted(keys, different, side) for side in ("left", "right"))
        new = (different >= 0) & (left == right)
        # The first of the draw: `np.unique` sorts, and taking the smallest keys would favor nodes of small numbers.
        fresh = candidates[np.sort(when[new])[:missing]]
        keys = np.concatenate([keys, fresh])
        keys.sort()
    raise InputError(
        f"edges={edges}: after {ROUNDS} rounds, {edges - len(keys)} of them were not free; "
        "ask for fewer edges, more nodes, a larger exponent or more mixing",
        argument="edges",
    )
