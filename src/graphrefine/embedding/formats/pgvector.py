"""A table of a PostgreSQL server with pgvector: written in one transaction, read back bit for bit.

A table has a row for each node::

    row_index   bigint    the order of the rows
    node        bigint or text, the primary key
    side        text, 'source' or 'target', part of the key: bipartite graphs only
    degree      real: a piece of the state with a number for each node, where it is known
    vector      vector(dim)

Its comment is one line of JSON, ``{"graphrefine": {...}}``, with the recipe; by it a table is known as one of ours.
Rows are copied into a table of another name, which replaces the old one at the end of the transaction: readers see the
old table or the new one, and an interruption changes nothing.

The address is that of libpq, ``postgresql://user@host:port/database``; what it leaves out, the password above all, is
taken from the environment (``PGPASSWORD``, ``~/.pgpass``, ``PGSERVICE``). No message repeats a password.
"""

from __future__ import annotations

import contextlib
import json
import re
import struct
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from graphrefine.embedding.formats import FORMAT_VERSION, check_address, format_address
from graphrefine.embedding.formats.io import join_data
from graphrefine.embedding.state import COLUMNS, EmbeddingData
from graphrefine.errors import FormatError, GraphRefineError, InputError, MissingExtraError, OutputError
from graphrefine.graph.lookup import Sides
from graphrefine.graph.node_ids import Names
from graphrefine.search.vectors import check_finite

if TYPE_CHECKING:
    import psycopg
    from psycopg import sql

    Connection = psycopg.Connection[Any]

MARK = '{"graphrefine": '  # how the comment of every table of ours begins
TABLE = "embedding"  # the default name
EXTENSION = "CREATE EXTENSION IF NOT EXISTS vector"
_PATIENCE = 10  # seconds for a server to answer, unless the address says otherwise
_ROWS = 4096  # copied at a time
_MOST_NUMBERS, _MOST_INDEXED = 16_000, 2_000  # in a vector of pgvector, and in one of its indices
_MOST_BYTES = 2_600  # of a name: an entry of PostgreSQL's btree must fit a third of a page
_IDENTIFIER_BYTES = 63
_WAYS_OUT = {  # by SQLSTATE
    "42501": "ask its owner for the right, or choose another schema with table='schema.name'",
    "42704": "an index needs pgvector 0.5 or newer; update it, or leave the index out",
    "2BP01": "drop what depends on it, or choose another table; nothing was changed",
}
_NO_EXTENSION = ("0A000", "58P01")  # of servers of different age without pgvector


def check(names: Names) -> None:
    """Refuse names that a key of PostgreSQL cannot store."""
    for name in names:
        try:
            size = len(name.encode())
        except UnicodeEncodeError:
            problem = "was not valid UTF-8 in its file"
        else:
            if "\0" not in name and size <= _MOST_BYTES:
                continue
            problem = "has a NUL character" if "\0" in name else f"is {size:,} bytes long; {_MOST_BYTES:,} fit a key"
        raise InputError(
            f"the name {name[:60]!r} {problem}, which PostgreSQL cannot store; rename the node, or save as .npz, "
            ".safetensors or a folder"
        )


def table_name(path: str | Path) -> str:
    """Return a name for the table from that of a file.

    Examples
    --------
    >>> table_name("out/my-friends.csv.gz"), table_name("2026.parquet")
    ('my_friends', '2026')
    """
    stem = Path(path).name.partition(".")[0]
    name = re.sub(r"\W+", "_", stem.encode("utf-8", "replace").decode()).strip("_")
    return name.encode()[:_IDENTIFIER_BYTES].decode(errors="ignore") or TABLE


def check_writable(address: str, *, table: str = TABLE, replace: bool = False) -> None:
    """Raise OutputError if the table could not be written: no server, no pgvector, a table of somebody else."""
    with connect(address, OutputError, keep=False) as connection:
        _check_replaceable(connection, table, replace=replace)
        connection.execute(EXTENSION)


