"""The compiled kernels under the names of `graphrefine.kernels.Kernels`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.kernels import _native
from graphrefine.kernels._native import simd

__all__ = ["Product", "breadth_first", "name", "permute", "product", "rotate", "row_sums", "signs", "simd"]

name = "native"
Floats = NDArray[np.float32]


class Product:
    """A `graphrefine.kernels.Product` in C++."""

    def __init__(self, product: _native.Product) -> None:
        self._product = product

    def apply(
        self,
        x: NDArray[Any],
        *,
        out: NDArray[Any],
        scale: float = 1.0,
        plus: NDArray[Any] | None = None,
        plus_scale: float = 0.0,
        unit: bool = False,
        gram: NDArray[np.float64] | None = None,
        threads: int = 1,
    ) -> None:
        """See `graphrefine.kernels.Product.apply`."""
        self._product.apply(
            x, out=out, scale=scale, plus=plus, plus_scale=plus_scale, unit=unit, gram=gram, threads=threads
        )


def product(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    *,
    columns: int,
    value: Floats | None = None,
    row_shift: Floats | None = None,
    column_shift: Floats | None = None,
    row_scale: Floats | None = None,
    column_scale: Floats | None = None,
    constant: float = 0.0,
    loop: float = 0.0,
) -> Product:
    """See `graphrefine.kernels.Kernels.product`."""
    return Product(
        _native.Product(
            indptr,
            indices,
            columns=columns,
            value=value,
            row_shift=row_shift,
            column_shift=column_shift,
            row_scale=row_scale,
            column_scale=column_scale,
            constant=constant,
            loop=loop,
        )
    )


def rotate(
    x: NDArray[Any],
    rotation: Floats | None,
    *,
    triangular: bool = False,
    out: NDArray[Any] | None,
    places: NDArray[np.int32] | None = None,
    unit: bool = False,
    gram: NDArray[np.float64] | None = None,
    threads: int = 1,
) -> None:
    """See `graphrefine.kernels.Kernels.rotate`."""
    _native.rotate(
        x, rotation, triangular=triangular, out=out, places=places, unit=unit, gram=gram, threads=threads
    )


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
