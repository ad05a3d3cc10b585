"""Maps that show clusters: each point near those whose vectors are most like its own, all others kept apart.

It is t-SNE (see `forces`) with what makes it quick and keeps the whole in order. Of many points the cells are placed
first, as points of a map of their own, and each point begins where its cell is. To its near neighbours come a few
points from the cells beside its own, lightly weighted, so that small groups of one kind stay together. Attraction is
exaggerated: strongly in the first steps (Linderman and Steinerberger, SIAM J. Math. Data Sci. 2019), and with many
points a little to the end, or clusters would dissolve in an even disc (Kobak and Berens, Nature Communications 2019).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.kernels.plane import Motion, Neighbourhood, forces, move
from graphrefine.maps.forces import Repulsion, attraction
from graphrefine.maps.kmeans_cells import Cells, sums
from graphrefine.maps.nearest import Near, nearest
from graphrefine.maps.principal import principal
from graphrefine.progress import Stages

Floats = NDArray[np.float32]

FEW = 8  # points, of which no clusters can be told
EARLY = 12.0  # exaggeration of the first steps
FARTHEST = 5.0  # that a point moves in a step, along each axis
PLAIN = 20_000  # points up to which attraction is not exaggerated to the end
ALONE = 5_000  # points up to which a step is done sooner than a second thread is there
HAZE = 0.5  # how far from the place of its cell a point begins


class Phase(NamedTuple):
    """So many steps with one exaggeration of the attraction."""

    steps: int
    attraction: float
    momentum: float
    rate: float


def clusters(
    vectors: Floats, points: NDArray[Any], *, seed: int = 0, threads: int = 1, stages: Stages
) -> tuple[Floats, Near]:
    """Coordinates of points, which are rows of `vectors` that are not zero, and their neighbours.  # (n, 2).

    Examples
    --------
    Two groups of vectors, two groups of points:

    >>> rng = np.random.default_rng(0)
    >>> vectors = np.repeat(np.eye(2), 50, axis=0) + rng.normal(0, 0.1, (100, 2))
    >>> found, near = clusters(vectors.astype(np.float32), np.arange(100), stages=Stages())
    >>> bool((near.rows[:50] < 50).all() and (near.rows[50:] >= 50).all())
    True
    >>> apart = np.linalg.norm(found[:, None] - found, axis=2)
    >>> bool(apart[:50, :50].max() < apart[:50, 50:].min())
    True
    """
    near = nearest(vectors, points, seed=seed, threads=threads, stages=stages)
    if len(points) <= FEW:
        return principal(vectors, points, threads=threads), near
    rng = np.random.default_rng(seed)
    if near.cells is None:
        start = _whitened(principal(vectors, points, threads=threads), rng)
    else:
        start = _by_cells(vectors, points, near.cells, rng, threads=threads)
    with stages.stage("attraction"):
        pulls = attraction(near, rng)
    moving = np.ascontiguousarray(start[near.order])
    _descend(pulls, moving, phases(len(points)), threads=threads, stages=stages)
    out = np.empty_like(moving)
    out[near.order] = moving
    return out, near


def phases(n: int) -> tuple[Phase, ...]:
    """What is done with so many points: the more there are, the fewer steps, and the stronger the attraction.

    Examples
    --------
    >>> [phase.attraction for phase in phases(5_000)], [phase.steps for phase in phases(1_000_000)]
    ([12.0, 12.0, 1.0], [10, 15, 150])
    """
    many = max(0.0, float(np.log10(n / PLAIN)))
    late = 1 + 1.2 * many
    early, steps = ((50, 50), 250) if n <= PLAIN else ((10, 15), 150)
    return (
        Phase(early[0], EARLY, 0.5, 4 / EARLY),
        Phase(early[1], EARLY, 0.8, 4 / EARLY),
        Phase(steps, late, 0.8, 2 / late),
    )


def _whitened(start: Floats, rng: np.random.Generator) -> Floats:
    """As wide as high, and no two points in one place, or they would never part."""
    whole = start.astype(np.float64)
    spread = whole.std(axis=0)
    spread[spread == 0] = 1
    haze = rng.normal(0, 0.01, start.shape)
    whitened: Floats = (whole / spread + haze).astype(np.float32)
    return whitened


def _by_cells(vectors: Floats, points: NDArray[Any], cells: Cells, rng: np.random.Generator, *, threads: int) -> Floats:
    """Each point about the place of its cell, on a map of the cells."""
    centres = sums(vectors, points, cells)
    there = np.flatnonzero(centres.any(axis=1))
    places = np.zeros((len(centres), 2), np.float32)
    places[there] = clusters(centres, there, threads=threads, stages=Stages())[0]
    haze = rng.normal(0, HAZE, (len(points), 2)).astype(np.float32)
    start: Floats = places[cells.nearest[:, 0]] + haze
    return start


def _descend(pulls: Neighbourhood, points: Floats, phases: tuple[Phase, ...], *, threads: int, stages: Stages) -> None:
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
