"""Sparse matrices of MATLAB's version 5, without SciPy: its import takes longer than all else on a small graph.

A file is a header of 128 bytes and a list of elements, one for each variable, packed by zlib or not. An element has a
type, a size and a content; that of a matrix is a list of elements again: flags, dimensions, name, then of a sparse
matrix row numbers, the first entry of each column, and values. What is not exactly that (other byte orders, dense or
complex matrices, damage) is left to `scipy.io`.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

HEADER = 128
MATRIX, COMPRESSED = 14, 15  # types of elements
NUMBERS = {1: "i1", 2: "u1", 3: "<i2", 4: "<u2", 5: "<i4", 6: "<u4", 7: "<f4", 9: "<f8", 12: "<i8", 13: "<u8"}
SPARSE, COMPLEX = 5, 0x0800  # the class of a matrix, and a flag
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

    def tocsr(self) -> Any:
        """The same by rows, as a SciPy matrix."""
        from scipy.sparse import csc_array

        return csc_array((self.data, self.indices, self.indptr), shape=self.shape).tocsr()


def read_sparse_columns(file: bytes, variable: str) -> SparseColumns | None:
    """The sparse matrix of a variable; None where it is not there, or is something else.

    Examples
    --------
    >>> from io import BytesIO
    >>> from scipy.io import savemat
    >>> from scipy.sparse import csc_array
    >>> file = BytesIO()
    >>> savemat(file, {"network": csc_array([[0, 2], [1, 0]])})
    >>> matrix = read_sparse_columns(file.getvalue(), "network")
    >>> matrix.shape, matrix.indices.tolist(), matrix.indptr.tolist(), matrix.data.tolist()
    ((2, 2), [1, 0], [0, 1, 2], [1, 2])
    """
    if file[124:128] != b"\x00\x01IM":  # version 1.0, the least byte first
        return None
    try:
        for kind, content in _elements(memoryview(file)[HEADER:]):
            if kind == COMPRESSED:
                beginning = zlib.decompressobj().decompress(content, BEGINNING)
                if _name(memoryview(beginning)[8:]) != variable:
                    continue
                kind, content = next(_elements(memoryview(zlib.decompress(content))))
            if kind == MATRIX and _name(content) == variable:
                return _sparse_columns(content)
    except (struct.error, zlib.error, ValueError, StopIteration):  # damaged, cut short, or none of ours
        return None
    return None


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


def _sparse_columns(content: memoryview) -> SparseColumns | None:
    elements = list(_elements(content))
    (flags, _), shape = struct.unpack("<II", elements[0][1]), _numbers(*elements[1])
    if flags & 0xFF != SPARSE or flags & COMPLEX or len(shape) != 2 or len(elements) != 6:
        return None
    indices, indptr, values = (_numbers(*element) for element in elements[3:])
    rows, columns = (int(size) for size in shape)
    sound = len(indptr) == columns + 1 and indptr[0] == 0 and bool((np.diff(indptr) >= 0).all())
    entries = int(indptr[-1]) if sound else 0
    if not sound or entries > min(len(indices), len(values)) or indices.dtype != np.int32 or indptr.dtype != np.int32:
        return None
    # A graph keeps the row numbers: a copy, so that the bytes of the whole variable are not kept with them.
    return SparseColumns(values[:entries], indices[:entries].copy(), indptr, (rows, columns))


def _numbers(kind: int, content: memoryview) -> NDArray[Any]:
    if kind not in NUMBERS:
        raise ValueError(kind)
    return np.frombuffer(content, NUMBERS[kind])
