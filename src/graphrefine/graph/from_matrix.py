"""Adjacency matrices to graphs. Row i of the matrix stays row i; names are 0..n-1 unless given.

A matrix that already is what `Graph` promises (symmetric, rows ascending, an empty diagonal, all ones) gives
its arrays to the graph without a copy; any other goes through the same merging as an edge list.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import InputError
from graphrefine.graph.edge_weights import check_weights
from graphrefine.graph.graph import Graph, build
from graphrefine.graph.node_ids import name_array
from graphrefine.kernels import ingest

_READY = 1 | 2 | 4  # ascending, nothing on the diagonal, symmetric


def graph_of_matrix(
    matrix: Any,
    *,
    directed: bool,
    names: Sequence[Any] | NDArray[Any] | None = None,
    threads: int = 1,
    weighted: bool = True,
    source: str = "memory",
) -> Graph:
    """See `Graph.from_matrix`; `weighted=False` takes every entry but zero for 1."""
    indptr, indices, values = _compressed(matrix, directed)
    nodes = len(indptr) - 1
    weights = check_weights(values, len(indices))
    if not weighted:
        weights = np.minimum(np.ceil(weights), 1)
    unweighted = bool((weights == 1).all())
    return graph_of_rows(
        indptr,
        indices,
        None if unweighted else weights,
        directed=directed,
        names=row_names(nodes, names),
        threads=threads,
        source=source,
    )


def bipartite_of_matrix(matrix: Any, *, threads: int, weighted: bool = True, source: str = "memory") -> Graph:
    """A matrix whose rows and columns are two sets of nodes, each named from 0, the rows first.

    Examples
    --------
    >>> bipartite_of_matrix([[1, 0, 2], [0, 0, 1]], threads=1)
    Graph(5 nodes, 3 edges, bipartite (2 + 3), weighted, 1 isolated)
    """
    from scipy.sparse import coo_array

    entries = matrix if hasattr(matrix, "tocsr") else np.asarray(matrix)
    if len(entries.shape) != 2 or entries.dtype.kind not in "biuf":
        raise InputError(f"a matrix of real numbers is needed, not {entries.dtype} of shape {entries.shape}")
    listed = coo_array(entries)
    rows, columns = listed.shape
    if rows + columns > np.iinfo(np.int32).max:
        raise InputError(f"a graph of {rows:,} + {columns:,} nodes is too large: the limit is 2^31 - 1")
    weights = check_weights(listed.data, listed.nnz)
    numbered = (
        listed.coords[0].astype(np.int32),
        (listed.coords[1] + rows).astype(np.int32),
        np.concatenate([np.arange(rows, dtype=np.int64), np.arange(columns, dtype=np.int64)]),
    )
    ones = np.minimum(np.ceil(weights), 1)
    values = weights if weighted else ones
    return build(numbered, values, directed=False, threads=threads, source=source, sources=rows)


def graph_of_rows(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    weights: NDArray[np.float32] | None,
    *,
    directed: bool,
    names: NDArray[Any],
    threads: int,
    source: str,
) -> Graph:
    """A graph from the checked rows of a square matrix."""
    seen = ingest.inspect_rows(indptr, indices, weights)
    if seen < 0:
        raise InputError(f"the matrix has entries outside its {len(names)} rows and columns")
    wanted = _READY & ~4 if directed else _READY
    if seen & wanted == wanted and (weights is None or bool((weights > 0).all())):
        counts = {"self_loops": 0, "duplicates": 0, "reciprocal": 0 if directed else len(indices) // 2}
        report = {"records": len(indices), **counts, "zero_weights": 0, "missing": 0}
        return Graph(indptr, indices, weights, names, directed=directed, report=report, source=source)
    rows = np.repeat(np.arange(len(names), dtype=np.int32), np.diff(indptr))
    return build((rows, indices, names), weights, directed=directed, threads=threads, source=source)


def row_names(nodes: int, names: Sequence[Any] | NDArray[Any] | None) -> NDArray[Any]:
    """The given names of a matrix's rows, or 0..n-1."""
    if names is None:
        return np.arange(nodes, dtype=np.int64)
    listed = name_array(names)
    if len(listed) != nodes or len(set(listed.tolist())) != nodes:
        raise InputError(f"a matrix of {nodes} rows needs {nodes} distinct names, not {len(listed)}")
    return listed


def _compressed(matrix: Any, directed: bool) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[Any]]:
    """CSR arrays of the matrix; of its transpose where that is at hand and direction does not matter."""
    if not hasattr(matrix, "tocsr"):
        from scipy.sparse import csr_array

        dense = np.asarray(matrix)
        check_square(dense.shape, dense.dtype)
        matrix = csr_array(dense)
    check_square(matrix.shape, matrix.dtype)
    rows = matrix if getattr(matrix, "format", "") == "csc" and not directed else matrix.tocsr()
    if matrix.shape[0] > np.iinfo(np.int32).max:
        raise InputError(f"a graph of {matrix.shape[0]:,} nodes is too large: the limit is 2^31 - 1")
    return (
        np.ascontiguousarray(rows.indptr, dtype=np.int64),
        np.ascontiguousarray(rows.indices, dtype=np.int32),
        np.ascontiguousarray(rows.data),
    )


def check_square(shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    """Raise InputError unless the matrix can be an adjacency matrix."""
    if len(shape) != 2 or shape[0] != shape[1]:
        way_out = "; bipartite=True reads its rows and columns as two sets of nodes" if len(shape) == 2 else ""
        raise InputError(f"an adjacency matrix must be square, not {' x '.join(map(str, shape))}{way_out}")
    if dtype.kind not in "biuf":
        raise InputError(f"an adjacency matrix must hold real numbers, not {dtype}")
