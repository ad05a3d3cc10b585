"""Records and fields of text, as RFC 4180 has them, and dates; for samples, where the compiled parser reads the rest.

A field is quoted if its first character, blanks aside, is a quote. It ends at the next quote that is not doubled; only
blanks may stand between that and the delimiter. Anywhere else a quote is a character as any other.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from typing import NamedTuple

from graphrefine.kernels.edge_lists import Marks, Status

BLANKS = b" \t"
_DATE = re.compile(
    rb"([0-9]{4})([-/])([0-9]{2})\2([0-9]{2})"
    rb"(?:[T ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(\.[0-9]+)?)?(?:Z|([+-][0-9]{2})(?::?([0-9]{2}))?)?)?"
)


def first_of(line: bytes, marks: Marks) -> bytes:
    """Return the first character of a line, blanks aside; a tab that is the delimiter ends an empty field."""
    return line.lstrip(b" " if marks[0] == "\t" else BLANKS)[:1]


class Field(NamedTuple):
    """A field: its bytes, without its quotes, doubled ones in it as they are."""

    raw: bytes
    quote: bytes  # empty if the field is not quoted

    @property
    def quoted(self) -> bool:
        """Whether there are quotes around it."""
        return bool(self.quote)

    @property
    def text(self) -> bytes:
        """Bytes that it stands for."""
        return self.raw.replace(self.quote * 2, self.quote) if self.quote else self.raw


class QuoteError(Exception):
    """A quote that is never closed, or characters after one that closes a field."""

    def __init__(self, status: Status) -> None:
        self.status = status


def split_record(record: bytes, marks: Marks) -> Iterator[Field]:
    r"""Split one record into its fields, without its line end.

    Examples
    --------
    >>> [field.text for field in split_record(b"'a, b'' c', d e,5' pipe", (",", "'", "", ""))]
    [b"a, b' c", b' d e', b"5' pipe"]
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
                raise QuoteError(Status.OPEN_QUOTE)
            field, at = Field(record[first + 1 : close], quote), close + 1
            after = at if words else _skip_blanks(record, at, delimiter)
            if after < len(record) and record[after : after + 1] not in ((b" ", b"\t") if words else (delimiter,)):
                raise QuoteError(Status.AFTER_QUOTE)
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


def end_of_record(data: bytes, at: int, marks: Marks) -> int:
    """Find the line end of the record at ``at``, or the end of the text; line ends within quotes do not count."""
    return _find_end(data, at, marks)[0]


def _find_end(data: bytes, at: int, marks: Marks) -> tuple[int, bool]:
    """Find the same, and whether it ends at its first line end only because a quote in it is not closed."""
    delimiters, quote = (b" ", b"\t") if marks[0] == " " else (marks[0].encode(),), marks[1].encode()
    stop = data.find(b"\n", at)
    stop = len(data) if stop < 0 else stop
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


def end_of_records(data: bytes, marks: Marks) -> int:
    r"""Return the size of the whole records at the beginning of a text.

    Examples
    --------
    >>> end_of_records(b"a,b\nc,'d\ne", (",", "'", "", ""))
    4
    """
    last = at = 0
    while at < len(data):
        stop = data.find(b"\n", at)
        first = first_of(data[at : stop if stop >= 0 else len(data)], marks)
        comment = bool(first) and first in marks[2].encode()
        end, is_open = (stop, False) if comment else _find_end(data, at, marks)
        if end < 0 or end == len(data) or is_open:
            break
        last = at = end + 1
    return last


def _skip_blanks(record: bytes, at: int, delimiter: bytes) -> int:
    while record[at : at + 1] in (b" ", b"\t") and record[at : at + 1] != delimiter:
        at += 1
    return at


def _closing(data: bytes, at: int, quote: bytes) -> int:
    """Find the quote that closes a field; -1 if there is none."""
    while (at := data.find(quote, at)) >= 0 and data[at + 1 : at + 2] == quote:
        at += 2
    return at


def read_date(field: bytes) -> float:
    """Return a date, perhaps with a time, in seconds since 1970; NaN for anything else.

    Examples
    --------
    >>> read_date(b"1970-01-02T00:00:01Z"), read_date(b"yesterday")
    (86401.0, nan)
    """
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