def write(address: str, data: EmbeddingData, *, table: str = TABLE, index: bool = False, replace: bool = False) -> None:
    """Write a table, replacing one of ours in the same transaction; any other only with ``replace``."""
    _check_data(data, index=index)
    _identifier(table)  # before a server is asked
    last, columns = table.rpartition(".")[2], _columns(data)
    # The same temporary name each time, so that of two who write the same table at once the second waits.
    hidden = f"{table.removesuffix(last)}graphrefine_new_{last.encode()[:40].decode(errors='ignore')}"
    kinds = _kinds(columns, data.vectors.shape[1], has_text=data.names.dtype == object)
    kinds["node"] = kinds["node"].replace("text", 'text COLLATE "C"')
    fields = ", ".join(f"{name} {kind} NOT NULL" for name, kind in kinds.items())
    with connect(address, OutputError) as connection:
        _check_replaceable(connection, table, replace=replace)
        connection.execute(EXTENSION)
        _run(connection, f"CREATE TABLE {{}} ({fields})", hidden)
        _copy_rows(connection, hidden, data)
        _run(connection, "DROP TABLE IF EXISTS {}", table)
        _run(connection, "ALTER TABLE {} RENAME TO {}", hidden, last)
        _run(connection, f"ALTER TABLE {{}} ADD PRIMARY KEY ({'side, ' * ('side' in columns)}node)", table)
        _run(connection, "CREATE UNIQUE INDEX ON {} (row_index)", table)
        _comment(connection, table, _describe(data))
        if index:
            _run(connection, "CREATE INDEX ON {} USING hnsw (vector vector_cosine_ops)", table)


def read(address: str, *, table: str | None = None) -> EmbeddingData:
    """Read a table that graphrefine wrote; the only one there is, if none is named."""
    with connect(address, InputError) as connection:
        tables = _list_tables(connection)
        ours = f"tables of graphrefine there: {', '.join(tables)}" if tables else "graphrefine has written none there"
        if table is None and len(tables) != 1:
            raise FormatError(format_address(address), f"pass table=, the one to read; {ours}", argument="table")
        table = tables[0] if table is None else table
        if not _exists(connection, table):
            raise FormatError(format_address(address), f"there is no table {table!r}; {ours}")
        _run(connection, "LOCK TABLE {} IN ACCESS SHARE MODE", table)
        about = _read_description(connection, address, table)
        columns, kinds = about["columns"], _kinds(about["columns"], about["dim"], has_text=about["names"] == "strings")
        names: list[Any] = []
        blocks = [np.empty((0, about["dim"]), np.float32)]
        state: dict[str, list[float]] = {name: [] for name in COLUMNS if name in columns}
        casts = ", ".join(f"{name}::{kind}" for name, kind in kinds.items())  # other programs may have changed a type
        query = f"COPY (SELECT {casts} FROM {{}} ORDER BY row_index) TO stdout (FORMAT BINARY)"
        with connection.cursor().copy(_compose(query, table)) as source:
            source.set_types(_codes(kinds))
            rows = source.rows()
            while block := list(islice(rows, _ROWS)):
                numbers = np.frombuffer(b"".join(row[-1][4:] for row in block), ">f4")
                blocks.append(numbers.reshape(len(block), about["dim"]).astype(np.float32))
                names += [row[1] for row in block]
                for name, values in state.items():
                    values += [row[columns.index(name)] for row in block]
        if about["nodes"] not in (None, len(names)):
            raise ValueError(f"{len(names):,} rows where {about['nodes']:,} are expected")
        array: Names = np.empty(len(names), object if about["names"] == "strings" else np.int64)
        array[:] = names
        arrays = {name: np.array(values, np.float32) for name, values in state.items()}
        return join_data(format_address(address), array, np.concatenate(blocks), about, state=arrays)


def table_recipe(address: str, *, table: str) -> dict[str, Any] | None:
    """Return the recipe of a table; None if there is no such table."""
    with connect(address, OutputError) as connection:
        return dict(_read_description(connection, address, table)["recipe"]) if _exists(connection, table) else None


