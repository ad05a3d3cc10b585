"""Weights of edges: checked as they come in, and summed over rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import InputError


def sums_of_rows(indptr: NDArray[np.int64], weights: NDArray[np.float32] | None) -> NDArray[np.float64]:
    """Sum of the weights of each row of CSR, ones where None.  # (n,)."""
    counts = np.diff(indptr)
    if weights is None:
        return counts.astype(np.float64)
    sums = np.zeros(len(counts))
    filled = counts > 0  # reduceat would give an empty row its neighbour's first weight
    if filled.any():
        sums[filled] = np.add.reduceat(weights, indptr[:-1][filled], dtype=np.float64)
    return sums


def inverses(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """1 over each value; 0 where it is 0."""
    return np.divide(1.0, values, out=np.zeros_like(values), where=values > 0)


def check_weights(weights: NDArray[Any], count: int, *, before: int = 0) -> NDArray[np.float32]:
    """Weights as float32, or an error that names the first that is not finite or is negative.

    ``before`` is the number of records before these.
    """
    if weights.shape != (count,):
        raise InputError(
            f"weights must be one for each of the {count} edges, not of shape {weights.shape}", argument="weights"
        )
    if weights.dtype.kind not in "iufb":
        try:
            weights = weights.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(f"weights must be numbers: {error}", argument="weights") from None
    with np.errstate(over="ignore", under="ignore"):
        values = np.ascontiguousarray(weights, dtype=np.float32)
    bad = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
    if bad.size:
        raise InputError(
            f"record {before + bad[0] + 1}: weight {weights[bad[0]]} is not allowed; "
            "weights must be finite float32 numbers and not negative",
            argument="weights",
        )
    return values
