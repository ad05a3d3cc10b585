"""A file of SQL that ``psql -f`` runs, also gzipped; and back.

The first line is a comment with all that is not in the rows, as the comment of the table will have it. Should a
statement fail, ``psql`` would go on and take the data of ``COPY`` for statements, whatever names they hold:
``ON_ERROR_STOP`` ends it there, and nothing was changed.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from graphrefine.embedding.formats import pgvector_sql as sql
from graphrefine.embedding.formats.decimals import line_blocks
from graphrefine.embedding.formats.parts import Parts, create_gzip, open_text
from graphrefine.embedding.formats.pgvector_rows import gather, lines
from graphrefine.errors import FormatError

check, table_name = sql.check, sql.table_name
_END = b"\\.\n"


def write(path: Path, parts: Parts, *, table: str = sql.TABLE, index: bool = False, replace: bool = False) -> None:
    """Write a file for ``psql -f``."""
    with path.open("wb") as file:
        _write(file, parts, table=table, index=index, replace=replace)


def write_gzip(path: Path, parts: Parts, *, table: str = sql.TABLE, index: bool = False, replace: bool = False) -> None:
    """Write the same, gzipped at the fastest level."""
    with create_gzip(path) as file:
        _write(file, parts, table=table, index=index, replace=replace)


def _write(file: IO[bytes] | gzip.GzipFile, parts: Parts, *, table: str, index: bool, replace: bool) -> None:
    sql.check_parts(parts, index=index)
    start = f"-- {sql.describe(parts)}\n\\set ON_ERROR_STOP on\nBEGIN;\nSET LOCAL client_encoding = 'UTF8';\n"
    start += sql.SETTINGS + ("" if replace else sql.guard(table)) + sql.before(parts, table=table)
    file.write(f"{start}{sql.copy(parts, table=table)};\n".encode())
    for block in lines(parts):
        file.write(block)
    file.write(_END + f"{sql.after(parts, table=table, index=index)}COMMIT;\n".encode())


def read(path: Path) -> Parts:
    """Read what `write` wrote; no other SQL."""
    with open_text(path) as file:
        return _read(path, file)


def _read(path: Path, file: IO[bytes]) -> Parts:
    first = file.readline()
    if not first.startswith(f"-- {sql.MARK}".encode()):
        raise FormatError(
            path,
            "is SQL that graphrefine did not write, and no other is read; run it in a database and convert from there: "
            "graphrefine convert postgresql://... TO --table NAME",
        )
    while (line := file.readline()) and not line.startswith(b"COPY "):
        pass
    return gather(_data(file), sql.parse_description(first[3:].decode()))


def _data(file: IO[bytes]) -> Iterator[bytes]:
    """The lines of the data, some at a time; ValueError if their end is missing."""
    for block in line_blocks(file):
        end = 0 if block.startswith(_END) else block.find(b"\n" + _END) + 1
        if end or block.startswith(_END):
            if end:
                yield block[:end]
            return
        yield block
    raise ValueError("cut short: the end of the data is missing")
