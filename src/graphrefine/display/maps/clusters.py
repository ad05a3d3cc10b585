"""Maps that show clusters: each point near those whose vectors are most like its own, all others kept apart.

It is t-SNE (see `forces`) with additions for speed and for order in the large. Of many points the cells are placed
first, as points of a map of their own, and each point begins at the place of its cell. A few points from the cells
beside its own attract it too, with a small weight, so that small groups of one kind stay together. Attraction is
exaggerated: strongly in the first steps (Linderman and Steinerberger, SIAM J. Math. Data Sci. 2019), and with many
points a little to the end, or clusters would dissolve in an even disc (Kobak and Berens, Nature Communications 2019).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.display.maps.forces import Repulsion, attraction
from graphrefine.display.maps.nearest import Cells, Neighbors, find_nearest, sum_by_cell
from graphrefine.display.maps.principal import project
from graphrefine.kernels.plane import Motion, Neighborhood, forces, move
from graphrefine.progress import Stages

Floats = NDArray[np.float32]

FEW = 8  # points: too few for clusters
EARLY = 12.0  # exaggeration of the first steps
FARTHEST = 5.0  # that a point moves in a step, along each axis
PLAIN = 20_000  # points up to which attraction is not exaggerated to the end
ALONE = 5_000  # points up to which a step takes less time than the start of a second thread
HAZE = 0.5  # distance from the place of its cell at which a point begins


class Phase(NamedTuple):
    """Steps with one exaggeration of the attraction."""

    steps: int
    attraction: float
    momentum: float
    rate: float


def lay_out_clusters(
    vectors: Floats, points: NDArray[Any], *, seed: int = 0, threads: int = 1, stages: Stages
) -> tuple[Floats, Neighbors]:
    """Coordinates of points, which are rows of `vectors` that are not zero, and their neighbors.  # (n, 2).

    Examples
    --------
    Two groups of vectors, two groups of points:

    >>> rng = np.random.default_rng(0)
    >>> vectors = np.repeat(np.eye(2), 50, axis=0) + rng.normal(0, 0.1, (100, 2))
    >>> places, neighbors = lay_out_clusters(vectors.astype(np.float32), np.arange(100), stages=Stages())
    >>> bool((neighbors.rows[:50] < 50).all() and (neighbors.rows[50:] >= 50).all())
    True
    >>> distances = np.linalg.norm(places[:, None] - places, axis=2)
    >>> bool(distances[:50, :50].max() < distances[:50, 50:].min())
    True
    """
    neighbors = find_nearest(vectors, points, seed=seed, threads=threads, stages=stages)
    if len(points) <= FEW:
        return project(vectors, points, threads=threads), neighbors
    rng = np.random.default_rng(seed)
    if neighbors.cells is None:
        start = _whiten(project(vectors, points, threads=threads), rng)
    else:
        start = _start_at_cells(vectors, points, neighbors.cells, rng, threads=threads)
    with stages.stage("attraction"):
        pulls = attraction(neighbors, rng)
    ordered = np.ascontiguousarray(start[neighbors.order])
    _descend(pulls, ordered, phases(len(points)), threads=threads, stages=stages)
    places = np.empty_like(ordered)
    places[neighbors.order] = ordered
    return places, neighbors


def phases(n: int) -> tuple[Phase, ...]:
    """The phases for n points: the more points, the fewer steps, and the stronger the attraction.

    Examples
    --------
    >>> [phase.attraction for phase in phases(5_000)], [phase.steps for phase in phases(1_000_000)]
    ([12.0, 12.0, 1.0], [10, 15, 150])
    """
    late = 1 + 1.2 * max(0.0, float(np.log10(n / PLAIN)))
    early, steps = ((50, 50), 250) if n <= PLAIN else ((10, 15), 150)
    return (
        Phase(early[0], EARLY, 0.5, 4 / EARLY),
        Phase(early[1], EARLY, 0.8, 4 / EARLY),
        Phase(steps, late, 0.8, 2 / late),
    )


def _whiten(start: Floats, rng: np.random.Generator) -> Floats:
    """Places as wide as high, and no two points in one place, or they would never separate."""
    whole = start.astype(np.float64)
    spread = whole.std(axis=0)
    spread[spread == 0] = 1
    haze = rng.normal(0, 0.01, start.shape)
    whitened: Floats = (whole / spread + haze).astype(np.float32)
    return whitened


def _start_at_cells(
    vectors: Floats, points: NDArray[Any], cells: Cells, rng: np.random.Generator, *, threads: int
) -> Floats:
    """Each point about the place of its cell, on a map of the cells."""
    centers = sum_by_cell(vectors, points, cells)
    filled = np.flatnonzero(centers.any(axis=1))
    places = np.zeros((len(centers), 2), np.float32)
    places[filled] = lay_out_clusters(centers, filled, threads=threads, stages=Stages())[0]
    haze = rng.normal(0, HAZE, (len(points), 2)).astype(np.float32)
    start: Floats = places[cells.nearest[:, 0]] + haze
    return start


def _descend(pulls: Neighborhood, points: Floats, phases: tuple[Phase, ...], *, threads: int, stages: Stages) -> None:
    """Move points, in place, down the gradient of t-SNE's objective, with momentum."""
    threads = threads if len(points) > ALONE else 1
    repulsion = Repulsion(threads)
    motion = Motion.from_rest(points)
    with stages.stage("layout", steps=sum(phase.steps for phase in phases)):
        for steps, strength, momentum, rate in phases:
            for _ in range(steps):
                field, frame = repulsion.field(points)
                push = forces(pulls, points, field, frame, attraction=strength, threads=threads)
                move(motion, push, momentum=momentum, rate=rate, farthest=FARTHEST, threads=threads)
                stages.advance()
