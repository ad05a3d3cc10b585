"""The kernels that read graphs, compiled or their Python twins, as `graphrefine.kernels.choose_kernel` decides.

Both give the same arrays, bit for bit, for any number of threads.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.kernels import choose_kernel, twin_arcs, twin_edges, twin_text
from graphrefine.kernels.twin_arcs import PAGE, count_bits

Columns = tuple[int, int, int, int]
"""Positions of source, target and weight (-1: none), and the most columns that a line may have."""

ASCENDING, HOLLOW, SYMMETRIC = 1, 2, 4  # of `inspect_rows`: rows ascend; nothing on the diagonal; rows mirror columns


class Status(IntEnum):
    """Result of parsing a text; the order is the order of precedence."""

    OK = 0
    NOT_INTEGER = 1
    TOO_WIDE = 2
    FEW_COLUMNS = 3
    MANY_COLUMNS = 4
    BAD_WEIGHT = 5


class Parsed(NamedTuple):
    """Records of a text edge list, in file order."""

    status: int
    line: int  # of the first error, from 1
    source: NDArray[Any]  # (m,) ids, or numbers into names; -1 for an empty field
    target: NDArray[Any]  # (m,)
    weights: NDArray[np.float32] | None  # (m,)
    names: bytes  # a line each, sorted
    comments: int


class Rows(NamedTuple):
    """A graph in CSR form, with a tally of entries that were merged or left out on the way."""

    indptr: NDArray[np.int64]  # (n + 1,)
    indices: NDArray[np.int32]  # (nnz,)
    weights: NDArray[np.float32] | None  # (nnz,)
    tally: tuple[int, int, int, int, int]  # missing, self-loops, zeros, distinct arcs, reciprocal pairs


def parse_integers(
    text: NDArray[np.uint8], columns: Columns, *, delimiter: str, comments: str, wide: bool, threads: int
) -> Parsed:
    """Parse an edge list whose ids are canonical integers: int32, or int64 if `wide`."""
    parser = choose_kernel(twin_text.parse_integers)
    return Parsed(*parser(text, columns, delimiter=delimiter, comments=comments, wide=wide, threads=threads))


def parse_strings(text: NDArray[np.uint8], columns: Columns, *, delimiter: str, comments: str, threads: int) -> Parsed:
    """Parse an edge list with any ids; they are numbered in the order of their bytes."""
    parser = choose_kernel(twin_text.parse_strings)
    return Parsed(*parser(text, columns, delimiter=delimiter, comments=comments, threads=threads))


def number_ids(
    source: NDArray[Any], target: NDArray[Any], *, threads: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
    """Number int32 or int64 ids from 0 in ascending order; also returns the ids, ascending."""
    first, second, names = choose_kernel(twin_edges.number_ids)(source, target, threads=threads)
    return first, second, names.view(np.int64)


def build_rows(
    nodes: int,
    source: NDArray[np.int32],
    target: NDArray[np.int32],
    *,
    weights: NDArray[np.float32] | None,
    directed: bool,
    threads: int,
) -> Rows:
    """Build CSR rows from edges between nodes 0..n-1; see `graphrefine.read` for the rules of merging."""
    build = choose_kernel(twin_edges.build_rows)
    rows = Rows(*build(nodes, source, target, weights=weights, directed=directed, threads=threads))
    return rows._replace(indptr=rows.indptr.view(np.int64))  # the compiled one says "long long"


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
        choose_kernel(twin_arcs.mark_ids)(self.bits, self.pages, self.lowest, ids)

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
        return choose_kernel(twin_arcs.rank_ids)(self.bits, self.before, self.lowest, ids, threads=threads)

    def page_ranks(self) -> NDArray[np.int64]:
        """The rank of the first place of each page, and the number of ids.  # (pages + 1,)."""
        return self.before[:: 1 << PAGE - 6].astype(np.int64)


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
    deal = choose_kernel(twin_arcs.deal_arcs)
    records, offsets = deal(source, target, weights=weights, bounds=bounds, both=both, threads=threads)
    return records, offsets.view(np.int64)


def merge_arcs(rows: int, first: int, records: NDArray[np.uint32], *, weighted: bool, threads: int) -> Rows:
    """Build rows `first` to before ``first + rows`` from the records of their arcs, as `build_rows` would.

    The tally has distinct arcs and, counted in each of its two rows, pairs listed in both directions.
    """
    merge = choose_kernel(twin_arcs.merge_arcs)
    indptr, indices, weights, arcs, pairs = merge(rows, first, records, weighted=weighted, threads=threads)
    return Rows(indptr.view(np.int64), indices, weights, (0, 0, 0, arcs, pairs))


def inspect_rows(indptr: NDArray[np.int64], indices: NDArray[np.int32], weights: NDArray[np.float32] | None) -> int:
    """Properties of a square CSR matrix.

    Returns -1 if an index is out of range, else the sum of `ASCENDING` (strictly), `HOLLOW` and `SYMMETRIC` (ascending,
    and equal to its transpose).
    """
    return choose_kernel(twin_edges.inspect_rows)(indptr, indices, weights)
