r"""Regions of a graph: groups of nodes whose vectors are alike, as many as are wanted, found in one or two passes.

The first half of the centers are nodes drawn at random; the others are drawn in proportion to how far a node is from
the nearest center so far (its squared distance, :math:`2 - 2 \cos`). Each node belongs to the center of the largest
cosine. These are the first steps of k-means|| (Bahmani et al., VLDB 2012).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.graph.graph import Graph
from graphrefine.graph.node_ids import identities
from graphrefine.kernels import exact
from graphrefine.kernels.hashing import golden, mixed
from graphrefine.system.threads import in_blocks

Floats = NDArray[np.float32]
Rates = NDArray[np.float64]

PIECE = 1 << 18  # nodes that draw at a time
# Rounds in which centers are drawn. The second one, by distance, gives small parts of a graph regions of their own,
# which nodes drawn at random would miss. Moving the centers afterwards, as k-means does, changed no score.
ROUNDS = 2
DRAW = 16  # turns of random numbers from one draw to the next
CLOSE = 1e-6  # a node nearer than this to a center, in 1 - cosine, is no center itself


class Regions(NamedTuple):
    """Groups of nodes without a common one."""

    of: NDArray[np.int32]  # (n,): the region of each node, -1 for none
    centers: NDArray[np.int64]  # (regions,): a node of each

    @property
    def size(self) -> int:
        """Number of regions."""
        return len(self.centers)


def draw_regions(
    graph: Graph,
    vectors: Floats,
    count: int,
    *,
    seed: int,
    draw: int = 0,
    threads: int = 1,
    alone: NDArray[np.bool_] | None = None,
) -> Regions:
    """Return at most ``count`` regions of nodes with edges; each node is one where there are no more nodes.

    Parameters
    ----------
    graph
        Its nodes without edges are in no region.
    vectors
        Rows of length 1, or zero.  # (n, k).
    count
        How many regions; there are fewer where fewer vectors differ.
    seed, draw
        Seed of the centers, and which of several draws by it this is.
    threads
        The result does not depend on it.
    alone
        Mask of the nodes in no region; those without edges if not given.

    Examples
    --------
    >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> vectors = np.array([[1, 0], [1, 0], [0, 1], [0, 1]], np.float32)
    >>> regions = draw_regions(path, vectors, 2, seed=0)
    >>> bool(regions.of[0] == regions.of[1] != regions.of[2] == regions.of[3]), regions.size
    (True, 2)
    """
    alone = graph.without_edges() if alone is None else alone
    able = graph.nodes - int(np.count_nonzero(alone))
    if count >= able:
        of = np.full(graph.nodes, -1, np.int32)
        of[~alone] = np.arange(able, dtype=np.int32)
        return Regions(of, np.flatnonzero(~alone))
    ids = ids_of(graph)
    nearest, cosine = np.zeros(graph.nodes, np.int32), np.full(graph.nodes, -np.inf, np.float32)
    centers = np.empty(0, np.int64)

    def distances(rows: slice) -> Rates:
        distance = 1.0 - cosine[rows].astype(np.float64)
        distance[np.isinf(distance)] = 1.0  # as long as there is no center, all nodes are alike
        return np.where(alone[rows] | (distance <= CLOSE), 0.0, distance)

    for turn in range(ROUNDS):
        wanted = (count - len(centers)) // (ROUNDS - turn)
        drawn = draw_first(ids, distances, wanted, nodes=graph.nodes, seed=seed, turn=draw * DRAW + turn)[0]
        if len(drawn):
            _take_nearest(vectors, vectors[drawn], len(centers), nearest, cosine, threads)
        centers = np.concatenate([centers, drawn])
    nearest[alone] = -1
    return Regions(nearest, centers)


def draw_nodes(graph: Graph, count: int, *, seed: int) -> NDArray[np.int64]:
    """Draw ``count`` nodes with edges, ascending; return all where there are no more.

    Examples
    --------
    >>> draw_nodes(Graph.from_edges([0, 0], [1, 2], names=range(4)), 9, seed=0).tolist()
    [0, 1, 2]
    """
    alone = graph.without_edges()
    if count >= graph.nodes - np.count_nonzero(alone):
        return np.flatnonzero(~alone)

    def rates(rows: slice) -> Rates:
        return np.where(alone[rows], 0.0, 1.0)

    return np.sort(draw_first(ids_of(graph), rates, count, nodes=graph.nodes, seed=seed, turn=ROUNDS)[0])


def draw_first(
    ids: NDArray[np.integer] | None,
    rates: Callable[[slice], Rates],
    count: int,
    *,
    nodes: int,
    seed: int,
    turn: int,
) -> tuple[NDArray[np.int64], Rates]:
    """Return at most ``count`` nodes whose clocks ring first (`rings_of`), and when; some of the nodes at a time.

    Examples
    --------
    >>> rings = rings_of(np.arange(9), seed=0, turn=0, rates=np.ones(9))
    >>> nodes, first = draw_first(None, lambda rows: np.ones(9)[rows], 4, nodes=9, seed=0, turn=0)
    >>> nodes.tolist() == np.argsort(rings)[:4].tolist(), first.tolist() == np.sort(rings)[:4].tolist()
    (True, True)
    """
    first, when = np.empty(0, np.int64), np.empty(0)
    for start in range(0, nodes if count else 0, PIECE):
        rows = slice(start, min(start + PIECE, nodes))
        own = np.arange(rows.start, rows.stop) if ids is None else ids[rows]
        rings = rings_of(own, seed=seed, turn=turn, rates=rates(rows))
        early = np.flatnonzero(rings < (when[-1] if len(when) == count else np.inf))
        merged, whole = np.concatenate([first, start + early]), np.concatenate([when, rings[early]])
        order = np.argsort(whole, kind="stable")[:count]
        first, when = merged[order], whole[order]
    return first, when


def rings_of(ids: NDArray[np.integer], *, seed: int, turn: int, rates: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return when each clock rings first, if it rings at random at this rate; never at rate 0.

    Examples
    --------
    >>> rings = rings_of(np.arange(1000), seed=0, turn=0, rates=np.full(1000, 2.0))
    >>> round(float(rings.mean()), 1)
    0.5
    """
    salt = mixed(np.array([seed], np.uint64) ^ golden(turn + 1))
    words = mixed(salt ^ ids.astype(np.uint64))
    # The first clocks to ring are a draw without replacement in proportion to the rates. Each depends on the seed and
    # its node alone: another order of rows, or nodes that come and go, leave the draw of the others as it is. The half
    # keeps the logarithm from zero.
    uniform = ((words >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
    rings = np.full(len(ids), np.inf)
    np.divide(-exact.log(uniform), rates, out=rings, where=rates > 0)
    return rings


def ids_of(graph: Graph) -> NDArray[np.integer] | None:
    """Return numbers that depend on the names of nodes alone; None where they are the numbers of rows."""
    return None if getattr(graph, "has_row_names", False) else identities(graph.names)


def _take_nearest(
    vectors: Floats,
    centers: Floats,
    first: int,
    nearest: NDArray[np.int32],
    cosine: Floats,
    threads: int,
) -> None:
    """Move nodes to those of the new centers, numbered from ``first``, that are nearer to them."""
    turned = np.ascontiguousarray(centers.T)

    def work(rows: slice) -> None:
        cosines = exact.matmul_tall(vectors[rows], turned)
        best = cosines.argmax(axis=1)
        largest = cosines[np.arange(len(best)), best]
        nearer = largest > cosine[rows]
        nearest[rows][nearer] = best[nearer] + first
        cosine[rows][nearer] = largest[nearer]

    in_blocks(len(vectors), work, threads=threads)
