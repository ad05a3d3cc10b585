"""Classes of nodes, the most frequent first, for pictures, pages and tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.readers.labels import align, as_labels

OTHER = "other"


class Classes(NamedTuple):
    """A class for each row."""

    names: tuple[str, ...]  # the most frequent first
    codes: NDArray[np.int32]  # (n,): positions in `names`; -1 without a class
    counts: NDArray[np.int64]  # rows of each class
    missing: int = 0  # labeled nodes that are not among the rows

    @classmethod
    def rank(cls, codes: NDArray[Any], names: Sequence[str], missing: int = 0) -> Classes:
        """Make classes of codes and names in any order: the most frequent first, those of no row left out."""
        counts = np.bincount(codes[codes >= 0], minlength=len(names))
        order = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)]
        rank = np.full(len(names) + 1, -1, np.int32)  # the last is that of -1
        rank[order] = np.arange(len(order), dtype=np.int32)
        return cls(tuple(names[each] for each in order.tolist()), rank[codes], counts[order], missing)

    def most_frequent(self, count: int) -> Classes:
        """Return at most this number of classes; the rest become one, which comes last."""
        if len(self.names) <= count:
            return self
        rest = count - 1
        counts = np.append(self.counts[:rest], self.counts[rest:].sum())
        return Classes((*self.names[:rest], OTHER), np.minimum(self.codes, np.int32(rest)), counts, self.missing)


def assign_classes(labels: Any, names: NDArray[Any]) -> Classes:
    """Return the class of each node; of a node with several labels, the one that most nodes have.

    Examples
    --------
    >>> classes = assign_classes([[1, 0], [1, 1], [1, 0], [0, 1]], np.arange(4))
    >>> classes.names, classes.codes.tolist(), classes.counts.tolist()
    (('0', '1'), [0, 0, 0, 1], [3, 1])
    """
    table = as_labels(labels, names=names)
    order, indicator, missing = align(table, names, unlabeled="drop")
    frequent = np.argsort(-np.asarray(indicator.sum(axis=0)).ravel(), kind="stable")
    codes = np.full(len(names), -1, np.int64)
    if len(order):
        rank = np.argsort(frequent)
        codes[order] = np.minimum.reduceat(rank[indicator.indices], indicator.indptr[:-1].astype(np.int64))
    return Classes.rank(codes, [table.classes[each] for each in frequent.tolist()], missing)
