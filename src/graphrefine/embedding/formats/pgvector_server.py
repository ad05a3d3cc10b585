"""A table of a PostgreSQL server with pgvector: written in one transaction, read back bit for bit.

The address is that of libpq, ``postgresql://user@host:port/database``; what it leaves out, the password above all, is
taken from the environment (``PGPASSWORD``, ``~/.pgpass``, ``PGSERVICE``), as ``psql`` does. No message repeats a
password.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from graphrefine.embedding.formats import check_address, format_address
from graphrefine.embedding.formats import pgvector_sql as sql
from graphrefine.embedding.formats.pgvector_rows import gather, lines
from graphrefine.embedding.table import Parts
from graphrefine.errors import FormatError, GraphRefineError, InputError, MissingExtraError, OutputError

if TYPE_CHECKING:
    import psycopg

check = sql.check
_PATIENCE = 10  # seconds for a server to answer, unless the address says otherwise
_BYTES_AT_ONCE = 1 << 22
_NO_EXTENSION = ("0A000", "58P01")  # what servers of different age say where pgvector is not installed
_NO_RIGHT = "42501"
_NO_METHOD = "42704"
_IN_USE = "2BP01"
_OURS = (
    "SELECT c.relname FROM pg_class c JOIN pg_description d ON d.objoid = c.oid AND d.objsubid = 0 "
    "AND d.classoid = 'pg_class'::regclass WHERE c.relkind = 'r' AND left(d.description, length(%s)) = %s "
    "AND pg_table_is_visible(c.oid) ORDER BY 1"
)


def check_place(address: str, *, table: str = sql.TABLE, replace: bool = False) -> None:
    """Raise OutputError if the table could not be written: no server, no pgvector, a table of somebody else."""
    with connect(address, OutputError, keep=False) as connection:
        _prepare(connection, table, replace=replace)
        run(connection, sql.EXTENSION)


def write(address: str, parts: Parts, *, table: str = sql.TABLE, index: bool = False, replace: bool = False) -> None:
    """Write a table, replacing one of ours in the same transaction; any other only with ``replace``."""
    sql.check_parts(parts, index=index)
    sql.identifier(table)
    with connect(address, OutputError) as connection:
        _prepare(connection, table, replace=replace)
        run(connection, sql.before(parts, table=table))
        with connection.cursor().copy(sql.copy(parts, table=table).encode()) as target:
            for block in lines(parts):
                target.write(block)
        run(connection, sql.after(parts, table=table, index=index))


def _prepare(connection: psycopg.Connection[Any], table: str, *, replace: bool) -> None:
    run(connection, sql.SETTINGS + ("" if replace else sql.guard(table, option="replace=True")))


def run(connection: psycopg.Connection[Any], statements: str) -> None:
    """Run statements that were put together here; as bytes, so that no % in them is taken for a parameter."""
    connection.execute(statements.encode())


def read(address: str, *, table: str | None = None) -> Parts:
    """Read a table that graphrefine wrote; the only one there is, if none is named."""
    with connect(address, InputError) as connection:
        if table is None:
            table = _only_table(connection, address)
        elif connection.execute("SELECT to_regclass(%s)", [sql.identifier(table)]).fetchone() == (None,):
            raise FormatError(format_address(address), f"there is no table {table!r}{_others(connection)}")
        name = sql.identifier(table)
        run(connection, f"SET LOCAL extra_float_digits = 3; LOCK TABLE {name} IN ACCESS SHARE MODE")
        description = description_of(connection, address, table)
        columns = ", ".join('"' + column.replace('"', '""') + '"' for column in description["columns"])
        query = f"COPY (SELECT {columns} FROM {name} ORDER BY row_index) TO stdout"
        with connection.cursor().copy(query.encode()) as source:
            return gather(_blocks(source), description)


def _only_table(connection: psycopg.Connection[Any], address: str) -> str:
    tables = _tables(connection)
    if len(tables) != 1:
        which = f"tables of graphrefine there: {', '.join(tables)}" if tables else "graphrefine has written none there"
        raise FormatError(format_address(address), f"say table=, the one to read; {which}", argument="table")
    return tables[0]


def _tables(connection: psycopg.Connection[Any]) -> list[str]:
    return [name for (name,) in connection.execute(_OURS, [sql.MARK, sql.MARK])]


def _others(connection: psycopg.Connection[Any]) -> str:
    tables = _tables(connection)
    return f"; those of graphrefine are: {', '.join(tables)}" if tables else "; graphrefine has written none there"


def description_of(connection: psycopg.Connection[Any], address: str, table: str) -> dict[str, Any]:
    """What the comment of a table of ours says; FormatError if it is none."""
    query = "SELECT obj_description(to_regclass(%s), 'pg_class')"
    (text,) = connection.execute(query, [sql.identifier(table)]).fetchone() or (None,)
    if text is None or not text.startswith(sql.MARK):
        raise FormatError(
            format_address(address),
            f"the table {table!r} was not written by graphrefine{_others(connection)}; export it as csv or parquet "
            "(a column node, the numbers after it) and convert that",
        )
    description = sql.parse_description(text)
    if description["recipe"].get("sides") != "rows":
        description["nodes"] = None  # rows may have been added or deleted
    return description


def _blocks(source: Any) -> Iterator[bytes]:
    """Some lines at a time: the server sends them one by one."""
    held: list[bytes] = []
    size = 0
    for data in source:
        held.append(bytes(data))
        size += len(held[-1])
        if size >= _BYTES_AT_ONCE:
            yield b"".join(held)
            held, size = [], 0
    if held:
        yield b"".join(held)


@contextlib.contextmanager
def connect(address: str, kind: type[GraphRefineError], *, keep: bool = True) -> Iterator[psycopg.Connection[Any]]:
    """A connection in one transaction, undone unless ``keep``, and the server's errors in our words."""
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
            problem = f"{display}: {_first_line(error)}; {_way_out(error)}"
            raise kind(problem) from error
        except ValueError as error:
            if isinstance(error, GraphRefineError):
                raise
            raise FormatError(display, f"the table is not what graphrefine wrote: {error}") from error


def _first_line(error: psycopg.Error) -> str:
    text = error.diag.message_primary or str(error)
    return " ".join(text.strip().splitlines()[0].split()) if text.strip() else type(error).__name__


def _way_out(error: psycopg.Error) -> str:
    code, text = error.sqlstate, _first_line(error)
    if code in _NO_EXTENSION and "extension" in text:
        return "install pgvector on the server (Debian: apt install postgresql-<version>-pgvector)"
    if code == _NO_METHOD and "hnsw" in text:
        return "an index needs pgvector 0.5 or newer; update it, or leave the index out"
    if code == _NO_RIGHT:
        return "ask its owner for the right, or choose another schema with table='schema.name'"
    if code == _IN_USE:
        return "drop what depends on it, or choose another table; nothing was changed"
    return "nothing was changed"
