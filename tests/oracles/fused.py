"""Oracles of the compiled arithmetic in NumPy: a product and a sum in one rounding, and dot products in their order."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
LANES = 32  # partial sums of a dot product


def fma(a: Any, b: Any, c: Any) -> Floats:
    """``a * b + c``, rounded once to float32.

    The product is exact in float64. Its sum with c is moved to the neighbor whose last bit is set wherever it is not
    exact, so that the second rounding cannot meet a tie that is none.

    Examples
    --------
    >>> tiny = np.float32(2**-12)
    >>> x = np.float32([1 + tiny])
    >>> fma(x, x, np.float32(-1)) - (x * x - np.float32(1)) == tiny * tiny  # the square itself has no room for that
    array([ True])
    """
    a, b, c = (np.asarray(each, np.float32).astype(np.float64) for each in (a, b, c))
    product = a * b
    total = np.asarray(product + c)
    part = total - product
    error = (product - (total - part)) + (c - part)
    even = total.view(np.int64) % 2 == 0
    odd = np.nextafter(total, np.where(error > 0, np.inf, -np.inf))
    return np.where((error != 0) & even, odd, total).astype(np.float32)


def dots(x: Floats, rows: Floats) -> Floats:
    """``rows @ x``: column c goes to the partial sum c mod 32, and these are folded in halves.  # (rows,).

    Examples
    --------
    >>> dots(np.ones(64, np.float32), np.ones((2, 64), np.float32)).tolist()
    [64.0, 64.0]
    """
    sums = np.zeros((len(rows), LANES), np.float32)
    for start in range(0, len(x), LANES):
        part = slice(start, start + LANES)
        sums = fma(x[part], rows[:, part], sums)
    while sums.shape[1] > 1:
        half = sums.shape[1] // 2
        sums = sums[:, :half] + sums[:, half:]
    return sums[:, 0]
