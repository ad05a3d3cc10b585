"""MATLAB files of versions 4 and 5: the matrix that was saved, and an error where damage would crash SciPy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from graphrefine.errors import FormatError
from graphrefine.readers.labels import read_labels
from graphrefine.readers.read import read


def test_texts_of_cells_are_labels(tmp_path: Path) -> None:
    path = tmp_path / "x.mat"
    cells = np.array([["red"], ["blue"], ["red"]], object)
    scipy.io.savemat(path, {"y": cells, "structure": {"a": 1}})
    labels = read_labels(path, variable="y")
    assert labels.classes == ("blue", "red")
    assert labels.indicator.toarray().astype(int).tolist() == [[0, 1], [1, 0], [0, 1]]
    with pytest.raises(FormatError, match="'structure' is not a matrix of numbers") as caught:
        read(path, variable="structure")
    assert caught.value.argument == "variable"


@pytest.mark.parametrize("packed", [False, True])
def test_damage_is_refused(tmp_path: Path, packed: bool) -> None:
    """Files that end early, and types of elements that there are not, at which SciPy would end the process."""
    path = tmp_path / "a.mat"
    matrix = sp.random_array((60, 60), density=0.2, rng=np.random.default_rng(0), format="csc")
    scipy.io.savemat(path, {"network": matrix}, do_compression=packed)
    whole = path.read_bytes()
    damaged = [whole[:size] for size in (60, 130, 200, len(whole) // 2, len(whole) - 10)]
    if not packed:
        at = whole.index(b"network\0") + 8
        damaged += [whole[:at] + bytes([kind]) + whole[at + 1 :] for kind in (0, 8, 20, 255)]
    for data in [*damaged, b"no matrix at all, " * 20, b"MATLAB 7.3 MAT-file" + bytes(200)]:
        path.write_bytes(data)
        with pytest.raises(FormatError, match=r"a\.mat: "):
            read(path)
