"""Files of matrices: Matrix Market and npz through SciPy, MATLAB through SciPy and h5py; arrays in npy and npz files.

Nothing is unpickled. SciPy's readers trust what a file states, so sizes, types and positions are checked around them.
"""

from __future__ import annotations

import re
import struct
import sys
import zipfile
import zlib
from collections.abc import Collection, Iterator
from io import BytesIO
from math import prod
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import require
from graphrefine.readers.formats import MatrixTable
from graphrefine.readers.options import ReadOptions
from graphrefine.tables.source import Source, UnpackedError, check_stated, check_unpacked

_LINE = re.compile(r"Line (\d+): (.*)", re.DOTALL)  # in errors of SciPy about Matrix Market
_HDF5 = (b"MATLAB 7.3", b"\x89HDF\r\n\x1a\n")
_BYTE_ORDERS = {b"\x00\x01IM": "<", b"\x01\x00MI": ">"}  # by bytes 124 to 127 of version 5
_TYPES = frozenset({*range(1, 8), 9, 12, 13, 14, 16, 17, 18})  # of elements in version 5, unpacked
_MATRIX, _COMPRESSED = 14, 15
_PLAIN = (str, int, float, bool, list)  # values of cells


def load_mtx(source: Source, options: ReadOptions) -> MatrixTable:
    """Load a Matrix Market file."""
    from scipy.io import mminfo, mmread
    from scipy.sparse import coo_array

    # SciPy's parser reads and writes outside of its memory where a file has no line end, where it has zero bytes, and
    # where an array has no rows or is symmetric and not square.
    data = source.data + b"\n"
    source.release()
    if b"\0" in data:
        raise source.error("it has zero bytes, which no text has")
    try:
        rows, columns, entries, layout, field, symmetry = mminfo(cast("Any", BytesIO(data)))
        if field == "complex":
            raise source.error("an adjacency matrix must hold real numbers, not complex ones")
        check_stated(rows + columns, len(data), "rows and columns")
        if min(rows, columns) < 1 or (symmetry != "general" and rows != columns):
            raise ValueError(f"a {symmetry} matrix has no {rows} rows and {columns} columns")
        check_stated(entries, len(data), "entries")
        check_unpacked(source.name, 16 * entries, "the matrix")
        matrix: Any = mmread(cast("Any", BytesIO(data)))
    except (ValueError, OverflowError) as error:
        if located := _LINE.fullmatch(str(error)):
            raise source.error(f"this is not Matrix Market: {located[2]}", line=int(located[1])) from None
        raise
    return MatrixTable(coo_array(matrix) if layout == "coordinate" else matrix)


def load_npz(source: Source, options: ReadOptions) -> MatrixTable:
    """Load a matrix saved with `scipy.sparse.save_npz`."""
    try:
        matrix = read_sparse_npz(source.data, path=source.name)
    except UnpackedError:
        raise
    except ValueError as error:
        if source.suffix != ".npz":
            raise source.error("this is a zip archive: unpack it; of a spreadsheet, save the sheet as csv") from None
        raise source.error(f"this is not a sparse matrix saved by scipy.sparse.save_npz: {error}") from None
    source.release()
    return MatrixTable(matrix)


def load_mat(source: Source, options: ReadOptions) -> MatrixTable:
    """Load a sparse or dense matrix of a .mat file."""
    matrix = read_variable(source, options.variable, hint="; pass variable=")
    if not hasattr(matrix, "tocsr") and (matrix.ndim != 2 or matrix.dtype.kind not in "biufc"):
        raise source.error(f"the variable {options.variable!r} is not a matrix of numbers", argument="variable")
    check_stated(sum(matrix.shape), len(source.data), "rows and columns")
    source.release()
    return MatrixTable(matrix)


def read_npy(data: bytes) -> NDArray[Any]:
    """Return the array of the bytes of an npy file; ValueError for any other bytes."""
    try:
        array = np.lib.format.read_array(BytesIO(data), allow_pickle=False)
    except Exception as error:  # headers are parsed as Python: there is no end to what damage can raise
        raise ValueError(str(error).partition("\n")[0]) from error
    if array.dtype.kind not in "biufcSUmM":
        raise ValueError(f"it holds {array.dtype}, not numbers or texts")
    # NumPy takes any four bytes for a character; Python's strings must not have one beyond the last.
    if array.dtype.kind == "U" and (np.frombuffer(array.tobytes(), f"{array.dtype.str[0]}u4") > sys.maxunicode).any():
        raise ValueError("its texts hold characters that there are not")
    return array


def read_npz(data: bytes, names: Collection[str], *, path: str) -> dict[str, NDArray[Any]]:
    """Return those arrays of an npz file that have one of these names; ``path`` is for the error of too large ones."""
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            members = {name: f"{name}.npy" for name in names if f"{name}.npy" in archive.NameToInfo}
            check_unpacked(path, sum(archive.getinfo(member).file_size for member in members.values()), "it")
            packed = {name: archive.read(member) for name, member in members.items()}
    except ValueError:
        raise
    except Exception as error:  # damage leads into any corner of zipfile and its codecs
        raise ValueError(f"it is no sound zip archive: {error}") from error
    return {name: read_npy(content) for name, content in packed.items()}