def update(address: str, data: EmbeddingData, *, every: Names, table: str = TABLE) -> None:
    """Bring a table that `write` made up to date, in one transaction; its other rows, indices and name stay.

    ``data`` are the rows that changed, without state; ``every`` are the names of all nodes: rows of others are deleted.
    The comment of the table has the new recipe afterwards, by which the next update knows where to go on.
    """
    _check_data(data)
    columns, dim = _columns(data), data.vectors.shape[1]
    with connect(address, OutputError) as connection:
        about = _read_description(connection, address, table)
        kind = ("strings" if data.names.dtype == object else "integers") if len(data.names) else about["names"]
        if about["columns"] != columns or about["dim"] != dim or about["names"] != kind:
            raise FormatError(
                format_address(address),
                f"the table {table!r} has other columns, names or lengths of vectors than these ({dim} numbers, names "
                f"are {kind}); choose another table, or write it again with --replace",
            )
        node = "text" if kind == "strings" else "bigint"
        _run(connection, "LOCK TABLE {} IN SHARE ROW EXCLUSIVE MODE", table)
        fields = f"row_index bigint, node {node}, vector vector({dim})"
        _run(connection, f"CREATE TEMPORARY TABLE graphrefine_changes ({fields}) ON COMMIT DROP")
        _copy_rows(connection, "graphrefine_changes", data)
        _run(
            connection,
            "INSERT INTO {0} (row_index, node, vector) SELECT (SELECT coalesce(max(row_index), -1) + 1 FROM {0}) + "
            "row_index, node, vector FROM graphrefine_changes "
            "ON CONFLICT (node) DO UPDATE SET vector = excluded.vector",
            table,
        )
        if _count(connection, table) != len(every):
            _run(connection, f"CREATE TEMPORARY TABLE graphrefine_nodes (node {node} PRIMARY KEY) ON COMMIT DROP")
            with connection.cursor().copy("COPY graphrefine_nodes FROM stdin") as target:
                for name in every.tolist():
                    target.write_row((name,))
            gone = "DELETE FROM {} AS t WHERE NOT EXISTS (SELECT FROM graphrefine_nodes n WHERE n.node = t.node)"
            _run(connection, gone, table)
        about = {name: value for name, value in about.items() if name != "fingerprint"}
        _comment(connection, table, {**about, "nodes": _count(connection, table), "recipe": data.recipe})


def _check_data(data: EmbeddingData, *, index: bool = False) -> None:
    """Refuse what a table cannot store."""
    dim = data.vectors.shape[1]
    if not 1 <= dim <= _MOST_NUMBERS:
        raise InputError(f"the vectors have {dim:,} numbers; those of pgvector have 1 to {_MOST_NUMBERS:,}")
    if index and dim > _MOST_INDEXED:
        raise InputError(
            f"index=True: pgvector's HNSW takes vectors of up to {_MOST_INDEXED:,} numbers, and these have {dim:,}; "
            "leave the index out, or embed with a smaller dim",
            argument="index",
        )
    check_finite(data.vectors, data.names)
    start = _start_of_targets(data)
    for side, rows in {"source": slice(0, start), "target": slice(start, None)}.items():
        names = data.names[rows].tolist()
        if len(set(names)) < len(names):
            twice, where = Counter(names).most_common(1)[0][0], f" of the {side} side" if start else ""
            raise InputError(f"duplicate name {twice!r}{where}, which is the key of the table; rename one")


def _start_of_targets(data: EmbeddingData) -> int:
    """Return the first row of the targets of a bipartite graph; 0 of any other."""
    sides = Sides.of(data.recipe, data.vectors.shape)
    return sides.start if sides.kind == "rows" else 0


def _columns(data: EmbeddingData) -> list[str]:
    side = ["side"] if Sides.of(data.recipe, data.vectors.shape).kind == "rows" else []
    return ["row_index", "node", *side, *data.state.columns(), "vector"]


