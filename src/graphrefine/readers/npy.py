"""Arrays in npy and npz files: what the header states is held against the bytes that are there; nothing is unpickled.

NumPy asks for the memory that a header states before it reads, and SciPy trusts the arrays of a sparse matrix; both are
checked here first.
"""

from __future__ import annotations

import zipfile
from collections.abc import Collection
from io import BytesIO
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.readers.limits import check_stated, check_unpacked

KINDS = "biufcSUmM"  # of values; no objects, which are pickles
LAST = 0x10FFFF  # the last character
_VERSIONS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
_COMPRESSED = ("csr", "csc", "bsr")
_MEMBERS = ("format", "shape", "data", "indices", "indptr", "offsets", "row", "col", "coords")


def read_npy(data: bytes) -> NDArray[Any]:
    """The array of the bytes of an npy file, which it shares; ValueError for any other bytes.

    Examples
    --------
    >>> file = BytesIO()
    >>> np.save(file, np.array([[1, 2], [3, 4]]))
    >>> read_npy(file.getvalue()).tolist()
    [[1, 2], [3, 4]]
    """
    file = BytesIO(data)
    try:
        version = np.lib.format.read_magic(file)
        shape, by_columns, kind = _VERSIONS[min(version, (2, 0))](file)
    except Exception as error:  # headers are parsed as Python: there is no end to what damage can raise
        raise ValueError(f"its header is damaged: {str(error).partition(chr(10))[0]}") from None
    if kind.kind not in KINDS or not kind.itemsize:
        raise ValueError(f"it holds {kind}, not numbers or texts; Python objects are not read")
    count, start = prod(shape), file.tell()
    if any(size < 0 for size in shape) or count * kind.itemsize > len(data) - start:
        raise ValueError(f"it states an array of shape {shape}, and {len(data) - start:,} bytes follow")
    try:
        array = np.frombuffer(data, kind, count, start).reshape(shape, order="F" if by_columns else "C")
    except (ValueError, OverflowError) as error:  # dimensions beyond those of NumPy
        raise ValueError(f"it states an array of shape {shape}: {error}") from None
    if kind.kind == "U":
        codes = np.frombuffer(data, f"{kind.str[0]}u4", count * kind.itemsize // 4, start)
        if (codes > LAST).any():
            raise ValueError("its texts hold characters that there are not")
    return array


def read_npz(data: bytes, names: Collection[str], *, path: str) -> dict[str, NDArray[Any]]:
    """Those arrays of an npz file that have one of these names; ``path`` is for the error of too large ones."""
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            members = {name: f"{name}.npy" for name in names if f"{name}.npy" in archive.NameToInfo}
            check_unpacked(path, sum(archive.getinfo(member).file_size for member in members.values()), "it")
            packed = {name: archive.read(member) for name, member in members.items()}
    except ValueError:
        raise
    except Exception as error:  # damage leads into any corner of zipfile and its codecs
        raise ValueError(f"it is no sound zip archive: {error}") from None
    return {name: read_npy(content) for name, content in packed.items()}


def read_sparse_npz(data: bytes, *, path: str) -> Any:
    """The matrix of a file of `scipy.sparse.save_npz`, checked; ValueError for any other bytes."""
    parts = read_npz(data, _MEMBERS, path=path)
    if "format" not in parts:
        raise ValueError("no sparse array or matrix is in it")
    try:
        check_stated(sum(int(size) for size in parts["shape"]), len(data), "rows and columns")
        return _sparse_matrix(parts)
    except Exception as error:  # arrays of wrong types and shapes lead into any corner of SciPy
        name = f"the array {error} is missing" if isinstance(error, KeyError) else str(error)
        raise ValueError(name) from None


def check_compressed(matrix: Any) -> None:
    """Refuse a matrix by rows, columns or blocks that points outside of itself; SciPy does not see all of them."""
    indptr = matrix.indptr
    if indptr[0] != 0 or (indptr[1:] < indptr[:-1]).any():  # their differences could go round
        raise ValueError("the beginnings of its rows or columns do not ascend")
    matrix.check_format(full_check=True)


def _sparse_matrix(parts: dict[str, NDArray[Any]]) -> Any:
    import scipy.sparse as sp

    name = parts["format"].item()
    format = name.decode("ascii") if isinstance(name, bytes) else str(name)
    rows, columns = (int(size) for size in parts["shape"])
    if min(rows, columns) < 0 or parts["data"].dtype.kind not in "biufc":
        raise ValueError(f"it states {parts['data'].dtype} in {rows} rows and {columns} columns")
    if not all(parts[each].dtype.kind in "iu" for each in parts.keys() - {"format", "data"}):
        raise ValueError("its indices are not integers")
    if format in _COMPRESSED:
        make: Any = getattr(sp, f"{format}_array")
        matrix = make((parts["data"], parts["indices"], parts["indptr"]), shape=(rows, columns))
        check_compressed(matrix)
        return matrix.tocsr() if format == "bsr" else matrix
    if format == "dia":
        offsets = parts["offsets"]
        if len(offsets) and (offsets.min() <= -rows or offsets.max() >= columns):
            raise ValueError("a diagonal lies outside of the matrix")
        return sp.dia_array((parts["data"], offsets), shape=(rows, columns)).tocsr()
    if format == "coo":
        places = tuple(parts["coords"]) if "coords" in parts else (parts["row"], parts["col"])
        return sp.coo_array((parts["data"], places), shape=(rows, columns))
    raise ValueError(f"the format {format!r} is not read")
