"""The labels of the nodes of a session."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.display.maps.classes import Classes
from graphrefine.explore.columns import CategoryColumn
from graphrefine.graph.graph import Graph
from graphrefine.readers.labels import align, as_labels


class NodeLabels:
    """The labels of each row, those of most nodes first.

    Examples
    --------
    >>> labels = NodeLabels(["red", "blue", "red"], np.arange(3))
    >>> labels.of(1), labels.classes, labels.labeled, labels.mask("red").tolist()
    (['blue'], ['red', 'blue'], 3, [True, False, True])
    """

    def __init__(self, labels: Any, names: NDArray[Any], graph: Graph | None = None) -> None:
        table = as_labels(labels, names=names, graph=graph)
        aligned = align(table, names, unlabeled="keep")
        self.listed, self.missing = len(table.names), aligned.missing  # labeled nodes, and those not in the embedding
        counts = np.asarray(aligned.indicator.sum(axis=0)).ravel()
        ranked = np.argsort(-counts, kind="stable")
        ranked = ranked[counts[ranked] > 0]
        self.classes = [table.classes[each] for each in ranked.tolist()]
        self.indicator = aligned.indicator[np.argsort(aligned.order)][:, ranked].tocsr()  # (n, classes)
        self.indicator.sort_indices()
        self.labeled = int(np.count_nonzero(np.diff(self.indicator.indptr)))
        self._codes = {name: code for code, name in enumerate(self.classes)}
        self.mask = lru_cache(maxsize=8)(self._mask)

    def of(self, row: int) -> list[str]:
        """The labels of a row."""
        start, stop = self.indicator.indptr[row : row + 2]
        return [self.classes[code] for code in self.indicator.indices[start:stop].tolist()]

    def __contains__(self, label: str) -> bool:
        return label in self._codes

    def _mask(self, label: str) -> NDArray[np.bool_]:
        """Whether each row has a label.  # (n,)."""
        mask: NDArray[np.bool_] = self.indicator[:, [self._codes[label]]].toarray().ravel()
        return mask

    def column(self) -> CategoryColumn:
        """The label of each row that most nodes have."""
        first = np.full(self.indicator.shape[0], -1, np.int32)
        labeled = np.diff(self.indicator.indptr) > 0
        first[labeled] = self.indicator.indices[self.indicator.indptr[:-1][labeled]]
        return CategoryColumn(Classes.rank(first, self.classes))
