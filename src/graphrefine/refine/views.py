r"""Vectors of the tiers "default" and "best": three views of a graph side by side, rotated to their principal axes.

* **REFINE's** vectors, the tier "fast".
* **local**: ``U |w|`` of the leading eigenpairs, of both signs, of :math:`D^{-a} A D^{-a}` with :math:`a = 0.4`
  (`graphrefine.refine.local_view`).
* **far**: the logarithm of up to seven steps of a random walk, as `graphrefine.refine.far_view` factorizes it. Its
  regions are of nodes whose vectors by REFINE are alike.

The rows of each are centered and made unit. Of the squared length of a row, far has the walk memory h
(`graphrefine.refine.walk_memory`), REFINE (1 - h) / 3, local 2 (1 - h) / 3. The rows are turned to their first k
principal axes, and made unit again. In the last two views the weights of edges count by ``log(1 + w / median)``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.engine.engine import Engine, T, descending_eigh
from graphrefine.engine.layout import usual_bytes
from graphrefine.engine.local import LocalEngine
from graphrefine.engine.stage_cache import StageCache
from graphrefine.graph.graph import Graph
from graphrefine.kernels import exact
from graphrefine.linalg import unit_rows
from graphrefine.linalg.operators import EdgeStrengths, by_logarithm
from graphrefine.progress import Stages
from graphrefine.refine.far_view import count_blocks, far_view
from graphrefine.refine.local_view import agreement, local_view, weight_of_negative
from graphrefine.refine.refine import is_complete, refine
from graphrefine.refine.regions import Regions, draw_nodes, draw_regions
from graphrefine.refine.settings import RefineSettings
from graphrefine.refine.walk_memory import walk_memory
from graphrefine.system.threads import in_blocks

Floats = NDArray[np.float32]

# h + 0.2, at least 0.75, is the exponent of the far view's singular values: the stronger the leading directions, the
# better with few labels, on sparse graphs above all.
SPECTRUM, LEAST = 0.2, 0.75
WATCHED = 128  # nodes from which the memory of walks is measured
WINDOW = 7  # T, the last step of a walk that counts
# h says what is worth its price. It is about 0.2 where two steps lead anywhere (BlogCatalog) and 0.8 on sparse graphs.
# Below 0.35 half as many regions do, and the first steps count; above 0.5 half as many products do for the eigenpairs.
FORGETFUL, MINDFUL = 0.35, 0.5
MOST = 0.9  # h that the far view can have as its share
EQUAL = 1e-6  # of the squared lengths of all rows: less than this after centering is rounding
WIDTH = 128  # columns of walks at a time, at the least
BLOCK = 2048  # rows worked at a time
SAMPLE = 16384  # rows that the joint axes are learned from


class Tier(NamedTuple):
    """How much is spent on the views."""

    each: int  # nodes of a region
    least: int  # regions of a small graph
    most: int  # regions of any graph
    draws: int  # of regions, each with one more far view
    work: int  # most entries of the graph times regions
    products: int  # for the eigenpairs, where walks forget

    def regions(self, nodes: int, entries: int, memory: float) -> int:
        """Return the number of regions: the more the larger the graph, until the work is too much.

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
# Low rank ruins sparse graphs, and regions do not: on a co-author graph 256 clusters as landmarks were as good as 4,096
# nodes. The sparser the graph, the more the number counts: "best" has up to 4,096, of four draws.
TIERS = {
    "default": Tier(each=112, least=512, most=1024, draws=1, work=1 << 32, products=18),
    "best": Tier(each=24, least=512, most=4096, draws=4, work=1 << 34, products=72),
}


