"""Text edge lists to arrays, in plain Python: what ``native/text.cpp`` does.

The functions return what the compiled ones return: a status and the line of the first error, the records in
file order, and the names as lines of one byte string.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, timezone
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.kernels.edge_lists import NUMBER, Columns, Marks, Status

BLANKS = b" \t"
_DATE = re.compile(
    rb"([0-9]{4})([-/])([0-9]{2})\2([0-9]{2})"
    rb"(?:[T ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(\.[0-9]+)?)?(?:Z|([+-][0-9]{2})(?::?([0-9]{2}))?)?)?"
)
INTEGER = re.compile(rb"0|-?[1-9][0-9]{0,18}")


class Field(NamedTuple):
    """A field: its bytes, without its quotes, doubled ones in it as they are."""

    raw: bytes
    quote: bytes  # empty if the field is not quoted

    @property
    def text(self) -> bytes:
        """Bytes that it stands for."""
        return self.raw.replace(self.quote * 2, self.quote) if self.quote else self.raw


class _Stop(Exception):  # noqa: N818 - carries a status; never seen outside this module
    def __init__(self, status: int) -> None:
        self.status = status


def split_record(record: bytes, marks: Marks) -> Iterator[Field]:
    """Split one record, without its line end, into its fields as RFC 4180 has them.

    A field is quoted if its first character, blanks aside, is a quote, and ends at the next one that is not doubled.
    """
    delimiter, quote, words = marks[0].encode(), marks[1].encode(), marks[0] == " "
    at, more = 0, True
    while True:
        first = _skip_blanks(record, at, b"" if words else delimiter)
        if first == len(record) if words else not more:
            return
        if quote and record[first : first + 1] == quote:
            close = _closing(record, first + 1, quote)
            if close < 0:
                raise _Stop(Status.OPEN_QUOTE)
            field, at = Field(record[first + 1 : close], quote), close + 1
            after = at if words else _skip_blanks(record, at, delimiter)
            if after < len(record) and record[after : after + 1] not in ((b" ", b"\t") if words else (delimiter,)):
                raise _Stop(Status.AFTER_QUOTE)
            at, more = (at, True) if words else (after + 1, after < len(record))
        elif words:
            stop = first
            while stop < len(record) and record[stop : stop + 1] not in (b" ", b"\t"):
                stop += 1
            field, at = Field(record[first:stop], b""), stop
        else:
            stop = record.find(delimiter, at)
            more = stop >= 0
            stop = stop if more else len(record)
            field, at = Field(record[at:stop], b""), stop + 1
        yield field


def _skip_blanks(record: bytes, at: int, delimiter: bytes) -> int:
    while record[at : at + 1] in (b" ", b"\t") and record[at : at + 1] != delimiter:
        at += 1
    return at


_Parsed = tuple[
    int, int, NDArray[Any], NDArray[Any], NDArray[np.float32] | None, NDArray[np.float64] | None, bytes, int, int
]
_Read = Callable[[Field], int]
_Edges = list[tuple[int, int, float, float]]  # ends, weight, time


def parse_integers(
    text: NDArray[np.uint8], columns: Columns, marks: Marks, *, dates: bool, wide: bool, threads: int
) -> _Parsed:
    """See `graphrefine.kernels.edge_lists.parse_integers`."""
    dtype = np.int64 if wide else np.int32
    bounds = np.iinfo(dtype)

    def read(field: Field) -> int:
        text = field.raw if field.quote else field.raw.strip(BLANKS)
        if not INTEGER.fullmatch(text):
            raise _Stop(Status.NOT_INTEGER)
        value = int(text)
        if not -(2**63) <= value < 2**63:
            raise _Stop(Status.NOT_INTEGER)
        # The compiled parser leaves the lowest 32-bit number to the wide parser.
        if not bounds.min + (not wide) <= value <= bounds.max:
            raise _Stop(Status.TOO_WIDE)
        return value

    status, line, edges, comments = _parse(text.tobytes(), columns, marks, read, dates=dates)
    source, target, weights, times = _arrays(edges, columns, dtype)
    return status, line, source, target, weights, times, b"", comments, 0


def parse_strings(text: NDArray[np.uint8], columns: Columns, marks: Marks, *, dates: bool, threads: int) -> _Parsed:
    """See `graphrefine.kernels.edge_lists.parse_strings`."""
    numbers: dict[bytes, int] = {}
    trimmed = 0

    def read(field: Field) -> int:
        nonlocal trimmed
        bare = field.raw.strip(BLANKS)
        if not bare:
            return -1
        if field.quote:
            if b"\n" in field.raw:
                raise _Stop(Status.LINE_IN_NAME)
            return numbers.setdefault(field.text, len(numbers))
        trimmed += bare != field.raw
        return numbers.setdefault(bare, len(numbers))

    status, line, edges, comments = _parse(text.tobytes(), columns, marks, read, dates=dates)
    names = sorted(numbers)
    rank = np.empty(len(names) + 1, dtype=np.int32)
    rank[-1] = -1  # an empty field has the number -1 before and after
    rank[[numbers[name] for name in names]] = np.arange(len(names))
    source, target, weights, times = _arrays(edges, columns, np.int32)
    return status, line, rank[source], rank[target], weights, times, b"\n".join(names), comments, trimmed


def whole_records(text: NDArray[np.uint8], marks: Marks) -> int:
    """See `graphrefine.kernels.edge_lists.whole_records`."""
    data, last = text.tobytes(), 0
    while last < len(data):
        stop = _line_end(data, last)
        first = first_of(data[last:stop], marks)
        comment = bool(first) and first in marks[2].encode()
        end, is_open = (stop, False) if comment else end_of_record(data, last, marks)
        if end == len(data) or is_open:
            break
        last = end + 1
    return last


def _parse(data: bytes, columns: Columns, marks: Marks, read: _Read, *, dates: bool) -> tuple[int, int, _Edges, int]:
    edges: _Edges = []
    comments, at, line = 0, 0, 1
    while at < len(data):
        first = first_of(data[at : _line_end(data, at)], marks)
        comment = bool(first) and first in marks[2].encode()
        end = _line_end(data, at) if comment else end_of_record(data, at, marks)[0]
        record = data[at:end].removesuffix(b"\r")
        comments += comment
        if record.strip(BLANKS) and not comment:
            try:
                edges.append(_record(record, columns, marks, read, dates))
            except _Stop as stop:
                return stop.status, line, [], comments
        line += data.count(b"\n", at, end) + 1
        at = end + 1
    return Status.OK, 0, edges, comments


def _line_end(data: bytes, at: int) -> int:
    end = data.find(b"\n", at)
    return len(data) if end < 0 else end


def _record(record: bytes, columns: Columns, marks: Marks, read: _Read, dates: bool) -> tuple[int, int, float, float]:
    if _looks_like_comment(record, marks):
        raise _Stop(Status.COMMENT_LIKE)
    source, target, weight, time, most = columns
    values: dict[int, float] = {}
    count = 0
    for at, field in enumerate(split_record(record, marks)):
        count += 1
        if not field.quote and b"\r" in field.raw:
            raise _Stop(Status.LONE_RETURN)
        if at in (source, target):
            values[at] = read(field)
        elif at == weight:
            values[at] = _weight(field.raw)
        elif at == time:
            values[at] = _time(field.raw, dates)
    if count <= max(columns[:4]):
        raise _Stop(Status.FEW_COLUMNS)
    if count > most:
        raise _Stop(Status.MANY_COLUMNS)
    return int(values[source]), int(values[target]), values.get(weight, 1.0), values.get(time, 0.0)


def _looks_like_comment(record: bytes, marks: Marks) -> bool:
    first = first_of(record, marks)
    if not first or first not in marks[3].encode():
        return False
    rest = record.lstrip(BLANKS)
    return marks[0] == " " or len(rest) == 1 or rest[1:2] in (b" ", b"\t")


def _weight(field: bytes) -> float:
    field = field.strip(BLANKS)
    if not NUMBER.fullmatch(field):
        raise _Stop(Status.BAD_WEIGHT)
    with np.errstate(over="ignore", under="ignore"):
        value = float(np.float32(float(field)))
    tiny = value == 0 and field.lower().partition(b"e")[0].strip(b"+-.0") != b""
    if value < 0 or math.isinf(value) or tiny:
        raise _Stop(Status.BAD_WEIGHT)
    return value


def _time(field: bytes, dates: bool) -> float:
    field = field.strip(BLANKS)
    if dates:
        seconds = read_date(field)
        if math.isnan(seconds):
            raise _Stop(Status.BAD_TIME)
        return seconds
    if not NUMBER.fullmatch(field) or math.isinf(float(field)):
        raise _Stop(Status.BAD_TIME)
    return float(field)


def _arrays(
    edges: _Edges, columns: Columns, dtype: type[np.signedinteger[Any]]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.float32] | None, NDArray[np.float64] | None]:
    ends = np.array([edge[:2] for edge in edges], dtype=dtype).reshape(-1, 2)  # (m, 2)
    weights = np.array([edge[2] for edge in edges], dtype=np.float32) if columns[2] >= 0 else None
    times = np.array([edge[3] for edge in edges], dtype=np.float64) if columns[3] >= 0 else None
    return np.ascontiguousarray(ends[:, 0]), np.ascontiguousarray(ends[:, 1]), weights, times


def number_strings(text: NDArray[np.uint8], offsets: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """See `graphrefine.kernels.edge_lists.number_texts`."""
    data, first = text.tobytes(), dict[bytes, int]()
    ends = offsets.tolist()
    strings = [data[start:end] for start, end in pairwise(ends)]
    for place, string in enumerate(strings):
        first.setdefault(string, place)
    rank = {string: number for number, string in enumerate(sorted(first))}
    numbers = np.fromiter((rank[string] for string in strings), np.int32, len(strings))
    return numbers, np.fromiter((first[string] for string in rank), np.int64, len(rank))


def first_of(line: bytes, marks: Marks) -> bytes:
    """Return the first character of a line, blanks aside; a tab that is the delimiter ends an empty field."""
    return line.lstrip(b" " if marks[0] == "\t" else BLANKS)[:1]


def end_of_record(data: bytes, at: int, marks: Marks) -> tuple[int, bool]:
    """Find the line end of the record at ``at``, or the end of the text; line ends within quotes do not count.

    And whether it ends at its first line end only because a quote in it is not closed.
    """
    delimiters, quote = (b" ", b"\t") if marks[0] == " " else (marks[0].encode(),), marks[1].encode()
    stop = _line_end(data, at)
    if not quote or data.find(quote, at, stop) < 0:
        return stop, False
    while True:
        while data[at : at + 1] in (b" ", b"\t") and data[at : at + 1] not in delimiters:
            at += 1
        if data[at : at + 1] == quote:
            close = _closing(data, at + 1, quote)
            if close < 0:
                return stop, True  # never closed: the record is the line, and refused
            at = close + 1
        while at < len(data) and data[at : at + 1] != b"\n" and data[at : at + 1] not in delimiters:
            at += 1
        if at == len(data) or data[at : at + 1] == b"\n":
            return at, False
        at += 1


def _closing(data: bytes, at: int, quote: bytes) -> int:
    """Find the quote that closes a field; -1 if there is none."""
    while (at := data.find(quote, at)) >= 0 and data[at + 1 : at + 2] == quote:
        at += 2
    return at


def read_date(field: bytes) -> float:
    """Return a date, perhaps with a time, in seconds since 1970; NaN for anything else."""
    match = _DATE.fullmatch(field)
    if match is None:
        return math.nan
    year, _, month, day, hour, minute, second, part, hours, minutes = match.groups(b"0")
    if abs(int(hours)) > 23 or int(minutes) > 59:
        return math.nan
    shift = timedelta(hours=int(hours), minutes=int(hours[:1] + minutes if hours[:1] in b"+-" else minutes))
    utc = timezone(timedelta(0))
    try:
        moment = datetime(int(year), int(month), int(day), int(hour), int(minute), int(second), tzinfo=utc)
    except ValueError:
        return math.nan
    since = moment - datetime(1970, 1, 1, tzinfo=utc) - shift
    # Digit by digit, as the compiled parser does, for its bits.
    fraction, unit = 0.0, 0.1
    for digit in part[1:]:
        fraction, unit = fraction + unit * (digit - 48), unit / 10
    return since.days * 86400.0 + since.seconds + fraction
