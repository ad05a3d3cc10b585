"""A graph as a linear operator, whose entries are formed from the row, the column and the edge.

``entry(i, j) = row_scale[i] * (edge(i, j) + constant + row_shift[i] + column_shift[j]) * column_scale[j]``

on the edges, plus ``row_scale[i] * loop * column_scale[i]`` at (i, i).
Entries are never stored: a product forms them as it goes.

* `proximity`: the log-proximity matrix M of Eqs. 2-4.
* `transition`: the transition matrix T of Eq. 7.
* `adjacency`: A itself, or A with loops.
* `walk`: a step of a random walk.
* `EdgeStrengths`: walks, and A between powers of the degrees, by the weights or by the logarithms of these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from graphrefine.graph.adjacency import inverses, sums_of_rows
from graphrefine.kernels import exact

if TYPE_CHECKING:
    import scipy.sparse as sp

    from graphrefine.graph.graph import Graph

Floats = NDArray[np.float32]
Edge = Literal["none", "weight", "log", "log1p"]  # term of an edge of weight w: 0, w, ln w or ln(1 + w / unit)
EDGE_TERMS: dict[Edge, Callable[..., Any] | None] = {
    "none": None,
    "weight": np.asarray,
    "log": lambda weights: _in_pieces(exact.log, weights),
    "log1p": lambda weights: _in_pieces(exact.log1p, weights),
}
PIECE = 1 << 16  # weights whose logarithms are in float64 at a time: 0.5 MB, which stays in the cache
ENTRIES = 1 << 20  # of a graph that are read together, where it is on disk
DIGITS = 1 << 16  # values of half of the bits of a float32


def edge_terms(edge: Edge, weights: Floats | None, unit: float = 1.0) -> Floats | None:
    """Return the terms of edges with these weights; None where they have none."""
    term = EDGE_TERMS[edge]
    return None if term is None or weights is None else term(weights if unit == 1.0 else weights / np.float32(unit))


@dataclass(frozen=True, eq=False)
class Operator:
    """A sparse matrix on the pattern of a graph, described rather than stored."""

    graph: Graph
    edge: Edge = "none"
    unit: float = 1.0  # of weights, in the term "log1p"
    constant: float = 0.0
    loop: float = 0.0
    row_shift: Floats | None = None  # (n,)
    column_shift: Floats | None = None  # (n,)
    row_scale: Floats | None = None  # (n,)
    column_scale: Floats | None = None  # (n,)
    transposed: bool = False  # on the pattern of the reversed arcs
    base: float = field(init=False)  # term of every entry: the constant, and 1 for each edge of an unweighted graph

    def __post_init__(self) -> None:
        ones = self.edge == "weight" and self.graph.weights is None
        object.__setattr__(self, "base", self.constant + (1.0 if ones else 0.0))

    @property
    def T(self) -> Operator:  # noqa: N802  as NumPy's
        """The transpose: rows and columns are exchanged, arcs are reversed."""
        return replace(
            self,
            row_shift=self.column_shift,
            column_shift=self.row_shift,
            row_scale=self.column_scale,
            column_scale=self.row_scale,
            transposed=not self.transposed,
        )

    @property
    def pattern(self) -> Graph:
        """The graph whose row i holds the columns of row i of the operator."""
        return self.graph.transposed() if self.transposed else self.graph

    def to_scipy(self) -> sp.csr_array:
        """Return the matrix itself, for tests and small graphs."""
        import scipy.sparse as sp

        pattern, nodes = self.pattern, self.pattern.nodes
        row = np.repeat(np.arange(nodes), np.diff(pattern.indptr))
        entries = np.full(len(pattern.indices), self.base, np.float32)
        for term in (
            edge_terms(self.edge, pattern.weights, self.unit),
            None if self.row_shift is None else self.row_shift[row],
            None if self.column_shift is None else self.column_shift[pattern.indices],
        ):
            entries += np.float32(0) if term is None else term
        matrix = sp.csr_array((entries, pattern.indices, pattern.indptr), shape=(nodes, nodes))
        if self.loop:
            matrix = sp.csr_array(matrix + sp.diags_array(np.full(nodes, self.loop, np.float32)))
        if self.row_scale is not None:
            matrix = sp.csr_array(sp.diags_array(self.row_scale) @ matrix)
        if self.column_scale is not None:
            matrix = sp.csr_array(matrix @ sp.diags_array(self.column_scale))
        return matrix.astype(np.float32)


def proximity(
    graph: Graph, *, negative: float = 1.0, exponent: float = 0.75, log_weights: bool = True, threads: int = 1
) -> Operator:
    """Return M of Eqs. 2-4: ``M_ij = ln p_ij - ln(negative * phi_j)`` on the edges, with ``p_ij = A_ij / d_i``.

    ``phi_j``, the context distribution of Eq. 2, is the column sum of the p_ij, raised to ``exponent`` (1 in the paper,
    0.75 in the authors' code) and normalized. ``log_weights=False`` leaves out ln A_ij, as the authors' code does: then
    weights count only through the degrees.

    Examples
    --------
    >>> from graphrefine.graph.graph import Graph
    >>> star = Graph.from_edges([0, 0], [1, 2])
    >>> proximity(star, exponent=1.0).to_scipy().toarray().astype(float).round(3).tolist()
    [[0.0, 1.099, 1.099], [0.405, 0.0, 0.0], [0.405, 0.0, 0.0]]
    """
    degree = graph.degrees()  # (n,), out of each node
    sums = graph.context(threads=threads)
    context = exact.power_where(sums > 0, sums, exponent)
    return Operator(
        graph,
        edge="log" if log_weights else "none",
        row_shift=-_log(degree).astype(np.float32),
        column_shift=-(_log(context / (context.sum() or 1.0)) + exact.log(negative)).astype(np.float32),
    )


def transition(graph: Graph, *, loop: float = 1.0, degrees: NDArray[np.float64] | None = None) -> Operator:
    """Return T of Eq. 7: the rows of ``A + loop I`` divided by their sums; the authors' code has ``loop = 1``.

    The self-loop keeps part of a node's own vector, and makes T a proper average on sinks and isolated nodes too.
    ``degrees`` are the graph's, summed here if not given.

    Examples
    --------
    >>> from graphrefine.graph.graph import Graph
    >>> transition(Graph.from_edges([0, 0], [1, 2])).to_scipy().toarray().astype(float).round(3).tolist()
    [[0.333, 0.333, 0.333], [0.5, 0.5, 0.0], [0.5, 0.0, 0.5]]
    """
    sums = graph.degrees() if degrees is None else degrees
    return Operator(graph, edge="weight", loop=loop, row_scale=(1.0 / (sums + loop)).astype(np.float32))


def adjacency(graph: Graph, *, loop: float = 0.0, scale: float = 1.0) -> Operator:
    """Return ``scale (A + loop I)``, weights included.

    Examples
    --------
    >>> from graphrefine.graph.graph import Graph
    >>> adjacency(Graph.from_edges([0, 0], [1, 2])).to_scipy().toarray().astype(int).tolist()
    [[0, 1, 1], [1, 0, 0], [1, 0, 0]]
    """
    row_scale = None if scale == 1.0 else np.full(graph.nodes, scale, np.float32)
    return Operator(graph, edge="weight", loop=loop, row_scale=row_scale)


def walk(graph: Graph) -> Operator:
    """Return ``D^-1 A``, the transition matrix of a random walk; the row of a node without edges out of it is zero.

    Examples
    --------
    >>> from graphrefine.graph.graph import Graph
    >>> walk(Graph.from_edges([0, 0], [1, 2])).to_scipy().toarray().tolist()
    [[0.0, 0.5, 0.5], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]
    """
    return EdgeStrengths(graph).walk()


def inverse_degrees(graph: Graph) -> NDArray[np.float64]:
    """Return 1 / degree; zero for nodes without edges."""
    return inverses(graph.degrees())


class EdgeStrengths:
    """Edges of a graph, each as strong as its weight, or as ``log(1 + weight / unit)``, and the degrees that follow.

    The graph is not copied: an engine takes the logarithms of the weights that it reads.

    Examples
    --------
    >>> from graphrefine.graph.graph import Graph
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
        """Return ``D^-1 A``, the step of a random walk."""
        scale = inverses(self.degrees).astype(np.float32)
        return Operator(self.graph, edge=self.edge, unit=self.unit, row_scale=scale)

    def normalized(self, exponent: float) -> Operator:
        """Return ``D^-exponent A D^-exponent``, zero for nodes without edges."""
        scale = exact.power_where(self.degrees > 0, self.degrees, -exponent).astype(np.float32)
        return Operator(self.graph, edge=self.edge, unit=self.unit, row_scale=scale, column_scale=scale)


def by_logarithm(graph: Graph) -> EdgeStrengths:
    """Return strengths of ``log(1 + weight / median)``; 1 without weights."""
    # By the median the vectors do not depend on the unit of the weights: seconds and hours of calls give the same.
    if graph.weights is None:
        return EdgeStrengths(graph)
    return EdgeStrengths(graph, "log1p", float(median(graph.weights)))


def median(weights: NDArray[np.float32]) -> np.float32:
    """Return NumPy's median of positive numbers, in two passes that copy none of them."""
    # Weights may be in a file larger than the memory, and `np.median` sorts a copy. The bits of a positive float, read
    # as an integer, grow with it: the first pass counts their upper halves, the second the lower halves of the numbers
    # whose upper half is that of the middle.
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
    """Yield rows whose entries are read together: `ENTRIES` or a row."""
    start, nodes = 0, len(indptr) - 1
    while start < nodes:
        stop = int(np.searchsorted(indptr, indptr[start] + ENTRIES, side="right")) - 1
        stop = min(max(stop, start + 1), nodes)
        yield slice(start, stop)
        start = stop


def _log(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the logarithm of positive numbers; zero for rows and columns without entries."""
    return np.where(x > 0, exact.log(np.where(x > 0, x, 1.0)), 0.0)


def _in_pieces(function: Callable[[Floats], NDArray[np.float64]], weights: Floats) -> Floats:
    """Return a function of weights, in float64 and rounded to float32."""
    out = np.empty(len(weights), np.float32)
    for start in range(0, len(weights), PIECE):
        out[start : start + PIECE] = function(np.asarray(weights[start : start + PIECE]))
    return out
