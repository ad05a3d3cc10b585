"""A table of a PostgreSQL server with pgvector: written in one transaction, read back bit for bit.

A table has a row for each node::

    row_index   bigint    the order of the rows
    node        bigint or text, the primary key
    side        text, 'source' or 'target', part of the key: bipartite graphs only
    degree      real: a piece of the state with a number for each node, where it is known
    vector      vector(dim)

Its comment is one line of JSON, ``{"graphrefine": {...}}``, with the recipe; by it a table is known as one of ours.
What a table cannot store (a NUL in a name, a duplicate name, more numbers than pgvector takes) the server refuses. The
address is that of libpq, which takes the rest from the environment (``PGPASSWORD``, ``~/.pgpass``, ``PGSERVICE``).
"""

from __future__ import annotations

import contextlib
import json
import re
import struct
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from graphrefine.embedding.formats import FORMAT_VERSION, SERVER, check_address, format_place
from graphrefine.embedding.formats.io import join_data
from graphrefine.embedding.state import COLUMNS, EmbeddingData
from graphrefine.errors import FormatError, GraphRefineError, InputError, OutputError
from graphrefine.graph.lookup import Sides
from graphrefine.graph.node_ids import Names

if TYPE_CHECKING:
    import psycopg
    from psycopg import sql

    Connection = psycopg.Connection[Any]

MARK = '{"graphrefine": '  # how the comment of every table of ours begins
TABLE = "embedding"  # the default name
EXTENSION = "CREATE EXTENSION IF NOT EXISTS vector"
_PATIENCE = 10  # seconds for a server to answer, unless the address says otherwise
_ROWS = 4096  # copied at a time
_IDENTIFIER_BYTES = 63  # PostgreSQL cuts longer names without an error


def table_name(path: str | Path) -> str:
    """Return a name for the table from that of a file."""
    return re.sub(r"\W+", "_", Path(path).name.partition(".")[0]).strip("_") or TABLE


def write(address: str, data: EmbeddingData, *, table: str = TABLE, index: bool = False, replace: bool = False) -> None:
    """Write a table, replacing one of ours in the same transaction; any other only with ``replace``."""
    _identifier(table)  # before a server is asked
    last, about = table.rpartition(".")[2], _describe(data)
    # Rows are copied into a table of another name, which replaces the old one at the end of the transaction: readers
    # see the old table or the new one. The other name is always the same, so that of two who write the same table at
    # once the second waits.
    hidden = f"{table.removesuffix(last)}graphrefine_new_{last.encode()[:40].decode(errors='ignore')}"
    fields = ", ".join(f"{name} {kind} NOT NULL" for name, kind in _column_types(about).items())
    # Bytes decide about order, so that an index survives when the server's system sorts letters in another way.
    fields = fields.replace("node text", 'node text COLLATE "C"')
    with connect(address, OutputError) as connection:
        comment = _comment_of(connection, table)
        if comment is not None and not replace and not comment.startswith(MARK):
            raise OutputError(f"graphrefine did not write the table {table!r}; choose another, or pass replace=True")
        connection.execute(EXTENSION)
        _run(connection, f"CREATE TABLE {{}} ({fields})", hidden)
        _copy_rows(connection, hidden, data, _column_types(about))
        _run(connection, "DROP TABLE IF EXISTS {}", table)
        _run(connection, "ALTER TABLE {} RENAME TO {}", hidden, last)
        key = "side, node" if "side" in about["columns"] else "node"
        _run(connection, f"ALTER TABLE {{}} ADD PRIMARY KEY ({key})", table)
        _run(connection, "CREATE UNIQUE INDEX ON {} (row_index)", table)
        _run(connection, "COMMENT ON TABLE {} IS {text}", table, text=json.dumps({"graphrefine": about}))
        if index:
            _run(connection, "CREATE INDEX ON {} USING hnsw (vector vector_cosine_ops)", table)


