"""Linear algebra on a graph: operators, lengths of rows, scales of columns.

For others: `operators.Operator` and the functions that describe one (`operators.proximity`, `operators.transition`
...); `unit_rows`, `inverse_lengths` and `standardize_columns`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.kernels import exact


def unit_rows(vectors: NDArray[Any]) -> NDArray[np.float32]:
    """Return rows of length 1 in float32; rows of zeros stay.

    Examples
    --------
    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]])).astype(float).round(3).tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    # Squares are summed in float64, in a fixed order: sums of BLAS depend on the processor in the last bits.
    length = np.sqrt(exact.squares_of_rows(vectors))
    inverse = 1 / np.where(length == 0, 1, length)
    unit = np.empty(vectors.shape, np.float32)
    np.multiply(vectors, inverse[:, None], out=unit, casting="same_kind")
    return unit


def inverse_lengths(vectors: NDArray[Any]) -> NDArray[np.float32]:
    """Return the factors that make rows unit; zero for rows of zeros.  # (n,)."""
    lengths = np.sqrt(exact.squares_of_rows(vectors))
    inverse: NDArray[np.float32] = np.where(lengths > 0, 1 / np.where(lengths > 0, lengths, 1), 0).astype(np.float32)
    return inverse


def standardize_columns(vectors: NDArray[np.float32]) -> None:
    """Scale each column to mean 0 and variance 1, in place; a constant column to zeros.

    Examples
    --------
    >>> vectors = np.array([[1, 5], [3, 5]], np.float32)
    >>> standardize_columns(vectors)
    >>> vectors.tolist()
    [[-1.0, 0.0], [1.0, 0.0]]
    """
    vectors -= vectors.mean(axis=0, dtype=np.float64).astype(np.float32)
    variance = exact.squares_of_rows(vectors.T) / max(len(vectors), 1)
    vectors *= np.where(variance > 0, 1.0 / np.sqrt(np.where(variance > 0, variance, 1.0)), 0.0).astype(np.float32)
