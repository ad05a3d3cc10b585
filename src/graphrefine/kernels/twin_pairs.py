"""The twin of ``native/pairs.cpp``: counts of the nodes that walks meet, in NumPy, row by row; the same numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphrefine.kernels.twin import GOLDEN, golden, mixed
from graphrefine.kernels.twin_walks import Rows

Nodes = NDArray[np.int32]


def walk_pairs(
    indptr: NDArray[np.int64],
    indices: Nodes,
    sums: NDArray[np.float64] | None,
    first: int,
    walks: NDArray[np.int64],
    *,
    length: int,
    seed: int,
    threads: int,
) -> tuple[NDArray[np.int64], Nodes, Nodes]:
    """See `graphrefine.kernels.sampling.walk_pairs`; `threads` is for the compiled twin."""
    rows = Rows(indptr, indices, sums)
    salt = mixed(np.array([seed], np.uint64) + golden(2))
    columns, counts = [], []
    for row, many in enumerate(walks.tolist(), first):
        own = mixed(salt ^ np.uint64(row))
        key: NDArray[np.uint64] = own + np.arange(many).astype(np.uint64) * GOLDEN
        met = _met(rows, np.full(many, row, np.int32), mixed(key), length)
        columns.append((row + np.flatnonzero(met[row:])).astype(np.int32))
        counts.append(met[columns[-1]].astype(np.int32))
    ends = np.cumsum([0, *map(len, columns)])
    empty = np.zeros(0, np.int32)
    return ends, np.concatenate([empty, *columns]), np.concatenate([empty, *counts])


def _met(rows: Rows, at: Nodes, key: NDArray[np.uint64], length: int) -> NDArray[np.int64]:
    """How often walks from `at` are at each node, after 1 ... length steps."""
    nodes = len(rows.indptr) - 1
    met = np.zeros(nodes, np.int64)
    for step in range(1, length + 1):
        at = rows.indices[rows.draw(rows.indptr[at], rows.indptr[at + 1], mixed(key + golden(step)))]
        met += np.bincount(at, minlength=nodes)
    return met
