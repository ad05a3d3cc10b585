"""The memory of a random walk: how much of where it began it still tells after a step, 0 to 1."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphrefine.engine.engine import Engine, T
from graphrefine.graph.graph import Graph
from graphrefine.kernels import exact
from graphrefine.linalg.operators import EdgeStrengths
from graphrefine.refine.far_view import Walks, region_blocks
from graphrefine.refine.regions import Regions, draw_first, ids_of
from graphrefine.system.threads import in_blocks

Floats = NDArray[np.float32]

# Steps after which a walk is asked where it began: after one, the start is a neighbor on any graph. The square root of
# what is left is the share that one step keeps.
STEPS = 2
TURN = 9  # of the draw


def walk_memory(engine: Engine[T], strengths: EdgeStrengths, count: int, *, seed: int) -> float:
    r"""Return the part of the information on its start that a walk keeps at each step: 0 nothing, 1 all.

    :math:`\sqrt{I / H}`, with the information I (nats) that the node of a walk after two steps holds about its start,
    and the entropy H of that start, a node drawn by degree. I is estimated from ``count`` nodes.

    Examples
    --------
    Edges without a common node tell all, a complete graph next to nothing:

    >>> from graphrefine.engine.local import LocalEngine
    >>> pairs = Graph.from_edges([0, 2, 4], [1, 3, 5])
    >>> round(walk_memory(LocalEngine(pairs, columns=6), EdgeStrengths(pairs), 6, seed=0), 3)
    1.0
    >>> complete = Graph.from_edges(*np.triu_indices(40, 1))
    >>> walk_memory(LocalEngine(complete, columns=8), EdgeStrengths(complete), 40, seed=0) < 0.02
    True
    """
    graph, degree = strengths.graph, strengths.degrees
    nodes, share = _draw(graph, degree, count, seed=seed)
    of = np.full(graph.nodes, -1, np.int32)
    of[nodes] = np.arange(len(nodes), dtype=np.int32)
    walks = Walks(engine, strengths, Regions(of, nodes))
    visited = degree / walks.volume  # share of all steps of a long walk at each node
    information = np.zeros(graph.nodes)
    for part in region_blocks(walks.regions, engine.columns):
        ratio = engine.collect(walks.after(part, STEPS))[:, : part.stop - part.start]

        def work(rows: slice, ratio: Floats = ratio, part: slice = part) -> None:
            entries = ratio[rows]
            logs = entries.copy()
            exact.log_at_least(logs, 1e-30)
            information[rows] += visited[rows] * exact.row_dots(entries * logs, share[part])

        in_blocks(graph.nodes, work, threads=engine.threads)
    start = visited[visited > 0]
    return float(np.sqrt(np.clip(information.sum() / -(start * exact.log(start)).sum(), 0.0, 1.0)))


def _draw(graph: Graph, degree: NDArray[np.float64], count: int, *, seed: int) -> tuple[NDArray[np.int64], Floats]:
    """Draw nodes by degree, none twice, ascending; return them and the share of all steps that each represents."""
    able = np.count_nonzero(degree > 0)
    if count >= able:
        nodes: NDArray[np.int64] = np.flatnonzero(degree > 0)
        chance: NDArray[np.float64] = np.ones(able)
    else:
        ids = ids_of(graph)
        drawn, rings = draw_first(ids, degree.__getitem__, count + 1, nodes=graph.nodes, seed=seed, turn=TURN)
        nodes = np.sort(drawn[:count])
        # By the next ring, a node would have rung with this chance: dividing by it makes the estimate of a sum over all
        # nodes unbiased (Horvitz and Thompson), though hubs are drawn far more often than others.
        chance = -exact.expm1(-degree[nodes] * rings[count])
    share = degree[nodes] / chance
    return nodes, (share / share.sum()).astype(np.float32)
