r"""Vectors of the tiers "default" and "best": three views of a graph side by side, rotated to their principal axes.

* **REFINE's** vectors, the tier "fast".
* **local**: ``U |w|`` of the leading eigenpairs, of both signs, of :math:`D^{-a} A D^{-a}` with :math:`a = 0.4`. The
  negative ones tell nodes with the same neighbours that are no neighbours themselves: roles rather than groups.
* **far**: the logarithm of up to seven steps of a random walk, as `graphrefine.refine.far_view` factorises it. Its
  regions are of nodes whose vectors by REFINE are alike.

The rows of each are freed of their mean and made unit. How much a view counts depends on how fast a walk forgets where
it began: the share h of that information which a step keeps (`graphrefine.refine.walk_memory`) is about 0.2 where two
steps lead anywhere and 0.8 on sparse graphs. Of the squared length of a row, far has h, REFINE (1 - h) / 3, local
2 (1 - h) / 3. The rows are turned to their first k principal axes, and made unit again.

h also says what is worth its price: where walks forget, fewer regions do; where they remember, coarser eigenpairs.
In the last two views the weights of edges count by their logarithm, ``log(1 + w / median)``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.engine.engine import Small, descending_eigh, eigh_by_size
from graphrefine.engine.local import LocalEngine
from graphrefine.graph.graph import Graph
from graphrefine.linalg import gram_of, unit_rows
from graphrefine.linalg.operators import normalised
from graphrefine.progress import Stages
from graphrefine.refine.far_view import count_blocks, far_view
from graphrefine.refine.refine import is_complete, refine
from graphrefine.refine.regions import draw_nodes, draw_regions
from graphrefine.refine.settings import RefineSettings
from graphrefine.refine.svd import symmetric_eigh
from graphrefine.refine.walk_memory import walk_memory
from graphrefine.system.threads import in_blocks

Floats = NDArray[np.float32]

SPECTRUM, LEAST = 0.2, 0.75  # the exponent of the far view is h and so much: few labels gain by it on sparse graphs
WATCHED = 128  # nodes from which the memory of walks is measured
EXPONENT = 0.4  # a: at 1/2 hubs count for too little, and roles are lost
NEGATIVE = 0.85  # weight of a negative eigenvalue when the leading ones are chosen
WINDOW = 7  # T, the last step of a walk that counts
FORGETFUL = 0.35  # h below which half as many regions do, and the first steps count
MINDFUL = 0.5  # h above which half as many products do for the eigenpairs
MOST = 0.9  # h that the far view can have as its share
EQUAL = 1e-6  # of the squared lengths of all rows: what is left of them beside their mean is rounding
WIDTH = 128  # columns of walks at a time, at the least
BLOCK = 2048  # rows worked at a time
SAMPLE = 16384  # rows that the joint axes are learned from


class Tier(NamedTuple):
    """How much is spent on the views."""

    each: int  # nodes of a region
    least: int  # regions of a small graph
    most: int  # regions of any graph
    draws: int  # of regions, each with a far view of its own
    work: int  # most entries of the graph times regions
    products: int  # for the eigenpairs, where walks forget

    def regions(self, nodes: int, entries: int, memory: float) -> int:
        """How many regions the far view has: the more the larger the graph, until the work is too much.

        Examples
        --------
        >>> TIERS["default"].regions(20_000, 88_000, 0.8), TIERS["default"].regions(80_000, 780_000, 0.6)
        (512, 640)
        """
        wanted = min(max(nodes // self.each, self.least), self.most)
        if memory < FORGETFUL:
            wanted = max(wanted // 2, FEWEST)
        return max(min(wanted, self.work // max(entries, 1)) // PACK * PACK, FEWEST)


PACK, FEWEST = 128, 256  # regions come in multiples
TIERS = {
    "default": Tier(each=112, least=512, most=1024, draws=1, work=1 << 32, products=18),
    "best": Tier(each=24, least=512, most=4096, draws=4, work=1 << 34, products=36),
}


def joint_views(graph: Graph, settings: RefineSettings, tier: Tier, stages: Stages, *, threads: int = 1) -> Floats:
    """The vectors (n, dim), their rows of length 1; those of nodes without edges are zero.

    ``settings`` are the settings of REFINE's view, and the dimension and the seed of all. The graph is not directed.

    Examples
    --------
    Two triangles: neighbours have the same vector.

    >>> from graphrefine.progress import Stages
    >>> triangles = Graph.from_edges([0, 1, 2, 3, 4, 5], [1, 2, 0, 4, 5, 3])
    >>> vectors = joint_views(triangles, RefineSettings(dim=2), TIERS["default"], Stages())
    >>> (vectors @ vectors[0]).astype(float).round(3).tolist()
    [1.0, 1.0, 1.0, -1.0, -1.0, -1.0]
    """
    if not len(graph.indices):
        return np.zeros((graph.nodes, settings.dim), np.float32)

    def engine_of(graph: Graph, columns: int) -> LocalEngine:
        return LocalEngine(graph, columns=columns, threads=threads, bfloat16=settings.bfloat16)

    engine = engine_of(graph, settings.dim)
    first = refine(engine, graph, settings, stages, threads=threads)
    if is_complete(graph, graph.nodes - graph.isolated):
        return first  # any two nodes have the same neighbours: there is nothing else to see
    if graph.weighted:
        graph = by_logarithm(graph)
        engine = engine_of(graph, settings.dim)
    walking = engine if settings.dim >= WIDTH else engine_of(graph, min(WIDTH, graph.nodes))
    with stages.stage("memory"):
        memory = walk_memory(walking, WATCHED, seed=settings.seed)
    with stages.stage("regions"):
        wanted = tier.regions(graph.nodes, len(graph.indices), memory)
        draws = [
            draw_regions(graph, first, wanted, seed=settings.seed, draw=draw, threads=threads)
            for draw in range(tier.draws)
        ]
    far = list[Floats]()
    with stages.stage("far", steps=sum(count_blocks(walking, regions) for regions in draws)):
        for regions in draws:
            far.append(
                far_view(
                    walking,
                    regions,
                    columns=settings.dim,
                    steps=(1 if memory < FORGETFUL else 3, WINDOW),
                    spectrum=min(max(memory + SPECTRUM, LEAST), 1.0),
                    advance=stages.advance,
                )
            )
    del walking
    products = tier.products if memory < MINDFUL else tier.products // 2
    with stages.stage("local", steps=products + 2):
        local = local_view(engine, seed=settings.seed, products=products, advance=stages.advance)
    del engine
    with stages.stage("axes"):
        of_refine, of_local, of_far = shares(memory)
        parts = (of_refine, of_local, *(of_far / len(far) for _ in far))
        sample = draw_nodes(graph, SAMPLE, seed=settings.seed)
        return join_views((first, local, *far), parts, sample, threads=threads)


def bytes_held(nodes: int, entries: int, dim: int, tier: Tier) -> int:
    """Most that is held of the views beside two matrices of an engine: REFINE's and the far ones, or their logarithms.

    Examples
    --------
    >>> bytes_held(1_000_000, 10_000_000, 128, TIERS["default"]) / 1e9
    1.12
    """
    few = 96  # bytes of each node for its degree, its region and the like
    return nodes * (tier.draws * 4 * dim + max(tier.regions(nodes, entries, 1.0), 4 * dim) + few)


def bytes_joined(nodes: int, dim: int, tier: Tier) -> int:
    """Most that is held while views are joined: they themselves, a sample of their rows, and their Gram matrix.

    Examples
    --------
    >>> bytes_joined(18_333, 128, TIERS["default"]) / 1e6
    84.386304
    """
    columns = (2 + tier.draws) * dim  # of the views side by side
    parts, matrices = 2, 5  # the sample's rows, in parts and as a whole; the Gram matrix and its eigenvectors
    return columns * (nodes * 4 + parts * min(nodes, SAMPLE) * 4 + matrices * columns * 8)


def shares(memory: float) -> tuple[float, float, float]:
    """How much of the squared length of a row is REFINE's, local and far; each has some.

    Examples
    --------
    >>> shares(0.25)
    (0.25, 0.5, 0.25)
    """
    memory = min(memory, MOST)
    return (1 - memory) / 3, 2 * (1 - memory) / 3, memory


def by_logarithm(graph: Graph) -> Graph:
    """The graph with weights ``log(1 + w / median)``, so that their unit does not matter; itself without weights."""
    if graph.weights is None:
        return graph
    weights = np.log1p(graph.weights / np.median(graph.weights)).astype(np.float32)
    return Graph(graph.indptr, graph.indices, weights, graph.names)


def local_view(engine: LocalEngine, *, seed: int, products: int, advance: Callable[[], None] = lambda: None) -> Floats:
    """``U |w|`` (n, columns of the engine) of the leading eigenpairs of ``D^-a A D^-a``."""
    if engine.columns == engine.nodes:  # a sketch of all columns would find no less, many products later
        values, vectors = eigh_by_size(dense_normalised(engine.graph))
        return (vectors * np.abs(values))[:, order_by_size(values)].astype(np.float32)
    operator = normalised(engine.graph, EXPONENT)
    eigenpairs = symmetric_eigh(engine, operator, seed=seed, products=products, advance=advance)
    leading = order_by_size(eigenpairs.values)
    return engine.collect(eigenpairs.basis, (eigenpairs.axes * np.abs(eigenpairs.values))[:, leading])


def dense_normalised(graph: Graph) -> Small:
    """``D^-a A D^-a`` of a small graph.

    Examples
    --------
    >>> dense_normalised(Graph.from_edges([0], [1], names=range(3))).tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """
    matrix, degree = np.zeros((graph.nodes, graph.nodes)), graph.degrees()
    rows = np.repeat(np.arange(graph.nodes), graph.out_counts)
    matrix[rows, graph.indices] = 1.0 if graph.weights is None else graph.weights
    scale = np.where(degree > 0, np.where(degree > 0, degree, 1.0) ** -EXPONENT, 0.0)
    matrix *= np.outer(scale, scale)
    return matrix


def order_by_size(values: Small) -> NDArray[np.intp]:
    """The eigenvalues that count most first; negative ones count `NEGATIVE` times their size."""
    return np.argsort(-np.where(values < 0, -NEGATIVE * values, values), kind="stable")


def join_views(
    views: tuple[Floats, ...], parts: Sequence[float], sample: NDArray[np.int64], *, threads: int = 1
) -> Floats:
    """Views (n, k) freed of their means and with unit rows, side by side, turned to k principal axes; unit rows.

    The axes are learned from the rows of a ``sample``. The first view is overwritten by the result.

    Examples
    --------
    >>> views = tuple(np.array([[0.0, 2.0], [0.0, 4.0], [0.0, 0.0]], np.float32) for _ in range(2))
    >>> join_views(views, (0.5, 0.5), np.arange(3)).tolist()
    [[-1.0, 0.0], [1.0, 0.0], [0.0, 0.0]]
    """
    n, k = views[0].shape
    centred = [_Centred(view, part, threads) for view, part in zip(views, parts, strict=True)]
    wide = np.concatenate([each.rows(sample) for each in centred], axis=1)
    axes = descending_eigh(gram_of(wide, threads=threads))[1]
    rotations = np.split(axes[:, :k].astype(np.float32), len(views))

    def work(rows: slice) -> None:
        joint = np.zeros((rows.stop - rows.start, k), np.float32)
        for each, rotation in zip(centred, rotations, strict=True):
            joint += each.rows(rows) @ rotation
        views[0][rows] = unit_rows(joint)

    in_blocks(n, work, threads=threads, rows=BLOCK)
    return views[0]


class _Centred:
    """A view whose rows are freed of their mean, and of one length; rows of zeros stay."""

    def __init__(self, view: Floats, part: float, threads: int) -> None:
        blocks = -(-len(view) // BLOCK)
        sums, there = np.zeros((blocks, view.shape[1])), np.empty(len(view), np.float32)

        def add(rows: slice) -> None:
            there[rows] = np.einsum("ij,ij->i", view[rows], view[rows]) > 0
            sums[rows.start // BLOCK] = there[rows] @ view[rows]

        in_blocks(len(view), add, threads=threads, rows=BLOCK)
        self.view = view
        self.mean = (sums.sum(axis=0) / max(float(there.sum(dtype=np.float64)), 1.0)).astype(np.float32)
        lengths = np.empty(len(view), np.float32)

        def measure(rows: slice) -> None:
            centred = view[rows] - self.mean
            lengths[rows] = np.einsum("ij,ij->i", centred, centred)

        in_blocks(len(view), measure, threads=threads, rows=BLOCK)
        square = float(self.mean @ self.mean)
        if float((lengths * there).sum(dtype=np.float64)) <= EQUAL * square * float(there.sum(dtype=np.float64)):
            self.mean[:] = 0  # all rows are one: where every node is linked to every other, say
            lengths[:] = square
        long = (there > 0) & (lengths > EQUAL * square)
        self.scale = np.where(long, np.sqrt(part / np.where(long, lengths, 1.0)), 0.0).astype(np.float32)

    def rows(self, which: slice | NDArray[np.int64]) -> Floats:
        """Some of the rows, as an array of their own."""
        centred: Floats = self.view[which] - self.mean
        centred *= self.scale[which, None]
        return centred
