"""Parquet and Arrow files: tables of edges, with two columns of ids and perhaps one of weights."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import FormatError, InputError, MissingExtraError
from graphrefine.graph.adjacency import check_weights
from graphrefine.graph.node_ids import Numbered, number, object_array
from graphrefine.kernels.edge_lists import number_texts
from graphrefine.readers.arrow_sizes import batch_sizes, text_bytes
from graphrefine.readers.column_kinds import MOST
from graphrefine.readers.formats import EdgeTable
from graphrefine.readers.layout import EdgeColumns, find_columns
from graphrefine.readers.limits import UNASKED, check_unpacked, unpacked_limit
from graphrefine.readers.options import ReadOptions
from graphrefine.readers.parquet_sizes import check_pages
from graphrefine.readers.source import Source
from graphrefine.readers.timed_edges import edges_with_times

LOOKED_AT = 1000  # columns whose first values tell what they hold, of those that have no usual name
_CELL = 8  # bytes of a value, in memory
PARQUET, ARROW = "parquet file", "Arrow file or stream"  # in messages


def load_parquet(source: Source, options: ReadOptions) -> EdgeTable:
    """Load a parquet file; only the columns of the edges are decoded."""
    pa = import_pyarrow("parquet")
    import pyarrow.parquet as pq

    with file_errors(source, PARQUET):
        file = pq.ParquetFile(pa.BufferReader(source.data))
        data = memoryview(source.data)
        edge_columns = find_table_columns(file.schema_arrow, lambda: first_batch(file, data, source.name), options)
        names = list(file.schema_arrow.names)
        if len(set(names)) < len(names):
            return _number_edges(_read_rows(source, file), edge_columns, options)
        used = [at for at in edge_columns.places if at is not None]
        return _number_edges(_read_rows(source, file, [names[at] for at in used]), edge_columns.at(used), options)


def load_arrow(source: Source, options: ReadOptions) -> EdgeTable:
    """Load an Arrow IPC file (also called feather) or stream; only the columns of the edges must be sound."""
    pa = import_pyarrow("Arrow")
    with file_errors(source, ARROW):
        check_ipc(source.name, source.data)
        table = open_ipc(pa.BufferReader(source.data)).read_all()
        edge_columns = find_table_columns(table.schema, lambda: table.slice(0, MOST), options)
        used = [at for at in edge_columns.places if at is not None]
        ends = _sound(source, table.select(used))
    with file_errors(source, "table of edges"):
        return _number_edges(ends, edge_columns.at(used), options)


def read_arrow_table(source: Source) -> Any:
    """All columns of a parquet or Arrow file, as a pyarrow table."""
    pa = import_pyarrow("parquet and Arrow")
    if not source.data.startswith(b"PAR1"):
        return _read_ipc(source)
    import pyarrow.parquet as pq

    with file_errors(source, PARQUET):
        return _read_rows(source, pq.ParquetFile(pa.BufferReader(source.data)))


def _read_rows(source: Source, file: Any, columns: list[str] | None = None) -> Any:
    """All rows of an open parquet file, of these columns in order, as far as the memory allows.

    A file may pack millions of rows into a few bytes. Pyarrow 18 cannot read one without row groups.
    """
    rows = int(file.metadata.num_rows)
    check_unpacked(source.name, _CELL * len(columns or file.schema_arrow.names) * rows, "the parquet data")
    sizes = check_pages(source.name, memoryview(source.data), columns)
    if file.metadata.num_row_groups == 0:
        table = file.schema_arrow.empty_table()
    elif sizes.texts <= max(unpacked_limit(), UNASKED):
        table = file.read(columns=columns)
    else:
        table = _read_in_steps(source, file, min(sizes.rows, rows), columns)
    return _sound(source, table if columns is None else table.select(columns))


def _read_in_steps(source: Source, file: Any, rows: int, columns: list[str] | None) -> Any:
    """The same, so many rows at a time, which may hold texts that are stored once and are long."""
    import pyarrow as pa

    size, batches = 0, []
    for batch in parquet_batches(file, batch_size=max(rows, 1), columns=columns):
        size += batch.get_total_buffer_size()
        check_unpacked(source.name, size, "the text of its columns")
        batches.append(batch)
    return pa.Table.from_batches(batches, None if batches else file.schema_arrow)


def _read_ipc(source: Source) -> Any:
    pa = import_pyarrow("Arrow")
    with file_errors(source, ARROW):
        check_ipc(source.name, source.data)
        return _sound(source, open_ipc(pa.BufferReader(source.data)).read_all())


def check_ipc(path: str, data: Any, *, at_once: bool = True) -> None:
    """Refuse an Arrow file or stream whose batches, ``at_once`` or each by itself, unpack beyond the memory.

    The footer of a file may name a batch again and again.
    """
    size, most = 0, memoryview(data).nbytes
    for each in batch_sizes(memoryview(data)):
        size = size + each if at_once else each
        if size > most:
            check_unpacked(path, size, "the Arrow data")


def check_texts(path: str, columns: Iterable[Any]) -> None:
    """Refuse columns that name long texts again and again, by codes or views, beyond the memory."""
    check_unpacked(path, sum(map(text_bytes, columns)), "the text of its columns")


def _sound(source: Source, table: Any) -> Any:
    """The table, if it is sound, and its texts are not beyond the memory."""
    sound(table)
    check_texts(source.name, table.columns)
    return table


def sound(table: Any) -> Any:
    """The table, batch or column, if it is sound: offsets that point outside of it would end the process later."""
    table.validate(full=True)
    return table


def edges_of_arrow(table: Any, options: ReadOptions) -> EdgeTable:
    """Edges of an Arrow table."""
    return _number_edges(table, find_table_columns(table.schema, lambda: table.slice(0, MOST), options), options)


def find_table_columns(schema: Any, take_sample: Callable[[], Any], options: ReadOptions) -> EdgeColumns:
    """The columns of the edges, by the names and types of a schema and, where they do not tell, by first records."""
    sample = cache(take_sample)

    def values(at: int) -> list[Any]:
        try:
            known = sample() is not None and at < sample().num_columns
            column = sound(sample().column(at)) if known else None
            return [] if column is None or text_bytes(column) > UNASKED else list(column.to_pylist())
        except (ValueError, OverflowError, KeyError):  # times that Python does not have, texts that are none, damage
            return []

    columns = find_columns(list(schema.names), numeric_columns(schema), options, values=values)
    if len(set(numeric_columns(schema.field(at) for at in columns.places[:2]))) > 1:
        columns.report["remarks"] = ["ids are numbers in one column, texts in the other: 1 and '1' are one node"]
    return columns


def first_batch(file: Any, data: memoryview, path: str) -> Any:
    """The first records of an open parquet file with these bytes, of its first columns; None if it has none."""
    names = list(file.schema_arrow.names)
    columns = names[:LOOKED_AT] if len(set(names)) == len(names) else None
    rows = check_pages(path, data, columns, at_once=False).rows
    return first_rows(parquet_batches(file, batch_size=min(rows, MOST), columns=columns))


def first_rows(batches: Iterator[Any]) -> Any:
    """Records at the beginning of batches, not checked; None if there are none."""
    batch = next(batches, None)
    return None if batch is None else batch.slice(0, MOST)


def parquet_batches(file: Any, **options: Any) -> Iterator[Any]:
    """The batches of an open parquet file; pyarrow 18 cannot iterate over one without row groups."""
    return iter(file.iter_batches(**options) if file.metadata.num_row_groups else ())


def _number_edges(table: Any, edge_columns: EdgeColumns, options: ReadOptions) -> EdgeTable:
    ends = [table.column(at) for at in (edge_columns.source, edge_columns.target)]
    weights, times = None, None
    if edge_columns.weight is not None:
        values = table.column(edge_columns.weight)
        check_no_null(values)
        weights = check_weights(np.asarray(values.to_numpy()), table.num_rows)
    if edge_columns.time is not None:
        times = np.asarray(table.column(edge_columns.time).to_numpy())
    return edges_with_times(_number(ends, options.thread_count), weights, edge_columns, times, options)


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
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:  # also names that are not UTF-8
        raise source.error(f"this is not a readable {format}: {error}") from None


def open_ipc(file: Any) -> Any:
    """A reader of an Arrow file or stream."""
    import pyarrow as pa

    is_file = file.read(6) == b"ARROW1"
    file.seek(0)
    return pa.ipc.open_file(file) if is_file else pa.ipc.open_stream(file)


def numeric_columns(schema: Any) -> list[bool]:
    """For each column, whether it holds numbers."""
    import pyarrow.types as types

    tests = (types.is_integer, types.is_floating, types.is_decimal)
    return [any(test(field.type) for test in tests) for field in schema]


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
            raise type_error(kind)
    return None


def type_error(kind: Any) -> InputError:
    """The error for a column of ids of another type."""
    return InputError(
        f"ids must be integers or strings, not {kind}; cast the column, or name others with source= and target=",
        argument="source",
    )


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

    every = [_number_chunk(chunk.cast(pa.large_string())) for chunk in chunks]
    rank, names = _number_chunk(pa.concat_arrays([pa.array([], pa.large_string()), *(names for _, names in every)]))
    ends, at = np.empty(sum(len(codes) for codes, _ in every), np.int32), 0
    for start, (codes, own) in zip(np.cumsum([0, *(len(own) for _, own in every)]).tolist(), every, strict=False):
        ranks = np.append(rank[start : start + len(own)], np.int32(-1))  # the last one stands for null
        ends[at : at + len(codes)] = ranks[codes]
        at += len(codes)
    return ends[:records], ends[records:].copy(), names


def _number_chunk(strings: Any) -> tuple[NDArray[np.int32], Any]:
    """Numbers of strings (large_string), -1 for null; and the distinct ones in the order of their bytes.

    By a kernel of our own: pyarrow's hash is the same in every process, so that names can be made to collide in it.
    """
    present = strings.drop_null() if strings.null_count else strings
    _, offsets, text = present.buffers()
    count, first = len(present), present.offset
    ends = np.frombuffer(offsets, np.int64, count + 1, 8 * first) if count else np.zeros(1, np.int64)
    data = np.zeros(0, np.uint8) if text is None else np.frombuffer(text, np.uint8)
    numbers, firsts = number_texts(data, ends)
    if strings.null_count:
        codes = np.full(len(strings), -1, np.int32)
        codes[strings.is_valid().to_numpy(zero_copy_only=False)] = numbers
    else:
        codes = numbers
    return codes, present.take(firsts)


def import_pyarrow(purpose: str) -> Any:
    """The package pyarrow, or an error that says how to get it."""
    try:
        import pyarrow as pa
        import pyarrow.ipc
    except ModuleNotFoundError:
        raise MissingExtraError(f"reading {purpose} files", "pyarrow", "io") from None
    return pa
