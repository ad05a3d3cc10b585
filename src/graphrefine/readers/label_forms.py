"""Labels in memory, recognized by their attributes: mappings, pairs, pandas, polars, Arrow, arrays, matrices.

None of the packages they come from is imported, but pyarrow for objects that only speak its protocol.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphrefine.errors import InputError, MissingExtraError
from graphrefine.graph.graph import Graph
from graphrefine.readers.label_tables import (
    Entries,
    Known,
    LabelOptions,
    LabelTable,
    Membership,
    blame_memory,
    is_collection,
    is_missing,
    text_of,
)
from graphrefine.tables.vocabulary import LABELS, NODES

FORMS = (
    "a file, a mapping from nodes to labels, a pair (nodes, labels), a pandas Series or DataFrame with its index, a "
    "table (node, label), one label for each node in order, or a matrix of 0 and 1"
)


def find_entries(labels: Any, options: LabelOptions, known: Known) -> Entries | Membership:
    """The entries of labels in any form but a path."""
    if hasattr(labels, "detach"):
        labels = labels.detach().cpu().numpy()
    if hasattr(labels, "iloc"):
        labels = labels if hasattr(labels, "columns") else labels.to_frame()
        return _of_pandas(labels, options, known)
    if hasattr(labels, "get_columns"):
        return _of_columns(list(labels.columns), [column.to_list() for column in labels.get_columns()], options, known)
    if hasattr(labels, "__arrow_c_stream__") or (hasattr(labels, "schema") and hasattr(labels, "column")):
        return _of_arrow(labels, options, known)
    if options != LabelOptions():
        name = "label_column" if options.node_column is None else "node_column"
        raise InputError(f"{name}= is for tables, and labels are a {type(labels).__name__}", argument=name)
    if isinstance(labels, Mapping):
        return _of_mapping(labels, known)
    if isinstance(labels, tuple) and len(labels) == 2 and isinstance(labels[0], Graph):
        return attribute_entries(labels[0], labels[1])
    if isinstance(labels, tuple) and len(labels) == 2 and all(_is_sequence(part) for part in labels):
        return _of_pair(*labels)
    if not _is_sequence(labels):
        raise InputError(f"labels: {FORMS} is expected, not {type(labels).__name__}", argument="labels")
    return _of_rows(labels, known)


def attribute_entries(graph: Graph, attribute: Any) -> Entries:
    """The values of an attribute of a graph's nodes."""
    if attribute not in graph.attributes:
        listed = ", ".join(map(repr, graph.attributes)) or "none"
        raise InputError(
            f"labels: the nodes of {graph.source} have no attribute {attribute!r}; their attributes are {listed}",
            argument="labels",
        )
    manner = f"attribute {attribute!r} of {graph.source}"
    return Entries(list(graph.attributes[attribute]), graph.names.tolist(), manner, blame_memory)


def _of_pandas(frame: Any, options: LabelOptions, known: Known) -> Entries | Membership:
    """A DataFrame: the nodes are its index, unless that only counts the rows, or a column."""
    index, titles = frame.index, [str(title) for title in frame.columns]
    columns = [frame.iloc[:, place].tolist() for place in range(len(titles))]
    counts_rows = type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1 and index.name is None
    by_option = (options.node_column, options.label_column) != (None, None)
    if len(columns) == 1 and not by_option:
        if counts_rows:
            _check_counted(len(frame), known)
        return Entries(columns[0], index.tolist(), "nodes by the index", blame_memory)
    members = not by_option and _is_membership(titles, columns)
    if counts_rows and not members:
        return _of_columns(titles, columns, options, known)
    if members:
        if counts_rows:
            _check_pairs(np.array(columns).T, known)
            _check_counted(len(frame), known)
        return Membership(
            np.array(columns).T, titles, index.tolist(), "nodes by the index, a column of 0 and 1 a class"
        )
    return LabelTable(columns, titles, index.tolist()).choose(options, known)


