"""Small arrays of a work folder: what is written comes back, and no object is ever pickled."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest

from graphrefine.system.storage import open_storage, read_arrays, write_arrays


def test_small_arrays_come_back_and_nothing_else(tmp_path: Path) -> None:
    storage = open_storage(str(tmp_path / "work"))
    arrays = {"sum": np.arange(6.0).reshape(2, 3), "what": np.array("product"), "none": np.empty((0, 4), np.float32)}
    write_arrays(storage, "steps.npz", arrays)
    result = read_arrays(storage, "steps.npz")
    assert result is not None and list(result) == list(arrays)
    for name, array in arrays.items():
        assert result[name].dtype == array.dtype and np.array_equal(result[name], array)
    assert ZipFile(tmp_path / "work" / "steps.npz").namelist() == [f"{name}.npy" for name in arrays]
    assert read_arrays(storage, "other.npz") is None


def test_objects_are_not_pickled(tmp_path: Path) -> None:
    storage = open_storage(str(tmp_path / "work"))
    with pytest.raises(ValueError, match="allow_pickle"):
        write_arrays(storage, "steps.npz", {"what": np.array([None], object)})
    assert storage.size("steps.npz") is None
