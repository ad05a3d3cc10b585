"""The cuts of tall matrices: blocks of rows, panels of columns, and chunks of blocks to gather from at once.

::

    panel 0   panel 1
    [ . . . ] [ . . . ]  block 0  }
    [ . . . ] [ . . . ]  block 1  }  chunk 0
    [ . . . ] [ . . . ]  block 2  }  chunk 1

A block of a panel is a file. A product holds one panel of one chunk in memory, and goes through the rows of the graph
block by block: on one machine there is one chunk, and as many panels as the budget calls for; on a cluster there are
many chunks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphrefine.kernels import PAD

# A block of a tall matrix in float32 has at most 16 MB, as three are held at a time, one being read, one computed and
# one written. It has less, down to 1 MB, so that there are 16 of them and the three can overlap.
BLOCK_BYTES, PIECES, LEAST_BYTES = 1 << 24, 16, 1 << 20
BLOCK_ENTRIES = 1 << 22  # of a block of the graph
# Rows that the kernels add up in float64 before a sum becomes a pair: blocks of whole units give the Gram matrix of the
# matrix in one piece, bit for bit. A cut within a unit would change its last bits.
UNIT = 512

Bounds = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Layout:
    """The cuts of every tall matrix of a run."""

    bounds: Bounds  # (blocks + 1,): the first row of each block, and the number of rows
    chunks: Bounds  # (chunks + 1,): the first block of each chunk, and the number of blocks
    columns: int
    panel: int  # columns of a panel, a multiple of `PAD`; the last one may have fewer

    @property
    def blocks(self) -> int:
        """Number of blocks of rows."""
        return len(self.bounds) - 1

    @property
    def padded(self) -> int:
        """Columns that are stored."""
        return -(-self.columns // PAD) * PAD

    @property
    def panels(self) -> int:
        """Number of panels of columns."""
        return -(-self.padded // self.panel)

    def rows(self, block: int) -> slice:
        """Return the rows of a block."""
        return slice(int(self.bounds[block]), int(self.bounds[block + 1]))

    def width(self, panel: int) -> int:
        """Return the columns of a panel."""
        return min(self.panel, self.padded - panel * self.panel)

    def chunk_rows(self, chunk: int) -> slice:
        """Return the rows of a chunk."""
        first, last = self.chunks[chunk : chunk + 2].tolist()
        return slice(int(self.bounds[first]), int(self.bounds[last]))


def usual_bytes(nodes: int, columns: int) -> int:
    """Return the usual size of a block in float32.

    Examples
    --------
    >>> usual_bytes(1000, 128), usual_bytes(65536, 128), usual_bytes(10**9, 128)
    (1048576, 2097152, 16777216)
    """
    return min(max(nodes * -(-columns // PAD) * PAD * 4 // PIECES, LEAST_BYTES), BLOCK_BYTES)


def cut_rows(
    indptr: NDArray[np.int64], *, columns: int, block_bytes: int | None = None, entries: int = BLOCK_ENTRIES
) -> Bounds:
    """Return bounds of blocks of rows, of whole units, that are small in a tall matrix and in the graph.

    Examples
    --------
    Three units of a row with 9 entries and others with none, at most 8 entries in a block:

    >>> indptr = np.repeat([0, 9, 18, 27], [1, 512, 512, 512])
    >>> cut_rows(indptr, columns=32, entries=8).tolist()
    [0, 512, 1024, 1536]
    >>> cut_rows(indptr, columns=32, entries=20).tolist()
    [0, 1024, 1536]
    """
    nodes = len(indptr) - 1
    size = usual_bytes(nodes, columns) if block_bytes is None else block_bytes
    most = max(size // (-(-columns // PAD) * PAD * 4), 1)
    bounds = [0]
    while bounds[-1] < nodes:
        start = bounds[-1]
        stop = min(int(np.searchsorted(indptr, indptr[start] + entries, side="right")) - 1, start + most)
        bounds.append(min(max(stop // UNIT * UNIT, start + UNIT), nodes) if stop < nodes else nodes)
    return np.array(bounds, np.int64)


def cut_chunks(bounds: Bounds, *, rows: int) -> Bounds:
    """Return the first blocks of chunks of about ``rows`` rows, and the number of blocks.

    Examples
    --------
    >>> cut_chunks(np.array([0, 10, 20, 30, 35]), rows=20).tolist()
    [0, 2, 4]
    """
    chunks = [0]
    for block in range(1, len(bounds) - 1):
        if bounds[block + 1] - bounds[chunks[-1]] > rows:
            chunks.append(block)
    return np.array([*chunks, len(bounds) - 1], np.int64)
