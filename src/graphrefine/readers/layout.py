"""Layout of an edge table: the columns of ends, weights and times; of text also delimiter, header and comments.

A text is understood by its first records, as `graphrefine.readers.header` and `graphrefine.readers.column_kinds` say
where it takes more than a look. A text with two readings is refused: the error shows both, and an option for each.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from graphrefine.errors import InputError
from graphrefine.kernels.edge_lists import NUMBER, Columns, Marks, Status
from graphrefine.readers.options import WEIGHT_NAMES, Column, ReadOptions, are_counted
from graphrefine.readers.source import Source

if TYPE_CHECKING:
    from graphrefine.readers.dialects import Dialect

PAIRS = (
    ("source", "target"),
    ("src", "dst"),
    ("from", "to"),
    ("start", "end"),
    ("u", "v"),
    ("node1", "node2"),
    ("id1", "id2"),
    ("fromnodeid", "tonodeid"),
    ("head", "tail"),
    ("parent", "child"),
    ("subject", "object"),
    ("user", "item"),
    ("sender", "receiver"),
    ("follower", "followee"),
    ("citing", "cited"),
    ("caller", "callee"),
    ("dependent", "dependency"),
)
"""Usual names of the two columns of an edge list, as `fold_name` spells them: which of several columns they are."""

DELIMITERS = {"\t": "tab", ",": "comma", ";": "semicolon", "|": "bar", " ": "blanks"}
SIGNS = "#%"  # of comment lines
NODE_TABLE = ("Id", "Label")  # the first columns of Gephi's tables of nodes
_TELLING = ("type", "interaction", "shared interaction")  # names of columns that may belong to a dialect
LATIN = "text that is not UTF-8, read as Latin-1"
SAMPLE = 1 << 15  # bytes from which delimiter, header and columns are detected
BLANKS = " \t"
_DIGITS = re.compile(NUMBER.pattern.decode())
_DECIMAL = re.compile(r"[+-]?[0-9]+,[0-9]+")
_NO_NUMBER = re.compile(r"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)
Values = Callable[[int], Sequence[Any]]
Record = list[str]
Split = tuple[list[Record], int, tuple[Status, int] | None]
"""First records of a text, the bytes of the first, and the first bad quote and its place."""


@dataclass(frozen=True)
class EdgeColumns:
    """Positions of the columns that hold the edges."""

    source: int
    target: int
    weight: int | None
    report: dict[str, Any]
    time: int | None = None
    dialect: Dialect | None = None  # of the names of the columns
    sample: Values | None = None  # of a column's values, where there is a dialect

    @property
    def places(self) -> tuple[int, int, int | None, int | None]:
        """Positions of source, target, weight and time."""
        return self.source, self.target, self.weight, self.time

    def at(self, columns: list[int]) -> EdgeColumns:
        """Positions in a table that has only these columns, in this order."""
        source, target, weight, time = (None if at is None else columns.index(at) for at in self.places)
        assert source is not None and target is not None
        return EdgeColumns(source, target, weight, self.report, time, self.dialect, self.sample)


def fold_name(name: str) -> str:
    """A column name in lower case, without "_", "-", blanks and a last "id"."""
    letters = name.strip().lower().replace("_", "").replace("-", "").replace(" ", "")
    return letters.removesuffix("id") if letters.endswith("id") and len(letters) > 2 else letters


def find_pair(names: list[str]) -> tuple[int, int] | None:
    """Positions of the first usual pair of names.

    Examples
    --------
    >>> find_pair(["when", "User ID", "item_id"])
    (1, 2)
    """
    folded = [fold_name(name) for name in names]
    for first, second in PAIRS:
        if fold_name(first) in folded and fold_name(second) in folded:
            return folded.index(fold_name(first)), folded.index(fold_name(second))
    return None


def find_columns(
    names: list[str] | None, numeric: list[bool], options: ReadOptions, *, values: Values | None = None
) -> EdgeColumns:
    """Find the columns of source, target, weight and time, from their names, if there are any, and their values.

    Columns that the options name are used. Otherwise: a usual pair of names, else the first two columns that are no
    row numbers and no times; the weight is a column called weight, or, in a table without names, the third of three
    columns if it is numeric. ``values`` gives a sample of the values of a column.
    """
    count = len(numeric)
    nodes = not options.bipartite and options.target is None and find_pair(names or []) is None
    dialect = _find_dialect(names or (), values if options.source is None else None, nodes=nodes)
    options = options if dialect is None else dialect.complete(options)
    if count < 2:
        if options.delimiter is None:
            raise InputError(f"an edge needs two columns, and there is {count}")
        raise InputError(
            f"an edge needs two columns, and with delimiter={options.delimiter!r} there is {count}",
            argument="delimiter",
        )
    positions = {
        argument: None if column is None or column is False else _find_column(argument, column, names, count)
        for argument, column in (
            ("source", options.source),
            ("target", options.target),
            ("time", options.time),
            ("weights", options.weights),
        )
    }
    free = [at for at in range(count) if at not in positions.values()]
    kinds: dict[int, str] = {}
    if values is not None and len(free) > (positions["source"] is None) + (positions["target"] is None):
        from graphrefine.readers.column_kinds import find_kinds  # most tables have nothing but ends and weights

        kinds = find_kinds(names, values, count)
    source, target = _find_ends(names, kinds, positions, free, values)
    weight = _find_weight(names, numeric, {source, target, positions["time"]}, options, kinds)
    used = {source: "source", target: "target", weight: "weights", positions["time"]: "time"}
    _check_distinct(names, {at: name for at, name in used.items() if positions[name] is None})
    ignored = [at for at in range(count) if at not in used]
    report: dict[str, Any] = {"columns": [_label(source, names), _label(target, names)]}
    report["weight_column"] = None if weight is None else _label(weight, names)
    if ignored:
        report["ignored_columns"] = [_label(at, names) for at in ignored]
        labels = {str(_label(at, names)): kinds[at] for at in ignored if at in kinds}
        report |= {"column_kinds": labels} if labels else {}
    return EdgeColumns(source, target, weight, report, positions["time"], dialect, None if dialect is None else values)


def _find_dialect(
    names: Sequence[str], values: Values | None, preamble: bytes = b"", width: int = 0, *, nodes: bool = False
) -> Dialect | None:
    """The dialect of a table; InputError if it is that of Cytoscape, or has ``nodes``, where its values tell it."""
    telling = any(":" in name or name.startswith("~") or name.strip().lower() in _TELLING for name in names)
    if not telling and tuple(names[:2]) != NODE_TABLE and not preamble.startswith(b"%"):
        return None
    from graphrefine.readers.dialects import find_dialect, find_konect, refuse_joined_ends, refuse_nodes  # as it may be

    if values is not None:
        refuse_joined_ends(names, values)
        if nodes and tuple(names[:2]) == NODE_TABLE:
            refuse_nodes(names, values(0))
    return find_dialect(names) or find_konect(preamble, width)


def _find_ends(
    names: list[str] | None, kinds: dict[int, str], positions: dict[str, int | None], free: list[int],
    values: Values | None,
) -> tuple[int, int]:  # fmt: skip
    source, target = positions["source"], positions["target"]
    pair = find_pair(names) if names else None
    if pair is None and source is None and target is None:
        pair = (free[0], free[1]) if len(free) > 1 else None
        if names and values is not None and len(free) > 2:
            from graphrefine.readers.column_kinds import choose_ends  # as above

            pair = choose_ends(names, kinds, free, values) or pair
    first, second = pair or (0, 1)
    source = source if source is not None else first if first != target else second
    target = target if target is not None else second if second != source else first
    if source == target:
        raise InputError(
            f"source and target are the same column ({_quote(_label(source, names))}); name both", argument="target"
        )
    return source, target


def _find_column(argument: str, column: Column, names: list[str] | None, count: int) -> int:
    """The position of a column, from its name or its position from 0 (as a number or its digits)."""
    if isinstance(column, str):
        if names and column in names:
            if names.count(column) > 1:
                raise InputError(
                    f"{names.count(column)} columns are called {column!r}; say {argument}= by position, from 0 to "
                    f"{count - 1}",
                    argument=argument,
                )
            return names.index(column)
        if not column.isdecimal():
            column_list = f"the columns are {', '.join(map(repr, names))}" if names else "the columns have no names"
            raise InputError(
                f"there is no column {column!r}; {column_list}; a position from 0 to {count - 1} works too",
                argument=argument,
            )
    if not isinstance(column, str | int):
        way_out = "; an array goes with edges in arrays" if argument == "weights" else ""
        problem = f"{argument}= is the name or the position of a column here, not {type(column).__name__}{way_out}"
        raise InputError(problem, argument=argument)
    position = int(column)
    if isinstance(column, bool) or not 0 <= position < count:
        raise InputError(f"there is no column {column!r}; positions go from 0 to {count - 1}", argument=argument)
    return position


def _check_distinct(names: list[str] | None, used: dict[int | None, str]) -> None:
    """Refuse a used column that shares its name with another."""
    for at, argument in used.items():
        if names and at is not None and names.count(names[at]) > 1:
            raise InputError(
                f"{names.count(names[at])} columns are called {names[at]!r}; rename them, or say {argument}= by "
                "position",
                argument=argument,
            )


def _find_weight(
    names: list[str] | None, numeric: list[bool], taken: set[int | None], options: ReadOptions, kinds: dict[int, str]
) -> int | None:
    if options.weights is False:
        return None
    if options.weights is not None:
        weight = _find_column("weights", options.weights, names, len(numeric))
        if weight in taken:
            raise InputError(
                f"the weights cannot be column {_quote(_label(weight, names))}: that is an end of the edges, or their "
                "time",
                argument="weights",
            )
        return weight
    counted = names is not None and not names[0] and are_counted(names)
    others = [at for at in range(1 if counted else 0, len(numeric)) if at not in taken]
    if names is not None and not counted:
        named = next((at for at in others if names[at].strip().lower() in WEIGHT_NAMES), None)
    elif len(others) == 1 and (numeric[others[0]] or others[0] in kinds):
        named = others[0]
    elif not others or options.source is not None or options.target is not None:
        return None
    else:
        raise InputError(
            f"there are {len(numeric)} columns without names, and it is not clear which hold the edges: say "
            "source=, target= and weights= (positions from 0), or weights=False for no weights; header=True if the "
            "first line names the columns",
            argument="source",
        )
    if named is not None and kinds.get(named, "numbers") != "numbers":
        column = _label(named, names)
        anyway = f", weights={column!r} to use them as weights all the same" if numeric[named] else ""
        raise InputError(
            f"{_quote(column)} holds {kinds[named]}, which are hardly weights: say time={column!r} to use them as "
            f"times{anyway}, or weights=False to leave them out",
            argument="weights",
        )
    return named


def _label(at: int, names: list[str] | None) -> str | int:
    return at if names is None else names[at]


def _quote(label: str | int) -> str:
    return repr(label) if isinstance(label, str) else f"column {label}"


@dataclass(frozen=True)
class Layout:
    """Layout of a text: its marks, its columns, and the place at which the records begin."""

    marks: Marks
    columns: Columns
    edge_columns: EdgeColumns
    header: bool
    start: int  # bytes before the records
    line: int  # lines before the records
    comments: int = 0  # comment lines before the records
    dates: bool = False  # times are dates, not numbers
    names: tuple[str, ...] = ()  # in the header
    dialect: Dialect | None = None
    doubtful: tuple[str, ...] = ()  # names in a header that has no other sign than that they are no nodes
    decimal_commas: bool = False  # of the weights

    @property
    def delimiter(self) -> str:
        """The delimiter."""
        return self.marks[0]

    def report(self, comments: int, encoding: str) -> dict[str, Any]:
        """The part of `Graph.report` about the text; ``comments`` is the number of comment lines among the records."""
        remarks = ["weights with decimal commas"] if self.decimal_commas else []
        remarks += [LATIN] if encoding == "latin-1" else []
        return {
            **self.edge_columns.report,
            "delimiter": DELIMITERS.get(self.delimiter, repr(self.delimiter)),
            "header": self.header,
            "comments": comments + self.comments,
            "encoding": encoding,
            **({"remarks": remarks} if remarks else {}),
        }


@dataclass(frozen=True)
class Sample:
    """The first records of a text, and where the first of them begins and ends."""

    records: list[Record]
    start: int
    end: int  # after the first record
    line: int  # of the first record, from 1
    lines: int  # of the first record
    comments: int  # comment lines before it
    marks: Marks
    preamble: bytes = b""  # the beginning of what stands before it


def find_layout(
    source: Source, sample: Sample, header: bool, options: ReadOptions, *, like: Layout | None = None
) -> Layout:
    """The layout of a text, from its first records, with or without a header.

    ``like`` is the layout of another part of the same table: where this part has no header, its columns are the same.
    """
    width = len(sample.records[0])
    names = sample.records[0] if header else None
    if like is not None and not header:
        same = like.edge_columns
        weights = False if same.weight is None or same.weight >= width else same.weight
        options = replace(options, source=same.source, target=same.target, weights=weights, time=same.time)
    body = sample.records[1:] if header else sample.records
    dialect = _find_dialect((), None, sample.preamble, width)
    options = options if dialect is None else dialect.complete(options)
    try:
        numeric = _numeric_columns(body, names, width, is_number if sample.marks[0] == "," else is_amount)
        edge_columns = find_columns(names, numeric, options, values=lambda at: column_values(body, at))
    except InputError as error:
        raise source.error(error, line=sample.line) from None
    source_at, target_at, weight, time = (-1 if at is None else at for at in edge_columns.places)
    dates = time >= 0 and not any(map(is_number, column_values(body, time)))
    start, lines = (sample.end, sample.line - 1 + sample.lines) if header else (sample.start, sample.line - 1)
    columns = (source_at, target_at, weight, time, width)
    commas = weight >= 0 and sample.marks[0] != "," and _has_decimal_commas(column_values(body, weight))
    content: dict[str, Any] = {"names": tuple(names or ()), "dialect": dialect or edge_columns.dialect}
    place = start, lines, sample.comments
    return Layout(sample.marks, columns, edge_columns, header, *place, dates, **content, decimal_commas=commas)


def decode(text: bytes) -> str:
    """Text in UTF-8, or else Latin-1."""
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError:
        return text.decode("latin-1")


def is_number(field: str) -> bool:
    """Whether a field is a number; NaN and infinity are, and are refused later, by their line."""
    return bool(_DIGITS.fullmatch(field) or _NO_NUMBER.fullmatch(field))


def column_values(records: list[Record], at: int) -> list[str]:
    """The values of a column that are not empty."""
    return [record[at] for record in records if at < len(record) and record[at]]


def is_amount(field: str) -> bool:
    """Whether a field is a number, with a decimal point or, where commas are no delimiter, a decimal comma."""
    return is_number(field) or _DECIMAL.fullmatch(field) is not None


def _has_decimal_commas(values: list[str]) -> bool:
    """Whether values are numbers, some with a decimal comma and none with a point, which might mark thousands."""
    others = [value for value in values if not _DECIMAL.fullmatch(value)]
    return len(others) < len(values) and all(value.lstrip("+-").isdecimal() for value in others)


def _numeric_columns(
    body: list[Record], names: list[str] | None, count: int, is_numeric: Callable[[str], bool]
) -> list[bool]:
    """For each column, whether it holds numbers."""
    while names is None and count > 2 and not any(len(row) >= count and row[count - 1] for row in body):
        count -= 1  # a delimiter at the end of every line makes no column
    # One number makes a column of numbers: whatever else stands there is refused by its own line.
    return [any(map(is_numeric, column_values(body, at))) for at in range(count)]
