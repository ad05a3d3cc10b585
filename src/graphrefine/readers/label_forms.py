"""Forms of labels: tables, data frames, mappings, pairs, arrays and matrices; which part of them is nodes and labels.

Which column of a table holds the nodes, and whether its first row is a header: the names of the nodes that labels are
for are the strongest evidence, where they are at hand; then the types of the columns, and last the usual words. What
stays undecided is refused with both readings.

No package of data frames is imported here but pyarrow, for objects that only support its protocol.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from graphrefine.errors import InputError, MissingExtraError
from graphrefine.graph.graph import Graph
from graphrefine.tables.header import judge_labels
from graphrefine.tables.roles import find_column
from graphrefine.tables.source import Source
from graphrefine.tables.vocabulary import LABELS, NODES

Known = AbstractSet[str] | None  # texts of the names that labels are for, where they are at hand

INDEX = -1  # position of nodes in a data frame's index, beside its columns
FORMS = (
    "a file, a mapping from nodes to labels, a pair (nodes, labels), a pandas Series or DataFrame with its index, a "
    "table (node, label), one label for each node in order, or a matrix of 0 and 1"
)

PLAIN = frozenset({str, int, float, bool})
"""Types of which equal values have one text."""

_MISSING_TEXTS = frozenset({"", "nan", "NaN", "<NA>"})
_MISSING_TYPES = frozenset({"NAType", "NaTType", "MaskedConstant"})  # by name: pandas is not imported
_WHOLE = re.compile(r"(-?[0-9]+)\.0")


@dataclass(frozen=True)
class LabelOptions:
    """How to read labels; see `read_labels`."""

    header: bool | None = None
    node_column: str | int | None = None
    label_column: str | int | None = None

    @property
    def chooses_columns(self) -> bool:
        """Whether a column is chosen."""
        return (self.node_column, self.label_column) != (None, None)


class Where(NamedTuple):
    """Where labels come from, for errors: memory, or a file, perhaps with the line of each entry."""

    source: Source | None = None
    lines: Sequence[int | None] = ()
    prefix: str = "labels: "

    def error(self, problem: str | InputError, entry: int | None = None, argument: str = "labels") -> InputError:
        """Return an error about an entry."""
        argument = getattr(problem, "argument", None) or argument
        error = InputError(f"{self.prefix}{problem}", argument=argument)
        if self.source is None:
            return error
        return self.source.error(error, line=self.lines[entry] if entry is not None and self.lines else None)


MEMORY = Where()


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
    by_number: bool = False
    where: Where = MEMORY
    shift: int = 0  # lines of a header before the entries

    def error(self, problem: str, entry: int | None = None) -> InputError:
        """Return an error about an entry."""
        return self.where.error(problem, None if entry is None else entry + self.shift)


def is_missing(value: Any) -> bool:
    """Return whether a value stands for no value: None, NaN, an empty text.

    Examples
    --------
    >>> [is_missing(value) for value in (None, float("nan"), " ", "nan", 0, "None", False)]
    [True, True, True, True, False, False, False]
    """
    if value is None or type(value).__name__ in _MISSING_TYPES:
        return True
    if isinstance(value, str):
        return value.strip() in _MISSING_TEXTS
    return isinstance(value, float | np.floating) and bool(value != value)


def is_collection(value: Any) -> bool:
    """Return whether a value is several labels."""
    return isinstance(value, list | tuple | set | frozenset) or (isinstance(value, np.ndarray) and value.ndim > 0)


def text_of(value: Any) -> str:
    """Return a value as text: a whole number without a point, as tables turn integers into floats where one is missing.

    Examples
    --------
    >>> text_of(7.0), text_of(np.int64(7)), text_of("007"), text_of(True), text_of(0.5)
    ('7', '7', '007', 'True', '0.5')
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else str(value)


def texts_of_classes(labels: Iterable[str]) -> list[str]:
    """Return texts of labels; where all are whole numbers, without ".0" at the end.

    Examples
    --------
    >>> texts_of_classes(["1.0", "12"]), texts_of_classes(["1.0", "x"])
    (['1', '12'], ['1.0', 'x'])
    """
    texts = list(labels)
    if any(text.endswith(".0") for text in texts) and all(_is_whole(text) for text in texts):
        return [text.removesuffix(".0") for text in texts]
    return texts


