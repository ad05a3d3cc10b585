"""Matrix Market files: a banner, comments, sizes, then entries ``row column value`` from 1, or all values of an array.

The entries are parsed by the kernel of text edge lists. What the sizes state is held against the entries that follow,
before any memory is taken for it.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import FormatError
from graphrefine.graph.adjacency import describe_outside
from graphrefine.graph.node_ids import MAX_NODES
from graphrefine.kernels import edge_lists
from graphrefine.kernels.edge_lists import Marks, Parsed, Status
from graphrefine.readers.formats import MatrixTable
from graphrefine.readers.limits import check_stated
from graphrefine.readers.options import ReadOptions
from graphrefine.readers.source import Source

_BANNER = re.compile(
    rb"\s*%%MatrixMarket[ \t]+matrix[ \t]+(?P<layout>coordinate|array)[ \t]+"
    rb"(?P<field>real|double|integer|unsigned-integer|pattern|complex)[ \t]+"
    rb"(?P<symmetry>general|symmetric|skew-symmetric|hermitian)[ \t\r]*\n",
    re.IGNORECASE,
)
_PREAMBLE = re.compile(rb"(?:[ \t]*(?:%[^\n]*)?\r?\n)*")
_SIZES = re.compile(rb"[ \t]*([0-9]{1,18})[ \t]+([0-9]{1,18})(?:[ \t]+([0-9]{1,18}))?[ \t\r]*(?:\n|\Z)")
_MARKS: Marks = (" ", "", "", "")


class _Header(NamedTuple):
    """The first lines of a file, and where they end."""

    layout: str
    field: str
    symmetry: str
    shape: tuple[int, int]
    entries: int
    end: int  # byte after the sizes
    line: int  # of the sizes


def load(source: Source, options: ReadOptions) -> MatrixTable:
    """Load a Matrix Market file."""
    data = source.data
    header = _read_header(source, data)
    source.release()
    if header.field == "complex":
        raise source.error("an adjacency matrix must hold real numbers, not complex ones")
    check_stated(sum(header.shape), len(data), "rows and columns")
    matrix = _read_entries(source, data, header, options) if header.layout == "coordinate" else None
    return MatrixTable(_read_array(source, data, header) if matrix is None else matrix)


def _read_header(source: Source, data: bytes) -> _Header:
    banner = _BANNER.match(data)
    if banner is None:
        raise _error(source, "it begins with '%%MatrixMarket matrix', a layout, a kind of values and a symmetry", 1)
    preamble = _PREAMBLE.match(data, banner.end())
    start = banner.end() if preamble is None else preamble.end()
    line = data.count(b"\n", 0, start) + 1
    sizes = _SIZES.match(data, start)
    layout, field, symmetry = (banner[name].decode().lower() for name in ("layout", "field", "symmetry"))
    if sizes is None or (layout == "coordinate") != (sizes[3] is not None):
        numbers = "rows, columns and entries" if layout == "coordinate" else "rows and columns"
        raise _error(source, f"the numbers of {numbers} are expected", line)
    rows, columns = int(sizes[1]), int(sizes[2])
    if symmetry != "general" and rows != columns:
        raise _error(source, f"a {symmetry} matrix is square, not {rows} x {columns}", line)
    return _Header(layout, field, symmetry, (rows, columns), int(sizes[3] or 0), sizes.end(), line)


def _read_entries(source: Source, data: bytes, header: _Header, options: ReadOptions) -> Any:
    """A sparse matrix of the entries."""
    from scipy.sparse import coo_array

    text = np.frombuffer(data, np.uint8)[header.end :]
    weight, width = (-1, 2) if header.field == "pattern" else (2, 3)
    columns = (0, 1, weight, -1, width)
    settings: dict[str, Any] = {"dates": False, "threads": options.thread_count}
    parsed = edge_lists.parse_integers(text, columns, _MARKS, wide=False, **settings)
    if parsed.status in (Status.TOO_WIDE, Status.NOT_INTEGER):  # also numbers with zeros before them
        parsed = _parse_any(edge_lists.parse_strings(text, columns, _MARKS, **settings))
    if parsed.status != Status.OK:
        raise _parse_error(source, parsed, data[header.end :], header)
    if len(parsed.source) != header.entries:
        raise _error(source, f"{header.entries:,} entries are stated, and {len(parsed.source):,} follow", header.line)
    places = []
    for name, ends, size in zip(("row", "column"), (parsed.source, parsed.target), header.shape, strict=True):
        bad = np.flatnonzero((ends < 1) | (ends > size))
        if bad.size:
            raise _error(source, f"entry {bad[0] + 1}: {name} {ends[bad[0]]} is not from 1 to {size}", None)
        places.append((ends - 1).astype(np.int32, copy=False))
    values = np.ones(len(places[0]), np.float32) if parsed.weights is None else parsed.weights
    if header.symmetry != "general":
        places, values = _mirror(places, values, sign=-1 if header.symmetry == "skew-symmetric" else 1)
    return coo_array((values, (places[0], places[1])), shape=header.shape)


def _parse_any(parsed: Parsed) -> Parsed:
    """Records whose ends are any words, as numbers: 0 for a word that is none, which no row is."""
    if parsed.status != Status.OK:
        return parsed
    words = parsed.names.split(b"\n")
    numbers = np.array([int(word) if re.fullmatch(rb"\+?[0-9]{1,10}", word) else 0 for word in words], np.int64)
    numbers[numbers > MAX_NODES] = 0
    return parsed._replace(source=numbers[parsed.source], target=numbers[parsed.target])


def _mirror(
    places: list[NDArray[np.int32]], values: NDArray[np.float32], *, sign: int
) -> tuple[list[NDArray[np.int32]], NDArray[np.float32]]:
    """Entries and their mirror images; those of the diagonal have none."""
    rows, columns = places
    off = rows != columns
    return (
        [np.concatenate([rows, columns[off]]), np.concatenate([columns, rows[off]])],
        np.concatenate([values, sign * values[off]]),
    )


def _read_array(source: Source, data: bytes, header: _Header) -> NDArray[np.float64]:
    """A dense matrix, column after column; of a symmetric one, only what is not above the diagonal."""
    rows, columns = header.shape
    stored = rows * columns
    if header.symmetry != "general":
        stored = rows * (rows + 1) // 2 if header.symmetry != "skew-symmetric" else rows * (rows - 1) // 2
    words = data[header.end :].split()
    if len(words) != stored:
        raise _error(source, f"{stored:,} values are stated, and {len(words):,} follow", header.line)
    try:
        values = np.array([float(word) for word in words])
    except ValueError as error:
        raise _error(source, str(error), None) from None
    if header.symmetry == "general":
        return values.reshape(rows, columns, order="F")
    matrix = np.zeros((rows, columns))
    skew = header.symmetry == "skew-symmetric"
    at = np.triu_indices(rows, k=1 if skew else 0)  # row by row above the diagonal is column by column below
    matrix[at[1], at[0]] = values
    matrix[at] = -values if skew else values
    return matrix


def _parse_error(source: Source, parsed: Parsed, text: bytes, header: _Header) -> FormatError:
    line = header.line + parsed.line
    words = text.split(b"\n")[parsed.line - 1].decode("latin-1").split()
    if parsed.status == Status.BAD_WEIGHT and len(words) == 3:
        try:
            outside = describe_outside(float(words[2]), text=words[2])
            usual = f"{float(words[2])} is not allowed; weights must be finite float32 numbers and not negative"
            problem = f"weight {usual if outside is None else f'{words[2]} {outside}'}"
        except ValueError:
            problem = f"weight {words[2]!r} is not a number"
        return source.error(problem, line=line)
    needed = "two numbers" if header.field == "pattern" else "three numbers"
    return _error(source, f"an entry has {needed}, not {' '.join(words)[:80]!r}", line)


def _error(source: Source, problem: str, line: int | None) -> FormatError:
    return source.error(f"this is not a readable Matrix Market file: {problem}", line=line)
