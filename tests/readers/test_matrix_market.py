"""Matrix Market files: the matrix of SciPy's reader where that is sound, and an error of the file otherwise."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from graphrefine.errors import FormatError
from graphrefine.readers.matrix_market import load
from graphrefine.readers.options import ReadOptions
from graphrefine.readers.read import read
from graphrefine.readers.source import Source
from strategies import PATIENT

BANNER = "%%MatrixMarket matrix coordinate real general\n"


def load_text(folder: Path, text: str | bytes) -> Any:
    path = folder / "a.mtx"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    matrix: Any = load(Source(path), ReadOptions(threads=1)).matrix
    return matrix.toarray() if hasattr(matrix, "toarray") else matrix


@PATIENT
@given(
    values=st.lists(st.sampled_from([0, 0, 1, 2.5, 1e-9, 1e20, 3]), min_size=16, max_size=16),
    symmetry=st.sampled_from(["general", "symmetric"]),
    field=st.sampled_from(["real", "integer", "pattern"]),
    dense=st.booleans(),
    precision=st.sampled_from([None, 3, 17]),
)
def test_the_matrix_is_that_of_scipy(
    tmp_path: Path, values: list[float], symmetry: str, field: str, dense: bool, precision: int | None
) -> None:
    matrix = np.array(values).reshape(4, 4)
    matrix = matrix + matrix.T if symmetry == "symmetric" else matrix
    if field == "integer":
        matrix = np.minimum(matrix, 9).astype(int)
    dense = dense and field != "pattern"
    file = io.BytesIO()
    saved: Any = matrix if dense else sp.coo_array(matrix)
    options: dict[str, Any] = {"field": field, "symmetry": symmetry, "precision": precision}
    scipy.io.mmwrite(file, saved, comment="one\ntwo", **options)
    theirs: Any = scipy.io.mmread(io.BytesIO(file.getvalue()))
    theirs = theirs if dense else theirs.toarray()
    assert np.array_equal(load_text(tmp_path, file.getvalue()).astype(np.float32), theirs.astype(np.float32))


def test_any_precision(tmp_path: Path) -> None:
    """Numbers of 22 digits, and of a thousand: SciPy's reader ends the process."""
    for digits in (22, 1000):
        text = f"{BANNER}2 2 1\n1 2 0.{'3' * digits}\n"
        assert load_text(tmp_path, text).tolist() == [[0, np.float32(1 / 3)], [0, 0]]


def test_what_others_write(tmp_path: Path) -> None:
    text = "%%matrixmarket MATRIX Coordinate Real General\r\n% a\r\n\r\n 2 2 2\r\n 01 +2\t1.5E0\r\n\r\n2 1 2\r\n"
    assert load_text(tmp_path, text).tolist() == [[0, 1.5], [2, 0]]
    skew = "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 3\n"
    assert load_text(tmp_path, skew).tolist() == [[0, -3], [3, 0]]
    skew = "%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n3\n"
    assert load_text(tmp_path, skew).tolist() == [[0, -1, -2], [1, 0, -3], [2, 3, 0]]
    (tmp_path / "b.mtx").write_text(f"{BANNER}3 3 2\n1 2 1\n2 3 1\n")
    assert read(tmp_path / "b.mtx", threads=2).edges == 2


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (f"{BANNER}2 2 1\n1 2 1.5e", "a.mtx, line 3: weight '1.5e' is not a number"),
        (f"{BANNER}2 2 1\n1 2 1e400\n", "a.mtx, line 3: weight 1e400 is not a finite"),
        (f"{BANNER}2 2 1\n1 2", "line 3: .*an entry has three numbers, not '1 2'"),
        (f"{BANNER}2 2 1\n1 2 3 4\n", "line 3: .*an entry has three numbers, not '1 2 3 4'"),
        (f"{BANNER}2 2 2\n1 2 3\n", "line 2: .*2 entries are stated, and 1 follow"),
        (f"{BANNER}2 2 1\n0 2 3\n", "entry 1: row 0 is not from 1 to 2"),
        (f"{BANNER}2 2 1\n1 99999999999 3\n", "entry 1: column 0 is not from 1 to 2|column 99999999999 is not from"),
        (f"{BANNER}2 2 1\nx 2 3\n", "entry 1: row 0 is not from 1 to 2"),
        (f"{BANNER}2000000000 2000000000 1\n1 2 3\n", "states 4,000,000,000 rows and columns, and has 76 bytes"),
        (f"{BANNER}2 2 99999999999999\n1 2 3\n", "99,999,999,999,999 entries are stated, and 1 follow"),
        (f"{BANNER}2 2\n1 2 3\n", "line 2: .*rows, columns and entries are expected"),
        (f"{BANNER}\n", "line 3: .*rows, columns and entries are expected"),
        ("%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n", "4 values are stated, and 3 follow"),
        ("%%MatrixMarket matrix array real general\n1 2\n1\nx\n", "could not convert string to float"),
        ("%%MatrixMarket matrix coordinate real symmetric\n2 3 1\n1 2 1\n", "is square, not 2 x 3"),
        ("%%MatrixMarket vector coordinate real general\n2 2 1\n1 2 1\n", "line 1: .*it begins with"),
    ],
)
def test_damage_is_told_by_its_line(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "a.mtx"
    path.write_text(text)
    with pytest.raises(FormatError, match=problem):
        read(path)
