"""Adjacency matrices in data frames, recognized by labels of rows and columns; refused where it is not clear."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import InputError
from graphrefine.graph.node_ids import name_array
from graphrefine.readers.formats import MatrixTable
from graphrefine.readers.layout import find_pair
from graphrefine.readers.options import ReadOptions

_FEW = 3  # rows and columns of a frame without labels that may also be a list of edges, as in an array


def frame_matrix(frame: Any, options: ReadOptions) -> MatrixTable | None:
    """The matrix that a pandas frame is by its labels, or None for a table of edges.

    Rows and columns with the same labels are the nodes. Where labels differ, rows and columns are two sides, which
    ``bipartite=True`` must confirm. A square frame of numbers without labels is refused: it may be either.
    """
    columns = [str(name) for name in frame.columns]
    if _is_edge_list(columns, options) or min(frame.shape) < 2:
        return None
    numeric = [getattr(kind, "kind", "O") in "biuf" for kind in frame.dtypes]
    if not all(numeric):
        first = frame.iloc[:, 0].tolist()
        return _labeled_matrix(columns, numeric, first, lambda at: _numbers(frame.iloc[:, at]), options)
    index, heads = frame.index.tolist(), frame.columns.tolist()
    order = match_labels(index, heads)
    if order is not None and not (len(index) <= _FEW and is_counted(frame.index) and is_counted(frame.columns)):
        sides = (frame.index.name, frame.columns.name)
        if not options.bipartite and None not in sides and sides[0] != sides[1]:
            raise InputError(
                f"the rows of the data frame are called {sides[0]!r} and its columns {sides[1]!r}, as pandas.crosstab "
                "does: say bipartite=True if they are two sets of nodes; if they are the same nodes, call both by one "
                "name",
                argument="bipartite",
            )
        values = _numbers(frame)[:, order]
        return _square_matrix(values, name_array(index), options, "a matrix in a pandas data frame")
    if len(index) == len(heads) and is_counted(frame.index):
        raise _ambiguous(frame.shape)
    if is_counted(frame.index) or not _has_labels(frame):
        return None
    if not options.bipartite:
        raise InputError(
            f"a data frame of numbers with {len(index)} labeled rows, such as {index[0]!r}, can be read in two ways: "
            "bipartite=True reads it as a matrix whose rows and columns are two sets of nodes; source= and target= "
            "name the columns of an edge list",
            argument="bipartite",
        )
    values, report = _without_empty(_numbers(frame), "a matrix in a pandas data frame")
    _refuse_sums(values, index, heads)
    return MatrixTable(values, report, names=name_array(index), column_names=name_array(heads))


def table_matrix(
    names: list[str],
    numeric: list[bool],
    rows: int,
    options: ReadOptions,
    *,
    values: Callable[[int], NDArray[Any]],
) -> MatrixTable | None:
    """The matrix in a table without an index: the first column holds the names of the others; None for other tables."""
    if _is_edge_list(names, options) or rows < 2:
        return None
    if rows == len(names) and all(numeric):
        raise _ambiguous((rows, rows))
    if rows + 1 != len(names):
        return None
    return _labeled_matrix(names, numeric, values(0).tolist(), values, options)


def is_counted(index: Any) -> bool:
    """Whether an index of pandas only counts: 0, 1, 2, ..."""
    return type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1


def _is_edge_list(names: list[str], options: ReadOptions) -> bool:
    named = (options.source, options.target, options.time)
    by_option = any(each is not None for each in named) or options.names_weights
    return by_option or find_pair(names) is not None


def _labeled_matrix(
    names: list[str],
    numeric: list[bool],
    labels: list[Any],
    values: Callable[[int], NDArray[Any]],
    options: ReadOptions,
) -> MatrixTable | None:
    """The matrix in a table whose first column labels its rows by the names of the other columns."""
    order = match_labels(labels, names[1:])
    if order is None or not all(numeric[1:]):
        return None
    matrix = np.column_stack([np.asarray(values(1 + at), np.float64) for at in order])
    return _square_matrix(matrix, name_array(labels), options, "a matrix in a table with labeled rows")


def match_labels(rows: Sequence[Any], columns: Sequence[Any]) -> list[int] | None:
    """For each label of the rows the place among the columns, if both have the same; also if one has them as text."""
    if len(rows) != len(columns) or not _are_hashable(rows):
        return None
    for kind in (lambda label: label, str):
        place = {kind(label): at for at, label in enumerate(columns)}
        labels = [kind(label) for label in rows]
        if len(place) == len(columns) and place.keys() == set(labels) and len(set(labels)) == len(labels):
            return [place[label] for label in labels]
    return None


def _are_hashable(labels: Sequence[Any]) -> bool:
    try:
        return len(set(labels)) > 0
    except TypeError:  # lists and such, of which no name is made
        return False


def _has_labels(frame: Any) -> bool:
    """Whether rows of a frame have names of their own, rather than numbers left from a longer table."""
    integers = getattr(frame.index.dtype, "kind", "O") in "iu"
    return not integers or frame.columns.name is not None


def _numbers(frame: Any) -> NDArray[np.float64]:
    numbers: NDArray[np.float64] = frame.to_numpy(dtype=np.float64, na_value=np.nan)
    return numbers


def _square_matrix(values: NDArray[Any], names: NDArray[Any], options: ReadOptions, format: str) -> MatrixTable:
    matrix, report = _without_empty(values, format)
    return MatrixTable(matrix, report, names=names, column_names=names if options.bipartite else None)


def _without_empty(values: NDArray[np.float64], format: str) -> tuple[NDArray[np.float64], dict[str, Any]]:
    """The matrix with 0 in empty cells, as pivoting leaves them, and the report that says so."""
    empty = np.isnan(values)
    count = int(empty.sum())
    if not count:
        return values, {"format": format}
    return np.where(empty, 0, values), {"format": format, "remarks": [f"empty cells are no edges: {count:,}"]}


def _ambiguous(shape: tuple[int, int]) -> InputError:
    return InputError(
        f"a table of {shape[0]} x {shape[1]} numbers can be read in two ways: source= and target= name the columns of "
        "an edge list; Graph.from_matrix(table.to_numpy(), names=...) reads an adjacency matrix, and so does a pandas "
        "frame whose index has the labels of its columns",
        argument="source",
    )


def _refuse_sums(values: NDArray[np.float64], index: list[Any], heads: list[Any]) -> None:
    """Refuse a table whose last row and column, of one name, are the sums of the others: they would be two hubs."""
    if min(values.shape) < 2 or index[-1] != heads[-1]:
        return
    inner = values[:-1, :-1]
    if np.allclose(values[:-1, -1], inner.sum(axis=1)) and np.allclose(values[-1, :-1], inner.sum(axis=0)):
        raise InputError(
            f"the last row and the last column, {index[-1]!r}, are sums of the others, as pandas.crosstab gives them "
            "on demand (margins): leave both out",
            argument="graph",
        )