def _check_counted(rows: int, known: Known) -> None:
    """Refuse an index that only counts the rows where nodes are not called so."""
    if known is None or all(name.isdecimal() and int(name) < rows and str(int(name)) == name for name in known):
        return
    raise InputError(
        f"labels: the index is 0 to {rows - 1}, which only counts the rows, and nodes are called {_some(known)}; make "
        "the nodes the index (set_index), or give labels.to_dict() if the numbers are the nodes, labels.to_numpy() if "
        "the rows are in the order of the embedding's names",
        argument="labels",
    )


def _some(known: Known) -> str:
    names = sorted(known or ())[:3]
    return ", ".join(map(repr, names)) + ", ..." * (len(known or ()) > 3)


def _of_columns(
    titles: list[str], columns: list[list[Any]], options: LabelOptions, known: Known
) -> Entries | Membership:
    """Named columns without an index."""
    by_option = (options.node_column, options.label_column) != (None, None)
    if not by_option and len(columns) > 1 and _is_membership(titles, columns):
        matrix = np.array(columns).T
        _check_pairs(matrix, known)
        return Membership(matrix, titles)
    if len(columns) == 1 and not by_option:
        return Entries(columns[0], None, "", blame_memory)
    return LabelTable(columns, titles).choose(options, known)


def _is_membership(titles: list[str], columns: list[list[Any]]) -> bool:
    """Whether columns are classes: 0 and 1, or truth values, in all of them, and none called node or label."""
    if any(title.strip().lower() in NODES | LABELS for title in titles):
        return False
    return all(not isinstance(value, str) and not is_missing(value) and value in (0, 1)
               for column in columns for value in column if not is_collection(value)) and not any(
        is_collection(value) for column in columns for value in column)  # fmt: skip


def _of_arrow(labels: Any, options: LabelOptions, known: Known) -> Entries | Membership:
    if hasattr(labels, "to_list") or (hasattr(labels, "to_pylist") and not hasattr(labels, "schema")):
        values = (
            labels.to_list() if hasattr(labels, "to_list") else labels.to_pylist()
        )  # a polars Series, an Arrow array
        return Entries(values, None, "", blame_memory)
    return arrow_entries(as_arrow_table(labels), options, known)


def as_arrow_table(labels: Any) -> Any:
    """An Arrow table of whatever can be one."""
    if hasattr(labels, "column_names") and hasattr(labels, "to_pydict"):
        return labels
    try:
        import pyarrow as pa
    except ModuleNotFoundError:
        raise MissingExtraError(f"reading labels from {type(labels).__name__}", "pyarrow", "io") from None
    return pa.table(labels)


def arrow_entries(table: Any, options: LabelOptions, known: Known) -> Entries | Membership:
    """The entries of an Arrow table."""
    names = list(getattr(table, "column_names", None) or table.schema.names)
    try:
        columns = [table.column(place).to_pylist() for place in range(len(names))]
    except (ValueError, OverflowError, KeyError) as error:  # times that Python does not have
        raise InputError(f"labels: a column cannot be read: {error}", argument="labels") from None
    return _of_columns(names, columns, options, known)


def _of_mapping(labels: Mapping[Any, Any], known: Known) -> Entries:
    """From nodes to labels; from labels to nodes only where nothing else can be meant."""
    keys, values = list(labels), list(labels.values())
    if _is_columns(labels, known):
        return LabelTable([_as_list(column) for column in values], keys).choose(LabelOptions(), known)
    members = {text_of(each) for value in values if is_collection(value) for each in value}
    if known is None or not members or not members <= set(known):
        return Entries(values, keys, "nodes by the keys", blame_memory)
    as_nodes = sum(text_of(key) in known for key in keys)
    if not as_nodes:
        pairs = [(node, key) for key, value in labels.items() for node in (value if is_collection(value) else [value])]
        return Entries([key for _, key in pairs], [node for node, _ in pairs], "labels by the keys", blame_memory)
    if as_nodes <= len(members):
        raise InputError(
            f"labels: both the keys ({_sample(keys)}) and the values ({_sample(values)}) of the mapping hold names of "
            "nodes, so that it may go from nodes to labels or from labels to nodes; give a pair (nodes, labels), or a "
            "table (node, label)",
            argument="labels",
        )
    return Entries(values, keys, "nodes by the keys", blame_memory)


