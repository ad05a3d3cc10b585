"""Labels of nodes: from a file or an object in memory to rows aligned with an embedding's.

Labels name their nodes (a table, a mapping, an index, a pair) or have a row for each node in order (a list, an array, a
matrix). `graphrefine.tables.roles` finds the columns of a table, and `header` whether its first row is a header.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphrefine.errors import AmbiguousTable, FormatError, InputError, require
from graphrefine.graph.graph import Graph
from graphrefine.graph.lookup import list_some
from graphrefine.graph.node_ids import from_strings, is_missing_id, object_array, sort_rows
from graphrefine.readers.columns import ColumnTable, table_of_records
from graphrefine.readers.frames import is_counted
from graphrefine.readers.matrix_files import read_npy, read_variable
from graphrefine.readers.small_table import is_binary
from graphrefine.system import distinct_keys
from graphrefine.tables.decode import decode_text
from graphrefine.tables.header import detect_label_header
from graphrefine.tables.kinds import Column, text_of
from graphrefine.tables.roles import INDEX, Known, assign_labels, check_counted, describe_column
from graphrefine.tables.sniff import read_rows
from graphrefine.tables.source import Source, check_stated, wrap_errors
from graphrefine.tables.vocabulary import EMPTY_WORDS, LABELS, NO_VALUES, NODES

_NEEDS = "a node and a label are expected in each line"
_FORMS = "a file, a mapping, a pair (nodes, labels), a table (node, label), one label a node, or a matrix of 0 and 1"
_WHOLE = re.compile(r"(-?[0-9]+)(\.0)?")


@dataclass(frozen=True)
class LabelOptions:
    """How to read labels; see `read_labels`."""

    header: bool | None = None
    node_column: str | int | None = None
    label_column: str | int | None = None

    @property
    def choose_columns(self) -> bool:
        """Whether a column is chosen."""
        return self.node_column is not None or self.label_column is not None

    def refuse(self, kind: str, names: Iterable[str] = ("header", "node_column", "label_column")) -> None:
        """Refuse options that do not apply to labels of this kind."""
        for name in names:
            if getattr(self, name) is not None:
                raise InputError(f"{name}= is not for {kind}; leave it out", argument=name)


@dataclass(frozen=True)
class Entries:
    """A label, several or none for each entry, with its node; without nodes, the entries are in the order of rows.

    Instead of labels there may be a matrix with a row for each entry and a column for each class.
    """

    labels: Sequence[Any] = ()
    nodes: Sequence[Any] | None = None
    manner: str = ""  # how they were read, in words
    matrix: Any = None  # True, or 1, where an entry has a label
    classes: Sequence[Any] | None = None  # of a matrix; by default numbers from 0
    by_number: bool = False  # row i is node i
    header: int = 0  # rows of a header before the entries


class Form(NamedTuple):
    """Labels that are parsed, and wait for the names of the nodes, which may tell how they are meant."""

    find: Callable[[Known], Entries]
    source: Source | None = None  # None: memory
    lines: Sequence[int | None] = ()  # of each entry, where a file has lines

    def error(self, problem: str | InputError, entry: int) -> InputError:
        """Return an error that names the file, and the line of an entry."""
        if self.source is None:
            return InputError(f"labels: {problem}", argument=getattr(problem, "argument", None) or "labels")
        return self.source.error(problem, line=self.lines[entry] if self.lines else None, argument="labels")


@dataclass(frozen=True)
class Labels:
    """Labels of nodes.

    Attributes
    ----------
    names : ndarray
        The labeled nodes, once each: int64 if every name is an integer, else str.
    indicator : csr_array of bool, (nodes, classes)
        True where a node has a label.
    classes : tuple of str
        Names of the columns.
    by_row : bool
        Whether the nodes have no names: there is a row for each node, in the order of the embedding's names.
    source : str
        File name, or "memory".
    manner : str
        How they were read, in words.
    by_number : bool
        Whether row i is the node called i, as in a graph that is read from a matrix.
    unlabeled, repeated : int
        Entries without a label, and duplicates of other entries.
    """

    names: NDArray[Any]
    indicator: sp.csr_array[np.bool_]
    classes: tuple[str, ...]
    by_row: bool
    source: str
    manner: str = ""
    by_number: bool = False
    unlabeled: int = 0
    repeated: int = 0
    # Labels that were read without the names of the nodes are read again when these are at hand: a table may have a
    # node called as a usual header is, or its nodes in the second column.
    form: Form | None = field(default=None, repr=False, compare=False)

    def describe(self, names: NDArray[Any]) -> str:
        """Return how they were read, and how many of the nodes called ``names`` they label, in one line.

        Examples
        --------
        >>> as_labels({"ann": "red", "bob": None}).describe(np.array(["ann", "bob", "cy"], object))
        'memory, nodes by the keys (1 class), 1 of 3 nodes labeled, 1 entry without a label'
        """
        labels = as_labels(self, names=names)
        aligned = align(labels, names, unlabeled="drop")
        several = int((np.diff(labels.indicator.indptr) > 1).sum())
        notes = [
            labels.source,
            f"{labels.manner or 'in the order of the nodes'} ({_count(len(labels.classes), 'class', 'classes')})",
            f"{len(aligned.order):,} of {len(names):,} nodes labeled",
            several and f"{_count(several, 'node', 'nodes')} with several labels",
            _note_empty_words(labels),
            aligned.missing and f"{_count(aligned.missing, 'labeled node', 'labeled nodes')} unknown",
            labels.unlabeled and f"{_count(labels.unlabeled, 'entry', 'entries')} without a label",
            labels.repeated and f"{_count(labels.repeated, 'entry', 'entries')} repeated",
        ]
        return ", ".join(str(note) for note in notes if note)


def _note_empty_words(labels: Labels) -> str:
    """Return a note on classes that are written as programs write no value; they may be meant, as NA is for Namibia."""
    words = [name for name in labels.classes if name in EMPTY_WORDS]
    nodes = int(labels.indicator[:, np.isin(labels.classes, words)].sum(axis=1).astype(bool).sum())
    classes = f"the class{'es' * (len(words) > 1)} {', '.join(map(repr, words))}"
    note = f"{_count(nodes, 'node', 'nodes')} of {classes} (if that means no label, leave the field empty)"
    return note if words else ""


class Aligned(NamedTuple):
    """Labels aligned with the rows of an embedding."""

    order: NDArray[np.int64]  # the embedding's row of each node, in an order that depends on the names alone
    indicator: sp.csr_array[np.bool_]  # (len(order), classes)
    missing: int  # labeled nodes that the embedding does not have


def as_labels(
    labels: Any,
    *,
    names: NDArray[Any] | None = None,
    graph: Graph | None = None,
    node_column: str | int | None = None,
    label_column: str | int | None = None,
) -> Labels:
    """Take labels in any accepted form.

    Parameters
    ----------
    labels
        By name: a file (`read_labels`); a mapping from nodes to a label or to several; a pair (nodes, labels); a pandas
        Series by its index; a pandas, polars or Arrow table with a column of nodes, or with the nodes as its index; the
        name of an attribute of ``graph``, or a pair (graph, name). In order: one label for each node, as a list, an
        array or a column; or a matrix, dense or sparse, of 0 and 1, with a row for each node and a column for each
        class. None, NaN and empty texts are no labels.
    names
        Names of the embedding or graph that the labels are for, which help to tell how they are meant.
    graph
        Graph whose nodes may have the labels as an attribute.
    node_column, label_column
        Columns of a table, by name or position from 0.

    Examples
    --------
    >>> colors = as_labels(["red", "blue", "red"])
    >>> colors.classes, colors.indicator.toarray().astype(int).tolist()
    (('blue', 'red'), [[0, 1], [1, 0], [0, 1]])
    >>> as_labels({"ann": ["red", "blue"], "bob": "red"}).names.tolist()
    ['ann', 'bob']
    """
    options = LabelOptions(node_column=node_column, label_column=label_column)
    if isinstance(labels, Labels):
        return labels if labels.form is None or names is None else _read_form(labels.form, names)
    if isinstance(labels, str) and graph is not None and is_attribute(labels, graph):
        labels = (graph, labels)
    if isinstance(labels, str | PathLike):
        return read_labels(labels, names=names, node_column=node_column, label_column=label_column)
    return _read_form(Form(lambda known: _find_entries(labels, options, known)), names)


def read_labels(
    path: str | PathLike[str],
    *,
    variable: str = "group",
    header: bool | None = None,
    node_column: str | int | None = None,
    label_column: str | int | None = None,
    names: NDArray[Any] | None = None,
) -> Labels:
    """Read labels from a file.

    Parameters
    ----------
    path : path
        A table with a node and a label in each record (csv, tsv, columns set apart by blanks, parquet or arrow, JSON
        objects), a mapping in JSON, a vector in ``.npy``, or a ``.mat`` file; also .gz, .bz2, .xz or .zst. A node with
        several labels has several records, or a list of them in parquet, arrow and JSON. Lines that begin with # or %
        are comments before the first record.
    variable : str
        The matrix in a ``.mat`` file.
    header : bool, optional
        Whether a table in text begins with the names of its columns. By default the names of the embedding, the types
        of the columns and usual words decide; where they do not, the labels are refused.
    node_column, label_column : str or int, optional
        Columns of a table, by name or position from 0. By default a usual name such as node or id, label or class; the
        column that holds names of the embedding; or the two that there are, the nodes first.
    names : ndarray, optional
        Names of the embedding that the labels are for, which help to tell how the table is meant.
    """
    options = LabelOptions(header, node_column, label_column)
    source = Source(path, needs=_NEEDS)
    with wrap_errors(source, "file of labels"):
        form = _parse_file(source, options, variable)
    return _read_form(form, names)


def is_attribute(name: str, graph: Graph) -> bool:
    """Return whether labels are an attribute of a graph's nodes, not a file; raise if they are both, or neither."""
    if graph.attributes and name not in graph.attributes and name != "-" and not Path(name).exists():
        listed = ", ".join(map(repr, graph.attributes))
        problem = f"there is no such file, nor such an attribute of the nodes of {graph.source}, which have {listed}"
        raise FormatError(name, problem, argument="labels")
    if name in graph.attributes and Path(name).is_file():
        raise InputError(
            f"labels={name!r} is an attribute of the nodes of {graph.source}, and a file too; give the pair (graph, "
            f"{name!r}) for the attribute, or './{name}' for the file",
            argument="labels",
        )
    return name in graph.attributes


