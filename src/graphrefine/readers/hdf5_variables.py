"""Variables of MATLAB files of version 7.3, which are HDF5: sparse matrices as three arrays, dense ones turned round.

Only what is in the file itself is read: links into other files, and arrays that promise more than the file could hold,
are refused.
"""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy.sparse import csc_array

SIGNATURE = b"\x89HDF\r\n\x1a\n"
MOST = 1100  # bytes that a compressed byte can stand for


def read_hdf5_variable(opened: IO[bytes], variable: str) -> tuple[Any, list[str]]:
    """The value of a variable, a sparse matrix or an array of numbers, None if there is none; and all names."""
    import h5py

    with h5py.File(opened, "r") as file:
        names = [str(name) for name in file if not name.startswith("#")]
        if variable not in names:
            return None, names
        if not isinstance(file.get(variable, getlink=True), h5py.HardLink):
            raise ValueError(f"the variable {variable!r} is a link to something else, which is not followed")
        item = file[variable]
        return _read_sparse(item) if isinstance(item, h5py.Group) else _read_array(item), names


def _read_sparse(group: Any) -> csc_array[Any]:
    """A matrix of three arrays: values, rows, and where each column begins."""
    from scipy.sparse import csc_array

    if "MATLAB_sparse" not in group.attrs:
        raise ValueError(f"{group.name!r} is a structure, not a matrix")
    starts = _read_values(group["jc"])
    empty = "ir" not in group  # no entry at all
    rows = np.zeros(0, np.int64) if empty else _read_values(group["ir"])
    values = np.zeros(0) if empty else _read_values(group["data"])
    shape = (int(group.attrs["MATLAB_sparse"]), len(starts) - 1)
    if any(part.dtype.kind not in "biuf" or part.ndim != 1 for part in (starts, rows, values)):
        raise ValueError(f"{group.name!r} does not hold a sparse matrix of real numbers")
    matrix = csc_array((values, rows.astype(np.int64), starts.astype(np.int64)), shape=shape)
    matrix.check_format(full_check=True)
    return matrix


def _read_array(dataset: Any) -> NDArray[Any]:
    """An array, whose dimensions are stored in the reverse order."""
    if "MATLAB_empty" in dataset.attrs:
        return np.zeros((0, 0))
    kind = dataset.attrs.get("MATLAB_class", b"double")
    if dataset.dtype.kind not in "biuf" or kind in (b"char", b"cell"):
        raise ValueError(f"{dataset.name!r} does not hold real numbers")
    return _read_values(dataset).T


def _read_values(dataset: Any) -> NDArray[Any]:
    """The values of a dataset, if they can be in the file."""
    if dataset.is_virtual or dataset.external is not None:
        raise ValueError(f"{dataset.name!r} is stored in another file, which is not opened")
    if dataset.nbytes > MOST * dataset.id.get_storage_size() + 4096:
        raise ValueError(f"{dataset.name!r} promises {dataset.nbytes:,} bytes, which the file cannot hold")
    return np.asarray(dataset[()])
