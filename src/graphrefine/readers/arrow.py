"""Parquet and Arrow files: tables of edges, with two columns of ids and perhaps one of weights."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any

from graphrefine.errors import require
from graphrefine.readers.columns import number_edges
from graphrefine.readers.formats import EdgeTable
from graphrefine.readers.options import ReadOptions
from graphrefine.tables.kinds import MOST
from graphrefine.tables.roles import EdgeRoles
from graphrefine.tables.sniff import find_edges
from graphrefine.tables.source import IN_PIECES, Source, check_unpacked, wrap_errors

# Columns whose first values tell what they hold, where none has a usual name: a table with very many columns is not
# decoded as a whole to find two of them.
LOOKED_AT = 1000
_CELL = 8  # bytes of a value, in memory
PARQUET, ARROW = "parquet file", "Arrow file or stream"  # in messages


def load_parquet(source: Source, options: ReadOptions) -> EdgeTable:
    """Load a parquet file; only the columns of the edges are decoded."""
    pa = import_pyarrow("parquet")
    import pyarrow.parquet as pq

    file = pq.ParquetFile(pa.BufferReader(source.data))
    roles = find_table_columns(file.schema_arrow, lambda: first_rows(file), options)
    table = _read_rows(source, file, [file.schema_arrow.names[at] for at in roles.used])
    return number_edges(table.column, roles.within(roles.used), options, as_text=True)


def load_arrow(source: Source, options: ReadOptions) -> EdgeTable:
    """Load an Arrow IPC file (also called feather) or stream."""
    return edges_of_arrow(_read_ipc(source, import_pyarrow("Arrow")), options)


def read_arrow_table(source: Source) -> Any:
    """Return all columns of a parquet or Arrow file, as a pyarrow table."""
    pa = import_pyarrow("parquet and Arrow")
    with wrap_errors(source, PARQUET if (is_parquet := source.data.startswith(b"PAR1")) else ARROW):
        if not is_parquet:
            return sound(_read_ipc(source, pa))
        import pyarrow.parquet as pq

        return _read_rows(source, pq.ParquetFile(pa.BufferReader(source.data)))


def edges_of_arrow(table: Any, options: ReadOptions) -> EdgeTable:
    """Return the edges of an Arrow table; only the columns of the edges must be sound."""
    roles = find_table_columns(table.schema, lambda: table.slice(0, MOST), options)
    return number_edges(sound(table.select(roles.used)).column, roles.within(roles.used), options, as_text=True)


def _read_rows(source: Source, file: Any, columns: list[str] | None = None) -> Any:
    """Return all rows of an open parquet file, of these columns in order, if the memory allows them."""
    metadata, names = file.metadata, file.schema_arrow.names
    used = names if columns is None else columns
    # The footer has one size for all columns of a row group. Pyarrow can also tell that of each column, but ends the
    # process where a footer is damaged there; so columns are taken to be alike, with 8 bytes a value at the least.
    groups = sum(metadata.row_group(at).total_byte_size for at in range(metadata.num_row_groups))
    size = max(groups * len(used) // max(len(names), 1), _CELL * metadata.num_rows * len(used))
    check_unpacked(source.name, size, "the parquet data")
    # Pyarrow 18 cannot read a file without row groups.
    table = sound(file.read(columns=columns)) if metadata.num_row_groups else file.schema_arrow.empty_table()
    return table if columns is None else table.select(columns)


def _read_ipc(source: Source, pa: Any) -> Any:
    """Return the table of an Arrow file or stream, if the memory allows it."""
    reader = open_ipc(pa.BufferReader(source.data))
    batches = iterate_batches(reader)
    return gather_batches(source.name, reader.schema, batches, "the Arrow data", free=len(source.data))


def open_ipc(file: Any) -> Any:
    """Return a reader of an Arrow file or stream."""
    import pyarrow as pa

    is_file = file.read(6) == b"ARROW1"
    file.seek(0)
    return pa.ipc.open_file(file) if is_file else pa.ipc.open_stream(file)


def iterate_batches(reader: Any) -> Iterator[Any]:
    """Yield the batches of an Arrow file or stream."""
    if hasattr(reader, "num_record_batches"):
        yield from (reader.get_batch(index) for index in range(reader.num_record_batches))
    else:
        yield from reader


def gather_batches(
    path: str, schema: Any, batches: Iterable[Any], what: str, *, free: int = 0, hint: str = IN_PIECES
) -> Any:
    """Return batches as one table; stop once they take more than ``free`` bytes and more than the memory allows."""
    import pyarrow as pa

    size, gathered = 0, []
    for batch in batches:
        size += batch.get_total_buffer_size()
        if size > free:
            check_unpacked(path, size, what, hint=hint)
        gathered.append(batch)
    return pa.Table.from_batches(gathered, schema)


def sound(table: Any) -> Any:
    """Return the table, batch or column if it is sound: offsets that point outside of it would end the process."""
    table.validate(full=True)
    return table


def find_table_columns(schema: Any, take_sample: Callable[[], Any], options: ReadOptions) -> EdgeRoles:
    """Return the columns of the edges, by the names and types of a schema, else by the first records."""
    sample = cache(take_sample)

    def values(at: int) -> list[Any]:
        try:
            known = sample() is not None and at < sample().num_columns
            return list(sound(sample().column(at)).to_pylist()) if known else []
        except (ValueError, OverflowError, KeyError):  # times that Python does not have, texts that are none, damage
            return []

    columns = find_edges(list(schema.names), values, options.hints)
    if len({is_number_type(schema.field(at).type) for at in columns.positions[:2]}) > 1:
        columns.report["notes"] = ["ids are numbers in one column, texts in the other: 1 and '1' are one node"]
    return columns


def first_rows(file: Any) -> Any:
    """Return the first records of an open parquet or Arrow file, of its first columns, not checked; None if empty."""
    if hasattr(file, "schema_arrow"):
        batches = parquet_batches(file, batch_size=MOST, columns=list(file.schema_arrow.names)[:LOOKED_AT])
    else:
        batches = iterate_batches(file)
    batch = next(batches, None)
    return None if batch is None else batch.slice(0, MOST)


def parquet_batches(file: Any, **options: Any) -> Iterator[Any]:
    """Return the batches of an open parquet file; pyarrow 18 cannot iterate over one without row groups."""
    return iter(file.iter_batches(**options) if file.metadata.num_row_groups else ())


def is_number_type(kind: Any) -> bool:
    """Return whether a type of Arrow holds numbers."""
    import pyarrow.types as types

    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind))


def import_pyarrow(purpose: str) -> Any:
    """Return the package pyarrow, or an error that says how to get it."""
    require("pyarrow", f"reading {purpose} files", "io")
    import pyarrow as pa
    import pyarrow.ipc

    return pa