def _parse_file(source: Source, options: LabelOptions, variable: str) -> Form:
    """Parse a file of labels, by its suffix."""
    if not is_binary(source) and source.suffix not in (".json", ".jsonl", ".ndjson", ".npy", ".mat"):
        return _parse_text(source, options)
    options.refuse("a file that is not text", ["header"])
    if source.suffix == ".mat":
        options.refuse("a matrix, which has no columns")
        entries = _read_mat(source, variable)
        return Form(lambda known: entries, source)
    content = _parse_content(source)
    return Form(lambda known: _find_entries(content, options, known), source)


def _parse_content(source: Source) -> Any:
    """Parse parquet, Arrow, npy, or JSON: a mapping, or objects as an array or one on each line."""
    if is_binary(source):
        from graphrefine.readers.arrow import read_arrow_table  # for an optional package

        return read_arrow_table(source)
    if source.suffix == ".npy":
        return read_npy(source.data)
    text = decode_text(source)
    lines = [text] if source.suffix == ".json" else [line for line in text.split("\n") if line.strip()]
    rows = [json.loads(line, object_pairs_hook=distinct_keys) for line in lines]
    content = rows[0] if source.suffix == ".json" else rows
    if isinstance(content, dict):
        return content
    if not isinstance(content, list) or not content or not all(isinstance(row, dict) for row in content):
        raise InputError("a mapping from nodes to labels is expected, or objects with a node and a label in each")
    return table_of_records(content)


