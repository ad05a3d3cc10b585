"""Draw maps: lists of nearest neighbors, points pulled and pushed in the plane; the same for any number of threads."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.kernels import native

Floats = NDArray[np.float32]
Rows = NDArray[np.int32]

# Weight of a point on the grid. Shares of it are integers, whose sum does not depend on the order of points, so that
# threads can add to one grid; a grid of floats would have other bits each time.
WHOLE = 1 << 20


class Neighborhood(NamedTuple):
    """Points that pull each other, and their weights: CSR rows."""

    indptr: NDArray[np.int64]  # (n + 1,)
    indices: Rows  # (nnz,)
    weights: Floats  # (nnz,)


class Frame(NamedTuple):
    """Position of a square grid in the plane."""

    left: float
    bottom: float
    spacing: float
    side: int  # points of the grid along an edge

    def _origin(self) -> dict[str, float]:
        return {"left": self.left, "bottom": self.bottom, "inverse": 1 / self.spacing}


def keep_best(scores: Floats, queries: Rows, candidates: Rows, *, best: Floats, rows: Rows) -> None:
    """Offer candidates to queries: ``best[q]`` and ``rows[q]`` (n, k) hold the best so far, in descending order.

    A query is not its own neighbor. Of equal candidates the first wins, counted from one that the query's number
    decides.

    Examples
    --------
    >>> best, rows = np.full((2, 1), -2, np.float32), np.full((2, 1), -1, np.int32)
    >>> both = np.array([0, 1], np.int32)
    >>> keep_best(np.array([[1, 0.5], [0.5, 1]], np.float32), both, both, best=best, rows=rows)
    >>> best.tolist(), rows.tolist()
    ([[0.5], [0.5]], [[1], [0]])
    """
    native.keep_best(scores, queries, candidates, best, rows)


def spread(points: Floats, frame: Frame, *, threads: int = 1) -> NDArray[np.int64]:
    """Count the points about each point of a grid, times `WHOLE`: each counts for the four around it.

    Examples
    --------
    >>> grid = spread(np.array([[0.25, 0.0]], np.float32), Frame(0.0, 0.0, 1.0, 2))
    >>> (grid / WHOLE).tolist()
    [[0.75, 0.25], [0.0, 0.0]]
    """
    out = np.empty((frame.side, frame.side), np.int64)
    native.spread(points, **frame._origin(), out=out, threads=threads)
    return out


def forces(
    near: Neighborhood, points: Floats, field: Floats, frame: Frame, *, attraction: float, threads: int = 1
) -> Floats:
    """Return ``attraction * sum_j w_ij (y_j - y_i) / (1 + |y_j - y_i|^2)``, plus the field (side, side, 2) at y_i.

    Examples
    --------
    >>> pair = Neighborhood(np.array([0, 1, 2]), np.array([1, 0], np.int32), np.ones(2, np.float32))
    >>> points, still = np.array([[0, 0], [1, 0]], np.float32), np.zeros((2, 2, 2), np.float32)
    >>> forces(pair, points, still, Frame(0.0, 0.0, 1.0, 2), attraction=2.0).tolist()
    [[1.0, 0.0], [-1.0, 0.0]]
    """
    out = np.empty_like(points)
    native.forces(
        near.indptr,
        near.indices,
        near.weights,
        points,
        field,
        **frame._origin(),
        attraction=attraction,
        out=out,
        threads=threads,
    )
    return out


class Motion(NamedTuple):
    """Points in motion: positions, velocities, and a gain of each coordinate."""

    points: Floats  # (n, 2)
    velocity: Floats  # (n, 2)
    gains: Floats  # (n, 2)

    @classmethod
    def from_rest(cls, points: Floats) -> Motion:
        """Return points at rest."""
        return cls(points, np.zeros_like(points), np.ones_like(points))


def move(motion: Motion, forces: Floats, *, momentum: float, rate: float, farthest: float, threads: int = 1) -> None:
    """Make one step: ``v = momentum * v + rate * gain * force``, at most `farthest` along each axis.

    A gain grows while force and motion agree, and shrinks where they do not (Jacobs, Neural Networks 1988).

    Examples
    --------
    >>> motion = Motion.from_rest(np.zeros((1, 2), np.float32))
    >>> move(motion, np.array([[1, -1]], np.float32), momentum=0.5, rate=1.0, farthest=1.0)
    >>> motion.points.round(3).tolist()
    [[0.800000011920929, -1.0]]
    """
    points, velocity, gains = motion
    native.move(forces, velocity, gains, points, momentum=momentum, rate=rate, farthest=farthest, threads=threads)
