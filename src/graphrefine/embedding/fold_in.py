"""Vectors for new nodes, from their edges to nodes that have one: no graph, no decomposition, a few small products.

The vectors of the neighbors x_j (unit rows) are added up by their weights, apart for neighbors of few, some and many
edges (three classes, each with a third of all ends of edges), and divided by the length of the whole sum:

``s_c = sum_{j in class c} w_ij x_j / |sum_j w_ij x_j|``,  ``f = (s_1, s_2, s_3, l s_1, l s_2, l s_3)``

with l the node's own ln(1 + degree), standardized. Its vector is

``x = unit(s_1 + s_2 + s_3 + f W)``.

Without W that is the mean of the neighbors, which is close where neighbors are alike, and far off where they are not
(on a graph of words, a noun's neighbors are verbs). W (6k, k) is what the known nodes teach: the ridge regression from
their f to what their own vectors have beyond the mean, over a sample of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.embedding.state import FOLD_BLOCKS
from graphrefine.kernels import PAD, native
from graphrefine.linalg import unit_rows
from graphrefine.system.threads import one_blas_thread

if TYPE_CHECKING:
    from graphrefine.graph.graph import Graph

CLASSES = 3  # of neighbors, by their degrees
# Known nodes to learn from: five for each row of W where k is 128; twice as many gain nothing. With at most ENTRIES
# entries in their rows, learning takes a fraction of a second for any graph.
SAMPLE = 4096
ENTRIES = 1 << 19
NUMBERS_AT_A_TIME = 1 << 19  # of neighbors' vectors in memory: 2 MB, 4096 of them at k = 128
RIDGE = 0.01  # of the mean square of a column
ROUNDS = 2  # among new nodes that are neighbors of each other

Floats = NDArray[np.float32]


class Links(NamedTuple):
    """Rows of an adjacency matrix: the neighbors of some nodes, by the row of their vectors."""

    indptr: NDArray[np.int64]  # (m + 1,)
    indices: NDArray[np.int64]  # (entries,)
    weights: Floats  # (entries,)

    def to(self, mask: NDArray[np.bool_]) -> Links:
        """Return those to neighbors that the mask has."""
        present = mask[self.indices]
        indptr = np.concatenate([[0], np.cumsum(present)])[self.indptr]
        return Links(indptr, self.indices[present], self.weights[present])

    def times(self, rows: Floats) -> Floats:
        """Return the weighted sums of the neighbors' rows.  # (m, k)."""
        k = rows.shape[1]
        # The kernel reads rows of a multiple of PAD numbers, a vector register each.
        padded = np.ascontiguousarray(np.pad(rows, [(0, 0), (0, -k % PAD)]) if k % PAD else rows)
        sums = np.empty((len(self.indptr) - 1, k), np.float32)
        product = native.Product(self.indptr, self.indices.astype(np.int32), columns=len(rows), value=self.weights)
        product.apply(padded, out=sums)
        return sums

    def rows(self, part: slice) -> Links:
        """Return some of the rows."""
        first, last = self.indptr[part.start], self.indptr[part.stop]
        indptr = self.indptr[part.start : part.stop + 1] - first
        return Links(indptr, self.indices[first:last], self.weights[first:last])

    def followed_by(self, other: Links) -> Links:
        """Append the rows of another."""
        indptr = np.concatenate([self.indptr, other.indptr[1:] + self.indptr[-1]])
        indices = np.concatenate([self.indices, other.indices])
        return Links(indptr, indices, np.concatenate([self.weights, other.weights]))

    def without_others(self, nodes: int) -> tuple[Links, NDArray[np.int64]]:
        """Return the same with the neighbors, of ``nodes`` nodes, numbered among themselves; and their rows."""
        there = np.zeros(nodes, np.bool_)
        there[self.indices] = True
        numbers = np.cumsum(there) - 1
        return self._replace(indices=numbers[self.indices]), np.flatnonzero(there)


