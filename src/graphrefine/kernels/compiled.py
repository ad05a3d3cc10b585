"""The compiled kernels under the names of `graphrefine.kernels.Kernels`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphrefine.kernels import _native
from graphrefine.kernels._native import rotate, simd

__all__ = ["breadth_first", "name", "permute", "product", "rotate", "row_sums", "signs", "simd", "split_rows"]

name = "native"
product = _native.Product  # a class, called like the twin's function
Floats = NDArray[np.float32]


def breadth_first(indptr: NDArray[np.int64], indices: NDArray[np.int32]) -> NDArray[np.int32]:
    """See `graphrefine.kernels.Kernels.breadth_first`."""
    order = np.empty(len(indptr) - 1, np.int32)
    _native.breadth_first(indptr, indices, order)
    return order


def permute(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    values: Floats | None,
    order: NDArray[np.int32],
    *,
    threads: int = 1,
) -> tuple[NDArray[np.int64], NDArray[np.int32], Floats | None]:
    """See `graphrefine.kernels.Kernels.permute`."""
    new_indptr, new_indices = np.empty_like(indptr), np.empty_like(indices)
    new_values = None if values is None else np.empty_like(values)
    _native.permute(indptr, indices, values, order, new_indptr, new_indices, new_values, threads)
    return new_indptr, new_indices, new_values


def signs(
    seed: int, start: int, *, rows: int, words: int, order: NDArray[np.int32] | None = None
) -> NDArray[np.uint32]:
    """See `graphrefine.kernels.Kernels.signs`."""
    out = np.empty((rows, words), np.uint32)
    _native.signs(seed, start, order, out)
    return out


def row_sums(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    values: Floats | None,
    scale: NDArray[np.float64],
    *,
    threads: int = 1,
) -> NDArray[np.float64]:
    """See `graphrefine.kernels.Kernels.row_sums`."""
    sums = np.empty(len(indptr) - 1)
    _native.row_sums(indptr, indices, values, scale, sums, threads)
    return sums


def split_rows(indptr: NDArray[np.int64], indices: NDArray[np.int32], firsts: NDArray[np.int32]) -> NDArray[np.int64]:
    """See `graphrefine.kernels.Kernels.split_rows`."""
    cuts = np.empty((len(firsts), len(indptr) - 1), np.int64)
    _native.split_rows(indptr, indices, firsts, cuts)
    return cuts
