"""Forecast of an embedding's time and memory, before it is made: for `info` and for estimates.

A small graph is simply embedded: that takes a fraction of a second and is the best forecast there is. For a larger one
the memory is that of `memory_plan`, and the time a formula of edges, columns and products,

``once + products * product * k / w + dense * (k / w)^2``,

calibrated by one short run of an engine's verbs with w = 32 columns on the whole graph: ``once`` is ordering and
proximity, ``product`` one product, ``dense`` the Gram matrices and rotations.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from graphrefine.engine.local import LocalEngine
from graphrefine.linalg.operators import Operator, proximity, transition, walk
from graphrefine.methods.contract import Shape
from graphrefine.methods.refine import REFINE_METHOD, two_sides
from graphrefine.methods.refine_variants import arcs_and_columns, rounds
from graphrefine.refine.arc_svd import normalise_arcs
from graphrefine.refine.high_quality import LANDMARKS, WINDOW
from graphrefine.refine.landmarks import WIDTH
from graphrefine.refine.range_finder import TOGETHER
from graphrefine.run.embed import embed_graph
from graphrefine.run.memory_plan import in_memory_bytes
from graphrefine.system.memory import PeakMemory, private_bytes

if TYPE_CHECKING:
    from graphrefine.graph.graph import Graph
    from graphrefine.refine.settings import RefineSettings

SMALL = 1 << 28  # entries times columns: below this, the forecast is the run itself
COLUMNS = 32  # of the calibration


@dataclass(frozen=True)
class Estimate:
    """Expected cost of an embedding, reading and writing aside."""

    seconds: float
    peak_bytes: int


class Speed(NamedTuple):
    """Seconds of an engine's verbs with `COLUMNS` columns, and of the preparation."""

    once: float
    product: float
    gram: float
    rotation: float

    def seconds(self, columns: int, *, products: float, grams: float, rotations: float) -> float:
        """Time of so many verbs with so many columns."""
        ratio = columns / COLUMNS
        return self.once + products * self.product * ratio + (grams * self.gram + rotations * self.rotation) * ratio**2


def estimate(graph: Graph, settings: RefineSettings, *, threads: int) -> Estimate:
    """The cost of embedding a graph with these settings on this machine."""
    if len(graph.indices) * settings.dim <= SMALL:
        with PeakMemory() as peak:
            start = perf_counter()
            embed_graph(graph, settings, threads=threads)
            seconds = perf_counter() - start
        return Estimate(seconds, peak.bytes)
    return Estimate(_seconds(graph, settings, threads), _bytes(graph, settings))


def _bytes(graph: Graph, settings: RefineSettings) -> int:
    if REFINE_METHOD.on_disk(graph, settings) is None:
        return in_memory_bytes(graph, settings)
    return private_bytes() + REFINE_METHOD.memory(Shape.of(graph), settings)


def _seconds(graph: Graph, settings: RefineSettings, threads: int) -> float:
    if settings.quality == "high":  # walks from all landmarks, twice, are nearly all of it
        products = 2 * WINDOW * -(-min(LANDMARKS, graph.nodes) // WIDTH)
        speed = measure(graph, walk(graph), threads=threads, bfloat16=settings.bfloat16)
        return speed.seconds(WIDTH, products=products, grams=0, rotations=0)
    if two_sides(graph, settings):
        arcs, width = arcs_and_columns(graph, settings.dim)
        speed = measure(arcs, normalise_arcs(arcs)[0], threads=threads, bfloat16=settings.bfloat16)
        pairs = rounds(settings) + 1
        return speed.seconds(width, products=2 * pairs, grams=2 * pairs, rotations=2 * pairs)
    theta = settings.theta(graph)
    steps = 0 if theta is None else len(theta) - 1
    speed = measure(graph, proximity(graph, threads=threads), threads=threads, bfloat16=settings.bfloat16)
    dense = -(-settings.power // TOGETHER) + (settings.spectrum != 1.0) + (theta is not None)
    filtering = measure(graph, transition(graph), threads=threads, bfloat16=settings.bfloat16).product if steps else 0.0
    ratio = settings.dim / COLUMNS
    factorisation = speed.seconds(settings.dim, products=settings.power + 1, grams=dense, rotations=dense)
    return factorisation + steps * filtering * ratio


def measure(graph: Graph, operator: Operator, *, threads: int, bfloat16: bool) -> Speed:
    """The speed of an engine on a graph: each verb done once, with few columns.

    Examples
    --------
    >>> from graphrefine.graph.graph import Graph
    >>> ring = Graph.from_edges(range(6), [1, 2, 3, 4, 5, 0])
    >>> measure(ring, walk(ring), threads=1, bfloat16=True).product > 0
    True
    """
    start = perf_counter()
    engine = LocalEngine(graph, columns=COLUMNS, threads=threads, bfloat16=bfloat16)
    x = engine.apply(operator, engine.random(seed=0))
    once = perf_counter() - start
    product, x = _time(lambda: engine.apply(operator, x))
    gram, _ = _time(lambda: engine.gram(x))
    rotation, _ = _time(lambda: engine.rotate(x, np.eye(COLUMNS, dtype=np.float32)))
    return Speed(once, product, gram, rotation)


def _time(call: Any) -> tuple[float, Any]:
    start = perf_counter()
    value = call()
    return perf_counter() - start, value
