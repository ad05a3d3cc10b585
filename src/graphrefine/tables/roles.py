"""Roles: which columns of a table hold the ends and weights of edges, the nodes, the labels, changes, vectors.

Columns that the caller chooses are used. Otherwise usual names (`vocabulary`) decide, then the kinds of the values and,
for tables about the nodes of a graph, their names. What stays open is refused with its readings: so are csv edges such
as ``ann,bob,2024-01-05`` by `_find_weight`, as the dates of the third column can be times, and are hardly weights.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from graphrefine.errors import AmbiguousTable, InputError, suggest
from graphrefine.graph.lookup import list_some
from graphrefine.graph.node_ids import Numbered, is_missing_id
from graphrefine.tables import vocabulary
from graphrefine.tables.kinds import MOST, NO_ENDS, NUMBERS, Column, Kind, are_distinct, as_numbers, is_finite, text_of
from graphrefine.tables.origin import Origin, read_direction
from graphrefine.tables.sample import Hints
from graphrefine.tables.vocabulary import find_pair, fold_name

_MEMBER = re.compile(r"(.*?)([0-9]+)[])]?")  # of a series of columns: stem and number
_INDEX = re.compile(r"|index|level_0|unnamed: [0-9]+")  # what pandas and others call a column that counts rows
_NEIGHBORS = {"neighbor", "neighbour"}
_HEADER = "'node,v0,v1,...'"
_EDGES = "of a list of edges graphrefine embed makes vectors, and graphrefine info shows what is in it"
# Columns of texts that are compared with each other. The comparison is of all pairs: a table of 10,000 columns of texts
# would take 50 million of them.
RIVALS = 64
INDEX = -1  # position of a column that is the index of a data frame
Known = AbstractSet[str] | None  # texts of the names that labels are for, where they are at hand


# ---- edges -----------------------------------------------------------------------------------------------------------


class TwoSets(NamedTuple):
    """Names of two sets from which the ids of the ends come, so that one id may be two nodes.

    In MovieLens, user 1 is not movie 1. Where no id is in both, nothing is lost by reading them as one set.
    """

    first: str
    second: str
    is_declared: bool = False  # by the program that wrote the table; else by the names of columns, for integers alone

    def refuse(self, overlap: str) -> AmbiguousTable:
        """Return the error for ids that are in both sets, or may be."""
        return AmbiguousTable(
            f"{self.first!r} and {self.second!r} name different things, and {overlap}",
            {
                "bipartite=True": "two sets of nodes",
                "bipartite=False": "one set, where the same id is the same node",
            },
            argument="bipartite",
        )

    def check(self, numbered: Numbered) -> None:
        """Refuse ids that are in both sets."""
        source, target, names = numbered
        if names.dtype == object and not self.is_declared:
            return
        seen = np.zeros((2, len(names) + 1), np.bool_)  # the last one is of -1: no node
        seen[0, source] = seen[1, target] = True
        both = np.flatnonzero(seen[0, :-1] & seen[1, :-1])
        if len(both):
            raise self.refuse(f"{names[both[:1]].tolist()[0]!r} is in both")


@dataclass(frozen=True)
class EdgeRoles:
    """Positions of the columns that hold the edges."""

    source: int
    target: int
    weight: int | None
    time: int | None
    report: dict[str, Any]
    directed: bool | None = None  # as the program that wrote the table declares for all edges
    direction: int | None = None  # column whose values declare it for each edge
    sets: TwoSets | None = None

    @property
    def positions(self) -> tuple[int, int, int | None, int | None]:
        """Positions of source, target, weight and time."""
        return self.source, self.target, self.weight, self.time

    @property
    def used(self) -> list[int]:
        """Positions of all columns that are read."""
        return [at for at in (*self.positions, self.direction) if at is not None]

    def within(self, columns: list[int]) -> EdgeRoles:
        """Return the roles in a table that has only these columns, in this order."""
        roles = ("source", "target", "weight", "time", "direction")
        used = {role: at for role in roles if (at := getattr(self, role)) is not None}
        positions: dict[str, Any] = {role: columns.index(at) for role, at in used.items()}
        return replace(self, **positions)

    def find_direction(self, values: Callable[[int], Iterable[Any]], hints: Hints) -> bool | None:
        """Return the direction that a table declares; refuse edges of both kinds. ``values`` gives a whole column."""
        if hints.directed is not None or hints.bipartite or self.direction is None:
            return None if hints.bipartite else self.directed
        declared = read_direction(map(str, values(self.direction)))
        if len(declared) > 1:
            raise ambiguous_direction()
        return next(iter(declared), None)


def assign_edges(columns: Sequence[Column], hints: Hints, origin: Origin | None = None) -> EdgeRoles:
    """Find the columns of source, target, weight and time, as hints choose, else by names and kinds."""
    hints = hints if origin is None else origin.complete(hints)
    if len(columns) < 2:
        split = "" if hints.delimiter is None else f" with delimiter={hints.delimiter!r}"
        problem = f"an edge needs two columns, and there is {len(columns)}{split}"
        raise InputError(problem, argument="delimiter" if split else None)
    names = None if columns[0].name is None else [str(column.name) for column in columns]
    chosen = {
        argument: None if column is None else find_column(argument, column, names, len(columns))
        for argument, column in zip(("source", "target", "weights", "time"), hints.columns, strict=True)
    }
    free = [column for column in columns if column.position not in chosen.values()]
    source, target = _find_ends(columns, names, chosen, free)
    weight = chosen["weights"]
    if weight in (source, target, chosen["time"]) and weight is not None:
        raise InputError(
            f"the weights cannot be column {columns[weight].label!r}: that is an end of the edges, or their time",
            argument="weights",
        )
    others = [column for column in columns if column.position not in (source, target, chosen["time"])]
    if weight is None and hints.weights is None:
        weight = _find_weight(columns, names, others, hints)
    for argument, at in {"source": source, "target": target, "weights": weight}.items():
        if chosen[argument] is None and names and at is not None and names.count(names[at]) > 1:
            count = f"{names.count(names[at])} columns are called {names[at]!r}"
            raise InputError(f"{count}; rename them, or pass {argument}= by position", argument=argument)
    ignored = [column for column in others if column.position != weight]
    report: dict[str, Any] = {"columns": [columns[source].label, columns[target].label]}
    report["weight_column"] = None if weight is None else columns[weight].label
    if ignored:
        report["ignored_columns"] = [column.label for column in ignored]
        kinds = {str(column.label): column.kind for column in ignored if column.kind != Kind.TEXT}
        words = {label: (Kind.NUMBER if kind == Kind.INTEGER else kind).value for label, kind in kinds.items()}
        report |= {"column_kinds": words} if words else {}
    roles = EdgeRoles(source, target, weight, chosen["time"], report)
    if origin is not None:
        declares = origin.direction is not None and read_direction(map(str, columns[origin.direction].values))
        roles = replace(roles, directed=origin.directed, direction=origin.direction if declares else None)
    if origin is not None and origin.spaces is not None:
        return replace(roles, sets=TwoSets(*origin.spaces, is_declared=True))
    labels = report["columns"]
    return replace(roles, sets=TwoSets(*labels) if vocabulary.name_two_kinds(labels) else None)


def find_column(argument: str, column: Any, names: Sequence[str] | None, count: int) -> int:
    """Return the position of a column that is chosen by its name, or by its position, as a number or its digits."""
    if isinstance(column, bool) or not isinstance(column, str | int):
        arrays = "; an array goes with edges in arrays" if argument == "weights" else ""
        problem = f"{argument}= is the name or the position of a column here, not {type(column).__name__}{arrays}"
        raise InputError(problem, argument=argument)
    positions = f"positions go from 0 to {count - 1}"
    if isinstance(column, str) and names and column in names:
        if (twins := list(names).count(column)) > 1:
            problem = f"{twins} columns are called {column!r}; pass {argument}= by position"
            raise InputError(f"{problem}; {positions}", argument=argument)
        return list(names).index(column)
    if isinstance(column, str) and not column.isdecimal():
        known = f"the columns are {', '.join(map(repr, names))}" if names else "the columns have no names"
        raise InputError(f"there is no column {column!r}; {known}; {positions}", argument=argument)
    if not 0 <= int(column) < count:
        raise InputError(f"there is no column {column!r}; {positions}", argument=argument)
    return int(column)


def _find_ends(
    columns: Sequence[Column], names: list[str] | None, chosen: dict[str, int | None], free: list[Column]
) -> tuple[int, int]:
    source, target = chosen["source"], chosen["target"]
    pair = find_pair(names) if names else None
    if pair is None and source is None and target is None and len(free) > 1:
        pair = (free[0].position, free[1].position)
        if len(free) > 2:
            pair = _choose_ends(free) if names else pair
            _refuse_relation(free, pair[1])
    pair = pair or (0, 1)
    if source is None:
        source = next(at for at in pair if at != target)
    if target is None:
        target = next(at for at in reversed(pair) if at != source)
    if source == target:
        problem = f"source and target are the same column ({columns[source].label!r}); name both"
        raise InputError(problem, argument="target")
    return source, target


def _choose_ends(free: Sequence[Column]) -> tuple[int, int]:
    """Choose the first two columns that are no row numbers, times or weights; refuse them where others share names."""
    _refuse_properties(free)
    others = [each for each in free if str(each.name).strip().lower() not in vocabulary.WEIGHTS]
    plain = [each for each in others if each.kind not in NO_ENDS]
    if len(plain) < 2:  # ids of 10^12 look like times in milliseconds: then only a name tells times
        untimed = [each for each in others if fold_name(str(each.name)) not in vocabulary.TIMES]
        plain = [each for each in untimed if each.kind not in (Kind.ROW_NUMBER, Kind.DATE)]
    if len(plain) < 2:
        return free[0].position, free[1].position
    pair = (plain[0].position, plain[1].position)
    texts = [each for each in plain if each.kind not in NUMBERS][:RIVALS]
    if len(texts) < 3 or not {plain[0], plain[1]} <= set(texts):
        return pair
    sets = {each: _distinct_texts(each) for each in texts}
    if not sets[plain[0]] & sets[plain[1]]:
        for first, second in combinations(texts, 2):
            if len(sets[first] & sets[second]) * 2 > min(len(sets[first]), len(sets[second])):
                readings = {
                    f"source={plain[0].name!r} and target={plain[1].name!r}": "the first two columns",
                    f"source={first.name!r} and target={second.name!r}": "two that share names",
                }
                raise AmbiguousTable("two pairs of columns can be the ends", readings, argument="source")
    return pair


def _refuse_relation(free: Sequence[Column], end: int) -> None:
    """Refuse a column of relations as an end: a text of few values between two columns that share their ids.

    Knowledge graphs come so: ``00260881 _hypernym 00260622`` in WN18RR, where the last column would be weights.
    """
    at = next((at for at, column in enumerate(free) if column.position == end), 0)
    if not 0 < at < len(free) - 1:
        return
    head, relation, tail = free[at - 1 : at + 2]
    if relation.kind != Kind.TEXT or tail.kind not in (Kind.TEXT, *NUMBERS):
        return
    first, between, last = map(_distinct_texts, (head, relation, tail))
    are_few = 2 * len(between) <= len(relation.values) and len(between) < min(len(first), len(last))
    if are_few and between.isdisjoint(first | last) and 2 * len(first & last) > min(len(first), len(last)):
        raise AmbiguousTable(
            f"column {relation.label!r} holds {len(between)} different texts, such as {min(between)!r}, between the "
            f"ids of columns {head.label!r} and {tail.label!r}, as the relations of a knowledge graph",
            {
                f"source={head.label!r} and target={tail.label!r}": "all relations as edges",
                f"source={head.label!r} and target={relation.label!r}": "relations as nodes",
            },
            argument="source",
        )


def _distinct_texts(column: Column) -> set[str]:
    return {str(value) for value in list(column.values)[:MOST] if not is_missing_id(value) and value != ""}


def _refuse_properties(free: Sequence[Column]) -> None:
    """Refuse a table of numbers whose first column names each row once: a matrix, or properties of nodes; no edges."""
    first, *others = free
    labels = [value for value in list(first.values)[:MOST] if not is_missing_id(value) and value != ""]
    if len(others) < 3 or len(labels) < 3 or not all(column.kind in NUMBERS for column in others):
        return
    if as_numbers(labels) is None and are_distinct(labels):
        raise AmbiguousTable(
            f"a table of numbers whose column {first.name!r} names each row once is a matrix, or properties of nodes",
            {"source= and target=": "edges", "bipartite=True": "a matrix of a csv file, or of a frame with an index"},
            argument="source",
        )


def _find_weight(
    columns: Sequence[Column], names: list[str] | None, others: Sequence[Column], hints: Hints
) -> int | None:
    is_counted = names is not None and vocabulary.are_counted(names)
    others = [column for column in others if not (is_counted and column.position == 0)]
    if names is not None and not is_counted:
        found = next((column for column in others if str(column.name).strip().lower() in vocabulary.WEIGHTS), None)
    elif len(others) == 1 and (others[0].is_numeric or others[0].kind != Kind.TEXT):
        found = others[0]
    elif not others or hints.source is not None or hints.target is not None:
        return None
    else:
        raise AmbiguousTable(
            f"there are {len(columns)} columns without names, and it is not clear which hold the edges",
            {"source=, target= and weights=": "positions from 0 (weights=False: none)", "header=True": "names"},
            argument="source",
        )
    # Dates, times and row numbers would be weights of 10^9 or of 1, 2, 3, ..., and give vectors without a word that
    # they are wrong.
    if found is not None and found.kind in NO_ENDS:
        weights = {f"weights={found.label!r}": "weights all the same"} if found.is_numeric else {}
        readings = {f"time={found.label!r}": "times", **weights, "weights=False": "neither"}
        problem = f"column {found.label!r} holds {found.kind.value}, which are hardly weights"
        raise AmbiguousTable(problem, readings, argument="weights")
    return None if found is None else found.position


def ambiguous_direction() -> AmbiguousTable:
    """Return the error for a table of Gephi with edges of both kinds, or which may have them."""
    return AmbiguousTable(
        "column 'Type' says which edges have a direction, and a graph has one kind",
        {"directed=True": "edges with a direction", "directed=False": "edges without"},
        argument="directed",
    )


# ---- nodes and labels ------------------------------------------------------------------------------------------------


def assign_nodes(titles: Sequence[str]) -> list[int]:
    """Return the positions of the columns that are called node, else of those called id, name or the like."""
    words = [title.strip().lower() for title in titles]
    usual = [at for at, word in enumerate(words) if word in vocabulary.NODES]
    return [at for at in usual if words[at] in ("node", "nodes")] or usual


def assign_labels(
    columns: Sequence[Column], known: Known, *, node_column: Any = None, label_column: Any = None
) -> tuple[Column, Column]:
    """Find the columns of nodes and of labels, by choice, the names ``known``, their titles, or their order."""
    named = [column for column in columns if column.position != INDEX]
    names = None if not named or named[0].name is None else [column.name or "" for column in named]
    node, label = (
        None if column is None else named[find_column(argument, column, names, len(named))]
        for argument, column in (("node_column", node_column), ("label_column", label_column))
    )
    if node is None:
        node = _find_nodes([column for column in columns if column is not label], named, known)
    others = [column for column in named if column is not node]
    usual = [column for column in others if _word(column) in vocabulary.LABELS]
    if label is None and len(others) != 1 and len(usual) != 1:
        raise _undecided(named, "label_column")
    label = label or (usual if len(usual) == 1 else others)[0]
    if label is node:
        raise InputError(f"label_column={label_column!r} is the column of the nodes too", argument="label_column")
    return node, label


def _find_nodes(columns: Sequence[Column], named: Sequence[Column], known: Known) -> Column:
    """Find the nodes in columns, the index perhaps the last of them; ``named`` are all columns but the index."""
    counts = {column: 0 if known is None else len(known & _texts_in(column)) for column in columns}
    usual = [column for column in columns if _word(column) in vocabulary.NODES]
    plain = [column for column in columns if _word(column) not in vocabulary.LABELS] or columns
    group = next((group for group in (usual, plain, columns) if any(counts[each] for each in group)), None)
    if group is not None:
        # Classes are often integers from 0, as nodes are: then a column of labels holds names of nodes too, and only
        # the order of the columns tells. The index of a data frame has no such order.
        most = max(counts[column] for column in group)
        leaders = [column for column in group if 2 * counts[column] >= most]
        node = leaders[0]
        rivals = [column for column in leaders if counts[column] > counts[node] or column.position == INDEX]
        rivals += [column for column in columns if counts[column] > 2 * counts[node]]
    elif usual or (columns and columns[-1].position == INDEX):
        node, rivals = (usual or columns[-1:])[0], usual[1:]
    elif len(plain) == 1 or len(columns) == len(named) == 2:
        node, rivals = plain[0], []
    else:
        raise _undecided(named, "node_column")
    if any(each is not node for each in rivals):
        raise _undecided([node, *rivals], "node_column")
    if _word(node) in vocabulary.COUNTS and _texts_in(node) == set(map(str, range(len(node.values)))):
        hint = f"node_column={node.position} if they are these numbers"
        check_counted(len(node.values), known, f"the column {describe_column(node)}", hint, "node_column")
    return node


def _texts_in(column: Column) -> set[str]:
    try:
        return set(map(text_of, set(column.values)))
    except TypeError:  # lists of labels, which are no names
        return set()


def check_counted(rows: int, known: Known, what: str, hint: str, argument: str) -> None:
    """Refuse nodes that only count the rows, as an index of pandas does, where nodes are not called so."""
    if known is not None and not known <= set(map(str, range(rows))):
        raise InputError(
            f"{what} only counts the rows, 0 to {rows - 1}, and nodes are called {list_some(sorted(known))}: write the "
            f"names of the nodes there, or pass {hint}",
            argument=argument,
        )


def _word(column: Column) -> str | None:
    """Return a title as it is compared with usual ones; None where there is none."""
    return None if column.name is None else column.name.strip().lower()


def describe_column(column: Column) -> str:
    """Return a column for messages: its name, or its position from 0."""
    if column.position == INDEX:
        return "by the index"
    return f"in column {column.position}" if column.name is None else repr(column.name)


def _undecided(columns: Sequence[Column], argument: str) -> InputError:
    """Return the error for columns of which several may hold the nodes, or the labels."""
    count = "one column" if len(columns) == 1 else f"{len(columns)} columns"
    return AmbiguousTable(
        f"{count} ({', '.join(map(describe_column, columns))}) where a node and a label are expected",
        {"node_column= and label_column=": "two of them", "names= with the names of the nodes": "those to decide"},
        argument=argument if len(columns) > 1 else None,
    )


# ---- changes ---------------------------------------------------------------------------------------------------------


@lru_cache(64)  # of the keys of each line of jsonl
def assign_changes(names: tuple[str, ...]) -> tuple[int, ...]:
    """Return the positions of op, source, target and, if there is one, weight by their names, in any case and order."""
    words = [name.strip().lower() for name in names]
    for role in vocabulary.CHANGES:
        if words.count(role) > 1 or (role not in words and role != "weight"):
            listed = ", ".join(map(repr, names))
            raise InputError(f"one column is to be called {role!r}, and {words.count(role)} are: {listed}")
    # Weights under a name that is not known would be left out without a word.
    if "weight" not in words and (odd := next((name for name in words if suggest(name, ["weight"])), None)):
        raise InputError(f"no column is called 'weight', but one is called {odd!r}; rename it")
    return tuple(words.index(role) for role in vocabulary.CHANGES if role in words)


# ---- vectors and features --------------------------------------------------------------------------------------------


@dataclass
class NumberRoles:
    """Positions of the columns of names and numbers, and notes on how they were understood."""

    titles: list[str]
    name: int | None  # None: the rows are numbered
    numbers: list[int]
    named: bool = False  # the header calls the column of names so
    series: bool = False  # the numbers have one stem
    notes: list[str] = field(default_factory=list)


def assign_vectors(titles: list[str], sample: list[str], *, features: bool = False) -> NumberRoles:
    """Find the columns of vectors, or of features, by their names and the fields of the first record.

    Names are in the column called node, name, id or the like, wherever it is, else in the first. A first column without
    a title, as pandas writes for its index, then counts rows and is left out. Vectors are a series, a stem with numbers
    (v0, v1, ...; 0, 1, ...), where there is one, and any other column is left out; of features, all are meant.
    """
    titles = [title.strip() for title in titles]
    names = [at for at, title in enumerate(titles) if title.lower() in vocabulary.NODES]
    _check_titles(titles, names)
    index = {0} if _INDEX.fullmatch(titles[0].lower()) else set()
    others = sorted(set(range(len(titles))).difference(index, names))
    series = _find_series(titles, others, single=bool(names))
    columns = NumberRoles(titles, None, [], named=bool(names), series=bool(series))
    _choose_names(columns, assign_nodes(titles), series, sample)
    columns.numbers = [at for at in others if at != columns.name and (features or not series or at in series)]
    if not columns.numbers:
        raise InputError(
            f"has no column of numbers, only {_list_columns(titles, range(len(titles)))}; a header {_HEADER} is "
            "expected, then a name and its numbers in each line"
        )
    rest = sorted(set(range(len(titles))).difference(columns.numbers, [columns.name]))
    if columns.named and columns.name is not None and (index - {columns.name} or (columns.name and not series)):
        columns.notes.append(f"names are those of its column {titles[columns.name]!r}")
    if rest:
        columns.notes.append(f"left out: its column{'s' * (len(rest) > 1)} {_list_columns(titles, rest)}")
    numbered = sum(titles[at][-1:].isdigit() for at in columns.numbers)
    if not series and not features and 1 < numbered < len(columns.numbers):
        columns.notes.append(f"its columns {_list_columns(titles, columns.numbers)} are all taken for coordinates")
    return columns


def _check_titles(titles: list[str], names: list[int]) -> None:
    """Refuse data instead of a header, the header of a list of edges, and two columns with one name."""
    numbers = [title for title in titles if is_finite(title)]
    counting = numbers == [str(column) for column in range(len(numbers))] and len(numbers) < len(titles)
    if numbers and not names and not counting:  # as pandas calls columns
        hint = f"; {_EDGES}" if len(titles) in (2, 3) else ""
        raise InputError(f"holds numbers where the header {_HEADER} should be; add one{hint}")
    ends = [titles[at] for at in find_pair(titles) or ()]
    sure = {fold_name(end) for couple in vocabulary.ENDS for end in couple}
    near = [title for title in titles if title.lower() in _NEIGHBORS]
    ends = [titles[names[0]], *near] if names and near else ends
    if ends and (not names or near or sure.issuperset(map(fold_name, ends))):
        raise InputError(f"its columns {list_some(ends)} are those of a list of edges; {_EDGES}")
    twice = next((title for title, count in Counter(titles).items() if title and count > 1), None)
    if twice is not None:
        raise InputError(f"two columns have one name, {twice!r}; rename one")


def _choose_names(columns: NumberRoles, names: list[int], series: set[int], sample: list[str]) -> None:
    """Choose the column of names: among those that are called so, else the first, unless that is one of the series."""
    titles = columns.titles
    if len(names) > 1:
        several = _list_columns(titles, names)
        raise InputError(f"has several columns that could name the nodes, {several}; call one of them node")
    if names:
        columns.name = names[0]
    elif 0 not in series:
        columns.name = 0
    elif sample and not is_finite(sample[0]):
        columns.name = 0
        columns.notes.append(f"names are those of its first column, {titles[0]!r}")
    else:
        columns.notes.append("no column is called node, name or id, so its rows are numbered from 0")


def _find_series(titles: list[str], positions: list[int], *, single: bool) -> set[int]:
    """Return the positions of columns with one stem and a number, if half of all or more; a lone one is of number 0."""
    members: dict[str, list[int]] = defaultdict(list)
    for at in positions:
        if match := _MEMBER.fullmatch(titles[at]):
            members[match[1]].append(at)
    largest = max(members.values(), key=len, default=[])
    alone = len(largest) == 1 and not (single and titles[largest[0]].endswith("0"))
    tie = sum(len(each) == len(largest) for each in members.values()) > 1
    return set() if alone or tie or 2 * len(largest) < len(positions) else set(largest)


def _list_columns(titles: list[str], positions: Sequence[int]) -> str:
    """Return the first few of these columns, by name, or else by their number from 1."""
    few = [repr(titles[at]) if titles[at] else f"{at + 1} (no name)" for at in positions[:8]]
    return ", ".join(few) + (", ..." if len(positions) > len(few) else "")
