"""Labels of nodes: from a file or an object in memory to rows aligned with an embedding's.

Labels either name their nodes (a table, a mapping, an index, a pair) or have a row for each node in order (a list, an
array, a matrix). By name is safe, and whatever has names is read by them: see `graphrefine.readers.label_forms`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphrefine.errors import FormatError, InputError
from graphrefine.graph.graph import Graph
from graphrefine.graph.node_ids import from_strings, object_array, sort_rows
from graphrefine.readers.columns import Records
from graphrefine.readers.label_forms import (
    Entries,
    LabelOptions,
    find_entries,
    is_collection,
    is_missing,
    join_notes,
    list_sample,
    read_table,
    texts_of_classes,
)
from graphrefine.readers.matrix_files import read_npy, read_variable
from graphrefine.readers.small_table import is_binary
from graphrefine.system import distinct_keys
from graphrefine.tables.decode import decode_text
from graphrefine.tables.kinds import text_of
from graphrefine.tables.limits import check_stated
from graphrefine.tables.roles import Known
from graphrefine.tables.small import read_rows
from graphrefine.tables.source import Source, wrap_errors
from graphrefine.tables.vocabulary import EMPTY_WORDS

FilePath = str | PathLike[str]

IN_ORDER = "in the order of the nodes"
NEEDS = "a node and a label are expected in each line"


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
            f"{labels.manner or IN_ORDER} ({_count(len(labels.classes), 'class', 'classes')})",
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
    if not words:
        return ""
    nodes = int(labels.indicator[:, np.isin(labels.classes, words)].sum(axis=1).astype(bool).sum())
    classes = f"the class{'es' * (len(words) > 1)} {', '.join(map(repr, words))}"
    return f"{_count(nodes, 'node', 'nodes')} of {classes} (if that means no label, leave the field empty)"


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
    return _read_form(Form(lambda known: find_entries(labels, options, known)), names)


def read_labels(
    path: FilePath,
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
    source = Source(path, needs=NEEDS)
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


def _read_form(form: Form, names: NDArray[Any] | None) -> Labels:
    known = None if names is None else frozenset(map(str, names.tolist()))
    try:
        labels = _make_labels(form.find(known), form)
    except FormatError:
        raise
    except InputError as error:
        raise form.error(error, 0) from None
    return labels if names is not None else replace(labels, form=form)


def _make_labels(entries: Entries, form: Form) -> Labels:
    unlabeled = 0
    if entries.matrix is not None:
        row, column, classes = _find_members(entries)
    else:
        row, texts, unlabeled = _flatten(entries, form)
        kinds, column = _number(texts_of_classes(texts))
        classes = tuple(map(str, kinds.tolist()))
    names, order = _number_nodes(entries, form)
    indicator = _indicator(order[row], column, shape=(len(names), len(classes)))
    if entries.nodes is not None:
        labeled = np.diff(indicator.indptr) > 0
        names, indicator = names[labeled], indicator[labeled]
    repeated = len(row) - indicator.nnz
    by_row = entries.nodes is None
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
        raise InputError(
            f"0 (does not have the label) and 1 (has it) are expected, not values such as {odd.flat[0].item()!r}"
        )
    row, column = (np.asarray(part) for part in matrix.nonzero())
    classes, rank = _number([str(number) for number in entries.classes or range(matrix.shape[1])])
    return row, rank[column], tuple(map(str, classes.tolist()))


def _flatten(entries: Entries, form: Form) -> tuple[NDArray[np.int64], list[str], int]:
    """Return the entry and the text of each label, and the number of entries without one."""
    rows, texts, unlabeled = list[int](), list[str](), 0
    for entry, value in enumerate(entries.labels):
        several = [each for each in (value if is_collection(value) else [value]) if not is_missing(each)]
        if any(is_collection(each) or isinstance(each, dict) for each in several):
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
        if is_missing(node):
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
            "a name stands for several rows of the embedding, as on both sides of a bipartite graph, so that labels by "
            "name do not say whose they are; give nodes names that differ"
        )
    position = np.fromiter((index.get(str(name), -1) for name in labels.names.tolist()), np.int64)
    if not (position >= 0).any():
        raise InputError(
            f"none of the {len(position)} nodes of {labels.source} is in the embedding: the labels have "
            f"{list_sample(labels.names)}, the embedding has {list_sample(names)}; call them the same in both",
            argument="labels",
        )
    return position


def _positions_by_row(labels: Labels, names: NDArray[Any]) -> NDArray[np.int64]:
    n = len(labels.names)
    if n != len(names):
        raise InputError(
            f"{labels.source} has labels for {n} rows and the embedding has {len(names)} nodes; labels without "
            "nodes need one row a node: give a table (node, label) if some nodes are left out",
            argument="labels",
        )
    position = sort_rows(names)
    numbered = names.dtype.kind in "iu" and np.array_equal(names[position], np.arange(n))
    if labels.by_number and not numbered:
        raise InputError(
            f"{labels.source} has labels for the rows 0 to {n - 1} and the embedding calls its nodes "
            f"{list_sample(names)}: which row is which node is unknown; give the labels as a table (node, label)",
            argument="labels",
        )
    if not labels.by_number and numbered and not np.array_equal(names, np.arange(n)):
        raise InputError(
            f"{labels.source} has labels in order, and the embedding has the nodes 0 to {n - 1} in another order, "
            f"{list_sample(names)}: row i may be node i, or the node of row i; give a pair (nodes, labels)",
            argument="labels",
        )
    return position if labels.by_number else np.arange(n)


def _indicator(row: NDArray[Any], column: NDArray[Any], *, shape: tuple[int, int]) -> sp.csr_array[np.bool_]:
    """Return a matrix that is True at (row, column), however often the pair occurs."""
    return sp.csr_array((np.ones(len(row), np.bool_), (row, column)), shape=shape)


def _count(count: int, one: str, several: str) -> str:
    return f"{count:,} {one if count == 1 else several}"


def _parse_file(source: Source, options: LabelOptions, variable: str) -> Form:
    """Parse a file of labels, by its suffix."""
    if is_binary(source):
        from graphrefine.readers.arrow import read_arrow_table  # for an optional package

        options.refuse("a file whose columns always have names", ["header"])
        table = read_arrow_table(source)
        return Form(lambda known: find_entries(table, options, known), source)
    if source.suffix in (".json", ".jsonl", ".ndjson"):
        return Form(_parse_json(source, options), source)
    if source.suffix in (".mat", ".npy"):
        options.refuse("a file of an array, which has no columns")
        return Form(_parse_mat(source, variable) if source.suffix == ".mat" else _parse_npy(source), source)
    return _parse_text(source, options)


def _parse_text(source: Source, options: LabelOptions) -> Form:
    table = read_rows(source)
    if not table.rows:
        raise InputError(f"nothing but comments, lines that begin with # or %; {NEEDS}")
    table.check_widths()
    if len(table.rows[0]) == 1:
        raise table.error(f"one column ({table.rows[0][0]!r}) where a node and a label are expected", 0)
    columns = [list(column) for column in zip(*table.rows, strict=True)]
    comments = f"{_count(len(table.comments), 'line', 'lines')} of comments" if table.comments else ""
    begins = [comment.split(table.delimiter)[0].strip() for comment in table.comments]

    def find(known: Known) -> Entries:
        # A first line such as "#ai,x" is a comment, unless a node is called #ai: then its label would be lost.
        node = next((begin for begin in begins if known and begin in known), None)
        if node is not None:
            problem = (
                f"a line begins with {node!r}, as comments before the first record do, and there is a node of that "
            )
            raise source.error(f"{problem}name; put quotes around it")
        entries = read_table(columns, None, options, known)
        return replace(entries, manner=join_notes(comments, entries.manner))

    return Form(find, source, table.lines)


def _parse_json(source: Source, options: LabelOptions) -> Callable[[Known], Entries]:
    """Parse a mapping from nodes to labels, or objects with a node and a label, as an array or one on each line."""
    options.refuse("a file whose columns always have names", ["header"])
    text = decode_text(source)
    try:
        lines = [text] if source.suffix == ".json" else [line for line in text.split("\n") if line.strip()]
        rows = [json.loads(line, object_pairs_hook=distinct_keys) for line in lines]
    except (ValueError, RecursionError) as error:
        raise InputError(f"this is not readable JSON: {error}") from None
    content = rows[0] if source.suffix == ".json" else rows
    if isinstance(content, dict):
        options.refuse("a mapping from nodes to labels, which has no columns")
        return lambda known: find_entries(content, options, known)
    if not isinstance(content, list) or not content or not all(isinstance(row, dict) for row in content):
        raise InputError("a mapping from nodes to labels is expected, or objects with a node and a label in each")
    table = Records(content)
    columns = [table.column(at) for at in range(len(table.names))]
    return lambda known: read_table(columns, table.names, options, known)


def _parse_npy(source: Source) -> Callable[[Known], Entries]:
    try:
        array = read_npy(source.data)
    except ValueError as error:
        raise InputError(f"this is not a readable npy file: {error}") from None
    return lambda known: find_entries(array, LabelOptions(), known)


def _parse_mat(source: Source, variable: str) -> Callable[[Known], Entries]:
    named = Source(source.path, needs=f"a matrix {variable!r} is expected, or a table (node, label)")
    matrix = read_variable(named, variable)
    # A sparse matrix of a damaged file can state any number of rows, and each takes memory.
    check_stated(sum(matrix.shape), len(named.data), "rows and columns")
    matrix = matrix.tocsc() if hasattr(matrix, "tocsc") else matrix
    manner = f"variable {variable!r}, row i is node i"
    if sp.issparse(matrix) or matrix.ndim != 2 or 1 not in matrix.shape:
        return lambda known: Entries(matrix=matrix, manner=manner, by_number=True)
    # MATLAB has no vectors, and its texts are cells: one value a node.
    values = [each[0] if isinstance(each, np.ndarray) and each.shape == (1,) else each for each in matrix.ravel()]
    return lambda known: Entries(values, manner=manner, by_number=True)
