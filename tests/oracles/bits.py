"""The kernels of tall matrices once more, in NumPy, operation by operation: what their bits are, on any processor.

A float32 product and sum in one rounding is `fused.fma`; every other operation is one of NumPy's that IEEE 754
rounds exactly.
Rows of a block are worked one after the other, as the compiled kernels do; so this is for small matrices.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.kernels import to_bfloat16, to_float32
from graphrefine.kernels.hashing import GOLDEN, mixed
from oracles.fused import fma

Floats = NDArray[np.float32]
BLOCK, UNIT, LANES = 128, 512, 16


def split_order(columns: int) -> NDArray[np.int64]:
    """The column in each place of a row in the cache: of each 32 first the even ones, then the odd ones."""
    group = np.concatenate([np.arange(0, 32, 2), np.arange(1, 32, 2)])
    order: NDArray[np.int64] = (np.arange(0, columns, 32)[:, None] + group).ravel()
    return order


class Product:
    """A sparse operator; see `native.Product`. Its entries are those of `graphrefine.linalg.operators.Operator`."""

    def __init__(
        self,
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
        loop_places: NDArray[np.int32] | None = None,
    ) -> None:
        self.indptr, self.indices, self.value, self.loop = indptr, indices, value, np.float32(loop)
        self.row_shift, self.column_shift, self.constant = row_shift, column_shift, np.float32(constant)
        self.row_scale, self.column_scale, self.loop_places = row_scale, column_scale, loop_places

    def row(self, i: int, x: Floats, scale: np.float32) -> Floats:
        """A row of the product: entries in their order, each added by one `fma`."""
        start, stop = self.indptr[i : i + 2].tolist()
        near = self.indices[start:stop]
        shift = (np.float32(0) if self.row_shift is None else self.row_shift[i]) + self.constant
        factor = scale * (np.float32(1) if self.row_scale is None else self.row_scale[i])
        terms: Floats = np.full(len(near), shift, np.float32)
        if self.column_shift is not None:
            terms = terms + self.column_shift[near]
        if self.value is not None:
            terms = terms + self.value[start:stop]
        if self.column_scale is not None:
            terms = terms * self.column_scale[near]
        terms = (terms * factor).astype(np.float32, copy=False)
        if self.loop:
            at = np.searchsorted(near, i) if self.loop_places is None else self.loop_places[i]
            own = self.loop * (np.float32(1) if self.column_scale is None else self.column_scale[i]) * factor
            near, terms = np.insert(near, at, i), np.insert(terms, at, own)
        total = np.zeros(x.shape[1], np.float32)
        for j, term in zip(near.tolist(), terms, strict=True):
            total = fma(term, x[j], total)
        return total

    def apply(
        self,
        x: NDArray[Any],
        *,
        out: NDArray[Any] | None,
        scale: float = 1.0,
        plus: NDArray[Any] | None = None,
        plus_scale: float = 0.0,
        shift: Floats | None = None,
        unit: bool = False,
        gram: NDArray[np.float64] | None = None,
        rows: NDArray[np.int32] | None = None,
        rotation: Floats | None = None,
        after: Floats | None = None,
        order: NDArray[np.int32] | None = None,
        threads: int = 1,
    ) -> None:
        """Put ``scale * operator @ x + plus_scale * plus - shift`` into ``out``; rows, rotation and order as asked."""
        wide = to_float32(x)
        which = np.arange(len(self.indptr) - 1) if rows is None else rows
        fresh = np.array([self.row(i, wide, np.float32(scale)) for i in which.tolist()], np.float32)
        fresh = fresh.reshape(len(which), wide.shape[1])
        if plus is not None:
            fresh = fma(np.float32(plus_scale), to_float32(plus)[which], fresh)
        places = None if order is None else np.argsort(order)
        if rotation is None:
            finish(fresh, out, shift=shift, unit=unit, gram=gram, places=places)
        else:
            fresh = finish(fresh, None, shift=shift, unit=unit, gram=gram)
            finish(turn(fresh, rotation), out, shift=after, unit=True, gram=None, places=places)


def rotate(
    x: NDArray[Any],
    rotation: Floats | None,
    *,
    triangular: bool = False,
    out: NDArray[Any] | None,
    places: NDArray[np.int32] | None = None,
    shift: Floats | None = None,
    unit: bool = False,
    gram: NDArray[np.float64] | None = None,
    sums: NDArray[np.float64] | None = None,
    weights: Floats | None = None,
    threads: int = 1,
) -> None:
    """Put ``x[places] @ rotation - shift`` into ``out``, and add to the Gram matrix and the sums."""
    rows = to_float32(x) if places is None else to_float32(x)[places]
    fresh = rows.copy() if rotation is None else turn(rows, rotation)
    fresh = finish(fresh, out, shift=shift, unit=unit, gram=gram)
    if sums is not None:
        counts = np.ones(len(fresh)) if weights is None else weights.astype(np.float64)
        for start in range(0, len(fresh), UNIT):
            part = np.zeros(fresh.shape[1])
            for i in range(start, min(start + UNIT, len(fresh))):
                part = part + counts[i] * fresh[i].astype(np.float64)
            add(part, sums)


def turn(rows: Floats, rotation: Floats) -> Floats:
    """Rows times a small matrix, summed in split order."""
    total = np.zeros_like(rows)
    for column in split_order(rows.shape[1]).tolist():
        total = fma(rows[:, column, None], rotation[column], total)
    return total


def finish(
    fresh: Floats,
    out: NDArray[Any] | None,
    *,
    shift: Floats | None,
    unit: bool,
    gram: NDArray[np.float64] | None,
    places: NDArray[Any] | None = None,
) -> Floats:
    """What happens to fresh rows: see `Finish` in arithmetic.h."""
    if shift is not None:
        there = np.any(fresh != 0, axis=1)
        fresh[there] = fresh[there] - shift
    if unit:
        split, squares = fresh[:, split_order(fresh.shape[1])], np.zeros((len(fresh), LANES), np.float32)
        for start in range(0, fresh.shape[1], LANES):
            part = split[:, start : start + LANES]
            squares = fma(part, part, squares)
        total = np.zeros(len(fresh))
        for lane in range(LANES):
            total = total + squares[:, lane].astype(np.float64)
        there = total > 0
        factor = np.where(there, 1 / np.sqrt(np.where(there, total, 1.0)), 0.0).astype(np.float32)
        fresh = factor[:, None] * fresh
    if gram is not None:
        stored = to_float32(to_bfloat16(fresh)) if out is not None and out.dtype == np.uint16 else fresh
        for start in range(0, len(fresh), UNIT):
            add(gram_of_unit(stored[start : start + UNIT]), gram)
    if out is not None:
        rows = fresh if places is None else fresh[places]
        out[:] = to_bfloat16(rows) if out.dtype == np.uint16 else rows[:, : out.shape[1]]
    return fresh


def gram_of_unit(rows: Floats) -> NDArray[np.float64]:
    """Blocks of rows summed in float32, row after row; blocks in float64."""
    total = np.zeros((rows.shape[1], rows.shape[1]))
    for start in range(0, len(rows), BLOCK):
        part = np.zeros(total.shape, np.float32)
        for row in rows[start : start + BLOCK]:
            part = fma(row[:, None], row, part)
        total = total + part.astype(np.float64)
    return total


def add(more: NDArray[np.float64], pair: NDArray[np.float64]) -> None:
    """Add to a pair: the sum, and what its rounding has lost."""
    total = pair[0] + more
    part = total - pair[0]
    pair[1] += (pair[0] - (total - part)) + (more - part)
    pair[0] = total


def signs(
    seed: int, start: int, *, rows: int, words: int, order: NDArray[np.int32] | None = None
) -> NDArray[np.uint32]:
    """Rows ``start + order[i]`` (``start + i``) of the sketch that belongs to a seed, one bit an entry."""
    salt = mixed(np.array([seed], np.uint64) + GOLDEN)
    places = np.arange(rows) if order is None else order
    row = mixed(salt ^ (np.uint64(start) + places.astype(np.uint64)))
    pairs = mixed(row[:, None] + np.arange(1, words // 2 + 2, dtype=np.uint64) * GOLDEN)
    return np.ascontiguousarray(pairs.astype("<u8").view("<u4")[:, :words])
