"""The kernels that read graphs, compiled or their Python twins, as `graphrefine.kernels.kernels` chooses.

Both give the same arrays, bit for bit, for any number of threads.
"""

from __future__ import annotations

from enum import IntEnum
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.kernels import kernels, twin_edges, twin_text

Columns = tuple[int, int, int, int]
"""Positions of source, target and weight (-1: none), and the most columns that a line may have."""


class Status(IntEnum):
    """What a parser has to say of a text; the order is the order of precedence."""

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
    """A graph in CSR form, with what was merged and left out on the way."""

    indptr: NDArray[np.int64]  # (n + 1,)
    indices: NDArray[np.int32]  # (nnz,)
    weights: NDArray[np.float32] | None  # (nnz,)
    tally: tuple[int, int, int, int, int]  # missing, self-loops, zeros, distinct arcs, reciprocal pairs


def parse_integers(
    text: NDArray[np.uint8], columns: Columns, *, delimiter: str, comments: str, wide: bool, threads: int
) -> Parsed:
    """Parse an edge list whose ids are canonical integers: int32, or int64 if `wide`."""
    parser = _function("parse_integers", twin_text)
    return Parsed(*parser(text, columns, delimiter=delimiter, comments=comments, wide=wide, threads=threads))


def parse_strings(
    text: NDArray[np.uint8], columns: Columns, *, delimiter: str, comments: str, threads: int
) -> Parsed:
    """Parse an edge list with any ids; they are numbered in the order of their bytes."""
    parser = _function("parse_strings", twin_text)
    return Parsed(*parser(text, columns, delimiter=delimiter, comments=comments, threads=threads))


def number_ids(
    source: NDArray[Any], target: NDArray[Any], *, threads: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
    """Number int32 or int64 ids from 0 in ascending order; also returns the ids, ascending."""
    first, second, names = _function("number_ids", twin_edges)(source, target, threads=threads)
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
    """Build CSR rows from edges between nodes 0..n-1; see `graphrefine.read` for what is merged and how."""
    build = _function("build_rows", twin_edges)
    rows = Rows(*build(nodes, source, target, weights=weights, directed=directed, threads=threads))
    return rows._replace(indptr=rows.indptr.view(np.int64))  # the compiled one says "long long"


def inspect_rows(
    indptr: NDArray[np.int64], indices: NDArray[np.int32], weights: NDArray[np.float32] | None
) -> int:
    """Look a square CSR matrix over.

    Returns -1 if an index is out of range, else the sum of 1 (rows strictly ascending), 2 (nothing on the
    diagonal) and 4 (ascending, and equal to its transpose).
    """
    return int(_function("inspect_rows", twin_edges)(indptr, indices, weights))


def _function(name: str, twin: ModuleType) -> Any:
    if kernels().name == "scipy":
        return getattr(twin, name)
    from graphrefine.kernels import _native

    return getattr(_native, name)
