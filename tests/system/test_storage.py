"""Files of a work folder: what is written comes back, no object is ever loaded, and stored hashes stay the same."""

from __future__ import annotations

import hashlib
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest

from graphrefine.errors import FormatError
from graphrefine.system.digest import hash_parts
from graphrefine.system.storage import Storage, read_arrays, write_arrays


def test_small_arrays_come_back_and_nothing_else(tmp_path: Path) -> None:
    storage = Storage(tmp_path / "work")
    arrays = {"sum": np.arange(6.0).reshape(2, 3), "what": np.array("product"), "none": np.empty((0, 4), np.float32)}
    write_arrays(storage, "steps.npz", arrays)
    result = read_arrays(storage, "steps.npz")
    assert result is not None and list(result) == list(arrays)
    for name, array in arrays.items():
        assert result[name].dtype == array.dtype and np.array_equal(result[name], array)
    assert ZipFile(tmp_path / "work" / "steps.npz").namelist() == [f"{name}.npy" for name in arrays]
    assert read_arrays(storage, "other.npz") is None
    write_arrays(storage, "objects.npz", {"what": np.array([None], object)})
    with pytest.raises(ValueError, match="allow_pickle"):
        read_arrays(storage, "objects.npz")


def test_parts_of_files_are_written_and_read(tmp_path: Path) -> None:
    storage, out = Storage(tmp_path), np.empty(3, np.uint8)
    storage.write_at("x", np.array([13, 10, 26], np.uint8), 2)
    storage.write_at("x", np.array([7, 8], np.uint8), 0)
    assert (tmp_path / "x").read_bytes() == b"\x07\x08\r\n\x1a"
    storage.read_into("x", out, offset=2)
    assert out.tolist() == [13, 10, 26]
    with pytest.raises(FormatError, match="5 bytes where 7 were expected"):
        storage.read_into("x", out, offset=4)
    with pytest.raises(FormatError, match="missing"):
        storage.read_into("y", out)


def test_digits_never_change() -> None:
    indptr, weights = np.array([0, 2, 3], np.int64), np.array([[0.5, 1.5, 2.5]], np.float32)[:, ::2]
    by_hand = hashlib.blake2b(indptr.tobytes() + b"-" + weights.tobytes() + b"manifest", digest_size=16)
    assert hash_parts(indptr, None, weights, b"manifest") == by_hand.hexdigest()
    assert hash_parts(np.empty(0, np.int32)) == hash_parts()
