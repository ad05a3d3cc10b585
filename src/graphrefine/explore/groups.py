"""Groups of nodes to colour by: communities of the graph or, without one, clusters of the vectors.

Communities of a large graph are found in a process of its own: Louvain's code lets no other thread of its process run,
and the server would not answer for half a minute.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphrefine.embedding.embedding import Embedding
from graphrefine.errors import InputError
from graphrefine.explore.background import Watch
from graphrefine.explore.columns import CategoryColumn
from graphrefine.explore.matched_graph import MatchedGraph
from graphrefine.linalg import unit_rows
from graphrefine.system.threads import one_blas_thread
from graphrefine.vectors.classes import Classes

CLUSTERS = 12  # as many as there are colours that people can tell apart
SAMPLE = 20_000  # rows that clusters are found with
BLOCK = 1 << 14  # rows that are assigned at a time
APART = 100_000  # entries of a graph from which on its communities are found in a process of their own
POLL = 0.2  # seconds between two looks at that process
GRAPH, GROUPS = "graph.npz", "communities.npy"  # its input and its output


def find_groups(embedding: Embedding, graph: MatchedGraph | None, watch: Watch) -> CategoryColumn:
    """The community of each row, or its cluster; groups are numbered from 1, the largest first."""
    if graph is None:
        return _as_column(find_clusters(embedding.vectors))
    adjacency = graph.graph.to_scipy()
    if graph.graph.directed:
        adjacency = (adjacency + adjacency.T).tocsr()
    is_small = adjacency.nnz < APART
    communities = find_communities(adjacency) if is_small else _find_communities_apart(adjacency, watch)
    groups = np.where(graph.node >= 0, communities[graph.node], -1)
    return _as_column(groups.astype(np.int64))


def find_communities(adjacency: sp.csr_array) -> NDArray[np.int64]:
    """The community of each node of an undirected graph, by Louvain; -1 for a node without edges."""
    from graphrefine.methods.coarsening import communities

    groups = communities(adjacency, np.zeros(adjacency.shape[0], np.int64))
    return np.where(np.diff(adjacency.indptr) == 0, -1, groups)


def _find_communities_apart(adjacency: sp.csr_array, watch: Watch) -> NDArray[np.int64]:
    """The same from a process of its own, which ends with the server."""
    with tempfile.TemporaryDirectory(prefix="graphrefine-") as folder:
        sp.save_npz(Path(folder) / GRAPH, adjacency, compressed=False)
        command = [sys.executable, "-m", __name__, folder]
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
            try:
                while process.poll() is None:
                    watch.wait(POLL)
                messages = process.stderr.read() if process.stderr else ""
            finally:
                process.kill()
        if process.returncode:
            reason = messages.strip().splitlines()[-1] if messages.strip() else "the process that finds them was ended"
            raise InputError(f"communities were not found: {reason}")
        groups: NDArray[np.int64] = np.load(Path(folder) / GROUPS)
    return groups


def find_clusters(vectors: NDArray[np.float32], *, count: int = CLUSTERS) -> NDArray[np.int64]:
    """The nearest of a few centres, found by k-means in a sample of the unit rows; -1 for zero rows.

    Examples
    --------
    >>> find_clusters(np.array([[1, 0], [2, 0.1], [0, 1], [0, 0]], np.float32), count=2).tolist()
    [0, 0, 1, -1]
    """
    from sklearn.cluster import KMeans

    groups = np.full(len(vectors), -1, np.int64)
    rows = np.unique(np.linspace(0, len(vectors) - 1, min(len(vectors), SAMPLE)).astype(np.int64))
    sample = unit_rows(vectors[rows])
    sample = sample[sample.any(axis=1)]
    count = min(count, len(np.unique(sample, axis=0)))
    if count == 0:
        return groups
    with one_blas_thread():
        centres = KMeans(count, n_init=1, random_state=0).fit(sample).cluster_centers_.astype(np.float32)
    halves = (centres**2).sum(axis=1) / 2
    for lo in range(0, len(vectors), BLOCK):
        block = unit_rows(vectors[lo : lo + BLOCK])
        nearest = np.argmax(block @ centres.T - halves, axis=1)
        groups[lo : lo + BLOCK] = np.where(block.any(axis=1), nearest, -1)
    return _in_order(groups)


def _in_order(groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """Groups numbered from 0 in the order of their first rows, so that the way to them makes no difference."""
    in_group = groups >= 0
    _, first, inverse = np.unique(groups[in_group], return_index=True, return_inverse=True)
    groups[in_group] = np.argsort(np.argsort(first))[inverse.reshape(-1)]
    return groups


def _as_column(groups: NDArray[np.int64]) -> CategoryColumn:
    """Groups as categories named 1, 2, ... from the largest to the smallest."""
    classes = Classes.rank(groups, [""] * (groups.max(initial=-1) + 1))
    return CategoryColumn(classes._replace(names=tuple(str(rank) for rank in range(1, len(classes.names) + 1))))


if __name__ == "__main__":
    graph: Any = sp.load_npz(Path(sys.argv[1]) / GRAPH)
    np.save(Path(sys.argv[1]) / GROUPS, find_communities(graph))
