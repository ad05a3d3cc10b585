"""A column of node names, in every form in which pipelines hand one over: a list, a series, an array, a data frame."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from graphrefine.errors import InputError
from graphrefine.graph.node_ids import as_ids, id_array

_WAY_OUT = "in a ColumnTransformer, name its column: (NodeVectors(graph), 'name')"


def read_names(X: Any) -> list[Any]:
    """The names in a column, one for each row, and None for a missing one.

    Floats that are whole are integers, as tables turn one into the other where a value is missing.

    Examples
    --------
    >>> read_names(["ann", None]), read_names(np.array([[7.0], [8.0]])), read_names([["ann"], ["bob"]])
    (['ann', None], [7, 8], ['ann', 'bob'])
    """
    if hasattr(X, "tocsr"):
        raise InputError(f"X is a sparse matrix, and a column of node names is expected; {_WAY_OUT}")
    if hasattr(X, "columns") and hasattr(X, "shape"):  # pandas, polars, pyarrow
        _check_width(X.shape, f": {', '.join(map(str, _headings(X)[:5]))}")
        X = X.iloc[:, 0] if hasattr(X, "iloc") else X[_headings(X)[0]]
    for method in ("to_list", "to_pylist"):  # of a series, of an array of Arrow
        if hasattr(X, method):
            X = getattr(X, method)()
    return _names_of_array(X) if isinstance(X, np.ndarray) else _names_of_list(X)


def _headings(frame: Any) -> list[Any]:
    return list(getattr(frame, "column_names", frame.columns))


def _check_width(shape: tuple[int, ...], headings: str = "") -> None:
    if shape[1] == 0:
        problem = f"X has 0 feature(s) (shape={shape}) while a minimum of 1 is required: a column of node names"
        raise InputError(problem)
    if shape[1] > 1:
        raise InputError(f"X has {shape[1]} columns{headings}, and one column of node names is expected; {_WAY_OUT}")


def _names_of_array(array: Any) -> list[Any]:
    if array.ndim == 0 or array.ndim > 2:
        raise InputError(f"X has the shape {array.shape}; a column of node names has (n,) or (n, 1)")
    if array.ndim == 2:
        _check_width(array.shape)
        array = array[:, 0]
    if array.dtype.kind == "c":
        raise InputError("Complex data not supported: names of nodes are integers or strings")
    if array.dtype.kind == "O":
        return _names_of_list(array.tolist())
    names: list[Any] = as_ids(array).tolist()
    return names


def _names_of_list(values: Any) -> list[Any]:
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise InputError(f"X is {values!r}, and a column of node names is expected, as in ['ann', 'bob']")
    listed = list(values)
    if listed and all(isinstance(row, list | np.ndarray) for row in listed):  # rows of one cell; a tuple may be a name
        for row in listed:
            _check_width((len(listed), len(row)))
        listed = [row[0] for row in listed]
    numeric = {type(value) for value in listed if value is not None} <= {int, float, np.float64, np.int64}
    if numeric and any(isinstance(value, float) for value in listed):
        ids = as_ids(np.array([np.nan if value is None else value for value in listed], np.float64))
    else:
        ids = id_array(listed)
    names: list[Any] = ids.tolist()
    return names
