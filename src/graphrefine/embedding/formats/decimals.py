"""Rows of float32 as lines of decimals, and back, bit for bit.

With pyarrow, each number is its shortest decimal that gives the same float32 again; without, nine digits,
which always do.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Most readers parse a float64 and round that to float32. Of all float32 there is one (by trying every
# one) whose shortest decimal then gives its neighbor: it gets one digit more.
ROUNDS_TWICE = (b"7.038531e-26", b"7.0385307e-26")
# Numbers that are formatted or parsed in one step. Each takes some 60 bytes as a Python object, 4 MB in all; with
# fewer, the calls of pyarrow would cost more than the digits.
_VALUES_AT_ONCE = 1 << 16


class RowError(ValueError):
    """A row that is not what it should be; ``row`` counts from 0 within the rows given, and ``column`` in the row."""

    def __init__(self, row: int, problem: str, *, column: int | None = None) -> None:
        super().__init__(problem)
        self.row, self.problem, self.column = row, problem, column


def rows_at_once(dim: int) -> int:
    """Return the number of rows of ``dim`` numbers that are formatted or parsed in one step."""
    return max(1, _VALUES_AT_ONCE // max(dim, 1))


def row_chunks(shape: tuple[int, ...]) -> Iterator[slice]:
    """Cut n rows of k into slices small enough to be formatted at once."""
    rows, dim = shape
    step = rows_at_once(dim)
    for start in range(0, rows, step):
        yield slice(start, min(start + step, rows))


def format_rows(vectors: NDArray[np.float32], separator: bytes) -> list[bytes]:
    """Write each row as decimals with a separator between them."""
    if vectors.size == 0:
        return [b""] * len(vectors)
    arrow = _arrow()
    if arrow is None:
        pattern = separator.decode().join(["%.9g"] * vectors.shape[1])
        return [(pattern % tuple(row)).encode() for row in vectors.tolist()]
    decimals = plain_array(vectors.reshape(-1)).cast(arrow.string())
    bounds = plain_array(np.arange(0, vectors.size + 1, vectors.shape[1], dtype=np.int32))
    # A scalar of pyarrow's own making would import pandas, so the separator is built from buffers.
    ends = plain_array(np.array([0, len(separator)], np.int32)).buffers()[1]
    between = arrow.Array.from_buffers(arrow.string(), 1, [None, ends, arrow.py_buffer(separator)])[0]
    lists = arrow.ListArray.from_arrays(bounds, decimals)
    joined = arrow.compute.call_function("binary_join", [lists, between])
    return [row.replace(*ROUNDS_TWICE) for row in joined.cast(arrow.binary()).to_pylist()]


def parse_rows(rows: list[bytes], dim: int, separator: bytes) -> NDArray[np.float32]:
    """Undo ``format_rows``; RowError for a row that does not hold ``dim`` numbers."""
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
    """Parse without pyarrow, or again to name the field that is no number."""
    values: list[float] = []
    for index, row in enumerate(rows):
        for column, field in enumerate(row.split(separator)):
            try:
                if b"_" in field:  # which Python allows between digits
                    raise ValueError
                values.append(float(field))
            except ValueError:
                text = field.decode("utf-8", "backslashreplace")
                raise RowError(index, f"{text!r} is not a number", column=column) from None
    with np.errstate(over="ignore"):
        return np.array(values, dtype=np.float32)


def plain_array(numbers: NDArray[Any]) -> Any:
    """Return an Arrow array that shares the memory of numbers; pyarrow's own way would load pandas, for nothing."""
    import pyarrow as pa

    kind = pa.from_numpy_dtype(numbers.dtype)
    return pa.Array.from_buffers(kind, len(numbers), [None, pa.py_buffer(np.ascontiguousarray(numbers))])


def _arrow() -> Any:
    """Return pyarrow, or None where it is not installed."""
    try:
        import pyarrow
        import pyarrow.compute
    except ImportError:
        return None
    return pyarrow
