"""Edges to CSR rows, all at once or piece by piece, in NumPy: ``native/edges.cpp`` and ``native/arcs.cpp``.

Sums of weights run in ascending order of the weights, in float64, as in the compiled kernel.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.kernels.edge_lists import PAGE

Nodes = NDArray[np.int32]
Counts = NDArray[np.int64]
Floats = NDArray[np.float32]
Words = NDArray[np.uint64]


def number_ids(source: NDArray[Any], target: NDArray[Any], *, threads: int) -> tuple[Nodes, Nodes, Counts]:
    """See `graphrefine.kernels.edge_lists.number_ids`."""
    names, numbers = np.unique(np.concatenate([source, target]), return_inverse=True)
    first, second = numbers.reshape(2, -1).astype(np.int32)
    return first, second, names.astype(np.int64)


def build_rows(
    nodes: int, source: Nodes, target: Nodes, *, weights: Floats | None, directed: bool, threads: int
) -> tuple[Counts, Nodes, Floats | None, tuple[int, int, int, int, int]]:
    """See `graphrefine.kernels.edge_lists.build_rows`."""
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


def inspect_rows(indptr: Counts, indices: Nodes, weights: Floats | None) -> int:
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


def add_up(keys: Counts, values: NDArray[np.float64]) -> tuple[Counts, NDArray[Any]]:
    """Distinct keys, ascending, each with the sum of its values from the smallest value up."""
    order = np.lexsort((values, keys))
    distinct, groups = np.unique(keys[order], return_inverse=True)
    return distinct, np.bincount(groups, weights=values[order], minlength=len(distinct))


def _largest(keys: Counts, values: NDArray[Any]) -> tuple[Counts, NDArray[Any]]:
    """Distinct keys, ascending, each with its largest value."""
    order = np.lexsort((values, keys))
    last = np.append(np.diff(keys[order]) != 0, True) if len(keys) else np.zeros(0, dtype=bool)
    return keys[order][last], values[order][last]


def mark_ids(bits: Words, pages: Counts, lowest: int, ids: NDArray[Any]) -> None:
    """See `graphrefine.kernels.edge_lists.IdSet.add`."""
    places = _places(lowest, ids)
    np.bitwise_or.at(bits, places >> np.uint64(6), np.uint64(1) << (places & np.uint64(63)))
    pages += np.bincount((places >> np.uint64(PAGE)).astype(np.int64), minlength=len(pages))


def rank_ids(bits: Words, before: Nodes, lowest: int, ids: NDArray[Any], *, threads: int) -> Nodes:
    """See `graphrefine.kernels.edge_lists.IdSet.ranks`."""
    places = _places(lowest, ids)
    words = (places >> np.uint64(6)).astype(np.int64)
    lower = bits[words] & ((np.uint64(1) << (places & np.uint64(63))) - np.uint64(1))
    return before[words] + np.bitwise_count(lower)


def deal_arcs(
    source: Nodes, target: Nodes, *, weights: Floats | None, bounds: Nodes, both: bool, threads: int
) -> tuple[NDArray[np.uint32], Counts]:
    """See `graphrefine.kernels.edge_lists.deal_arcs`."""
    keys = [target.astype(np.uint32) << 1, source.astype(np.uint32) << 1 | 1]
    sides = 2 if both else 1
    columns = [np.stack([source, target][:sides], axis=1), np.stack(keys[:sides], axis=1)]
    if weights is not None:
        columns.append(np.stack([weights.view(np.uint32)] * sides, axis=1))
    records = np.stack([column.ravel().astype(np.uint32) for column in columns], axis=1)
    buckets = np.searchsorted(bounds, records[:, 0], side="right") - 1
    order = np.argsort(buckets, kind="stable")
    counts = np.bincount(buckets, minlength=len(bounds) - 1)
    return records[order].ravel(), np.append(0, np.cumsum(counts)).astype(np.int64)


def merge_arcs(
    rows: int, first: int, records: NDArray[np.uint32], *, weighted: bool, threads: int
) -> tuple[Counts, Nodes, Floats | None, int, int]:
    """See `graphrefine.kernels.edge_lists.merge_arcs`."""
    table = records.reshape(-1, 3 if weighted else 2)
    keys = (table[:, 0].astype(np.int64) - first) << 32 | table[:, 1]
    values = table[:, 2].copy().view(np.float32).astype(np.float64) if weighted else np.ones(len(table))
    arcs, sums = add_up(keys, values)  # one for each distinct direction of each edge
    entries, starts = np.unique(arcs >> 1, return_index=True)
    merged = np.maximum.reduceat(sums, starts) if len(arcs) else sums
    indptr = np.zeros(rows + 1, np.int64)
    np.cumsum(np.bincount(entries >> 31, minlength=rows), out=indptr[1:])
    new_weights = merged.astype(np.float32) if weighted or len(arcs) < len(table) else None
    outward = int((arcs & 1 == 0).sum())
    return indptr, (entries & 0x7FFFFFFF).astype(np.int32), new_weights, outward, len(arcs) - len(entries)


def _places(lowest: int, ids: NDArray[Any]) -> Words:
    return ids.astype(np.int64).astype(np.uint64) - np.uint64(lowest % 2**64)
