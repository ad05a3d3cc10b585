"""Lengths of rows, and logarithms of degrees: numbers for each node that scores are made of."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


def log_degrees(degrees: NDArray[Any]) -> NDArray[np.float64]:
    """The logarithm of degrees; a node without edges counts as one of half a neighbour."""
    logs: NDArray[np.float64] = np.log(np.maximum(degrees, 0.5), dtype=np.float64)
    return logs


def inverse_lengths(vectors: Floats) -> Floats:
    """What makes rows unit; zero for rows of zeros.  # (n,)."""
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64))
    inverse: Floats = np.where(lengths > 0, 1 / np.where(lengths > 0, lengths, 1), 0).astype(np.float32)
    return inverse
