"""Rows, numbers and sums of the twin of live vectors, as in ``native/live_rows.cpp``; the same but for rounding."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Reals = NDArray[np.float64]
Ints = NDArray[np.int32]

UP = 1 + 1e-9  # the rounding of bounds themselves: always upwards
PIECE = 128  # entries summed in float32
LEAST_WEIGHT, LARGEST_WEIGHT, LARGEST_DEGREE = 2.0**-100, 2.0**100, 2.0**120


@dataclass(slots=True)
class Numbers:
    """Numbers of a node."""

    degree: float = 0.0
    lag: float = 0.0  # bound of the residual
    drift: float = 0.0  # bound of the way of q since R was made
    length: float = 0.0  # of q, when R was made
    unpublished: float = 0.0  # way of F since it was published
    energy: float = 0.0  # sum of the squares of its row of M, when R was made


@dataclass(slots=True)
class Row:
    """Neighbors in order; arrays are replaced, never changed, so that a copy of the two is a copy of the row."""

    indices: Ints = field(default_factory=lambda: np.empty(0, np.int32))
    weights: Floats = field(default_factory=lambda: np.empty(0, np.float32))

    def place(self, other: int) -> tuple[int, bool]:
        """Place of a neighbor in the row, and whether it is there."""
        at = int(np.searchsorted(self.indices, other))
        return at, at < len(self.indices) and int(self.indices[at]) == other

    def weight(self, other: int) -> np.float32:
        """Weight of the edge to a node; 0 where there is none."""
        at, there = self.place(other)
        return np.float32(self.weights[at] if there else 0)

    def sum(self) -> float:
        """Sum of the weights."""
        return float(self.weights.sum(dtype=float))

    def put(self, other: int, weight: np.float32) -> None:
        """Set the weight of the edge to a node; 0 removes it."""
        at, there = self.place(other)
        if there:
            self.indices, self.weights = np.delete(self.indices, at), np.delete(self.weights, at)
        if weight > 0:
            self.indices = np.insert(self.indices, at, np.int32(other))
            self.weights = np.insert(self.weights, at, weight)


class Kept(NamedTuple):
    """A node as it was before the group."""

    numbers: Numbers
    row: Row
    target: Floats
    state: Floats
    hub: Any  # its sums, or None


def sum_rows(indices: Ints, factors: Floats, rows: Floats) -> Reals:
    """Sum of factor * row over the entries: pieces of 128 entries in float32, and the pieces in float64.

    Examples
    --------
    >>> sum_rows(np.array([2, 0], np.int32), np.array([2, 1], np.float32), np.eye(3, dtype=np.float32)).tolist()
    [1.0, 0.0, 2.0]
    """
    total = np.zeros(rows.shape[1])
    for e in range(0, len(indices), PIECE):
        piece = slice(e, e + PIECE)
        total += (factors[piece, None] * rows[indices[piece]]).sum(axis=0)
    return total


def sum_precisely(indices: Ints, factors: Reals, rows: Floats) -> Reals:
    """The same in float64 alone."""
    total: Reals = (factors[:, None] * rows[indices]).sum(axis=0)
    return total


def length_of(row: Reals) -> float:
    """Length of a row.

    Examples
    --------
    >>> length_of(np.array([3.0, 4.0]))
    5.0
    """
    return float(np.sqrt((row * row).sum()))


def chord(t: float) -> float:
    """Largest distance of two unit vectors, one of them along x and the other along x + e, ``|e| <= t |x|``.

    Examples
    --------
    >>> round(chord(1e-12) / 1e-12, 6), round(chord(0.6) ** 2, 6), chord(1)
    (1.0, 0.4, 2.0)
    """
    return t * math.sqrt(2 / (1 + math.sqrt((1 - t) * (1 + t)))) * UP if t < 1 else 2.0


def is_weight(weight: float) -> bool:
    """Whether a weight is 0, no edge, or in the range where products with rows of float32 neither overflow nor vanish.

    Examples
    --------
    >>> [is_weight(weight) for weight in (0, 1, 1e-40, 1e38, -1, float("nan"))]
    [True, True, False, False, False, False]
    """
    return weight == 0 or LEAST_WEIGHT <= weight <= LARGEST_WEIGHT


def need(holds: bool, what: str) -> None:
    """Raise ValueError unless it holds."""
    if not holds:
        raise ValueError(what)


def check_rows(indptr: NDArray[np.int64], indices: Ints, weights: Floats | None) -> None:
    """Raise ValueError unless this is a graph: rows ascending, without loops, and with weights in their range."""
    rows = len(indptr) - 1
    ends = rows >= 0 and indptr[0] == 0 and indptr[-1] == len(indices)
    need(ends, "`indptr` must run from 0 to the number of entries")
    need(weights is None or len(weights) == len(indices), "`weights` must have one number for each entry")
    need(bool(np.all(np.diff(indptr) >= 0)), "`indptr` must not decrease")
    own = np.repeat(np.arange(rows), np.diff(indptr))
    ascending = np.all((np.diff(indices.astype(np.int64)) > 0) | (np.diff(own) > 0))
    nodes = np.all((indices >= 0) & (indices < rows) & (indices != own))
    need(bool(ascending and nodes), "`indices` must be other nodes, ascending in each row")
    if weights is not None:
        in_range = np.all((weights >= LEAST_WEIGHT) & (weights <= LARGEST_WEIGHT))
        need(bool(in_range), "`weights` must lie between 2^-100 and 2^100")


def check_parts(basis: Floats, shifts: Floats, rotation: Reals, mean: Reals, *, rows: int) -> None:
    """Raise ValueError unless the frozen parts fit each other and a graph of so many rows."""
    known, columns = basis.shape
    padded = columns > 0 and columns % 32 == 0 and known <= rows
    need(padded, "`basis` has a row for each of the first nodes, padded to a multiple of 32")
    need(len(shifts) == known, "`shifts` must have one number for each row of the basis")
    need(rotation.shape == (columns, columns), "`rotation` must be columns x columns")
    need(len(mean) == columns, "`mean` must have one number for each column")