def joint_views(
    graph: Graph,
    settings: RefineSettings,
    tier: Tier,
    stages: Stages,
    *,
    threads: int = 1,
    stage_cache: StageCache | None = None,
) -> Floats:
    """Return the vectors (n, dim), their rows of length 1; those of nodes without edges are zero.

    ``settings`` are the settings of REFINE's view, and the dimension and the seed of all. The graph is not directed.
    The ``stage_cache`` is where engines and views are, by default in memory.

    Examples
    --------
    Two triangles: neighbors have the same vector.

    >>> triangles = Graph.from_edges([0, 1, 2, 3, 4, 5], [1, 2, 0, 4, 5, 3])
    >>> vectors = joint_views(triangles, RefineSettings(dim=2), TIERS["default"], Stages())
    >>> (vectors @ vectors[0]).astype(float).round(3).tolist()
    [1.0, 1.0, 1.0, -1.0, -1.0, -1.0]
    """
    if not graph.entries:
        return np.zeros((graph.nodes, settings.dim), np.float32)
    cache = stage_cache or StageCache(
        lambda columns: LocalEngine(graph, columns=columns, threads=threads, bfloat16=settings.bfloat16)
    )
    dim, width = settings.dim, walk_columns(graph.nodes, settings.dim)
    (first,) = cache.get_or_compute(
        "refine", lambda: (refine(cache.engine(dim), graph, settings, stages, threads=threads),)
    )
    if is_complete(graph, graph.nodes - graph.isolated):
        return cache.finalize(first)  # any two nodes have the same neighbors: there is nothing else to see
    # Weights count by their logarithm: of all operators that were tried, it had the best F1 on Wikipedia's
    # co-occurrences. Dividing by the median makes their unit free.
    strengths = by_logarithm(graph)
    if graph.weighted:
        cache.release(dim)  # and with it the terms of its edges
    with stages.stage("memory"):
        memory = float(
            cache.get_or_compute("memory", lambda: (_memory(cache.engine(width), strengths, settings.seed),))[0][0]
        )
    draws = list[Regions]()
    with stages.stage("regions"):
        wanted = tier.regions(graph.nodes, graph.entries, memory)
        for draw in range(tier.draws):
            drawn = partial(draw_regions, graph, first, wanted, seed=settings.seed, draw=draw, threads=threads)
            draws.append(Regions(*cache.get_or_compute(f"regions-{draw}", drawn)))
    far = list[Floats]()
    with stages.stage("far", steps=sum(count_blocks(regions, width) for regions in draws)):

        def look_far(regions: Regions) -> tuple[Floats]:
            return (
                far_view(
                    cache.engine(width),
                    strengths,
                    regions,
                    columns=dim,
                    steps=(1 if memory < FORGETFUL else 3, WINDOW),
                    spectrum=min(max(memory + SPECTRUM, LEAST), 1.0),
                    advance=stages.advance,
                ),
            )

        for draw, regions in enumerate(draws):
            far += cache.get_or_compute(f"far-{draw}", partial(look_far, regions))
    del draws
    if width != dim:
        cache.release(width)
    sample = draw_nodes(graph, SAMPLE, seed=settings.seed)
    # Only where walks forget is the local view most of a vector, and the signs of its eigenvalues decide.
    products, negative = tier.products // 2, 1.0
    if memory < MINDFUL:
        products, negative = tier.products, weight_of_negative(agreement(first[sample], far[0][sample], threads))
    with stages.stage("local", steps=products + 2):

        def look_near() -> tuple[Floats]:
            engine, seed = cache.engine(dim), settings.seed
            return (
                local_view(engine, strengths, seed=seed, products=products, negative=negative, advance=stages.advance),
            )

        (local,) = cache.get_or_compute("local", look_near)
    cache.release(dim)
    with stages.stage("axes"):
        of_refine, of_local, of_far = shares(memory)
        parts = (of_refine, of_local, *(of_far / len(far) for _ in far))
        return join_views((first, local, *far), parts, sample, threads=threads, out=cache.allocate(first))


def walk_columns(nodes: int, dim: int) -> int:
    """Return how many columns of walks there are at a time.

    Examples
    --------
    >>> walk_columns(1000, 16), walk_columns(50, 16), walk_columns(1000, 200)
    (128, 50, 200)
    """
    return max(dim, min(WIDTH, nodes))


def _memory(engine: Engine[T], strengths: EdgeStrengths, seed: int) -> NDArray[np.float64]:
    return np.array([walk_memory(engine, strengths, WATCHED, seed=seed)])


def bytes_held(nodes: int, entries: int, dim: int, tier: Tier) -> int:
    """Return the most bytes held of views besides two matrices of an engine: REFINE's and far ones, or logarithms.

    Examples
    --------
    >>> bytes_held(1_000_000, 10_000_000, 128, TIERS["default"]) / 1e9
    1.12
    """
    few = 96  # bytes of each node for its degree, its region and the like
    return nodes * (tier.draws * 4 * dim + max(tier.regions(nodes, entries, 1.0), 4 * dim) + few)


def bytes_at_work(nodes: int, entries: int, dim: int, tier: Tier, *, threads: int) -> int:
    """Return the most bytes held besides an engine where the views are files: numbers of nodes, sums, rows at work.

    Examples
    --------
    >>> round(bytes_at_work(1_000_000, 10_000_000, 128, TIERS["default"], threads=2) / 1e9, 2)
    0.13
    """
    few, regions = 32, min(tier.regions(nodes, entries, 1.0), nodes)
    views, sample = 2 + tier.draws, min(SAMPLE, nodes)
    far = 20 * regions**2 + 40 * regions * (dim + 64) + threads * BLOCK * (5 * regions + 4 * dim)
    joint = sample * (views + 3) * dim * 4 + 40 * (views * dim) ** 2 + threads * BLOCK * dim * 16
    return nodes * few + max(far, joint) + 2 * usual_bytes(nodes, walk_columns(nodes, dim))


