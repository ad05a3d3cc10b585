"""Matrices of MATLAB's version 5, without SciPy: its import takes longer than all else on a small graph.

A file is a header of 128 bytes and a list of elements, one for each variable, packed by zlib or not. An element has a
type, a size and a content; that of a matrix is a list of elements again: flags, dimensions, name, then values or, of a
sparse matrix, row numbers, the first entry of each column, and values. What is not exactly that (other byte orders,
complex numbers, texts, cells, damage) is left to `matlab_process`.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.readers.limits import UnpackedError, check_unpacked

HEADER = 128
MATRIX, COMPRESSED = 14, 15  # types of elements
NUMBERS = {1: "i1", 2: "u1", 3: "<i2", 4: "<u2", 5: "<i4", 6: "<u4", 7: "<f4", 9: "<f8", 12: "<i8", 13: "<u8"}
SPARSE, COMPLEX = 5, 0x0800  # the class of a matrix, and a flag
DENSE = range(6, 16)  # classes of arrays of numbers
BEGINNING = 1 << 10  # bytes of a packed variable that its name is looked for in


@dataclass(frozen=True)
class SparseColumns:
    """A sparse matrix by columns, with the names of SciPy's ``csc_array``."""

    data: NDArray[Any]  # (entries,)
    indices: NDArray[np.int32]  # (entries,)
    indptr: NDArray[np.int32]  # (columns + 1,)
    shape: tuple[int, int]
    format: str = "csc"

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the values."""
        return self.data.dtype

    def tocsc(self) -> Any:
        """The same as a SciPy matrix."""
        from scipy.sparse import csc_array

        return csc_array((self.data, self.indices, self.indptr), shape=self.shape)

    def tocsr(self) -> Any:
        """The same by rows, as a SciPy matrix."""
        return self.tocsc().tocsr()


def read_matrix(file: bytes, variable: str, *, path: str = "") -> SparseColumns | NDArray[Any] | None:
    """The matrix or array of a variable; None where it is not there, or is something else. ``path`` is for errors.

    Examples
    --------
    >>> from io import BytesIO
    >>> from scipy.io import savemat
    >>> from scipy.sparse import csc_array
    >>> file = BytesIO()
    >>> savemat(file, {"network": csc_array([[0, 2], [1, 0]]), "dense": [[1.5, 2]]})
    >>> matrix = read_matrix(file.getvalue(), "network")
    >>> matrix.shape, matrix.indices.tolist(), matrix.indptr.tolist(), matrix.data.tolist()
    ((2, 2), [1, 0], [0, 1, 2], [1, 2])
    >>> read_matrix(file.getvalue(), "dense")
    array([[1.5, 2. ]])
    """
    try:
        for name, kind, content in _variables(file):
            if name == variable:
                if kind == COMPRESSED:
                    kind, content = next(_elements(memoryview(_unpack(content, path, variable))))
                return _matrix(content) if kind == MATRIX and _name(content) == variable else None
    except UnpackedError:
        raise
    except (struct.error, zlib.error, ValueError, StopIteration):  # damaged, cut short, or none of ours
        return None
    return None


def list_variables(file: bytes) -> list[str] | None:
    """The names of all variables; None where they cannot be told."""
    try:
        return [name for name, *_ in _variables(file) if name] if is_ours(file) else None
    except (struct.error, zlib.error, ValueError):
        return None


def is_ours(file: bytes) -> bool:
    """Whether a file is of version 5, the least byte first."""
    return file[124:128] == b"\x00\x01IM"


def _variables(file: bytes) -> Iterator[tuple[str, int, memoryview]]:
    """Names, types and contents of the variables."""
    if not is_ours(file):
        return
    for kind, content in _elements(memoryview(file)[HEADER:]):
        if kind == COMPRESSED:
            yield _name(memoryview(zlib.decompressobj().decompress(content, BEGINNING))[8:]), kind, content
        elif kind == MATRIX:
            yield _name(content), kind, content


def _unpack(content: memoryview, path: str, variable: str) -> bytes:
    """An element that is packed: as many bytes as it states, if the memory allows them."""
    unpacker = zlib.decompressobj()
    head = unpacker.decompress(content, 8)
    _, size = struct.unpack("<II", head)
    check_unpacked(path, size, f"the variable {variable!r}")
    unpacker = zlib.decompressobj()
    whole = unpacker.decompress(content, 8 + size)
    if not unpacker.eof:  # its checksum may be all that is left
        unpacker.decompress(unpacker.unconsumed_tail, 1)
    if len(whole) < 8 + size or not unpacker.eof:
        raise ValueError("cut short")
    return whole


def _elements(content: memoryview) -> Iterator[tuple[int, memoryview]]:
    """Types and contents of the elements in a row."""
    place = 0
    while place < len(content):
        kind, size = struct.unpack_from("<II", content, place)
        start = place + 8
        if kind >> 16:  # a small one: type and size in four bytes, the content in the next four
            kind, size, start = kind & 0xFFFF, kind >> 16, place + 4
        yield kind, content[start : start + size]
        place = start + size
        if kind != COMPRESSED:
            place += -place % 8


def _name(content: memoryview) -> str:
    """The name of a matrix: the third element."""
    _, _, (_, name) = (element for element, _ in zip(_elements(content), range(3), strict=False))
    return bytes(name).decode("latin-1")


def _matrix(content: memoryview) -> SparseColumns | NDArray[Any] | None:
    elements = list(islice(_elements(content), 7))
    (flags, _), shape = struct.unpack("<II", elements[0][1]), _numbers(*elements[1]).tolist()
    if flags & COMPLEX or len(shape) < 2 or min(shape) < 0:
        return None
    if flags & 0xFF in DENSE and len(elements) == 4:
        values = _numbers(*elements[3])
        return values.reshape(shape, order="F") if len(values) == prod(shape) else None
    if flags & 0xFF != SPARSE or len(shape) != 2 or len(elements) != 6:
        return None
    return _sparse_columns(shape, *(_numbers(*element) for element in elements[3:]))


def _sparse_columns(
    shape: list[int], indices: NDArray[Any], indptr: NDArray[Any], values: NDArray[Any]
) -> SparseColumns | None:
    rows, columns = shape
    # Neighbors are compared, as differences of int32 can go round.
    sound = len(indptr) == columns + 1 and indptr[0] == 0 and bool((indptr[1:] >= indptr[:-1]).all())
    entries = int(indptr[-1]) if sound else 0
    if not sound or entries > min(len(indices), len(values)) or indices.dtype != np.int32 or indptr.dtype != np.int32:
        return None
    # A graph keeps the row numbers: a copy, so that the bytes of the whole variable are not kept with them.
    indices = indices[:entries].copy()
    if entries and (indices.min() < 0 or indices.max() >= rows):
        return None
    return SparseColumns(values[:entries], indices, indptr, (rows, columns))


def _numbers(kind: int, content: memoryview) -> NDArray[Any]:
    if kind not in NUMBERS:
        raise ValueError(kind)
    return np.frombuffer(content, NUMBERS[kind])
