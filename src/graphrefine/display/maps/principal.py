"""The principal plane, in which vectors differ most: exact, some rows at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.engine.engine import descending_eigh
from graphrefine.system.threads import map_tasks, one_blas_thread, run_tasks

Floats = NDArray[np.float32]

TASK_ROWS = 1 << 13  # rows of a task of a thread


def project(vectors: Floats, points: NDArray[Any], *, threads: int = 1) -> Floats:
    """Return coordinates of points, rows of `vectors`, along the two axes in which they differ most.  # (n, 2).

    ``C = sum_i (x_i - m)(x_i - m)^T`` is summed in float64; its eigenvectors are the axes, their signs fixed by
    their largest component.

    Examples
    --------
    >>> line = np.array([[1, 0, 5], [2, 0, 5], [3, 0, 5], [0, 9, 9]], np.float32)
    >>> project(line, np.arange(3)).tolist()
    [[-1.0, 0.0], [0.0, 0.0], [1.0, 0.0]]
    """
    n, k = len(points), vectors.shape[1]
    out = np.zeros((n, 2), np.float32)
    if n < 2 or k == 0:
        return out
    starts = range(0, n, TASK_ROWS)
    whole = n == len(vectors)
    origin = vectors[points[0]].astype(np.float64)  # sums about it lose no digits to a mean far from 0

    def block(start: int) -> Floats:
        rows: Floats = vectors[start : start + TASK_ROWS] if whole else vectors[points[start : start + TASK_ROWS]]
        return rows

    def moments(start: int) -> NDArray[np.float64]:
        differences = block(start) - origin
        return np.vstack([differences.T @ differences, differences.sum(axis=0)])  # (k + 1, k)

    sums = sum(map_tasks(starts, moments, threads), np.zeros((k + 1, k)))
    mean = sums[k] / n
    with one_blas_thread():
        axes = descending_eigh(sums[:k] - n * np.outer(mean, mean))[1][:, :2]
    middle, directions = (origin + mean).astype(np.float32), axes.astype(np.float32)

    def write_coordinates(start: int) -> None:
        out[start : start + TASK_ROWS, : axes.shape[1]] = (block(start) - middle) @ directions

    run_tasks(starts, write_coordinates, threads)
    return out
