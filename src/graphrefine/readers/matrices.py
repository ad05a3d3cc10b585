"""Matrices in files: MATLAB (by `mat5`, or by a process of its own), npz of SciPy; checked before they are used."""

from __future__ import annotations

from typing import Any

from graphrefine.readers.formats import MatrixTable
from graphrefine.readers.limits import UnpackedError, check_stated
from graphrefine.readers.mat5 import SparseColumns, list_variables, read_matrix
from graphrefine.readers.matlab_process import missing_variable, read_by_process
from graphrefine.readers.npy import read_sparse_npz
from graphrefine.readers.options import ReadOptions
from graphrefine.readers.source import Source


def load_mat(source: Source, options: ReadOptions) -> MatrixTable:
    """Load a sparse or dense matrix of a .mat file."""
    matrix = read_variable(source, options.variable, way_out="; say variable=")
    if not hasattr(matrix, "tocsr") and (matrix.ndim != 2 or matrix.dtype.kind not in "biufc"):
        names = list_variables(source.data)
        listed = "" if names is None else f"; the variables are {', '.join(map(repr, names))}"
        raise source.error(f"the variable {options.variable!r} is not a matrix of numbers{listed}", argument="variable")
    check_stated(sum(matrix.shape), len(source.data), "rows and columns")
    source.release()
    by_columns = not (options.directed or options.bipartite)  # which is as good where direction does not matter
    return MatrixTable(matrix.tocsc() if isinstance(matrix, SparseColumns) and not by_columns else matrix)


def read_variable(source: Source, variable: str, *, way_out: str = "") -> Any:
    """The value of a variable; no other is decoded. ``way_out`` ends the error for one that is not there."""
    matrix = read_matrix(source.data, variable, path=source.name)
    if matrix is not None:
        return matrix
    names = list_variables(source.data)
    if names is not None and variable not in names:
        raise missing_variable(source, variable, names, way_out)
    return read_by_process(source, variable, way_out=way_out)


def load_npz(source: Source, options: ReadOptions) -> MatrixTable:
    """Load a matrix saved with `scipy.sparse.save_npz`; pickled arrays are refused."""
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
