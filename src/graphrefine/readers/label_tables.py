"""Tables of labels: the text of a value, the marks of a missing one, and which columns hold the nodes and the labels.

The names of the nodes that labels are for are the strongest evidence, where they are at hand: the column that holds
known names holds the nodes. After them come the types of the columns, and last the usual words. What stays undecided is
refused with both readings.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import FormatError, InputError
from graphrefine.graph.node_ids import from_strings
from graphrefine.tables.header import judge_labels
from graphrefine.tables.roles import find_column
from graphrefine.tables.vocabulary import LABELS, NODES

PLAIN = frozenset({str, int, float, bool})
"""Types of which equal values have one text."""

_MISSING_TEXTS = frozenset({"", "nan", "NaN", "<NA>"})
_MISSING_TYPES = frozenset({"NAType", "NaTType", "MaskedConstant"})  # by name: pandas is not imported
_WHOLE = re.compile(r"(-?[0-9]+)\.0")

Blame = Callable[[InputError, int | None], InputError]


@dataclass(frozen=True)
class LabelOptions:
    """How to read labels; see `graphrefine.readers.labels.read_labels`."""

    header: bool | None = None
    node_column: str | int | None = None
    label_column: str | int | None = None


@dataclass(frozen=True)
class Entries:
    """A label, several or none for each entry, with its node; without nodes, the entries are in the order of rows."""

    labels: Sequence[Any]
    nodes: Sequence[Any] | None = None
    manner: str = ""  # how they were read, in words
    blame: Blame = lambda error, _: error  # an error with the file and the line of an entry

    def refuse(self, problem: str, entry: int | None = None) -> InputError:
        """An error about an entry."""
        return self.blame(InputError(problem, argument="labels"), entry)

    def with_blame(self, blame: Blame) -> Entries:
        """The same, with errors that name another place."""
        return replace(self, blame=blame)

    def with_manner(self, *parts: str) -> Entries:
        """The same, with words about the way they were read before those that are there."""
        return replace(self, manner=", ".join(part for part in (*parts, self.manner) if part))


@dataclass(frozen=True)
class Membership:
    """A matrix with a row for each node and a column for each class: True, or 1, where a node has a label."""

    matrix: Any
    classes: Sequence[Any] | None = None  # by default numbers from 0
    nodes: Sequence[Any] | None = None
    manner: str = ""
    blame: Blame = lambda error, _: blame_memory(error, None)

    def refuse(self, problem: str, entry: int | None = None) -> InputError:
        """An error about a row."""
        return self.blame(InputError(problem, argument="labels"), entry)

    def with_blame(self, blame: Blame) -> Membership:
        """The same, with errors that name another place."""
        return replace(self, blame=blame)

    def members(self) -> tuple[NDArray[Any], NDArray[Any], tuple[str, ...]]:
        """Rows and columns of the entries, and the classes, integers by value."""
        problem = _matrix_problem(self.matrix)
        if problem:
            raise self.refuse(problem)
        row, column = (np.asarray(part) for part in self.matrix.nonzero())
        texts = [str(number) for number in self.classes or range(self.matrix.shape[1])]
        order = np.argsort(from_strings(texts), kind="stable")
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        return row, rank[column], tuple(texts[place] for place in order.tolist())


def _matrix_problem(matrix: Any) -> str:
    """The reason why a matrix cannot be labels; empty if it can."""
    if matrix.ndim != 2:
        return f"one or two dimensions are expected, not {matrix.ndim}"
    if 0 in matrix.shape:
        return f"a row for each node is expected, and the shape is {matrix.shape}"
    if matrix.dtype.kind not in "biuf":
        return f"0 (does not have the label) and 1 (has it) are expected, not values of type {matrix.dtype}"
    values = matrix if isinstance(matrix, np.ndarray) else matrix.data
    odd = values[~np.isin(values, (0, 1))]
    if odd.size:
        return f"0 (does not have the label) and 1 (has it) are expected, not values such as {odd.flat[0].item()!r}"
    return ""


def blame_memory(error: InputError, _: int | None) -> InputError:
    """An error about labels in memory."""
    return InputError(f"labels: {error}", argument=error.argument or "labels")


def blame_file(path: str, lines: Sequence[int | None] = ()) -> Blame:
    """Errors that name a file, and the line of an entry where it has lines."""
    return partial(_blame_line, path, lines)


def _blame_line(path: str, lines: Sequence[int | None], error: InputError, entry: int | None) -> InputError:
    line = lines[entry] if entry is not None and entry < len(lines) else None
    return FormatError(path, str(error), line=line, argument=error.argument)


def is_missing(value: Any) -> bool:
    """Whether a value stands for no value: None, NaN, an empty text.

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
    """Whether a value is several labels."""
    return isinstance(value, list | tuple | set | frozenset) or (isinstance(value, np.ndarray) and value.ndim > 0)


