r"""The logarithm of random walks, seen from landmark nodes: vectors of a matrix that is never formed.

.. math:: x_{ij} = \frac{\mathrm{vol}}{T - 2} \sum_{r=3}^{T} (P^r D^{-1})_{ij}

says how many times more often than by chance a walk from node i is at node j, three to T steps later. NetMF, and so
DeepWalk, factorises :math:`M = \log \max(1, x)`, which is symmetric and has n^2 entries; their sum begins at the first
step. Steps one and two are left out here: where a graph is dense they are noise within the logarithm, and where it is
sparse they are next to nothing beside the others.

Only the columns of s landmark nodes J are computed, but those exactly: a block of columns is one product with P for
each step. Nystrom's method does the rest: with the leading eigenpairs :math:`V, v` of what the landmarks see of each
other, :math:`W = M_{JJ}`,

.. math:: M \approx Z\,\mathrm{sign}(v)\,Z^T, \qquad Z = M_{:J} V |v|^{-1/2}.

If every node is a landmark, that is :math:`Z = U |w|^{1/2}` up to signs, with M's own eigenpairs.

W has to be known before the first column can be reduced. So columns are computed twice, unless their logarithms fit
into `CACHE_BYTES` bytes; otherwise a block of columns is gone before the next one is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.engine.dense import in_blocks
from graphrefine.engine.engine import eigh_by_size
from graphrefine.engine.local import LocalEngine, LocalTall
from graphrefine.graph.graph import Graph
from graphrefine.linalg.operators import walk

Floats = NDArray[np.float32]

WIDTH = 64  # columns in a block
CACHE_BYTES = 1 << 29  # bytes of logarithms held in memory rather than computed again
SKIPPED = 2  # steps that do not count
SPARE = 64  # columns beyond those wanted, for the eigenpairs of W
ROUNDS = 5  # products with W
LEAST = 1e-4  # of W's largest eigenvalue: dividing by less would amplify rounding


class Landmarks(NamedTuple):
    """Nodes from which walks are watched."""

    nodes: NDArray[np.int64]  # (s,), ascending
    share: NDArray[np.float64]  # (s,): of all steps of a long walk, those each one stands for; their sum is 1


def draw_landmarks(graph: Graph, count: int, *, seed: int) -> Landmarks:
    """So many nodes drawn by degree, none twice; all nodes with edges where there are no more.

    Examples
    --------
    >>> star = Graph.from_edges([0, 0], [1, 2], names=range(4))
    >>> draw_landmarks(star, 9, seed=0).nodes.tolist(), draw_landmarks(star, 9, seed=0).share.tolist()
    ([0, 1, 2], [0.5, 0.25, 0.25])
    """
    degree = graph.degrees()
    nodes = np.flatnonzero(degree > 0).astype(np.int64)
    chance: NDArray[np.float64] = np.ones(len(nodes))
    if count < len(nodes):
        # Clocks ring at random, the sooner the higher the degree: the first to ring are a draw without replacement,
        # and by the next ring a node would have rung with this chance.
        rings = np.random.Generator(np.random.Philox(key=seed)).exponential(size=graph.nodes)[nodes] / degree[nodes]
        order = np.argsort(rings, kind="stable")
        nodes = np.sort(nodes[order[:count]])
        chance = -np.expm1(-degree[nodes] * rings[order[count]])
    share = degree[nodes] / chance
    return Landmarks(nodes, share / share.sum())


def far_view(
    graph: Graph,
    landmarks: Landmarks,
    *,
    window: int,
    columns: int,
    threads: int = 1,
    bfloat16: bool = True,
    advance: Callable[[], None] = lambda: None,
) -> Floats:
    """Z (n, columns); columns beyond the number of landmarks are zero.

    Parameters
    ----------
    graph
        Undirected, with at least one edge.
    landmarks
        See `draw_landmarks`.
    window
        T, the last step that counts: 3 or more.
    columns
        How many leading axes.
    threads
        The result does not depend on it.
    bfloat16
        Whether products gather from bfloat16: faster, and the logarithms are off by about 0.005.
    advance
        Called `steps` times.

    Examples
    --------
    Two triangles: what a walk can tell is in which of them it is, and x is 0 or close to 2.

    >>> triangles = Graph.from_edges([0, 1, 2, 3, 4, 5], [1, 2, 0, 4, 5, 3])
    >>> Z = far_view(triangles, draw_landmarks(triangles, 6, seed=0), window=10, columns=2)
    >>> (Z @ Z.T).astype(float).round(1).tolist()[0]
    [0.7, 0.7, 0.7, 0.0, 0.0, 0.0]
    """
    walks, size = _Walks(graph, landmarks.nodes, threads, bfloat16=bfloat16), len(landmarks.nodes)
    fits, blocks = _fits(graph, landmarks), []
    corner = np.empty((size, size), np.float32)
    for part, logs in walks.logarithms(window):
        corner[:, part] = logs[landmarks.nodes]
        if fits:
            blocks.append((part, logs))
        advance()
    axes = _axes(corner, columns)
    Z = np.zeros((graph.nodes, columns), np.float32)
    for part, logs in blocks if fits else walks.logarithms(window):
        _add_product(Z, logs, axes[part], threads)
        if not fits:
            advance()
    return Z


def steps(graph: Graph, landmarks: Landmarks) -> int:
    """Steps that `far_view` reports: one for each block of columns that it computes."""
    blocks = -(-len(landmarks.nodes) // WIDTH)
    return blocks if _fits(graph, landmarks) else 2 * blocks


def walk_memory(graph: Graph, landmarks: Landmarks, *, threads: int = 1, bfloat16: bool = True) -> float:
    r"""Memory of a walk: the part of the knowledge of its start that each step leaves, 0 nothing, 1 all.

    :math:`\sqrt{I / H}`, with the information I (nats) that the place of a walk after two steps holds about its start,
    and the entropy H of that start, a node drawn by degree.

    Examples
    --------
    Edges without a common node tell all, a complete graph next to nothing:

    >>> pairs = Graph.from_edges([0, 2, 4], [1, 3, 5])
    >>> round(walk_memory(pairs, draw_landmarks(pairs, 6, seed=0)), 3)
    1.0
    >>> complete = Graph.from_edges(*np.triu_indices(40, 1))
    >>> walk_memory(complete, draw_landmarks(complete, 40, seed=0)) < 0.02
    True
    """
    walks = _Walks(graph, landmarks.nodes, threads, bfloat16=bfloat16)
    place = walks.degree / walks.volume
    information = np.zeros(graph.nodes)
    for part in walks.parts():
        ratio = walks.collect(walks.after(walks.begin(part), SKIPPED), part)

        def work(rows: slice, ratio: Floats = ratio, part: slice = part) -> None:
            entries = ratio[rows].astype(np.float64)
            logs = np.log(entries, out=np.zeros_like(entries), where=entries > 0)
            information[rows] += place[rows] * ((entries * logs) @ landmarks.share[part])

        in_blocks(graph.nodes, work, threads=threads)
    start = place[place > 0]
    return float(np.sqrt(np.clip(information.sum() / -(start * np.log(start)).sum(), 0.0, 1.0)))


class _Walks:
    """Columns of the landmarks, a block at a time: how many times more often than by chance a walk is there."""

    def __init__(self, graph: Graph, nodes: NDArray[np.int64], threads: int, *, bfloat16: bool) -> None:
        self.nodes, self.degree, self.threads = nodes, graph.degrees(), threads
        self.volume = float(self.degree.sum())
        self.engine = LocalEngine(graph, columns=min(WIDTH, len(nodes)), threads=threads, bfloat16=bfloat16)
        self.step = walk(graph)

    def parts(self) -> Iterator[slice]:
        """Which landmarks are in each block."""
        for start in range(0, len(self.nodes), WIDTH):
            yield slice(start, min(start + WIDTH, len(self.nodes)))

    def begin(self, part: slice) -> LocalTall:
        """``vol D^-1`` at the landmarks."""
        nodes = self.nodes[part]
        height = (self.volume / self.degree[nodes]).astype(np.float32)

        def rows(start: int, stop: int) -> Floats:
            block = np.zeros((stop - start, self.engine.columns), np.float32)
            inside = np.flatnonzero((nodes >= start) & (nodes < stop))
            block[nodes[inside] - start, inside] = height[inside]
            return block

        return self.engine.fill(rows)

    def after(self, x: LocalTall, count: int) -> LocalTall:
        """So many steps later."""
        for _ in range(count):
            x = self.engine.apply(self.step, x)
        return x

    def collect(self, x: LocalTall, part: slice) -> Floats:
        """The columns as an array (n, width)."""
        return self.engine.collect(x)[:, : part.stop - part.start]

    def logarithms(self, window: int) -> Iterator[tuple[slice, Floats]]:
        """Which landmarks, and their columns of M."""
        for part in self.parts():
            third = self.after(self.begin(part), SKIPPED + 1)
            total = third
            for _ in range(window - SKIPPED - 1):
                total = self.engine.apply(self.step, total, plus=(1.0, third))
            columns = self.collect(total, part)
            _truncated_log(columns, 1.0 / (window - SKIPPED), self.threads)
            yield part, columns


def _fits(graph: Graph, landmarks: Landmarks) -> bool:
    return 4 * graph.nodes * len(landmarks.nodes) <= CACHE_BYTES


def _truncated_log(ratio: Floats, scale: float, threads: int) -> None:
    def work(rows: slice) -> None:
        entries = ratio[rows]
        entries *= np.float32(scale)
        np.log(np.maximum(entries, 1.0, out=entries), out=entries)

    in_blocks(len(ratio), work, threads=threads)


def _axes(corner: Floats, columns: int) -> Floats:
    """``V |v|^-1/2`` (s, columns) of the leading eigenpairs of W; zero where v is next to nothing."""
    size = len(corner)
    W = (corner + corner.T) / 2  # symmetric but for the rounding of the products
    if size <= columns + SPARE:
        values, vectors = eigh_by_size(W.astype(np.float64))
    else:
        generator = np.random.Generator(np.random.Philox(key=size))
        Q = generator.standard_normal((size, columns + SPARE), dtype=np.float32)
        for _ in range(ROUNDS):
            Q = np.linalg.qr(W @ Q)[0]
        values, small = eigh_by_size((Q.T @ (W @ Q)).astype(np.float64))
        vectors = Q @ small
    values, vectors = values[:columns], vectors[:, :columns]
    large = np.abs(values) > LEAST * np.abs(values[:1])
    axes = np.zeros((size, columns), np.float32)
    axes[:, : len(values)] = vectors * np.where(large, np.abs(np.where(large, values, 1.0)) ** -0.5, 0.0)
    return axes


def _add_product(Z: Floats, logs: Floats, axes: Floats, threads: int) -> None:
    def work(rows: slice) -> None:
        Z[rows] += logs[rows] @ axes

    in_blocks(len(Z), work, threads=threads)
