"""Which class each point of a map is shown as: the most frequent classes have a colour each, the rest are one."""

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

    def most_frequent(self, many: int) -> Classes:
        """So many classes, the others as one that comes last.

        Examples
        --------
        >>> classes = Classes(("b", "a", "c"), np.array([1, 0, 0, 2, -1], np.int32), np.array([2, 1, 1]))
        >>> few = classes.most_frequent(2)
        >>> few.names, few.codes.tolist(), few.counts.tolist()
        (('b', 'other'), [1, 0, 0, 1, -1], [2, 2])
        """
        if len(self.names) <= many:
            return self
        kept = many - 1
        counts = np.append(self.counts[:kept], self.counts[kept:].sum())
        return Classes((*self.names[:kept], OTHER), np.minimum(self.codes, np.int32(kept)), counts, self.missing)


def classes_of(labels: Any, names: NDArray[Any]) -> Classes:
    """The class of each node; of a node with several labels, the one that most nodes have.

    Examples
    --------
    >>> found = classes_of([[1, 0], [1, 1], [1, 0], [0, 1]], np.arange(4))
    >>> found.names, found.codes.tolist(), found.counts.tolist()
    (('0', '1'), [0, 0, 0, 1], [3, 1])
    """
    known = as_labels(labels)
    order, indicator, missing = align(known, names, unlabelled="drop")
    frequent = np.argsort(-np.asarray(indicator.sum(axis=0)).ravel(), kind="stable")
    rank = np.empty(len(frequent), np.int32)
    rank[frequent] = np.arange(len(frequent), dtype=np.int32)
    codes = np.full(len(names), -1, np.int32)
    if len(order):
        codes[order] = np.minimum.reduceat(rank[indicator.indices], indicator.indptr[:-1].astype(np.int64))
    counts = np.bincount(codes[codes >= 0], minlength=len(frequent))
    shown = np.argsort(-counts, kind="stable")
    place = np.empty(len(shown), np.int32)
    place[shown] = np.arange(len(shown), dtype=np.int32)
    codes[codes >= 0] = place[codes[codes >= 0]]
    kept = int((counts > 0).sum())
    return Classes(tuple(known.classes[frequent[at]] for at in shown[:kept]), codes, counts[shown[:kept]], missing)