def _read_mat(source: Source, variable: str) -> Entries:
    named = Source(source.path, needs=f"a matrix {variable!r} is expected, or a table (node, label)")
    matrix = read_variable(named, variable)
    # A sparse matrix of a damaged file can state any number of rows, and each takes memory.
    check_stated(sum(matrix.shape), len(named.data), "rows and columns")
    matrix = matrix.tocsc() if hasattr(matrix, "tocsc") else matrix
    manner = f"variable {variable!r}, row i is node i"
    if sp.issparse(matrix) or matrix.ndim != 2 or 1 not in matrix.shape:
        return Entries(matrix=matrix, manner=manner, by_number=True)
    # MATLAB has no vectors, and its texts are cells: one value a node.
    values = [each[0] if isinstance(each, np.ndarray) and each.shape == (1,) else each for each in matrix.ravel()]
    return Entries(values, manner=manner, by_number=True)


def _parse_text(source: Source, options: LabelOptions) -> Form:
    table = read_rows(source)
    if not table.rows:
        raise InputError(f"nothing but comments, lines that begin with # or %; {_NEEDS}")
    table.check_widths()
    if len(table.rows[0]) == 1:
        raise table.error(f"one column ({table.rows[0][0]!r}) where a node and a label are expected", 0)
    columns = [list(column) for column in zip(*table.rows, strict=True)]
    comments = f"{_count(len(table.comments), 'line', 'lines')} of comments" if table.comments else ""

    def find(known: Known) -> Entries:
        # A first line such as "#ai,x" is a comment, unless a node is called #ai: then its label would be lost.
        begins = (comment.split(table.delimiter)[0].strip() for comment in table.comments)
        if node := next((begin for begin in begins if known and begin in known), None):
            raise source.error(f"a comment line begins with {node!r}, the name of a node; put quotes around it")
        entries = _read_table(columns, None, options, known)
        return replace(entries, manner=", ".join(filter(None, (comments, entries.manner))))

    return Form(find, source, table.lines)


