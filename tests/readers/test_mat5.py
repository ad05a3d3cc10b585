"""Sparse matrices of MATLAB files that are read without SciPy: the same as with it, or left to it."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy.io import loadmat, savemat
from scipy.sparse import csc_array

import graphrefine
from graphrefine.readers.mat5 import SparseColumns, read_matrix

KINDS = (np.float64, np.float32, np.int32, np.int8, np.uint8, np.bool_)
SIZES = st.integers(1, 6)
MATRICES: st.SearchStrategy[NDArray[Any]] = st.sampled_from(KINDS).flatmap(
    lambda kind: arrays(np.uint8, st.tuples(SIZES, SIZES), elements=st.integers(0, 3)).map(lambda x: x.astype(kind))
)


def file_of(packed: bool, **variables: object) -> bytes:
    """A MATLAB file."""
    file = BytesIO()
    savemat(cast("Any", file), variables, do_compression=packed)
    return file.getvalue()


@given(MATRICES, st.booleans())
def test_a_matrix_is_that_of_scipy(dense: NDArray[np.float64], packed: bool) -> None:
    file = file_of(packed, first=np.eye(3), network=csc_array(dense), last="text")
    matrix, theirs = read_matrix(file, "network"), csc_array(loadmat(cast("Any", BytesIO(file)))["network"])
    assert isinstance(matrix, SparseColumns) and matrix.shape == theirs.shape
    for name in ("data", "indices", "indptr"):
        assert np.array_equal(getattr(matrix, name), getattr(theirs, name)), name
    assert np.array_equal(matrix.tocsr().toarray(), dense)


@given(MATRICES, st.booleans())
def test_a_dense_matrix_is_that_of_scipy(dense: NDArray[np.float64], packed: bool) -> None:
    file = file_of(packed, first=csc_array(np.eye(3)), network=dense, last="text")
    matrix, theirs = read_matrix(file, "network"), loadmat(cast("Any", BytesIO(file)))["network"]
    assert isinstance(matrix, np.ndarray) and matrix.dtype == theirs.dtype
    assert np.array_equal(matrix, theirs)


@given(st.booleans(), st.data())
def test_damage_is_left_to_the_process(packed: bool, data: st.DataObject) -> None:
    """Bytes that are changed or cut off: no error, and no matrix whose arrays point outside of each other."""
    file = bytearray(file_of(packed, network=csc_array(np.arange(12).reshape(3, 4) % 3)))
    for _ in range(data.draw(st.integers(0, 3))):
        file[data.draw(st.integers(0, len(file) - 1))] = data.draw(st.integers(0, 255))
    matrix = read_matrix(bytes(file[: data.draw(st.integers(0, len(file)))]), "network")
    if isinstance(matrix, SparseColumns):
        assert len(matrix.indptr) == matrix.shape[1] + 1 and matrix.indptr[-1] == len(matrix.indices) == len(
            matrix.data
        )
        assert matrix.indptr[0] == 0 and (np.diff(matrix.indptr) >= 0).all()
        assert not len(matrix.indices) or 0 <= matrix.indices.min() <= matrix.indices.max() < matrix.shape[0]


@pytest.mark.parametrize(
    "file",
    [
        file_of(False, other=csc_array(np.eye(2))),
        file_of(True, network="text"),
        file_of(False, network=csc_array(1j * np.eye(2))),
        file_of(False, network={"a": 1}),
        b"MATLAB 7.3 MAT-file",
        b"",
    ],
)
def test_what_is_something_else_is_left_to_the_process(file: bytes) -> None:
    assert read_matrix(file, "network") is None


@pytest.mark.parametrize("options", [{}, {"directed": True}, {"bipartite": True}, {"weights": False}])
def test_a_graph_is_the_same_by_both_ways(options: dict[str, Any], tmp_path: Path) -> None:
    """A file of version 4, which SciPy reads, and one of version 5."""
    matrix = csc_array(np.random.default_rng(0).integers(0, 3, (5, 5)).astype(float))
    graphs = []
    for version in ("4", "5"):
        savemat(tmp_path / f"{version}.mat", {"network": matrix}, format=version)
        graphs.append(graphrefine.read(tmp_path / f"{version}.mat", format="mat", **options))
    first, second = graphs
    assert np.array_equal(first.to_scipy().toarray(), second.to_scipy().toarray())
    assert first.reading == second.reading


def test_differences_that_go_round_are_seen() -> None:
    """Beginnings of columns that ascend only in the arithmetic of int32."""
    file = file_of(False, network=csc_array(np.eye(4)))
    starts = np.arange(5, dtype=np.int32).tobytes()
    round_trip = np.array([0, 901295063, -2118833396, 3, 4], np.int32)
    assert (np.diff(round_trip)[:2] >= 0).all()
    assert file.count(starts) == 1 and read_matrix(file.replace(starts, round_trip.tobytes()), "network") is None
