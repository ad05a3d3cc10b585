"""The only door to compiled code: the module `native`, from the C++ in ``native/*.cpp``.

There is no second implementation: an installation without the compiled module cannot be imported. The modules of this
package wrap groups of kernels; engines call those of tall matrices (`native.Product`, `native.rotate`) directly.

A tall matrix has n rows and k columns, padded to a multiple of `PAD`: float32, bfloat16 as uint16, or signs, 32 columns
in a uint32 (a sketch).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import KernelError

try:
    from graphrefine.kernels import _native
except ImportError as error:
    raise KernelError(
        f"the compiled kernels of graphrefine cannot be loaded ({error}); install graphrefine again, from a wheel or "
        "with a C++17 compiler"
    ) from error

__all__ = ["PAD", "native", "to_bfloat16", "to_float32"]

native: Any = _native  # Any: the generated stub says "object" where C++ returns an array

# The columns of tall matrices are padded to a multiple of this: 32 signs are a word of a sketch, and 32 numbers whole
# vectors of every instruction set and a line of the cache in bfloat16, so that kernels have no rest to see to.
PAD = 32


def to_float32(x: NDArray[Any]) -> NDArray[np.float32]:
    """Return a stored tall matrix as float32: bfloat16 widened, signs as -1 and 1."""
    if x.dtype == np.uint16:
        return (x.astype(np.uint32) << 16).view(np.float32)
    if x.dtype == np.uint32:
        # Bit b of a word is column 2 b of 32, or 2 b - 31 for the upper half of the bits.
        bits = (x[:, :, None] >> np.arange(32, dtype=np.uint32).reshape(2, 16).T.ravel()) & np.uint32(1)
        return (1 - 2 * bits.astype(np.float32)).reshape(len(x), -1)
    return x


def to_bfloat16(x: NDArray[np.float32]) -> NDArray[np.uint16]:
    """Round to the nearest bfloat16, ties to even.

    Examples
    --------
    >>> to_float32(to_bfloat16(np.array([[1.0, 1.00390625, 3.14159]], np.float32))).tolist()
    [[1.0, 1.0, 3.140625]]
    """
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32)
    return ((bits + np.uint32(0x7FFF) + ((bits >> 16) & np.uint32(1))) >> 16).astype(np.uint16)
