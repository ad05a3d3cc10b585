"""Tables of labels: whether the first row names the columns, and which columns hold the nodes and the labels.

The names of the nodes that labels are for are the strongest evidence, where they are at hand: the first row of a text
whose node is unknown, above nodes that are all known, is a header; the column that holds known names holds the nodes.
After them come the types of the columns (numbers below a word), values that occur again, and last the usual words. What
stays undecided is refused with both readings.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from graphrefine.errors import InputError
from graphrefine.readers.label_values import (
    LABEL_WORDS,
    Blame,
    Entries,
    LabelOptions,
    blame_memory,
    is_missing,
    text_of,
)
from graphrefine.readers.small_table import NODE_WORDS

INDEX = -1  # the place of nodes that stand beside the columns
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_DIGIT = re.compile(r"[0-9]")

Known = Collection[str] | None  # texts of the names that labels are for, where they are at hand


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

    def _has_header(self, options: LabelOptions, known: Known) -> bool:
        columns = (options.node_column, options.label_column)
        if options.header is not None:
            return options.header
        if any(isinstance(column, str) and not column.isdecimal() for column in columns):
            return True
        verdict = judge_first_row(self.columns, known)
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


def judge_first_row(columns: list[list[str]], known: Known) -> bool | None:
    """Whether the first row of a text names its columns; None if it cannot be said.

    Examples
    --------
    >>> judge_first_row([["who", "7", "8"], ["team", "x", "y"]], None)
    True
    >>> judge_first_row([["who", "ann", "bob"], ["team", "x", "y"]], None) is None
    True
    >>> judge_first_row([["who", "ann", "bob"], ["team", "x", "y"]], {"ann", "bob"})
    True
    """
    first, below = [column[0] for column in columns], [column[1:] for column in columns]
    node = _most_known(columns, known)
    words = [first[node].lower() in NODE_WORDS, any(each.lower() in LABEL_WORDS for each in first)]
    recurs = any(each and each in set(values) for each, values in zip(first, below, strict=True))
    if known is not None:
        if first[node] in known:
            return None if all(words) and not recurs else False
        if below[node] and all(name in known for name in below[node]) and (any(words) or not recurs):
            return True
    verdict = _judge_content(first, below)
    if verdict is None or (any(words) and not verdict):
        if any(words):
            return None if recurs or verdict is False else True
        if recurs or not below[node] or (known is not None and not _count(columns[node], known)):
            return False
    return verdict


def _judge_content(first: list[str], below: list[list[str]]) -> bool | None:
    """What the types of the columns say of the first row."""
    if any(_NUMBER.fullmatch(each) for each in first):  # columns are not called 7, unless by their positions
        return None if first == [str(place) for place in range(len(first))] else False
    for title, values in zip(first, below, strict=True):
        present = [value for value in values if not is_missing(value)]
        if present and (not title or _differs(title, present)):
            return True
    return None


def _differs(title: str, values: list[str]) -> bool:
    """Whether all values have digits and a title above them has none."""
    return not _DIGIT.search(title) and all(_DIGIT.search(value) for value in values)


def _most_known(columns: list[list[str]], known: Known) -> int:
    """The column that holds the most known names; the first where names do not say."""
    if known is None:
        return 0
    counts = [_count(column[1:], known) for column in columns]
    return counts.index(max(counts))


def _count(values: Sequence[Any], known: Collection[str]) -> int:
    """The number of different known names among values."""
    try:
        distinct = set(values)
    except TypeError:  # lists of labels, which are no names
        return 0
    texts = distinct if all(type(value) is str for value in distinct) else {text_of(value) for value in distinct}
    return sum(text in known for text in texts)


def _find_nodes(table: LabelTable, options: LabelOptions, known: Known) -> int:
    if options.node_column is not None:
        return find_column(table, "node_column", options.node_column)
    places = [*range(len(table.columns)), *([] if table.index is None else [INDEX])]
    label = None if options.label_column is None else find_column(table, "label_column", options.label_column)
    places = [place for place in places if place != label]
    if not places:
        raise _one_column(table)
    titles = [] if table.titles is None else [title.strip().lower() for title in table.titles]
    usual = [place for place in places if place != INDEX and titles and titles[place] in NODE_WORDS]
    if known is None:
        return _find_by_titles(table, places, usual)
    counts = {place: _count(table.index or () if place == INDEX else table.columns[place], known) for place in places}
    unlike_labels = [place for place in places if place == INDEX or not titles or titles[place] not in LABEL_WORDS]
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
    others = [place for place in places if not titles or titles[place] not in LABEL_WORDS] or places
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
        label = find_column(table, "label_column", options.label_column)
        if label == node:
            problem = InputError(
                f"label_column={options.label_column!r} is the column of the nodes too; {table.list_columns()}",
                argument="label_column",
            )
            raise table.blame(problem, 0)
        return label
    others = [place for place in range(len(table.columns)) if place != node]
    titles = table.titles or []
    usual = [place for place in others if titles and titles[place].strip().lower() in LABEL_WORDS]
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


def find_column(table: LabelTable, argument: str, column: str | int) -> int:
    """The place of a column, from its name or its position from 0, as a number or its digits."""
    if isinstance(column, str) and table.titles is not None and column in table.titles:
        return table.titles.index(column)
    digits = str(column)
    if not isinstance(column, bool) and digits.isdecimal() and int(digits) < len(table.columns):
        return int(digits)
    problem = InputError(f"{argument}={column!r}: there is no such column; {table.list_columns()}", argument=argument)
    raise table.blame(problem, 0)
