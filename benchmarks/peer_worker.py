"""One tool on one graph, in a process of its own, by an interpreter that need not have graphrefine.

    PYTHON benchmarks/peer_worker.py TOOL MATRIX.npz VECTORS.npy

The matrix is SciPy's, symmetric. The vectors have 128 dimensions, by the tool's own defaults, on one thread. The
seconds of the computation are printed; a small graph comes first, so that imports and compilation are not among them.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, load_npz, random

DIM = 128
Work = Callable[[csr_matrix], Any]  # an adjacency matrix to vectors


def use_graphrefine(quality: str) -> Work:
    import graphrefine

    return lambda adjacency: graphrefine.embed(adjacency, dim=DIM, quality=quality, threads=1).vectors


def use_fastrp() -> Work:
    import fastrp

    def work(adjacency: csr_matrix) -> Any:
        parts = (adjacency.indptr, adjacency.indices, adjacency.data.astype(np.float64), adjacency.shape[0], DIM)
        return fastrp.fit_csr(*parts, seed=0, undirected=False)  # it is symmetric

    return work


def use_prone() -> Work:
    from nodevectors import ProNE

    return lambda adjacency: ProNE(n_components=DIM, verbose=False).fit_transform(adjacency.astype(np.float64))


def use_scikit_network(name: str) -> Work:
    from sknetwork import embedding

    return lambda adjacency: getattr(embedding, name)(n_components=DIM).fit_transform(adjacency.astype(np.float64))


def use_pycleora() -> Work:
    import pycleora

    def work(adjacency: csr_matrix) -> Any:
        upper = adjacency.tocoo()
        once = upper.row < upper.col
        pairs = (f"{u} {v}" for u, v in zip(upper.row[once].tolist(), upper.col[once].tolist(), strict=True))
        graph = pycleora.SparseMatrix.from_iterator(pairs, "complex::reflexive::node")
        found = pycleora.embed(graph, feature_dim=DIM, num_workers=1)
        rows = np.zeros((adjacency.shape[0], DIM), np.float32)
        rows[np.array(graph.entity_ids, np.int64)] = found
        return rows

    return work


def use_pecanpy() -> Work:
    from pecanpy.pecanpy import SparseOTF

    def work(adjacency: csr_matrix) -> Any:
        walks = SparseOTF(p=1, q=1, workers=1, random_state=0)
        walks.indptr, walks.indices = adjacency.indptr.astype(np.uint32), adjacency.indices.astype(np.uint32)
        walks.data = adjacency.data.astype(np.float32)
        walks.set_node_ids(None, num_nodes=adjacency.shape[0])
        return walks.embed(dim=DIM)

    return work


TOOLS: dict[str, Callable[[], Work]] = {
    "graphrefine-fast": lambda: use_graphrefine("fast"),
    "graphrefine-default": lambda: use_graphrefine("default"),
    "fastrp": use_fastrp,
    "pycleora": use_pycleora,
    "scikit-network-GSVD": lambda: use_scikit_network("GSVD"),
    "scikit-network-Spectral": lambda: use_scikit_network("Spectral"),
    "nodevectors-ProNE": use_prone,
    "pecanpy-node2vec": use_pecanpy,
}


def main() -> None:
    tool, path, output = sys.argv[1:]
    adjacency, work = csr_matrix(load_npz(path)), TOOLS[tool]()
    small = csr_matrix(random(300, 300, density=0.1, random_state=0, dtype=np.float32))
    work(csr_matrix(small + small.T))
    start = time.perf_counter()
    vectors = work(adjacency)
    seconds = time.perf_counter() - start
    np.save(output, np.asarray(vectors, np.float32))
    print(seconds)


if __name__ == "__main__":
    main()
