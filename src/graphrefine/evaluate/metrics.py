"""Metrics: of predicted labels (Micro and Macro F1, in percent), and of scores of links (average precision, ranks).

**Labels.** A row with m labels is given the m classes of highest score. Each metric is a function of three counts of
each class: rows that were given it rightly, rows that were given it, rows that have it. A further metric is an entry of
`METRICS`; results, tables, JSON and comparisons list all entries.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphrefine.evaluate.logistic import Classifiers

# Ties are counted as chance would break them: a pair of equal scores is half in the right order, and a rank among
# equals is the middle one. So scores that are all equal give an AUC of 1/2, and collapsed vectors do not look perfect.

BLOCK = 8192  # rows scored at a time
HITS = (1, 10, 50)
LINK_METRICS = {  # of links: name in JSON -> title in a table, and decimals there
    "auc": ("AUC", 4),
    "ap": ("AP", 4),
    "mr": ("MR", 1),
    "mrr": ("MRR", 4),
    **{f"hits@{k}": (f"HITS@{k}", 4) for k in HITS},
}

Bool = NDArray[np.bool_]
Counts = NDArray[np.int64]
Floats = NDArray[np.floating[Any]]
Indicator: TypeAlias = "sp.csr_array[np.bool_]"  # as a string: SciPy has no such index before 1.16


class ClassCounts(NamedTuple):
    """Numbers of rows for each class."""

    hits: Counts  # (classes,): rows that have the class and were given it
    predicted: Counts  # (classes,): rows that were given it
    true: Counts  # (classes,): rows that have it


class Metric(NamedTuple):
    """A measure of predicted labels, and its title in tables."""

    title: str
    measure: Callable[[ClassCounts], float]


def micro_f1(counts: ClassCounts) -> float:
    """Return F1 of all classes together, in percent."""
    hits, predicted, true = (each.sum() for each in counts)
    return 100 * float(2 * hits / max(predicted + true, 1))


def macro_f1(counts: ClassCounts) -> float:
    """Return the mean of the F1 of each class, in percent; 0 for a class without a hit."""
    each = 2 * counts.hits / np.maximum(counts.predicted + counts.true, 1)
    return 100 * float(each.mean())


METRICS = {  # name in JSON -> title in tables, function
    "micro_f1": Metric("Micro F1", micro_f1),
    "macro_f1": Metric("Macro F1", macro_f1),
}


def measure_labels(classifiers: Classifiers, rows: NDArray[np.float32], truth: Indicator) -> dict[str, float]:
    """Measure all `METRICS` of the labels that classifiers predict."""
    counts = ClassCounts(*np.zeros((3, truth.shape[1]), np.int64))
    for lo in range(0, len(rows), BLOCK):
        true = truth[lo : lo + BLOCK].toarray()
        predicted = top_classes(classifiers.decision(rows[lo : lo + BLOCK]), true.sum(axis=1))
        for count, marks in zip(counts, (predicted & true, predicted, true), strict=True):
            count += marks.sum(axis=0)
    return {name: metric.measure(counts) for name, metric in METRICS.items()}


def top_classes(scores: NDArray[np.float64], counts: NDArray[Any]) -> Bool:
    """Mark the `counts[i]` classes of highest score in each row i; the first of equals."""
    ranking = np.argsort(-scores, axis=1, kind="stable")
    marks = np.arange(scores.shape[1]) < counts[:, None]
    predicted = np.zeros(scores.shape, np.bool_)
    np.put_along_axis(predicted, ranking, marks, axis=1)
    return predicted


def average_precision(true: Floats, false: Floats) -> float:
    """Return the mean, over the true scores, of the precision among all scores that are as high or higher.

    Examples
    --------
    The first true score is first (precision 1/1), the second is fourth, level with a false one (2/4):

    >>> average_precision(np.array([3.0, 1.0]), np.array([2.0, 1.0, 0.0]))
    0.75
    """
    right = len(true) - np.searchsorted(np.sort(true), true, side="left")  # true scores at or above each
    wrong = len(false) - np.searchsorted(np.sort(false), true, side="left")
    return float(np.mean(right / (right + wrong)))


def middle_ranks(scores: Floats, true: Floats, *, tolerance: Floats) -> NDArray[np.float64]:
    """Return the rank of each true score among the scores in its row, from 1; the middle rank among equals.

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


def rank_stats(ranks: NDArray[np.float64]) -> dict[str, float]:
    """Return the mean rank, mean of 1/rank, and the part of the ranks that are at most 1, 10 and 50.

    Examples
    --------
    >>> rank_stats(np.array([1.0, 4.0]))
    {'mr': 2.5, 'mrr': 0.625, 'hits@1': 0.5, 'hits@10': 1.0, 'hits@50': 1.0}
    """
    hits = {f"hits@{k}": float((ranks <= k).mean()) for k in HITS}
    return {"mr": float(ranks.mean()), "mrr": float((1 / ranks).mean()), **hits}