def _is_whole(text: str) -> bool:
    return text.removeprefix("-").isdecimal() or _WHOLE.fullmatch(text) is not None


def list_sample(values: Iterable[Any]) -> str:
    """Return the first values, for messages."""
    some = [repr(value.item() if isinstance(value, np.generic) else value) for _, value in zip(range(4), values)]  # noqa: B905
    return ", ".join(some[:3]) + (", ..." if len(some) > 3 else "")


@dataclass(frozen=True)
class LabelTable:
    """A table with a node in each row. Without titles, its first row may hold them."""

    columns: list[list[Any]]
    titles: list[str] | None
    index: Sequence[Any] | None  # nodes beside the columns
    options: LabelOptions
    known: Known
    where: Where

    def choose(self) -> Entries:
        """Return the entries of the columns of nodes and labels that options, titles and known names tell."""
        if self.titles is not None:
            return self._choose_columns()
        if not self._has_header():
            entries = self._choose_columns()
            return replace(entries, manner=join_notes("no header", entries.manner))
        titles = [str(column[0]) for column in self.columns]
        entries = replace(self, titles=titles, columns=[column[1:] for column in self.columns])._choose_columns()
        return replace(entries, manner=join_notes("header", entries.manner), shift=1)

    def _choose_columns(self) -> Entries:
        twice = next((title for title, count in Counter(self.titles).items() if title and count > 1), None)
        if twice is not None:
            raise self.where.error(f"duplicate name {twice!r} of columns; rename one", 0)
        if not self.columns or not self.columns[0]:
            after = "in the table" if self.where.source is None else "after the header"
            raise self.where.error(f"nothing {after}; a node and a label are expected")
        node = self._find_nodes()
        label = self._find_labels(node)
        nodes = list(self.index or ()) if node == INDEX else self.columns[node]
        if self._words(node) in ("", "unnamed: 0") and self.options.node_column is None and self._counts(nodes):
            hint = f"node_column={node} if they are these numbers"
            _check_counted(len(nodes), self.known, self.where, f"the column {self._title(node)}", hint, "node_column")
        manner = join_notes(f"nodes {self._title(node)}", f"labels {self._title(label)}")
        return Entries(self.columns[label], nodes, manner, where=self.where)

    def _counts(self, nodes: Sequence[Any]) -> bool:
        return list(map(text_of, nodes)) == list(map(str, range(len(nodes))))

    def _has_header(self) -> bool:
        columns = (self.options.node_column, self.options.label_column)
        if self.options.header is not None:
            return self.options.header
        if any(isinstance(column, str) and not column.isdecimal() for column in columns):
            return True
        verdict = judge_labels(self.columns, self.known)
        if verdict is None:
            first = ", ".join(repr(column[0]) for column in self.columns)
            raise self.where.error(
                f"the first row, {first}, may be names of columns or a node with its label; pass header=True for names "
                "of columns, header=False for a node" + self._ask_for_names(),
                0,
                "header",
            )
        return verdict

    def _ask_for_names(self) -> str:
        return ", or names= with the names of the nodes" if self.known is None else ""

    def _words(self, at: int) -> str | None:
        """Return a title as it is compared with usual ones; None where there is none."""
        return None if self.titles is None or at == INDEX else self.titles[at].strip().lower()

    def _title(self, at: int) -> str:
        """Return a column for messages: its name, or its position from 0."""
        if at == INDEX:
            return "by the index"
        return repr(self.titles[at]) if self.titles is not None else f"in column {at}"

    def _list_columns(self) -> str:
        if self.titles is None:
            return f"the columns have no names, and positions go from 0 to {len(self.columns) - 1}"
        return f"the columns are {', '.join(map(repr, self.titles))}"

    def _find_column(self, argument: str) -> int | None:
        """Return the position of a column that is chosen, by its name or position."""
        column = getattr(self.options, argument)
        try:
            return None if column is None else find_column(argument, column, self.titles, len(self.columns))
        except InputError as error:
            raise self.where.error(error, 0) from None

    def _find_nodes(self) -> int:
        node, label = self._find_column("node_column"), self._find_column("label_column")
        if node is not None:
            return node
        places: list[int] = [*range(len(self.columns)), *([] if self.index is None else [INDEX])]
        places = [at for at in places if at != label]
        if not places:
            raise self._one_column()
        usual = [at for at in places if self._words(at) in NODES]
        others = [at for at in places if self._words(at) not in LABELS]
        if self.known is not None:
            counts = {at: _count_known(self.index or () if at == INDEX else self.columns[at], self.known)
                      for at in places}  # fmt: skip
            for group in (usual, others, places):
                matches = {at: counts[at] for at in group if counts[at]}
                if matches:
                    node = self._pick(matches)
                    better = [at for at in places if counts[at] > 2 * counts[node]]
                    if better:  # a usual title above few of the names
                        raise self._two_readings([node, *better])
                    return node
        if len(usual) > 1:
            raise self._two_readings(usual)
        if usual or INDEX in places:
            return usual[0] if usual else INDEX
        if len(others or places) == 1 or len(self.columns) == 2:
            return (others or places)[0]
        raise self._too_many("node_column= and label_column=" + self._ask_for_names(), "node_column")

    def _pick(self, matches: dict[int, int]) -> int:
        """Return the column of the nodes among those with known names: the first, or the index, unless one has more."""
        first, *others = matches
        if INDEX in others and all(2 * matches[at] < matches[INDEX] for at in matches if at != INDEX):
            return INDEX
        if any(matches[at] > (matches[first] if at != INDEX else matches[first] // 2) for at in others):
            raise self._two_readings([first, *others])
        return first

    def _find_labels(self, node: int) -> int:
        label = self._find_column("label_column")
        if label is not None:
            if label == node:
                problem = f"label_column={self.options.label_column!r} is the column of the nodes too"
                raise self.where.error(f"{problem}; {self._list_columns()}", 0, "label_column")
            return label
        others = [at for at in range(len(self.columns)) if at != node]
        usual = [at for at in others if self._words(at) in LABELS]
        if len(usual) == 1 or len(others) == 1:
            return usual[0] if len(usual) == 1 else others[0]
        if not others:
            raise self._one_column()
        raise self._too_many("label_column=", "label_column")

    def _two_readings(self, places: list[int]) -> InputError:
        readings = " or ".join(map(self._title, places[:2]))
        problem = f"the nodes may be {readings}; {self._list_columns()}: pass node_column="
        return self.where.error(problem + self._ask_for_names(), 0, "node_column")

    def _one_column(self) -> InputError:
        what = self._title(0) if self.titles is not None else repr(self.columns[0][0])
        return self.where.error(f"one column ({what}) where a node and a label are expected", 0)

    def _too_many(self, options: str, argument: str) -> InputError:
        expected = f"{len(self.columns)} columns where a node and a label are expected"
        return self.where.error(f"{expected}; {self._list_columns()}: keep two, or pass {options}", 0, argument)


def join_notes(*parts: str) -> str:
    """Return notes as one, less the empty ones."""
    return ", ".join(part for part in parts if part)


def _count_known(values: Sequence[Any], known: AbstractSet[str]) -> int:
    """Return the number of different known names among values."""
    try:
        distinct = set(values)
    except TypeError:  # lists of labels, which are no names
        return 0
    texts = distinct if all(type(value) is str for value in distinct) else {text_of(value) for value in distinct}
    return sum(text in known for text in texts)


def _check_counted(rows: int, known: Known, where: Where, what: str, hint: str, argument: str) -> None:
    """Refuse nodes that only count the rows, as an index of pandas does, where nodes are not called so."""
    if known is not None and not known <= set(map(str, range(rows))):
        some = ", ".join(map(repr, sorted(known)[:3])) + ", ..." * (len(known) > 3)
        problem = f"{what} only counts the rows, 0 to {rows - 1}, and nodes are called {some}: "
        raise where.error(f"{problem}write the names of the nodes there, or pass {hint}", argument=argument)


def find_entries(labels: Any, options: LabelOptions, known: Known, where: Where = MEMORY) -> Entries:
    """Return the entries of labels in any form but a path."""
    return replace(_Finder(options, known, where).find(labels), where=where)


class _Finder(NamedTuple):
    """The forms of labels in memory, recognized by their attributes."""

    options: LabelOptions
    known: Known
    where: Where

    def find(self, labels: Any) -> Entries:
        if hasattr(labels, "detach"):
            labels = labels.detach().cpu().numpy()
        if hasattr(labels, "iloc"):
            return self.find_in_pandas(labels if hasattr(labels, "columns") else labels.to_frame())
        if hasattr(labels, "get_columns"):
            return self.find_in_columns(list(labels.columns), [column.to_list() for column in labels.get_columns()])
        if hasattr(labels, "__arrow_c_stream__") or (hasattr(labels, "schema") and hasattr(labels, "column")):
            return self.find_in_arrow(labels)
        if self.options != LabelOptions():
            name = "label_column" if self.options.node_column is None else "node_column"
            raise self.where.error(f"{name}= is for tables, and labels are a {type(labels).__name__}", argument=name)
        if isinstance(labels, Mapping):
            return self.find_in_mapping(labels)
        if isinstance(labels, tuple) and len(labels) == 2 and isinstance(labels[0], Graph):
            return self.find_in_graph(*labels)
        if isinstance(labels, tuple) and len(labels) == 2 and all(_is_sequence(part) for part in labels):
            return self.find_in_pair(*labels)
        if not _is_sequence(labels):
            raise self.where.error(f"{FORMS} is expected, not {type(labels).__name__}")
        return self.find_in_rows(labels)

    def find_in_graph(self, graph: Graph, attribute: Any) -> Entries:
        if attribute not in graph.attributes:
            listed = ", ".join(map(repr, graph.attributes)) or "none"
            problem = f"the nodes of {graph.source} have no attribute {attribute!r}; their attributes are {listed}"
            raise self.where.error(problem)
        manner = f"attribute {attribute!r} of {graph.source}"
        return Entries(list(graph.attributes[attribute]), graph.names.tolist(), manner)

    def find_in_pandas(self, frame: Any) -> Entries:
        """Find the nodes in the index of a frame, unless that only counts the rows, or in a column."""
        index, titles = frame.index, [str(title) for title in frame.columns]
        columns = [frame.iloc[:, at].tolist() for at in range(len(titles))]
        is_counted = type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1
        is_counted = is_counted and index.name is None
        is_matrix = not self.options.chooses_columns and _is_membership(titles, columns)
        is_series = len(columns) == 1 and not self.options.chooses_columns
        if not is_matrix and not is_series:
            if is_counted:
                return self.find_in_columns(titles, columns)
            return LabelTable(columns, titles, index.tolist(), *self).choose()
        if is_counted:
            if not is_series:
                self.check_pairs(np.array(columns).T)
            hint = "labels.to_dict() if the numbers are the nodes, labels.to_numpy() if the rows are in order"
            _check_counted(len(frame), self.known, self.where, "the index", hint, "labels")
        if is_series:
            return Entries(columns[0], index.tolist(), "nodes by the index")
        manner = "nodes by the index, a column of 0 and 1 a class"
        return Entries(nodes=index.tolist(), manner=manner, matrix=np.array(columns).T, classes=titles)

    def find_in_columns(self, titles: list[str], columns: list[list[Any]]) -> Entries:
        """Find the nodes in named columns without an index."""
        if self.options.chooses_columns or len(columns) == 0:
            return LabelTable(columns, titles, None, *self).choose()
        if len(columns) == 1:
            return Entries(columns[0])
        if _is_membership(titles, columns):
            matrix = np.array(columns).T
            self.check_pairs(matrix)
            return Entries(matrix=matrix, classes=titles)
        return LabelTable(columns, titles, None, *self).choose()

    def find_in_arrow(self, labels: Any) -> Entries:
        if hasattr(labels, "to_list"):  # a Series of polars
            return Entries(labels.to_list())
        if hasattr(labels, "to_pylist") and not hasattr(labels, "schema"):  # an array of Arrow
            return Entries(labels.to_pylist())
        table = labels
        if not hasattr(labels, "column_names"):
            try:
                import pyarrow as pa
            except ModuleNotFoundError:
                raise MissingExtraError(f"reading labels from {type(labels).__name__}", "pyarrow", "io") from None
            table = pa.table(labels)
        try:
            columns = [table.column(at).to_pylist() for at in range(len(table.column_names))]
        except (ValueError, OverflowError, KeyError) as error:  # times that Python does not have
            raise self.where.error(f"a column cannot be read: {error}") from None
        return self.find_in_columns(list(table.column_names), columns)

    def find_in_mapping(self, labels: Mapping[Any, Any]) -> Entries:
        """Read from nodes to labels; from labels to nodes only where nothing else can be meant."""
        keys, values = list(labels), list(labels.values())
        if self.is_columns(labels):
            return LabelTable([_as_list(column) for column in values], keys, None, *self).choose()
        members = {text_of(each) for value in values if is_collection(value) for each in value}
        if self.known is None or not members or not members <= self.known:
            return Entries(values, keys, "nodes by the keys")
        as_nodes = sum(text_of(key) in self.known for key in keys)
        if not as_nodes:
            pairs = [
                (node, key) for key, value in labels.items() for node in (value if is_collection(value) else [value])
            ]
            return Entries([key for _, key in pairs], [node for node, _ in pairs], "labels by the keys")
        if as_nodes <= len(members):
            raise self.where.error(
                f"both the keys ({list_sample(keys)}) and the values ({list_sample(values)}) of the mapping are names "
                "of nodes, so that it may go from nodes to labels or from labels to nodes; pass a pair (nodes, "
                "labels), or a table (node, label)"
            )
        return Entries(values, keys, "nodes by the keys")

    def is_columns(self, labels: Mapping[Any, Any]) -> bool:
        """Return whether keys are titles of columns: one is a usual title of nodes, none is a node, lengths agree."""
        titles = [key.strip().lower() for key in labels if isinstance(key, str) and key not in (self.known or ())]
        if len(titles) < len(labels) or not NODES & set(titles) or not all(map(is_collection, labels.values())):
            return False
        return len({len(column) for column in labels.values()}) == 1

    def find_in_pair(self, nodes: Any, labels: Any) -> Entries:
        names = _as_list(nodes)
        values: Any = labels if _is_matrix(labels) else _as_list(labels)
        count = values.shape[0] if _is_matrix(labels) else len(values)
        if len(names) != count:
            problem = f"the pair has {len(names)} nodes and {count} labels; give as many of one as of the other"
            raise self.where.error(problem)
        if _is_matrix(labels):
            return Entries(nodes=names, manner="a pair (nodes, matrix)", matrix=values)
        return Entries(values, names, "a pair (nodes, labels)")

    def find_in_rows(self, labels: Any) -> Entries:
        """Read one label, or one row of a matrix, for each node."""
        if _is_matrix(labels):
            self.check_pairs(labels)
            return Entries(matrix=labels)
        values = _as_list(labels)
        nested = [value for value in values if is_collection(value)]
        if not nested:
            return Entries(values)
        if len(nested) < len(values):
            raise self.where.error(
                f"{nested[0]!r} is among single labels; where nodes have several, pass a mapping from nodes to labels"
            )
        try:
            matrix = np.array([list(row) for row in values])
        except ValueError:
            matrix = np.array([])
        if matrix.ndim < 2 or matrix.dtype.kind not in "biuf":
            raise self.where.error(
                f"a list of {list_sample(values)} may hold pairs (node, label) or the labels of each node; pass a "
                "mapping from nodes to labels, or a pair (nodes, labels)"
            )
        return self.find_in_rows(matrix)

    def check_pairs(self, matrix: Any) -> None:
        """Refuse an array of two columns that may hold nodes and labels."""
        if sp.issparse(matrix) or matrix.ndim != 2 or matrix.shape[1] != 2 or matrix.dtype.kind == "b":
            return
        is_binary = matrix.dtype.kind in "iuf" and np.isin(matrix, (0, 1)).all()
        if is_binary and len(np.unique(matrix, axis=0)) < len(matrix):
            return  # a pair of node and label is there once
        if not matrix.size or (is_binary and not all(text_of(node) in (self.known or ()) for node in matrix[:, 0])):
            return
        raise self.where.error(
            f"an array of shape {matrix.shape} may hold pairs (node, label), or 0 and 1 for two classes; pass the pair "
            "(array[:, 0], array[:, 1]) for the former, and truth values (array == 1) for the latter"
        )


def _is_membership(titles: list[str], columns: list[list[Any]]) -> bool:
    """Return whether columns are classes: 0 and 1, or truth values, in all of them, and none called node or label."""
    if any(title.strip().lower() in NODES | LABELS for title in titles):
        return False
    values = (value for column in columns for value in column)
    return all(not (isinstance(value, str) or is_collection(value) or is_missing(value)) and value in (0, 1)
               for value in values)  # fmt: skip


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
