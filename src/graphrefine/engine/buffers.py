"""Memory for blocks, used again."""

from __future__ import annotations

from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
SPARE = 6  # buffers that wait to be used again


class Buffers:
    """Memory for blocks, used again: taking new memory from the system costs as much as the work on it.

    Examples
    --------
    >>> buffers = Buffers()
    >>> block = buffers.take((2, 3), np.float32)
    >>> where = block.ctypes.data
    >>> buffers.give(block)
    >>> buffers.take((3, 2), np.float32).ctypes.data == where
    True
    """

    def __init__(self) -> None:
        self._free: list[NDArray[np.uint8]] = []
        self._lock = Lock()

    def take(self, shape: tuple[int, int], dtype: Any) -> Array:
        """An array whose numbers are not set."""
        size = shape[0] * shape[1] * np.dtype(dtype).itemsize
        with self._lock:
            fits = [at for at, free in enumerate(self._free) if size <= len(free) <= 2 * size]
            room = self._free.pop(fits[0]) if fits else np.empty(size, np.uint8)
        array: Array = room[:size].view(dtype).reshape(shape)
        return array

    def give(self, array: Array) -> None:
        """Take back an array that nobody uses any more; one from elsewhere is left alone."""
        room = array.base
        if isinstance(room, np.ndarray) and room.dtype == np.uint8 and room.base is None:
            with self._lock:
                self._free = [*self._free[-SPARE + 1 :], room]