def bytes_stored(nodes: int, entries: int, dim: int, tier: Tier) -> int:
    """Return what the views take on disk: each, the logarithms of one, and the result.

    Examples
    --------
    >>> bytes_stored(1_000_000, 10_000_000, 128, TIERS["default"]) / 1e9
    2.564
    """
    logs = max(tier.regions(nodes, entries, 1.0), 4 * walk_columns(nodes, dim))
    return nodes * ((3 + tier.draws) * 4 * dim + 4 * tier.draws + logs)


def bytes_joined(nodes: int, dim: int, tier: Tier) -> int:
    """Return the most bytes held while views are joined: the views, a sample of their rows, and their Gram matrix.

    Examples
    --------
    >>> bytes_joined(18_333, 128, TIERS["default"]) / 1e6
    84.389376
    """
    columns = (2 + tier.draws) * dim  # of the views side by side
    parts, matrices = 2, 5  # the sample's rows, in parts and as a whole; the Gram matrix and its eigenvectors
    return columns * (nodes * 4 + parts * min(nodes, SAMPLE) * 4 + matrices * columns * 8)


def shares(memory: float) -> tuple[float, float, float]:
    """Return how much of the squared length of a row is REFINE's, local and far; each has some.

    Examples
    --------
    >>> shares(0.25)
    (0.25, 0.5, 0.25)
    """
    memory = min(memory, MOST)
    return (1 - memory) / 3, 2 * (1 - memory) / 3, memory


def join_views(
    views: tuple[Floats, ...],
    parts: Sequence[float],
    sample: NDArray[np.int64],
    *,
    threads: int = 1,
    out: Floats | None = None,
) -> Floats:
    """Return centered views (n, k) with unit rows, next to each other, on their k principal axes; unit rows.

    The axes are learned from the rows of a ``sample``. The result overwrites the first view, unless ``out`` is given.

    Examples
    --------
    >>> views = tuple(np.array([[0.0, 2.0], [0.0, 4.0], [0.0, 0.0]], np.float32) for _ in range(2))
    >>> join_views(views, (0.5, 0.5), np.arange(3)).tolist()
    [[-1.0, 0.0], [1.0, 0.0], [0.0, 0.0]]
    """
    result, (n, k) = views[0] if out is None else out, views[0].shape
    centered = [_Centered(view, part, threads) for view, part in zip(views, parts, strict=True)]
    wide = np.empty((len(sample), len(views) * k), np.float32)
    for at, each in enumerate(centered):
        wide[:, at * k : (at + 1) * k] = each.rows(sample)
    axes = descending_eigh(exact.gram(wide, threads=threads))[1]
    del wide
    rotations = np.split(axes[:, :k].astype(np.float32), len(views))

    def work(rows: slice) -> None:
        joint = np.zeros((rows.stop - rows.start, k), np.float32)
        for each, rotation in zip(centered, rotations, strict=True):
            joint += exact.matmul_tall(each.rows(rows), rotation)
        result[rows] = unit_rows(joint)

    in_blocks(n, work, threads=threads, rows=BLOCK)
    return result


class _Centered:
    """A view whose rows are centered and of one length; rows of zeros stay."""

    def __init__(self, view: Floats, part: float, threads: int) -> None:
        blocks = -(-len(view) // BLOCK)
        sums, there = np.zeros((blocks, view.shape[1])), np.empty(len(view), np.float32)

        def add(rows: slice) -> None:
            there[rows] = exact.squares_of_rows(view[rows]) > 0
            sums[rows.start // BLOCK] = exact.matmul_tall(there[None, rows], view[rows])

        in_blocks(len(view), add, threads=threads, rows=BLOCK)
        self.view = view
        self.mean = (sums.sum(axis=0) / max(float(there.sum(dtype=np.float64)), 1.0)).astype(np.float32)
        lengths = np.empty(len(view), np.float32)

        def measure(rows: slice) -> None:
            centered = view[rows] - self.mean
            lengths[rows] = exact.squares_of_rows(centered)

        in_blocks(len(view), measure, threads=threads, rows=BLOCK)
        square = exact.dot(self.mean, self.mean)
        if float((lengths * there).sum(dtype=np.float64)) <= EQUAL * square * float(there.sum(dtype=np.float64)):
            self.mean[:] = 0  # all rows are one: where every node is linked to every other, say
            lengths[:] = square
        long = (there > 0) & (lengths > EQUAL * square)
        self.scale = np.where(long, np.sqrt(part / np.where(long, lengths, 1.0)), 0.0).astype(np.float32)

    def rows(self, which: slice | NDArray[np.int64]) -> Floats:
        """Return some of the rows, as a new array."""
        centered: Floats = self.view[which] - self.mean
        centered *= self.scale[which, None]
        return centered
