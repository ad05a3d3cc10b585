"""SQL for PostgreSQL with pgvector: the statements that put an embedding into a table.

A table has a row a node::

    row_index   bigint    the order of the rows
    node        bigint or text, the primary key
    side        text, 'source' or 'target', part of the key: bipartite graphs only
    degree      real: a piece of the state with a number for each node, where it is known
    vector      vector(dim)

Its comment is one line of JSON, ``{"graphrefine": {...}}``, with the recipe; by it a table is known as one of ours.
Rows are filled into a table of another name, which takes the place of the old one at the end: all in one transaction,
so that whoever looks sees the old table or the new one, and an interruption changes nothing.

Names of nodes stand in the data of ``COPY`` (`pgvector_rows`), never in a statement; that of the table is quoted.
"""

from __future__ import annotations

import json
import re
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

from graphrefine.embedding.formats import FORMAT_VERSION
from graphrefine.embedding.formats.pgvector_rows import columns, sides_of
from graphrefine.embedding.table import Parts, check_finite
from graphrefine.errors import InputError
from graphrefine.graph.node_ids import Names
from graphrefine.system.versions import version_problem

MARK = '{"graphrefine": '  # what the comment of every table of ours begins with
TABLE = "embedding"  # its name where nothing else is known
MOST_NUMBERS = 16_000  # in a vector of pgvector
MOST_INDEXED = 2_000  # in one that its indices take
SETTINGS = "SET LOCAL standard_conforming_strings = on;\nSET LOCAL client_min_messages = warning;\n"
EXTENSION = "CREATE EXTENSION IF NOT EXISTS vector;\n"
_MOST_BYTES = 2_600  # of a name: an entry of PostgreSQL's btree must fit a third of a page
_IDENTIFIER_BYTES = 63


def check(names: Names) -> None:
    """Refuse names that a key of PostgreSQL cannot hold."""
    for name in names:
        try:
            size = len(name.encode())
        except UnicodeEncodeError:
            problem = "was not valid UTF-8 in its file"
        else:
            if "\0" not in name and size <= _MOST_BYTES:
                continue
            problem = "holds a NUL character" if "\0" in name else f"is {size:,} bytes long; {_MOST_BYTES:,} fit a key"
        raise InputError(
            f"the name {name[:60]!r} {problem}, which PostgreSQL cannot keep; rename the node, or save as .npz, "
            ".safetensors or a folder"
        )


def check_parts(parts: Parts, *, index: bool = False) -> None:
    """Refuse what a table cannot hold."""
    dim = parts.vectors.shape[1]
    if not 1 <= dim <= MOST_NUMBERS:
        raise InputError(f"the vectors have {dim:,} numbers; those of pgvector have 1 to {MOST_NUMBERS:,}")
    if index and dim > MOST_INDEXED:
        raise InputError(
            f"index=True: pgvector's HNSW takes vectors of up to {MOST_INDEXED:,} numbers, and these have {dim:,}; "
            "leave the index out, or embed with a smaller dim",
            argument="index",
        )
    check_finite(parts.vectors, parts.names)
    for side, rows in sides_of(parts).items():
        names = parts.names[rows].tolist()
        if len(set(names)) < len(names):
            twice = Counter(names).most_common(1)[0][0]
            where = f" of the {side} side" if side else ""
            raise InputError(f"the name {twice!r} stands for several rows{where}, but is the key of the table; rename")


def literal(text: str) -> str:
    """Text as a constant of SQL, with ``standard_conforming_strings``.

    Examples
    --------
    >>> print(literal("it's"))
    'it''s'
    """
    return "'" + text.replace("'", "''") + "'"


def identifier(table: str) -> str:
    """The name of a table, ``table`` or ``schema.table``, quoted; InputError if it cannot be one.

    Examples
    --------
    >>> print(identifier('my "best" friends'), identifier("public.People"))
    "my ""best"" friends" "public"."People"
    """
    parts = table.split(".")
    for part in parts:
        if not (part and part.isprintable() and len(part.encode()) <= _IDENTIFIER_BYTES and len(parts) <= 2):
            raise InputError(
                f"table={table!r}: a name of 1 to {_IDENTIFIER_BYTES} bytes, all printable, is expected, or "
                "schema.table of two such",
                argument="table",
            )
    return ".".join('"' + part.replace('"', '""') + '"' for part in parts)


