"""Kernels of tall matrices, in NumPy and SciPy: the same answers but for rounding; `oracles.bits` has their bits.

Signatures are those of the compiled ones; ``threads`` counts for nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphrefine.kernels import to_bfloat16, to_float32
from graphrefine.kernels.hashing import GOLDEN, mixed

Floats = NDArray[np.float32]
Places = NDArray[np.int32]
ROWS = 65536  # rows worked at a time, so that no second tall matrix is made


def _finish(
    fresh: Floats,
    rows: slice | NDArray[np.int32],
    out: NDArray[Any] | None,
    *,
    shift: Floats | None,
    unit: bool,
    gram: NDArray[np.float64] | None,
) -> Floats:
    if shift is not None:
        fresh[np.any(fresh != 0, axis=1)] -= shift
    if unit:
        length = np.sqrt(np.einsum("ij,ij->i", fresh, fresh, dtype=np.float64))[:, None]
        fresh = np.divide(fresh, length, out=np.zeros_like(fresh), where=length > 0, casting="same_kind")
    half = to_bfloat16(fresh) if out is not None and out.dtype == np.uint16 else None
    if gram is not None:  # of what is stored
        wide = (fresh if half is None else to_float32(half)).astype(np.float64)
        gram[0] += wide.T @ wide
    if out is not None:
        out[rows] = fresh[:, : out.shape[1]] if half is None else half
    return fresh


class Product:
    """A sparse operator, ready to be applied; its entries are those of `graphrefine.linalg.operators.Operator`.

    Row i has its loop in column ``i + diagonal``. A part of a larger matrix has ``columns`` columns from
    ``first_column`` on, and of row i the entries from ``starts[i]`` to before ``stops[i]``, which must lie in those
    columns. Arrays with one number for each column, and the diagonal, count from the first of them.

    The compiled kernel forms the entries as it goes. It sums a row in the order of its entries, the loop after
    ``loop_places[i]`` of them (those of lower columns, if None).
    """

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
        diagonal: int = 0,
        first_column: int = 0,
        starts: NDArray[np.int64] | None = None,
        stops: NDArray[np.int64] | None = None,
        loop_places: NDArray[np.int32] | None = None,
    ) -> None:
        rows = len(indptr) - 1
        if starts is not None and stops is not None:
            counts = stops - starts
            indptr = np.concatenate([[0], np.cumsum(counts)])
            entries = np.repeat(starts - indptr[:-1], counts) + np.arange(indptr[-1])
            indices, value = indices[entries], None if value is None else value[entries]
        if first_column:
            indices = indices - np.int32(first_column)
        row = np.repeat(np.arange(rows), np.diff(indptr))
        entry = np.full(len(indices), constant, np.float32)
        if value is not None:
            entry += value
        if row_shift is not None:
            entry += row_shift[row]
        if column_shift is not None:
            entry += column_shift[indices]
        matrix = sp.csr_array((entry, indices, indptr), shape=(rows, columns))
        if loop:
            loops = sp.diags_array(np.full(rows, loop, np.float32), offsets=diagonal, shape=matrix.shape)
            matrix = sp.csr_array(matrix + loops)
        if row_scale is not None:
            matrix = sp.csr_array(sp.diags_array(row_scale) @ matrix)
        if column_scale is not None:
            matrix = sp.csr_array(matrix @ sp.diags_array(column_scale))
        self.matrix: sp.csr_array = matrix.astype(np.float32)

    def apply(
        self,
        x: NDArray[Any],
        *,
        out: NDArray[Any] | None,
        scale: float = 1.0,
        plus: NDArray[Any] | None = None,
        plus_scale: float = 0.0,
        onto: Floats | None = None,
        shift: Floats | None = None,
        unit: bool = False,
        gram: NDArray[np.float64] | None = None,
        rows: Places | None = None,
        rotation: Floats | None = None,
        after: Floats | None = None,
        order: Places | None = None,
        threads: int = 1,
    ) -> None:
        """``out = scale * operator @ x + plus_scale * plus - shift``, rows made unit if asked.

        ``gram[0] += out^T out``, of what is stored; what the rounding of that sum loses is added to ``gram[1]`` by the
        compiled kernel, and ignored here. The sums of the product go on from those in ``onto``, as if the entries
        that gave those were here too. The row ``shift`` is not taken away from rows of zeros.

        With ``rows``, the result is those rows of the product alone. With a ``rotation``, rows are multiplied by it at
        the end, ``after`` is taken away, and they are made unit. Row i is written to row ``order[i]`` of ``out``.
        """
        wide, matrix = to_float32(x), self.matrix if rows is None else self.matrix[rows]
        for start in range(0, matrix.shape[0], ROWS):
            block = slice(start, start + ROWS)
            fresh = matrix[block] @ wide
            if scale != 1.0:
                fresh *= np.float32(scale)
            if onto is not None:
                fresh += onto[block]
            if plus is not None:
                fresh += np.float32(plus_scale) * to_float32(plus[block if rows is None else rows[block]])
            to: slice | Places = block if order is None else order[block]
            if rotation is None:
                _finish(fresh, to, out, shift=shift, unit=unit, gram=gram)
            else:
                turned = _finish(fresh, to, None, shift=shift, unit=unit, gram=gram) @ rotation
                _finish(turned, to, out, shift=after, unit=True, gram=None)


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
    """``out = x[places] @ rotation - shift`` (``x`` itself without a rotation), rows made unit if asked.

    Rows of zeros stay. ``gram[0] += out^T out``, and ``sums[0] += weights @ out`` (weights of 1 if None); what rounding
    loses goes to ``gram[1]`` and ``sums[1]``, in the compiled kernel. ``out`` may be ``x``, without ``places``.
    """
    if rotation is not None and triangular:
        rotation = np.triu(rotation)
    for start in range(0, len(x) if places is None else len(places), ROWS):
        rows = slice(start, start + ROWS)
        block = to_float32(x[rows] if places is None else x[places[rows]])
        turned = block.copy() if rotation is None else block @ rotation
        finished = _finish(turned, rows, out, shift=shift, unit=unit, gram=gram)
        if sums is not None:
            sums[0] += (np.ones(len(finished)) if weights is None else weights[rows].astype(np.float64)) @ finished


def reorder(
    indptr: NDArray[np.int64], indices: NDArray[np.int32], values: Floats | None
) -> tuple[Places, Places, NDArray[np.int64], NDArray[np.int32], Floats | None, Places]:
    """The nodes as breadth-first search meets them, the place of each, and the graph in that order (see `permute`)."""
    nodes = len(indptr) - 1
    met, order, head = np.zeros(nodes, bool), np.empty(nodes, np.int32), 0
    tail = 0
    for start in range(nodes):
        if met[start]:
            continue
        met[start], order[tail] = True, start
        tail += 1
        while head < tail:
            near = indices[indptr[order[head]] : indptr[order[head] + 1]]
            fresh = near[~met[near]]
            met[fresh] = True
            order[tail : tail + len(fresh)] = fresh
            tail += len(fresh)
            head += 1
    places = np.empty_like(order)
    places[order] = np.arange(nodes, dtype=np.int32)
    return order, places, *permute(indptr, indices, values, order, places)


def permute(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    values: Floats | None,
    order: NDArray[np.int32],
    places: NDArray[np.int32],
    *,
    threads: int = 1,
) -> tuple[NDArray[np.int64], NDArray[np.int32], Floats | None, NDArray[np.int32]]:
    """The graph with node ``order[i]`` in place i; ``places`` is the inverse. Entries of a row stay in their order.

    The last array has the number of entries of each row that are before its diagonal in that order.
    """
    counts = np.diff(indptr)[order]
    new_indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    entries = np.repeat(indptr[order] - new_indptr[:-1], counts) + np.arange(len(indices))
    columns = indices[entries]
    before = np.add.reduceat(np.append(columns < np.repeat(order, counts), False), new_indptr[:-1], dtype=np.int32)
    loops = np.where(counts > 0, before, 0).astype(np.int32)
    return new_indptr, places[columns], None if values is None else values[entries], loops


def signs(
    seed: int, start: int, *, rows: int, words: int, order: NDArray[np.int32] | None = None
) -> NDArray[np.uint32]:
    """Rows ``start + order[i]`` (``start + i``) of the sketch that belongs to a seed, one bit an entry."""
    salt = mixed(np.array([seed], np.uint64) + GOLDEN)
    places = np.arange(rows) if order is None else order
    row = mixed(salt ^ (np.uint64(start) + places.astype(np.uint64)))
    pairs = mixed(row[:, None] + np.arange(1, words // 2 + 2, dtype=np.uint64) * GOLDEN)
    return np.ascontiguousarray(pairs.astype("<u8").view("<u4")[:, :words])


def row_sums(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    values: Floats | None,
    scale: NDArray[np.float64],
    *,
    threads: int = 1,
) -> NDArray[np.float64]:
    """The matrix with these entries (ones if None) times the vector ``scale``."""
    data = np.ones(len(indices)) if values is None else values.astype(np.float64)
    return np.asarray(sp.csr_array((data, indices, indptr), shape=(len(indptr) - 1, len(scale))) @ scale)


def split_rows(indptr: NDArray[np.int64], indices: NDArray[np.int32], firsts: NDArray[np.int32]) -> NDArray[np.int64]:
    """First entry of each row in the columns from ``firsts[c]`` on; firsts ascend.  # (len(firsts), rows)."""
    cuts = np.empty((len(firsts), len(indptr) - 1), np.int64)
    for c, first in enumerate(firsts.tolist()):
        before = np.concatenate([[0], np.cumsum(indices < first)])
        cuts[c] = indptr[:-1] + before[indptr[1:]] - before[indptr[:-1]]
    return cuts
