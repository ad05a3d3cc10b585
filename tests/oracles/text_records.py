"""Fields of a record of text, as RFC 4180 has them, where the compiled parser reads the rest.

A field is quoted if its first character, blanks aside, is a quote. It ends at the next quote that is not doubled; only
blanks may stand between that and the delimiter. Anywhere else a quote is a character as any other.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from graphrefine.kernels.edge_lists import Marks, Status


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


def _skip_blanks(record: bytes, at: int, delimiter: bytes) -> int:
    while record[at : at + 1] in (b" ", b"\t") and record[at : at + 1] != delimiter:
        at += 1
    return at


def _closing(data: bytes, at: int, quote: bytes) -> int:
    """Find the quote that closes a field; -1 if there is none."""
    while (at := data.find(quote, at)) >= 0 and data[at + 1 : at + 2] == quote:
        at += 2
    return at