def _kinds(columns: list[str], dim: int, *, has_text: bool) -> dict[str, str]:
    """Return the types of columns in SQL."""
    kinds = {
        "row_index": "bigint",
        "node": "text" if has_text else "bigint",
        "side": "text",
        "vector": f"vector({dim})",
    }
    return {name: kinds.get(name, "real") for name in columns}


def _codes(kinds: dict[str, str]) -> list[str]:
    """Return the types of columns in a binary copy; a vector is the bytes that it has there."""
    return ["bytea" if kind.startswith("vector") else {"bigint": "int8", "real": "float4"}.get(kind, kind)
            for kind in kinds.values()]  # fmt: skip


def _copy_rows(connection: Connection, table: str, data: EmbeddingData) -> None:
    # In binary a vector is its length, 0, and its numbers in network order: bit for bit, with no decimals to parse.
    columns, start = _columns(data), _start_of_targets(data)
    head = struct.pack(">HH", data.vectors.shape[1], 0)
    command = _compose(f"COPY {{}} ({', '.join(columns)}) FROM stdin (FORMAT BINARY)", table)
    with connection.cursor().copy(command) as target:
        target.set_types(_codes(_kinds(columns, data.vectors.shape[1], has_text=data.names.dtype == object)))
        for first in range(0, len(data.names), _ROWS):
            rows = range(first, min(first + _ROWS, len(data.names)))
            part = slice(rows.start, rows.stop)
            fields: list[Iterable[Any]] = [rows, data.names[part].tolist()]
            if "side" in columns:
                fields.append("source" if row < start else "target" for row in rows)
            fields += [column[part].tolist() for column in data.state.columns().values()]
            fields.append(head + vector.tobytes() for vector in data.vectors[part].astype(">f4"))
            for row in zip(*fields, strict=True):
                target.write_row(row)


def _describe(data: EmbeddingData) -> dict[str, Any]:
    """Return all that is not in the rows of the table, for its comment."""
    about: dict[str, Any] = {"version": FORMAT_VERSION, "nodes": len(data.vectors), "dim": data.vectors.shape[1]}
    about |= {"columns": _columns(data), "names": "strings" if data.names.dtype == object else "integers"}
    about |= {**data.state.texts(), "recipe": data.recipe}
    return about if data.fingerprint is None else {**about, "fingerprint": data.fingerprint}


def _read_description(connection: Connection, address: str, table: str) -> dict[str, Any]:
    """Return what the comment of a table of ours says; FormatError if it is none."""
    text = _comment_of(connection, table)
    if not text.startswith(MARK):
        raise FormatError(
            format_address(address),
            f"the table {table!r} was not written by graphrefine; export it as csv or parquet (a column node, the "
            "numbers after it) and convert that",
        )
    try:
        about = dict(json.loads(text)["graphrefine"])
        known = {"row_index", "node", "side", "vector", *COLUMNS}
        if about["columns"][:2] != ["row_index", "node"] or about["columns"][-1] != "vector":
            raise ValueError("the columns are not those of an embedding")
        if not known >= set(about["columns"]):
            raise ValueError("has columns that this graphrefine does not know")
        # Rows of a table without two sides may have been added or deleted since.
        count = about["nodes"] if about["recipe"].get("sides") == "rows" else None
        return {**about, "nodes": count, "dim": int(about["dim"]), "names": str(about["names"])}
    except (LookupError, TypeError, AttributeError) as error:
        raise ValueError(f"its comment is damaged ({type(error).__name__}: {error})") from error


def _check_replaceable(connection: Connection, table: str, *, replace: bool) -> None:
    if _exists(connection, table) and not replace and not _comment_of(connection, table).startswith(MARK):
        raise OutputError(
            f"there is a table {table!r} that graphrefine did not write; choose another, or pass replace=True",
        )


def _list_tables(connection: Connection) -> list[str]:
    query = (
        "SELECT c.relname FROM pg_class c WHERE c.relkind = 'r' AND pg_table_is_visible(c.oid) "
        "AND starts_with(obj_description(c.oid, 'pg_class'), %s) ORDER BY 1"
    )
    return [name for (name,) in connection.execute(query, [MARK])]


