"""Comma-separated values: ``node,v0,v1,...``, then a line a node. Also gzipped.

Strings are always quoted and integers never, so that the name "7" stays a string. A line that was lost whole
at the end of a plain csv file cannot be noticed: nothing in the format counts the lines.

Tables of others are read by their header (`assign_vectors`), and a warning tells how where that is not plain. A list
of edges is a csv file too: a header that names no nodes is taken for that of one, and refused, where one or two columns
follow the names and the first of them holds names of nodes.
"""

from __future__ import annotations

import gzip
import re
import warnings
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.embedding.formats.decimals import (
    LONGEST,
    GrowingRows,
    RowError,
    create_gzip,
    format_rows,
    line_blocks,
    open_text,
    parse_rows,
    row_chunks,
)
from graphrefine.embedding.formats.io import EDGES
from graphrefine.embedding.state import EmbeddingData
from graphrefine.errors import ArgumentWarning, FormatError, InputError
from graphrefine.graph.node_ids import Names, encode_all, from_text
from graphrefine.tables.kinds import is_finite
from graphrefine.tables.limits import COLUMNS
from graphrefine.tables.roles import NumberRoles, assign_vectors

_NAME = re.compile(rb'"([^"]*(?:""[^"]*)*)"|([^",\r\n]*)')  # quoted, or not
DELIMITERS = (b",", b";", b"\t", b"|")


class Record(NamedTuple):
    """Fields of a record without their quotes, the places of those that had some, and how many lines it takes."""

    fields: list[bytes]
    quoted: frozenset[int]
    lines: int


_NOTHING = Record([], frozenset(), 0)


def write(path: Path, parts: EmbeddingData) -> None:
    """Write names and vectors."""
    with path.open("wb") as file:
        _write(file, parts)


def write_gzip(path: Path, parts: EmbeddingData) -> None:
    """Write names and vectors, gzipped at the fastest level: digits hardly shrink further."""
    with create_gzip(path) as file:
        _write(file, parts)


def _write(file: IO[bytes] | gzip.GzipFile, parts: EmbeddingData) -> None:
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


def read(path: Path) -> EmbeddingData:
    """Read names and vectors, by a header; where that has no column of names, the rows are numbered from 0."""
    names, vectors = _read_columns(path, features=False)
    return EmbeddingData(np.arange(len(vectors)) if names is None else names, vectors, {})


def read_features(path: Path) -> tuple[Names | None, NDArray[np.float32]]:
    """Read names (None where there is no column of them) and numbers, whatever these are called."""
    return _read_columns(path, features=True)


def _read_columns(path: Path, *, features: bool) -> tuple[Names | None, NDArray[np.float32]]:
    with open_text(path) as file:
        header = file.readline(LONGEST).removeprefix(BOM_UTF8)
        if not header.endswith(b"\n"):
            raise FormatError(path, "has no line with a line end: empty or cut short", line=1)
        blocks = line_blocks(file, quoted=True)
        if header.rstrip(b"\r\n") == _header(header.count(b",")):
            places = list(range(header.count(b",") + 1))
            ours = NumberRoles(header.decode().rstrip().split(","), 0, places[1:], named=True, series=True)
            return _read_rows(path, blocks, ours, b",")
        first = next(blocks, b"")
        columns, delimiter = _find_columns(path, header, first, features=features)
        names, vectors = _read_rows(path, chain([first], blocks), columns, delimiter)
    _check(path, columns, names, vectors)
    if columns.remarks:
        warnings.warn(ArgumentWarning(f"{path}: {'; '.join(columns.remarks)}"), stacklevel=6)
    return names, vectors


def _find_columns(path: Path, header: bytes, first: bytes, *, features: bool) -> tuple[NumberRoles, bytes]:
    """Return the columns by the header and the first record of a block, and the delimiter."""
    if not features and max(map(header.count, DELIMITERS)) >= COLUMNS:
        raise FormatError(path, f"its header has more than {COLUMNS:,} columns: what it names are no vectors", line=1)
    record = first[: first.find(b"\n") + 1]
    delimiter = find_delimiter(header, record)
    titles, sample = (
        [field.decode("utf-8", "surrogateescape") for field in next(split_records(line, delimiter), _NOTHING).fields]
        for line in (header, record)
    )
    if not titles:
        raise FormatError(path, "is not a whole header: cut short, or a quote is never closed", line=1)
    try:
        return replace(assign_vectors(titles, sample, features=features), quotes=b'"' in header), delimiter
    except InputError as error:
        raise FormatError(path, str(error), line=1) from error


def _read_rows(
    path: Path, blocks: Iterable[bytes], columns: NumberRoles, delimiter: bytes
) -> tuple[Names | None, NDArray[np.float32]]:
    dim = len(columns.numbers)
    vectors = GrowingRows(dim)
    texts: list[bytes] = []
    quoted, line = False, 2
    simple = columns.plain and not columns.quotes and delimiter == b","
    for block in blocks:
        names, rows, lines, block_quoted = (
            _split(path, block, line) if simple else _split_columns(path, block, line, columns=columns, mark=delimiter)
        )
        texts += names
        quoted = quoted or block_quoted
        try:
            vectors.append(parse_rows(rows, dim, delimiter))
        except RowError as error:
            raise FormatError(path, _explain(error, columns, delimiter), line=lines[error.row]) from error
        line += block.count(b"\n")
    if columns.name is None:
        return None, vectors.finish()
    return _strings(texts) if quoted else from_text(texts), vectors.finish()


