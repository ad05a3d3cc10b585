"""Memory in huge pages: for large buffers that are read at random, and for those that are new.

A processor keeps few addresses of pages at hand: rows gathered from pages of 4 KB are looked up one by one, and each
new page is an interrupt. Linux gives pages of 2 MB where they are asked for (its usual setting is `madvise`); where a
system has none, or refuses, the memory is the same in small pages.
"""

from __future__ import annotations

import contextlib
import mmap

import numpy as np
from numpy.typing import NDArray

LINE = 64  # bytes of a line of the cache
PAGE = 1 << 21  # bytes of a huge page
ADVICE: int | None = getattr(mmap, "MADV_HUGEPAGE", None)


def empty_bytes(size: int) -> NDArray[np.uint8]:
    """Memory whose bytes are not set, beginning at a huge page if it is as large as one, else at a line of the cache.

    Examples
    --------
    >>> room = empty_bytes(5_000_000)
    >>> room.size, room.ctypes.data % 4096
    (5000000, 0)
    """
    if size < PAGE or ADVICE is None:
        return aligned(np.empty(size + LINE, np.uint8), size)
    # Private memory of this process, which goes with the last array in it.
    memory = mmap.mmap(-1, size + PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    with contextlib.suppress(OSError):  # a system may refuse
        memory.madvise(ADVICE)
    return aligned(np.frombuffer(memory, np.uint8), size, to=PAGE)


def aligned(room: NDArray[np.uint8], size: int, *, to: int = LINE) -> NDArray[np.uint8]:
    """Return the first bytes of a larger buffer that begin at a multiple of ``to``."""
    start = -room.ctypes.data % to
    return room[start : start + size]
