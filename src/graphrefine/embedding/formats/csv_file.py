"""Comma-separated values: ``node,v0,v1,...``, then a line for each node. Also gzipped.

Strings are always quoted and integers never, so that the name "7" stays a string. A line that was lost whole
at the end of a plain csv file cannot be noticed: nothing in the format counts the lines.

Tables made elsewhere are read by their header (`assign_vectors`), with a warning where that is not plain. A list of
edges is a csv file too: a header that names no nodes is refused where one or two columns follow the names and the first
of them holds names of nodes.
"""

from __future__ import annotations

import csv
import gzip
import warnings
from codecs import BOM_UTF8
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.embedding.formats.decimals import RowError, format_rows, parse_rows, row_chunks, rows_at_once
from graphrefine.embedding.formats.io import EDGES, check_memory
from graphrefine.embedding.state import EmbeddingData
from graphrefine.errors import ArgumentWarning, FormatError, InputError
from graphrefine.graph.node_ids import Names, encode_all, from_strings, object_array
from graphrefine.tables.dialect import detect_delimiter
from graphrefine.tables.kinds import is_finite
from graphrefine.tables.roles import NumberRoles, assign_vectors
from graphrefine.tables.sample import Dialect, Hints
from graphrefine.tables.source import COLUMNS, Source

DELIMITERS = (",", ";", "\t", "|")
# Bytes of a line. A text that is no table may have no line end at all, and would be in memory as a whole before
# anything is known of it; a line of 65,536 columns with ten digits each has a megabyte.
LONGEST = 1 << 26
_GZIP = b"\x1f\x8b"


class Record(NamedTuple):
    """The number of the first line of a record, its whole text, and its fields without quotes."""

    line: int
    text: str
    fields: list[str]


def write(path: Path, data: EmbeddingData) -> None:
    """Write names and vectors."""
    with path.open("wb") as file:
        _write(file, data)


def write_gzip(path: Path, data: EmbeddingData) -> None:
    """Write names and vectors, gzipped."""
    # The fastest level, as digits hardly shrink further. Without a name and a time, equal vectors are equal files.
    with path.open("wb") as raw, gzip.GzipFile("", "wb", compresslevel=1, fileobj=raw, mtime=0) as file:
        _write(file, data)


def _write(file: IO[bytes] | gzip.GzipFile, data: EmbeddingData) -> None:
    dim = data.vectors.shape[1]
    file.write(_header(dim).encode() + b"\n")
    line = b"%s,%s\n" if dim else b"%s%s\n"
    for rows in row_chunks(data.vectors.shape):
        names = encode_all(data.names[rows])
        if data.names.dtype == object:
            names = [b'"%s"' % text.replace(b'"', b'""') for text in names]
        lines = zip(names, format_rows(data.vectors[rows], b","), strict=True)
        file.write(b"".join([line % each for each in lines]))


def read(path: Path) -> EmbeddingData:
    """Read names and vectors, by a header; where that has no column of names, the rows are numbered from 0."""
    names, vectors = read_columns(path)
    return EmbeddingData(np.arange(len(vectors)) if names is None else names, vectors, {})


def read_columns(path: Path, *, features: bool = False) -> tuple[Names | None, NDArray[np.float32]]:
    """Read names (None where there is no column of them) and numbers; of features, however these are called."""
    with path.open("rb") as raw:
        zipped = raw.peek(2)[:2] == _GZIP
        lines = _read_lines(path, gzip.GzipFile(fileobj=raw) if zipped else raw)
        header = next(lines, "")
        if not header.endswith("\n"):
            raise FormatError(path, "has no line with a line end: empty or cut short", line=1)
        header = header.rstrip("\r\n")
        dim = header.count(",")
        if header == _header(dim):
            # Numbers of our own that look like edges are vectors all the same: no roles are read, nothing is checked.
            ours = NumberRoles(header.split(","), 0, list(range(1, dim + 1)), named=True, series=True)
            return _read_rows(path, _split_records(path, lines, ",", first=2), ours, ",")
        second = next(lines, "")
        columns, delimiter = _find_columns(path, header, second, features=features)
        records = _split_records(path, chain([second] if second else [], lines), delimiter, first=2)
        names, vectors = _read_rows(path, records, columns, delimiter)
    _check(path, columns, names, vectors)
    if columns.notes:
        warnings.warn(ArgumentWarning(f"{path}: {'; '.join(columns.notes)}"), stacklevel=6)
    return names, vectors


def _read_lines(path: Path, file: IO[bytes] | gzip.GzipFile) -> Iterator[str]:
    """Yield the lines of a file; bytes that are not UTF-8 are kept as surrogate escapes."""
    mark = BOM_UTF8
    while line := file.readline(LONGEST):
        if len(line) == LONGEST:
            raise FormatError(path, f"a line is longer than {LONGEST:,} bytes")
        yield line.removeprefix(mark).decode("utf-8", "surrogateescape")
        mark = b""


def _split_records(path: Path, lines: Iterator[str], delimiter: str, *, first: int) -> Iterator[Record]:
    """Yield the records of lines, of which the first one has the number ``first``."""
    taken: list[str] = []

    def take() -> Iterator[str]:
        for line in lines:
            taken.append(line)
            yield line

    number = first
    try:
        for fields in csv.reader(take(), delimiter=delimiter, strict=True):
            text = "".join(taken)
            if not text.endswith("\n"):
                raise csv.Error("the last line has no end")
            yield Record(number, text, fields)
            number += len(taken)
            taken.clear()
    except csv.Error as error:
        raise FormatError(path, f"is not a whole record: cut short or damaged ({error})", line=number) from None