def _explain(error: RowError, columns: NumberRoles, delimiter: bytes) -> str:
    """Describe what is wrong with a row: its length, or a field that is no number, with the name of its column."""
    hint = f"; {EDGES}" if len(columns.numbers) in (1, 2) and not columns.named else ""
    if error.column is None:
        return f"{error.problem} by its header{hint}"
    if delimiter != b"," and "," in error.problem:
        hint = "; write decimals with a point"
    title = columns.titles[columns.numbers[error.column]]
    return f"{error.problem}, in its column {title!r}{hint}"


def _check(path: Path, columns: NumberRoles, names: Names | None, vectors: NDArray[np.float32]) -> None:
    """Refuse edges in the place of vectors, and numbers in that of names, unless the header names the nodes."""
    if columns.named or not len(vectors):
        return
    first = columns.titles[0]
    if _may_be_edges(names, vectors):
        raise FormatError(
            path,
            f"its numbers are names of nodes, as in a list of edges; {EDGES}; if these are vectors, call the column of "
            "their names node in the first line",
        )
    if names is None:
        column = vectors[:, 0]
        if len(column) > 1 and np.array_equal(column, np.rint(column)) and len(np.unique(column)) == len(column):
            raise FormatError(
                path,
                f"no column is called node, name or id, and the first, {first!r}, holds integers that may be names; "
                "call it node if it does, else put a column node before it",
            )
    elif names.dtype == object and all(map(_is_decimal, names)):
        raise FormatError(
            path,
            f"no column is called node, name or id, and the first, {first!r}, holds numbers such as {names[0]}; call "
            "it node if these are names, else put a column node before it",
        )
    elif names.dtype != object and first and not columns.series:
        columns.remarks.insert(0, f"names are those of its first column, {first!r}")


def _is_decimal(name: str) -> bool:
    return "." in name and is_finite(name)


def _may_be_edges(names: Names | None, vectors: NDArray[np.float32]) -> bool:
    """Whether the rows look like edges (node, node) or (node, node, weight) rather than vectors."""
    if names is None:
        return vectors.shape[1] in (2, 3) and np.array_equal(vectors[:, :2], np.rint(vectors[:, :2]))
    if names.dtype == object or vectors.shape[1] not in (1, 2) or not len(names):
        return False
    ends = vectors[:, 0]
    if not np.array_equal(ends, np.rint(ends)):
        return False
    return len(np.unique(names)) < len(names) or bool(np.isin(ends, names.astype(np.float32)).any())


def _header(dim: int) -> bytes:
    """Return the first line of the files that are written here."""
    return b",".join([b"node", *(b"v%d" % column for column in range(dim))])


def _split_columns(
    path: Path, block: bytes, line: int, *, columns: NumberRoles, mark: bytes
) -> tuple[list[bytes], list[bytes], list[int], bool]:
    """Do what `_split` does for a table with quotes or with its columns in another order."""
    names, rows, lines, size, quoted, width = [], [], [], line, False, len(columns.titles)
    for fields, places, height in split_records(block, mark):
        if len(fields) != width:
            raise FormatError(path, f"{len(fields)} fields where its header has {width}", line=line)
        if columns.name is not None:
            names.append(fields[columns.name])
            quoted = quoted or columns.name in places
        rows.append(mark.join([fields[at] for at in columns.numbers]))
        lines.append(line)
        line += height
    if line != size + block.count(b"\n") or (block and not block.endswith(b"\n")):
        raise FormatError(path, "is not a whole line of names and numbers: cut short or damaged", line=line)
    return names, rows, lines, quoted


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


def find_delimiter(header: bytes, first: bytes) -> bytes:
    """Return the delimiter that splits header and first record into as many fields, at least two; else a comma.

    Examples
    --------
    >>> find_delimiter(b"node;v0", b"a;0,5"), find_delimiter(b"node,a|b", b"x,1"), find_delimiter(b"node,v0", b"")
    (b';', b',', b',')
    """
    for delimiter in DELIMITERS:
        widths = {len(record.fields) for line in (header, first) for record in split_records(line, delimiter)}
        if len(widths) == 1 and widths.pop() > 1:
            return delimiter
    return next((delimiter for delimiter in DELIMITERS if delimiter in header), b",")


def split_records(block: bytes, delimiter: bytes) -> Iterator[Record]:
    r"""Return the records of a block of whole lines, up to the first that is damaged.

    Examples
    --------
    >>> [record.fields for record in split_records(b'a;"b;""c"" d"\n1;2\n3', b";")]
    [[b'a', b'b;"c" d'], [b'1', b'2']]
    """
    if b'"' not in block:
        for line in block.split(b"\n")[:-1]:
            yield Record(line.rstrip(b"\r").split(delimiter), frozenset(), 1)
        return
    mark = re.escape(delimiter)
    pattern = re.compile(rb'(?:"([^"]*(?:""[^"]*)*)"|([^"\r\n' + mark + rb"]*))(" + mark + rb"|\r?\n)")
    fields: list[bytes] = []
    quoted: set[int] = set()
    lines = at = 0
    while match := pattern.match(block, at):
        plain = match[1] is None
        quoted |= set() if plain else {len(fields)}
        fields.append(match[2] if plain else match[1].replace(b'""', b'"'))
        lines += match[0].count(b"\n")
        at = match.end()
        if match[3] != delimiter:
            yield Record(fields, frozenset(quoted), lines)
            fields, quoted, lines = [], set(), 0
