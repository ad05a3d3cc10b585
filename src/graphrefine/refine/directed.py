"""Vectors for directed graphs: every node as a source of arcs and as a target.

With U and V of `graphrefine.refine.arc_svd`, free of noise, and their rows made unit (x_u, y_v), in the tier "default"
joined with the rows of `graphrefine.refine.directed_far_view`:

    source_u = [(1 + d_out(u) / w)^a [1, x_u] / sqrt 2, c]        target_v = [(1 + d_in(v) / w)^a [1, y_v] / sqrt 2, -c]

so that ``source_u . target_v = ((1 + d_out) (1 + d_in))^a (1 + cos(x_u, y_v)) / 2 - c^2``: the activity of u, the
popularity of v, and whether nodes like u point to v; degrees are in units of the mean weight w. ``c^2`` is the mean of
the first term over all pairs: a score above 0 says that an arc is likelier than between any two nodes.

The vectors are (n, dim): the source's half of the columns first, then the target's. Where that half is narrower than
`CENTERED`, it has no column for c.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphrefine.engine.engine import Engine, T
from graphrefine.errors import InputError
from graphrefine.graph.graph import Graph
from graphrefine.kernels.exact import dot, power
from graphrefine.progress import Stages
from graphrefine.refine.arc_svd import decompose
from graphrefine.refine.directed_far_view import count_blocks, join_far_view
from graphrefine.refine.svd import oversampled

# Exponent of degrees, and strength of the noise filter: chosen together on generated graphs, DAGs among them, and on
# npm's dependencies. benchmarks/directed.py prints the AUC on Debian's, which had no part in the choice.
DEGREE_POWER = 0.15
STRENGTH = 8.0
CENTERED = 4  # columns of a side from which one is spent on c


def columns(dim: int, nodes: int) -> int:
    """Return the width of an engine for vectors of this length; raise InputError for an odd one."""
    if dim % 2:
        raise InputError(
            f"dim={dim}: on a directed graph half of the columns are a node's vector as source and half as target, so "
            f"dim must be even; choose {dim - 1 or 2} or {dim + 1}",
            argument="dim",
        )
    return oversampled(dim // 2, nodes)


def directed_vectors(
    engine: Engine[T],
    graph: Graph,
    stages: Stages,
    *,
    dim: int,
    rounds: int = 3,
    seed: int = 0,
    threads: int = 1,
    far: bool = False,
) -> NDArray[np.float32]:
    """Return the vectors (n, dim) of a directed graph, on an engine of `columns` columns; ``far`` adds the far view.

    Examples
    --------
    Two teams that pass to each other's second line only; what team a's first player does not do yet, he would:

    >>> from graphrefine.engine.local import LocalEngine
    >>> passes = Graph.from_edges([0, 1, 1, 4, 4, 5], [2, 2, 3, 6, 7, 6], directed=True)
    >>> engine = LocalEngine(passes, columns=columns(6, 8))
    >>> source, target = np.split(directed_vectors(engine, passes, Stages(), dim=6), 2, axis=1)
    >>> bool(source[0] @ target[3] > source[0] @ target[7] > 0)
    True
    """
    half = dim // 2
    vectors = np.zeros((graph.nodes, dim), np.float32)
    source, target = vectors[:, :half], vectors[:, half:]
    with stages.stage("decompose", steps=2 * rounds + 2):
        arcs = decompose(engine, graph, rounds=rounds, seed=seed, threads=threads, advance=stages.advance)
    sides = ((source, arcs.source), (target, arcs.target))
    rest = half - 1 - (half >= CENTERED)
    x, y = source[:, 1 : 1 + rest], target[:, 1 : 1 + rest]
    with stages.stage("collect"):
        x[:] = engine.collect(arcs.svd.basis, arcs.left(STRENGTH, columns=rest), unit=True)
        y[:] = engine.collect(arcs.svd.target, arcs.right(STRENGTH, columns=rest), unit=True)
    del arcs
    if far and rest and graph.entries:
        with stages.stage("far", steps=count_blocks(graph, engine.columns)):
            join_far_view(engine, graph, x, y, seed=seed, advance=stages.advance)
    with stages.stage("scale"):
        weight = 1.0 if graph.weights is None else float(graph.weights.mean(dtype=np.float64))
        # The 1 added to the cosine keeps the first term from being negative: a large degree makes any arc likelier,
        # never less likely. A node without arcs on one side keeps this column alone there: with vectors borrowed from
        # its neighbors, arcs and reversed ones are harder to distinguish.
        for out, side in sides:
            out[:, 0] = power(1.0 + side.degrees / weight, DEGREE_POWER) / np.sqrt(2.0)
            out[:, 1 : 1 + rest] *= out[:, :1]
        # 0, the score of the zero vectors of nodes without any arc, is to mean that nothing is known: hence -c^2.
        if half >= CENTERED:
            source[:, -1] = np.sqrt(_mean_score(source, target, ~graph.without_edges()))
            target[:, -1] = -source[:, -1]
    return vectors


def _mean_score(source: NDArray[np.float32], target: NDArray[np.float32], has_arcs: NDArray[np.bool_]) -> float:
    """Return the mean of ``source_u . target_v`` over all u and v that have arcs; never negative."""
    if not has_arcs.any():
        return 0.0
    means = (side.mean(axis=0, dtype=np.float64, where=has_arcs[:, None]) for side in (source, target))
    return max(dot(*means), 0.0)
