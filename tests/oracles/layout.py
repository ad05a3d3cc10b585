"""The kernels of maps, in NumPy: bit for bit, but for the order in which pulls are summed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphrefine.kernels.hashing import mixed
from oracles.walks import below

Floats = NDArray[np.float32]
Rows = NDArray[np.int32]
Cells = NDArray[np.int64]

UNITS = np.float32(1024)
ONE, ZERO = np.float32(1), np.float32(0)


def keep_best(scores: Floats, queries: Rows, candidates: Rows, best: Floats, rows: Rows) -> None:
    """See `graphrefine.kernels.plane.keep_best`."""
    many, k = scores.shape[1], best.shape[1]
    if not many:
        return
    starts = below(mixed(queries.astype(np.uint64)), many)
    rotated = (starts[:, None] + np.arange(many)) % many  # each query begins elsewhere
    offers = np.take_along_axis(scores, rotated, axis=1)
    ids = candidates[rotated]
    offers[ids == queries[:, None]] = -np.inf
    offers, ids = np.hstack([best[queries], offers]), np.hstack([rows[queries], ids])
    order = np.argsort(-offers, axis=1, kind="stable")[:, :k]
    best[queries] = np.take_along_axis(offers, order, axis=1)
    rows[queries] = np.take_along_axis(ids, order, axis=1)


def _cells(
    points: Floats, left: float, bottom: float, inverse: float, side: int
) -> tuple[Cells, Cells, Floats, Floats]:
    """Columns and rows of points on a grid, and their distances into these cells, to the right and up."""
    x = (points[:, 0] - np.float32(left)) * np.float32(inverse)
    y = (points[:, 1] - np.float32(bottom)) * np.float32(inverse)
    most = np.float32(side - 2)
    a, b = (np.clip(np.floor(each), ZERO, most) for each in (x, y))
    right, up = np.clip(x - a, ZERO, ONE), np.clip(y - b, ZERO, ONE)
    return a.astype(np.int64), b.astype(np.int64), right, up


def spread(points: Floats, *, left: float, bottom: float, inverse: float, out: NDArray[np.int64], threads: int) -> None:
    """See `graphrefine.kernels.plane.spread`."""
    side, whole = len(out), int(UNITS)
    column, row, *shares = _cells(points, left, bottom, inverse, side)
    right, up = ((share * UNITS).astype(np.int64) for share in shares)
    out[:] = 0
    for below_it, above in ((0, whole - up), (1, up)):
        for beside, share in ((0, whole - right), (1, right)):
            np.add.at(out, (row + below_it, column + beside), share * above)


def forces(
    indptr: NDArray[np.int64],
    indices: Rows,
    weights: Floats,
    points: Floats,
    field: Floats,
    *,
    left: float,
    bottom: float,
    inverse: float,
    attraction: float,
    out: Floats,
    threads: int,
) -> None:
    """See `graphrefine.kernels.plane.forces`."""
    source = np.repeat(np.arange(len(points)), np.diff(indptr))
    apart = points[indices] - points[source]  # (entries, 2)
    pull = weights / (1 + np.einsum("ij,ij->i", apart, apart))
    column, row, *shares = _cells(points, left, bottom, inverse, len(field))
    right, up = (share[:, None] for share in shares)
    push = (1 - right) * (1 - up) * field[row, column] + right * (1 - up) * field[row, column + 1]
    push += (1 - right) * up * field[row + 1, column] + right * up * field[row + 1, column + 1]
    for axis in range(2):
        sums = np.bincount(source, pull * apart[:, axis], minlength=len(points))
        out[:, axis] = np.float32(attraction) * sums.astype(np.float32) + push[:, axis]


def move(
    forces: Floats,
    velocity: Floats,
    gains: Floats,
    points: Floats,
    *,
    momentum: float,
    rate: float,
    farthest: float,
    threads: int,
) -> None:
    """See `graphrefine.kernels.plane.move`."""
    onward = (forces > 0) == (velocity > 0)
    gains[:] = np.where(onward, gains + np.float32(0.2), np.maximum(gains * np.float32(0.8), np.float32(0.01)))
    step = np.float32(momentum) * velocity + np.float32(rate) * gains * forces
    velocity[:] = np.clip(step, -np.float32(farthest), np.float32(farthest))
    points += velocity
