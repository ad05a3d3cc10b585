"""Odd objects in memory: what tables and matrices of people hold is read as meant, or refused by a clear error."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from graphrefine import read
from graphrefine.errors import InputError

RING = np.roll(np.eye(4), 1, axis=1)


@pytest.mark.parametrize("type", ["f2", ">f8", ">i4", "bool", "u1"])
@pytest.mark.parametrize("options", [{}, {"bipartite": True}])
def test_matrices_of_every_type(type: str, options: dict[str, Any]) -> None:
    assert read(RING.astype(type), **options).edges == 4


@pytest.mark.parametrize("convert", [{}, {"dtype_backend": "pyarrow"}])
@pytest.mark.parametrize("nothing", [None, pd.NA, float("nan")])
def test_columns_with_nothing_in_them(convert: dict[str, Any], nothing: Any) -> None:
    frame = pd.DataFrame({"x": ["a", "b", "c"], "y": ["b", "c", "d"], "z": ["p", nothing, "q"], "w": [1, nothing, 3]})
    frame = frame.convert_dtypes(**convert)
    for table in (frame, frame.drop(columns="w"), frame.astype(object)):
        assert read(table, source="x", target="y", weights=False).names.tolist() == ["a", "b", "c", "d"]
    assert read(frame.drop(columns="w")).names.tolist() == ["a", "b", "c", "d"]
    mixed = frame.drop(columns="w").astype(object).assign(z=["p", nothing, 5])  # which Arrow has no type for
    assert read(mixed).names.tolist() == ["a", "b", "c", "d"]


def test_the_weights_of_the_first_column_are_no_false() -> None:
    frame = pd.DataFrame({"cost": [2.0, 3.0], "source": ["a", "b"], "target": ["b", "c"]})
    graph = read(frame, weights=0)
    assert graph.weights is not None and sorted(set(graph.weights.tolist())) == [2, 3]
    for other in (RING, {"a": ["b"], "b": ["c"]}):
        with pytest.raises(InputError, match=r"a matrix holds its own weights|no edge has it"):
            read(other, weights=0)


def test_a_sparse_matrix_with_indices_outside_of_it() -> None:
    for index in (-1, 99):
        matrix = sp.csr_array(RING)
        matrix.indices[0] = index
        for bipartite in (False, True):
            with pytest.raises(InputError):
                read(matrix, bipartite=bipartite)
