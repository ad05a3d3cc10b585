"""Node features: from any usual form to a checked matrix with a row for each node of a graph, and joined to vectors.

Features come with names (a table file, a mapping, a pandas DataFrame with its index, an `Embedding`, a pair of names
and a matrix) or without (an array, a sparse matrix). Without names, row i is node i, and that is accepted only if the
nodes are called 0 ... n-1: a graph's nodes are sorted by name, so that the order of other rows would be a guess.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from graphrefine.embedding.embedding import load
from graphrefine.embedding.formats import csv_file, explain_damage
from graphrefine.errors import ArgumentWarning, InputError
from graphrefine.graph.node_ids import from_strings, is_range
from graphrefine.methods.contract import Floats, Method, Resources
from graphrefine.methods.registry import METHODS, find_method
from graphrefine.readers.matrix_files import read_npy, read_npz, read_sparse_npz
from graphrefine.readers.small_table import read_any_rows
from graphrefine.refine.features import feature_vectors, join
from graphrefine.refine.settings import MethodSettings
from graphrefine.tables.kinds import is_finite
from graphrefine.tables.roles import assign_vectors
from graphrefine.tables.source import Source

if TYPE_CHECKING:
    from graphrefine.graph.graph import Graph


class Features(NamedTuple):
    """Features, in the order of the rows of a graph."""

    matrix: Any  # (n, f): CSR, or an array; zero rows for nodes without
    nodes: int  # of the graph that have a row
    unknown: int  # rows whose names the graph does not have


def read_features(features: Any, graph: Graph) -> Features:
    """Return features in any accepted form, checked, in the order of a graph's nodes."""
    names, matrix, source = _split(features)
    matrix = _check_matrix(matrix, names, source)
    if names is None:
        return _by_row(matrix, graph, source)
    return _by_name(matrix, [str(name) for name in names], graph, source)


def read_for_method(features: Any, contract: Method[Any], graph: Graph, settings: MethodSettings) -> Features:
    """Return the features of a graph's nodes; InputError where a method cannot use them."""
    if not contract.features or contract.sides(graph, settings):
        able = ", ".join(name for name in METHODS if find_method(name).features)
        raise InputError(
            f"features= cannot be used with method={contract.name!r} on {graph.source}: it is for {able}, on "
            "undirected graphs of one set of nodes",
            argument="features",
        )
    return read_features(features, graph)


def _split(features: Any) -> tuple[Any, Any, str]:
    """Return names (or None), matrix and where they came from."""
    if isinstance(features, str | PathLike):
        return (*_read(Path(features)), fspath(features))
    if isinstance(features, Mapping):
        if not features:
            raise InputError("features: the mapping is empty; it must give rows of numbers by node name")
        rows = [np.ravel(row) for row in features.values()]
        odd = next((name for name, row in zip(features, rows, strict=True) if len(row) != len(rows[0])), None)
        if odd is not None:
            raise InputError(f"features: node {odd!r} and the first node have different numbers of features")
        return list(features), rows, "features"
    if isinstance(features, tuple) and len(features) == 2:
        return (*features, "features")
    if hasattr(features, "names") and hasattr(features, "vectors"):
        return features.names, features.vectors, "features"
    if hasattr(features, "index") and hasattr(features, "columns"):  # pandas, which is not imported
        return features.index, features.to_numpy(), "features"
    return None, features, "features"


def _read(path: Path) -> tuple[Any, Any]:
    """Read names (or None where a file has none) and matrix of a file."""
    source = Source(path, needs="a header is expected, and a name and numbers in each line")
    if source.suffix in (".tsv", ".tab"):
        return _read_tsv(source)
    with explain_damage(path):
        if path.suffix.lower() == ".npz":
            about = read_npz(source.data, ("format", "names"), path=source.name)
            if "format" in about:  # as SciPy's save_npz writes it; the nodes' names may be there too
                return about.get("names"), read_sparse_npz(source.data, path=source.name)
        if path.suffix.lower() == ".npy":
            return None, read_npy(source.data)
        if path.name.lower().endswith((".csv", ".csv.gz")):
            return csv_file.read_columns(path, features=True)
    table = load(path)
    return table.names, table.vectors


def _read_tsv(source: Source) -> tuple[Any, Any]:
    """Read a header, then in each line a name and numbers, in the columns that the header names."""
    table = read_any_rows(source, comments="")
    if not table.rows:
        raise source.empty_error()
    header, *rows = table.rows
    try:
        columns = assign_vectors(header, rows[0] if rows else [], features=True)
    except InputError as error:
        raise table.error(str(error), 0) from None
    matrix = np.empty((len(rows), len(columns.numbers)))
    table.check_widths("the header")
    for row, fields in enumerate(rows):
        numbers = [fields[at] for at in columns.numbers]
        try:
            # Python reads 1_000 as a number. In a table it is a code, or a typing error.
            if any("_" in number for number in numbers):
                raise ValueError
            matrix[row] = numbers
        except ValueError:
            odd = next(at for at in columns.numbers if not is_finite(fields[at]))
            problem = f"non-numeric value {fields[odd]!r} in column {columns.titles[odd]!r}"
            raise source.error(
                f"{problem}; all columns but the name must be numbers", line=table.lines[row + 1]
            ) from None
    if columns.notes:
        warnings.warn(ArgumentWarning(f"{source.name}: {'; '.join(columns.notes)}"), stacklevel=7)
    name = columns.name
    return None if name is None else from_strings([fields[name] for fields in rows]), matrix