def _find_columns(path: Path, header: str, second: str, *, features: bool) -> tuple[NumberRoles, str]:
    """Return the columns by the header and the line below it, and the delimiter."""
    if not features and max(map(header.count, DELIMITERS)) >= COLUMNS:
        raise FormatError(path, f"its header has more than {COLUMNS:,} columns, which are no vectors", line=1)
    head = f"{header}\n{second}".encode("utf-8", "surrogateescape")
    found = detect_delimiter(Source(path), head, Dialect(""), Hints(), whole=False)  # as in a list of edges
    delimiter = "," if found is None or found[0] not in DELIMITERS else found[0]
    titles = split_line(header, delimiter)
    if not titles:
        raise FormatError(path, "is not a whole header: cut short, or a quote is never closed", line=1)
    try:
        return assign_vectors(titles, split_line(second, delimiter), features=features), delimiter
    except InputError as error:
        raise FormatError(path, str(error), line=1) from error


def split_line(line: str, delimiter: str) -> list[str]:
    """Return the fields of one line; none where it is empty, or no whole record."""
    try:
        return next(csv.reader([line], delimiter=delimiter, strict=True), [])
    except csv.Error:
        return []


def _read_rows(
    path: Path, records: Iterator[Record], columns: NumberRoles, delimiter: str
) -> tuple[Names | None, NDArray[np.float32]]:
    dim, mark = len(columns.numbers), delimiter.encode()
    vectors = np.empty((0, dim), np.float32)
    texts: list[str] = []
    quoted = False
    while block := list(islice(records, rows_at_once(dim))):
        rows = []
        for record in block:
            fields = record.fields
            if len(fields) != len(columns.titles):
                problem = f"{len(fields)} fields where its header has {len(columns.titles)}"
                raise FormatError(path, f"{problem}{_edges_hint(columns)}", line=record.line)
            if columns.name is not None:
                texts.append(fields[columns.name])
                quoted = _is_quoted(path, record, columns.name, delimiter) or quoted
            rows.append(delimiter.join([fields[at] for at in columns.numbers]).encode("utf-8", "surrogateescape"))
        try:
            numbers = parse_rows(rows, dim, mark)
        except RowError as error:
            raise FormatError(path, _explain(error, columns, delimiter), line=block[error.row].line) from error
        # Resized, as a list of blocks would need twice the memory when they are put together.
        vectors.resize((len(vectors) + len(numbers), dim), refcheck=False)
        vectors[len(vectors) - len(numbers) :] = numbers
        check_memory(path, vectors.nbytes)
    if columns.name is None:
        return None, vectors
    return object_array(texts) if quoted else from_strings(texts), vectors


def _is_quoted(path: Path, record: Record, column: int, delimiter: str) -> bool:
    """Return whether a field has quotes around it, which the csv module does not say."""
    # Delimiters within the fields before it count in the text of the record too.
    before = column + sum(field.count(delimiter) for field in record.fields[:column])
    quoted = record.text.split(delimiter, before + 1)[before].startswith('"')
    if not quoted and '"' in record.fields[column]:
        raise FormatError(path, "a field has a quote in it, and does not begin with one: damaged", line=record.line)
    return quoted


def _explain(error: RowError, columns: NumberRoles, delimiter: str) -> str:
    """Describe what is wrong with a row: its length, or a field that is no number, with the name of its column."""
    if error.column is None:
        return f"{error.problem} by its header"
    hint = "; write decimals with a point" if delimiter != "," and "," in error.problem else _edges_hint(columns)
    return f"{error.problem}, in its column {columns.titles[columns.numbers[error.column]]!r}{hint}"


def _edges_hint(columns: NumberRoles) -> str:
    return f"; {EDGES}" if len(columns.numbers) in (1, 2) and not columns.named else ""


def _check(path: Path, columns: NumberRoles, names: Names | None, vectors: NDArray[np.float32]) -> None:
    """Refuse edges, and numbers that may be names, unless the header names the nodes."""
    if columns.named or not len(vectors):
        return
    first = columns.titles[0]
    if _may_be_edges(names, vectors):
        problem = f"its numbers are names of nodes, as in a list of edges; {EDGES}"
        raise FormatError(path, f"{problem}; if these are vectors, call the column of their names node")
    if names is None:
        column = vectors[:, 0]
        is_unclear = len(column) > 1 and _are_whole(column) and len(np.unique(column)) == len(column)
    else:
        is_unclear = names.dtype == object and all("." in name and is_finite(name) for name in names)
    if is_unclear:
        problem = f"no column is called node, name or id, and the first, {first!r}, has numbers that may be names"
        raise FormatError(path, f"{problem}; call it node if these are names, else put a column node before it")
    if names is not None and names.dtype != object and first and not columns.series:
        columns.notes.insert(0, f"names are those of its first column, {first!r}")


def _may_be_edges(names: Names | None, vectors: NDArray[np.float32]) -> bool:
    """Return whether the rows look like edges (node, node) or (node, node, weight) rather than vectors."""
    if names is None:
        return vectors.shape[1] in (2, 3) and _are_whole(vectors[:, :2])
    if names.dtype == object or vectors.shape[1] not in (1, 2) or not _are_whole(vectors[:, 0]):
        return False
    return len(np.unique(names)) < len(names) or bool(np.isin(vectors[:, 0], names.astype(np.float32)).any())


def _are_whole(numbers: NDArray[np.float32]) -> bool:
    return np.array_equal(numbers, np.rint(numbers))


def _header(dim: int) -> str:
    """Return the first line of the files that are written here."""
    return ",".join(["node", *(f"v{column}" for column in range(dim))])
