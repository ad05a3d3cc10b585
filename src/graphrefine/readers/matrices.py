"""Matrices in files: MATLAB, Matrix Market, npz; read by SciPy, MATLAB's sparse ones by `mat5` and h5py."""

from __future__ import annotations

import zipfile
from io import BytesIO
from typing import Any, cast

from graphrefine.readers.formats import MatrixTable
from graphrefine.readers.hdf5_variables import SIGNATURE, read_hdf5_variable
from graphrefine.readers.mat5 import read_sparse_columns
from graphrefine.readers.options import ReadOptions
from graphrefine.readers.source import Source

_NPZ_ERRORS = (ValueError, KeyError, OSError, EOFError, AttributeError, NotImplementedError, zipfile.BadZipFile)


def load_mat(source: Source, options: ReadOptions) -> MatrixTable:
    """Load a sparse or dense matrix of a .mat file."""
    by_columns = not (options.directed or options.bipartite)  # which is as good where direction does not matter
    matrix: Any = read_sparse_columns(source.data, options.variable) if by_columns else None
    if matrix is None:
        matrix = read_variable(source, options.variable, way_out="; say variable=")
    if not hasattr(matrix, "tocsr") and (matrix.ndim != 2 or matrix.dtype.kind not in "biufc"):
        listed = "" if _is_hdf5(source) else f"; the variables are {_variables(source)}"
        raise source.error(f"the variable {options.variable!r} is not a matrix of numbers{listed}", argument="variable")
    source.release()
    return MatrixTable(matrix)


def read_variable(source: Source, variable: str, *, way_out: str = "") -> Any:
    """The value of a variable; no other is decoded. ``way_out`` ends the error for one that is not there."""
    if _is_hdf5(source):
        return read_hdf5_variable(source, variable, way_out=way_out)
    from scipy.io import loadmat

    try:
        contents = loadmat(_file(source), variable_names=[variable])
    except Exception as error:  # on damaged bytes SciPy raises whatever it stumbles over
        raise source.error(f"this is not a readable MATLAB file: {error}") from None
    if variable not in contents:
        raise source.error(
            f"there is no variable {variable!r}; the variables are {_variables(source)}{way_out}",
            argument="variable",
        )
    return contents[variable]


def _is_hdf5(source: Source) -> bool:
    """Whether a MATLAB file is of version 7.3."""
    return source.data.startswith((b"MATLAB 7.3", SIGNATURE))


def _variables(source: Source) -> str:
    """The names of all variables, for messages."""
    from scipy.io import whosmat

    try:
        names = [name for name, *_ in whosmat(_file(source))]
    except Exception as error:  # as above
        raise source.error(f"this is not a readable MATLAB file: {error}") from None
    return ", ".join(map(repr, names)) or "none"


def _file(source: Source) -> Any:
    return cast("Any", BytesIO(source.data))


def load_mtx(source: Source, options: ReadOptions) -> MatrixTable:
    """Load a Matrix Market file."""
    from scipy.io import mmread

    try:
        matrix: Any = mmread(BytesIO(source.data))
    except (ValueError, OverflowError, IndexError, TypeError) as error:
        raise source.error(f"this is not a readable Matrix Market file: {error}") from None
    source.release()
    return MatrixTable(matrix)


def load_npz(source: Source, options: ReadOptions) -> MatrixTable:
    """Load a matrix saved with `scipy.sparse.save_npz`; pickled arrays are refused."""
    from scipy.sparse import load_npz as load_sparse

    try:
        matrix: Any = load_sparse(BytesIO(source.data))
    except _NPZ_ERRORS as error:
        if source.suffix != ".npz":
            raise source.error("this is a zip archive: unpack it; of a spreadsheet, save the sheet as csv") from None
        problem = "no sparse array or matrix is in it" if "BytesIO" in str(error) else error
        raise source.error(f"this is not a sparse matrix saved by scipy.sparse.save_npz: {problem}") from None
    source.release()
    return MatrixTable(matrix)
