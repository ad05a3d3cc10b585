"""Completion of names: those that begin with a text, then those that contain it, in upper or lower case.

The names are held in lower case as one run of UTF-8 bytes, and a search goes over these: the offsets of the first byte,
those of them that go on with the second, and so on. A million names of ten characters take some ten milliseconds.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.graph.node_ids import pack

CACHED = 16  # searches whose rows stay in memory, for the next page of results


class Autocomplete:
    """A search over names."""

    def __init__(self, names: NDArray[Any]) -> None:
        self._names = names
        self.find = lru_cache(maxsize=CACHED)(self._find)

    @cached_property
    def _text(self) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """All names as bytes; and the offset at which each begins, with the end of the last."""
        lower = np.empty(len(self._names), object)
        lower[:] = [str(name).lower() for name in self._names.tolist()]
        return pack(lower)

    def _find(self, part: str) -> NDArray[np.int64]:
        """Return the rows of names with this part, the best match first."""
        text, starts = self._text
        pattern = part.lower().encode("utf-8", "surrogatepass")
        offsets = _occurrences(text, pattern)
        rows = np.searchsorted(starts, offsets, side="right") - 1
        within = offsets <= starts[rows + 1] - len(pattern)  # of the same name to the end
        offsets, rows = offsets[within], rows[within]
        first = np.diff(rows, prepend=-1) > 0  # in each name
        offsets, rows = offsets[first], rows[first]
        begins = offsets == starts[rows]
        whole = begins & (starts[rows + 1] - starts[rows] == len(pattern))
        return np.concatenate([rows[whole], rows[begins & ~whole], rows[~begins]])


def _occurrences(text: NDArray[np.uint8], part: bytes) -> NDArray[np.int64]:
    """Return the offsets at which a part begins in a text."""
    # Each step keeps the offsets whose next byte fits, so that the second byte is read for few of them. `str.find` on
    # each name would be a call a name.
    if not part or len(part) > len(text):
        return np.empty(0, np.int64)
    offsets = np.flatnonzero(text[: len(text) - len(part) + 1] == part[0])
    for ahead, byte in enumerate(part[1:], 1):
        offsets = offsets[text[offsets + ahead] == byte]
    return offsets
