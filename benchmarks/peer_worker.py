"""A package of others on a graph: one run in a process of its own, by an interpreter that need not have graphrefine.

    PYTHON benchmarks/peer_worker.py fastrp|nodevectors MATRIX.npz

The matrix is SciPy's; the seconds of the computation alone are printed.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.sparse import csr_matrix, load_npz


def find_work(package: str, adjacency: csr_matrix) -> Callable[[], object]:
    """What is timed: 128 numbers a node, by the package's own defaults."""
    if package == "fastrp":
        import fastrp

        parts = (adjacency.indptr, adjacency.indices, adjacency.data, adjacency.shape[0], 128)
        return partial(fastrp.fit_csr, *parts, seed=0, undirected=False)  # it is symmetric
    from nodevectors import ProNE

    return partial(ProNE(n_components=128, verbose=False).fit_transform, adjacency)


def main() -> None:
    package, path = sys.argv[1:]
    work = find_work(package, csr_matrix(load_npz(path).astype(np.float64)))
    start = time.perf_counter()
    work()
    print(time.perf_counter() - start)


if __name__ == "__main__":
    main()
