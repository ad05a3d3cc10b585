"""Memory in huge pages: aligned, writable, given back; and the same where a system has none or refuses."""

from __future__ import annotations

import mmap

import numpy as np
import pytest

from graphrefine.system import arrays
from graphrefine.system.arrays import LINE, PAGE, empty_bytes


@pytest.mark.parametrize("size", [0, 1, LINE - 1, PAGE - 1, PAGE, PAGE + 1, 3 * PAGE])
def test_room_is_as_large_as_asked_for_and_aligned(size: int) -> None:
    room = empty_bytes(size)
    assert room.shape == (size,) and (size == 0 or room.ctypes.data % LINE == 0)
    room[:] = 7
    assert int(room.sum(dtype=np.int64)) == 7 * size


class Refusing(mmap.mmap):
    """Memory of a system that refuses huge pages."""

    def madvise(self, *arguments: int) -> None:
        raise OSError(22, "Invalid argument")


@pytest.mark.parametrize(("owner", "name", "value"), [(mmap, "mmap", Refusing), (arrays, "ADVICE", None)])
def test_a_system_without_huge_pages_gives_small_ones(
    owner: object, name: str, value: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owner, name, value)
    room = empty_bytes(2 * PAGE)
    room[-1] = 1
    assert room.ctypes.data % LINE == 0
