"""Labels of nodes: from a matrix file, a table or arrays, to rows beside an embedding's.

Two kinds of input differ in the names of nodes. A table (`small_table`) has a node and a label in each record, several
records for a node with several labels, and names its nodes. A matrix (the variable ``group`` of a ``.mat`` file, or an
array) has one row a node and no names: row i is node i, as in a graph that is read from a matrix.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from os import PathLike, fspath
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphrefine.errors import InputError
from graphrefine.graph.node_ids import from_strings
from graphrefine.readers.matrices import read_variable
from graphrefine.readers.small_table import NODE_WORDS, Record, count_columns, read_records
from graphrefine.readers.source import Source

FilePath = str | PathLike[str]
LABEL_WORDS = frozenset({"label", "labels", "class", "classes", "group", "groups", "category", "target"})
"""Usual names, in lower case, of the column of the labels."""

_NEEDS = "a node and a label are expected in each line"
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}")  # 007 and -0 are names


@dataclass(frozen=True)
class Labels:
    """Labels of nodes.

    Attributes
    ----------
    names : ndarray
        The labelled nodes, once each: int64 if every name is an integer, else str.
    indicator : csr_array of bool, (nodes, classes)
        True where a node has a label.
    classes : tuple of str
        Names of the columns.
    by_row : bool
        Whether the nodes have no names: node i is row i of a matrix.
    source : str
        File name, or "memory".
    """

    names: NDArray[Any]
    indicator: sp.csr_array[np.bool_]
    classes: tuple[str, ...]
    by_row: bool
    source: str


class Aligned(NamedTuple):
    """Labels beside the rows of an embedding."""

    order: NDArray[np.int64]  # the embedding's row of each node, in an order that depends on the names alone
    indicator: sp.csr_array[np.bool_]  # (len(order), classes)
    missing: int  # labelled nodes that the embedding does not have


def as_labels(labels: Any) -> Labels:
    """Take labels in any accepted form.

    Parameters
    ----------
    labels : Labels, path, or array-like
        A file for `read_labels`; or one label a row; or a matrix, dense or sparse, with a row a node and a
        nonzero entry where it has the label of the column.

    Examples
    --------
    >>> colours = as_labels(["red", "blue", "red"])
    >>> colours.classes, colours.indicator.toarray().astype(int).tolist()
    (('blue', 'red'), [[0, 1], [1, 0], [0, 1]])
    """
    if isinstance(labels, Labels):
        return labels
    if isinstance(labels, str | PathLike):
        return read_labels(labels)
    matrix = _array(labels)
    problem = _matrix_problem(matrix)
    if problem:
        raise InputError(f"labels: {problem}", argument="labels")
    return _from_matrix(matrix, "memory")


def read_labels(path: FilePath, *, variable: str = "group", header: bool | None = None) -> Labels:
    """Read labels from a file.

    Parameters
    ----------
    path : path
        A ``.mat`` file, or a table with a node and a label in each record: csv, tsv, columns set apart by spaces,
        parquet or arrow; also .gz, .bz2, .xz or .zst. A table of more columns needs a header that names these two.
        Empty lines and lines that begin with # or % are left out.
    variable : str
        The matrix in a ``.mat`` file.
    header : bool, optional
        Whether a table in text begins with the names of its columns. By default it does if one of them is called
        label, class, group, category or target, or if every node is an integer and the first has no digit.
    """
    if Source(path).suffix == ".mat":
        return _read_mat(path, variable)
    nodes, labels = _read_columns(path, header)
    names, row = np.unique(nodes, return_inverse=True)
    kinds, column = np.unique(labels, return_inverse=True)
    indicator = _indicator(row, column, shape=(len(names), len(kinds)))
    return Labels(names, indicator, _texts(kinds), by_row=False, source=fspath(path))


def _read_columns(path: FilePath, header: bool | None) -> tuple[NDArray[Any], NDArray[Any]]:
    """Nodes and labels of a table: int64 if every one is an integer, else str."""
    source = Source(path, needs=_NEEDS)
    records = list(read_records(source))
    if not records:
        raise source.empty_error()
    first = records[0]
    if header is None:
        header = first.line is None or _has_header(records)
    node, label = _find_columns(source, first, header)
    entries = records[1:] if header else records
    if not entries:
        raise source.error(f"nothing after the header; {_NEEDS}")
    for record in entries:
        if len(record.fields) != len(first.fields):
            problem = f"{count_columns(record.fields)} where the first line has {len(first.fields)}"
            raise source.error(problem, line=record.line)
        if not (record.fields[node] and record.fields[label]):
            raise source.error("an empty node or label; leave out nodes without labels", line=record.line)
    nodes, labels = (from_strings([record.fields[at] for record in entries]) for at in (node, label))
    return nodes, labels


def _has_header(records: list[Record]) -> bool:
    first = records[0].fields
    if _INTEGER.fullmatch(first[0]):
        return False
    if any(field.lower() in LABEL_WORDS for field in first[1:]):
        return True
    if any(letter.isdigit() for letter in first[0]):  # more likely a node like 007 or x1 than a column's name
        return False
    return len(records) > 1 and all(_INTEGER.fullmatch(record.fields[0]) for record in records[1:])


def _find_columns(source: Source, first: Record, header: bool) -> tuple[int, int]:
    """Positions of the columns of the node and the label."""
    names = [field.lower() for field in first.fields]
    if len(names) == 1:
        raise source.error(f"one column ({first.fields[0]!r}) where a node and a label are expected", line=first.line)
    if len(names) == 2:
        return 0, 1
    nodes = [column for column, name in enumerate(names) if header and name in NODE_WORDS]
    labels = [column for column, name in enumerate(names) if header and name in LABEL_WORDS]
    if len(nodes) != 1 or len(labels) != 1:
        raise source.error(
            f"{len(names)} columns where a node and a label are expected; keep two, or add a header that "
            "calls one of them node and one label",
            line=first.line,
        )
    return nodes[0], labels[0]


def align(labels: Labels, names: NDArray[Any], *, unlabelled: str) -> Aligned:
    """Bring `labels` beside the rows called `names`; ``unlabelled`` nodes drop ("drop") or stay ("keep").

    The order of the result depends on the names alone, so that two embeddings which hold the same nodes in a
    different order are split alike.
    """
    position = _positions(labels, names)  # the embedding's row of each labelled node, -1 if it has none
    present = np.flatnonzero(position >= 0)
    entries = labels.indicator[present].tocoo()
    full = _indicator(position[present][entries.row], entries.col, shape=(len(names), len(labels.classes)))
    order = np.argsort(names, kind="stable")
    if unlabelled == "drop":
        order = order[np.diff(full.indptr)[order] > 0]
    return Aligned(order, full[order], len(position) - len(present))


def _positions(labels: Labels, names: NDArray[Any]) -> NDArray[np.int64]:
    if labels.by_row:
        return _positions_by_row(labels, names)
    index = {str(name): row for row, name in enumerate(names.tolist())}
    if len(index) < len(names):
        raise InputError(
            "a name stands for several rows of the embedding, as on both sides of a bipartite graph, so that labels by "
            "name do not say whose they are; give nodes names that differ"
        )
    position = np.fromiter((index.get(str(name), -1) for name in labels.names.tolist()), np.int64)
    if not (position >= 0).any():
        raise InputError(
            f"none of the {len(position)} nodes of {labels.source} is in the embedding: the labels have "
            f"{_sample(labels.names)}, the embedding has {_sample(names)}; call them the same in both"
        )
    return position


def _positions_by_row(labels: Labels, names: NDArray[Any]) -> NDArray[np.int64]:
    n = len(labels.names)
    if n != len(names):
        raise InputError(
            f"{labels.source} has labels for {n} rows and the embedding has {len(names)} nodes; a matrix of "
            "labels needs one row a node: give a table (node, label) if some nodes are left out"
        )
    position = np.argsort(names, kind="stable")
    if names.dtype.kind not in "iu" or not np.array_equal(names[position], labels.names):
        raise InputError(
            f"{labels.source} has labels for the rows 0 to {n - 1} and the embedding calls its nodes "
            f"{_sample(names)}: which row is which node is unknown; give the labels as a table (node, label)"
        )
    return position


def _sample(names: NDArray[Any]) -> str:
    return ", ".join(repr(name) for name in names[:3].tolist()) + (", ..." if len(names) > 3 else "")


def _indicator(row: NDArray[Any], column: NDArray[Any], *, shape: tuple[int, int]) -> sp.csr_array[np.bool_]:
    """True at (row, column), however often the pair occurs."""
    return sp.csr_array((np.ones(len(row), np.bool_), (row, column)), shape=shape)


def _texts(kinds: NDArray[Any]) -> tuple[str, ...]:
    return tuple(str(kind) for kind in kinds.tolist())


def _array(matrix: Any) -> Any:
    """A NumPy array, or a csr_array of its own where `matrix` is sparse."""
    if not sp.issparse(matrix):
        return np.asarray(matrix)
    entries: Any = matrix
    return sp.csr_array(entries.tocoo())


def _read_mat(path: FilePath, variable: str) -> Labels:
    source = Source(path, needs=f"a matrix {variable!r} is expected, or a table (node, label)")
    matrix = _array(read_variable(source, variable))
    if isinstance(matrix, np.ndarray) and matrix.ndim == 2 and 1 in matrix.shape:
        matrix = matrix.ravel()  # MATLAB has no vectors: one class number a node
    problem = _matrix_problem(matrix)
    if problem:
        raise source.error(f"variable {variable!r}: {problem}")
    return _from_matrix(matrix, source.name)


def _matrix_problem(matrix: Any) -> str:
    """The reason why `matrix` cannot be labels; empty if it can."""
    if matrix.ndim not in (1, 2):
        return f"one or two dimensions are expected, not {matrix.ndim}"
    if 0 in matrix.shape:
        return f"a row for each node is expected, and the shape is {matrix.shape}"
    if matrix.ndim == 1:
        return _vector_problem(matrix)
    if matrix.dtype.kind not in "biuf":
        return f"0 (does not have the label) and 1 (has it) are expected, not values of type {matrix.dtype}"
    values = matrix if isinstance(matrix, np.ndarray) else matrix.data
    if not np.isfinite(values).all() or (values < 0).any():
        return "0 (does not have the label) and 1 (has it) are expected, not negative, NaN or infinite values"
    return ""


def _vector_problem(vector: NDArray[Any]) -> str:
    if vector.dtype.kind not in "biufUO" or any(not np.isscalar(label) for label in vector.tolist()):
        return "a number or a string is expected for each node; give a table (node, label) if some have none"
    if any(label != label for label in vector.tolist()):  # NaN alone differs from itself
        return "a label is NaN; give a table (node, label) if some nodes have none"
    return ""


def _from_matrix(matrix: Any, source: str) -> Labels:
    n = matrix.shape[0]
    if matrix.ndim == 1:
        kinds, row = matrix.astype(str) if matrix.dtype.kind == "O" else matrix, np.arange(n)
        kinds, column = np.unique(kinds, return_inverse=True)
        classes = _texts(kinds)
    else:
        row, column = matrix.nonzero()
        classes = tuple(str(number) for number in range(matrix.shape[1]))
    indicator = _indicator(row, column, shape=(n, len(classes)))
    return Labels(np.arange(n), indicator, classes, by_row=True, source=source)
