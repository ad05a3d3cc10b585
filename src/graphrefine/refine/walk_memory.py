"""The memory of a random walk: how much of where it began it still tells after a step, 0 to 1."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphrefine.engine.local import LocalEngine
from graphrefine.graph.graph import Graph
from graphrefine.refine.far_view import Walks
from graphrefine.refine.regions import Regions, ids_of, rings_of
from graphrefine.system.threads import in_blocks

Floats = NDArray[np.float32]

STEPS = 2  # after which a walk is asked where it began
TURN = 9  # of the draw


def walk_memory(engine: LocalEngine, count: int, *, seed: int) -> float:
    r"""Part of the knowledge of its start that a walk keeps at each step: 0 nothing, 1 all.

    :math:`\sqrt{I / H}`, with the information I (nats) that the place of a walk after two steps holds about its start,
    and the entropy H of that start, a node drawn by degree. I is estimated from so many nodes.

    Examples
    --------
    Edges without a common node tell all, a complete graph next to nothing:

    >>> pairs = Graph.from_edges([0, 2, 4], [1, 3, 5])
    >>> round(walk_memory(LocalEngine(pairs, columns=6), 6, seed=0), 3)
    1.0
    >>> complete = Graph.from_edges(*np.triu_indices(40, 1))
    >>> walk_memory(LocalEngine(complete, columns=8), 40, seed=0) < 0.02
    True
    """
    graph, threads = engine.graph, engine.threads
    degree = graph.degrees()
    nodes, share = _draw(graph, degree, count, seed=seed)
    of = np.full(graph.nodes, -1, np.int32)
    of[nodes] = np.arange(len(nodes), dtype=np.int32)
    walks = Walks(engine, Regions(of, nodes))
    place = degree / walks.volume
    information = np.zeros(graph.nodes)
    for part in walks.parts():
        ratio = engine.collect(walks.after(part, STEPS))[:, : part.stop - part.start]

        def work(rows: slice, ratio: Floats = ratio, part: slice = part) -> None:
            entries = ratio[rows]
            logs = np.log(np.maximum(entries, np.float32(1e-30)))
            information[rows] += place[rows] * ((entries * logs) @ share[part])

        in_blocks(graph.nodes, work, threads=threads)
    start = place[place > 0]
    return float(np.sqrt(np.clip(information.sum() / -(start * np.log(start)).sum(), 0.0, 1.0)))


def _draw(
    graph: Graph, degree: NDArray[np.float64], count: int, *, seed: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Nodes drawn by degree, none twice, ascending, and the share of all steps that each one stands for."""
    nodes = np.flatnonzero(degree > 0)
    chance: NDArray[np.float64] = np.ones(len(nodes))
    if count < len(nodes):
        rings = rings_of(ids_of(graph, nodes), seed=seed, turn=TURN, rates=degree[nodes])
        order = np.argsort(rings, kind="stable")
        # By the next ring, a node would have rung with this chance.
        chance = -np.expm1(-degree[nodes[np.sort(order[:count])]] * rings[order[count]])
        nodes = nodes[np.sort(order[:count])]
    share = degree[nodes] / chance
    return nodes, share / share.sum()
