"""Small tables about nodes: labels, columns to color by, features; text, parquet or arrow.

Text is split at tabs, commas, semicolons, bars or blanks (`text_records`), in UTF-8 or else Latin-1, compressed or not.
Every field is a string; one that is missing in parquet or arrow is empty.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike

from graphrefine.errors import FormatError
from graphrefine.readers.formats import BY_SUFFIX
from graphrefine.readers.small_records import Record, split_text
from graphrefine.readers.source import Source

COMMENTS = "#%"
NODE_WORDS = frozenset({"node", "nodes", "node_id", "nodeid", "id", "name", "vertex"})
"""Usual names, in lower case, of the column of the nodes."""


@dataclass(frozen=True)
class Table:
    """A table with a header: columns of strings, all of one length, by their names in order."""

    source: Source
    columns: dict[str, list[str]]
    lines: list[int | None]  # the line of each record

    @property
    def node_column(self) -> str:
        """The name of the column of the nodes: a usual name such as node or id, else the first."""
        return next((name for name in self.columns if name.lower() in NODE_WORDS), next(iter(self.columns)))

    def error(self, problem: str, *, record: int | None = None) -> FormatError:
        """An error that names the file, and the line of a record."""
        return self.source.error(problem, line=None if record is None else self.lines[record])


def read_table(path: str | PathLike[str], *, comments: str = COMMENTS) -> Table:
    r"""Read a table whose first record names its columns; ``comments`` begin a comment line of text.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from pathlib import Path
    >>> path = Path(mkdtemp()) / "people.csv"
    >>> _ = path.write_text('name,team\nann,red\n"Smith, Bob",blue\n')
    >>> read_table(path).columns
    {'name': ['ann', 'Smith, Bob'], 'team': ['red', 'blue']}
    """
    source = Source(path, needs="a header is expected, and a node in each line")
    records = list(read_records(source, comments=comments))
    if not records:
        raise source.empty_error()
    header, *records = records
    names = header.fields
    if len(set(names)) < len(names):
        twice = next(name for name, count in Counter(names).items() if count > 1)
        raise source.error(f"two columns have one name, {twice!r}; rename one", line=header.line)
    for line, fields in records:
        if len(fields) != len(names):
            raise source.error(f"{count_columns(fields)} where the header has {len(names)}", line=line)
    columns = zip(*(fields for _, fields in records), strict=True) if records else ([] for _ in names)
    return Table(
        source,
        {name: list(column) for name, column in zip(names, columns, strict=True)},
        [line for line, _ in records],
    )


def read_records(source: Source, *, comments: str = COMMENTS) -> Iterator[Record]:
    """The records of a table in order, its header among them; comments before the first record are left out."""
    format = BY_SUFFIX.get(source.suffix)
    if format is not None and format.pieces == "table":
        return _read_arrow(source)
    return split_text(source, comments).records


def count_columns(fields: list[str]) -> str:
    """The number of a record's columns in words, for messages."""
    return "one column" if len(fields) == 1 else f"{len(fields)} columns"


def _read_arrow(source: Source) -> Iterator[Record]:
    """Records of a parquet or arrow file, the names of its columns first; columns of lists are left out."""
    from graphrefine.readers.arrow import read_arrow_table  # for an optional package

    table = read_arrow_table(source)
    flat = [at for at, field in enumerate(table.schema) if field.type.num_fields == 0]
    yield Record(None, [table.schema.names[at] for at in flat])
    for batch in table.select(flat).to_batches(max_chunksize=1 << 16):
        columns = [["" if value is None else str(value) for value in column.to_pylist()] for column in batch.columns]
        for fields in zip(*columns, strict=True):
            yield Record(None, list(fields))
