"""Adjacency: rows of a graph, from edges with numbered ends or from a matrix; weights checked and summed.

Row i of a matrix stays row i; names are 0..n-1 by default. A matrix that already keeps the promises of `Graph`
(symmetric, rows ascending, an empty diagonal, all ones) gives its arrays to the graph without a copy; any other goes
through the same merging as an edge list.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import InputError
from graphrefine.graph.node_ids import MAX_NODES, Numbered, id_array, name_array
from graphrefine.kernels import edge_lists
from graphrefine.kernels.edge_lists import ASCENDING, HOLLOW, SYMMETRIC

# Counts of records that were left out or joined, and of nodes without edges, in words.
NOTES = {
    "self_loops": "self-loops left out",
    "duplicates": "edges listed again, their weights added (1 each where there are none)",
    "reciprocal": "edges listed in both directions, counted once",
    "zero_weights": "edges of weight 0 left out",
    "missing": "records with an empty end left out",
    "trimmed": "names with blanks around them, read without",
    "isolated": "nodes without edges, their vectors zero",
    "zero_vectors": "nodes with edges whose vectors came out zero all the same",
    "alone": "nodes without edges, their vectors from features alone",
    "bare": "nodes without features",
    "unknown": "rows of features for nodes that the graph does not have",
}
FLOAT32_RANGE = "float32 numbers go from 1.4e-45 to 3.4e38: scale the weights"
# The counts that are a part of how a graph was read; the others are of what is made of it later.
READING_COUNTS = ("self_loops", "duplicates", "reciprocal", "zero_weights", "missing", "trimmed")


class Adjacency(NamedTuple):
    """The fields of a `Graph` that its edges decide."""

    indptr: NDArray[np.int64]  # (n + 1,)
    indices: NDArray[np.int32]  # (entries,)
    weights: NDArray[np.float32] | None  # (entries,)
    names: NDArray[Any]  # (n,)
    directed: bool
    report: Mapping[str, Any]
    sources: int | None = None


class Rows(NamedTuple):
    """Consecutive rows of a graph as CSR; views, not copies, of the large arrays."""

    indptr: NDArray[np.int64]  # (rows + 1,), from 0
    indices: NDArray[np.int32]  # (entries,), columns of the whole graph
    weights: NDArray[np.float32] | None  # (entries,)


def cut_rows(rows: Rows, start: int, stop: int) -> Rows:
    """Return the rows from `start` to before `stop`."""
    first, last = int(rows.indptr[start]), int(rows.indptr[stop])
    weights = None if rows.weights is None else rows.weights[first:last]
    return Rows(rows.indptr[start : stop + 1] - first, rows.indices[first:last], weights)


def merge_edges(
    numbered: Numbered,
    weights: NDArray[np.float32] | None,
    *,
    directed: bool,
    threads: int,
    report: Mapping[str, Any] | None = None,
    sources: int | None = None,
) -> Adjacency:
    """Merge numbered edges into rows. The arrays are trusted: the reader checked them.

    Examples
    --------
    >>> ends = np.array([0, 0, 1], np.int32), np.array([1, 1, 0], np.int32)
    >>> rows = merge_edges((*ends, np.array(["a", "b"], object)), None, directed=False, threads=1)
    >>> rows.indices.tolist(), rows.weights.tolist(), rows.report["duplicates"]
    ([1, 0], [2.0, 2.0], 1)
    """
    first, second, names = numbered
    rows = edge_lists.build_rows(len(names), first, second, weights=weights, directed=directed, threads=threads)
    missing, loops, zeros, arcs, reciprocal = rows.tally
    merged = rows.weights
    # Each weight is finite, but float32 has no room for every sum of them.
    if merged is not None and not np.isfinite(merged).all():
        raise InputError("the weights of an edge's duplicates add up to more than float32 can hold", argument="weights")
    counts = {
        "records": len(first),
        "self_loops": loops,
        "duplicates": len(first) - missing - loops - zeros - arcs,
        "reciprocal": reciprocal,
        "zero_weights": zeros,
        "missing": missing,
    }
    if merged is not None and bool((merged == 1).all()):
        merged = None
    return Adjacency(rows.indptr, rows.indices, merged, names, directed, {**counts, **(report or {})}, sources)


def adjacency_of_matrix(
    matrix: Any,
    *,
    directed: bool,
    names: Sequence[Any] | NDArray[Any] | None = None,
    threads: int = 1,
    weighted: bool = True,
) -> Adjacency:
    """Return the rows of a square matrix; ``weighted=False`` takes every entry but zero for 1."""
    indptr, indices, values = _compress(matrix, directed)
    row_names = _row_names(len(indptr) - 1, names)
    weights = _entry_weights(values, weighted)
    properties = edge_lists.inspect_rows(indptr, indices, weights)
    if properties < 0:
        raise InputError(f"the matrix has entries outside its {len(row_names)} rows and columns")
    # The arrays of a sound matrix become those of the graph: a copy would double the memory of a large one.
    needed = ASCENDING | HOLLOW | (0 if directed else SYMMETRIC)
    if properties & needed == needed and (weights is None or bool((weights > 0).all())):
        counts = {"self_loops": 0, "duplicates": 0, "reciprocal": 0 if directed else len(indices) // 2}
        report = {"records": len(indices), **counts, "zero_weights": 0, "missing": 0}
        return Adjacency(indptr, indices, weights, row_names, directed, report)
    rows = np.repeat(np.arange(len(row_names), dtype=np.int32), np.diff(indptr))
    return merge_edges((rows, indices, row_names), weights, directed=directed, threads=threads)


def adjacency_of_bipartite_matrix(
    matrix: Any,
    *,
    threads: int,
    weighted: bool = True,
    names: NDArray[Any] | None = None,
    column_names: NDArray[Any] | None = None,
) -> Adjacency:
    """Return the rows of a matrix whose rows and columns are two sets of nodes, each named from 0 by default."""
    array = matrix if hasattr(matrix, "tocsr") else np.asarray(matrix)
    if len(array.shape) != 2 or array.dtype.kind not in "biuf":
        raise InputError(f"a matrix of real numbers is needed, not {array.dtype} of shape {array.shape}")
    from scipy.sparse import coo_array

    try:
        entries = coo_array(_as_stored(array))
    except ValueError as error:  # indices outside of a sparse matrix
        raise InputError(f"this is no sound sparse matrix: {error}") from None
    rows, columns = entries.shape
    if rows + columns > MAX_NODES:
        raise InputError(f"a graph of {rows:,} + {columns:,} nodes is too large: the limit is 2^31 - 1")
    numbered = (
        entries.coords[0].astype(np.int32),
        (entries.coords[1] + rows).astype(np.int32),
        np.concatenate([_row_names(rows, names), _row_names(columns, column_names)]),
    )
    weights = _entry_weights(entries.data, weighted)
    return merge_edges(numbered, weights, directed=False, threads=threads, sources=rows)


def _entry_weights(values: NDArray[Any], weighted: bool) -> NDArray[np.float32] | None:
    """Return the weights of the entries of a matrix; None if all are 1."""
    if not weighted and values.dtype.kind == "f":
        # An entry that is not 0 is an edge of weight 1: rounded up before the smallest become 0 in float32.
        values = np.where(values > 0, np.ceil(values), values)
    weights = check_weights(values, len(values))
    if not weighted:
        weights = np.minimum(weights, 1)
    return None if bool((weights == 1).all()) else weights


def _row_names(nodes: int, names: Sequence[Any] | NDArray[Any] | None) -> NDArray[Any]:
    """Return the names of a matrix's rows, by default 0..n-1."""
    if names is None:
        return np.arange(nodes, dtype=np.int64)
    array = name_array(names)
    if len(array) != nodes or len(set(array.tolist())) != nodes:
        raise InputError(f"a matrix of {nodes} rows needs {nodes} distinct names, not {len(array)}", argument="nodes")
    return array


