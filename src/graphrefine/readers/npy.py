"""Arrays in npy and npz files, and the sparse matrices that SciPy saves in npz; nothing is unpickled."""

from __future__ import annotations

import zipfile
from collections.abc import Collection
from io import BytesIO
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from graphrefine.readers.formats import MatrixTable
from graphrefine.readers.options import ReadOptions
from graphrefine.tables.limits import UnpackedError, check_stated, check_unpacked
from graphrefine.tables.source import Source

_LAST_CHARACTER = 0x10FFFF


def load(source: Source, options: ReadOptions) -> MatrixTable:
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


def read_npy(data: bytes) -> NDArray[Any]:
    """Return the array of the bytes of an npy file; ValueError for any other bytes.

    Examples
    --------
    >>> file = BytesIO()
    >>> np.save(file, np.array([[1, 2], [3, 4]]))
    >>> read_npy(file.getvalue()).tolist()
    [[1, 2], [3, 4]]
    """
    try:
        array = np.lib.format.read_array(BytesIO(data), allow_pickle=False)
    except Exception as error:  # headers are parsed as Python: there is no end to what damage can raise
        raise ValueError(str(error).partition("\n")[0]) from error
    if array.dtype.kind not in "biufcSUmM":
        raise ValueError(f"it holds {array.dtype}, not numbers or texts")
    # NumPy reads any four bytes as a character, and fails at those that are none when a text is made of them.
    if array.dtype.kind == "U" and (_character_codes(array) > _LAST_CHARACTER).any():
        raise ValueError("its texts hold characters that there are not")
    return array


def _character_codes(array: NDArray[Any]) -> NDArray[np.uint32]:
    flat = np.ascontiguousarray(array).reshape(-1)
    return flat.view(f"{flat.dtype.str[0]}u4") if flat.dtype.itemsize else np.zeros(0, np.uint32)


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
            check_compressed(matrix)
        return cast("Any", matrix).tocoo().tocsr() if matrix.format in ("bsr", "dia") else matrix
    except UnpackedError:
        raise
    except Exception as error:  # arrays of wrong types and shapes lead into any corner of SciPy
        raise ValueError(str(error)) from error


def check_compressed(matrix: Any) -> None:
    """Refuse a matrix by rows, columns or blocks that points outside of itself."""
    indptr = matrix.indptr
    # SciPy looks at the differences of these, which can go round in int32.
    if indptr[0] != 0 or (indptr[1:] < indptr[:-1]).any():
        raise ValueError("the beginnings of its rows or columns do not ascend")
    matrix.check_format(full_check=True)
