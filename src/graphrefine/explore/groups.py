"""Groups of nodes to color by: communities of the graph or, without one, clusters of the vectors.

Communities of a large graph are found in another process: Louvain's code lets no other thread of its process run,
and the server would not answer for half a minute.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphrefine.display.maps.points import Classes
from graphrefine.embedding.embedding import Embedding
from graphrefine.errors import InputError
from graphrefine.explore.background import Watch
from graphrefine.explore.columns import CategoryColumn
from graphrefine.explore.matched_graph import MatchedGraph
from graphrefine.linalg.kmeans import find_clusters
from graphrefine.methods.coarsening import communities
from graphrefine.system.files import temporary_folder

CLUSTERS = 12  # as many as there are colors that people can tell apart
SUBPROCESS_ENTRIES = 100_000  # entries of a graph from which on its communities are found in another process
POLL = 0.2  # seconds between two looks at that process
GRAPH, GROUPS = "graph.npz", "communities.npy"  # its input and its output


def find_groups(embedding: Embedding, graph: MatchedGraph | None, watch: Watch) -> CategoryColumn:
    """Find the community of each row, or its cluster; groups are numbered from 1, the largest first."""
    if graph is None:
        return _as_column(find_clusters(embedding.vectors, count=CLUSTERS).groups)
    adjacency = graph.graph.to_scipy()
    if graph.graph.directed:
        adjacency = (adjacency + adjacency.T).tocsr()
    is_small = adjacency.nnz < SUBPROCESS_ENTRIES
    communities = find_communities(adjacency) if is_small else _find_in_subprocess(adjacency, watch)
    groups = np.where(graph.node >= 0, communities[graph.node], -1)
    return _as_column(groups.astype(np.int64))


def find_communities(adjacency: sp.csr_array) -> NDArray[np.int64]:
    """Find the community of each node of an undirected graph, by Louvain; -1 for a node without edges."""
    groups = communities(adjacency, np.zeros(adjacency.shape[0], np.int64))
    return np.where(np.diff(adjacency.indptr) == 0, -1, groups)


def _find_in_subprocess(adjacency: sp.csr_array, watch: Watch) -> NDArray[np.int64]:
    """Find the same in another process, which ends with the server."""
    with temporary_folder() as folder:
        sp.save_npz(folder / GRAPH, adjacency, compressed=False)
        command = [sys.executable, "-m", __name__, str(folder)]
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
        groups: NDArray[np.int64] = np.load(folder / GROUPS)
    return groups


def _as_column(groups: NDArray[np.int64]) -> CategoryColumn:
    """Return groups as categories named 1, 2, ... from the largest to the smallest."""
    classes = Classes.rank(groups, [""] * (groups.max(initial=-1) + 1))
    return CategoryColumn(classes._replace(names=tuple(str(rank) for rank in range(1, len(classes.names) + 1))))


if __name__ == "__main__":
    graph: Any = sp.load_npz(Path(sys.argv[1]) / GRAPH)
    np.save(Path(sys.argv[1]) / GROUPS, find_communities(graph))
