"""Class of each point of a map: the most frequent classes have a colour each, the rest are one."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.readers.labels import align, as_labels

OTHER = "other"


class Classes(NamedTuple):
    """A class for each point."""

    names: tuple[str, ...]  # the most frequent first
    codes: NDArray[np.int32]  # (n,): positions in `names`; -1 without a label
    counts: NDArray[np.int64]  # points of each class
    missing: int = 0  # labelled nodes that are not on the map

    def most_frequent(self, count: int) -> Classes:
        """At most this number of classes; the rest become one, which comes last.

        Examples
        --------
        >>> classes = Classes(("b", "a", "c"), np.array([1, 0, 0, 2, -1], np.int32), np.array([2, 1, 1]))
        >>> two = classes.most_frequent(2)
        >>> two.names, two.codes.tolist(), two.counts.tolist()
        (('b', 'other'), [1, 0, 0, 1, -1], [2, 2])
        """
        if len(self.names) <= count:
            return self
        rest = count - 1
        counts = np.append(self.counts[:rest], self.counts[rest:].sum())
        return Classes((*self.names[:rest], OTHER), np.minimum(self.codes, np.int32(rest)), counts, self.missing)


def assign_classes(labels: Any, names: NDArray[Any]) -> Classes:
    """The class of each node; of a node with several labels, the one that most nodes have.

    Examples
    --------
    >>> classes = assign_classes([[1, 0], [1, 1], [1, 0], [0, 1]], np.arange(4))
    >>> classes.names, classes.codes.tolist(), classes.counts.tolist()
    (('0', '1'), [0, 0, 0, 1], [3, 1])
    """
    table = as_labels(labels)
    order, indicator, missing = align(table, names, unlabelled="drop")
    frequent = np.argsort(-np.asarray(indicator.sum(axis=0)).ravel(), kind="stable")
    rank = np.empty(len(frequent), np.int32)
    rank[frequent] = np.arange(len(frequent), dtype=np.int32)
    codes = np.full(len(names), -1, np.int32)
    if len(order):
        codes[order] = np.minimum.reduceat(rank[indicator.indices], indicator.indptr[:-1].astype(np.int64))
    counts = np.bincount(codes[codes >= 0], minlength=len(frequent))
    largest = np.argsort(-counts, kind="stable")
    place = np.empty(len(largest), np.int32)
    place[largest] = np.arange(len(largest), dtype=np.int32)
    codes[codes >= 0] = place[codes[codes >= 0]]
    largest = largest[: int((counts > 0).sum())]
    return Classes(tuple(table.classes[frequent[rank]] for rank in largest), codes, counts[largest], missing)