class Neighbors:
    """Unit rows of neighbors: made once where the vectors are few, else for those of some links at a time."""

    def __init__(self, vectors: Floats) -> None:
        self._vectors = vectors
        self._all = unit_rows(vectors) if vectors.size <= NUMBERS_AT_A_TIME else None
        self.at_a_time = NUMBERS_AT_A_TIME // vectors.shape[1] * (1 if self._all is None else 8)  # entries of links

    def of(self, links: Links) -> tuple[Links, Floats, NDArray[np.int64] | slice]:
        """Return links to rows of a matrix, that matrix, and the vectors that it has the unit rows of."""
        if self._all is not None:
            return links, self._all, slice(None)
        links, used = links.without_others(len(self._vectors))
        return links, unit_rows(self._vectors[used]), used

    def rows(self, nodes: NDArray[np.int64]) -> Floats:
        """Return the unit rows of some nodes."""
        return unit_rows(self._vectors[nodes]) if self._all is None else self._all[nodes]


def parts(ends: NDArray[np.int64], most: int) -> list[slice]:
    """Return slices of rows with at most ``most`` entries, or of one row; ``ends`` count the entries before each."""
    slices, start, rows = [], 0, len(ends) - 1
    while start < rows:
        end = int(np.searchsorted(ends, ends[start] + most, side="right")) - 1
        stop = min(max(end, start + 1), rows)
        slices.append(slice(start, stop))
        start = stop
    return slices


@dataclass(frozen=True)
class Scale:
    """How degrees count: where the classes of neighbors end, and what standardizes a node's own."""

    borders: NDArray[np.float64]  # (CLASSES - 1,)
    middle: float
    spread: float

    @classmethod
    def of(cls, degrees: NDArray[Any]) -> Scale:
        """Return the scale of a graph with these degrees."""
        ordered = np.sort(np.asarray(degrees, np.float64)[degrees > 0])
        if not len(ordered):
            return cls(np.ones(CLASSES - 1), 0.0, 1.0)
        ends = np.cumsum(ordered)
        at = np.searchsorted(ends, ends[-1] * np.arange(1, CLASSES) / CLASSES, side="right")
        logs = np.log1p(ordered)
        return cls(ordered[np.minimum(at, len(ordered) - 1)], float(logs.mean()), float(logs.std()) or 1.0)

    def classes(self, degrees: NDArray[Any]) -> NDArray[np.int64]:
        """Return the class of each degree, from 0."""
        return np.searchsorted(self.borders, degrees, side="right")

    def standardized(self, degrees: NDArray[Any]) -> Floats:
        """Return ln(1 + degree), with the mean 0 and the spread 1 in the graph.  # (m,)."""
        logs: Floats = ((np.log1p(degrees) - self.middle) / self.spread).astype(np.float32)
        return logs


def features(links: Links, rows: Floats, kinds: NDArray[np.int64], own: Floats) -> tuple[Floats, Floats]:
    """Return the mean direction of the neighbors and f, for rows of length 1, their classes, and the nodes' own l."""
    by_class = reduce(Links.followed_by, [links.to(kinds == kind) for kind in range(CLASSES)])
    sums = by_class.times(rows).reshape(CLASSES, len(own), rows.shape[1])
    lengths = np.linalg.norm(sums.sum(axis=0), axis=1)
    sums /= np.where(lengths > 0, lengths, 1)[:, None]
    mean = sums.sum(axis=0)
    flat = np.concatenate(list(sums), axis=1)
    return mean, np.concatenate([flat, flat * own[:, None]], axis=1)  # (m, k), (m, 6k)


