"""The driver of the five steps: the first records of a text of edges, or all records of a small table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from graphrefine.errors import FormatError, InputError
from graphrefine.tables.decode import as_text, decode
from graphrefine.tables.dialect import QuoteError, check_records, detect_dialect, split_records
from graphrefine.tables.header import detect_header
from graphrefine.tables.kinds import Column, detect_kinds
from graphrefine.tables.origin import apply_origin
from graphrefine.tables.roles import EdgeRoles, assign_edges
from graphrefine.tables.sample import Hints, Record, Sample
from graphrefine.tables.source import Source


def sniff(source: Source, hints: Hints, data: bytes | None = None, *, complete: bool = True) -> Sample | None:
    """Return dialect, columns and first records of edges, given as text or its beginning; None without any."""
    if data is None:
        data, _ = decode(source, hints.encoding)  # 1
    sample = detect_dialect(source, data, hints, complete=complete)  # 2
    if sample is None:
        return None
    check_records(source, sample, hints)
    sample = detect_header(source, data, sample, hints)  # 4, by the kinds (3) of the values below the first record
    if sample.is_matrix:
        return sample
    names = sample.dialect.names if sample.dialect.header else None
    columns = detect_kinds(sample.rows, names, sample.dialect.delimiter)  # 3
    try:
        origin = apply_origin(columns, hints, preamble=sample.preamble)  # 5
    except InputError as error:
        raise source.error(error, line=sample.line) from None
    return replace(sample, columns=columns, origin=origin)


def find_edges(names: Sequence[str | None], values: Callable[[int], Sequence[Any]], hints: Hints) -> EdgeRoles:
    """Find the edges in a table of typed columns; ``values`` returns a sample of those of a column."""
    columns = [Column(name, at, partial(values, at)) for at, name in enumerate(names)]
    return assign_edges(columns, hints, apply_origin(columns, hints))


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


def read_rows(source: Source, *, comments: str | None = None) -> Rows:
    """Return all records of a small table of text; only lines before the first record can be comments."""
    data, _ = decode(source)
    sample = detect_dialect(source, data, Hints(comments=comments))
    if sample is None:
        return Rows(source, [], [])
    dialect = sample.dialect
    if dialect.delimiter == " " and source.suffix in (".csv", ".tsv", ".tab"):  # one column, of names with blanks
        dialect = replace(dialect, delimiter="," if source.suffix == ".csv" else "\t")
    try:
        records = list(split_records(as_text(data[dialect.skip :]), dialect))
    except QuoteError as error:
        raise source.error(str(error), line=sample.line + error.line) from None
    lines = [line.strip() for line in as_text(sample.preamble).split("\n")]
    preamble = tuple(line for line in lines if line[:1] in ("#", "%"))
    numbers = [sample.line + begin for begin, *_ in records]
    return Rows(source, [row for *_, row in records], numbers, dialect.delimiter, preamble)
