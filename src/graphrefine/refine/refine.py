"""REFINE from graph to vectors: the stages in the order of the paper.

``M`` (Eqs. 2-4, `operators.proximity`) -> ``C, R`` (Algorithm 1, `range_finder.range_finder`) -> unit rows ->
``R*`` (Eq. 7, `filters.diffuse`) -> ``U S^p`` of R*, unit rows. The page "The method" in the documentation says where
the default departs from the paper.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from graphrefine.engine.engine import Engine, T, centered_rotation, collect_centered, principal_rotation
from graphrefine.graph.graph import Graph
from graphrefine.kernels import exact
from graphrefine.kernels.hashing import GOLDEN, mixed
from graphrefine.linalg.operators import proximity, transition
from graphrefine.progress import Stages
from graphrefine.refine.filters import diffuse, limit, limit_weights, smallest_weight
from graphrefine.refine.range_finder import range_finder
from graphrefine.refine.settings import RefineSettings

# Rows that the axes are found from, of graphs with more than twice as many nodes: where the axes are known before the
# last product is made, its rows are turned while they are in the cache, and are never stored.
SAMPLE = 1 << 16
BLOCK = 1024  # rows in which nearly every graph has a number that is not zero


def refine(
    engine: Engine[T], graph: Graph, settings: RefineSettings, stages: Stages, *, threads: int = 1
) -> NDArray[np.float32]:
    """Return the vectors (n, k) of a checked graph by checked settings: the paper, stage by stage."""
    R = find_range(engine, graph, settings, stages, threads=threads)
    vectors = smooth(engine, graph, settings, R, stages)
    if settings.center and not (graph.directed or vectors[:BLOCK].any() or vectors.any()):
        # All rows were the mean: nothing tells nodes apart. They are alike, which is not the same as unknown (zero).
        vectors[~graph.without_edges(), 0] = 1.0
    return vectors


def find_range(engine: Engine[T], graph: Graph, settings: RefineSettings, stages: Stages, *, threads: int = 1) -> T:
    """Return R of Algorithm 1, its rows of length 1: what comes before the filter, and most of the work."""
    # Random signs from a hash of seed and name replace the paper's Gaussian Omega, which took 15% of its time: 16 bytes
    # a row at 128 columns, and the same for a node in any order of rows. Theorem 1 assumes a Gaussian one.
    plain = settings.spectrum == 1.0
    with stages.stage("proximity"):
        M = proximity(
            graph,
            negative=settings.negative,
            exponent=settings.exponent,
            log_weights=settings.log_weights,
            threads=threads,
        )
        sketch = engine.random(seed=settings.seed)
    with stages.stage("range", steps=settings.power + 1):
        R = range_finder(
            engine,
            M,
            sketch,
            block=settings.block,
            power=settings.power,
            two_sided=settings.two_sided,
            unit=plain,
            gram=not plain,
            precise=not plain or settings.filter == "none",
            advance=stages.step,
        ).target
        if plain:
            return R
        rotation = principal_rotation(engine.gram(R), settings.spectrum)
        return engine.rotate(R, rotation, unit=True, precise=settings.filter == "none")


def is_complete(graph: Graph, nodes: int) -> bool:
    """Return whether all nodes with edges (their number is ``nodes``) are linked to each other, without weights.

    Examples
    --------
    >>> is_complete(Graph.from_edges([0, 0, 1], [1, 2, 2]), 3), is_complete(Graph.from_edges([0, 1], [1, 2]), 3)
    (True, False)
    """
    return not graph.weighted and graph.entries >= nodes * (nodes - 1)


def smooth(
    engine: Engine[T], graph: Graph, settings: RefineSettings, R: T, stages: Stages, *, keep: bool = False
) -> NDArray[np.float32]:
    """Return the vectors from R: the filter, centering, the principal axes. ``keep`` leaves R for another filter."""
    alone, degrees = graph.without_edges(), graph.degrees()
    nodes = max(graph.nodes - int(alone.sum()), 1)
    theta = settings.coefficients(degree=graph.entries / nodes)
    if theta is None:
        with stages.stage("filter"):
            return engine.collect(R)
    loop = smallest_weight(graph) if settings.loop is None else settings.loop
    # The more a graph is smoothed, the more every row looks like the mean row, and unit rows spend their length on it.
    # Taking it away is worth 0.7 Micro F1 on BlogCatalog with the paper's settings (C = 1). Where every node is linked
    # to every other, all rows are the mean after one step, and nothing would be left.
    center = settings.center and not is_complete(graph, nodes)
    weights = limit_weights(alone, None if graph.directed else degrees, loop=loop) if center else None
    with stages.stage("filter", steps=len(theta)):
        T = transition(graph, loop=loop, degrees=degrees)
        # After the filter this is the row that T itself tends to, in which nodes count by degree; at the end, before
        # the axes, it is the plain mean. Both go: the second one is not zero after rows were made unit.
        mean = None
        if weights is not None:
            mean = sum(theta) * limit(engine.sums(R, weights.astype(np.float32)), weights)
        diffuse_to = partial(diffuse, engine, T, R, theta, shift=mean, unit=center, keep=keep, advance=stages.step)
        del R
        if graph.nodes > 2 * SAMPLE and len(theta) > 1:
            axes = partial(axes_of_sample, exponent=settings.axes, center=center)
            rows = spread_rows(graph.nodes, SAMPLE, seed=settings.seed)
            vectors: NDArray[np.float32] = diffuse_to(finish=partial(engine.project, rows=rows, axes=axes))
            return vectors
        F = diffuse_to()
        del diffuse_to
        if center:
            return collect_centered(engine, F, nodes=nodes, axes=settings.axes)
        return engine.collect(F, principal_rotation(engine.gram(F), settings.axes), unit=True)


def axes_of_sample(
    rows: NDArray[np.float32], *, exponent: float, center: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    """Return the rotation of F to ``U S^exponent`` from a sample of its rows, and the mean to subtract after it.

    Examples
    --------
    >>> rotation, middle = axes_of_sample(np.array([[0, 2], [0, 4]], np.float32), exponent=1.0, center=True)
    >>> rotation.tolist(), middle.tolist()
    ([[0.0, 0.0], [1.0, 0.0]], [3.0, 0.0])
    """
    gram = exact.gram(rows)
    if not center:
        return principal_rotation(gram, exponent), None
    nodes = max(int(np.count_nonzero(rows.any(axis=1))), 1)
    return centered_rotation(gram, rows.sum(axis=0, dtype=np.float64), nodes=nodes, axes=exponent)


def spread_rows(rows: int, count: int, *, seed: int) -> NDArray[np.int64]:
    """Return ``count`` of ``rows`` rows, ascending: one at random of each of as many equal stretches.

    Examples
    --------
    >>> (spread_rows(100, 4, seed=0) // 25).tolist()
    [0, 1, 2, 3]
    """
    stretches = np.arange(count, dtype=np.uint64)
    words = mixed(mixed(np.array([seed], np.uint64) + GOLDEN) ^ stretches)
    chance = (words >> np.uint64(11)).astype(np.float64) * 2.0**-53
    spread: NDArray[np.int64] = ((stretches.astype(np.float64) + chance) * (rows / count)).astype(np.int64)
    return np.minimum(spread, rows - 1)
