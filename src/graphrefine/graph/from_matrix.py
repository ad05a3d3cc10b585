"""Adjacency matrices to rows of a graph. Row i of the matrix stays row i; names are 0..n-1 by default.

A matrix that already keeps the promises of `Graph` (symmetric, rows ascending, an empty diagonal, all ones) gives its
arrays to the graph without a copy; any other goes through the same merging as an edge list.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import InputError
from graphrefine.graph.adjacency import Adjacency, check_weights, merge_edges
from graphrefine.graph.node_ids import MAX_NODES, name_array
from graphrefine.kernels import edge_lists

ASCENDING, HOLLOW, SYMMETRIC = 1, 2, 4  # of `inspect_rows`: rows ascend; nothing on the diagonal; rows mirror columns


def adjacency_of_matrix(
    matrix: Any,
    *,
    directed: bool,
    names: Sequence[Any] | NDArray[Any] | None = None,
    threads: int = 1,
    weighted: bool = True,
) -> Adjacency:
    """Rows of a square matrix, see `Graph.from_matrix`; ``weighted=False`` takes every entry but zero for 1."""
    indptr, indices, values = _compress(matrix, directed)
    row_names = _row_names(len(indptr) - 1, names)
    weights = _entry_weights(values, weighted)
    properties = edge_lists.inspect_rows(indptr, indices, weights)
    if properties < 0:
        raise InputError(f"the matrix has entries outside its {len(row_names)} rows and columns")
    needed = ASCENDING | HOLLOW | (0 if directed else SYMMETRIC)
    if properties & needed == needed and (weights is None or bool((weights > 0).all())):
        counts = {"self_loops": 0, "duplicates": 0, "reciprocal": 0 if directed else len(indices) // 2}
        report = {"records": len(indices), **counts, "zero_weights": 0, "missing": 0}
        return Adjacency(indptr, indices, weights, row_names, directed, report)
    rows = np.repeat(np.arange(len(row_names), dtype=np.int32), np.diff(indptr))
    return merge_edges((rows, indices, row_names), weights, directed=directed, threads=threads)


def adjacency_of_bipartite_matrix(matrix: Any, *, threads: int, weighted: bool = True) -> Adjacency:
    """A matrix whose rows and columns are two sets of nodes, each named from 0, the rows first.

    Examples
    --------
    >>> rows = adjacency_of_bipartite_matrix([[1, 0, 2], [0, 0, 1]], threads=1)
    >>> rows.indices.tolist(), rows.names.tolist(), rows.sources
    ([2, 4, 4, 0, 0, 1], [0, 1, 0, 1, 2], 2)
    """
    from scipy.sparse import coo_array

    array = matrix if hasattr(matrix, "tocsr") else np.asarray(matrix)
    if len(array.shape) != 2 or array.dtype.kind not in "biuf":
        raise InputError(f"a matrix of real numbers is needed, not {array.dtype} of shape {array.shape}")
    entries = coo_array(array)
    rows, columns = entries.shape
    if rows + columns > MAX_NODES:
        raise InputError(f"a graph of {rows:,} + {columns:,} nodes is too large: the limit is 2^31 - 1")
    numbered = (
        entries.coords[0].astype(np.int32),
        (entries.coords[1] + rows).astype(np.int32),
        np.concatenate([np.arange(rows, dtype=np.int64), np.arange(columns, dtype=np.int64)]),
    )
    weights = _entry_weights(entries.data, weighted)
    return merge_edges(numbered, weights, directed=False, threads=threads, sources=rows)


def _entry_weights(values: NDArray[Any], weighted: bool) -> NDArray[np.float32] | None:
    """Weights of the entries of a matrix; None if all are 1."""
    weights = check_weights(values, len(values))
    if not weighted:
        weights = np.minimum(np.ceil(weights), 1)
    return None if bool((weights == 1).all()) else weights


def _row_names(nodes: int, names: Sequence[Any] | NDArray[Any] | None) -> NDArray[Any]:
    """The names of a matrix's rows, by default 0..n-1."""
    if names is None:
        return np.arange(nodes, dtype=np.int64)
    array = name_array(names)
    if len(array) != nodes or len(set(array.tolist())) != nodes:
        raise InputError(f"a matrix of {nodes} rows needs {nodes} distinct names, not {len(array)}", argument="nodes")
    return array


def _compress(matrix: Any, directed: bool) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[Any]]:
    """CSR arrays of the matrix; of its transpose where that is at hand and direction does not matter."""
    if not hasattr(matrix, "tocsr"):
        from scipy.sparse import csr_array

        dense = np.asarray(matrix)
        _check_square(dense.shape, dense.dtype)
        matrix = csr_array(dense)
    _check_square(matrix.shape, matrix.dtype)
    rows = matrix if getattr(matrix, "format", "") == "csc" and not directed else matrix.tocsr()
    if matrix.shape[0] > MAX_NODES:
        raise InputError(f"a graph of {matrix.shape[0]:,} nodes is too large: the limit is 2^31 - 1")
    return (
        np.ascontiguousarray(rows.indptr, dtype=np.int64),
        np.ascontiguousarray(rows.indices, dtype=np.int32),
        np.ascontiguousarray(rows.data),
    )


def _check_square(shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    """Raise InputError unless the matrix can be an adjacency matrix."""
    if len(shape) != 2 or shape[0] != shape[1]:
        way_out = "; bipartite=True reads its rows and columns as two sets of nodes" if len(shape) == 2 else ""
        raise InputError(f"an adjacency matrix must be square, not {' x '.join(map(str, shape))}{way_out}")
    if dtype.kind not in "biuf":
        raise InputError(f"an adjacency matrix must hold real numbers, not {dtype}")
