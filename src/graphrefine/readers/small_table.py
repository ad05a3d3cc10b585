"""Small tables about nodes: labels, columns to color by, features, lists of nodes; text, parquet or Arrow.

Every field is a string; one that is missing in parquet or Arrow is empty.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from os import PathLike

from graphrefine.readers.formats import BY_SUFFIX
from graphrefine.tables.decode import decode_text
from graphrefine.tables.roles import assign_nodes
from graphrefine.tables.sample import Record
from graphrefine.tables.sniff import Rows, read_rows
from graphrefine.tables.source import Source


@dataclass(frozen=True)
class Table:
    """A table with a header: columns of strings, all of one length, by their names in order."""

    source: Source
    columns: dict[str, list[str]]

    @property
    def node_column(self) -> str:
        """The name of the column of the nodes: a usual name such as node or id, else the first."""
        return list(self.columns)[next(iter(assign_nodes(list(self.columns))), 0)]


def read_table(path: str | PathLike[str], *, comments: str | None = None) -> Table:
    """Read a table whose first record names its columns; ``comments=""`` if no line is a comment."""
    source = Source(path, needs="a header is expected, and a node in each line")
    table = read_any_rows(source, comments=comments)
    if not table.rows:
        raise source.empty_error()
    names, *rows = table.rows
    twice = next((name for name, count in Counter(names).items() if count > 1), None)
    if twice is not None:
        raise table.error(f"duplicate name {twice!r} of columns; rename one", 0)
    table.check_widths("the header")
    columns = zip(*rows, strict=True) if rows else ([] for _ in names)
    return Table(source, {name: list(column) for name, column in zip(names, columns, strict=True)})


def is_binary(source: Source) -> bool:
    """Return whether a file is called parquet or Arrow."""
    format = BY_SUFFIX.get(source.suffix)
    return format is not None and format.pieces == "table"


def read_any_rows(source: Source, *, comments: str | None = None) -> Rows:
    """Return the records of a table, the names of its columns among them; columns of lists are left out."""
    if not is_binary(source):
        return read_rows(source, comments=comments)
    from graphrefine.readers.arrow import read_arrow_table  # for an optional package

    table = read_arrow_table(source)
    flat = [at for at, field in enumerate(table.schema) if field.type.num_fields == 0]
    rows: list[Record] = [[table.schema.names[at] for at in flat]]
    for batch in table.select(flat).to_batches(max_chunksize=1 << 16):
        columns = [["" if value is None else str(value) for value in column.to_pylist()] for column in batch.columns]
        rows += map(list, zip(*columns, strict=True))
    return Rows(source, rows, [None] * len(rows))


def read_names(source: Source) -> list[str]:
    """Return names of nodes: a name on each line, or the column of the nodes of a table.

    A csv, tsv, parquet or Arrow file is a table; a column called node, id or name has the nodes, else the only one.
    """
    if not is_binary(source) and source.suffix not in (".csv", ".tsv", ".tab"):
        return [name for line in decode_text(source).splitlines() if (name := line.strip())]
    table = read_any_rows(source, comments="")
    table.check_widths()
    if not table.rows:
        return []
    first, *rest = table.rows
    at = next(iter(assign_nodes(first)), None)
    if at is None and len(first) > 1:
        listed = ", ".join(map(repr, first[:8]))
        raise table.error(f"none of the columns {listed} is called node, id or name; rename that of the nodes", 0)
    # A node may be called "node" too: then the first row is one of several with that name, and no header.
    has_header = at is not None and first[at] not in {row[at] for row in rest}
    rows = rest if has_header or is_binary(source) else table.rows
    return [name for row in rows if (name := row[at or 0].strip())]
