"""Rows of float32 as lines of decimals, and back, bit for bit; and the text files that have them, gzipped or not.

With pyarrow, each number is its shortest decimal that gives the same float32 again; without, nine digits,
which always do.
"""

from __future__ import annotations

import contextlib
import gzip
import io
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.embedding.formats.io import check_memory

# Most readers parse a float64 and round that to float32. Of all float32 there is one (by trying every
# one) whose shortest decimal then gives its neighbor: it gets one digit more.
ROUNDS_TWICE = (b"7.038531e-26", b"7.0385307e-26")
_VALUES_AT_ONCE = 1 << 16  # of which each takes some 60 bytes while it is formatted
_BYTES_AT_ONCE = 1 << 23
LONGEST = 1 << 26  # bytes of a line
_GZIP = b"\x1f\x8b"


class RowError(ValueError):
    """A row that is not what it should be; ``row`` counts from 0 within the rows given, and ``column`` in the row."""

    def __init__(self, row: int, problem: str, *, column: int | None = None) -> None:
        super().__init__(problem)
        self.row, self.problem, self.column = row, problem, column


def row_chunks(shape: tuple[int, ...]) -> Iterator[slice]:
    """Cut n rows of k into slices small enough to be formatted at once."""
    rows, dim = shape
    step = max(1, _VALUES_AT_ONCE // max(dim, 1))
    for start in range(0, rows, step):
        yield slice(start, min(start + step, rows))


def format_rows(vectors: NDArray[np.float32], separator: bytes) -> list[bytes]:
    """Write each row as decimals with a separator between them.

    Examples
    --------
    >>> format_rows(np.array([[0.1, -2.5], [3.0, 0.7]], dtype=np.float32), b" ")
    [b'0.1 -2.5', b'3 0.7']
    """
    if vectors.size == 0:
        return [b""] * len(vectors)
    arrow = _arrow()
    if arrow is None:
        pattern = separator.decode().join(["%.9g"] * vectors.shape[1])
        return [(pattern % tuple(row)).encode() for row in vectors.tolist()]
    decimals = plain_array(vectors.reshape(-1)).cast(arrow.string())
    bounds = plain_array(np.arange(0, vectors.size + 1, vectors.shape[1], dtype=np.int32))
    ends = plain_array(np.array([0, len(separator)], np.int32)).buffers()[1]
    between = arrow.Array.from_buffers(arrow.string(), 1, [None, ends, arrow.py_buffer(separator)])[0]
    lists = arrow.ListArray.from_arrays(bounds, decimals)
    joined = arrow.compute.call_function("binary_join", [lists, between])
    return [row.replace(*ROUNDS_TWICE) for row in joined.cast(arrow.binary()).to_pylist()]


def parse_rows(rows: list[bytes], dim: int, separator: bytes) -> NDArray[np.float32]:
    """Undo ``format_rows``; RowError for a row that does not hold ``dim`` numbers.

    Examples
    --------
    >>> parse_rows([b"0.1 -2.5", b"3 1e-09"], 2, b" ")
    array([[ 1.0e-01, -2.5e+00],
           [ 3.0e+00,  1.0e-09]], dtype=float32)
    """
    for index, row in enumerate(rows):
        count = row.count(separator) + 1 if row else 0
        if count != dim:
            raise RowError(index, f"{count} numbers where {dim} {'is' if dim == 1 else 'are'} expected")
    if dim == 0 or not rows:
        return np.zeros((len(rows), dim), dtype=np.float32)
    values = _parse_with_arrow(rows, separator)
    if values is None or values.size != len(rows) * dim:
        values = _parse_one_by_one(rows, separator)
    return values.reshape(len(rows), dim)


def _parse_with_arrow(rows: list[bytes], separator: bytes) -> NDArray[np.float32] | None:
    """Parse all numbers as one column, which is twice as fast as a column each; None if that fails."""
    arrow = _arrow()
    if arrow is None:
        return None
    column = b"\n".join(rows).replace(separator, b"\n")
    from pyarrow import csv

    try:
        table = csv.read_csv(
            io.BytesIO(column),
            read_options=csv.ReadOptions(column_names=["value"]),
            parse_options=csv.ParseOptions(quote_char=False, ignore_empty_lines=False),
            convert_options=csv.ConvertOptions(column_types={"value": arrow.float32()}, null_values=[]),
        )
    except arrow.ArrowInvalid:
        return None
    values: NDArray[np.float32] = table.column(0).to_numpy()
    return values


def _parse_one_by_one(rows: list[bytes], separator: bytes) -> NDArray[np.float32]:
    """Parse more slowly, so that the number that is none can be named."""
    values: list[float] = []
    for index, row in enumerate(rows):
        fields = row.split(separator)
        try:
            values.extend(map(float, fields))
        except ValueError as error:
            raise _no_number(index, fields) from error
        if b"_" in row:  # between digits, for Python alone
            raise _no_number(index, fields)
    with np.errstate(over="ignore"):
        return np.array(values, dtype=np.float32)


def _no_number(row: int, fields: list[bytes]) -> RowError:
    """Return the error of the first field of a row that is no number."""
    column = next(at for at, field in enumerate(fields) if not _is_number(field))
    text = fields[column].decode("utf-8", "backslashreplace")
    problem = f"{text!r} is not a number" if text.strip() else "nothing stands where a number is expected"
    return RowError(row, problem, column=column)


def _is_number(field: bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return b"_" not in field


class GrowingRows:
    """An array that grows in place: a list of blocks would need twice the memory when put together."""

    def __init__(self, dim: int) -> None:
        self._array = np.empty((0, dim), dtype=np.float32)
        self._used = 0

    def append(self, rows: NDArray[np.float32]) -> None:
        """Add rows at the end."""
        needed = self._used + len(rows)
        if needed > len(self._array):
            self._array.resize((max(needed, len(self._array) * 5 // 4), rows.shape[1]), refcheck=False)
        self._array[self._used : needed] = rows
        self._used = needed

    def finish(self) -> NDArray[np.float32]:
        """Give the array, cut to what was added."""
        self._array.resize((self._used, self._array.shape[1]), refcheck=False)
        return self._array


def line_blocks(file: IO[bytes], *, quoted: bool = False) -> Iterator[bytes]:
    """Read a file in blocks of whole lines, each block ending in a line end unless the file does not.

    With ``quoted``, a line end between double quotes does not end a line.
    """
    rest = b""
    while block := file.read(_BYTES_AT_ONCE):
        block = rest + block
        end = _last_line_end(block) if quoted else block.rfind(b"\n") + 1
        rest = block[end:]
        if len(rest) > LONGEST:
            raise ValueError(f"a line is longer than {LONGEST:,} bytes, or a quote in it is never closed")
        if end:
            yield block[:end]
    if rest:
        yield rest


def _last_line_end(block: bytes) -> int:
    r"""Return the place after the last line end that does not stand between double quotes; 0 if there is none.

    Examples
    --------
    >>> _last_line_end(b'a\n"b\n"\nc'), _last_line_end(b'a\n"b\nc\n')
    (7, 2)
    """
    stop, within = len(block), block.count(b'"') % 2 == 1
    while stop >= 0:
        quote = block.rfind(b'"', 0, stop)
        end = -1 if within else block.rfind(b"\n", quote + 1, stop)
        if end >= 0:
            return end + 1
        stop, within = quote, not within
    return 0


@contextlib.contextmanager
def open_text(path: Path) -> Iterator[IO[bytes]]:
    """Open a file of text to be read, gzipped or not, which its first bytes show."""
    with path.open("rb") as raw:
        zipped = raw.read(2) == _GZIP
        raw.seek(0)
        with _Unpacked(fileobj=raw) if zipped else raw as file:
            yield file  # type: ignore[misc]  # GzipFile reads as files do


class _Unpacked(gzip.GzipFile):
    """Gzipped data, read as far as the memory allows."""

    def read(self, size: int | None = -1) -> bytes:
        """Return bytes, at most ``size``."""
        data = super().read(size)
        check_memory(Path(self.name), self.tell())
        return data


@contextlib.contextmanager
def create_gzip(path: Path) -> Iterator[gzip.GzipFile]:
    """Open a file to be written gzipped, at the fastest level: digits hardly shrink further."""
    with path.open("wb") as raw, gzip.GzipFile("", "wb", compresslevel=1, fileobj=raw, mtime=0) as file:
        yield file


def plain_array(numbers: NDArray[Any]) -> Any:
    """Return an Arrow array that shares the memory of numbers; pyarrow's own way would load pandas, for nothing."""
    import pyarrow as pa

    kind = pa.from_numpy_dtype(numbers.dtype)
    return pa.Array.from_buffers(kind, len(numbers), [None, pa.py_buffer(np.ascontiguousarray(numbers))])


def _arrow() -> Any:
    """Give pyarrow, or None where it is not installed."""
    try:
        import pyarrow
        import pyarrow.compute
    except ImportError:
        return None
    return pyarrow
