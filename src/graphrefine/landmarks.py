r"""The logarithm of a random walk, seen from landmarks: vectors of a matrix that is never formed.

.. math:: x_{ij} = \mathrm{vol} \sum_r \theta_r (P^r D^{-1})_{ij}, \qquad \sum_r \theta_r = 1,

says how many times more often than by chance a walk from node i is at node j after r steps. NetMF, and so DeepWalk,
factorises :math:`M = \log \max(1, x)`, which is symmetric and has n^2 entries. Here only the columns of s landmark
nodes J are computed, but those exactly: a block of columns is one product with P for each step. Nystrom's method does
the rest: with the leading eigenpairs :math:`V, v` of what the landmarks see of each other, :math:`W = M_{JJ}`,

.. math:: M \approx Z\,\mathrm{sign}(v)\,Z^T, \qquad Z = M_{:J} V |v|^{-1/2}.

If every node is a landmark, that is :math:`Z = U |w|^{1/2}` up to signs, with M's own eigenpairs.

W has to be known before the first column can be reduced. So columns are computed twice, unless their logarithms fit
into `KEPT` bytes; a block of columns is gone before the next one is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.engine.dense import in_blocks
from graphrefine.engine.local import LocalEngine
from graphrefine.graph import Graph
from graphrefine.linalg import eigh_by_size, one_blas_thread
from graphrefine.operators import walk

Floats = NDArray[np.float32]
Block = tuple[slice, Floats, Floats]  # which landmarks; what they see near and far: (n, width) each

WIDTH = 64  # columns in a block
KEPT = 1 << 28  # bytes of logarithms that are kept rather than computed again
NEAR = 2  # steps of the near view; the far one begins after them
SPARE = 64  # columns beyond those wanted, for the eigenpairs of W
ROUNDS = 5  # products with W
LEAST = 1e-4  # of W's largest eigenvalue: dividing by less would amplify rounding


class Landmarks(NamedTuple):
    """Nodes from which walks are watched."""

    nodes: NDArray[np.int64]  # (s,), ascending
    share: NDArray[np.float64]  # (s,): of all steps of a long walk, those each one stands for; their sum is 1


class Views(NamedTuple):
    """What landmarks see."""

    near: Floats  # (n, k): Z of two steps
    far: Floats  # (n, k): Z of the mean of three steps to the last
    memory: float  # how much of where a walk began can be told after a step, for each step: 0 nothing, 1 all


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
        # Clocks that ring at random, the sooner the higher the degree: the first to ring are a draw without
        # replacement, and each node would have rung by the next ring with this chance.
        rings = np.random.Generator(np.random.Philox(key=seed)).exponential(size=graph.nodes)[nodes] / degree[nodes]
        order = np.argsort(rings, kind="stable")
        nodes = np.sort(nodes[order[:count]])
        chance = -np.expm1(-degree[nodes] * rings[order[count]])
    share = degree[nodes] / chance
    return Landmarks(nodes, share / share.sum())


def landmark_views(
    graph: Graph,
    landmarks: Landmarks,
    *,
    window: int,
    columns: int,
    threads: int = 1,
    advance: Callable[[], None] = lambda: None,
) -> Views:
    """The two views Z of the graph's nodes, and the memory of its walks.

    Parameters
    ----------
    graph
        Undirected, with at least one edge.
    landmarks
        See `draw_landmarks`.
    window
        The last step that counts, 3 or more.
    columns
        Of each view; those beyond the number of landmarks are zero.
    threads
        The result does not depend on it.
    advance
        Called `steps` times.

    Examples
    --------
    Two triangles: what a walk can tell is in which of them it is.

    >>> triangles = Graph.from_edges([0, 1, 2, 3, 4, 5], [1, 2, 0, 4, 5, 3])
    >>> views = landmark_views(triangles, draw_landmarks(triangles, 6, seed=0), window=10, columns=2)
    >>> (views.far @ views.far.T).astype(float).round(1).tolist()[0]
    [0.7, 0.7, 0.7, 0.0, 0.0, 0.0]
    """
    walks = _Walks(graph, landmarks, window, threads)
    corners = np.empty((2, len(landmarks.nodes), len(landmarks.nodes)), np.float32)
    for part, *logs in walks.columns(measure=True, advance=advance):
        for corner, entries in zip(corners, logs, strict=True):
            corner[:, part] = entries[landmarks.nodes]
    axes = [_axes(corner, columns) for corner in corners]
    views = [np.zeros((graph.nodes, columns), np.float32) for _ in axes]
    for part, *logs in walks.columns(measure=False, advance=advance):
        for view, entries, rotation in zip(views, logs, axes, strict=True):
            _add_product(view, entries, rotation[part], threads)
    near, far = views
    return Views(near, far, walks.memory())


def steps(graph: Graph, landmarks: Landmarks) -> int:
    """How often `landmark_views` says that it is further: once a block of columns, in one pass or two."""
    blocks = -(-len(landmarks.nodes) // WIDTH)
    return blocks if _fits(graph, landmarks) else 2 * blocks


def _fits(graph: Graph, landmarks: Landmarks) -> bool:
    return 2 * 4 * graph.nodes * len(landmarks.nodes) <= KEPT


class _Walks:
    """The logarithms of the landmarks' columns, one block after another."""

    def __init__(self, graph: Graph, landmarks: Landmarks, window: int, threads: int) -> None:
        self.graph, self.landmarks, self.window, self.threads = graph, landmarks, window, threads
        self.degree = graph.degrees()
        self.volume = float(self.degree.sum())
        self.engine = LocalEngine(graph, columns=min(WIDTH, len(landmarks.nodes)), threads=threads)
        self.step = walk(graph)
        self.information = 0.0  # of where a walk is after two steps about where it began
        self.kept: list[Block] = []

    def columns(self, *, measure: bool, advance: Callable[[], None]) -> Iterator[Block]:
        """All blocks; those of an earlier pass if they were kept."""
        if self.kept:
            yield from self.kept
            return
        for start in range(0, len(self.landmarks.nodes), WIDTH):
            part = slice(start, min(start + WIDTH, len(self.landmarks.nodes)))
            block = (part, *self._block(part, measure))
            if _fits(self.graph, self.landmarks):
                self.kept.append(block)
            yield block
            advance()

    def memory(self) -> float:
        """The root of the share of the information that two steps keep: what one step keeps, if each keeps alike."""
        place = self.degree[self.degree > 0] / self.volume
        everything = float(-(place * np.log(place)).sum())
        return float(np.sqrt(np.clip(self.information / everything, 0.0, 1.0)))

    def _block(self, part: slice, measure: bool) -> tuple[Floats, Floats]:
        engine, step = self.engine, self.step
        second = engine.apply(step, engine.apply(step, engine.fill(self._starts(part))))
        near = engine.collect(second)[:, : part.stop - part.start]
        third = engine.apply(step, second)
        engine.release(second)
        total = third
        for _ in range(self.window - NEAR - 1):
            total = engine.apply(step, total, plus=(1.0, third))
        far = engine.collect(total)[:, : part.stop - part.start]
        if measure:
            self.information += self._information(near, part)
        self._truncated_log(near, 1.0)
        self._truncated_log(far, 1.0 / (self.window - NEAR))
        return near, far

    def _starts(self, part: slice) -> Callable[[int, int], Floats]:
        nodes = self.landmarks.nodes[part]
        height = (self.volume / self.degree[nodes]).astype(np.float32)

        def rows(start: int, stop: int) -> Floats:
            block = np.zeros((stop - start, self.engine.columns), np.float32)
            inside = np.flatnonzero((nodes >= start) & (nodes < stop))
            block[nodes[inside] - start, inside] = height[inside]
            return block

        return rows

    def _information(self, ratio: Floats, part: slice) -> float:
        """The share of each landmark times the sum over all nodes of ``p log(p / chance)``, in blocks of rows."""
        place, found = self.degree / self.volume, np.zeros(len(ratio))

        def work(rows: slice) -> None:
            entries = ratio[rows].astype(np.float64)
            logs = np.log(entries, out=np.zeros_like(entries), where=entries > 0)
            found[rows] = place[rows] * ((entries * logs) @ self.landmarks.share[part])

        in_blocks(len(ratio), work, threads=self.threads)
        return float(found.sum())

    def _truncated_log(self, ratio: Floats, scale: float) -> None:
        def work(rows: slice) -> None:
            entries = ratio[rows]
            entries *= np.float32(scale)
            np.log(np.maximum(entries, 1.0, out=entries), out=entries)

        in_blocks(len(ratio), work, threads=self.threads)


def _axes(corner: Floats, columns: int) -> Floats:
    """``V |v|^-1/2`` (s, columns) of the leading eigenpairs of W; zero where v is next to nothing."""
    size = len(corner)
    W = (corner + corner.T) / 2  # symmetric but for the rounding of the products
    with one_blas_thread():
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
    known = np.abs(values) > LEAST * np.abs(values[:1])
    axes = np.zeros((size, columns), np.float32)
    axes[:, : len(values)] = vectors * np.where(known, np.abs(np.where(known, values, 1.0)) ** -0.5, 0.0)
    return axes


def _add_product(view: Floats, logs: Floats, rotation: Floats, threads: int) -> None:
    def work(rows: slice) -> None:
        view[rows] += logs[rows] @ rotation

    in_blocks(len(view), work, threads=threads)
