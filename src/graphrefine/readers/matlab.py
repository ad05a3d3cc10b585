"""MATLAB files: a sparse or dense matrix in the variable ``network``, or in one that is named.

Sparse matrices of version 5 files, as most published graphs are, are inflated straight into arrays: SciPy's
reader would hold the values as float64 first. Anything else goes through `scipy.io.loadmat`.

Layout (MAT-File Format, "Level 5"): a header of 128 bytes, then elements of a tag (type, size) and data; each
variable is a miCOMPRESSED element that inflates to one miMATRIX: flags, dimensions, name, row numbers, column
starts, values.
"""

from __future__ import annotations

import struct
import zlib
from io import BytesIO
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from graphrefine.graph.graph import check_weights
from graphrefine.readers.options import MatrixTable, Options
from graphrefine.readers.source import Source

_MATRIX, _COMPRESSED, _SPARSE_CLASS, _COMPLEX = 14, 15, 5, 0x800
_NUMBERS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
_CHUNK = 1 << 18


def load(source: Source, options: Options) -> MatrixTable:
    """Load a variable of a .mat file."""
    variable = options.variable or "network"
    data = source.data
    if data[:10] == b"MATLAB 7.3" or data[:8] == b"\x89HDF\r\n\x1a\n":
        raise source.error("this is a version 7.3 file, which is not read; save it in MATLAB with '-v7'")
    try:
        rows = _read_sparse(data, variable)
    except (_OtherLayoutError, struct.error, zlib.error):
        rows = None
    if rows is None:
        return _load_with_scipy(source, variable)
    source.release()
    return MatrixTable(rows)


def _load_with_scipy(source: Source, variable: str) -> MatrixTable:
    from scipy.io import loadmat

    try:
        contents = loadmat(cast("Any", BytesIO(source.data)), spmatrix=True)
    except Exception as error:  # on damaged bytes SciPy raises whatever it stumbles over
        raise source.error(f"this is not a readable MATLAB file: {error}") from None
    matrix: Any = contents.get(variable)
    known = ", ".join(f"{name!r}" for name in contents if not name.startswith("__")) or "none"
    if matrix is None:
        raise source.error(f"there is no variable {variable!r}; the variables are {known}; say variable=")
    if not hasattr(matrix, "tocsr") and (matrix.ndim != 2 or matrix.dtype.kind not in "biufc"):
        raise source.error(f"the variable {variable!r} is not a matrix of numbers; the variables are {known}")
    source.release()
    return MatrixTable(matrix)


class _OtherLayoutError(Exception):
    """Not a sparse matrix as MATLAB and SciPy write them; the general reader decides what it is."""


class _Inflater:
    """Reads an inflated element piece by piece, so that nothing but the wanted arrays is ever held."""

    def __init__(self, packed: memoryview) -> None:
        self._packed, self._at = packed, 0
        self._zlib = zlib.decompressobj()
        self._pending: bytes | memoryview = b""

    def piece(self, most: int) -> bytes:
        """At most so many bytes; none only at the end."""
        while True:
            if not self._pending:
                self._pending = self._packed[self._at : self._at + _CHUNK]
                self._at += len(self._pending)
                if not self._pending:
                    raise _OtherLayoutError
            out = self._zlib.decompress(self._pending, most)
            self._pending = self._zlib.unconsumed_tail
            if out:
                return out

    def exactly(self, size: int) -> bytearray:
        out = bytearray(size)
        view, at = memoryview(out), 0
        while at < size:
            part = self.piece(min(_CHUNK * 4, size - at))
            view[at : at + len(part)] = part
            at += len(part)
        return out

    def tag(self) -> tuple[int, int, bytes]:
        """Type, size and, for an element small enough to sit in its tag, the content."""
        raw = bytes(self.exactly(8))
        kind, size = struct.unpack("<II", raw)
        if kind >> 16:
            return kind & 0xFFFF, kind >> 16, raw[4 : 4 + (kind >> 16)]
        return kind, size, b""

    def element(self) -> NDArray[Any]:
        kind, size, content = self.tag()
        if kind not in _NUMBERS:
            raise _OtherLayoutError
        if not content:
            content = memoryview(self.exactly(size + -size % 8))[:size]  # type: ignore[assignment]
        return np.frombuffer(content, dtype="<" + _NUMBERS[kind])


def _read_sparse(
    data: bytes, variable: str
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32] | None] | None:
    """Column starts, row numbers and weights (None: all ones) of a sparse variable, if it is there."""
    if data[126:128] != b"IM":  # big-endian, or version 4
        raise _OtherLayoutError
    at, view = 128, memoryview(data)
    while at + 8 <= len(data):
        kind, size = struct.unpack_from("<II", data, at)
        if kind != _COMPRESSED or at + 8 + size > len(data):
            raise _OtherLayoutError
        inflater = _Inflater(view[at + 8 : at + 8 + size])
        if inflater.tag()[0] == _MATRIX:
            flags, dimensions, name = inflater.element(), inflater.element(), inflater.element()
            if name.tobytes() == variable.encode():
                return _sparse(inflater, int(flags.view(np.uint32)[0]), dimensions)
        at += 8 + size
    return None


def _sparse(
    inflater: _Inflater, flags: int, dimensions: NDArray[Any]
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32] | None]:
    if flags & 0xFF != _SPARSE_CLASS or flags & _COMPLEX or len(dimensions) != 2 or dimensions[0] != dimensions[1]:
        raise _OtherLayoutError  # the general way has the words for what is wrong
    rows, starts = inflater.element(), inflater.element()
    if len(starts) != dimensions[1] + 1 or starts[-1] > len(rows):
        raise _OtherLayoutError
    entries = int(starts[-1])
    weights = _values(inflater, entries)
    return starts.astype(np.int64), rows[:entries].astype(np.int32, copy=False), weights


def _values(inflater: _Inflater, entries: int) -> NDArray[np.float32] | None:
    """The weights, or None if all are 1: then no more than a piece of them is ever held."""
    kind, size, content = inflater.tag()
    dtype = np.dtype("<" + _NUMBERS.get(kind, "V0"))
    if dtype.kind == "V" or size < entries * dtype.itemsize:
        raise _OtherLayoutError
    if content:
        values = np.frombuffer(content, dtype=dtype)[:entries]
        return None if (values == 1).all() else check_weights(values, entries)
    ones = np.ones(_CHUNK * 4 // dtype.itemsize, dtype=dtype).tobytes()
    left, seen = size, 0
    while left:
        part = inflater.piece(min(len(ones) - seen % dtype.itemsize, left))
        offset = seen % dtype.itemsize
        if part != ones[offset : offset + len(part)]:
            return _weights(ones, seen, part + inflater.exactly(left - len(part)), dtype, entries)
        left, seen = left - len(part), seen + len(part)
    return None


def _weights(ones: bytes, seen: int, rest: bytes, dtype: np.dtype[Any], entries: int) -> NDArray[np.float32]:
    """The weights from where they stopped being all ones; `seen` bytes before were ones."""
    offset = seen % dtype.itemsize
    values = np.frombuffer(ones[:offset] + rest, dtype=dtype)
    weights = np.ones(entries, dtype=np.float32)
    weights[seen // dtype.itemsize :] = check_weights(values, len(values))[: entries - seen // dtype.itemsize]
    return weights