def _find_entries(labels: Any, options: LabelOptions, known: Known) -> Entries:
    """Return the entries of labels in memory, whose form is recognized by their attributes."""
    if hasattr(labels, "detach"):
        labels = labels.detach().cpu().numpy()
    if isinstance(labels, ColumnTable):
        columns = [labels.column(at) for at in range(len(labels.names))]
        return _read_table(columns, list(map(str, labels.names)), options, known)
    if hasattr(labels, "iloc"):
        frame = labels if hasattr(labels, "columns") else labels.to_frame()
        titles, index = [str(title) for title in frame.columns], frame.index
        columns = [frame.iloc[:, at].tolist() for at in range(len(titles))]
        # A frame without names of rows is numbered 0, 1, ... by pandas, in any order of its rows.
        counts = is_counted(index) and index.name is None
        return _read_frame(columns, titles, options, known, index.tolist(), counts=counts)
    if hasattr(labels, "get_columns"):
        columns = [column.to_list() for column in labels.get_columns()]
        return _read_frame(columns, list(labels.columns), options, known)
    if hasattr(labels, "__arrow_c_stream__") or (hasattr(labels, "schema") and hasattr(labels, "column")):
        return _read_arrow(labels, options, known)
    options.refuse(f"labels in a {type(labels).__name__}, which has no columns")
    if isinstance(labels, Mapping):
        return _read_mapping(labels, known)
    if isinstance(labels, tuple) and len(labels) == 2 and isinstance(labels[0], Graph):
        return _read_attribute(*labels)
    if isinstance(labels, tuple) and len(labels) == 2 and all(map(_is_sequence, labels)):
        return _read_pair(*labels)
    if not _is_sequence(labels):
        raise InputError(f"{_FORMS} is expected, not {type(labels).__name__}")
    return _read_rows(labels, known)


