r"""Vectors of ``quality="high"``: three views of a graph side by side, rotated to their principal axes.

* **REFINE's** vectors.
* **local**: ``U |w|`` of the leading eigenpairs, of both signs, of :math:`D^{-a} A D^{-a}` with :math:`a = 0.4`. The
  negative ones tell nodes with the same neighbours that are no neighbours themselves: roles rather than groups.
* **far**: the logarithm of three to ten steps of a random walk, as `graphrefine.refine.landmarks` factorises it.

The rows of each are freed of their mean and made unit. How much a view counts depends on how fast a walk forgets where
it began: the share h of that information which a step keeps (`landmarks.walk_memory`) is about 0.2 where two steps lead
anywhere and 0.8 on sparse graphs. Of the squared length of a row, far has h, REFINE (1 - h) / 3, local 2 (1 - h) / 3.
The rows are turned to their first k principal axes, and made unit again.

In the last two views the weights of edges count by their logarithm, ``log(1 + w / median)``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from graphrefine.engine.engine import Small, eigh_by_size
from graphrefine.engine.local import LocalEngine
from graphrefine.errors import InputError
from graphrefine.graph.graph import Graph
from graphrefine.linalg import unit_rows
from graphrefine.linalg.operators import normalised
from graphrefine.progress import Stages
from graphrefine.refine.joint_axes import turn_to_axes
from graphrefine.refine.landmarks import CACHE_BYTES, draw_landmarks, far_view, steps, walk_memory
from graphrefine.refine.refine import refine
from graphrefine.refine.settings import RefineSettings
from graphrefine.refine.svd import oversampled, randomized_eigh

Floats = NDArray[np.float32]

LANDMARKS = 4096  # a quarter of them costs up to a point of F1
WINDOW = 10  # T, the last step of a walk that counts
WATCHED = 512  # landmarks from which the memory of walks is measured
EXPONENT = 0.4  # a: at 1/2 hubs count for too little, and roles are lost
NEGATIVE = 0.85  # weight of a negative eigenvalue when the leading ones are chosen
ITERATIONS = 8  # of the eigenpairs
ROWS = 8192  # in a block whose views are set side by side


def high_order(
    graph: Graph, settings: RefineSettings, stages: Stages, *, threads: int = 1, landmarks: int = LANDMARKS
) -> Floats:
    """The vectors (n, dim), their rows of length 1; those of nodes without edges are zero.

    ``settings`` are the settings of REFINE's view, and the dimension and the seed of all.

    Examples
    --------
    Two triangles: neighbours have the same vector.

    >>> from graphrefine.progress import Stages
    >>> triangles = Graph.from_edges([0, 1, 2, 3, 4, 5], [1, 2, 0, 4, 5, 3])
    >>> vectors = high_order(triangles, RefineSettings(dim=2), Stages())
    >>> (vectors @ vectors[0]).astype(float).round(3).tolist()
    [1.0, 1.0, 1.0, -1.0, -1.0, -1.0]
    """
    if graph.directed:
        raise InputError(
            f"quality='high' is for undirected graphs, and {graph.source} was read as directed; read it with "
            "directed=False, or leave out quality",
            argument="quality",
            mentions=["directed"],
        )
    if not len(graph.indices):
        return np.zeros((graph.nodes, settings.dim), np.float32)
    engine = LocalEngine(graph, columns=settings.dim, threads=threads, bfloat16=settings.bfloat16)
    first = refine(engine, graph, settings, stages, threads=threads)
    del engine
    graph = by_logarithm(graph)
    with stages.stage("local", steps=2 * ITERATIONS + 3):
        local = local_view(graph, settings, stages, threads=threads)
    with stages.stage("memory"):
        watched = draw_landmarks(graph, min(WATCHED, landmarks), seed=settings.seed)
        memory = walk_memory(graph, watched, threads=threads, bfloat16=settings.bfloat16)
    drawn = draw_landmarks(graph, landmarks, seed=settings.seed)
    with stages.stage("far", steps=steps(graph, drawn)):
        far = far_view(graph, drawn, window=WINDOW, columns=settings.dim, threads=threads, advance=stages.advance)
    with stages.stage("axes"):
        return leading_axes((first, local, far), shares(memory), threads=threads)


def bytes_held(nodes: int, dim: int) -> int:
    """Most that is held beside the graph: three views, two matrices as wide as one of them, what is kept of walks.

    Examples
    --------
    >>> bytes_held(1_000_000, 128) / 1e9
    3.096870912
    """
    return 5 * 4 * nodes * dim + CACHE_BYTES


def shares(memory: float) -> tuple[float, float, float]:
    """How much of the squared length of a row is REFINE's, local and far.

    Examples
    --------
    >>> shares(0.25)
    (0.25, 0.5, 0.25)
    """
    return (1 - memory) / 3, 2 * (1 - memory) / 3, memory


def by_logarithm(graph: Graph) -> Graph:
    """The graph with weights ``log(1 + w / median)``, so that their unit does not matter; itself without weights."""
    if graph.weights is None:
        return graph
    weights = np.log1p(graph.weights / np.median(graph.weights)).astype(np.float32)
    return Graph(graph.indptr, graph.indices, weights, graph.names)


def local_view(graph: Graph, settings: RefineSettings, stages: Stages, *, threads: int = 1) -> Floats:
    """``U |w|`` (n, dim) of the leading eigenpairs of ``D^-a A D^-a``."""
    operator = normalised(graph, EXPONENT)
    columns = oversampled(settings.dim, graph.nodes)
    if columns == graph.nodes:  # a sketch of all columns would find no less, many products later
        values, vectors = eigh_by_size(operator.to_scipy().toarray().astype(np.float64))
        return (vectors * np.abs(values))[:, _order_by_size(values, settings.dim)].astype(np.float32)
    engine = LocalEngine(graph, columns=columns, threads=threads, bfloat16=settings.bfloat16)
    eigenpairs = randomized_eigh(engine, operator, seed=settings.seed, iterations=ITERATIONS, advance=stages.advance)
    leading = _order_by_size(eigenpairs.values, settings.dim)
    return engine.collect(eigenpairs.basis, (eigenpairs.axes * np.abs(eigenpairs.values))[:, leading])


def _order_by_size(values: Small, count: int) -> NDArray[np.intp]:
    return np.argsort(-np.where(values < 0, -NEGATIVE * values, values), kind="stable")[:count]


def leading_axes(views: tuple[Floats, ...], parts: Sequence[float], *, threads: int = 1) -> Floats:
    """Views (n, k) freed of their means and with unit rows, side by side, turned to k principal axes; unit rows.

    The first view is overwritten by the result.

    Examples
    --------
    >>> views = tuple(np.array([[0.0, 2.0], [0.0, 4.0], [0.0, 0.0]], np.float32) for _ in range(2))
    >>> leading_axes(views, (0.5, 0.5)).tolist()
    [[-1.0, 0.0], [1.0, 0.0], [0.0, 0.0]]
    """
    k = views[0].shape[1]
    means = [_mean(view) for view in views]

    def side_by_side(rows: slice, wide: Floats) -> None:
        for place, (view, mean, part) in enumerate(zip(views, means, parts, strict=True)):
            nonzero = view[rows].any(axis=1, keepdims=True)
            unit = unit_rows(np.where(nonzero, view[rows] - mean, np.float32(0)))
            np.multiply(unit, np.float32(np.sqrt(part)), out=wide[:, place * k : (place + 1) * k])

    turn_to_axes(views[0], side_by_side, columns=len(views) * k, threads=threads)
    return views[0]


def _mean(view: Floats) -> Floats:
    """The mean of the rows that are not zero."""
    total, rows = np.zeros(view.shape[1]), 0
    for start in range(0, len(view), ROWS):
        block = view[start : start + ROWS]
        total += block.sum(axis=0, dtype=np.float64)
        rows += int(block.any(axis=1).sum())
    return (total / max(rows, 1)).astype(np.float32)