def _is_columns(labels: Mapping[Any, Any], known: Known) -> bool:
    """Whether the keys are titles of columns: one is a usual title of nodes, none is a node, and lengths agree."""
    titles = [key.strip().lower() for key in labels if isinstance(key, str) and key not in (known or ())]
    if len(titles) < len(labels) or not NODES & set(titles) or not all(map(is_collection, labels.values())):
        return False
    return len({len(column) for column in labels.values()}) == 1


def _sample(values: Sequence[Any]) -> str:
    return ", ".join(repr(value) for value in values[:2]) + ", ..." * (len(values) > 2)


def _of_pair(nodes: Any, labels: Any) -> Entries | Membership:
    names, values = _as_list(nodes), labels if _is_matrix(labels) else _as_list(labels)
    count = labels.shape[0] if _is_matrix(labels) else len(values)
    if len(names) != count:
        raise InputError(
            f"labels: the pair has {len(names)} nodes and {count} labels; give as many of one as of the other",
            argument="labels",
        )
    if _is_matrix(labels):
        return Membership(values, nodes=names, manner="a pair (nodes, matrix)")
    return Entries(values, names, "a pair (nodes, labels)", blame_memory)


def _of_rows(labels: Any, known: Known) -> Entries | Membership:
    """One label, or one row of a matrix, for each node."""
    if _is_matrix(labels):
        _check_pairs(labels, known)
        return Membership(labels)
    values = _as_list(labels)
    nested = [value for value in values if is_collection(value)]
    if nested and len(nested) == len(values):
        matrix = _numbers(values)
        if matrix is None:
            raise InputError(
                f"labels: a list of {_sample(values)} may hold pairs (node, label) or the labels of each node; give a "
                "mapping from nodes to labels, or a pair (nodes, labels)",
                argument="labels",
            )
        return _of_rows(matrix, known)
    if nested:
        raise InputError(
            f"labels: {nested[0]!r} stands among single labels; where nodes have several, give a mapping from nodes to "
            "labels",
            argument="labels",
        )
    return Entries(values, None, "", blame_memory)


def _numbers(rows: list[Any]) -> NDArray[Any] | None:
    """Rows of numbers as a matrix; None where they are something else."""
    try:
        matrix = np.array([list(row) for row in rows])
    except ValueError:
        return None
    return matrix if matrix.ndim > 1 and matrix.dtype.kind in "biuf" else None


def _check_pairs(matrix: Any, known: Known) -> None:
    """Refuse an array of two columns that may hold nodes and labels."""
    if sp.issparse(matrix) or matrix.ndim != 2 or matrix.shape[1] != 2 or matrix.dtype.kind == "b" or not matrix.size:
        return
    members = matrix.dtype.kind in "iuf" and np.isin(matrix, (0, 1)).all()
    if members and len(np.unique(matrix, axis=0)) < len(matrix):
        return  # a pair of node and label is there once
    if members and (known is None or not all(text_of(node) in known for node in matrix[:, 0])):
        return
    raise InputError(
        f"labels: an array of shape {matrix.shape} may hold pairs (node, label), or 0 and 1 for two classes; give the "
        "pair (array[:, 0], array[:, 1]) for the former, and truth values (array == 1) for the latter",
        argument="labels",
    )


def _is_matrix(labels: Any) -> bool:
    return bool(sp.issparse(labels)) or (
        isinstance(labels, np.ndarray) and labels.ndim > 1 and labels.shape[1:] != (1,)
    )


def _is_sequence(labels: Any) -> bool:
    if isinstance(labels, str | bytes | set | frozenset):
        return False
    return isinstance(labels, Sequence) or hasattr(labels, "__array__") or bool(sp.issparse(labels))


def _as_list(values: Any) -> list[Any]:
    """The values as Python has them."""
    if isinstance(values, list | tuple):
        return list(values)
    if hasattr(values, "tolist") and not isinstance(values, np.ndarray):
        return list(values.tolist())
    array = values if isinstance(values, np.ma.MaskedArray) else np.asarray(values)
    return list(array.reshape(-1).tolist()) if array.ndim else [array.item()]
