"""Tables in memory: pandas, polars, DuckDB, Arrow, record arrays; edge lists, and pandas frames that are matrices.

Columns stay in Arrow where they are, or where pandas holds text; else they are NumPy arrays. Without pyarrow, all that
pandas and polars hold is read through NumPy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import InputError, MissingExtraError
from graphrefine.graph.node_ids import name_array
from graphrefine.readers.columns import ColumnTable, as_numpy, is_text_type
from graphrefine.readers.formats import EdgeTable, MatrixTable, make_report
from graphrefine.readers.objects import load_records
from graphrefine.readers.options import ReadOptions
from graphrefine.tables.vocabulary import find_pair


def load_pandas(frame: Any, options: ReadOptions) -> EdgeTable | MatrixTable:
    """Load a pandas data frame: an edge list or, by its labels, an adjacency matrix."""
    matrix = frame_matrix(frame, options)
    if matrix is not None:
        return matrix
    frame, unused = _with_index(frame, options)
    are_counted = is_counted(frame.columns) and not options.hints.are_named
    names = [None if are_counted else str(name) for name in frame.columns]
    edges = ColumnTable(names, lambda at: _pandas_column(frame.iloc[:, at])).edges(options)
    if unused:
        edges.report["ignored_columns"] = [*edges.report.get("ignored_columns", []), *unused]
    return edges


def load_series(series: Any, options: ReadOptions) -> EdgeTable | MatrixTable:
    """Load a pandas series: weights by (source, target), its index of two levels; or an edge for each value."""
    if getattr(series.index, "nlevels", 1) != 2:
        return load_records(series.tolist(), options)
    return load_pandas(series.to_frame("weight"), options)


def load_lazy(frame: Any, options: ReadOptions) -> EdgeTable | MatrixTable:
    """Load a polars LazyFrame, whose query is run."""
    return load_arrow(frame.collect(), options)


def load_arrow(table: Any, options: ReadOptions) -> EdgeTable | MatrixTable:
    """Load what hands out its columns by the Arrow C interface."""
    arrow = _arrow_table(table)
    if arrow is None:
        return _load_by_column(table, options)
    return _load_columns(table, ColumnTable(arrow.schema.names, arrow.column), arrow.num_rows, options)


def _arrow_table(table: Any) -> Any:
    """Return the table as pyarrow has it; None without pyarrow, and for objects that Arrow has no type for."""
    try:
        if find_spec("pyarrow") is None or "Object" in map(str, getattr(table, "dtypes", ())):
            return None
        import pyarrow as pa

        return table if isinstance(table, pa.Table) else pa.table(table)
    except MemoryError:
        raise
    except Exception as error:  # of whichever library the table is, such as a connection that was closed
        raise InputError(f"this {type(table).__name__} is no table of columns: {error}", argument="graph") from error


def _load_by_column(table: Any, options: ReadOptions) -> EdgeTable | MatrixTable:
    """Load a table whose columns give NumPy arrays, as those of polars do."""
    if not hasattr(table, "get_columns"):
        raise MissingExtraError(f"reading a {type(table).__name__}", "pyarrow", "io")
    arrays = [np.asarray(column.to_numpy()) for column in table.get_columns()]
    return _load_columns(table, ColumnTable(list(table.columns), arrays.__getitem__), len(table), options)


def _load_columns(table: Any, columns: ColumnTable, rows: int, options: ReadOptions) -> EdgeTable | MatrixTable:
    matrix = table_matrix(columns, rows, options)
    if matrix is not None:
        return matrix
    # Names that polars (column_0, column_1, ...) and DuckDB (col0, col1, ...) give.
    are_counted = all(name in (f"column_{at}", f"col{at}") for at, name in enumerate(columns.names))
    if are_counted and not options.hints.are_named:
        columns = replace(columns, names=[None] * len(columns.names))
    edges = columns.edges(options)
    edges.report["format"] = f"a {type(table).__module__.partition('.')[0]} {type(table).__name__}"
    return edges


def load_structured(array: NDArray[Any], options: ReadOptions) -> EdgeTable:
    """Load a NumPy array of records."""
    names = list(array.dtype.names or ())
    if array.ndim != 1:
        raise InputError(f"an array of records has one dimension, not {array.ndim}", argument="graph")
    return ColumnTable(names, lambda at: array[names[at]]).edges(options)


def _with_index(frame: Any, options: ReadOptions) -> tuple[Any, list[str]]:
    """Return the frame, with its index among the columns where that has an end of the edges; and unused levels."""
    levels = [str(name) for name in frame.index.names if name is not None]
    if not levels and getattr(frame.index.dtype, "kind", "O") == "O":
        levels = ["index"]  # names of rows: the report lists them if they are not used
    columns = [str(name) for name in frame.columns]
    named = {each for each in (options.source, options.target, options.weights, options.time) if isinstance(each, str)}
    if named & {*levels} - {*columns}:
        return frame.reset_index(), []
    if find_pair(columns) or (options.source is not None and options.target is not None):
        return frame, levels
    if frame.index.nlevels == 2 or find_pair([*levels, *columns]):
        return frame.reset_index(), []
    return frame, levels


def _pandas_column(series: Any) -> Any:
    """Return a column of pandas: numbers as an array, text in Arrow if pyarrow is there."""
    if isinstance(series.dtype, np.dtype) and series.dtype != object:
        return series.to_numpy()
    if find_spec("pyarrow") is not None:
        import pyarrow as pa

        try:
            column = pa.array(series, from_pandas=True)
            column = column if hasattr(column, "chunks") else pa.chunked_array([column])
        except (pa.ArrowException, TypeError, ValueError, OverflowError):  # a mix, which NumPy holds as it is
            return series.to_numpy()
        if series.dtype != object or is_text_type(column.type):
            return column
    return series.to_numpy()


# Rows and columns of a frame labeled 0, 1, ... on both sides. Up to three by three it may as well be a list of edges
# with weights, as an array of that shape may; a larger one is none, as edges have two or three columns.
_FEW = 3
_FRAME = "a matrix in a pandas data frame"


def frame_matrix(frame: Any, options: ReadOptions) -> MatrixTable | None:
    """Return the matrix that a pandas frame is by its labels, or None for a table of edges.

    Rows and columns with the same labels are the nodes. Where labels differ, rows and columns are two sides, which
    ``bipartite=True`` must confirm. A square frame of numbers without labels is refused: it may be either.
    """
    columns = [str(name) for name in frame.columns]
    if _is_edge_list(columns, options) or min(frame.shape) < 2:
        return None
    numeric = [getattr(kind, "kind", "O") in "biuf" for kind in frame.dtypes]
    if not all(numeric):

        def take(at: int) -> NDArray[Any]:
            return _numbers(frame.iloc[:, at]) if numeric[at] else frame.iloc[:, at].to_numpy()

        return table_matrix(ColumnTable(columns, take), len(frame), options)
    index, heads = frame.index.tolist(), frame.columns.tolist()
    order = match_labels(index, heads)
    if order is not None and not (len(index) <= _FEW and is_counted(frame.index) and is_counted(frame.columns)):
        sides = (frame.index.name, frame.columns.name)
        if not options.bipartite and None not in sides and sides[0] != sides[1]:
            raise InputError(
                f"the rows of the data frame are called {sides[0]!r} and its columns {sides[1]!r}: pass bipartite=True "
                "for two sets of nodes, or give both one name",
                argument="bipartite",
            )
        return _square_matrix(_numbers(frame)[:, order], name_array(index), options, _FRAME)
    if len(index) == len(heads) and is_counted(frame.index):
        raise _ambiguous(frame.shape)
    is_numbered = getattr(frame.index.dtype, "kind", "O") in "iu" and frame.columns.name is None
    if is_counted(frame.index) or is_numbered:  # numbers may be left from a longer table
        return None
    if not options.bipartite:
        raise InputError(
            f"a data frame of numbers with {len(index)} labeled rows, such as {index[0]!r}, can be read in two ways: "
            "bipartite=True reads it as a matrix whose rows and columns are two sets of nodes; source= and target= "
            "name the columns of an edge list",
            argument="bipartite",
        )
    return _make_matrix(_numbers(frame), _FRAME, name_array(index), name_array(heads))


def table_matrix(table: ColumnTable, rows: int, options: ReadOptions) -> MatrixTable | None:
    """Return the matrix in a table without an index, whose first column has the names of the others, or None."""
    names = [str(name) for name in table.names]
    if _is_edge_list(names, options) or rows < 2 or rows not in (len(names), len(names) - 1):
        return None
    values = [as_numpy(table.column(at)) for at in range(len(names))]
    numeric = [each.dtype.kind in "iuf" for each in values]
    if rows == len(names):
        if all(numeric):
            raise _ambiguous((rows, rows))
        return None
    labels = values[0].tolist()
    order = match_labels(labels, names[1:])
    if order is None or not all(numeric[1:]):
        return None
    matrix = np.column_stack([np.asarray(values[1 + at], np.float64) for at in order])
    return _square_matrix(matrix, name_array(labels), options, "a matrix in a table with labeled rows")


def is_counted(index: Any) -> bool:
    """Return whether an index of pandas only counts: 0, 1, 2, ..."""
    return type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1


def _is_edge_list(names: list[str], options: ReadOptions) -> bool:
    return options.hints.choose_columns or find_pair(names) is not None


def match_labels(rows: Sequence[Any], columns: Sequence[Any]) -> list[int] | None:
    """Return the column of each row's label, if both have the same labels; also if one has them as text."""
    if len(rows) != len(columns) or not len(rows):
        return None
    try:
        for kind in (lambda label: label, str):
            position = {kind(label): at for at, label in enumerate(columns)}
            labels = [kind(label) for label in rows]
            if len(position) == len(columns) and position.keys() == set(labels):
                return [position[label] for label in labels]
    except TypeError:  # lists and such, of which no name is made
        pass
    return None


def _numbers(frame: Any) -> NDArray[np.float64]:
    return np.asarray(frame.to_numpy(dtype=np.float64, na_value=np.nan))


def _square_matrix(values: NDArray[Any], names: NDArray[Any], options: ReadOptions, format: str) -> MatrixTable:
    return _make_matrix(values, format, names, names if options.bipartite else None)


def _make_matrix(
    values: NDArray[np.float64], format: str, names: NDArray[Any], column_names: NDArray[Any] | None
) -> MatrixTable:
    """Return a matrix with 0 in empty cells, as pivoting leaves them, and a note that says so."""
    empty = np.isnan(values)
    notes = [f"empty cells are no edges: {int(empty.sum()):,}"] if empty.any() else []
    report = make_report(format=format, notes=notes)
    return MatrixTable(np.where(empty, 0, values) if notes else values, report, names=names, column_names=column_names)


def _ambiguous(shape: tuple[int, int]) -> InputError:
    return InputError(
        f"a table of {shape[0]} x {shape[1]} numbers can be read in two ways: source= and target= name the columns of "
        "an edge list; Graph.from_matrix(table.to_numpy(), names=...) reads an adjacency matrix, and so does a pandas "
        "frame whose index has the labels of its columns",
        argument="source",
    )
