"""The twin of ``native/nearest.cpp``: the nearest rows of queries, in NumPy; the same but for the rounding of sums."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphrefine.system.threads import one_blas_thread

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]

_CELLS = 1 << 24  # scores in memory at a time


@one_blas_thread()
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
    """See `graphrefine.kernels.nearest.nearest`; one thread, for any number of ``threads``."""
    nearest_rows[:], scores[:] = -1, -np.inf
    block = max(_CELLS // max(len(queries), 1), 256)
    for lo in range(0, len(rows), block):
        each = queries @ rows[lo : lo + block].T  # (q, block)
        if scale is not None:
            each *= scale[lo : lo + block]
        if added is not None:
            each += added[lo : lo + block]
        if bounds is not None and left_out is not None:
            query = np.repeat(np.arange(len(queries)), np.diff(bounds))
            here = (left_out >= lo) & (left_out < lo + block)
            each[query[here], left_out[here] - lo] = -np.inf
        each[np.isnan(each)] = -np.inf
        _merge(nearest_rows, scores, each, lo)


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


def _merge(nearest_rows: Ints, scores: Floats, each: Floats, first: int) -> None:
    """Take up the scores of a block of rows, the first of which has the number `first`."""
    keep = nearest_rows.shape[1]
    for query, row_scores in enumerate(each):
        better = np.flatnonzero(row_scores > (scores[query, -1] if keep else np.inf))
        if len(better) > keep:  # those at or above the last one to keep: few, unless most are equal
            least = np.partition(row_scores[better], len(better) - keep)[len(better) - keep]
            better = better[row_scores[better] >= least]
        rows = np.concatenate([nearest_rows[query], better + first])
        all_scores = np.concatenate([scores[query], row_scores[better]])
        order = np.argsort(-all_scores, kind="stable")[:keep]  # earlier rows come first, so ties stay in their order
        nearest_rows[query], scores[query] = rows[order], all_scores[order]