def _exists(connection: Connection, table: str) -> bool:
    quoted = _identifier(table).as_string(connection)
    return connection.execute("SELECT to_regclass(%s)", [quoted]).fetchone() != (None,)


def _count(connection: Connection, table: str) -> int:
    (count,) = connection.execute(_compose("SELECT count(*) FROM {}", table)).fetchone() or (0,)
    return int(count)


def _comment_of(connection: Connection, table: str) -> str:
    query = "SELECT obj_description(to_regclass(%s), 'pg_class')"
    (text,) = connection.execute(query, [_identifier(table).as_string(connection)]).fetchone() or (None,)
    return text or ""


def _comment(connection: Connection, table: str, about: dict[str, Any]) -> None:
    from psycopg import sql

    text = json.dumps({"graphrefine": about}, allow_nan=False)
    connection.execute(sql.SQL("COMMENT ON TABLE {} IS {}").format(_identifier(table), sql.Literal(text)))


def _run(connection: Connection, statement: str, *tables: str) -> None:
    connection.execute(_compose(statement, *tables))


def _compose(statement: str, *tables: str) -> sql.Composed:
    """Return a statement of ours, in which each {} is the quoted name of a table."""
    from psycopg import sql

    return sql.SQL(statement).format(*map(_identifier, tables))


def _identifier(table: str) -> sql.Identifier:
    """Return the name of a table, ``table`` or ``schema.table``; InputError if it cannot be one."""
    from psycopg import sql

    parts = table.split(".")
    for part in parts:
        if not (part and part.isprintable() and len(part.encode()) <= _IDENTIFIER_BYTES and len(parts) <= 2):
            raise InputError(
                f"table={table!r}: a name of 1 to {_IDENTIFIER_BYTES} bytes, all printable, is expected, or "
                "schema.table of two such",
                argument="table",
            )
    return sql.Identifier(*parts)


@contextlib.contextmanager
def connect(address: str, kind: type[GraphRefineError], *, keep: bool = True) -> Iterator[Connection]:
    """Open a connection in one transaction, undone unless ``keep``, and raise the server's errors as ours."""
    try:
        import psycopg
    except ModuleNotFoundError:
        raise MissingExtraError("a PostgreSQL server", "psycopg", "postgres") from None
    check_address(address)
    display = format_address(address)
    try:
        options = {"client_encoding": "UTF8", "application_name": "graphrefine", "connect_timeout": _PATIENCE}
        parameters = psycopg.conninfo.conninfo_to_dict(address)
        connection = psycopg.connect(**{**options, **parameters})  # type: ignore[arg-type]  # libpq checks them
    except psycopg.ProgrammingError:  # its text would repeat parts of the address
        problem = "is no address that PostgreSQL understands: postgresql://user@host:port/database"
        raise kind(f"{display}: {problem}") from None
    except psycopg.Error as error:
        raise kind(f"{display}: cannot connect: {_first_line(error)}; is it up, and the address right?") from None
    with contextlib.closing(connection):
        try:
            with connection.transaction(force_rollback=not keep):
                yield connection
        except psycopg.Error as error:
            if isinstance(error, psycopg.DataError) and kind is InputError:  # a cast failed
                raise FormatError(display, f"the table is not what graphrefine wrote: {_first_line(error)}") from error
            way_out = _WAYS_OUT.get(error.sqlstate or "", "nothing was changed")
            if error.sqlstate in _NO_EXTENSION and "extension" in str(error):
                way_out = "install pgvector on the server (Debian: apt install postgresql-<version>-pgvector)"
            raise kind(f"{display}: {_first_line(error)}; {way_out}") from error
        except (ValueError, TypeError, struct.error) as error:
            if isinstance(error, GraphRefineError):
                raise
            raise FormatError(display, f"the table is not what graphrefine wrote: {error}") from error


def _first_line(error: psycopg.Error) -> str:
    text = error.diag.message_primary or str(error)
    return " ".join(text.strip().splitlines()[0].split()) if text.strip() else type(error).__name__
