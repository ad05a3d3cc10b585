"""Random rows to start from, for `Engine.fill`: Gaussian, and very sparse signs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphrefine.engine.engine import BLOCK_ROWS, RowSource

Floats = NDArray[np.float32]


def gaussian(seed: int, columns: int) -> RowSource:
    """Return rows of independent standard normal numbers.

    Examples
    --------
    >>> gaussian(0, 3)(0, 2).shape
    (2, 3)
    """

    def rows(start: int, stop: int) -> Floats:
        return _generator(seed, start).standard_normal((stop - start, columns), dtype=np.float32)

    return rows


def sparse_signs(seed: int, columns: int, *, density: float, scale: NDArray[np.float32] | None = None) -> RowSource:
    """Return rows with a share ``density`` of entries +1 or -1 and the others zero; row i times ``scale[i]``.

    Examples
    --------
    >>> sorted(set(sparse_signs(0, 8, density=0.5)(0, 20).ravel().tolist()))
    [-1.0, 0.0, 1.0]
    """

    def rows(start: int, stop: int) -> Floats:
        generator = _generator(seed, start)
        size = BLOCK_ROWS * columns  # of a whole block: a shorter one has the same entries
        # The gaps between entries are geometric: as many draws as entries, not as many as rows times columns. Ten
        # standard deviations more than expected are drawn, so that the block is filled to its end.
        expected = int(size * density)
        at = np.cumsum(generator.geometric(density, expected + 10 * int(expected**0.5) + 20)) - 1
        signs = 1 - 2 * generator.integers(0, 2, len(at))
        used = at < (stop - start) * columns
        block = np.zeros((stop - start) * columns, np.float32)
        block[at[used]] = signs[used]
        out = block.reshape(stop - start, columns)
        return out if scale is None else out * scale[start:stop, None]

    return rows


def _generator(seed: int, start: int) -> np.random.Generator:
    # Each block counts from its own number: rows depend on the seed and the row alone, for any number of threads.
    return np.random.Generator(np.random.Philox(key=seed, counter=[0, 0, 0, start // BLOCK_ROWS]))