def text_of(value: Any) -> str:
    """A value in words: a whole number without a point, as tables turn integers into floats where one is missing.

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
    """Texts of labels; where all are whole numbers, without ".0" at the end.

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


def sample(values: Iterable[Any]) -> str:
    """The first values, for messages."""
    some = [repr(value.item() if isinstance(value, np.generic) else value) for _, value in zip(range(4), values)]  # noqa: B905
    return ", ".join(some[:3]) + (", ..." if len(some) > 3 else "")


INDEX = -1  # the place of nodes that stand beside the columns
Known = AbstractSet[str] | None  # texts of the names that labels are for, where they are at hand


class UndecidedError(Exception):
    """A reading that the names of the nodes may decide, and the error if they do not."""

    def __init__(self, problem: InputError) -> None:
        super().__init__(str(problem))
        self.problem = problem


@dataclass(frozen=True)
class LabelTable:
    """A table with a node in each row. Without titles, its first row may hold them."""

    columns: list[list[Any]]
    titles: list[str] | None = None
    index: Sequence[Any] | None = None  # nodes beside the columns
    blame: Blame = blame_memory

    def choose(self, options: LabelOptions, known: Known) -> Entries:
        """The entries of the columns of nodes and labels, which options, titles and known names tell."""
        table, header = self, ""
        if self.titles is None:
            has_header = self._has_header(options, known)
            table, header = (self.with_titles(), "header") if has_header else (self, "no header")
        table.check_titles()
        node = _find_nodes(table, options, known)
        label = _find_labels(table, options, node)
        table.check_counted(options, node, known)
        shift = len(self.columns[0]) - len(table.columns[0])
        nodes = list(table.index or ()) if node == INDEX else table.columns[node]
        entries = Entries(
            table.columns[label], nodes, blame=lambda error, at: self.blame(error, None if at is None else at + shift)
        )
        return entries.with_manner(header, f"nodes {table.title(node)}", f"labels {table.title(label)}")

    def with_titles(self) -> LabelTable:
        """The same with its first row as titles."""
        return replace(
            self, titles=[str(column[0]) for column in self.columns], columns=[column[1:] for column in self.columns]
        )

    def check_titles(self) -> None:
        """Refuse a table without rows, or with two columns of one name."""
        titles = self.titles or []
        twice = next((title for title, count in Counter(titles).items() if title and count > 1), None)
        if twice is not None:
            raise self.blame(InputError(f"two columns have one name, {twice!r}; rename one", argument="labels"), 0)
        if not self.columns or not self.columns[0]:
            where = "in the table" if self.blame is blame_memory else "after the header"
            raise self.blame(InputError(f"nothing {where}; a node and a label are expected", argument="labels"), None)

    def check_counted(self, options: LabelOptions, node: int, known: Known) -> None:
        """Refuse an index without a name that only counts the rows, as pandas writes it, for nodes of other names."""
        if node == INDEX or not self.titles or self.titles[node].strip().lower() not in ("", "unnamed: 0"):
            return
        counts = [str(row) for row in range(len(self.columns[node]))]
        if options.node_column is not None or known is None or list(map(text_of, self.columns[node])) != counts:
            return
        if not set(known) <= set(counts):
            problem = InputError(
                f"the column {self.titles[node]!r} only counts the rows, from 0, and nodes are called "
                f"{', '.join(map(repr, sorted(known)[:3]))}, ...: write the names of the nodes there, or say "
                f"node_column={node} if they are these numbers",
                argument="node_column",
            )
            raise self.blame(problem, None)

    def title(self, place: int) -> str:
        """A column for messages: its name, or its position from 0."""
        if place == INDEX:
            return "by the index"
        return repr(self.titles[place]) if self.titles is not None else f"in column {place}"

    def list_columns(self) -> str:
        """All columns, for messages."""
        if self.titles is None:
            return f"the columns have no names, and positions go from 0 to {len(self.columns) - 1}"
        return f"the columns are {', '.join(map(repr, self.titles))}"

    def find_column(self, argument: str, column: str | int) -> int:
        """Return the position of a column that is chosen, by its name or position."""
        try:
            return find_column(argument, column, self.titles, len(self.columns))
        except InputError as error:
            raise self.blame(error, 0) from None

    def _has_header(self, options: LabelOptions, known: Known) -> bool:
        columns = (options.node_column, options.label_column)
        if options.header is not None:
            return options.header
        if any(isinstance(column, str) and not column.isdecimal() for column in columns):
            return True
        verdict = judge_labels(self.columns, known)
        if verdict is not None:
            return verdict
        first = [column[0] for column in self.columns]
        raise UndecidedError(
            self.blame(
                InputError(
                    f"the first row, {', '.join(map(repr, first))}, may be names of columns or a node with its label; "
                    "say header=True for names of columns, or header=False for a node",
                    argument="header",
                ),
                0,
            )
        )