def table_name(place: str | Path) -> str:
    """A name for the table from that of a file.

    Examples
    --------
    >>> table_name("out/my-friends.csv.gz"), table_name("2026.parquet")
    ('my_friends', '2026')
    """
    stem = Path(place).name.partition(".")[0]
    name = re.sub(r"\W+", "_", stem.encode("utf-8", "replace").decode()).strip("_")
    return name.encode()[:_IDENTIFIER_BYTES].decode(errors="ignore") or TABLE


def describe(parts: Parts) -> str:
    """The comment of the table: one line of ASCII that says all that is not in its rows."""
    shape = {"nodes": len(parts.vectors), "dim": parts.vectors.shape[1]}
    table: dict[str, Any] = {"version": FORMAT_VERSION, **shape, "columns": columns(parts)}
    table["names"] = "strings" if parts.names.dtype == object else "integers"
    further = {**parts.state.texts(), "recipe": parts.recipe}
    if parts.marks.fingerprint is not None:
        further["fingerprint"] = parts.marks.fingerprint
    return json.dumps({"graphrefine": {**table, **further}}, allow_nan=False)


def describe_again(description: dict[str, Any], parts: Parts, count: int) -> str:
    """The comment of a table of so many rows some of which were made anew."""
    description = {name: value for name, value in description.items() if name != "fingerprint"}
    return json.dumps({"graphrefine": {**description, "nodes": count, "recipe": parts.recipe}}, allow_nan=False)


def parse_description(text: str) -> dict[str, Any]:
    """Undo `describe`; ValueError if it is none."""
    try:
        table = json.loads(text)["graphrefine"]
        if problem := version_problem(table["version"], FORMAT_VERSION):
            raise ValueError(problem)
        if table["columns"][:2] != ["row_index", "node"] or table["columns"][-1] != "vector":
            raise ValueError("the columns are not those of an embedding")
        description = {"nodes": table["nodes"], "names": table["names"], "dim": int(table["dim"])}
        return {**table, **description, "recipe": dict(table["recipe"])}
    except (LookupError, TypeError) as error:
        raise ValueError(f"its comment is damaged ({type(error).__name__}: {error})") from error


def guard(table: str, *, option: str = "--replace") -> str:
    """A statement that fails if there is a table of that name which graphrefine did not write.

    ``option`` is what its message names as the way out.
    """
    there = f"to_regclass({literal(identifier(table))})"
    ours = f"coalesce(left(obj_description({there}, 'pg_class'), {len(MARK)}), '') = {literal(MARK)}"
    problem = f"there is a table {table!r} that graphrefine did not write; choose another, or say {option}"
    body = f"BEGIN IF {there} IS NOT NULL AND NOT {ours} THEN RAISE EXCEPTION USING MESSAGE = {literal(problem)}; "
    return f"DO {literal(body + 'END IF; END')};\n"


def before(parts: Parts, *, table: str) -> str:
    """What comes before the rows: the table to fill."""
    kinds = {"row_index": "bigint", "side": "text", "vector": f"vector({parts.vectors.shape[1]})"}
    kinds |= dict.fromkeys(parts.state.columns(), "real")
    kinds["node"] = 'text COLLATE "C"' if parts.names.dtype == object else "bigint"
    fields = ", ".join(f"{name} {kinds[name]} NOT NULL" for name in columns(parts))
    return f"{EXTENSION}CREATE TABLE {_hidden_name(table)} ({fields});\n"


def copy(parts: Parts, *, table: str) -> str:
    """The statement whose data are the rows."""
    return f"COPY {_hidden_name(table)} ({', '.join(columns(parts))}) FROM stdin"


def after(parts: Parts, *, table: str, index: bool = False) -> str:
    """What comes after the rows: the new table in the place of the old, its key, its comment, its index."""
    name, last = identifier(table), identifier(table.rpartition(".")[2])
    key = "side, node" if "side" in columns(parts) else "node"
    statements = [
        f"DROP TABLE IF EXISTS {name}",
        f"ALTER TABLE {_hidden_name(table)} RENAME TO {last}",
        f"ALTER TABLE {name} ADD PRIMARY KEY ({key})",
        f"CREATE UNIQUE INDEX ON {name} (row_index)",
        f"COMMENT ON TABLE {name} IS {literal(describe(parts))}",
    ]
    if index:
        statements.append(f"CREATE INDEX ON {name} USING hnsw (vector vector_cosine_ops)")
    return "".join(f"{statement};\n" for statement in statements)


def _hidden_name(table: str) -> str:
    """The name under which a table is filled; the same each time, so that two who write at once wait in line."""
    schema, dot, name = table.rpartition(".")
    return identifier(f"{schema}{dot}graphrefine_new_{zlib.crc32(name.encode()):08x}")
