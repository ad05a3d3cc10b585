"""Nearest rows of queries, in NumPy; the same but for the rounding of sums."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]


def nearest(
    queries: Floats,
    rows: Floats,
    nearest_rows: Ints,
    scores: Floats,
    *,
    scale: Floats | None,
    added: Floats | None,
    bounds: Ints | None,
    left_out: Ints | None,
    threads: int,
) -> None:
    """See `graphrefine.kernels.nearest.nearest`."""
    all_scores = queries @ rows.T  # (q, n)
    if scale is not None:
        all_scores *= scale
    if added is not None:
        all_scores += added
    if bounds is not None and left_out is not None:
        all_scores[np.repeat(np.arange(len(queries)), np.diff(bounds)), left_out] = -np.inf
    all_scores[np.isnan(all_scores)] = -np.inf
    best = np.argsort(-all_scores, axis=1, kind="stable")[:, : scores.shape[1]]  # of equal ones the earlier row
    found = np.take_along_axis(all_scores, best, axis=1)
    nearest_rows[:], scores[:] = -1, -np.inf
    nearest_rows[:, : best.shape[1]] = np.where(found > -np.inf, best, -1)
    scores[:, : best.shape[1]] = found


def rank_scores(scores: Floats, rows: Ints, values: Floats, ranks: NDArray[np.float64]) -> None:
    """Put into ``ranks`` how many numbers of row ``rows[i]`` are above ``values[i]``, and half of those equal to it.

    Examples
    --------
    >>> ranks = np.empty(2)
    >>> rank_scores(np.array([[5, 1, 3, 3]], np.float32), np.array([0, 0]), np.array([3, 9], np.float32), ranks)
    >>> ranks.tolist()
    [2.0, 0.0]
    """
    each, wanted = scores[rows], values[:, None]
    ranks[:] = np.count_nonzero(each > wanted, axis=1) + np.count_nonzero(each == wanted, axis=1) / 2
