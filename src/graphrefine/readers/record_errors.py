"""Problems of text in words: of a record, or of the delimiter."""

from __future__ import annotations

from itertools import islice

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import FormatError
from graphrefine.graph.adjacency import describe_outside
from graphrefine.kernels.edge_lists import PAIR, Parsed, Status, single
from graphrefine.kernels.text_records import QuoteError, end_of_record, split_record
from graphrefine.readers.layout import DELIMITERS, Layout, Record, decode
from graphrefine.readers.source import Source

PROBLEMS = {
    Status.OPEN_QUOTE: "a quote is opened and never closed; close it, or say quote='' if quotes are ordinary "
    "characters",
    Status.AFTER_QUOTE: "characters stand between the quote that closes a field and the next delimiter; double a quote "
    "within a field, or say quote='' if quotes are ordinary characters",
    Status.LINE_IN_NAME: "a name holds a line end; names must fit on one line",
    Status.LONE_RETURN: "a return (\\r) stands within the line, and may end it or belong to a name; write line ends as "
    "\\n or \\r\\n, or put the name into quotes",
    Status.COMMENT_LIKE: "the line begins as a comment does: say comments='#' if it is one (or comments='%'), "
    "comments='' if it is a name",
}
ARGUMENTS = {Status.OPEN_QUOTE: "quote", Status.AFTER_QUOTE: "quote", Status.COMMENT_LIKE: "comments"}


def describe_problem(parsed: Parsed, text: NDArray[np.uint8], layout: Layout) -> tuple[str, str | None]:
    """The problem of the record at which a parser stopped, and the argument to blame."""
    status = Status(parsed.status)
    line = _record_at(text.tobytes(), parsed.line, layout)
    if status in PROBLEMS:
        return f"{PROBLEMS[status]}: {_excerpt(line)}", ARGUMENTS.get(status)
    first, second, weight, time, most = layout.columns
    count, fields = _fields(line, layout, max(weight, time) + 1)
    split_by = f"split by {DELIMITERS.get(layout.delimiter, repr(layout.delimiter))}"
    if status == Status.FEW_COLUMNS:
        needed = max(first, second, weight, time) + 1
        return f"there {_are(count)} ({split_by}), where {needed} are needed: {_excerpt(line)}", None
    if status == Status.MANY_COLUMNS:
        return f"there {_are(count)} ({split_by}), where the first record has {most}: {_excerpt(line)}", None
    if status == Status.BAD_TIME:
        kind = "a date such as 2024-01-31 or 2024-01-31T12:30:00Z" if layout.dates else "a number"
        return f"time {fields[time].strip()!r} is not {kind}, as the times before are", "time"
    return f"weight {fields[weight].strip()!r} {_weight_problem(fields[weight].strip())}", "weights"


def _fields(line: bytes, layout: Layout, most: int) -> tuple[int, list[str]]:
    """The number of fields of a record, and the first of them."""
    marks, step = single(layout.marks), 2 if layout.delimiter == PAIR else 1
    try:
        raw = (field.text for field in split_record(line, marks))
        first = [decode(text) for text in islice(raw, most * step)]
        count = len(first) + sum(1 for _ in raw)
    except QuoteError:
        first, count = decode(line).split(marks[0], most * step), decode(line).count(marks[0]) + 1
    return (count + step - 1) // step, first[::step]


def _record_at(data: bytes, line: int, layout: Layout) -> bytes:
    """The record that begins on a line, from 1."""
    start = 0
    for _ in range(line - 1):
        start = data.index(b"\n", start) + 1
    return data[start : end_of_record(data, start, single(layout.marks))].removesuffix(b"\r")


def _are(count: int) -> str:
    return "is 1 column" if count == 1 else f"are {count} columns"


def _excerpt(line: bytes) -> str:
    text = decode(line)
    return repr(text if len(text) <= 60 else text[:57] + "...")


def _weight_problem(text: str) -> str:
    try:
        value = float(text)
    except ValueError:
        return "is not a number; weights=False reads the edges without weights"
    if value < 0 or text.startswith("-"):
        return "is negative; weights must be positive (0: no edge)"
    return describe_outside(value, text=text) or "is not a finite float32 number"


def rival_error(source: Source, rivals: list[str], readings: dict[str, list[Record]]) -> FormatError:
    """The error for records that two delimiters split alike well."""
    ways = " or ".join(f"by {DELIMITERS[key]} ({', '.join(map(repr, readings[key][0][:4]))})" for key in rivals)
    options = " or ".join(f"delimiter={key!r}" for key in rivals)
    return source.error(f"the first record can be split {ways}: say {options}", argument="delimiter")