def read_sparse_npz(data: bytes, *, path: str) -> Any:
    """Return the matrix of a file of `scipy.sparse.save_npz`, checked; ValueError for any other bytes."""
    from scipy.sparse import load_npz

    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            check_unpacked(path, sum(member.file_size for member in archive.infolist()), "it")
        shape = read_npz(data, ("shape",), path=path).get("shape", ())
        check_stated(sum(int(size) for size in shape), len(data), "rows and columns")
        matrix: Any = load_npz(cast("Any", BytesIO(data)))
        if matrix.format in ("csr", "csc", "bsr"):
            _check_compressed(matrix)
        return cast("Any", matrix).tocoo().tocsr() if matrix.format in ("bsr", "dia") else matrix
    except UnpackedError:
        raise
    except Exception as error:  # arrays of wrong types and shapes lead into any corner of SciPy
        raise ValueError(str(error)) from error


def _check_compressed(matrix: Any) -> Any:
    """Return a matrix by rows, columns or blocks; refuse one that points outside of itself."""
    indptr = matrix.indptr
    # SciPy looks at the differences of these alone, which can go round in int32: then it reads outside of the arrays.
    if indptr[0] != 0 or (indptr[1:] < indptr[:-1]).any():
        raise ValueError("the beginnings of its rows or columns do not ascend")
    matrix.check_format(full_check=True)
    return matrix


def read_variable(source: Source, variable: str, *, hint: str = "") -> Any:
    """Return a variable of a .mat file: a sparse matrix, or an array of numbers, texts or cells; no other is decoded.

    A value of another kind, such as a structure, is returned as an empty array of objects. ``hint`` ends the error for
    a variable that is not there.
    """
    value, names = (_read_hdf5 if source.data.startswith(_HDF5) else _read_mat5)(source, variable)
    if value is None:
        listed = ", ".join(map(repr, names)) or "none"
        raise source.error(f"there is no variable {variable!r}; the variables are {listed}{hint}", argument="variable")
    return value


def _read_mat5(source: Source, variable: str) -> tuple[Any, list[str]]:
    """Return the value of a variable of version 4 or 5, None if there is none, and the names of all."""
    from scipy.io import loadmat, whosmat

    file = cast("Any", BytesIO(_unpack_checked(source)))
    known = {str(name): (shape, kind) for name, shape, kind in whosmat(file)}
    if variable not in known:
        return None, list(known)
    shape, kind = known[variable]
    if kind != "sparse":  # of a sparse matrix the file states its shape, and not how many entries follow
        check_unpacked(source.name, 8 * prod(shape), f"the variable {variable!r}")
    file.seek(0)
    return _check_value(loadmat(file, variable_names=[variable])[variable]), list(known)


def _unpack_checked(source: Source) -> bytes:
    """Return a file of version 5 with its variables unpacked, and every type in it known; one of version 4 as it is."""
    order = _BYTE_ORDERS.get(source.data[124:128])
    if order is None:
        return source.data
    # SciPy 1.17 uses the type of an element as an index without a look at it, so that one damaged byte ends the
    # process with a segmentation fault; and it unpacks a variable to any size. Nothing else of the format is read here.
    parts: list[Any] = [source.data[:128]]
    for kind, element in _split_elements(memoryview(source.data)[128:], order):
        if kind == _COMPRESSED:
            head = zlib.decompressobj().decompress(element[8:], 8)
            size = 8 + struct.unpack_from(f"{order}I", head, 4)[0]
            check_unpacked(source.name, size + sum(map(len, parts)), "the variables")
            element = memoryview(zlib.decompressobj().decompress(element[8:], size))
        parts.append(element)
        _check_types(element, order)
    return b"".join(parts)


def _check_types(content: memoryview, order: str) -> None:
    for kind, element in _split_elements(content, order):
        if kind not in _TYPES:
            raise ValueError(f"an element has the type {kind}, which there is not")
        if kind == _MATRIX:
            _check_types(element[8:], order)


def _split_elements(content: memoryview, order: str) -> Iterator[tuple[int, memoryview]]:
    """Yield the type of each element, and its bytes with the eight of its head."""
    end = 0
    while (start := end) + 8 <= len(content):
        kind, size = struct.unpack_from(f"{order}II", content, start)
        end = start + 8 + size
        if kind >> 16:  # a small one, of eight bytes in all: the size is in the upper half
            kind, end = kind & 0xFFFF, start + 8
        if end > len(content):
            raise ValueError("it is cut short")
        yield kind, content[start:end]
        end += 0 if kind == _COMPRESSED else -end % 8


def _check_value(value: Any) -> Any:
    """Return a value with cells as plain values; what is none of a matrix, numbers, texts and cells as empty."""
    if hasattr(value, "tocsc"):
        from scipy.sparse import csc_array

        return _check_compressed(csc_array(value))
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
    """Return the value of a variable of version 7.3, None if there is none, and the names of all."""
    require("h5py", "reading MATLAB files of version 7.3", "hdf5")
    import h5py

    with h5py.File(BytesIO(source.data), "r") as file:
        names = [str(name) for name in file if not name.startswith("#")]
        if variable not in names:
            return None, names
        # HDF5 can link to other files of this machine: a matrix from elsewhere must not bring them in.
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
    return _check_compressed(csc_array((values, rows.astype(np.int64), starts.astype(np.int64)), shape=shape))


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
