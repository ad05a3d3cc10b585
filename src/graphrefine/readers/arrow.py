"""Parquet and Arrow files: two columns of ids, and perhaps one of weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import InputError, MissingExtraError
from graphrefine.graph.graph import check_weights
from graphrefine.graph.node_ids import Numbered, number, object_array
from graphrefine.readers.options import EdgeTable, Options, choose_columns
from graphrefine.readers.source import Source


def load_parquet(source: Source, options: Options) -> EdgeTable:
    """Load a parquet file; only the columns that are used are decoded."""
    pa = pyarrow("parquet")
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(pa.BufferReader(source.data))
        wanted = _names_used(file.schema_arrow, options)
        table = file.read(columns=wanted)
    except (pa.ArrowException, OSError) as error:
        raise source.error(f"this is not a readable parquet file: {error}") from None
    return _load(source, table.select(wanted), file.schema_arrow, options)


def load_arrow(source: Source, options: Options) -> EdgeTable:
    """Load an Arrow IPC file (also called feather) or stream."""
    pa = pyarrow("Arrow")
    try:
        buffer = pa.BufferReader(source.data)
        is_file = source.data[:6] == b"ARROW1"
        reader = pa.ipc.open_file(buffer) if is_file else pa.ipc.open_stream(buffer)
        table = reader.read_all()
    except (pa.ArrowException, OSError) as error:
        raise source.error(f"this is not a readable Arrow file or stream: {error}") from None
    return _load(source, table, table.schema, options)


def edges_of_arrow(table: Any, options: Options) -> EdgeTable:
    """Edges of an Arrow table."""
    chosen = choose_columns(list(table.schema.names), numeric_columns(table.schema), options)
    columns = [table.column(at) for at in (chosen.source, chosen.target)]
    weights = None
    if chosen.weight is not None:
        values = table.column(chosen.weight)
        if values.null_count:
            row = values.is_null().to_numpy(zero_copy_only=False).argmax() + 1
            raise InputError(f"record {row}: the weight is missing; fill it in, or say weights=False")
        weights = check_weights(np.asarray(values.to_numpy()), table.num_rows)
    return EdgeTable(_number(columns, options.threads), weights, chosen.report)


def _load(source: Source, table: Any, schema: Any, options: Options) -> EdgeTable:
    import pyarrow as pa

    ignored = [name for name in schema.names if name not in table.schema.names]
    try:
        edges = edges_of_arrow(table, options)
    except (InputError, pa.ArrowException) as error:
        raise source.error(str(error)) from None
    if ignored:
        edges.report["ignored_columns"] = ignored
    return edges


def _names_used(schema: Any, options: Options) -> list[str]:
    """Names of the columns to decode; all of them where that cannot be told, or a position was given."""
    given = (options.source, options.target, options.weights)
    by_position = any(isinstance(column, int) and column is not False for column in given)
    if by_position or len(set(schema.names)) < len(schema.names):
        return list(schema.names)
    try:
        chosen = choose_columns(list(schema.names), numeric_columns(schema), options)
    except InputError:
        return list(schema.names)  # the same error comes again, with the file's name
    used = (chosen.source, chosen.target, chosen.weight)
    return [name for at, name in enumerate(schema.names) if at in used]


def numeric_columns(schema: Any) -> list[bool]:
    """For each column, whether it holds numbers."""
    import pyarrow.types as types

    return [types.is_integer(field.type) or types.is_floating(field.type) for field in schema]


def id_columns(columns: list[Any]) -> list[Any] | None:
    """The two columns of ids if they are numbers, None if they are to be read as strings; dictionaries are resolved."""
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
    import pyarrow as pa

    plain = id_columns(columns)
    if plain is not None:
        return number(_values(plain[0]), _values(plain[1]), threads=threads)
    united = pa.chunked_array(
        [chunk for column in columns for chunk in column.cast(pa.large_string()).chunks], type=pa.large_string()
    )
    return _number_dictionary(united.dictionary_encode().unify_dictionaries(), len(columns[0]))


def _values(column: Any) -> NDArray[Any]:
    """Numbers; integers of which some are missing stay integers, masked, as floats would not hold all of them."""
    import pyarrow.types as types

    if not column.null_count or not types.is_integer(column.type):
        return np.asarray(column.to_numpy())
    missing = column.is_null().to_numpy()
    return np.ma.masked_array(column.fill_null(0).to_numpy(), mask=missing)


def _number_dictionary(encoded: Any, records: int) -> Numbered:
    """Source and target are the two halves of one dictionary-encoded column."""
    if encoded.num_chunks == 0:
        return np.zeros(0, np.int32), np.zeros(0, np.int32), object_array([])
    texts = encoded.chunk(0).dictionary.to_pylist()
    order = sorted(range(len(texts)), key=texts.__getitem__)
    rank = np.full(len(texts) + 1, -1, dtype=np.int32)  # the last one stands for null
    rank[order] = np.arange(len(texts), dtype=np.int32)
    codes: NDArray[Any] = np.concatenate(
        [chunk.indices.fill_null(len(texts)).to_numpy(zero_copy_only=False) for chunk in encoded.chunks]
    )
    ends = rank[codes]
    names = object_array([texts[at] for at in order])
    return ends[:records], ends[records:].copy(), names


def pyarrow(purpose: str) -> Any:
    """The package, or an error that says how to get it."""
    try:
        import pyarrow as pa
        import pyarrow.ipc
    except ImportError:
        raise MissingExtraError(f"reading {purpose} files", "pyarrow", "io") from None
    return pa
