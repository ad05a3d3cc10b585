"""Strengths of edges: weights as they are or by their logarithm, and the degrees that follow from them.

The graph is not copied: an engine takes the logarithms of the weights that it reads (`operators.Edge`, "log1p").
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from graphrefine.graph.adjacency import sums_of_rows
from graphrefine.graph.graph import Graph
from graphrefine.linalg.operators import Edge, Operator, edge_terms, normalized, walk

ENTRIES = 1 << 20  # of a graph that are read together
DIGITS = 1 << 16  # values of half of the bits of a float32


class EdgeStrengths:
    """Edges of a graph, each as strong as its weight, or as ``log(1 + weight / unit)``.

    Examples
    --------
    >>> path = Graph.from_edges([0, 1], [1, 2], [1.0, 3.0])
    >>> EdgeStrengths(path).degrees.tolist(), EdgeStrengths(path, "log1p", unit=1.0).degrees.round(3).tolist()
    ([1.0, 4.0, 3.0], [0.693, 2.079, 1.386])
    """

    def __init__(self, graph: Graph, edge: Edge = "weight", unit: float = 1.0) -> None:
        self.graph, self.edge, self.unit = graph, edge, unit

    @cached_property
    def degrees(self) -> NDArray[np.float64]:
        """Sum of each row.  # (n,)."""
        if self.edge == "weight":
            return self.graph.degrees()
        sums = np.empty(self.graph.nodes)
        for rows in spans(self.graph.indptr):
            part = self.graph.rows(rows.start, rows.stop)
            sums[rows] = sums_of_rows(part.indptr, edge_terms(self.edge, part.weights, self.unit))
        return sums

    def walk(self) -> Operator:
        """Return the step of a random walk: `operators.walk`."""
        return walk(self.graph, edge=self.edge, unit=self.unit, degrees=self.degrees)

    def normalized(self, exponent: float) -> Operator:
        """Return the strengths between powers of the degrees: `operators.normalized`."""
        return normalized(self.graph, exponent, edge=self.edge, unit=self.unit, degrees=self.degrees)


def by_logarithm(graph: Graph) -> EdgeStrengths:
    """Return strengths of ``log(1 + weight / median)``, whatever the unit of weights; 1 without weights."""
    return (
        EdgeStrengths(graph) if graph.weights is None else EdgeStrengths(graph, "log1p", float(median(graph.weights)))
    )


def median(weights: NDArray[np.float32]) -> np.float32:
    """Return NumPy's median of positive numbers, by two passes that copy none: they may be in a file.

    The bits of such a number, read as an integer, grow with it: the first pass counts their upper halves, the second
    the lower halves of those numbers whose upper half is that of the middle.

    Examples
    --------
    >>> float(median(np.array([5, 1, 3, 2], np.float32)))
    2.5
    """
    middle = {(len(weights) - 1) // 2, len(weights) // 2}
    return np.mean([_in_order(weights, index) for index in sorted(middle)], dtype=np.float32)


def _in_order(weights: NDArray[np.float32], index: int) -> np.float32:
    """Return the number at an index of the sorted ones."""
    upper = np.zeros(DIGITS, np.int64)
    for bits in _pieces(weights):
        upper += np.bincount(bits >> 16, minlength=DIGITS)
    half = int(np.searchsorted(np.cumsum(upper), index, side="right"))
    lower = np.zeros(DIGITS, np.int64)
    for bits in _pieces(weights):
        lower += np.bincount(bits[bits >> 16 == half] & (DIGITS - 1), minlength=DIGITS)
    before = int(upper[:half].sum())
    whole = half << 16 | int(np.searchsorted(np.cumsum(lower), index - before, side="right"))
    number: np.float32 = np.array([whole], np.uint32).view(np.float32)[0]
    return number


def _pieces(weights: NDArray[np.float32]) -> Iterator[NDArray[np.uint32]]:
    for start in range(0, len(weights), ENTRIES):
        yield np.asarray(weights[start : start + ENTRIES]).view(np.uint32)


def spans(indptr: NDArray[np.int64]) -> Iterator[slice]:
    """Yield rows whose entries are read together: `ENTRIES` or a row.

    Examples
    --------
    >>> [(rows.start, rows.stop) for rows in spans(np.array([0, 9, ENTRIES, ENTRIES + 1]))]
    [(0, 2), (2, 3)]
    """
    start, nodes = 0, len(indptr) - 1
    while start < nodes:
        stop = int(np.searchsorted(indptr, indptr[start] + ENTRIES, side="right")) - 1
        stop = min(max(stop, start + 1), nodes)
        yield slice(start, stop)
        start = stop
