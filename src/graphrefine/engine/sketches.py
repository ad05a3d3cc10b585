"""Random rows to start from, for `Engine.fill`: Gaussian, and very sparse signs.

The rows are drawn in blocks of `BLOCK_ROWS`, each from a generator of its own (Philox, keyed by the seed, counted by
the block), so that they depend on the seed and on the row alone, for any number of threads.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphrefine.engine.engine import BLOCK_ROWS, RowSource

Floats = NDArray[np.float32]


def gaussian(seed: int, columns: int) -> RowSource:
    """Rows of independent standard normal numbers.

    Examples
    --------
    >>> gaussian(0, 3)(0, 2).shape
    (2, 3)
    """

    def rows(start: int, stop: int) -> Floats:
        return _generator(seed, start).standard_normal((stop - start, columns), dtype=np.float32)

    return rows


def sparse_signs(seed: int, columns: int, *, density: float, scale: NDArray[np.float32] | None = None) -> RowSource:
    """Rows in which a share ``density`` of the entries is +1 or -1 and the others are zero; row i times ``scale[i]``.

    Examples
    --------
    >>> sorted(set(sparse_signs(0, 8, density=0.5)(0, 20).ravel().tolist()))
    [-1.0, 0.0, 1.0]
    """

    def rows(start: int, stop: int) -> Floats:
        generator = _generator(seed, start)
        size = BLOCK_ROWS * columns  # of a whole block: a shorter one has the same entries
        # The gaps between entries are geometric: as many draws as entries, not as many as places.
        expected = int(size * density)
        places = np.cumsum(generator.geometric(density, expected + 10 * int(expected**0.5) + 20)) - 1
        signs = 1 - 2 * generator.integers(0, 2, len(places))
        used = places < (stop - start) * columns
        block = np.zeros((stop - start) * columns, np.float32)
        block[places[used]] = signs[used]
        out = block.reshape(stop - start, columns)
        return out if scale is None else out * scale[start:stop, None]

    return rows


def _generator(seed: int, start: int) -> np.random.Generator:
    return np.random.Generator(np.random.Philox(key=seed, counter=[0, 0, 0, start // BLOCK_ROWS]))
