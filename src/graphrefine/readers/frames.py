"""Tables in memory: pandas, polars, DuckDB, Arrow, record arrays; edge lists, and pandas frames that are matrices.

Columns stay in Arrow where they are, or where pandas holds text; else they are NumPy arrays. Without pyarrow, all that
pandas and polars hold is read through NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import InputError, MissingExtraError
from graphrefine.graph.adjacency import check_weights
from graphrefine.graph.node_ids import Numbered, check_line_ends, number, object_array
from graphrefine.readers.arrow import check_no_null, id_values, number_strings, numeric_columns, type_error
from graphrefine.readers.column_kinds import MOST
from graphrefine.readers.formats import EdgeTable, MatrixTable
from graphrefine.readers.frame_matrix import frame_matrix, is_counted, table_matrix
from graphrefine.readers.layout import find_columns, find_pair
from graphrefine.readers.objects import load_records
from graphrefine.readers.options import ReadOptions
from graphrefine.readers.timed_edges import edges_with_times


class ColumnTable(NamedTuple):
    """A table of any kind: names of its columns, or None, which of them hold numbers, and the columns by position."""

    names: list[str] | None
    numeric: list[bool]
    column: Callable[[int], Any]  # a NumPy array, or an Arrow array in chunks


def load_pandas(frame: Any, options: ReadOptions) -> EdgeTable | MatrixTable:
    """Load a pandas data frame: an edge list or, by its labels, an adjacency matrix."""
    matrix = frame_matrix(frame, options)
    if matrix is not None:
        return matrix
    frame, unused = _with_index(frame, options)
    names: list[str] | None = [str(name) for name in frame.columns]
    if is_counted(frame.columns) and not _names_columns(options):
        names = None
    numeric = [getattr(kind, "kind", "O") in "iuf" for kind in frame.dtypes]
    edges = edges_of_columns(ColumnTable(names, numeric, lambda at: _pandas_column(frame.iloc[:, at])), options)
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
    numeric = numeric_columns(arrow.schema)
    columns = ColumnTable(list(arrow.schema.names), numeric, arrow.column)
    return _load_columns(table, columns, arrow.num_rows, options, values=lambda at: _array(arrow, at))


def _arrow_table(table: Any) -> Any:
    """The table as pyarrow has it; None without pyarrow, and for objects that Arrow has no type for."""
    try:
        if find_spec("pyarrow") is None or "Object" in map(str, getattr(table, "dtypes", ())):
            return None
        import pyarrow as pa

        return table if isinstance(table, pa.Table) else pa.table(table)
    except MemoryError:
        raise
    except Exception as error:  # of whichever library the table is, such as a connection that was closed
        raise InputError(f"this {type(table).__name__} is no table of columns: {error}", argument="graph") from error


def _array(table: Any, at: int) -> NDArray[Any]:
    return np.asarray(table.column(at).to_numpy())


def _load_by_column(table: Any, options: ReadOptions) -> EdgeTable | MatrixTable:
    """Load a table whose columns give NumPy arrays, as those of polars do."""
    if not hasattr(table, "get_columns"):
        raise MissingExtraError(f"reading a {type(table).__name__}", "pyarrow", "io")
    arrays = [np.asarray(column.to_numpy()) for column in table.get_columns()]
    columns = ColumnTable(list(table.columns), [each.dtype.kind in "iuf" for each in arrays], arrays.__getitem__)
    return _load_columns(table, columns, len(table), options, values=arrays.__getitem__)


def _load_columns(
    table: Any, columns: ColumnTable, rows: int, options: ReadOptions, *, values: Callable[[int], NDArray[Any]]
) -> EdgeTable | MatrixTable:
    matrix = table_matrix(columns.names or [], columns.numeric, rows, options, values=values)
    if matrix is not None:
        return matrix
    edges = edges_of_columns(_without_counts(columns, options), options)
    edges.report["format"] = f"a {type(table).__module__.partition('.')[0]} {type(table).__name__}"
    return edges


def load_structured(array: NDArray[Any], options: ReadOptions) -> EdgeTable:
    """Load a NumPy array of records."""
    names = list(array.dtype.names or ())
    if array.ndim != 1:
        raise InputError(f"an array of records has one dimension, not {array.ndim}", argument="graph")
    numeric = [array.dtype[name].kind in "iuf" for name in names]
    return edges_of_columns(ColumnTable(names, numeric, lambda at: array[names[at]]), options)


def edges_of_columns(table: ColumnTable, options: ReadOptions) -> EdgeTable:
    """The edges of a table, whose columns the options or usual names find."""
    edge_columns = find_columns(table.names, table.numeric, options, values=lambda at: _sample(table.column(at)))
    places = [edge_columns.source, edge_columns.target]
    weights = None if edge_columns.weight is None else _weights(table.column(edge_columns.weight))
    times = None if edge_columns.time is None else _values(table.column(edge_columns.time))
    ends = number_ends(table.column(places[0]), table.column(places[1]), options)
    edge_columns = replace(edge_columns, sample=lambda at: _values(table.column(at)).tolist())
    return edges_with_times(ends, weights, edge_columns, times, options)


def _sample(column: Any) -> list[Any]:
    first = column[:MOST]
    return list(first.to_pylist() if _is_arrow(column) else first.tolist())


def _values(column: Any) -> NDArray[Any]:
    if not _is_arrow(column):
        return np.asarray(column)
    if column.null_count == len(column):  # also dictionaries without an entry, which Arrow cannot look into
        return object_array([None] * len(column))
    return np.asarray(column.to_numpy())


def number_ends(source: Any, target: Any, options: ReadOptions) -> Numbered:
    """Number the ids of two columns, NumPy's or Arrow's."""
    columns = [_resolve(column) if _is_arrow(column) else column for column in (source, target)]
    if all(_is_arrow(column) and _is_text(column.type) for column in columns):
        chunks = [chunk for column in columns for chunk in column.chunks]
        first, second, names = number_strings(chunks, len(columns[0]))
        listed = names.to_pylist()
        check_line_ends(listed)
        return first, second, object_array(listed)
    arrays = [_id_array(column) if _is_arrow(column) else column for column in columns]
    return number(*arrays, threads=options.thread_count, apart=options.bipartite)


def _is_arrow(column: Any) -> bool:
    return hasattr(column, "null_count") and hasattr(column, "type")


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or kind == pa.string_view())


def _resolve(column: Any) -> Any:
    """An Arrow column with the values of a dictionary in place of its codes; InputError for types that are no ids."""
    import pyarrow.types as types

    plain = _decode(column)
    if not (_is_text(plain.type) or types.is_integer(plain.type) or types.is_floating(plain.type)):
        raise type_error(plain.type)
    return plain


def _decode(column: Any) -> Any:
    """An Arrow column without codes; not every version of pyarrow can do so where the values are views of strings."""
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        return column
    kind = pa.large_string() if _is_text(column.type.value_type) else column.type.value_type
    return pa.chunked_array([chunk.dictionary.cast(kind).take(chunk.indices) for chunk in column.chunks], type=kind)


def _id_array(column: Any) -> NDArray[Any]:
    return object_array(column.to_pylist()) if _is_text(column.type) else id_values(column)


def _weights(column: Any) -> NDArray[np.float32]:
    if _is_arrow(column):
        plain = _decode(column)
        check_no_null(plain)
        column = np.asarray(plain.to_numpy())
    if column.dtype == object and any(value is None for value in column):
        row = next(at for at, value in enumerate(column, start=1) if value is None)
        raise InputError(f"record {row}: the weight is missing; fill it in, or say weights=False", argument="weights")
    return check_weights(column, len(column))


def _names_columns(options: ReadOptions) -> bool:
    """Whether an option names a column."""
    named = (options.source, options.target, options.weights, options.time)
    return any(isinstance(column, str) and not column.isdecimal() for column in named)


def _without_counts(table: ColumnTable, options: ReadOptions) -> ColumnTable:
    """The table without the names column_0, column_1, ... that polars gives, or col0, col1, ... of DuckDB."""
    counted = all(name in (f"column_{at}", f"col{at}") for at, name in enumerate(table.names or []))
    return table._replace(names=None) if counted and not _names_columns(options) else table


def _with_index(frame: Any, options: ReadOptions) -> tuple[Any, list[str]]:
    """The frame with its index among the columns, where an end of the edges stands there; levels that are not used."""
    levels = [str(name) for name in frame.index.names if name is not None]
    if not levels and getattr(frame.index.dtype, "kind", "O") == "O":
        levels = ["index"]  # names of rows, which are told if they are not used
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
    """A column of pandas: numbers as an array, text in Arrow if pyarrow is there."""
    if isinstance(series.dtype, np.dtype) and series.dtype != object:
        return series.to_numpy()
    if find_spec("pyarrow") is not None:
        import pyarrow as pa

        try:
            column = pa.chunked_array(_chunks(pa.array(series, from_pandas=True)))
        except (pa.ArrowException, TypeError, ValueError, OverflowError):  # a mix, which NumPy holds as it is
            return series.to_numpy()
        if series.dtype != object or _is_text(column.type):
            return column
    return series.to_numpy()


def _chunks(column: Any) -> list[Any]:
    return list(column.chunks) if hasattr(column, "chunks") else [column]
