"""Sparse matrices in files: Matrix Market, and SciPy's npz."""

from __future__ import annotations

import zipfile
from io import BytesIO
from typing import Any

from graphrefine.readers.formats import MatrixTable
from graphrefine.readers.options import ReadOptions
from graphrefine.readers.source import Source


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
    except (
        ValueError,
        KeyError,
        OSError,
        EOFError,
        AttributeError,
        NotImplementedError,
        zipfile.BadZipFile,
    ) as error:
        raise source.error(f"this is not a sparse matrix saved by scipy.sparse.save_npz: {error}") from None
    source.release()
    return MatrixTable(matrix)
