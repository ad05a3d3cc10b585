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
from graphrefine.readers.matrix_files import load_mtx
from graphrefine.readers.options import ReadOptions
from graphrefine.readers.read import read
from graphrefine.tables.source import Source
from strategies import PATIENT

BANNER = "%%MatrixMarket matrix coordinate real general\n"


def load_text(folder: Path, text: str | bytes) -> Any:
    path = folder / "a.mtx"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    matrix: Any = load_mtx(Source(path), ReadOptions(threads=1)).matrix
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


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("nonsense\n", 1),
        ("%%MatrixMarket x\n", 1),
        (f"{BANNER}2 2 1\n1 2", 3),
        (f"{BANNER}2 2 2\n1 2 3\n", 0),
        (f"{BANNER}2 2 1\n0 2 3\n", 3),
        (f"{BANNER}2 2 1\n1 99999999999 3\n", 3),
        (f"{BANNER}2 2 1\nx 2 3\n", 3),
        (f"{BANNER}2 2 1\n1 2 1e400\n", 0),
        (f"{BANNER}2000000000 2000000000 1\n1 2 3\n", 0),
        (f"{BANNER}2 2 99999999999999\n1 2 3\n", 0),
        (f"{BANNER}2 2\n1 2 3\n", 0),
        (f"{BANNER}2 2 1\n1 2 1.5\0", 0),
        ("%%MatrixMarket matrix array real general\n0 5\n", 0),
        ("%%MatrixMarket matrix array real symmetric\n2 3\n1\n2\n3\n4\n5\n6\n", 0),
        ("%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n", 0),
        ("%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 2 1 1\n", 0),
    ],
)
def test_damage_is_refused(tmp_path: Path, text: str, line: int) -> None:
    path = tmp_path / "a.mtx"
    path.write_text(text)
    with pytest.raises(FormatError) as caught:
        read(path)
    assert str(caught.value).startswith(f"{path}, line {line}: " if line else f"{path}: ")
