"""Forms of labels: tables, data frames, mappings, pairs, arrays and matrices, all read to `Entries`.

`graphrefine.tables` decides what a table means: `header.detect_label_header` whether its first row is a header, and
`roles.assign_labels` which columns hold the nodes and the labels. No package of data frames is imported here but
pyarrow, for objects that only support its protocol.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from graphrefine.errors import AmbiguousTable, InputError, MissingExtraError
from graphrefine.graph.graph import Graph
from graphrefine.tables.header import detect_label_header
from graphrefine.tables.kinds import Column, text_of
from graphrefine.tables.roles import INDEX, Known, assign_labels, check_counted, describe_column
from graphrefine.tables.vocabulary import LABELS, NO_VALUES, NODES

FORMS = (
    "a file, a mapping from nodes to labels, a pair (nodes, labels), a pandas Series or DataFrame with its index, a "
    "table (node, label), one label for each node in order, or a matrix of 0 and 1"
)
_MISSING_TYPES = frozenset({"NAType", "NaTType", "MaskedConstant"})  # by name: pandas is not imported
_WHOLE = re.compile(r"(-?[0-9]+)\.0")


@dataclass(frozen=True)
class LabelOptions:
    """How to read labels; see `read_labels`."""

    header: bool | None = None
    node_column: str | int | None = None
    label_column: str | int | None = None

    @property
    def choose_columns(self) -> bool:
        """Whether a column is chosen."""
        return (self.node_column, self.label_column) != (None, None)

    def refuse(self, kind: str, names: Iterable[str] = ("header", "node_column", "label_column")) -> None:
        """Refuse options that do not apply to labels of this kind."""
        for name in names:
            if getattr(self, name) is not None:
                raise InputError(f"{name}= is not for {kind}; leave it out", argument=name)


@dataclass(frozen=True)
class Entries:
    """A label, several or none for each entry, with its node; without nodes, the entries are in the order of rows.

    In place of labels there may be a matrix with a row for each entry and a column for each class.
    """

    labels: Sequence[Any] = ()
    nodes: Sequence[Any] | None = None
    manner: str = ""  # how they were read, in words
    matrix: Any = None  # True, or 1, where an entry has a label
    classes: Sequence[Any] | None = None  # of a matrix; by default numbers from 0
    by_number: bool = False  # row i is node i
    header: int = 0  # rows of a header before the entries


def is_missing(value: Any) -> bool:
    """Return whether a value stands for no value: None, NaN, an empty text.

    Examples
    --------
    >>> [is_missing(value) for value in (None, float("nan"), " ", "nan", 0, "None", False)]
    [True, True, True, True, False, False, False]
    """
    if isinstance(value, str):
        return value.strip() in NO_VALUES
    if value is None or type(value).__name__ in _MISSING_TYPES:
        return True
    return isinstance(value, float | np.floating) and bool(value != value)


def is_collection(value: Any) -> bool:
    """Return whether a value is several labels."""
    return isinstance(value, list | tuple | set | frozenset) or (isinstance(value, np.ndarray) and value.ndim > 0)


def texts_of_classes(labels: Iterable[str]) -> list[str]:
    """Return texts of labels; where all are whole numbers, without ".0" at the end.

    Examples
    --------
    >>> texts_of_classes(["1.0", "12"]), texts_of_classes(["1.0", "x"])
    (['1', '12'], ['1.0', 'x'])
    """
    texts = list(labels)
    # A csv that pandas wrote has 1.0 for the class 1 as soon as one label is missing. A single class that is no whole
    # number shows that the decimals are meant.
    if any(text.endswith(".0") for text in texts) and all(_is_whole(text) for text in texts):
        return [text.removesuffix(".0") for text in texts]
    return texts


def _is_whole(text: str) -> bool:
    return text.removeprefix("-").isdecimal() or _WHOLE.fullmatch(text) is not None


def list_sample(values: Iterable[Any]) -> str:
    """Return the first values, for messages."""
    some = [repr(value.item() if isinstance(value, np.generic) else value) for _, value in zip(range(4), values)]  # noqa: B905
    return ", ".join(some[:3]) + (", ..." if len(some) > 3 else "")


def join_notes(*parts: str) -> str:
    """Return notes as one, less the empty ones."""
    return ", ".join(part for part in parts if part)


def find_entries(labels: Any, options: LabelOptions, known: Known) -> Entries:
    """Return the entries of labels in memory, whose form is recognized by their attributes."""
    if hasattr(labels, "detach"):
        labels = labels.detach().cpu().numpy()
    if hasattr(labels, "iloc"):
        return _read_pandas(labels if hasattr(labels, "columns") else labels.to_frame(), options, known)
    if hasattr(labels, "get_columns"):
        columns = [column.to_list() for column in labels.get_columns()]
        return _read_columns(list(labels.columns), columns, options, known)
    if hasattr(labels, "__arrow_c_stream__") or (hasattr(labels, "schema") and hasattr(labels, "column")):
        return _read_arrow(labels, options, known)
    options.refuse(f"labels in a {type(labels).__name__}, which has no columns")
    if isinstance(labels, Mapping):
        return _read_mapping(labels, known)
    if isinstance(labels, tuple) and len(labels) == 2:
        if isinstance(labels[0], Graph):
            return _read_attribute(*labels)
        if all(_is_sequence(part) for part in labels):
            return _read_pair(*labels)
    if not _is_sequence(labels):
        raise InputError(f"{FORMS} is expected, not {type(labels).__name__}")
    return _read_rows(labels, known)


def read_table(
    columns: list[list[Any]],
    titles: list[str] | None,
    options: LabelOptions,
    known: Known,
    index: Sequence[Any] | None = None,
) -> Entries:
    """Return the entries of a table with a node in each row; without titles, its first row may hold them."""
    note, header = "", 0
    if titles is None:
        chosen = (options.node_column, options.label_column)
        if detect_label_header(columns, known, header=options.header, chosen=chosen):
            titles, columns = [str(column[0]) for column in columns], [column[1:] for column in columns]
            header = 1
        note = "header" if header else "no header"
    table = [_make_column(None if titles is None else titles[at], at, column) for at, column in enumerate(columns)]
    if index is not None:
        table.append(_make_column(None, INDEX, index))
    node, label = assign_labels(table, known, node_column=options.node_column, label_column=options.label_column)
    manner = join_notes(note, f"nodes {describe_column(node)}", f"labels {describe_column(label)}")
    return Entries(label.values, node.values, manner, header=header)


def _make_column(title: str | None, at: int, values: Sequence[Any]) -> Column:
    return Column(title, at, lambda: values, is_numeric=False)


def _read_attribute(graph: Graph, attribute: Any) -> Entries:
    if attribute not in graph.attributes:
        listed = ", ".join(map(repr, graph.attributes)) or "none"
        raise InputError(f"the nodes of {graph.source} have no attribute {attribute!r}; their attributes are {listed}")
    manner = f"attribute {attribute!r} of {graph.source}"
    return Entries(list(graph.attributes[attribute]), graph.names.tolist(), manner)


def _read_pandas(frame: Any, options: LabelOptions, known: Known) -> Entries:
    """Find the nodes in the index of a frame, unless that only counts the rows, or in a column."""
    index, titles = frame.index, [str(title) for title in frame.columns]
    columns = [frame.iloc[:, at].tolist() for at in range(len(titles))]
    is_counted = type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1 and index.name is None
    is_series = len(columns) == 1 and not options.choose_columns
    is_matrix = not options.choose_columns and _is_membership(titles, columns)
    if not is_matrix and not is_series:
        if is_counted:
            return _read_columns(titles, columns, options, known)
        return read_table(columns, titles, options, known, index.tolist())
    if is_counted:
        # A frame without an index of its own is numbered 0, 1, ... by pandas, in whichever order its rows are.
        hint = "labels.to_dict() if the numbers are the nodes, labels.to_numpy() if the rows are in order"
        check_counted(len(frame), known, "the index", hint, "labels")
    if is_series:
        return Entries(columns[0], index.tolist(), "nodes by the index")
    matrix = np.array(columns).T
    if is_counted:
        _refuse_pairs(matrix, known)
    return Entries((), index.tolist(), "nodes by the index, a column of 0 and 1 a class", matrix, titles)


def _read_columns(titles: list[str], columns: list[list[Any]], options: LabelOptions, known: Known) -> Entries:
    """Find the nodes in named columns without an index."""
    if options.choose_columns or not columns:
        return read_table(columns, titles, options, known)
    if len(columns) == 1:
        return Entries(columns[0])
    if _is_membership(titles, columns):
        return Entries(matrix=_refuse_pairs(np.array(columns).T, known), classes=titles)
    return read_table(columns, titles, options, known)


def _read_arrow(labels: Any, options: LabelOptions, known: Known) -> Entries:
    if not hasattr(labels, "schema"):
        for convert in ("to_list", "to_pylist"):  # a Series of polars, an array of Arrow
            if hasattr(labels, convert):
                return Entries(getattr(labels, convert)())
    if not hasattr(labels, "column_names"):
        try:
            import pyarrow as pa
        except ModuleNotFoundError:
            raise MissingExtraError(f"reading labels from {type(labels).__name__}", "pyarrow", "io") from None
        labels = pa.table(labels)
    try:
        columns = [column.to_pylist() for column in labels.columns]
    except (ValueError, OverflowError, KeyError) as error:  # times that Python does not have
        raise InputError(f"a column cannot be read: {error}") from None
    return _read_columns(list(labels.schema.names), columns, options, known)


def _read_mapping(labels: Mapping[Any, Any], known: Known) -> Entries:
    """Read from nodes to labels, as columns, or from labels to nodes, the last only where nothing else can be meant."""
    keys, values = list(labels), list(labels.values())
    if _are_columns(labels, known):
        return read_table([_as_list(column) for column in values], keys, LabelOptions(), known)
    members = {text_of(each) for value in values if is_collection(value) for each in value}
    if known is None or not members or not members <= known:
        return Entries(values, keys, "nodes by the keys")
    as_nodes = sum(text_of(key) in known for key in keys)
    if not as_nodes:
        pairs = [(node, key) for key, value in labels.items() for node in (value if is_collection(value) else [value])]
        return Entries([key for _, key in pairs], [node for node, _ in pairs], "labels by the keys")
    if as_nodes <= len(members):
        raise InputError(
            f"both the keys ({list_sample(keys)}) and the values ({list_sample(values)}) of the mapping are names "
            "of nodes, so that it may go from nodes to labels or from labels to nodes; pass a pair (nodes, "
            "labels), or a table (node, label)"
        )
    return Entries(values, keys, "nodes by the keys")


def _are_columns(labels: Mapping[Any, Any], known: Known) -> bool:
    """Return whether keys are titles of columns: one is a usual title of nodes, none is a node, lengths agree."""
    titles = [key.strip().lower() for key in labels if isinstance(key, str) and key not in (known or ())]
    if len(titles) < len(labels) or not NODES & set(titles) or not all(map(is_collection, labels.values())):
        return False
    return len({len(column) for column in labels.values()}) == 1


def _read_pair(nodes: Any, labels: Any) -> Entries:
    names = _as_list(nodes)
    matrix = labels if _is_matrix(labels) else None
    values = _as_list(labels) if matrix is None else ()
    count = len(values) if matrix is None else matrix.shape[0]
    if len(names) != count:
        raise InputError(f"the pair has {len(names)} nodes and {count} labels; give as many of one as of the other")
    return Entries(values, names, "a pair (nodes, labels)", matrix)


def _read_rows(labels: Any, known: Known) -> Entries:
    """Read one label, or one row of a matrix, for each node."""
    if _is_matrix(labels):
        return Entries(matrix=_refuse_pairs(labels, known))
    values = _as_list(labels)
    nested = [value for value in values if is_collection(value)]
    if not nested:
        return Entries(values)
    if len(nested) < len(values):
        raise InputError(
            f"{nested[0]!r} is among single labels; where nodes have several, pass a mapping from nodes to labels"
        )
    try:
        matrix = np.array([list(row) for row in values])
    except ValueError:
        matrix = np.array([])
    if matrix.ndim < 2 or matrix.dtype.kind not in "biuf":
        raise AmbiguousTable(
            f"a list of {list_sample(values)} can be read in two ways",
            {"a pair (nodes, labels)": "pairs of a node and its label", "a mapping": "the labels of each node"},
        )
    return _read_rows(matrix, known)


def _refuse_pairs(matrix: Any, known: Known) -> Any:
    """Return a matrix; refuse one of two columns that may hold nodes and labels."""
    if sp.issparse(matrix) or matrix.ndim != 2 or matrix.shape[1] != 2 or matrix.dtype.kind == "b":
        return matrix
    is_binary = matrix.dtype.kind in "iuf" and np.isin(matrix, (0, 1)).all()
    # A node has a label once, so that rows of 0 and 1 that occur again can only be two classes; and so can rows whose
    # first column is no node.
    has_twins = is_binary and len(np.unique(matrix, axis=0)) < len(matrix)
    has_strangers = is_binary and not all(text_of(node) in (known or ()) for node in matrix[:, 0])
    if has_twins or has_strangers or not matrix.size:
        return matrix
    raise AmbiguousTable(
        f"an array of shape {matrix.shape} may hold pairs (node, label), or 0 and 1 for two classes",
        {"the pair (array[:, 0], array[:, 1])": "the former", "truth values (array == 1)": "the latter"},
    )


def _is_membership(titles: list[str], columns: list[list[Any]]) -> bool:
    """Return whether columns are classes: 0 and 1, or truth values, in all of them, and none called node or label."""
    if any(title.strip().lower() in NODES | LABELS for title in titles):
        return False
    return all(
        not (isinstance(value, str) or is_collection(value) or is_missing(value)) and value in (0, 1)
        for column in columns
        for value in column
    )


def _is_matrix(labels: Any) -> bool:
    is_array = isinstance(labels, np.ndarray) and labels.ndim > 1 and labels.shape[1:] != (1,)
    return is_array or bool(sp.issparse(labels))


def _is_sequence(labels: Any) -> bool:
    if isinstance(labels, str | bytes | set | frozenset):
        return False
    return isinstance(labels, Sequence) or hasattr(labels, "__array__") or bool(sp.issparse(labels))


def _as_list(values: Any) -> list[Any]:
    """Return the values as Python has them."""
    if isinstance(values, list | tuple):
        return list(values)
    if hasattr(values, "tolist") and not isinstance(values, np.ndarray):
        return list(values.tolist())
    array = values if isinstance(values, np.ma.MaskedArray) else np.asarray(values)
    return list(array.reshape(-1).tolist()) if array.ndim else [array.item()]
