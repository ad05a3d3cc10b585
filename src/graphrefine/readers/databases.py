"""Databases of SQLite and DuckDB: the edges are a table, or the result of a query, which can read and nothing else.

The first bytes, not the name of the file, say which of the two it is. Columns follow the rules of tables.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from graphrefine.errors import FormatError, InputError, require
from graphrefine.readers.arrow import edges_of_arrow, gather_batches, import_pyarrow
from graphrefine.readers.attributed_graph import list_names
from graphrefine.readers.columns import edges_of_rows
from graphrefine.readers.formats import EdgeTable
from graphrefine.readers.options import ReadOptions
from graphrefine.tables.source import Source, check_unpacked, unpacked_limit

_SQLITE, _DUCKDB = b"SQLite format 3\0", b"DUCK"
_READING = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
_SQLITE_ERRORS = (sqlite3.Error, sqlite3.Warning, UnicodeError, OverflowError, MemoryError)
_SAFE = {  # no files, also none next to the database, and no Python variables
    "enable_external_access": "false",
    "python_enable_replacements": "false",
    "temp_directory": "",
}
_CELL = 64  # bytes of a value in memory: an object of Python, and the pointer to it in a list
_LEAST = 1 << 27  # bytes that DuckDB may take with any budget: with fewer it refuses to open a database
_PORTION = 1 << 20  # bytes of rows between two looks at the memory
_HINT = "pass a larger memory=, or write its result into a table"
_SQL = re.compile(r"\s*(?:select|with|from|values|\()\b|\s*\(|.*\s", re.IGNORECASE | re.DOTALL)


def load(source: Source, options: ReadOptions) -> EdgeTable:
    """Load the edges of a database."""
    head = source.data[:16] if source.path == "-" else source.head[:16]
    if not head.startswith(_SQLITE) and head[8:12] != _DUCKDB:
        raise source.error("this is neither a SQLite nor a DuckDB database")
    name = "sqlite" if head.startswith(_SQLITE) else "duckdb"
    if options.format not in (None, name):
        raise source.error(f"format={options.format!r}, and this is a {name} database", argument="format")
    table = _load_sqlite(source, options) if name == "sqlite" else _load_duckdb(source, options)
    table.report["format"] = name
    return table


# A packed SQLite database is deserialized into memory; DuckDB has no such way, and must be unpacked into a file.
def _is_packed(source: Source) -> bool:
    """Return whether a database is not a file as it is: compressed, or from standard input."""
    if source.path == "-":
        return True
    with Path(source.path).open("rb") as file:
        return file.read(16) != source.head[:16]


def _load_sqlite(source: Source, options: ReadOptions) -> EdgeTable:
    with closing(_connect_sqlite(source)) as connection, _sql_errors(source, _SQLITE_ERRORS):
        names = (
            "select name from sqlite_master where type in ('table', 'view') and name not like 'sqlite\\_%' escape '\\'"
        )
        tables = [name for (name,) in connection.execute(f"{names} order by name") if isinstance(name, str)]
        query, note = _find_query(source, options.query, tables, _quote)
        connection.set_authorizer(_allow_reading)
        rows = connection.execute(query)
        columns = [column for column, *_ in rows.description or ()]
        table = edges_of_rows(columns, _watch_rows(source, rows), options)
    table.report["notes"] = [note]
    return table


def _watch_rows(source: Source, rows: Iterable[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    """Yield the rows, as long as the memory allows them: those of a view may be without end."""
    size = most = 0
    for row in rows:
        size += _CELL * len(row)
        if size > most:
            check_unpacked(source.name, size, "the table or query", hint=_HINT)
            most = size + _PORTION
        yield row


def _connect_sqlite(source: Source) -> sqlite3.Connection:
    """Return a connection that cannot write: to the file, or to its bytes if it is compressed."""
    path = Path(source.path)
    if _is_packed(source):
        connection = sqlite3.connect(":memory:")
        connection.deserialize(source.data)
        source.release()
        return connection
    log = path.with_name(path.name + "-wal")
    # With a write-ahead log even a reader writes files next to the database, unless it is declared immutable; that is
    # wrong while the log holds changes, which would not be read.
    logged = source.head[18:19] == b"\2"
    mode = "immutable=1" if logged and not log.exists() else "mode=ro"
    return sqlite3.connect(f"{path.resolve().as_uri()}?{mode}", uri=True)


def _allow_reading(action: int, *_: Any) -> int:
    return sqlite3.SQLITE_OK if action in _READING else sqlite3.SQLITE_DENY


def _load_duckdb(source: Source, options: ReadOptions) -> EdgeTable:
    require("duckdb", "reading DuckDB databases", "scale")
    import duckdb

    import_pyarrow("DuckDB")
    if _is_packed(source):
        raise source.error("a DuckDB database is opened where it is; unpack it into a file first")
    settings = _SAFE | {"memory_limit": f"{max(unpacked_limit(), _LEAST)}B"}
    errors = (duckdb.Error, OSError)  # the latter of batches
    with _sql_errors(source, errors), closing(duckdb.connect(source.path, read_only=True, config=settings)) as db:
        listing = "select table_schema, table_name from information_schema.tables order by all"
        tables = [name if schema == "main" else f"{schema}.{name}" for schema, name in db.execute(listing).fetchall()]
        query, note = _find_query(source, options.query, tables, _quote_parts)
        kinds = [statement.type for statement in db.extract_statements(query)]
        if kinds != [duckdb.StatementType.SELECT]:
            raise _writing_error(source, query)
        reader = stream_rows(db, query)
        result = gather_batches(source.name, reader.schema, reader, "the table or query", hint=_HINT)
    if not result.num_rows:
        raise source.error("there is no edge: the table or query has no rows", argument="query")
    table = edges_of_arrow(result, options)
    table.report["notes"] = [note]
    return table


def stream_rows(database: Any, query: str, rows: int = 1 << 16) -> Any:
    """Return a reader of the result of a query in a DuckDB database: batches of ``rows`` rows, by pyarrow."""
    result = database.sql(query)
    read = getattr(result, "to_arrow_reader", None) or result.fetch_arrow_reader  # the older name
    return read(rows)


def _find_query(source: Source, query: str | None, tables: list[str], quote: Callable[[str], str]) -> tuple[str, str]:
    """Return the query to run, and the words for it: that of the option, all of its table, or of the only table."""
    if query is None and len(tables) == 1:
        query = tables[0]
    listed = f"the tables are {list_names(tables)}" if tables else "there is no table in the database"
    if query is None:
        raise source.error(f"{listed}; pass query= with the one of the edges, or with a select", argument="query")
    if query in tables:
        return f"select * from {quote(query)}", f"table {query!r}"
    if not _SQL.match(query):
        raise source.error(f"query={query!r}: there is no such table; {listed}", argument="query")
    return query, "the result of a query"


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _quote_parts(name: str) -> str:
    """Return a table's name in quotes, its schema apart."""
    return ".".join(_quote(part) for part in name.split(".", 1))


@contextmanager
def _sql_errors(source: Source, kinds: tuple[type[Exception], ...]) -> Iterator[None]:
    """Turn errors of a database into errors of the file that name the query."""
    try:
        yield
    except InputError:  # which may be a ValueError, as some of the others are
        raise
    except kinds as error:
        if "authoriz" in str(error) or "prohibited" in str(error):
            raise _writing_error(source, str(error)) from None
        raise source.error(f"the database says: {' '.join(str(error).split())}", argument="query") from None


def _writing_error(source: Source, detail: str) -> FormatError:
    return source.error(f"query= must be one select, which reads and changes nothing: {detail}", argument="query")