def read(address: str, *, table: str | None = None) -> EmbeddingData:
    """Read a table that graphrefine wrote, ``embedding`` if none is named."""
    table = table or TABLE
    with connect(address, InputError) as connection:
        about = _read_description(connection, address, table)
        types, dim = _column_types(about), int(about["dim"])
        # The order of the rows says their number and their side. Rows of one side may have been added or deleted since.
        has_sides, _ = types.pop("side", None), types.pop("row_index")
        columns: dict[str, list[Any]] = {name: [] for name in types if name != "vector"}
        blocks = [np.empty((0, dim), np.float32)]
        # Casts, because a binary copy of a column whose type was changed meanwhile would be other numbers.
        casts = ", ".join(f"{name}::{kind}" for name, kind in types.items())
        with _copy(connection, f"(SELECT {casts} FROM {{}} ORDER BY row_index) TO stdout", table, types) as source:
            rows = source.rows()
            while block := list(islice(rows, _ROWS)):
                *others, vectors = zip(*block, strict=True)
                for values, more in zip(columns.values(), others, strict=True):
                    values.extend(more)
                numbers = np.frombuffer(b"".join(vector[4:] for vector in vectors), ">f4")
                blocks.append(numbers.reshape(len(block), dim).astype(np.float32))
        names: Names = np.array(columns.pop("node"), object if types["node"] == "text" else np.int64)
        if has_sides and about["nodes"] != len(names):
            raise ValueError(f"{len(names):,} rows where {about['nodes']:,} are expected")
        state = {name: np.array(numbers, np.float32) for name, numbers in columns.items()}
        return join_data(format_place(address), names, np.concatenate(blocks), about, state=state)


def table_recipe(address: str, *, table: str) -> dict[str, Any] | None:
    """Return the recipe of a table; None if there is no such table."""
    with connect(address, OutputError) as connection:
        if _comment_of(connection, table) is None:
            return None
        return dict(_read_description(connection, address, table)["recipe"])


def update(address: str, data: EmbeddingData, *, every: Names, table: str = TABLE) -> None:
    """Update a table in one transaction by the rows that changed; rows of other nodes than ``every`` are deleted."""
    with connect(address, OutputError) as connection:
        about = _read_description(connection, address, table)
        types = _column_types(about)
        _run(connection, "LOCK TABLE {} IN SHARE ROW EXCLUSIVE MODE", table)
        fields = ", ".join(f"{name} {kind}" for name, kind in types.items())
        _run(connection, f"CREATE TEMPORARY TABLE graphrefine_changes ({fields}) ON COMMIT DROP")
        _copy_rows(connection, "graphrefine_changes", data, types)
        added = "SELECT (SELECT coalesce(max(row_index), -1) + 1 FROM {0}) + row_index, node, vector"
        insert = f"INSERT INTO {{0}} (row_index, node, vector) {added} FROM graphrefine_changes"
        _run(connection, f"{insert} ON CONFLICT (node) DO UPDATE SET vector = excluded.vector", table)
        gone = f"NOT EXISTS (SELECT FROM unnest({{kept}}::{types['node']}[]) AS kept (node) WHERE kept.node = t.node)"
        _run(connection, f"DELETE FROM {{}} AS t WHERE {gone}", table, kept=every.tolist())
        about.pop("fingerprint", None)  # of the rows before
        about |= {"nodes": len(every), "recipe": data.recipe}
        _run(connection, "COMMENT ON TABLE {} IS {text}", table, text=json.dumps({"graphrefine": about}))


def _column_types(about: dict[str, Any]) -> dict[str, str]:
    """Return the columns of a table and their types in SQL; KeyError for a column that is none of ours."""
    kinds = {"row_index": "bigint", "node": "text" if about["names"] == "strings" else "bigint", "side": "text"}
    kinds |= dict.fromkeys(COLUMNS, "real") | {"vector": f"vector({int(about['dim'])})"}
    return {name: kinds[name] for name in about["columns"]}


@contextlib.contextmanager
def _copy(connection: Connection, statement: str, table: str, types: dict[str, str]) -> Iterator[psycopg.Copy]:
    """Open a binary copy of columns, in which a vector is its length, 0, and its numbers in network order."""
    from psycopg import sql

    text = sql.SQL(f"COPY {statement} (FORMAT BINARY)").format(_identifier(table))
    with connection.cursor().copy(text) as copy:
        copy.set_types(["bytea" if name == "vector" else kind for name, kind in types.items()])
        yield copy


