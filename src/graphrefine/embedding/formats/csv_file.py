"""Comma-separated values: ``node,v0,v1,...``, then a line a node. Also gzipped.

Strings are always quoted and integers never, so that the name "7" stays a string. A line that was lost whole
at the end of a plain csv file cannot be noticed: nothing in the format counts the lines.

A list of edges is a csv file too. One without our header is taken for that, and refused, where one or two columns
follow the names and the first of them holds names of nodes.
"""

from __future__ import annotations

import gzip
import re
from pathlib import Path
from typing import IO

import numpy as np

from graphrefine.embedding.formats.decimals import (
    LONGEST,
    GrowingRows,
    RowError,
    format_rows,
    line_blocks,
    parse_rows,
    row_chunks,
)
from graphrefine.embedding.formats.encoding import EDGES, create_gzip, open_text
from graphrefine.errors import FormatError
from graphrefine.graph.node_ids import Names, encode_all, from_text
from graphrefine.vectors.table import Parts

_NAME = re.compile(rb'"([^"]*(?:""[^"]*)*)"|([^",\r\n]*)')  # quoted, or not


def write(path: Path, parts: Parts) -> None:
    """Write names and vectors."""
    with path.open("wb") as file:
        _write(file, parts)


def write_gzip(path: Path, parts: Parts) -> None:
    """Write names and vectors, gzipped at the fastest level: digits hardly shrink further."""
    with create_gzip(path) as file:
        _write(file, parts)


def _write(file: IO[bytes] | gzip.GzipFile, parts: Parts) -> None:
    dim = parts.vectors.shape[1]
    file.write(_header(dim) + b"\n")
    line = b"%s,%s\n" if dim else b"%s%s\n"
    for rows in row_chunks(parts.vectors.shape):
        lines = zip(_fields(parts.names[rows]), format_rows(parts.vectors[rows], b","), strict=True)
        file.write(b"".join([line % each for each in lines]))


def _fields(names: Names) -> list[bytes]:
    if names.dtype != object:
        return encode_all(names)
    return [b'"%s"' % text.replace(b'"', b'""') for text in encode_all(names)]


def read(path: Path) -> Parts:
    """Read names and vectors: a header, then the name in the first column and a number in every other."""
    with open_text(path) as file:
        return _read(path, file)


def _read(path: Path, file: IO[bytes]) -> Parts:
    header = file.readline(LONGEST)
    dim = _columns(path, header) - 1
    vectors = GrowingRows(dim)
    texts: list[bytes] = []
    quoted, line = False, 2
    for block in line_blocks(file, quoted=True):
        names, rows, lines, block_quoted = _split(path, block, line)
        texts += names
        quoted = quoted or block_quoted
        try:
            vectors.append(parse_rows(rows, dim, b","))
        except RowError as error:
            hint = f"; {EDGES}" if dim in (1, 2) else ""
            raise FormatError(path, f"{error.problem}{hint}", line=lines[error.row]) from error
        line += block.count(b"\n")
    parts = Parts(_strings(texts) if quoted else from_text(texts), vectors.finish(), {})
    if header.rstrip(b"\r\n") != _header(dim) and _may_be_edges(parts):
        raise FormatError(
            path,
            f"its numbers are names of nodes, as in a list of edges; {EDGES}; if these are vectors, let the first line "
            f"be {_header(dim).decode()}",
        )
    return parts


def _may_be_edges(parts: Parts) -> bool:
    """Whether the rows look like edges (node, node) or (node, node, weight) rather than vectors."""
    names, vectors = parts.names, parts.vectors
    if names.dtype == object or vectors.shape[1] not in (1, 2) or not len(names):
        return False
    ends = vectors[:, 0]
    if not np.array_equal(ends, np.rint(ends)):
        return False
    return len(np.unique(names)) < len(names) or bool(np.isin(ends, names.astype(np.float32)).any())


def _header(dim: int) -> bytes:
    """The first line of the files that are written here."""
    return b",".join([b"node", *(b"v%d" % column for column in range(dim))])


def _columns(path: Path, header: bytes) -> int:
    """Count the columns of the header, and refuse a first line that is no header."""
    fields = header.rstrip(b"\r\n").split(b",")
    if not header.endswith(b"\n"):
        raise FormatError(path, "has no line with a line end: empty or cut short", line=1)
    numbers = [field for field in fields[1:] if re.fullmatch(rb"-?[0-9]+|-?[0-9]*\.[0-9]+(e[-+]?[0-9]+)?", field)]
    if numbers and numbers != [b"%d" % column for column in range(len(numbers))]:  # as pandas calls columns
        hint = f"; {EDGES}" if len(fields) in (2, 3) else ""
        raise FormatError(path, f"holds numbers where the header 'node,v0,v1,...' should be; add one{hint}", line=1)
    return len(fields)


def _split(path: Path, block: bytes, line: int) -> tuple[list[bytes], list[bytes], list[int], bool]:
    """Split a block into names, the rest of each line, and line numbers; and say if any name is quoted."""
    names, rows, lines, at, quoted = [], [], [], 0, False
    while at < len(block):
        match = _NAME.match(block, at)
        end = block.find(b"\n", match.end()) if match else -1
        if match is None or end < 0 or block[match.end()] not in b",\r\n":
            raise FormatError(path, "is not a whole line 'name,number,...': cut short or damaged", line=line)
        quoted = quoted or match[1] is not None
        names.append(match[2] if match[1] is None else match[1].replace(b'""', b'"'))
        rows.append(block[match.end() + 1 : end].rstrip(b"\r"))
        lines.append(line)
        line += names[-1].count(b"\n") + 1
        at = end + 1
    return names, rows, lines, quoted


def _strings(texts: list[bytes]) -> Names:
    names = np.empty(len(texts), dtype=object)
    names[:] = [text.decode("utf-8", "surrogateescape") for text in texts]
    return names