def _compress(matrix: Any, directed: bool) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[Any]]:
    """Return the CSR arrays of a matrix; of its transpose where that is at hand and direction does not matter."""
    sparse = hasattr(matrix, "tocsr")
    array: Any = matrix if sparse else np.asarray(matrix)
    shape = array.shape
    if len(shape) != 2 or shape[0] != shape[1]:
        advice = "; bipartite=True reads its rows and columns as two sets of nodes" if len(shape) == 2 else ""
        raise InputError(f"an adjacency matrix must be square, not {' x '.join(map(str, shape))}{advice}")
    if array.dtype.kind not in "biuf":
        raise InputError(f"an adjacency matrix must hold real numbers, not {array.dtype}")
    if shape[0] > MAX_NODES:
        raise InputError(f"a graph of {shape[0]:,} nodes is too large: the limit is 2^31 - 1")
    if not sparse:
        from scipy.sparse import csr_array

        array = csr_array(_as_stored(array))
    # CSC arrays of a matrix are the CSR arrays of its transpose, which is the same undirected graph.
    rows = array if getattr(array, "format", "") == "csc" and not directed else array.tocsr()
    return (
        np.ascontiguousarray(rows.indptr, dtype=np.int64),
        np.ascontiguousarray(rows.indices, dtype=np.int32),
        np.ascontiguousarray(rows.data),
    )