def _read_table(
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
        note = "header, " if header else "no header, "
    names = [None] * len(columns) if titles is None else titles
    table = [Column(names[at], at, partial(list, column)) for at, column in enumerate(columns)]
    if index is not None:
        table.append(Column(None, INDEX, partial(list, index)))
    node, label = assign_labels(table, known, node_column=options.node_column, label_column=options.label_column)
    manner = f"{note}nodes {describe_column(node)}, labels {describe_column(label)}"
    return Entries(label.values, node.values, manner, header=header)


def _read_frame(
    columns: list[list[Any]],
    titles: list[str],
    options: LabelOptions,
    known: Known,
    index: list[Any] | None = None,
    *,
    counts: bool = False,
) -> Entries:
    """Find the nodes in named columns, or in the index of a frame, unless that ``counts`` the rows."""
    is_matrix = not options.choose_columns and _is_membership(titles, columns)
    if options.choose_columns or (len(columns) != 1 and not is_matrix):
        return _read_table(columns, titles, options, known, None if counts else index)
    if index is not None and counts:
        hint = "labels.to_dict() if the numbers are the nodes, labels.to_numpy() if the rows are in order"
        check_counted(len(index), known, "the index", hint, "labels")
    manner = "" if index is None else "nodes by the index"
    if len(columns) == 1:
        return Entries(columns[0], index, manner)
    matrix = np.array(columns).T
    if index is None or counts:
        _refuse_pairs(matrix, known)
    if index is None:
        return Entries(matrix=matrix, classes=titles)
    return Entries((), index, f"{manner}, a column of 0 and 1 a class", matrix, titles)


def _read_arrow(labels: Any, options: LabelOptions, known: Known) -> Entries:
    if not hasattr(labels, "schema"):
        for convert in ("to_list", "to_pylist"):  # a Series of polars, an array of Arrow
            if hasattr(labels, convert):
                return Entries(getattr(labels, convert)())
    if not hasattr(labels, "column_names"):
        require("pyarrow", f"reading labels from {type(labels).__name__}", "io")
        import pyarrow as pa

        labels = pa.table(labels)
    try:
        columns = [column.to_pylist() for column in labels.columns]
    except (ValueError, OverflowError, KeyError) as error:  # times that Python does not have
        raise InputError(f"a column cannot be read: {error}") from None
    return _read_frame(columns, list(labels.schema.names), options, known)


def _read_mapping(labels: Mapping[Any, Any], known: Known) -> Entries:
    """Read a mapping from nodes to labels; refuse one that may lead from labels to nodes."""
    keys, values = list(labels), list(labels.values())
    members = {text_of(each) for value in values if _is_collection(value) for each in value}
    if (
        known is not None
        and members
        and members <= known
        and sum(text_of(key) in known for key in keys) <= len(members)
    ):
        raise InputError(
            f"the values of the mapping ({list_some(values)}) are names of nodes, and labels are expected there, the "
            f"nodes as keys ({list_some(keys)}): pass a pair (nodes, labels), or a table (node, label)"
        )
    return Entries(values, keys, "nodes by the keys")


def _read_attribute(graph: Graph, attribute: Any) -> Entries:
    if attribute not in graph.attributes:
        listed = ", ".join(map(repr, graph.attributes)) or "none"
        raise InputError(f"the nodes of {graph.source} have no attribute {attribute!r}; their attributes are {listed}")
    manner = f"attribute {attribute!r} of {graph.source}"
    return Entries(list(graph.attributes[attribute]), graph.names.tolist(), manner)


def _read_pair(nodes: Any, labels: Any) -> Entries:
    names, matrix = _as_list(nodes), labels if _is_matrix(labels) else None
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
    if not any(map(_is_collection, values)):
        return Entries(values)
    try:
        matrix = np.array([list(row) for row in values])
    except (TypeError, ValueError):
        matrix = np.array([])
    if matrix.ndim < 2 or matrix.dtype.kind not in "biuf":
        raise AmbiguousTable(
            f"a list of {list_some(values)} can be read in two ways",
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
    if not columns or any(title.strip().lower() in NODES | LABELS for title in titles):
        return False
    return all(
        not (isinstance(value, str) or _is_collection(value) or is_missing(value)) and value in (0, 1)
        for column in columns
        for value in column
    )


def _is_matrix(labels: Any) -> bool:
    return sp.issparse(labels) or (isinstance(labels, np.ndarray) and labels.ndim > 1 and labels.shape[1:] != (1,))


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


def _read_form(form: Form, names: NDArray[Any] | None) -> Labels:
    """Return the labels of a form; keep the form where the names of the nodes are not known yet."""
    known = None if names is None else frozenset(map(str, names.tolist()))
    try:
        labels = _make_labels(form.find(known), form)
    except FormatError:
        raise
    except InputError as error:
        raise form.error(error, 0) from None
    return labels if names is not None else replace(labels, form=form)


def _make_labels(entries: Entries, form: Form) -> Labels:
    if entries.matrix is not None:
        (row, column, classes), unlabeled = _find_members(entries), 0
    else:
        row, texts, unlabeled = _flatten(entries, form)
        kinds, column = _number(texts_of_classes(texts))
        classes = tuple(map(str, kinds.tolist()))
    names, order = _number_nodes(entries, form)
    indicator = _indicator(order[row], column, shape=(len(names), len(classes)))
    if entries.nodes is not None:
        labeled = np.diff(indicator.indptr) > 0
        names, indicator = names[labeled], indicator[labeled]
    by_row, repeated = entries.nodes is None, len(row) - indicator.nnz
    source = "memory" if form.source is None else form.source.path
    return Labels(names, indicator, classes, by_row, source, entries.manner, entries.by_number, unlabeled, repeated)


def _find_members(entries: Entries) -> tuple[NDArray[Any], NDArray[Any], tuple[str, ...]]:
    """Return rows and columns of the entries of a matrix, and its classes, integers by value."""
    matrix = entries.matrix
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise InputError(f"a matrix with a row for each node is expected, and the shape is {matrix.shape}")
    values = matrix if isinstance(matrix, np.ndarray) else matrix.data
    odd = values[~np.isin(values, (0, 1))] if matrix.dtype.kind in "biuf" else values
    if odd.size:
        raise InputError(f"0 and 1 (has the label) are expected, not values such as {odd.flat[0].item()!r}")
    row, column = (np.asarray(part) for part in matrix.nonzero())
    classes, rank = _number([str(number) for number in entries.classes or range(matrix.shape[1])])
    return row, rank[column], tuple(map(str, classes.tolist()))


def _flatten(entries: Entries, form: Form) -> tuple[NDArray[np.int64], list[str], int]:
    """Return the entry and the text of each label, and the number of entries without one."""
    rows, texts, unlabeled = list[int](), list[str](), 0
    for entry, value in enumerate(entries.labels):
        several = [each for each in (value if _is_collection(value) else [value]) if not is_missing(each)]
        if any(_is_collection(each) or isinstance(each, dict) for each in several):
            problem = f"a label is a text, a number or a truth value, not {several[0]!r}"
            raise form.error(problem, entry + entries.header)
        rows += [entry] * len(several)
        texts += map(text_of, several)
        unlabeled += not several
    if not texts:
        raise InputError("no entry has a label; a text, a number or a truth value is expected for some nodes")
    return np.array(rows, np.int64), texts, unlabeled


def _number_nodes(entries: Entries, form: Form) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the names of the nodes, and the position of each entry's among them."""
    if entries.nodes is None:
        count = len(entries.labels) if entries.matrix is None else entries.matrix.shape[0]
        return np.arange(count), np.arange(count)
    by_text: dict[str, Any] = {}
    for entry, node in enumerate(entries.nodes):
        if is_missing_name(node):
            raise form.error("an empty node; leave it out, or name it", entry + entries.header)
        text = text_of(node)
        if by_text.setdefault(text, node) != node:
            raise InputError(f"the nodes {by_text[text]!r} and {node!r} are both written {text!r}; rename one")
    return _number(list(map(text_of, entries.nodes)))


def _number(texts: list[str]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return different texts in order, integers by value, and the position of each text among them."""
    names = from_strings(list(dict.fromkeys(texts)))
    ordered = object_array(sorted(names.tolist())) if names.dtype == object else np.sort(names)
    position = {str(name): at for at, name in enumerate(ordered.tolist())}
    return ordered, np.fromiter((position[text] for text in texts), np.int64, len(texts))


def align(labels: Labels, names: NDArray[Any], *, unlabeled: str) -> Aligned:
    """Align `labels` with the rows called `names`; ``unlabeled`` nodes drop ("drop") or stay ("keep").

    The order of the result depends on the names alone, so that two embeddings which hold the same nodes in a
    different order are split alike.
    """
    labels = as_labels(labels, names=names)
    position = _positions(labels, names)  # the embedding's row of each labeled node, -1 if it has none
    present = np.flatnonzero(position >= 0)
    entries = labels.indicator[present].tocoo()
    full = _indicator(position[present][entries.row], entries.col, shape=(len(names), len(labels.classes)))
    order = sort_rows(names)
    if unlabeled == "drop":
        order = order[np.diff(full.indptr)[order] > 0]
    return Aligned(order, full[order], len(position) - len(present))


def _positions(labels: Labels, names: NDArray[Any]) -> NDArray[np.int64]:
    if labels.by_row:
        return _positions_by_row(labels, names)
    index = {str(name): row for row, name in enumerate(names.tolist())}
    if len(index) < len(names):
        raise InputError(
            "several rows of the embedding have one name, as on both sides of a bipartite graph; labels by name need "
            "nodes with different names"
        )
    position = np.fromiter((index.get(str(name), -1) for name in labels.names.tolist()), np.int64)
    if not (position >= 0).any():
        raise InputError(
            f"none of the {len(position)} nodes of {labels.source} is in the embedding: the labels have "
            f"{list_some(labels.names[:4].tolist())}, the embedding has {list_some(names[:4].tolist())}; call them the "
            "same in both",
            argument="labels",
        )
    return position


def _positions_by_row(labels: Labels, names: NDArray[Any]) -> NDArray[np.int64]:
    n = len(labels.names)
    rows = f"{labels.source} has labels for {n} rows"
    if n != len(names):
        problem = f"{rows} and the embedding has {len(names)} nodes; give a table (node, label) if some are left out"
        raise InputError(problem, argument="labels")
    position = sort_rows(names)
    numbered = names.dtype.kind in "iu" and np.array_equal(names[position], np.arange(n))
    if labels.by_number and numbered:
        return position
    if labels.by_number or (numbered and not np.array_equal(names, np.arange(n))):
        raise InputError(
            f"{rows} in order, and the embedding calls its nodes {list_some(names[:4].tolist())}: row i may be node i, "
            "or the node of row i; give a pair (nodes, labels), or a table (node, label)",
            argument="labels",
        )
    return np.arange(n)


def _indicator(row: NDArray[Any], column: NDArray[Any], *, shape: tuple[int, int]) -> sp.csr_array[np.bool_]:
    """Return a matrix that is True at (row, column), however often the pair occurs."""
    return sp.csr_array((np.ones(len(row), np.bool_), (row, column)), shape=shape)


def _count(count: int, one: str, several: str) -> str:
    return f"{count:,} {one if count == 1 else several}"


def is_missing(value: Any) -> bool:
    """Return whether a value is no label: None, NaN, an empty text."""
    return is_missing_name(value) or (isinstance(value, str) and value.strip() in NO_VALUES)


def is_missing_name(value: Any) -> bool:
    """Return whether a value names no node: None, NaN, an empty text. The text "nan" is a name, as in edge lists."""
    if isinstance(value, str):
        return not value.strip()
    return is_missing_id(value) or type(value).__name__ == "MaskedConstant"


def _is_collection(value: Any) -> bool:
    """Return whether a value is several labels."""
    return isinstance(value, list | tuple | set | frozenset) or (isinstance(value, np.ndarray) and value.ndim > 0)


def texts_of_classes(labels: Iterable[str]) -> list[str]:
    """Return texts of labels; where all are whole numbers, without ".0" at the end."""
    texts = list(labels)
    # A csv that pandas wrote has 1.0 for the class 1 as soon as one label is missing. A single class that is no whole
    # number shows that the decimals are meant.
    if any(text.endswith(".0") for text in texts) and all(_WHOLE.fullmatch(text) for text in texts):
        return [text.removesuffix(".0") for text in texts]
    return texts
