"""Memory in huge pages: aligned, writable, given back; and the same where a system has none or refuses."""

from __future__ import annotations

import mmap
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphrefine.system import huge_pages
from graphrefine.system.huge_pages import LINE, PAGE, empty_bytes


@given(st.integers(1, 3 * PAGE))
@settings(deadline=None)
def test_room_is_as_large_as_asked_for_and_aligned(size: int) -> None:
    room = empty_bytes(size)
    assert room.shape == (size,)
    assert room.ctypes.data % LINE == 0
    room[:] = 7
    assert int(room.sum(dtype=np.int64)) == 7 * size


def test_no_room_is_an_empty_array() -> None:
    assert empty_bytes(0).shape == (0,)


def test_large_room_begins_at_a_huge_page() -> None:
    if huge_pages.ADVICE is None:
        pytest.skip("this system has no huge pages")
    assert empty_bytes(2 * PAGE).ctypes.data % PAGE == 0


class Refusing(mmap.mmap):
    """Memory of a system that refuses huge pages."""

    def madvise(self, *arguments: int) -> None:
        raise OSError(22, "Invalid argument")


def test_a_system_that_refuses_gives_small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mmap, "mmap", Refusing)
    room = empty_bytes(2 * PAGE)
    room[-1] = 1
    assert room.ctypes.data % PAGE == 0


def test_a_system_without_them_gives_small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(huge_pages, "ADVICE", None)
    room = empty_bytes(2 * PAGE)
    room[-1] = 1
    assert room.ctypes.data % LINE == 0


PROGRAM = """
import mmap, numpy as np
if {refuse}:
    class Refusing(mmap.mmap):
        def madvise(self, *arguments):
            raise OSError(22, "Invalid argument")
    mmap.mmap = Refusing
import graphrefine
edges = np.random.default_rng(0).integers(9000, size=(40000, 2))
print(hash(graphrefine.embed(edges, dim=64, quality="fast").vectors.tobytes()))
"""


def test_refused_huge_pages_change_no_bit() -> None:
    hashes = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM.format(refuse=refuse)], capture_output=True, text=True, check=True,
            env={"PYTHONHASHSEED": "0", "PATH": ""},
        ).stdout
        for refuse in (False, True)
    }  # fmt: skip
    assert len(hashes) == 1


def test_memory_is_given_back() -> None:
    rooms = [empty_bytes(2 * PAGE) for _ in range(3)]
    views = [room[PAGE:].view(np.float32) for room in rooms]
    del rooms
    for view in views:  # a view keeps its memory
        view[:] = 1.0
    assert all(float(view.sum()) == PAGE / 4 for view in views)
