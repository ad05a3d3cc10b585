"""Layout of an edge table: the columns of ends and weights; of text also delimiter and header, by its first lines."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from graphrefine.errors import InputError
from graphrefine.kernels.edge_lists import NUMBER, WORD, Columns, split_fields
from graphrefine.readers.options import Column, ReadOptions
from graphrefine.readers.source import Source

PAIRS = (
    ("source", "target"),
    ("src", "dst"),
    ("from", "to"),
    ("u", "v"),
    ("node1", "node2"),
    ("id1", "id2"),
    ("fromnodeid", "tonodeid"),
    ("head", "tail"),
    ("parent", "child"),
    ("subject", "object"),
    ("user", "item"),
    ("follower", "followee"),
    ("citing", "cited"),
    ("caller", "callee"),
    ("dependent", "dependency"),
)
"""Usual names of the two columns of an edge list, as `fold_name` spells them."""

WEIGHT_NAMES = ("weight", "weights", "w")
DELIMITERS = {"\t": "tab", ",": "comma", ";": "semicolon", " ": "blanks"}
SAMPLE = 1 << 15  # bytes from which delimiter, header and columns are detected
_NO_NUMBER = re.compile(rb"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)


@dataclass(frozen=True)
class EdgeColumns:
    """Positions of the columns that hold the edges."""

    source: int
    target: int
    weight: int | None
    report: dict[str, Any]


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


def find_columns(names: list[str] | None, numeric: list[bool], options: ReadOptions) -> EdgeColumns:
    """Find the columns of source, target and weight, from their names, if there are any, and from those with numbers.

    Columns that the options name are used. Otherwise: a usual pair of names, else the first two columns; the weight is
    a column called weight, or, in a table without names, the third of three columns if it is numeric.
    """
    count = len(numeric)
    if count < 2:
        raise InputError(f"an edge needs two columns, and there is {count}")
    usual = (find_pair(names) if names else None) or (0, 1)
    source = usual[0] if options.source is None else _find_column("source", options.source, names, count)
    target = usual[1] if options.target is None else _find_column("target", options.target, names, count)
    if source == target:
        raise InputError(
            f"source and target are the same column ({_label(source, names)}); name both", argument="target"
        )
    weight = _find_weight(names, numeric, {source, target}, options)
    ignored = [_label(at, names) for at in range(count) if at not in (source, target, weight)]
    report: dict[str, Any] = {"columns": [_label(source, names), _label(target, names)]}
    report["weight_column"] = None if weight is None else _label(weight, names)
    if ignored:
        report["ignored_columns"] = ignored
    return EdgeColumns(source, target, weight, report)


def _find_column(argument: str, column: Column, names: list[str] | None, count: int) -> int:
    """The position of a column, from its name or its position from 0 (as a number or its digits)."""
    if isinstance(column, str):
        if names and column in names:
            return names.index(column)
        if not column.isdecimal():
            column_list = f"the columns are {', '.join(map(repr, names))}" if names else "the columns have no names"
            raise InputError(
                f"there is no column {column!r}; {column_list}; a position from 0 to {count - 1} works too",
                argument=argument,
            )
    position = int(column)
    if isinstance(column, bool) or not 0 <= position < count:
        raise InputError(f"there is no column {column!r}; positions go from 0 to {count - 1}", argument=argument)
    return position


def _find_weight(names: list[str] | None, numeric: list[bool], ends: set[int], options: ReadOptions) -> int | None:
    if options.weights is False:
        return None
    if options.weights is not None:
        weight = _find_column("weights", options.weights, names, len(numeric))
        if weight in ends:
            raise InputError(
                f"the weights cannot be column {_label(weight, names)}: that is an end of the edges",
                argument="weights",
            )
        return weight
    others = [at for at in range(len(numeric)) if at not in ends]
    if names is not None:
        return next((at for at in others if names[at].strip().lower() in WEIGHT_NAMES), None)
    if len(others) == 1 and numeric[others[0]]:
        return others[0]
    if not others or (options.source is not None and options.target is not None):
        return None
    raise InputError(
        f"there are {len(numeric)} columns without names, and it is not clear which hold the edges: say "
        "source=, target= and weights= (positions from 0), or weights=False for no weights",
        argument="source",
        mentions=["target", "weights"],
    )


def _label(at: int, names: list[str] | None) -> str | int:
    return at if names is None else names[at]


@dataclass(frozen=True)
class Layout:
    """Layout of a text: delimiter, columns, and the place at which the records begin."""

    delimiter: str
    comments: str
    columns: Columns
    edge_columns: EdgeColumns
    header: bool
    start: int  # bytes before the records
    line: int  # lines before the records

    def report(self, comments: int, encoding: str) -> dict[str, Any]:
        """The part of `Graph.report` about the text."""
        return {
            **self.edge_columns.report,
            "delimiter": DELIMITERS[self.delimiter],
            "header": self.header,
            "comments": comments,
            "encoding": encoding,
        }


def find_layout(source: Source, data: bytes, options: ReadOptions, *, like: Layout | None = None) -> Layout | None:
    """The layout of a text, from its first lines; None if there is no record in it.

    ``like`` is the layout of another part of the same table: where this part has no header, its columns are the same.
    """
    lines = _lines(data, options.comments)
    if not lines:
        return None
    line, after, _ = lines[0]
    delimiter, records = _split(source, [bare for _, _, bare in lines], options)
    header = _has_header(records, options) if options.header is None else options.header
    names = [decode(name).strip() for name in records[0]] if header else None
    if like is not None and not header:
        same = like.edge_columns
        weights = False if same.weight is None or same.weight >= len(records[0]) else same.weight
        options = replace(options, source=same.source, target=same.target, weights=weights)
    try:
        edge_columns = find_columns(names, _numeric_columns(records, names), options)
    except InputError as error:
        raise source.error(error, line=line) from None
    weight = -1 if edge_columns.weight is None else edge_columns.weight
    columns = (edge_columns.source, edge_columns.target, weight, len(records[0]))
    start, before = (after, line) if header else (0, 0)
    return Layout(delimiter, options.comments, columns, edge_columns, header, start, before)


def decode(text: bytes) -> str:
    """Text in UTF-8, or else Latin-1."""
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError:
        return text.decode("latin-1")


def _lines(data: bytes, comments: str) -> list[tuple[int, int, bytes]]:
    """Line number, end and content of the first lines that hold records; of whole lines only."""
    head = data[:SAMPLE]
    if len(data) > SAMPLE and b"\n" in head:
        head = head[: head.rindex(b"\n")]
    records, at = [], 0
    for number, line in enumerate(head.split(b"\n"), start=1):
        at += len(line) + 1
        bare = line.removesuffix(b"\r")
        first = bare.strip(b" \t")[:1]
        if first and first not in comments.encode():
            records.append((number, min(at, len(data)), bare))
    if not records and len(data) > SAMPLE:  # a long preamble of comments: look at everything once
        return _lines_after_preamble(data, comments)
    return records


def _lines_after_preamble(data: bytes, comments: str) -> list[tuple[int, int, bytes]]:
    marks = re.escape(comments.encode())
    preamble = re.match(rb"(?:[ \t]*(?:[" + marks + rb"][^\n]*)?\r?\n)*" if marks else rb"(?:[ \t]*\r?\n)*", data)
    start = preamble.end() if preamble else 0
    line = data.count(b"\n", 0, start)
    rest = data[start : start + SAMPLE]
    return [(number + line, at + start, bare) for number, at, bare in _lines(rest, comments)]


def _split(source: Source, lines: list[bytes], options: ReadOptions) -> tuple[str, list[list[bytes]]]:
    """The delimiter of the options, or the first that is in every record of the sample, and not in runs; the fields."""
    if options.delimiter is not None:
        if options.delimiter not in DELIMITERS:
            allowed = ", ".join(f"{key!r} ({name})" for key, name in DELIMITERS.items())
            raise InputError(f"delimiter={options.delimiter!r} is not one of {allowed}", argument="delimiter")
        return options.delimiter, [split_line(line, options.delimiter.encode()) for line in lines]
    preferred = [","] if source.suffix == ".csv" else []
    for candidate in [*preferred, "\t", ";", ","]:
        if not all(candidate.encode() in line for line in lines):
            continue
        rows = [split_line(line, candidate.encode()) for line in lines]
        runs = sum(len(row) > 2 and not row[1].strip() and bool(row[2].strip()) for row in rows)
        if runs * 2 <= len(rows):
            return candidate, rows
    # The first record decides; a later one without this delimiter is then refused by its own line.
    first, marks = lines[0] if lines else b"", [*preferred, "\t", ";", ","]
    blanks = len(first.split()) > 1
    delimiter = " " if blanks else next((mark for mark in marks if mark.encode() in first), " ")
    return delimiter, [split_line(line, delimiter.encode()) for line in lines]


def _is_number(field: bytes) -> bool:
    """Whether a field is a number; NaN and infinity are, and are refused later, by their line."""
    return (NUMBER.fullmatch(field.strip()) or _NO_NUMBER.fullmatch(field.strip())) is not None


def _has_header(records: list[list[bytes]], options: ReadOptions) -> bool:
    """Whether the first record names the columns.

    It does if an option names a column; if a column holds numbers from the second record on, but not
    in the first; or if it is a usual pair of names that occur nowhere below.
    """
    columns = (options.source, options.target, options.weights)
    if any(isinstance(column, str) and not column.isdecimal() for column in columns):
        return True
    first, rest = records[0], records[1:]
    if any(_is_number(field) for field in first):  # columns are not called 7 or 0.5
        return False
    for at, field in enumerate(first):
        below = [row[at] for row in rest if at < len(row) and row[at].strip()]
        if below and field.strip() and not _is_number(field) and all(_is_number(value) for value in below):
            return True
    texts = [decode(field).strip() for field in first]
    fields = {field.strip() for row in rest for field in row}
    return find_pair(texts) is not None and not any(field.strip() in fields for field in first[:2])


def _numeric_columns(records: list[list[bytes]], names: list[str] | None) -> list[bool]:
    """For each column, whether it holds numbers."""
    body = records[1:] if names else records
    count = len(records[0])
    while names is None and count > 2 and not any(len(row) >= count and row[count - 1].strip() for row in body):
        count -= 1  # a delimiter at the end of every line makes no column
    # One number makes a column of numbers: whatever else stands there is refused by its own line.
    return [any(_is_number(row[at]) for row in body if at < len(row)) for at in range(count)]


def split_line(line: bytes, delimiter: bytes) -> list[bytes]:
    """The fields of a line; where it has quotes, by the rule of the parser."""
    if delimiter == b" ":
        return WORD.findall(line)
    return split_fields(line, delimiter) if b'"' in line else line.split(delimiter)