def _as_stored(array: Any) -> Any:
    """Return the array with numbers that SciPy's sparse matrices hold: no half precision, native order of bytes."""
    if hasattr(array, "tocsr") or (array.dtype.isnative and array.dtype.itemsize > 2):
        return array
    return array.astype(np.float32 if array.dtype == np.float16 else array.dtype.newbyteorder("="))


def sums_of_rows(indptr: NDArray[np.int64], weights: NDArray[np.float32] | None) -> NDArray[np.float64]:
    """Return the sum of the weights of each row of CSR, ones where None.  # (n,)."""
    counts = np.diff(indptr)
    if weights is None:
        return counts.astype(np.float64)
    # In float64, as a hub's row has millions of weights. Empty rows are left out: reduceat would give each the first
    # weight of the next row.
    sums = np.zeros(len(counts))
    filled = counts > 0
    if filled.any():
        sums[filled] = np.add.reduceat(weights, indptr[:-1][filled], dtype=np.float64)
    return sums


def inverses(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 1 over each value; 0 where it is 0."""
    return np.divide(1.0, values, out=np.zeros_like(values), where=values > 0)


def check_weights(weights: NDArray[Any], count: int, *, before: int = 0) -> NDArray[np.float32]:
    """Return weights as float32; InputError for the first that is negative or does not fit float32.

    ``before`` is the number of records before these.
    """
    if weights.shape != (count,):
        problem = f"weights must be one for each of the {count} edges, not of shape {weights.shape}"
        raise InputError(problem, argument="weights")
    if weights.dtype.kind in "mMc":  # times would become counts of their unit, complex numbers their real part
        raise InputError(f"weights must be real numbers, not {weights.dtype}", argument="weights")
    if weights.dtype.kind not in "iufb":
        try:
            weights = weights.astype(np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            raise InputError(f"weights must be numbers: {error}", argument="weights") from None
    with np.errstate(over="ignore", under="ignore"):
        values = np.ascontiguousarray(weights, dtype=np.float32)
    # A weight that float32 rounds to 0 would be no edge, without a word; one that it rounds to infinity, no number.
    wrong = ~(np.isfinite(values) & (values >= 0))
    zero = np.flatnonzero(values == 0)
    wrong[zero[weights[zero] != 0]] = True
    bad = np.flatnonzero(wrong)
    if bad.size:
        weight = weights[bad[0]]
        usual = "is not allowed; weights must be finite float32 numbers and not negative"
        problem = describe_outside(float(weight)) or usual
        raise InputError(f"record {before + bad[0] + 1}: weight {weight} {problem}", argument="weights")
    return values


def describe_outside(weight: float, *, text: str = "") -> str | None:
    """Return the problem of a positive weight that float32 does not hold, in words; ``text`` is how it was written."""
    with np.errstate(over="ignore", under="ignore"):
        value = np.float32(weight)
    digits = text.lower().partition("e")[0].strip("+-.0 ")  # none: it is written as 0
    if value == 0 and (weight > 0 or (digits and not text.strip().startswith("-"))):
        return f"is 0 as a float32 number; {FLOAT32_RANGE}"
    written_finite = weight < np.inf or any(digit in text for digit in "0123456789")
    if value == np.inf and written_finite:
        return f"is not a finite float32 number; {FLOAT32_RANGE}"
    return None


def list_notes(counts: Mapping[str, Any], *, edges: int) -> list[str]:
    """Return counts of the reading in words, but for those that most people expect."""
    symmetric = counts.get("reciprocal") == edges  # a symmetric matrix, or a list meant so
    expected = {"reciprocal"} if symmetric else set()
    return [f"{text}: {counts[name]:,}" for name, text in NOTES.items() if counts.get(name) and name not in expected]


def describe_reading(
    report: Mapping[str, Any], *, directed: bool, weights: NDArray[np.float32] | None, edges: int
) -> str:
    """Return the reading of a graph in one line: format, columns, direction, weights, counts; for its report."""
    format = str(report.get("format", "edges"))
    if "header" in report:
        format += f" with{'' if report['header'] else 'out'} a header"
    if report.get("delimiter") not in (None, "comma" if format.startswith("csv") else "tab"):
        format += f", split by {report['delimiter']}"
    ends = [_quote(column) for column in report.get("columns", ())]
    between = f"edges {' -> '.join(ends) if directed else ' - '.join(ends)}, " if ends else ""
    why = ", as the graph says" if report.get("direction") == "declared" else ""
    parts = [format, f"{between}{'directed' if directed else 'undirected'}{why}", _describe_weights(report, weights)]
    parts += [str(report["times"])] if report.get("times") else []
    unused = [
        _quote(column) + (f" ({kind})" if (kind := report.get("column_kinds", {}).get(str(column))) else "")
        for column in report.get("ignored_columns", ())
    ]
    parts += [f"not used: {', '.join(unused)}"] if unused else []
    parts += [f"{report['comments']:,} comment line{'s' * (report['comments'] != 1)}"] if report.get("comments") else []
    # Graphs on disk that were ingested by 0.1.0 have their notes under "remarks".
    parts += [str(note) for key in ("remarks", "notes") for note in report.get(key, ())]
    parts += list_notes({name: report.get(name, 0) for name in READING_COUNTS}, edges=edges)
    return "; ".join(parts)


def _describe_weights(report: Mapping[str, Any], weights: NDArray[np.float32] | None) -> str:
    column = report.get("weight_column")
    name = "weights" if column is None else f"weights {_quote(column)}"
    if weights is None or not len(weights):
        return "no weights" if column is None else f"{name} (all 1)"
    source = " of repeated edges" if column is None and report.get("duplicates") and "columns" in report else ""
    if isinstance(weights, np.memmap):  # on disk: not worth reading all of it
        return f"{name}{source}"
    return f"{name}{source} ({weights.min():g} to {weights.max():g})"


def _quote(column: Any) -> str:
    return repr(column) if isinstance(column, str) else f"column {column}"


def end_array(side: Any) -> NDArray[Any]:
    """Return ids as an array; in a list that is a mix of types, each keeps its own."""
    kinds = set(map(type, side)) if isinstance(side, list | tuple) else set()
    return np.asarray(side) if kinds <= {int, float} or list in kinds else id_array(side)


def row_numbers(source: NDArray[Any], target: NDArray[Any], names: NDArray[Any]) -> Numbered:
    """Return the ends of edges that are given as row numbers, checked."""
    for side in (source, target):
        if side.dtype.kind not in "iu" and side.size:
            raise InputError(f"with names, source and target must be row numbers, not {side.dtype}")
        if side.size and not (side.min() >= 0 and side.max() < len(names)):
            found, last = f"{side.min()} to {side.max()}", len(names) - 1
            raise InputError(f"row numbers of {len(names)} names must be from 0 to {last}, not from {found}")
    if len(set(names.tolist())) != len(names):
        raise InputError("names must be distinct; there is a duplicate")
    first, second = (np.ascontiguousarray(side, dtype=np.int32) for side in (source, target))
    return first, second, names
