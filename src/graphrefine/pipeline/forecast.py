"""Forecast of an embedding's time and memory, before it is made: for `info` and for estimates.

The memory is that of `memory_plan`, and the time a formula of edges, columns and products,

``(once + products * product) * k / w + dense * (gram + rotation) * (k / w)^2``,

calibrated by one short run of an engine's verbs with w columns on the whole graph: ``once`` is order, proximity and
memory that is used for the first time. The width w is that of the embedding, up to `COLUMNS`: the time of a product is
not in proportion to its columns, as a gather from a row that no cache holds waits first, and then reads fast.
"""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from graphrefine.engine.local import LocalEngine
from graphrefine.linalg.operators import Operator, proximity
from graphrefine.methods.refine import REFINE_METHOD, arcs_and_columns, rounds, two_sides
from graphrefine.pipeline.memory_plan import in_memory_bytes, learning_need
from graphrefine.refine.arc_svd import normalize_arcs
from graphrefine.refine.bipartite import PATH
from graphrefine.refine.directed_far_view import count_blocks
from graphrefine.refine.range_finder import TOGETHER
from graphrefine.refine.settings import QUALITIES
from graphrefine.refine.views import TIERS, WIDTH, WINDOW

if TYPE_CHECKING:
    from graphrefine.graph.graph import Graph
    from graphrefine.refine.settings import RefineSettings

COLUMNS = 128  # of the calibration, at most
# What the calibration does not run, in units of what it does. As measured: where they are wrong, `info`
# predicts another time, and nothing else changes.
SWEEP = 2e-8  # seconds of a sweep of least squares for an edge or a node and a column
FAR = 7  # Gram matrices and rotations that a block of the far view of arcs takes the time of
LAST = 6  # Gram matrices and rotations that joining three views takes the time of


class Estimate(NamedTuple):
    """Expected cost of an embedding, reading and writing aside."""

    seconds: float
    peak_bytes: int


class Speed(NamedTuple):
    """Seconds of an engine's verbs with a number of columns, and of the preparation."""

    columns: int
    once: float
    product: float
    gram: float
    rotation: float

    def seconds(self, columns: int, *, products: float, dense: float) -> float:
        """Return the time of products, and of pairs of a Gram matrix and a rotation, with this number of columns."""
        ratio = columns / self.columns
        return (self.once + products * self.product) * ratio + dense * (self.gram + self.rotation) * ratio**2


def estimate(graph: Graph, settings: RefineSettings, *, threads: int) -> tuple[Estimate, dict[str, Estimate]]:
    """Return the cost of an embedding on this machine; and that of every tier of quality, for vectors of one side."""
    extra, two = learning_need(graph, settings), two_sides(graph, settings)
    speed = None if two else _calibrate(graph, settings, threads)

    def cost_of(chosen: RefineSettings) -> Estimate:
        seconds = _two_sides_seconds(graph, chosen, threads) if speed is None else _seconds_at(speed, graph, chosen)
        return Estimate(seconds, in_memory_bytes(graph, chosen, REFINE_METHOD, extra=extra))

    tiers = () if two else QUALITIES
    return cost_of(settings), {quality: cost_of(replace(settings, quality=quality)) for quality in tiers}


def _two_sides_seconds(graph: Graph, settings: RefineSettings, threads: int) -> float:
    arcs, width = arcs_and_columns(graph, settings.dim)
    pairs, operator = rounds(settings) + 1, normalize_arcs(arcs)[0]
    speed = measure(arcs, operator, columns=width, threads=threads, bfloat16=settings.bfloat16)
    seconds = speed.seconds(width, products=2 * pairs, dense=2 * pairs)
    if settings.quality == "fast":
        return seconds
    if graph.sources is None:
        blocks = count_blocks(graph, width)
        far = speed._replace(once=0.0).seconds(width, products=4 * blocks, dense=FAR * blocks)
        return seconds + far
    return 2 * seconds + SWEEP * (len(arcs.indices) + graph.nodes) * settings.dim * 2 * len(PATH)


def _calibrate(graph: Graph, settings: RefineSettings, threads: int) -> Speed:
    """Return the speed on a graph, with the making of M as part of the preparation."""
    start = perf_counter()
    M = proximity(graph, threads=threads)
    prepared = perf_counter() - start
    speed = measure(graph, M, columns=settings.dim, threads=threads, bfloat16=settings.bfloat16)
    return speed._replace(once=speed.once + prepared * speed.columns / settings.dim)


def _seconds_at(speed: Speed, graph: Graph, settings: RefineSettings) -> float:
    """Return the time of the vectors by these settings at this speed."""
    theta = settings.coefficients(degree=graph.mean_count)
    steps = 0 if theta is None else len(theta) - 1
    dense = -(-settings.power // TOGETHER) + (settings.spectrum != 1.0) + (theta is not None)
    seconds = speed.seconds(settings.dim, products=settings.power + 1 + steps, dense=dense)
    return seconds if settings.quality == "fast" else seconds + _views_seconds(graph, settings, speed)


def _views_seconds(graph: Graph, settings: RefineSettings, speed: Speed) -> float:
    """Return the time of the further views: eigenpairs, regions, walks, and the joint axes."""
    tier, speed = TIERS[str(settings.quality)], speed._replace(once=0.0)  # REFINE's view has prepared the engine
    regions = min(tier.regions(graph.nodes, len(graph.indices), 1.0), graph.nodes)
    width = max(settings.dim, min(WIDTH, graph.nodes))
    local = speed.seconds(settings.dim, products=tier.products, dense=tier.products / TOGETHER + 1)
    blocks = tier.draws * -(-regions // width)
    far = speed.seconds(width, products=WINDOW * blocks + 2, dense=2 * blocks)  # each row meets a region twice
    return local + far + speed.seconds(settings.dim, products=0, dense=LAST * (2 + tier.draws) / 3)


def measure(graph: Graph, operator: Operator, *, columns: int, threads: int, bfloat16: bool) -> Speed:
    """Return the speed of an engine on a graph: each verb done once, with these columns or with fewer.

    Memory is new to the system in the first two products and used again after them, as in a run.
    """
    width = min(columns, COLUMNS)
    engine = LocalEngine(graph, columns=width, threads=threads, bfloat16=bfloat16)
    first, x = _time(lambda: engine.apply(operator, engine.random(seed=0)))
    second, y = _time(lambda: engine.apply(operator, x, precise=True))
    engine.release(x)
    gram, _ = _time(lambda: engine.gram(y))
    rotation, x = _time(lambda: engine.rotate(y, np.eye(width, dtype=np.float32)))
    engine.release(y)
    product, _ = _time(lambda: engine.apply(operator, x, precise=True))  # to the memory of the second
    fresh = max(second - product, 0.0)  # of one slab; half a slab more is new in a run
    return Speed(width, first - product + 1.5 * fresh, product, gram, rotation)


def _time(call: Any) -> tuple[float, Any]:
    start = perf_counter()
    value = call()
    return perf_counter() - start, value
