"""MATLAB files of version 7.3, as MATLAB lays them out: HDF5 behind 512 bytes of its own."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import scipy.sparse as sp

from graphrefine.errors import FormatError, MissingExtraError
from graphrefine.readers.labels import read_labels
from graphrefine.readers.read import read


def save(path: Path, **variables: Any) -> Path:
    with h5py.File(path, "w", userblock_size=512) as file:
        for name, value in variables.items():
            if sp.issparse(value):
                entries: Any = value
                matrix = sp.csc_array(entries)
                group = file.create_group(name)
                group.attrs["MATLAB_sparse"] = np.uint64(matrix.shape[0])
                group.attrs["MATLAB_class"] = np.bytes_("double")
                group.create_dataset("jc", data=matrix.indptr.astype(np.uint64))
                if matrix.nnz:
                    group.create_dataset("data", data=matrix.data)
                    group.create_dataset("ir", data=matrix.indices.astype(np.uint64))
            else:
                dataset = file.create_dataset(name, data=np.asarray(value).T)
                dataset.attrs["MATLAB_class"] = np.bytes_("double")
        file.create_group("#refs#")
    with path.open("r+b") as raw:
        raw.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(512))
    return path


def test_rectangles_and_labels(tmp_path: Path) -> None:
    rectangle = np.array([[0, 1, 1], [1, 0, 0]])
    groups = sp.csc_array(np.array([[1, 0], [0, 1], [1, 1]]))
    path = save(tmp_path / "a.mat", network=sp.csc_array(rectangle), group=groups, classes=[[3], [5], [3]])
    graph = read(path, bipartite=True)
    assert (graph.nodes, graph.sources, graph.edges) == (5, 2, 3)
    assert read_labels(path).indicator.toarray().astype(int).tolist() == [[1, 0], [0, 1], [1, 1]]
    assert read_labels(path, variable="classes").classes == ("3", "5")


def test_what_cannot_be_read(tmp_path: Path) -> None:
    path = save(tmp_path / "a.mat", A=np.eye(3), empty=sp.csc_array((3, 3)), cube=np.ones((2, 2, 2)))
    for options, problem in (
        ({}, "there is no variable 'network'; the variables are 'A', 'cube', 'empty'; pass variable="),
        ({"variable": "empty"}, "there is no edge"),
        ({"variable": "cube"}, "the variable 'cube' is not a matrix of numbers"),
    ):
        with pytest.raises(FormatError, match=problem):
            read(path, **options)  # type: ignore[arg-type]
    whole = path.read_bytes()
    for size in (100, 600, len(whole) // 2):
        path.write_bytes(whole[:size])
        with pytest.raises(FormatError, match=r"not a readable"):
            read(path)


def test_hostile_files(tmp_path: Path) -> None:
    save(tmp_path / "other.mat", network=np.eye(3, k=1))
    path = tmp_path / "a.mat"
    with h5py.File(path, "w") as file:
        file["outside"] = h5py.ExternalLink("other.mat", "/network")
        file["inside"] = h5py.SoftLink("/huge")
        file.create_dataset("huge", shape=(10**6, 10**6), dtype="f8", chunks=(100, 100))
        file.create_dataset("raw", shape=(2, 2), dtype="f8", external=[("other.mat", 0, 32)])
        file.create_dataset("words", data=np.array([b"a", b"b"]))
        file.create_group("structure")
        bad = file.create_group("bad")
        bad.attrs["MATLAB_sparse"] = np.uint64(3)
        for name, values in {"jc": [0, 1, 2, 2], "ir": [1, 9], "data": [1.0, 1.0]}.items():
            bad[name] = np.array(values)
    for variable, problem in {
        "outside": "is a link, which is not followed",
        "inside": "is a link, which is not followed",
        "huge": "unpacks to more than",
        "raw": "is stored in another file, which is not opened",
        "words": "'/words' does not hold real numbers",
        "structure": "'/structure' is a structure, not a matrix",
        "bad": "indices must be < 3|index values must be < 3",
    }.items():
        with pytest.raises(FormatError) as caught:
            read(path, variable=variable)
        assert re.search(problem, str(caught.value)), caught.value


def test_a_package_that_is_not_there_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = save(tmp_path / "a.mat", network=np.eye(3, k=1))
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(MissingExtraError, match=r"version 7\.3 needs the package 'h5py'.*graphrefine\[hdf5\]"):
        read(path)