def _check_matrix(matrix: Any, names: Any, source: str) -> Any:
    """Return a matrix of finite numbers with two dimensions and a column at least."""
    sparse = hasattr(matrix, "tocsr")
    if not sparse:
        try:
            matrix = np.asarray(matrix)
        except ValueError as error:
            raise InputError(f"{source}: not a matrix: {error}") from None
    if matrix.ndim != 2:
        raise InputError(
            f"{source}: must have a row for each node and a column for each feature, (n, 1) for one, not the shape "
            f"{matrix.shape}"
        )
    if not matrix.shape[1]:
        raise InputError(f"{source}: has no columns")
    if matrix.dtype.kind not in "biuf":
        try:
            matrix = matrix.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(f"{source}: must be real numbers, not {matrix.dtype}: {error}") from None
    if matrix.dtype.kind == "f" and not np.isfinite(matrix.data if sparse else matrix).all():
        _refuse_first(matrix, names, source)
    return matrix.tocsr() if sparse else matrix


def _refuse_first(matrix: Any, names: Any, source: str) -> None:
    """Raise InputError for the first number that is not finite."""
    stored = coo_array(matrix)
    bad = np.flatnonzero(~np.isfinite(stored.data))
    at = bad[np.lexsort((stored.col[bad], stored.row[bad]))[0]]
    row, column = int(stored.row[at]), int(stored.col[at])
    whose = "" if names is None else f" (node {list(names)[row]!r})"
    raise InputError(f"{source}: row {row}{whose}, column {column} is {stored.data[at]}; features must be finite")


def _by_row(matrix: Any, graph: Graph, source: str) -> Features:
    nodes = matrix.shape[0]
    # A graph's nodes are sorted by name, so that only numbers from 0 on leave no doubt about the order of the rows.
    if nodes != graph.nodes or not is_range(graph.names):
        raise InputError(
            f"{source}: {nodes} rows without names go with nodes called 0 to {nodes - 1}, and {graph.source} has "
            f"{graph.nodes} nodes with names such as {graph.names.item(0)!r}; pass names, as in a table file, a "
            "mapping or a pair (names, matrix)"
        )
    return Features(matrix, nodes, 0)


def _by_name(matrix: Any, names: list[str], graph: Graph, source: str) -> Features:
    if len(names) != matrix.shape[0]:
        raise InputError(f"{source}: {len(names)} names for {matrix.shape[0]} rows")
    row_of = {name: row for row, name in enumerate(names)}
    if len(row_of) < len(names):
        twice = next(name for row, name in enumerate(names) if row_of[name] != row)
        raise InputError(f"{source}: the node {twice!r} has several rows; give it one")
    rows = np.array([row_of.get(str(name), -1) for name in graph.names.tolist()], dtype=np.int64)
    present = int((rows >= 0).sum())
    if not present:
        raise InputError(
            f"{source}: none of its {len(names)} nodes is in {graph.source}: it has names such as "
            f"{next(iter(names), '(none)')!r}, the graph has names such as {str(graph.names.item(0))!r}"
        )
    return Features(_take_rows(matrix, rows), present, len(names) - present)


def _take_rows(matrix: Any, rows: NDArray[np.int64]) -> Any:
    """Return these rows of a matrix, zeros for -1; sparse as it was."""
    known = np.flatnonzero(rows >= 0)
    if hasattr(matrix, "tocsr"):
        # A product with a selection: SciPy's own indexing has no row of zeros for -1, and would take the last row.
        ones = np.ones(len(known), np.int8)
        selection: Any = csr_array((ones, (known, rows[known])), shape=(len(rows), matrix.shape[0]))
        return selection @ matrix
    full = np.zeros((len(rows), matrix.shape[1]), matrix.dtype)
    full[known] = matrix[rows[known]]
    return full


def add_features(vectors: Floats, graph: Graph, table: Features, *, seed: int, resources: Resources) -> dict[str, Any]:
    """Join features to the vectors (n, k) of a graph, in place, and return the entry of the recipe about them."""
    with resources.stages.stage("features", steps=10):
        vectors_of_features, relation = feature_vectors(
            lambda columns: resources.engine(graph, columns=columns),
            graph,
            table.matrix,
            dim=vectors.shape[1],
            seed=seed,
            advance=resources.stages.advance,
        )
        join(vectors, vectors_of_features, weight=relation.weight, threads=resources.threads)
    return {
        "columns": int(table.matrix.shape[1]),
        "nodes": table.nodes,
        "unknown": table.unknown,
        "weight": relation.weight,
        "directions": relation.directions,
        "correlation": round(relation.correlation, 4),
    }
