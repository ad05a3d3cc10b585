"""Small tables of text, read as a whole: labels, features, lists of nodes, columns to color by. Fields are strings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from graphrefine.errors import FormatError, InputError
from graphrefine.tables.decode import as_text, decode, refuse_page
from graphrefine.tables.dialect import (
    HEAD,
    SIGNS,
    QuoteError,
    detect_delimiter,
    find_separator,
    skip_comments,
    split_records,
)
from graphrefine.tables.hints import Hints
from graphrefine.tables.sample import Dialect, Record
from graphrefine.tables.source import Source


@dataclass(frozen=True)
class Rows:
    """All records of a small table, the names of the columns among them."""

    source: Source
    rows: list[Record]
    lines: Sequence[int | None]  # on which each record begins, from 1; None where a file has no lines
    delimiter: str = ","
    comments: tuple[str, ...] = ()  # lines of comment before the first record

    def error(self, problem: str | InputError, row: int | None = None) -> FormatError:
        """Return an error that names the file, and the line of a record."""
        return self.source.error(problem, line=None if row is None else self.lines[row])

    def check_widths(self, words: str = "the first line") -> None:
        """Refuse records of several lengths."""
        for at, row in enumerate(self.rows):
            if len(row) != len(self.rows[0]):
                count = "one column" if len(row) == 1 else f"{len(row)} columns"
                raise self.error(f"{count} where {words} has {len(self.rows[0])}", at)


def read_rows(source: Source, *, comments: str = SIGNS, may_be_words: bool = True) -> Rows:
    """Return the records of a table of text; ``comments`` are the characters that begin a comment before the first.

    Parameters
    ----------
    source : Source
        File.
    comments : str
        Characters that begin a comment line.
    may_be_words : bool
        Whether blanks may separate columns, in a file that is not called csv or tsv.
    """
    data, _ = decode(source)
    refuse_page(source, data)
    start, named = find_separator(data)
    at, _ = skip_comments(data, start, comments, b" \t", named)
    preamble = [line.strip() for line in as_text(data[start:at]).split("\n") if line.strip()]
    line = data.count(b"\n", 0, at) + 1
    head = data[at : at + HEAD]
    found = detect_delimiter(source, head, Dialect(""), Hints(delimiter=named), whole=at + HEAD >= len(data))
    delimiter = named or (found[0] if found else ",")
    if delimiter == " " and (not may_be_words or source.suffix in (".csv", ".tsv", ".tab")):
        delimiter = "\t" if source.suffix in (".tsv", ".tab") else ","
    try:
        records = list(split_records(as_text(data[at:]), Dialect(delimiter)))
    except QuoteError as error:
        raise source.error(str(error).replace(", or pass quote='' if quotes are ordinary characters", ""),
                           line=line + error.line) from None  # fmt: skip
    return Rows(
        source, [row for *_, row in records], [line + begin for begin, *_ in records], delimiter, tuple(preamble)
    )