def sample(graph: Graph, *, seed: int, rows: slice = slice(None)) -> tuple[NDArray[np.int64], Links]:
    """Return some nodes that have edges, of some rows, at random, and their rows."""
    nodes = np.arange(graph.nodes)[rows]
    nodes = nodes[graph.indptr[nodes + 1] > graph.indptr[nodes]]
    drawn = np.random.default_rng(seed).permutation(nodes)[:SAMPLE]
    counts = graph.indptr[drawn + 1] - graph.indptr[drawn]
    few = max(1, int(np.searchsorted(np.cumsum(counts), ENTRIES, side="right")))
    nodes, counts = drawn[:few], counts[:few]
    indptr = np.concatenate([[0], np.cumsum(counts)])
    entries = np.arange(indptr[-1]) + np.repeat(graph.indptr[nodes] - indptr[:-1], counts)
    weights = np.ones(len(entries), np.float32) if graph.weights is None else graph.weights[entries]
    return nodes, Links(indptr, graph.indices[entries].astype(np.int64), weights)


def learn_map(near: Neighbors, near_degrees: NDArray[Any], unit: Floats, own: Floats, links: Links) -> Floats:
    """Return the W from neighbors to the unit vectors of nodes with these standardized degrees.  # (6k, k)."""
    # BLAS has one thread by now: its last bits depend on that.
    scale, (count, k) = Scale.of(near_degrees), unit.shape
    mean = np.empty((count, k), np.float32)
    f = np.empty((count, FOLD_BLOCKS * k), np.float32)
    for part in parts(links.indptr, near.at_a_time):
        some, rows, used = near.of(links.rows(part))
        mean[part], f[part] = features(some, rows, scale.classes(near_degrees[used]), own[part])
    # The ridge keeps the matrix regular where a class of neighbors is empty, and its columns of f are zeros. Solved in
    # float64: a Gram matrix has the squared condition of f.
    gram = (f.T @ f).astype(np.float64)
    beyond = (f.T @ (unit - mean)).astype(np.float64)
    gram[np.diag_indices_from(gram)] += RIDGE * max(np.trace(gram) / len(gram), 1e-12)
    W = np.linalg.solve(gram, beyond)
    return W.astype(np.float32).reshape(FOLD_BLOCKS * k, k)


def turn_fold_map(W: Floats, R: NDArray[np.float64]) -> Floats:
    """Return the W of vectors that were multiplied by a rotation R: ``R^T W_b R`` for each block b of k rows."""
    k = len(R)
    with one_blas_thread():
        return (R.T @ W.reshape(-1, k, k) @ R).reshape(-1, k).astype(np.float32)


def fold(vectors: Floats, degrees: NDArray[Any] | None, W: Floats | None, links: Links) -> Floats:
    """Return the vectors of new nodes from those of known neighbors, and then of each other's; zero without any.

    ``links`` have the rows of known neighbors first, and new nodes after them.
    """
    counts, known = np.diff(links.indptr), len(vectors)
    links, used = links.without_others(known + len(counts))
    old, fresh = used[used < known], used[used >= known] - known
    rows, sizes = unit_rows(vectors[old]), np.sqrt(np.einsum("ij,ij->i", vectors[old], vectors[old]))[:, None]
    known_degrees = np.zeros(known) if degrees is None else degrees
    scale = Scale.of(known_degrees)
    kinds = scale.classes(np.concatenate([known_degrees[old], counts[fresh]]))
    folded = np.zeros((len(counts), vectors.shape[1]), np.float32)
    lengths = np.zeros((len(counts), 1), np.float32)
    for _ in range(1 + ROUNDS * bool(len(fresh))):
        with one_blas_thread():
            mean, f = features(links, np.concatenate([rows, folded[fresh]]), kinds, scale.standardized(counts))
            folded = unit_rows(mean if W is None else mean + f @ W)
        lengths = mean_lengths(links, np.concatenate([sizes, lengths[fresh]]))
    return folded * lengths


def mean_lengths(links: Links, lengths: Floats) -> Floats:
    """Return the weighted means of lengths, those of zero vectors aside."""
    there = lengths[:, 0] > 0
    total, lengths = np.hsplit(links.to(there).times(np.hstack([there[:, None].astype(np.float32), lengths])), 2)
    return (lengths / np.maximum(total, 1e-30)).astype(np.float32)
