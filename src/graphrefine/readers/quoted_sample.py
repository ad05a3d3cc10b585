"""First records of a text with quotes: fields may hold delimiters and line ends."""

from __future__ import annotations

from itertools import islice

from graphrefine.kernels.edge_lists import Marks, Status
from graphrefine.kernels.text_records import (
    BLANKS,
    Field,
    QuoteError,
    end_of_record,
    end_of_records,
    first_of,
    split_record,
)
from graphrefine.readers.layout import Record, Split, decode
from graphrefine.readers.limits import COLUMNS


def split_quoted(head: bytes, marks: Marks, *, whole: bool) -> Split | None:
    """See `graphrefine.readers.text.split_records`; records end at a quote that cannot be understood."""
    end = len(head) if whole else end_of_records(head, marks)
    records: list[Record] = []
    at, first = 0, 0
    bad_quote: tuple[Status, int] | None = None
    while at < end:
        sign = decode(first_of(head[at : min(_line_end(head, at), end)], marks))
        comment = bool(sign) and sign in marks[2]
        stop = _line_end(head, at) if comment else end_of_record(head, at, marks)
        record = head[at:stop].removesuffix(b"\r")
        begin, at = at, stop + 1
        first = first if records else min(at, len(head))
        bare = decode(record.strip(BLANKS))
        if not bare or comment:
            continue
        try:
            records.append([_text(field) for field in islice(split_record(record, marks), COLUMNS + 1)])
        except QuoteError as error:
            bad_quote = (error.status, begin)
            records += [] if records else [bare.split(None if marks[0] == " " else marks[0], COLUMNS)]
            break
    return (records, first, bad_quote) if records else None


def _line_end(head: bytes, at: int) -> int:
    stop = head.find(b"\n", at)
    return len(head) if stop < 0 else stop


def _text(field: Field) -> str:
    return decode(field.text) if field.quoted else decode(field.raw.strip(BLANKS))
