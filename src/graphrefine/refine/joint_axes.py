"""Several matrices of the same nodes, side by side, rotated to their joint principal axes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from graphrefine.engine.engine import descending_eigh
from graphrefine.kernels import PAD, native

Floats = NDArray[np.float32]

ROWS = 8192  # in a block that is set side by side


def turn_to_axes(out: Floats, side_by_side: Callable[[slice, Floats], None], *, columns: int, threads: int = 1) -> None:
    """Fill ``out`` (n, k) with unit rows: those of the whole, on its k leading principal axes.

    Parameters
    ----------
    out
        Its own rows may be among those that are read: a block is read before it is written.
    side_by_side
        Puts the rows of a block into an array (rows, ``columns``), all of it; called for each block twice.
    columns
        Columns of all matrices together.
    threads
        Number of threads; the result does not depend on it.

    Examples
    --------
    >>> out = np.zeros((3, 1), np.float32)
    >>> def rows(block, wide):
    ...     wide[:] = np.array([[0, 2], [0, 4], [0, 0]])[block]
    >>> turn_to_axes(out, rows, columns=2)
    >>> out.tolist()
    [[1.0], [1.0], [0.0]]
    """
    n, k = out.shape
    width = -(-columns // PAD) * PAD
    gram = np.zeros((2, width, width))
    whole, rotated = np.zeros((min(ROWS, n), width), np.float32), np.empty((min(ROWS, n), width), np.float32)
    blocks = [slice(start, min(start + ROWS, n)) for start in range(0, n, ROWS)]

    def read(block: slice) -> Floats:
        wide = whole[: block.stop - block.start]
        side_by_side(block, wide[:, :columns])
        return wide

    for block in blocks:
        native.rotate(read(block), None, out=None, gram=gram, threads=threads)
    axes = np.zeros((width, width), np.float32)
    axes[:, :k] = descending_eigh(gram[0] + gram[1])[1][:, :k]
    for block in blocks:
        fresh = rotated[: block.stop - block.start]
        native.rotate(read(block), axes, out=fresh, unit=True, threads=threads)
        out[block] = fresh[:, :k]
