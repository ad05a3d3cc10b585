"""The twin of ``native/edges.cpp``: edges to CSR rows, in NumPy.

Sums of weights run in ascending order of the weights, in float64, as in the compiled kernel.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def number_ids(
    source: NDArray[Any], target: NDArray[Any], *, threads: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
    """See `graphrefine.kernels.edge_lists.number_ids`; `threads` is for the compiled twin."""
    names, numbers = np.unique(np.concatenate([source, target]), return_inverse=True)
    first, second = numbers.reshape(2, -1).astype(np.int32)
    return first, second, names.astype(np.int64)


def build_rows(
    nodes: int,
    source: NDArray[np.int32],
    target: NDArray[np.int32],
    *,
    weights: NDArray[np.float32] | None,
    directed: bool,
    threads: int,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32] | None, tuple[int, int, int, int, int]]:
    """See `graphrefine.kernels.edge_lists.build_rows`; `threads` is for the compiled twin."""
    missing = (source < 0) | (target < 0)
    zero = ~missing & (weights == 0) if weights is not None else np.zeros_like(missing)
    loop = ~missing & ~zero & (source == target)
    use = ~(missing | zero | loop)
    u, v = source[use].astype(np.int64), target[use].astype(np.int64)
    values = np.ones(len(u)) if weights is None else weights[use].astype(np.float64)

    arcs, sums = add_up(u * nodes + v, values)  # one entry for each distinct direction of each edge
    u, v = arcs // max(nodes, 1), arcs % max(nodes, 1)
    reciprocal = int(np.isin(v * nodes + u, arcs, assume_unique=True).sum()) // 2
    if directed:
        keys, merged = arcs, sums
    else:
        keys, merged = _largest(np.concatenate([arcs, v * nodes + u]), np.concatenate([sums, sums]))
    rows, columns = keys // max(nodes, 1), keys % max(nodes, 1)
    indptr = np.zeros(nodes + 1, dtype=np.int64)
    np.cumsum(np.bincount(rows, minlength=nodes), out=indptr[1:])
    new_weights = None if weights is None and len(arcs) == use.sum() else merged.astype(np.float32)
    tally = (int(missing.sum()), int(loop.sum()), int(zero.sum()), len(arcs), 0 if directed else reciprocal)
    return indptr, columns.astype(np.int32), new_weights, tally


def inspect_rows(indptr: NDArray[np.int64], indices: NDArray[np.int32], weights: NDArray[np.float32] | None) -> int:
    """See `graphrefine.kernels.edge_lists.inspect_rows`."""
    nodes, entries = len(indptr) - 1, len(indices)
    counts = np.diff(indptr)
    if indptr[0] != 0 or indptr[-1] != entries or (counts < 0).any():
        return -1
    if entries and not (indices.min() >= 0 and indices.max() < nodes):
        return -1
    rows = np.repeat(np.arange(nodes), counts)
    keys = rows * nodes + indices
    ascending = bool((np.diff(keys) > 0).all())
    mirrored = indices.astype(np.int64) * nodes + rows
    order = np.argsort(mirrored, kind="stable")
    symmetric = ascending and np.array_equal(mirrored[order], keys)
    if symmetric and weights is not None:
        symmetric = np.array_equal(weights[order], weights)
    return ascending + 2 * (not (rows == indices).any()) + 4 * symmetric


def add_up(keys: NDArray[np.int64], values: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Distinct keys, ascending, each with the sum of its values from the smallest value up."""
    order = np.lexsort((values, keys))
    distinct, groups = np.unique(keys[order], return_inverse=True)
    return distinct, np.bincount(groups, weights=values[order], minlength=len(distinct))


def _largest(keys: NDArray[np.int64], values: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Distinct keys, ascending, each with its largest value."""
    order = np.lexsort((values, keys))
    last = np.append(np.diff(keys[order]) != 0, True) if len(keys) else np.zeros(0, dtype=bool)
    return keys[order][last], values[order][last]
