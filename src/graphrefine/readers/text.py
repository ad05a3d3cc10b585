"""Text edge lists: one edge a line, with or without a header, split by blanks, tabs, commas or semicolons.

Ids are integers if every one is written as an integer is (7, -3; not 007, +7 or 1.0), else all are strings.
Between tabs, blanks belong to a name; around names between commas or semicolons they are dropped. A field
that is empty names no node: the other end of that line becomes a node, and the line counts as ``missing``.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import FormatError, InputError
from graphrefine.graph.node_ids import Numbered
from graphrefine.graph.node_names import object_array
from graphrefine.kernels import ingest
from graphrefine.kernels.ingest import Columns, Parsed, Status
from graphrefine.kernels.twin_text import NUMBER, split_fields
from graphrefine.readers.columns import EdgeColumns, find_columns, find_pair
from graphrefine.readers.edge_table import EdgeTable
from graphrefine.readers.options import ReadOptions
from graphrefine.readers.source import Source

DELIMITERS = {"\t": "tab", ",": "comma", ";": "semicolon", " ": "blanks"}
SAMPLE = 1 << 15  # bytes looked at to find delimiter, header and columns
_NO_NUMBER = re.compile(rb"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)
_ALL_INTEGERS = re.compile(rb"(?:0|-?[1-9][0-9]{0,18})(?:\n(?:0|-?[1-9][0-9]{0,18}))*")


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


def load(source: Source, options: ReadOptions) -> EdgeTable:
    """Load a text edge list, comma- or tab-separated file."""
    data, encoding = _utf8(source, options.encoding)
    layout = find_layout(source, data, options)
    if layout is None:
        raise source.error("there is no edge in the file, only blank lines or comments")
    text = np.frombuffer(data, dtype=np.uint8)[layout.start :]
    parsed = parse(source, text, layout, before=layout.line, threads=options.thread_count)
    source.release()
    del data, text
    if len(parsed.source) == 0:
        raise source.error("there is no edge in the file, only a header")
    weights, comment_lines = parsed.weights, parsed.comments
    numbered, encoding = _number(parsed, encoding, options)
    return EdgeTable(numbered, weights, layout.report(comment_lines, encoding))


def find_layout(source: Source, data: bytes, options: ReadOptions, *, like: Layout | None = None) -> Layout | None:
    """The layout of a text, from its first lines; None if there is no record in it.

    ``like`` is the layout of another part of the same table: where this part has no header, its columns are the same.
    """
    comments = options.comments
    lines = _lines(data, comments)
    if not lines:
        return None
    delimiter = _delimiter(source, [bare for _, _, bare in lines], options)
    records = [split_fields(bare, delimiter.encode()) for _, _, bare in lines]
    sample = _Sample(records, *lines[0][:2])
    header = _has_header(sample.records, options) if options.header is None else options.header
    names = [_decode(name).strip() for name in sample.records[0]] if header else None
    if like is not None and not header:
        same = like.edge_columns
        weight = False if same.weight is None or same.weight >= len(records[0]) else same.weight
        options = replace(options, source=same.source, target=same.target, weights=weight)
    columns, edge_columns = _columns(source, sample, names, options)
    start, line = (sample.after, sample.line) if header else (0, 0)
    return Layout(delimiter, comments, columns, edge_columns, header, start, line)


def parse(source: Source, text: NDArray[np.uint8], layout: Layout, *, before: int, threads: int) -> Parsed:
    """Parse whole lines; ``before`` is the number of lines before them. Ids: narrow or wide integers, or strings."""
    parsed = _parse(text, layout.columns, layout.delimiter, layout.comments, threads)
    if parsed.status != Status.OK:
        raise _parse_error(source, parsed, text, before, (layout.delimiter, layout.columns))
    return parsed


def _utf8(source: Source, encoding: str | None) -> tuple[bytes, str | None]:
    """The text as UTF-8, or as it is where it may be UTF-8 or Latin-1; and its encoding, None if unknown."""
    data = source.data
    if encoding is None and data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
    if encoding is not None:
        try:
            name = codecs.lookup(encoding).name
            text = data.decode(name)
        except LookupError:
            raise no_encoding(encoding) from None
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise source.error(f"the text is not {encoding}: {error.reason}", line=line, argument="encoding") from None
        return text.removeprefix("\ufeff").encode("utf-8"), name
    if b"\0" in data[:SAMPLE]:
        raise looks_binary(source)
    return data.removeprefix(codecs.BOM_UTF8), None


def no_encoding(encoding: str) -> InputError:
    """The error for an encoding that Python does not have."""
    return InputError(f"there is no encoding {encoding!r}; try utf-8, latin-1 or cp1252", argument="encoding")


def looks_binary(source: Source) -> FormatError:
    """The error for a file with bytes that no text has."""
    return source.error("this looks like a binary file, not text; say format= if it is a known one", argument="format")


def _decode(text: bytes) -> str:
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError:
        return text.decode("latin-1")


def _lines(data: bytes, comments: str) -> list[tuple[int, int, bytes]]:
    """Line number, end and content of the first lines that hold records; only whole lines are looked at."""
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


def _delimiter(source: Source, lines: list[bytes], options: ReadOptions) -> str:
    """The delimiter of the options, or the first that is in every record of the sample, and not in runs."""
    if options.delimiter is not None:
        if options.delimiter not in DELIMITERS:
            allowed = ", ".join(f"{key!r} ({name})" for key, name in DELIMITERS.items())
            raise InputError(f"delimiter={options.delimiter!r} is not one of {allowed}", argument="delimiter")
        return options.delimiter
    preferred = [","] if source.suffix == ".csv" else []
    for candidate in [*preferred, "\t", ";", ","]:
        if not all(candidate.encode() in line for line in lines):
            continue
        rows = [split_fields(line, candidate.encode()) for line in lines]
        runs = sum(len(row) > 2 and not row[1].strip() and bool(row[2].strip()) for row in rows)
        if runs * 2 <= len(rows):
            return candidate
    first = lines[0] if lines else b""
    if len(first.split()) > 1:
        return " "
    # The first record decides; a later one without this delimiter is then refused by its own line.
    return next((mark for mark in [*preferred, "\t", ";", ","] if mark.encode() in first), " ")


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
    texts = [_decode(field).strip() for field in first]
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


def _parse(text: NDArray[np.uint8], columns: Columns, delimiter: str, comments: str, threads: int) -> Parsed:
    """As narrow integers, else as wide ones, else as strings: whichever every id allows."""
    marks: dict[str, Any] = {"delimiter": delimiter, "comments": comments, "threads": threads}
    parsed = ingest.parse_integers(text, columns, wide=False, **marks)
    if parsed.status == Status.TOO_WIDE:
        parsed = ingest.parse_integers(text, columns, wide=True, **marks)
    if parsed.status == Status.NOT_INTEGER:
        parsed = ingest.parse_strings(text, columns, **marks)
    return parsed


def _number(parsed: Parsed, encoding: str | None, options: ReadOptions) -> tuple[Numbered, str]:
    if not parsed.names:  # integers
        return ingest.number_ids(parsed.source, parsed.target, threads=options.thread_count), encoding or "utf-8"
    values = whole_numbers(parsed.names)
    if values is not None:
        return _in_number_order(parsed, values), encoding or "utf-8"
    try:
        names, encoding = parsed.names.decode("utf-8"), encoding or "utf-8"
    except UnicodeDecodeError:
        names, encoding = parsed.names.decode("latin-1"), "latin-1"
    return (parsed.source, parsed.target, object_array(names.split("\n"))), encoding


def whole_numbers(names: bytes) -> NDArray[np.int64] | None:
    r"""Names, a line each, as integers if all of them are; else None. Integers beside an empty field come here.

    Examples
    --------
    >>> whole_numbers(b"7\n-1"), whole_numbers(b"7\nx")
    (array([ 7, -1]), None)
    """
    if not _ALL_INTEGERS.fullmatch(names):
        return None
    values = [int(name) for name in names.split(b"\n")]
    return np.array(values, dtype=np.int64) if all(-(2**63) <= value < 2**63 for value in values) else None


def _in_number_order(parsed: Parsed, names: NDArray[np.int64]) -> Numbered:
    order = np.argsort(names)
    rank = np.full(len(names) + 1, -1, dtype=np.int32)  # the last one stands for -1: no node
    rank[order] = np.arange(len(names), dtype=np.int32)
    return rank[parsed.source], rank[parsed.target], names[order]


def _parse_error(
    source: Source, parsed: Parsed, text: NDArray[np.uint8], before: int, layout: tuple[str, Columns]
) -> InputError:
    """The error for the line at which a parser stopped."""
    delimiter, (first, second, weight, most) = layout
    line = text.tobytes().split(b"\n", parsed.line)[parsed.line - 1].removesuffix(b"\r")
    fields = [_decode(field) for field in split_fields(line, delimiter.encode())]
    split_by = f"split by {DELIMITERS[delimiter]}"
    argument = None
    if parsed.status == Status.FEW_COLUMNS:
        needed = max(first, second, weight) + 1
        problem = f"there {_are(len(fields))} ({split_by}), where {needed} are needed: {_excerpt(line)}"
    elif parsed.status == Status.MANY_COLUMNS:
        problem = f"there {_are(len(fields))} ({split_by}), where the first record has {most}: {_excerpt(line)}"
    else:
        problem = f"weight {fields[weight].strip()!r} {_weight_problem(fields[weight].strip())}"
        argument = "weights"
    return source.error(problem, line=before + parsed.line, argument=argument)


def _are(count: int) -> str:
    return "is 1 column" if count == 1 else f"are {count} columns"


def _excerpt(line: bytes) -> str:
    text = _decode(line)
    return repr(text if len(text) <= 60 else text[:57] + "...")


def _weight_problem(text: str) -> str:
    try:
        value = float(text)
    except ValueError:
        return "is not a number; weights=False reads the edges without weights"
    if value < 0:
        return "is negative; weights must be positive (0: no edge)"
    return "is not a finite float32 number"
