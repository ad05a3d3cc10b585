"""MATLAB files that SciPy and h5py read, in a process of its own: values come back, and its end is not ours."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from graphrefine.errors import FormatError
from graphrefine.readers import matlab_process
from graphrefine.readers.labels import read_labels
from graphrefine.readers.limits import reading_within
from graphrefine.readers.read import read

STUBS = {
    "killed": ("import os; os.kill(os.getpid(), 11)", "its reading broke down"),
    "silent": ("pass", "the answer about it is damaged"),
    "lying": ("print('{\"kind\": \"array\"}'); print('no array')", "the answer about it is damaged"),
    "slow": ("import time; time.sleep(60)", "it takes longer than 0.4 seconds"),
}


def test_values_come_back(tmp_path: Path) -> None:
    matrix = np.array([[0, 2.0, 0], [0, 0, 1], [3, 0, 0]])
    for name, kind in (("4.mat", "4"), ("5.mat", "5")):
        scipy.io.savemat(tmp_path / name, {"network": 1 + 0j * matrix, "sparse": sp.csc_array(matrix)}, format=kind)  # type: ignore[arg-type]
    with h5py.File(tmp_path / "7.mat", "w") as file:
        file["sparse"] = matrix.T
    for name in ("4.mat", "7.mat"):
        assert read(tmp_path / name, variable="sparse", directed=True).to_scipy().toarray().tolist() == matrix.tolist()
    with pytest.raises(FormatError, match="must hold real numbers, not complex128"):
        read(tmp_path / "5.mat")


def test_texts_of_cells_are_labels(tmp_path: Path) -> None:
    cells = np.array([["red"], ["blue"], ["red"]], object)
    scipy.io.savemat(tmp_path / "x.mat", {"y": cells, "structure": {"a": 1}})
    labels = read_labels(tmp_path / "x.mat", variable="y")
    assert labels.classes == ("blue", "red") and labels.indicator.toarray().astype(int).tolist() == [
        [0, 1],
        [1, 0],
        [0, 1],
    ]
    with pytest.raises(
        FormatError, match=r"'structure' is not a matrix of numbers; the variables are 'y', 'structure'"
    ):
        read(tmp_path / "x.mat", variable="structure")


@pytest.mark.parametrize("name", STUBS)
def test_a_process_that_fails_is_an_error_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    code, problem = STUBS[name]
    monkeypatch.setattr(matlab_process, "_START", code)
    monkeypatch.setattr(matlab_process, "SECONDS", 0.2)
    path = tmp_path / "a.mat"
    with h5py.File(path, "w") as file:
        file["network"] = np.eye(3)
    with pytest.raises(FormatError, match=rf"a\.mat: .*{problem}"):
        read(path)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such limit, or count otherwise")
def test_memory_of_the_process_has_a_limit(tmp_path: Path) -> None:
    path = tmp_path / "a.mat"
    with h5py.File(path, "w") as file:
        file.create_dataset("network", shape=(6000, 6000), dtype="f8", compression="gzip", data=np.zeros((6000, 6000)))
    with reading_within(4 << 26), pytest.raises(FormatError, match=r"asks for more memory than there is|allocate"):
        read(path)


def test_nothing_of_the_folder_is_imported(tmp_path: Path) -> None:
    """A file called numpy.py beside the graph does not run."""
    scipy.io.savemat(tmp_path / "4.mat", {"network": np.eye(3, k=1)}, format="4")
    (tmp_path / "json.py").write_text("open('ran', 'w')")
    code = "import sys; sys.path = [each for each in sys.path if each]; import graphrefine; graphrefine.read('4.mat')"
    environment: dict[str, Any] = {**os.environ}
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, check=True)
    assert not (tmp_path / "ran").exists()
