r"""Vectors of higher order, ``quality="high"``: three views of a graph side by side, and their principal axes.

* **local**: ``U |w|`` of the leading eigenpairs, both signs, of :math:`D^{-a} A' D^{-a}` with :math:`a = 0.4`. Negative
  ones tell nodes that have the same neighbours without being neighbours: roles.
* **near**: the logarithm of two steps of a random walk, and **far**: that of the mean of steps 3 to T, as `landmarks`
  factorises them. Far is NetMF's matrix without its first two powers, which are noise within the logarithm where a
  graph is dense, and next to nothing beside the others where it is sparse.

Each has unit rows. How much they count depends on how fast a walk forgets where it began: h, the share of that
information that a step keeps (`landmarks.Views.memory`), is 0.2 where two steps reach anywhere, and 0.8 on sparse
graphs. Of the squared length of a row,

======  =================
far     :math:`h`
near    :math:`(1 - h) / 3`
local   :math:`2 (1 - h) / 3`
======  =================

Then the rows are turned to their first k principal axes, and made unit again. In A', weights count by their logarithm:
:math:`\log(1 + w / \mathrm{median})`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from graphrefine.engine.local import LocalEngine
from graphrefine.errors import InputError
from graphrefine.graph import Graph
from graphrefine.kernels import PAD, kernels
from graphrefine.landmarks import draw_landmarks, landmark_views, steps
from graphrefine.linalg import Small, descending_eigh, eigh_by_size, one_blas_thread, unit_rows
from graphrefine.operators import Operator
from graphrefine.settings import MethodSettings, check_integer
from graphrefine.svd import oversampled, randomized_eigh

if TYPE_CHECKING:
    from graphrefine.progress import Stages

Floats = NDArray[np.float32]

EXPONENT = 0.4  # a: at 1/2 hubs count for too little, and roles are lost
NEGATIVE = 0.85  # how much a negative eigenvalue counts when the leading ones are chosen
ITERATIONS = 8  # of the eigenpairs
ROWS = 8192  # in a block whose views are set side by side


@dataclass(frozen=True)
class HighSettings(MethodSettings):
    """Settings of the vectors of higher order.

    Parameters
    ----------
    landmarks
        Nodes from which walks are watched. Time grows with it; a quarter of it costs up to a point of F1.
    window
        T, the last step of a walk that counts.
    """

    landmarks: int = 4096
    window: int = 10

    def __post_init__(self) -> None:
        super().__post_init__()
        check_integer("landmarks", self.landmarks, least=1)
        check_integer("window", self.window, least=3)


def high_order(graph: Graph, chosen: HighSettings, stages: Stages, *, threads: int = 1) -> Floats:
    """The vectors (n, dim), with rows of length 1, those of nodes without edges zero.

    At its height it holds five matrices n x dim of float32, and `landmarks.KEPT` bytes.

    Examples
    --------
    Two triangles: neighbours have the same vector.

    >>> from graphrefine.progress import Stages
    >>> triangles = Graph.from_edges([0, 1, 2, 3, 4, 5], [1, 2, 0, 4, 5, 3])
    >>> vectors = high_order(triangles, HighSettings(dim=2), Stages())
    >>> abs(vectors @ vectors[0]).round(3).tolist()
    [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]
    """
    if graph.directed:
        raise InputError(
            f"vectors of higher order are for undirected graphs, and {graph.source} was read as directed; "
            "read it without directed, or leave out quality"
        )
    if not len(graph.indices):
        return np.zeros((graph.nodes, chosen.dim), np.float32)
    graph = _weighted_by_logarithm(graph)
    with stages.stage("local", steps=2 * ITERATIONS + 3):
        local = _local(graph, chosen, stages, threads)
    landmarks = draw_landmarks(graph, chosen.landmarks, seed=chosen.seed)
    with stages.stage("walks", steps=steps(graph, landmarks)):
        views = landmark_views(
            graph,
            landmarks,
            window=chosen.window,
            columns=chosen.dim,
            threads=threads,
            advance=stages.advance,
        )
    with stages.stage("axes"):
        return _leading_axes((local, views.near, views.far), shares(views.memory), threads=threads)


def shares(memory: float) -> tuple[float, float, float]:
    """How much of the squared length of a row is local, near and far.

    Examples
    --------
    >>> shares(0.25)
    (0.5, 0.25, 0.25)
    """
    return 2 * (1 - memory) / 3, (1 - memory) / 3, memory


def _weighted_by_logarithm(graph: Graph) -> Graph:
    """The graph with weights ``log(1 + w / median)``, so that their unit does not matter."""
    if graph.weights is None:
        return graph
    weights = np.log1p(graph.weights / np.median(graph.weights)).astype(np.float32)
    return Graph(graph.indptr, graph.indices, weights, graph.names)


def _local(graph: Graph, chosen: HighSettings, stages: Stages, threads: int) -> Floats:
    """``U |w|`` of the leading eigenpairs of ``D^-a A D^-a``."""
    degree = graph.degrees()
    scale = np.where(degree > 0, np.where(degree > 0, degree, 1.0) ** -EXPONENT, 0.0).astype(np.float32)
    operator = Operator(graph, edge="weight", row_scale=scale, column_scale=scale)
    columns = oversampled(chosen.dim, graph.nodes)
    if columns == graph.nodes:  # a sketch of all columns would find no less, many products later
        with one_blas_thread():
            values, axes = eigh_by_size(operator.to_scipy().toarray().astype(np.float64))
        return (axes * np.abs(values))[:, _leading(values, chosen.dim)].astype(np.float32)
    engine = LocalEngine(graph, columns=columns, threads=threads)
    found = randomized_eigh(
        engine, operator, rows=graph.nodes, seed=chosen.seed, iterations=ITERATIONS, advance=stages.advance
    )
    leading = _leading(found.values, chosen.dim)
    return engine.collect(found.basis, (found.axes * np.abs(found.values))[:, leading])


def _leading(values: Small, count: int) -> NDArray[np.int64]:
    return np.argsort(-np.where(values < 0, -NEGATIVE * values, values), kind="stable")[:count]


def _leading_axes(views: tuple[Floats, ...], parts: Sequence[float], *, threads: int) -> Floats:
    """Unit rows of the views side by side, turned to as many principal axes as each has columns, made unit.

    The result takes the place of the first view.
    """
    (n, k), weights, using = views[0].shape, np.sqrt(parts), kernels()
    side = -(-len(views) * k // PAD) * PAD
    gram, block = np.zeros((side, side)), np.zeros((ROWS, side), np.float32)

    def blocks() -> Iterator[tuple[slice, Floats]]:
        for start in range(0, n, ROWS):
            rows = slice(start, min(start + ROWS, n))
            for place, (weight, view) in enumerate(zip(weights, views, strict=True)):
                np.multiply(unit_rows(view[rows]), weight, out=block[: rows.stop - start, place * k :][:, :k])
            yield rows, block[: rows.stop - start]

    for _, wide in blocks():
        using.rotate(wide, None, out=None, gram=gram, threads=threads)
    with one_blas_thread():
        axes = np.zeros((side, side), np.float32)
        axes[:, :k] = descending_eigh(gram)[1][:, :k]
    turned = np.empty_like(block)
    for rows, wide in blocks():
        using.rotate(wide, axes, out=turned[: len(wide)], unit=True, threads=threads)
        views[0][rows] = turned[: len(wide), :k]
    return views[0]
