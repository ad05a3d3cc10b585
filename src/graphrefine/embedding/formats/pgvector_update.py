"""Rows of a table of PostgreSQL brought up to date: those that changed are put in, those that are gone go.

The table must be one that graphrefine wrote (`pgvector_server.write`), with vectors as long and names of the same kind;
its other rows, its indices and its place stay. All of it is one transaction, and the table's comment then has the new
recipe, by which the next update knows where to go on.
"""

from __future__ import annotations

from typing import Any

from graphrefine.embedding.formats import format_address
from graphrefine.embedding.formats import pgvector_sql as sql
from graphrefine.embedding.formats.pgvector_rows import columns, lines
from graphrefine.embedding.formats.pgvector_server import connect, description_of, run
from graphrefine.embedding.table import Parts
from graphrefine.errors import FormatError, OutputError
from graphrefine.graph.node_ids import Names


def table_recipe(address: str, *, table: str) -> dict[str, Any] | None:
    """The recipe of a table; None if there is no such table."""
    with connect(address, OutputError) as connection:
        if connection.execute("SELECT to_regclass(%s)", [sql.identifier(table)]).fetchone() == (None,):
            return None
        return dict(description_of(connection, address, table)["recipe"])


def update(address: str, parts: Parts, *, every: Names, table: str = sql.TABLE) -> None:
    """Put the rows of ``parts`` into a table, each in the place of the row of its node if there is one.

    Parameters
    ----------
    address
        The server.
    parts
        Names, vectors and recipe of the rows that changed; no columns beside.
    every
        Names of all nodes that are there; rows of others go.
    table
        The table.
    """
    sql.check_parts(parts)
    with connect(address, OutputError) as connection:
        run(connection, sql.SETTINGS)
        description = description_of(connection, address, table)
        _check_table(description, parts, address, table)
        name, listed = sql.identifier(table), ", ".join(columns(parts))
        node = "text" if description["names"] == "strings" else "bigint"
        fields = f"row_index bigint, node {node}, vector vector({parts.vectors.shape[1]})"
        run(connection, f"LOCK TABLE {name} IN SHARE ROW EXCLUSIVE MODE")
        run(connection, f"CREATE TEMPORARY TABLE graphrefine_changes ({fields}) ON COMMIT DROP")
        with connection.cursor().copy(f"COPY graphrefine_changes ({listed}) FROM stdin".encode()) as target:
            for block in lines(parts):
                target.write(block)
        first = f"(SELECT coalesce(max(row_index), -1) + 1 FROM {name})"
        run(
            connection,
            f"INSERT INTO {name} ({listed}) SELECT {first} + row_index, node, vector FROM graphrefine_changes "
            "ON CONFLICT (node) DO UPDATE SET vector = excluded.vector",
        )
        count = _count(connection, name)
        if count != len(every):
            _keep_only(connection, name, every, node)
            count = _count(connection, name)
        run(connection, f"COMMENT ON TABLE {name} IS {sql.literal(sql.describe_again(description, parts, count))}")


def _count(connection: Any, name: str) -> int:
    return int(connection.execute(f"SELECT count(*) FROM {name}".encode()).fetchone()[0])


def _keep_only(connection: Any, name: str, every: Names, node: str) -> None:
    """Delete the rows of all other nodes."""
    run(connection, f"CREATE TEMPORARY TABLE graphrefine_nodes (node {node} PRIMARY KEY) ON COMMIT DROP")
    with connection.cursor().copy(b"COPY graphrefine_nodes FROM stdin") as target:
        for each in every.tolist():
            target.write_row((each,))
    run(connection, f"DELETE FROM {name} AS t WHERE NOT EXISTS (SELECT FROM graphrefine_nodes n WHERE n.node = t.node)")


def _check_table(description: dict[str, Any], parts: Parts, address: str, table: str) -> None:
    """Raise FormatError unless rows of these parts can stand in a table."""
    names = "strings" if parts.names.dtype == object else "integers"
    names = names if len(parts.names) else description["names"]
    dim = parts.vectors.shape[1]
    if description["columns"] != columns(parts) or description["dim"] != dim or description["names"] != names:
        raise FormatError(
            format_address(address),
            f"the table {table!r} has other columns, names or lengths of vectors than these ({dim} numbers, names are "
            f"{names}); choose another table, or write it anew with --replace",
        )
