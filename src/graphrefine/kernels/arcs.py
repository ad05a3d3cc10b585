"""The kernels that ingest graphs piece by piece, compiled or twins, as those of `graphrefine.kernels.edge_lists`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.kernels import choose_kernel
from graphrefine.kernels.edge_lists import Rows

PAGE = 10  # bits of a place within a page of ids


class IdSet:
    """Integers in a range as bits, so that each has a rank; and counts of additions, by pages of 1024.

    Examples
    --------
    >>> ids = IdSet(-3, 900)
    >>> ids.add(np.array([7, -3, 700]))
    >>> ids.close()
    >>> ids.ranks(np.array([700, 7, 7]), threads=1).tolist(), ids.pages.tolist()
    ([2, 1, 1], [3])
    """

    def __init__(self, lowest: int, highest: int, bits: NDArray[np.uint64] | None = None) -> None:
        words = (highest - lowest >> PAGE) + 1 << PAGE - 6  # whole pages
        self.lowest = lowest
        self.bits = np.zeros(words, np.uint64) if bits is None else bits
        self.pages = np.zeros(words >> PAGE - 6, np.int64)
        self.before = np.zeros(0, np.int32)  # (words + 1,) ids in the words before each, once closed

    @staticmethod
    def bytes_for(lowest: int, highest: int) -> int:
        """Memory of a set of this range."""
        return (highest - lowest + 1024) * 13 // 64

    def add(self, ids: NDArray[Any]) -> None:
        """Add int32 or int64 ids, all of them in the range."""
        choose_kernel("mark_ids")(self.bits, self.pages, self.lowest, ids)

    def close(self) -> None:
        """Count, after which there are ranks; ValueError if there are more than a graph can have nodes."""
        before, total, step = np.zeros(len(self.bits) + 1, np.int32), 0, 1 << 16
        for start in range(0, len(self.bits), step):
            counts = np.cumsum(count_bits(self.bits[start : start + step]), dtype=np.int64) + total
            before[start + 1 : start + 1 + len(counts)] = np.minimum(counts, np.iinfo(np.int32).max)
            total = int(counts[-1])
        if total >= np.iinfo(np.int32).max:
            raise ValueError(f"{total} ids")
        self.before = before

    def ranks(self, ids: NDArray[Any], *, threads: int) -> NDArray[np.int32]:
        """Number of smaller ids in the set, for each id; all of them must be in it."""
        ranks: NDArray[np.int32] = choose_kernel("rank_ids")(self.bits, self.before, self.lowest, ids, threads=threads)
        return ranks

    def page_ranks(self) -> NDArray[np.int64]:
        """The rank of the first place of each page, and the number of ids.  # (pages + 1,)."""
        return self.before[:: 1 << PAGE - 6].astype(np.int64)


_ONES = np.array([bin(byte).count("1") for byte in range(256)], np.uint8)


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
    """Deal arcs, and with `both` the reversed ones too, to buckets of consecutive rows.

    Returns records, bucket after bucket: row, ``column << 1 | reversed`` and, where there are weights, the bits of the
    weight; and the first record of each bucket. Bucket i has the rows from ``bounds[i]`` to before ``bounds[i + 1]``.
    """
    deal = choose_kernel("deal_arcs")
    records, offsets = deal(source, target, weights=weights, bounds=bounds, both=both, threads=threads)
    return records, offsets.view(np.int64)


def merge_arcs(rows: int, first: int, records: NDArray[np.uint32], *, weighted: bool, threads: int) -> Rows:
    """Build rows `first` to before ``first + rows`` from the records of their arcs, as `build_rows` would.

    The tally has distinct arcs and, counted in each of its two rows, pairs listed in both directions.
    """
    merge = choose_kernel("merge_arcs")
    indptr, indices, weights, arcs, pairs = merge(rows, first, records, weighted=weighted, threads=threads)
    return Rows(indptr.view(np.int64), indices, weights, (0, 0, 0, arcs, pairs))
