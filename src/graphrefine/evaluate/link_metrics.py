"""Metrics of scores of links: average precision, and the ranks of edges among corruptions.

`graphrefine.embedding.scores.auc` belongs to them. Ties are counted as chance would break them: a pair of equal
scores is half in the right order, and a rank among equals is the middle one. So scores that are all equal give an AUC
of 1/2, not 0 or 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

HITS = (1, 10, 50)

Floats = NDArray[np.floating[Any]]


def average_precision(true: Floats, false: Floats) -> float:
    """Mean, over the true scores, of the precision among all scores that are as high or higher.

    Examples
    --------
    The first true score stands first (precision 1/1), the second stands fourth, level with a false one (2/4):

    >>> average_precision(np.array([3.0, 1.0]), np.array([2.0, 1.0, 0.0]))
    0.75
    """
    right = len(true) - np.searchsorted(np.sort(true), true, side="left")  # true scores at or above each
    wrong = len(false) - np.searchsorted(np.sort(false), true, side="left")
    return float(np.mean(right / (right + wrong)))


def middle_ranks(scores: Floats, true: Floats, *, tolerance: Floats) -> NDArray[np.float64]:
    """Rank of each true score among the scores in its row, from 1; the middle rank among equals.

    Parameters
    ----------
    scores : ndarray (m, c)
        Scores of the corruptions; ``-inf`` for those that do not count.
    true : ndarray (m,)
        Scores of the edges.
    tolerance : ndarray (m,)
        Scores that differ by no more are equal: sums of the same numbers differ in their last bits.

    Examples
    --------
    >>> middle_ranks(np.array([[5.0, 3.0, 3.0, -np.inf]]), np.array([3.0]), tolerance=np.array([0.0])).tolist()
    [3.0]
    """
    above = (scores > (true + tolerance)[:, None]).sum(axis=1)
    level = (scores >= (true - tolerance)[:, None]).sum(axis=1)
    ranks: NDArray[np.float64] = 1 + (above + level) / 2
    return ranks


def rank_figures(ranks: NDArray[np.float64]) -> dict[str, float]:
    """Mean rank, mean of 1/rank, and the part of the ranks that are at most 1, 10 and 50.

    Examples
    --------
    >>> rank_figures(np.array([1.0, 4.0]))
    {'mr': 2.5, 'mrr': 0.625, 'hits@1': 0.5, 'hits@10': 1.0, 'hits@50': 1.0}
    """
    hits = {f"hits@{k}": float((ranks <= k).mean()) for k in HITS}
    return {"mr": float(ranks.mean()), "mrr": float((1 / ranks).mean()), **hits}
