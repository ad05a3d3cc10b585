"""MATLAB files: variables of versions 4 and 5 through SciPy, of version 7.3, which is HDF5, through h5py."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from io import BytesIO
from math import prod
from typing import Any, cast

import numpy as np

from graphrefine.errors import MissingExtraError
from graphrefine.readers.formats import MatrixTable
from graphrefine.readers.npy import check_compressed
from graphrefine.readers.options import ReadOptions
from graphrefine.tables.limits import check_stated, check_unpacked
from graphrefine.tables.source import Source, wrap_errors

SIGNATURES = (b"MATLAB 7.3", b"\x89HDF\r\n\x1a\n")
_VERSION_5 = {b"\x00\x01IM": "<", b"\x01\x00MI": ">"}  # bytes 124 to 127, and the order of bytes that they tell
_TYPES = frozenset({*range(1, 8), 9, 12, 13, 14, 16, 17, 18})  # of elements, unpacked
_MATRIX, _COMPRESSED = 14, 15
_PLAIN = (str, int, float, bool, list)  # values of cells


def load(source: Source, options: ReadOptions) -> MatrixTable:
    """Load a sparse or dense matrix of a .mat file."""
    matrix = read_variable(source, options.variable, hint="; pass variable=")
    if not hasattr(matrix, "tocsr") and (matrix.ndim != 2 or matrix.dtype.kind not in "biufc"):
        raise source.error(f"the variable {options.variable!r} is not a matrix of numbers", argument="variable")
    check_stated(sum(matrix.shape), len(source.data), "rows and columns")
    source.release()
    return MatrixTable(matrix)


def read_variable(source: Source, variable: str, *, hint: str = "") -> Any:
    """Return the value of a variable: a sparse matrix, or an array of numbers, texts or cells; no other is decoded.

    A value of another kind, such as a structure, is returned as an empty array of objects. ``hint`` ends the error for
    a variable that is not there.
    """
    if source.data.startswith(SIGNATURES):
        with wrap_errors(source, "MATLAB file of version 7.3"):
            value, names = _read_hdf5(source, variable)
    else:
        with wrap_errors(source, "MATLAB file"):
            value, names = _read_mat5(source, variable)
    if value is None:
        listed = ", ".join(map(repr, names)) or "none"
        raise source.error(f"there is no variable {variable!r}; the variables are {listed}{hint}", argument="variable")
    return value


def _read_mat5(source: Source, variable: str) -> tuple[Any, list[str]]:
    """Return the value of a variable, None if there is none, and the names of all."""
    from scipy.io import loadmat, whosmat

    file = cast("Any", BytesIO(_inflate(source)))
    known = {str(name): (shape, kind) for name, shape, kind in whosmat(file)}
    if variable not in known:
        return None, list(known)
    shape, kind = known[variable]
    if kind != "sparse":  # of a sparse matrix the file states its shape, and not how many entries follow
        check_unpacked(source.name, 8 * prod(shape), f"the variable {variable!r}")
    file.seek(0)
    return _check_value(loadmat(file, variable_names=[variable])[variable]), list(known)


def _inflate(source: Source) -> bytes:
    """Return a file of version 5 with its variables unpacked, and every type in it known; one of version 4 as it is.

    SciPy takes the type of an element as an index without a look at it, so that one damaged byte ends the process.
    """
    order = _VERSION_5.get(source.data[124:128])
    if order is None:
        return source.data
    parts: list[Any] = [source.data[:128]]
    data = memoryview(source.data)[128:]
    for kind, start, end in _find_elements(data, order):
        parts.append(data[start:end])
        if kind == _COMPRESSED:
            unpacker, packed = zlib.decompressobj(), data[start + 8 : end]
            size = 8 + struct.unpack_from(f"{order}I", unpacker.decompress(packed, 8), 4)[0]
            check_unpacked(source.name, size + sum(map(len, parts)), "the variables")
            parts[-1] = zlib.decompressobj().decompress(packed, size)
        _check_types(memoryview(parts[-1]), order)
    return b"".join(parts)


def _check_types(content: memoryview, order: str) -> None:
    for kind, start, end in _find_elements(content, order):
        if kind not in _TYPES:
            raise ValueError(f"an element has the type {kind}, which there is not")
        if kind == _MATRIX:
            _check_types(content[start + 8 : end], order)


def _find_elements(content: memoryview, order: str) -> Iterator[tuple[int, int, int]]:
    """Yield the type of each element, and where it begins and ends."""
    end = 0
    while (start := end) + 8 <= len(content):
        kind, size = struct.unpack_from(f"{order}II", content, start)
        end = start + 8 + size
        if kind >> 16:  # a small one, of eight bytes in all: the size is in the upper half
            kind, end = kind & 0xFFFF, start + 8
        if end > len(content):
            raise ValueError("it is cut short")
        yield kind, start, end
        end += 0 if kind == _COMPRESSED else -end % 8


def _check_value(value: Any) -> Any:
    """Return a value with cells as plain values; what is none of a matrix, numbers, texts and cells as empty."""
    if hasattr(value, "tocsc"):
        from scipy.sparse import csc_array

        matrix = csc_array(value)
        check_compressed(matrix)
        return matrix
    array = np.asarray(value)
    if array.dtype.kind == "O":
        cells = np.empty(array.shape, object)
        for index, cell in np.ndenumerate(array):
            cells[index] = _plain(cell)
        if all(isinstance(cell, _PLAIN) for cell in cells.flat):
            return cells
    return array if array.dtype.kind in "biufcU" else np.empty((0, 0), object)


def _plain(cell: Any) -> Any:
    """Return a cell as a value or a list of some; None for anything else."""
    if isinstance(cell, np.ndarray) and cell.dtype.kind in "biufU":
        values = cell.tolist()
        return values[0] if cell.shape == (1,) else values
    return cell if isinstance(cell, _PLAIN) else None


def _read_hdf5(source: Source, variable: str) -> tuple[Any, list[str]]:
    """Return the value of a variable, None if there is none, and the names of all."""
    try:
        import h5py
    except ModuleNotFoundError:
        raise MissingExtraError("reading MATLAB files of version 7.3", "h5py", "hdf5") from None

    with h5py.File(BytesIO(source.data), "r") as file:
        names = [str(name) for name in file if not name.startswith("#")]
        if variable not in names:
            return None, names
        # HDF5 can link to other files of this machine, which nobody who sends a matrix needs.
        if not isinstance(file.get(variable, getlink=True), h5py.HardLink):
            raise ValueError(f"the variable {variable!r} is a link, which is not followed")
        item = file[variable]
        value = _read_sparse(source, item) if isinstance(item, h5py.Group) else _read_array(source, item)
        return value, names


def _read_sparse(source: Source, group: Any) -> Any:
    """Return a matrix from the three arrays of a group: values, rows, and where each column begins."""
    from scipy.sparse import csc_array

    if "MATLAB_sparse" not in group.attrs:
        raise ValueError(f"{group.name!r} is a structure, not a matrix")
    starts = _read_values(source, group["jc"])
    empty = "ir" not in group  # no entry at all
    rows = np.zeros(0, np.int64) if empty else _read_values(source, group["ir"])
    values = np.zeros(0) if empty else _read_values(source, group["data"])
    shape = (int(group.attrs["MATLAB_sparse"]), len(starts) - 1)
    matrix = csc_array((values, rows.astype(np.int64), starts.astype(np.int64)), shape=shape)
    check_compressed(matrix)
    return matrix


def _read_array(source: Source, dataset: Any) -> Any:
    """Return an array, whose dimensions HDF5 has in the reverse order."""
    if "MATLAB_empty" in dataset.attrs:
        return np.zeros((0, 0))
    kind = dataset.attrs.get("MATLAB_class", b"double")
    if dataset.dtype.kind not in "biuf" or kind in (b"char", b"cell"):
        raise ValueError(f"{dataset.name!r} does not hold real numbers")
    return _read_values(source, dataset).T


def _read_values(source: Source, dataset: Any) -> Any:
    if dataset.is_virtual or dataset.external is not None:
        raise ValueError(f"{dataset.name!r} is stored in another file, which is not opened")
    check_unpacked(source.name, dataset.nbytes, f"the dataset {dataset.name!r}")
    return np.asarray(dataset[()])
