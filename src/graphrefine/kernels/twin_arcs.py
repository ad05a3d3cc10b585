"""The twin of ``native/arcs.cpp`` and of ``merge_arcs`` in ``native/edges.cpp``, in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.kernels.twin_edges import add_up

PAGE = 10  # bits of a place within a page of ids


def mark_ids(bits: NDArray[np.uint64], pages: NDArray[np.int64], lowest: int, ids: NDArray[Any]) -> None:
    """See `graphrefine.kernels.arcs.IdSet.add`."""
    places = _places(lowest, ids)
    np.bitwise_or.at(bits, places >> np.uint64(6), np.uint64(1) << (places & np.uint64(63)))
    pages += np.bincount((places >> np.uint64(PAGE)).astype(np.int64), minlength=len(pages))


def rank_ids(
    bits: NDArray[np.uint64], before: NDArray[np.int32], lowest: int, ids: NDArray[Any], *, threads: int
) -> NDArray[np.int32]:
    """See `graphrefine.kernels.arcs.IdSet.ranks`; `threads` is for the compiled twin."""
    places = _places(lowest, ids)
    words = (places >> np.uint64(6)).astype(np.int64)
    lower = bits[words] & ((np.uint64(1) << (places & np.uint64(63))) - np.uint64(1))
    return before[words] + count_bits(lower)


def count_bits(words: NDArray[np.uint64]) -> NDArray[np.int32]:
    """How many bits of each word are set."""
    each = _ONES[np.ascontiguousarray(words).view(np.uint8)].reshape(-1, 8)
    counts: NDArray[np.int32] = each.sum(axis=1, dtype=np.int32)
    return counts


def deal_arcs(
    source: NDArray[np.int32],
    target: NDArray[np.int32],
    *,
    weights: NDArray[np.float32] | None,
    bounds: NDArray[np.int32],
    both: bool,
    threads: int,
) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """See `graphrefine.kernels.arcs.deal_arcs`; `threads` is for the compiled twin."""
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
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32] | None, int, int]:
    """See `graphrefine.kernels.arcs.merge_arcs`; `threads` is for the compiled twin."""
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


def _places(lowest: int, ids: NDArray[Any]) -> NDArray[np.uint64]:
    return ids.astype(np.int64).astype(np.uint64) - np.uint64(lowest % 2**64)


_ONES = np.array([bin(byte).count("1") for byte in range(256)], np.uint8)
