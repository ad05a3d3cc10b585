"""Neighbors of nodes as sets: equal ones, and how much of two is common.

``overlap(u, v) = |N_u & N_v| / |N_u | N_v|``, u and v themselves aside, so that two coauthors of one paper are as alike
as two papers of the same authors. Of a directed graph a set has successors and predecessors, each apart. Weights do not
count.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.graph.graph import Graph

ENTRIES = 1 << 22  # of neighbors, looked at in one go

Rows = NDArray[np.int64]
Hashes = NDArray[np.uint64]


class Overlaps(NamedTuple):
    """What pairs of nodes have in common."""

    shared: Rows  # (m,): neighbors of both
    overlap: NDArray[np.float32]  # (m,): of all neighbors of either, 0 where there are none
    linked: NDArray[np.bool_]  # (m,): whether an edge joins the two

    def pick(self, mask: NDArray[np.bool_]) -> Overlaps:
        """Those of some of the pairs."""
        return Overlaps(self.shared[mask], self.overlap[mask], self.linked[mask])


class NeighborSets:
    """The neighbors of each node of a graph.

    Examples
    --------
    >>> square = NeighborSets(Graph.from_edges([0, 0, 1, 2], [1, 2, 3, 3]))
    >>> shared, overlap, linked = square.compare(np.array([0, 0]), np.array([3, 1]))
    >>> shared.tolist(), overlap.tolist(), linked.tolist()
    ([2, 0], [1.0, 0.0], [False, True])
    """

    def __init__(self, graph: Graph) -> None:
        from scipy.sparse import csr_array, hstack

        ones = np.ones(len(graph.indices), np.int32)
        shape = (graph.nodes, graph.nodes)
        self._links = csr_array((ones, graph.indices, graph.indptr), shape=shape)
        self._sets = hstack([self._links, self._links.T.tocsr()]).tocsr() if graph.directed else self._links
        self._directed = graph.directed
        self.sizes = np.diff(self._sets.indptr).astype(np.int64)  # (n,)

    def hash_sets(self) -> tuple[Hashes, Hashes]:
        """A number for the neighbors of each node, and one for them and itself: the same for equal sets.  # (n,) each.

        Examples
        --------
        >>> star, triangle = [0, 0, 0], [4, 5, 4]
        >>> alone, whole = NeighborSets(Graph.from_edges([*star, *triangle], [1, 2, 3, 5, 6, 6])).hash_sets()
        >>> len(set(alone[1:4].tolist())), len(set(whole[4:].tolist()))
        (1, 1)
        """
        columns = self._sets.shape[1]
        numbers = np.random.default_rng(0).integers(1, 2**64, columns, np.uint64)
        ends = np.concatenate([np.zeros(1, np.uint64), np.cumsum(numbers[self._sets.indices], dtype=np.uint64)])
        hashes = ends[self._sets.indptr[1:]] - ends[self._sets.indptr[:-1]]  # modulo 2^64, as are the sums
        own = numbers[: self._sets.shape[0]] + (numbers[columns // 2 :] if self._directed else np.uint64(0))
        return hashes, hashes + own

    def compare(self, first: Rows, second: Rows) -> Overlaps:
        """What each pair of nodes has in common."""
        shared, links = np.zeros(len(first), np.int64), np.zeros(len(first), np.int64)
        ends = np.concatenate([[0], np.cumsum(self.sizes[first] + self.sizes[second])])
        start = 0
        while start < len(first):
            stop = max(start + 1, int(np.searchsorted(ends, ends[start] + ENTRIES, side="right")) - 1)
            one, other = first[start:stop], second[start:stop]
            shared[start:stop] = self._sets[one].multiply(self._sets[other]).sum(axis=1)
            links[start:stop] = self._count_links(one, other)
            start = stop
        whole = self.sizes[first] + self.sizes[second] - 2 * links - shared
        return Overlaps(shared, (shared / np.maximum(whole, 1)).astype(np.float32), links > 0)

    def _count_links(self, first: Rows, second: Rows) -> NDArray[Any]:
        """Edges from each first to its second, and of a directed graph those back."""
        counts = self._pick(first, second)
        return counts + self._pick(second, first) if self._directed else counts

    def _pick(self, rows: Rows, columns: Rows) -> NDArray[Any]:
        from scipy.sparse import csr_array

        count = len(rows)
        one_each = csr_array((np.ones(count, np.int32), columns, np.arange(count + 1)), shape=(count, len(self.sizes)))
        return np.asarray(self._links[rows].multiply(one_each).sum(axis=1))
