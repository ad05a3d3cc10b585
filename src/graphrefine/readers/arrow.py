"""Parquet and Arrow files: tables of edges, with two columns of ids and perhaps one of weights."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import FormatError, InputError, MissingExtraError
from graphrefine.graph.adjacency import check_weights
from graphrefine.graph.node_ids import Numbered, number, object_array
from graphrefine.readers.formats import EdgeTable
from graphrefine.readers.layout import find_columns
from graphrefine.readers.options import ReadOptions
from graphrefine.readers.source import Source

PARQUET, ARROW = "parquet file", "Arrow file or stream"  # in messages


def load_parquet(source: Source, options: ReadOptions) -> EdgeTable:
    """Load a parquet file; only the columns of the edges are decoded."""
    pa = import_pyarrow("parquet")
    import pyarrow.parquet as pq

    with file_errors(source, PARQUET):
        file = pq.ParquetFile(pa.BufferReader(source.data))
        names = _edge_names(file.schema_arrow, options)
        table = file.read(columns=names)
    return _load(source, table.select(names), file.schema_arrow, options)


def load_arrow(source: Source, options: ReadOptions) -> EdgeTable:
    """Load an Arrow IPC file (also called feather) or stream."""
    table = _read_ipc(source)
    return _load(source, table, table.schema, options)


def read_arrow_table(source: Source) -> Any:
    """All columns of a parquet or Arrow file, as a pyarrow table."""
    pa = import_pyarrow("parquet and Arrow")
    if not source.data.startswith(b"PAR1"):
        return _read_ipc(source)
    import pyarrow.parquet as pq

    with file_errors(source, PARQUET):
        return pq.ParquetFile(pa.BufferReader(source.data)).read()


def _read_ipc(source: Source) -> Any:
    pa = import_pyarrow("Arrow")
    with file_errors(source, ARROW):
        return open_ipc(pa.BufferReader(source.data)).read_all()


def edges_of_arrow(table: Any, options: ReadOptions) -> EdgeTable:
    """Edges of an Arrow table."""
    edge_columns = find_columns(list(table.schema.names), numeric_columns(table.schema), options)
    ends = [table.column(at) for at in (edge_columns.source, edge_columns.target)]
    weights = None
    if edge_columns.weight is not None:
        values = table.column(edge_columns.weight)
        check_no_null(values)
        weights = check_weights(np.asarray(values.to_numpy()), table.num_rows)
    return EdgeTable(_number(ends, options.thread_count), weights, edge_columns.report)


def check_no_null(weights: Any, *, before: int = 0) -> None:
    """Refuse a column of weights that lacks one; ``before`` is the number of records before these."""
    if weights.null_count:
        row = before + int(weights.is_null().to_numpy(zero_copy_only=False).argmax()) + 1
        raise InputError(f"record {row}: the weight is missing; fill it in, or say weights=False", argument="weights")


@contextmanager
def file_errors(source: Source, format: str) -> Iterator[None]:
    """Errors of pyarrow, and of the table's content, as errors of the file and its format."""
    import pyarrow as pa

    try:
        yield
    except InputError as error:
        raise (error if isinstance(error, FormatError) else source.error(error)) from None
    except FileNotFoundError:
        raise source.error("there is no such file") from None
    except (pa.ArrowException, OSError) as error:
        raise source.error(f"this is not a readable {format}: {error}") from None


def open_ipc(file: Any) -> Any:
    """A reader of an Arrow file or stream."""
    import pyarrow as pa

    is_file = file.read(6) == b"ARROW1"
    file.seek(0)
    return pa.ipc.open_file(file) if is_file else pa.ipc.open_stream(file)


def _load(source: Source, table: Any, schema: Any, options: ReadOptions) -> EdgeTable:
    ignored = [name for name in schema.names if name not in table.schema.names]
    with file_errors(source, "table of edges"):
        edges = edges_of_arrow(table, options)
    if ignored:
        edges.report["ignored_columns"] = ignored
    return edges


def _edge_names(schema: Any, options: ReadOptions) -> list[str]:
    """Names of the columns to decode; all of them where names repeat or an option is a position."""
    positions = (options.source, options.target, options.weights)
    by_position = any(isinstance(column, int) and column is not False for column in positions)
    if by_position or len(set(schema.names)) < len(schema.names):
        return list(schema.names)
    try:
        edge_columns = find_columns(list(schema.names), numeric_columns(schema), options)
    except InputError:
        return list(schema.names)  # the same error comes again, with the file's name
    places = (edge_columns.source, edge_columns.target, edge_columns.weight)
    return [name for at, name in enumerate(schema.names) if at in places]


def numeric_columns(schema: Any) -> list[bool]:
    """For each column, whether it holds numbers."""
    import pyarrow.types as types

    return [types.is_integer(field.type) or types.is_floating(field.type) for field in schema]


def id_columns(columns: list[Any]) -> list[Any] | None:
    """The two columns of ids if they are numbers, None if both are read as strings; dictionaries are resolved."""
    import pyarrow as pa
    import pyarrow.types as types

    plain = [column.cast(column.type.value_type) if types.is_dictionary(column.type) else column for column in columns]
    kinds = [column.type for column in plain]
    if all(types.is_integer(kind) or types.is_floating(kind) for kind in kinds):
        return plain
    for kind in kinds:
        texts = types.is_string(kind) or types.is_large_string(kind) or kind == pa.string_view()
        if not (texts or types.is_integer(kind)):
            raise InputError(f"ids must be integers or strings, not {kind}")
    return None


def _number(columns: list[Any], threads: int) -> Numbered:
    plain = id_columns(columns)
    if plain is not None:
        return number(id_values(plain[0]), id_values(plain[1]), threads=threads)
    source, target, names = number_strings([chunk for column in columns for chunk in column.chunks], len(columns[0]))
    return source, target, object_array(names.to_pylist())


def id_values(column: Any) -> NDArray[Any]:
    """Numbers; a column of integers with nulls stays integers, masked, as floats would not hold all of them."""
    import pyarrow.types as types

    if not column.null_count or not types.is_integer(column.type):
        return np.asarray(column.to_numpy(zero_copy_only=False))
    missing = column.is_null().to_numpy(zero_copy_only=False)
    return np.ma.masked_array(column.fill_null(0).to_numpy(zero_copy_only=False), mask=missing)


def number_strings(chunks: list[Any], records: int) -> tuple[NDArray[np.int32], NDArray[np.int32], Any]:
    """Number the ids of two columns, the second after ``records`` of the first; and the names, an Arrow array."""
    import pyarrow as pa
    import pyarrow.compute as pc

    united = pa.chunked_array([chunk.cast(pa.large_string()) for chunk in chunks], type=pa.large_string())
    encoded = united.dictionary_encode().unify_dictionaries()
    names = encoded.chunk(0).dictionary if encoded.num_chunks else pa.array([], pa.large_string())
    order = pc.sort_indices(names).to_numpy()
    rank = np.full(len(order) + 1, -1, dtype=np.int32)  # the last one stands for null
    rank[order] = np.arange(len(order), dtype=np.int32)
    codes = [chunk.indices.fill_null(len(order)).to_numpy(zero_copy_only=False) for chunk in encoded.chunks]
    ends = rank[np.concatenate([np.zeros(0, np.int32), *codes])]
    return ends[:records], ends[records:].copy(), names.take(order)


def import_pyarrow(purpose: str) -> Any:
    """The package pyarrow, or an error that says how to get it."""
    try:
        import pyarrow as pa
        import pyarrow.ipc
    except ImportError:
        raise MissingExtraError(f"reading {purpose} files", "pyarrow", "io") from None
    return pa
