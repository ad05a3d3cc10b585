"""Layout of a text edge list, detected from its first lines: delimiter, header, and the columns of the edges."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from graphrefine.errors import InputError
from graphrefine.kernels.edge_lists import NUMBER, Columns, split_fields
from graphrefine.readers.columns import EdgeColumns, find_columns, find_pair
from graphrefine.readers.options import ReadOptions
from graphrefine.readers.source import Source

DELIMITERS = {"\t": "tab", ",": "comma", ";": "semicolon", " ": "blanks"}
SAMPLE = 1 << 15  # bytes from which delimiter, header and columns are detected
_NO_NUMBER = re.compile(rb"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)


@dataclass(frozen=True)
class _Sample:
    """The first records: their fields, the line of the first, and where the line after it begins."""

    records: list[list[bytes]]
    line: int
    after: int


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
    comments = options.comments
    lines = _lines(data, comments)
    if not lines:
        return None
    delimiter, records = _split(source, [bare for _, _, bare in lines], options)
    sample = _Sample(records, *lines[0][:2])
    header = _has_header(sample.records, options) if options.header is None else options.header
    names = [decode(name).strip() for name in sample.records[0]] if header else None
    if like is not None and not header:
        same = like.edge_columns
        weight = False if same.weight is None or same.weight >= len(records[0]) else same.weight
        options = replace(options, source=same.source, target=same.target, weights=weight)
    columns, edge_columns = _columns(source, sample, names, options)
    start, line = (sample.after, sample.line) if header else (0, 0)
    return Layout(delimiter, comments, columns, edge_columns, header, start, line)


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
        return options.delimiter, [split_fields(line, options.delimiter.encode()) for line in lines]
    preferred = [","] if source.suffix == ".csv" else []
    for candidate in [*preferred, "\t", ";", ","]:
        if not all(candidate.encode() in line for line in lines):
            continue
        rows = [split_fields(line, candidate.encode()) for line in lines]
        runs = sum(len(row) > 2 and not row[1].strip() and bool(row[2].strip()) for row in rows)
        if runs * 2 <= len(rows):
            return candidate, rows
    # The first record decides; a later one without this delimiter is then refused by its own line.
    first, marks = lines[0] if lines else b"", [*preferred, "\t", ";", ","]
    blanks = len(first.split()) > 1
    delimiter = " " if blanks else next((mark for mark in marks if mark.encode() in first), " ")
    return delimiter, [split_fields(line, delimiter.encode()) for line in lines]


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


def _columns(
    source: Source, sample: _Sample, names: list[str] | None, options: ReadOptions
) -> tuple[Columns, EdgeColumns]:
    body = sample.records[1:] if names else sample.records
    count = len(sample.records[0])
    while names is None and count > 2 and not any(len(row) >= count and row[count - 1].strip() for row in body):
        count -= 1  # a delimiter at the end of every line makes no column
    # One number makes a column of numbers: whatever else stands there is refused by its own line.
    numeric = [any(_is_number(row[at]) for row in body if at < len(row)) for at in range(count)]
    try:
        edge_columns = find_columns(names, numeric, options)
    except InputError as error:
        raise source.error(str(error), line=sample.line, argument=error.argument) from None
    weight = -1 if edge_columns.weight is None else edge_columns.weight
    return (edge_columns.source, edge_columns.target, weight, len(sample.records[0])), edge_columns
