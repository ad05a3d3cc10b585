"""The kernels that read graphs, compiled or their Python twins, as `graphrefine.kernels.choose_kernel` decides.

Both give the same arrays, bit for bit, for any number of threads.
"""

from __future__ import annotations

import re
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.kernels import choose_kernel

NUMBER = re.compile(rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
Columns = tuple[int, int, int, int, int]
"""Positions of source, target, weight and time (-1: none), and the most columns that a record may have."""

Marks = tuple[str, str, str, str]
"""Delimiter (a blank stands for any run of blanks; or `PAIR`), quote ("": none), characters that begin a comment
line, and those that begin a line which may be meant as one: it is refused."""

PAIR = "::"  # the one delimiter of two characters; to the kernels it is a colon, and every other column is empty

ASCENDING, HOLLOW, SYMMETRIC = 1, 2, 4  # of `inspect_rows`: rows ascend; nothing on the diagonal; rows mirror columns


class Status(IntEnum):
    """Result of parsing a text; the order is the order of precedence."""

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
    parser = choose_kernel("parse_integers")
    return Parsed(*parser(text, columns, marks, dates=dates, wide=wide, threads=threads))._replace(integers=True)


def parse_strings(text: NDArray[np.uint8], columns: Columns, marks: Marks, *, dates: bool, threads: int) -> Parsed:
    """Parse an edge list with any ids; they are numbered in the order of their bytes."""
    columns, marks = _for_kernels(columns, marks)
    return Parsed(*choose_kernel("parse_strings")(text, columns, marks, dates=dates, threads=threads))


def whole_records(text: NDArray[np.uint8], marks: Marks) -> int:
    """The bytes of whole records at the beginning of a text that goes on: up to the last line end outside of quotes."""
    return int(choose_kernel("whole_records")(text, single(marks)))


def single(marks: Marks) -> Marks:
    """Marks whose delimiter is one character: of `PAIR`, a colon."""
    return (":", *marks[1:]) if marks[0] == PAIR else marks


def _for_kernels(columns: Columns, marks: Marks) -> tuple[Columns, Marks]:
    if marks[0] != PAIR:
        return columns, marks
    source, target, weight, time = (at if at < 0 else 2 * at for at in columns[:4])
    return (source, target, weight, time, 2 * columns[4] - 1), single(marks)


def number_texts(text: NDArray[np.uint8], offsets: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Number strings from 0 in the order of their bytes; also returns where each distinct one is first.

    String i is in the bytes from ``offsets[i]`` to before ``offsets[i + 1]``.

    Examples
    --------
    >>> numbers, firsts = number_texts(np.frombuffer(b"babab", np.uint8), np.array([0, 2, 3, 5]))
    >>> numbers.tolist(), firsts.tolist()  # "ba", "b", "ab"
    ([2, 1, 0], [2, 1, 0])
    """
    numbers, firsts = choose_kernel("number_strings")(text, offsets)
    return numbers, firsts.view(np.int64)


def number_ids(
    source: NDArray[Any], target: NDArray[Any], *, threads: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
    """Number int32 or int64 ids from 0 in ascending order; also returns the ids, ascending."""
    first, second, names = choose_kernel("number_ids")(source, target, threads=threads)
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
    build = choose_kernel("build_rows")
    rows = Rows(*build(nodes, source, target, weights=weights, directed=directed, threads=threads))
    return rows._replace(indptr=rows.indptr.view(np.int64))  # the compiled one says "long long"


def inspect_rows(indptr: NDArray[np.int64], indices: NDArray[np.int32], weights: NDArray[np.float32] | None) -> int:
    """Properties of a square CSR matrix.

    Returns -1 if an index is out of range, else the sum of `ASCENDING` (strictly), `HOLLOW` and `SYMMETRIC` (ascending,
    and equal to its transpose).
    """
    return int(choose_kernel("inspect_rows")(indptr, indices, weights))