def _count(values: Sequence[Any], known: AbstractSet[str]) -> int:
    """The number of different known names among values."""
    try:
        distinct = set(values)
    except TypeError:  # lists of labels, which are no names
        return 0
    texts = distinct if all(type(value) is str for value in distinct) else {text_of(value) for value in distinct}
    return sum(text in known for text in texts)


def _find_nodes(table: LabelTable, options: LabelOptions, known: Known) -> int:
    if options.node_column is not None:
        return table.find_column("node_column", options.node_column)
    places = [*range(len(table.columns)), *([] if table.index is None else [INDEX])]
    label = None if options.label_column is None else table.find_column("label_column", options.label_column)
    places = [place for place in places if place != label]
    if not places:
        raise _one_column(table)
    titles = [] if table.titles is None else [title.strip().lower() for title in table.titles]
    usual = [place for place in places if place != INDEX and titles and titles[place] in NODES]
    if known is None:
        return _find_by_titles(table, places, usual)
    counts = {place: _count(table.index or () if place == INDEX else table.columns[place], known) for place in places}
    unlike_labels = [place for place in places if place == INDEX or not titles or titles[place] not in LABELS]
    for group in (usual, unlike_labels, places):
        matches = {place: counts[place] for place in group if counts[place]}
        if matches:
            node = _pick(table, matches)
            better = [place for place in places if counts[place] > 2 * counts[node]]
            if better:  # a usual title above few of the names
                raise _two_readings(table, [node, *better])
            return node
    return _find_by_titles(table, places, usual)


def _pick(table: LabelTable, matches: dict[int, int]) -> int:
    """The column of the nodes among those with known names: the first, or the index, unless another has more."""
    first, *others = matches
    if INDEX in others and all(2 * matches[place] < matches[INDEX] for place in (first, *others) if place != INDEX):
        return INDEX
    if any(matches[place] > (matches[first] if place != INDEX else matches[first] // 2) for place in others):
        raise _two_readings(table, [first, *others])
    return first


def _find_by_titles(table: LabelTable, places: list[int], usual: list[int]) -> int:
    if len(usual) > 1:
        raise UndecidedError(_two_readings(table, usual))
    if usual:
        return usual[0]
    if INDEX in places:
        return INDEX
    titles = [] if table.titles is None else [title.strip().lower() for title in table.titles]
    others = [place for place in places if not titles or titles[place] not in LABELS] or places
    if len(others) == 1 or len(table.columns) == 2:
        return others[0]
    problem = InputError(
        f"{len(table.columns)} columns where a node and a label are expected; {table.list_columns()}: keep two, or say "
        "node_column= and label_column=",
        argument="node_column",
    )
    if len(others) == len(table.columns):  # nothing says which is the label, and no name of a node will
        raise table.blame(problem, 0)
    raise UndecidedError(table.blame(problem, 0))


def _two_readings(table: LabelTable, places: list[int]) -> InputError:
    readings = " or ".join(table.title(place) for place in places[:2])
    problem = InputError(
        f"the nodes may be {readings}; {table.list_columns()}: say node_column=", argument="node_column"
    )
    return table.blame(problem, 0)


def _one_column(table: LabelTable) -> InputError:
    what = table.title(0) if table.titles is not None else repr(table.columns[0][0])
    return table.blame(InputError(f"one column ({what}) where a node and a label are expected", argument="labels"), 0)


def _find_labels(table: LabelTable, options: LabelOptions, node: int) -> int:
    if options.label_column is not None:
        label = table.find_column("label_column", options.label_column)
        if label == node:
            problem = InputError(
                f"label_column={options.label_column!r} is the column of the nodes too; {table.list_columns()}",
                argument="label_column",
            )
            raise table.blame(problem, 0)
        return label
    others = [place for place in range(len(table.columns)) if place != node]
    titles = table.titles or []
    usual = [place for place in others if titles and titles[place].strip().lower() in LABELS]
    if len(usual) == 1 or len(others) == 1:
        return usual[0] if len(usual) == 1 else others[0]
    if not others:
        raise _one_column(table)
    problem = InputError(
        f"{len(table.columns)} columns where a node and a label are expected; {table.list_columns()}: keep two, or say "
        "label_column=",
        argument="label_column",
    )
    raise table.blame(problem, 0)
