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
    for table in (frame, frame.drop(columns="w"), frame.astype(object), {name: frame[name].tolist() for name in frame}):
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


@pytest.mark.parametrize(
    ("thing", "options", "message"),
    [
        (pd.DataFrame({"a": [1, 2], "b": [2, 3]}), {"weights": np.ones(2)}, "weights= is the name or the position"),
        (pd.DataFrame({"a": [[1], 2], "b": [2, 3], "c": [{1: 2}, 3]}), {}, "ids must be|the id|cannot be"),
        (RING, {"weights": np.ones(3)}, "a matrix holds its own weights"),
        ({"a": ["b"], "b": ["c"]}, {"weights": np.ones(3)}, "no edge has it"),
        ({1: 2}, {"target": 1}, "a column is a list or an array, not int"),
        ({"source": [], "target": [], "time": []}, {"time": "time"}, "there is no edge"),
        ({"source": [1], "target": [2], "t": ["\ud800"]}, {"time": "t"}, "time"),
        ({"source": [1], "target": [2], "t": [pd.NA]}, {"time": "t"}, "time"),
        (pd.DataFrame({"source": [], "target": []}, dtype=object), {"nodes": 3}, "there is no edge"),
        ([["a", 1, [1]], [1, 5, 3]], {}, "record 1 is .* the weight of an edge is one number"),
        ([(1, 2, (1, 2)), (2, 3, (3, 4))], {}, "record 1 is .* the weight of an edge is one number"),
        (pd.DataFrame({"t": [pd.NaT], "u": ["b"], "v": ["c"]}).astype("category"), {"time": "t"}, "time"),
        ("\ud800", {}, "no file can have this name"),
        ("a\0b", {}, "no file can have this name"),
    ],
)
def test_what_is_no_graph(thing: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(thing, **options)


def test_a_sparse_matrix_with_indices_outside_of_it() -> None:
    for index in (-1, 99):
        matrix = sp.csr_array(RING)
        matrix.indices[0] = index
        for bipartite in (False, True):
            with pytest.raises(InputError):
                read(matrix, bipartite=bipartite)
