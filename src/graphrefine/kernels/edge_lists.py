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
WORD = re.compile(rb"[^ \t]+")  # between blanks
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
    parser = choose_kernel("parse_integers")
    return Parsed(*parser(text, columns, delimiter=delimiter, comments=comments, wide=wide, threads=threads))


def parse_strings(text: NDArray[np.uint8], columns: Columns, *, delimiter: str, comments: str, threads: int) -> Parsed:
    """Parse an edge list with any ids; they are numbered in the order of their bytes."""
    parser = choose_kernel("parse_strings")
    return Parsed(*parser(text, columns, delimiter=delimiter, comments=comments, threads=threads))


def split_fields(line: bytes, delimiter: bytes) -> list[bytes]:
    """The fields of one line; a single space stands for any run of blanks.

    A field is quoted if it begins with a quote that is closed right before a delimiter or the line end; any
    other quote is an ordinary character.

    Examples
    --------
    >>> split_fields(b'"a, b",c d,"e', b",")
    [b'a, b', b'c d', b'"e']
    """
    if delimiter == b" ":
        return WORD.findall(line)
    if b'"' not in line:
        return line.split(delimiter)
    quoted = re.compile(rb' *"((?:[^"]|"")*)" *(?=' + re.escape(delimiter) + rb"|\Z)")
    fields, at = [], 0
    while at <= len(line):
        match = quoted.match(line, at)
        if match:
            fields.append(match[1].replace(b'""', b'"'))
            at = match.end() + 1
        else:
            end = line.find(delimiter, at)
            stop = len(line) if end < 0 else end
            fields.append(line[at:stop])
            at = stop + 1
    return fields


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
