"""Read graphs: texts to edges, ids to numbers, edges to CSR rows, all at once or piece by piece.

The arrays are the same, bit for bit, for any number of threads.
"""

from __future__ import annotations

import re
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.kernels import native

NUMBER = re.compile(rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
Columns = tuple[int, int, int, int, int]
"""Positions of source, target, weight and time (-1: none), and the most columns that a record may have."""

Marks = tuple[str, str, str, str]
"""Delimiter (a blank means any run of blanks; or `PAIR`), quote ("": none), characters that begin a comment line, and
those that begin a line which may be meant as one: it is refused."""

# The one delimiter of two characters. To the kernels it is a colon and every other column is empty: no loop sees pairs.
PAIR = "::"

ASCENDING, HOLLOW, SYMMETRIC = 1, 2, 4  # of `inspect_rows`: rows ascend; nothing on the diagonal; rows mirror columns

PAGE = 10  # bits of an index within a page of ids: an `IdSet` counts additions by pages of 1024


class Status(IntEnum):
    """Outcome of parsing a text; the order is the order of precedence."""

    OK = 0
    NOT_INTEGER = 1
    TOO_WIDE = 2
    FEW_COLUMNS = 3
    MANY_COLUMNS = 4
    BAD_WEIGHT = 5
    BAD_TIME = 6
    OPEN_QUOTE = 7
    AFTER_QUOTE = 8
    LINE_IN_NAME = 9
    LONE_RETURN = 10
    COMMENT_LIKE = 11


class Parsed(NamedTuple):
    """Records of a text edge list, in file order."""

    status: int
    line: int  # of the first error, from 1
    source: NDArray[Any]  # (m,) ids, or numbers into names; -1 for an empty field
    target: NDArray[Any]  # (m,)
    weights: NDArray[np.float32] | None  # (m,)
    times: NDArray[np.float64] | None  # (m,) as the text has them, or seconds since 1970 where it has dates
    names: bytes  # a line each, sorted; empty if all fields are
    comments: int
    trimmed: int  # ids that had blanks around them
    integers: bool = False  # the ids, which have no names then


class Rows(NamedTuple):
    """A graph in CSR form, with a tally of entries that were merged or left out on the way."""

    indptr: NDArray[np.int64]  # (n + 1,)
    indices: NDArray[np.int32]  # (nnz,)
    weights: NDArray[np.float32] | None  # (nnz,)
    tally: tuple[int, int, int, int, int]  # missing, self-loops, zeros, distinct arcs, reciprocal pairs


def parse_integers(
    text: NDArray[np.uint8], columns: Columns, marks: Marks, *, dates: bool, wide: bool, threads: int
) -> Parsed:
    """Parse an edge list whose ids are canonical integers: int32, or int64 if `wide`.

    ``dates``: the column of times holds dates, not numbers.
    """
    columns, marks = _for_kernels(columns, marks)
    parsed = native.parse_integers(text, columns, marks, dates=dates, wide=wide, threads=threads)
    return Parsed(*parsed)._replace(integers=True)


def parse_strings(text: NDArray[np.uint8], columns: Columns, marks: Marks, *, dates: bool, threads: int) -> Parsed:
    """Parse an edge list with any ids; they are numbered in the order of their bytes."""
    columns, marks = _for_kernels(columns, marks)
    return Parsed(*native.parse_strings(text, columns, marks, dates=dates, threads=threads))


def whole_records(text: NDArray[np.uint8], marks: Marks) -> int:
    """Return the size of the whole records at the beginning of a text: up to the last line end outside of quotes."""
    return int(native.whole_records(text, single(marks)))


def single(marks: Marks) -> Marks:
    """Return marks whose delimiter is one character: of `PAIR`, a colon."""
    return (":", *marks[1:]) if marks[0] == PAIR else marks


def _for_kernels(columns: Columns, marks: Marks) -> tuple[Columns, Marks]:
    if marks[0] != PAIR:
        return columns, marks
    source, target, weight, time = (at if at < 0 else 2 * at for at in columns[:4])
    return (source, target, weight, time, 2 * columns[4] - 1), single(marks)


def number_texts(text: NDArray[np.uint8], offsets: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return numbers of strings, from 0 in the order of their bytes, and where each distinct one is first.

    String i is in the bytes from ``offsets[i]`` to before ``offsets[i + 1]``.

    Examples
    --------
    >>> numbers, firsts = number_texts(np.frombuffer(b"babab", np.uint8), np.array([0, 2, 3, 5]))
    >>> numbers.tolist(), firsts.tolist()  # "ba", "b", "ab"
    ([2, 1, 0], [2, 1, 0])
    """
    numbers, firsts = native.number_strings(text, offsets)
    return numbers, firsts.view(np.int64)


def number_ids(
    source: NDArray[Any], target: NDArray[Any], *, threads: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
    """Return numbers of int32 or int64 ids, from 0 in ascending order, and the ids, ascending."""
    first, second, names = native.number_ids(source, target, threads=threads)
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
    rows = Rows(*native.build_rows(nodes, source, target, weights=weights, directed=directed, threads=threads))
    return rows._replace(indptr=rows.indptr.view(np.int64))  # NumPy has two types of 64 bits, and C++ picks the other


def inspect_rows(indptr: NDArray[np.int64], indices: NDArray[np.int32], weights: NDArray[np.float32] | None) -> int:
    """Check a square CSR matrix.

    Returns -1 if an index is out of range, else the sum of `ASCENDING` (strictly), `HOLLOW` and `SYMMETRIC` (ascending,
    and equal to its transpose).
    """
    return int(native.inspect_rows(indptr, indices, weights))


class IdSet:
    """Set of integers in a range, a bit each, with their ranks; and counts of additions, by pages of 1024.

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
        """Return the memory of a set of this range."""
        return (highest - lowest + 1024) * 13 // 64

    def add(self, ids: NDArray[Any]) -> None:
        """Add int32 or int64 ids, all of them in the range."""
        native.mark_ids(self.bits, self.pages, self.lowest, ids)

    def close(self) -> None:
        """Count the ids, so that there are ranks; ValueError if there are more than a graph can have nodes."""
        before, total, step = np.zeros(len(self.bits) + 1, np.int32), 0, 1 << 16
        for start in range(0, len(self.bits), step):
            counts = np.cumsum(np.bitwise_count(self.bits[start : start + step]), dtype=np.int64) + total
            before[start + 1 : start + 1 + len(counts)] = np.minimum(counts, np.iinfo(np.int32).max)
            total = int(counts[-1])
        if total >= np.iinfo(np.int32).max:
            raise ValueError(f"{total} ids")
        self.before = before

    def ranks(self, ids: NDArray[Any], *, threads: int) -> NDArray[np.int32]:
        """Return the number of smaller ids in the set, for each id; all of them must be in it."""
        ranks: NDArray[np.int32] = native.rank_ids(self.bits, self.before, self.lowest, ids, threads=threads)
        return ranks

    def page_ranks(self) -> NDArray[np.int64]:
        """Return the rank of the first possible id of each page, and the number of ids.  # (pages + 1,)."""
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
    records, offsets = native.deal_arcs(source, target, weights=weights, bounds=bounds, both=both, threads=threads)
    return records, offsets.view(np.int64)


def merge_arcs(rows: int, first: int, records: NDArray[np.uint32], *, weighted: bool, threads: int) -> Rows:
    """Build rows `first` to before ``first + rows`` from the records of their arcs, as `build_rows` would.

    The tally has distinct arcs and, counted in each of its two rows, pairs listed in both directions.
    """
    merged = native.merge_arcs(rows, first, records, weighted=weighted, threads=threads)
    indptr, indices, weights, arcs, pairs = merged
    return Rows(indptr.view(np.int64), indices, weights, (0, 0, 0, arcs, pairs))