def _copy_rows(connection: Connection, table: str, data: EmbeddingData, types: dict[str, str]) -> None:
    head, count = struct.pack(">HH", data.vectors.shape[1], 0), len(data.names)
    columns = [np.arange(count), data.names, *data.state.columns().values()]
    if "side" in types:
        columns.insert(2, np.where(np.arange(count) < data.recipe["sources"], "source", "target"))
    with _copy(connection, f"{{}} ({', '.join(types)}) FROM stdin", table, types) as target:
        for first in range(0, count, _ROWS):
            rows = slice(first, first + _ROWS)
            vectors = [head + vector.tobytes() for vector in data.vectors[rows].astype(">f4")]
            for row in zip(*(column[rows].tolist() for column in columns), vectors, strict=True):
                target.write_row(row)


def _describe(data: EmbeddingData) -> dict[str, Any]:
    """Return all that is not in the rows of the table, for its comment."""
    side = ["side"] if Sides.from_recipe(data.recipe, data.vectors.shape).kind == "rows" else []
    about: dict[str, Any] = {"version": FORMAT_VERSION, "nodes": len(data.vectors), "dim": data.vectors.shape[1]}
    about["columns"] = ["row_index", "node", *side, *data.state.columns(), "vector"]
    about["names"] = "strings" if data.names.dtype == object else "integers"
    about |= {**data.state.texts(), "recipe": data.recipe}
    return about if data.fingerprint is None else {**about, "fingerprint": data.fingerprint}


def _read_description(connection: Connection, address: str, table: str) -> dict[str, Any]:
    """Return what the comment of a table says, locked against replacement; FormatError if it is not ours."""
    _run(connection, "LOCK TABLE {} IN ACCESS SHARE MODE", table)
    text = _comment_of(connection, table) or ""
    if not text.startswith(MARK):
        raise FormatError(format_place(address), f"the table {table!r} was not written by graphrefine")
    return dict(json.loads(text)["graphrefine"])


def _comment_of(connection: Connection, table: str) -> str | None:
    """Return the comment of a table, perhaps empty; None if there is no such table."""
    query = "SELECT coalesce(obj_description(oid, 'pg_class'), '') FROM to_regclass(%s) AS oid WHERE oid IS NOT NULL"
    row = connection.execute(query, [_identifier(table).as_string(connection)]).fetchone()
    return None if row is None else str(row[0])


def _run(connection: Connection, statement: str, *tables: str, **values: Any) -> None:
    """Run a statement of ours, in which each {} is the quoted name of a table, and {name} a value."""
    from psycopg import sql

    literals = {name: sql.Literal(value) for name, value in values.items()}
    connection.execute(sql.SQL(statement).format(*map(_identifier, tables), **literals))


def _identifier(table: str) -> sql.Identifier:
    """Return the name of a table, ``table`` or ``schema.table``; InputError if it cannot be one."""
    from psycopg import sql

    parts = table.split(".")
    if len(parts) > 2 or not all(part.isprintable() and 0 < len(part.encode()) <= _IDENTIFIER_BYTES for part in parts):
        raise InputError(f"table={table!r} is not NAME or SCHEMA.NAME of {_IDENTIFIER_BYTES} bytes", argument="table")
    return sql.Identifier(*parts)


@contextlib.contextmanager
def connect(address: str, kind: type[GraphRefineError]) -> Iterator[Connection]:
    """Open a connection in one transaction, and raise the server's errors as ours."""
    SERVER.check_package()
    import psycopg

    check_address(address)
    display = format_place(address)
    options = {"client_encoding": "UTF8", "application_name": "graphrefine", "connect_timeout": _PATIENCE}
    try:
        parameters = psycopg.conninfo.conninfo_to_dict(address)
    except psycopg.ProgrammingError:  # whose text repeats parts of the address, perhaps of the password
        raise kind(f"{display}: pass postgresql://user@host:port/database") from None
    try:
        connection = psycopg.connect(**{**options, **parameters})  # type: ignore[arg-type]  # libpq checks them
        with connection, connection.transaction():
            yield connection
    except psycopg.Error as error:
        # Further lines are where in our statement the problem is; the detail says which name is a duplicate.
        line = (error.diag.message_primary or str(error)).strip().partition("\n")[0]
        detail = f" ({error.diag.message_detail})" if error.diag.message_detail else ""
        raise kind(f"{display}: {line}{detail}; nothing was changed") from error
    except GraphRefineError:
        raise
    except UnicodeEncodeError as error:
        raise kind(f"{display}: {error.object[:60]!r} was not valid UTF-8 in its file; rename the node") from None
    except (ValueError, TypeError, LookupError, AttributeError, struct.error) as error:
        raise FormatError(display, f"the table is not what graphrefine wrote: {error}") from error
