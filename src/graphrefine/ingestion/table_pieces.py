"""Parquet and Arrow in pieces: record batches of the columns of the edges."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.graph.adjacency import check_weights
from graphrefine.graph.node_ids import as_ids
from graphrefine.ingestion.spool import Mask, PackedNames, Piece
from graphrefine.readers.arrow import (
    ARROW,
    PARQUET,
    check_no_null,
    file_errors,
    id_columns,
    id_values,
    import_pyarrow,
    number_strings,
    numeric_columns,
    open_ipc,
)
from graphrefine.readers.layout import find_columns
from graphrefine.readers.options import ReadOptions
from graphrefine.readers.source import Source


class TableFile:
    """A table with its edge columns. ``plain`` is a file that can be read without decompressing."""

    encoding = None

    def __init__(self, source: Source, options: ReadOptions, plain: str, *, parquet: bool) -> None:
        self.source, self.options, self.plain, self.parquet = source, options, plain, parquet
        import_pyarrow("parquet" if parquet else "Arrow")
        with self._errors():
            schema, self.records = self._inspect()
            self.columns = find_columns(list(schema.names), numeric_columns(schema), options)
        self._names = list(schema.names)

    @property
    def weighted(self) -> bool | None:
        """Whether there are weights."""
        return self.columns.weight is not None

    def report(self, comments: int, encoding: str) -> dict[str, Any]:
        """The report of `graphrefine.read` on it."""
        return self.columns.report

    def pieces(self, rows: int) -> Iterator[Piece]:
        """The records, about ``rows`` at a time."""
        done = 0
        with self._errors():
            for batch, at in self._batches(rows):
                share = 1.0 if self.records is None else (done + batch.num_rows) / self.records
                yield self._piece([batch.column(column) for column in at], done, share)
                done += batch.num_rows

    def _errors(self) -> AbstractContextManager[None]:
        return file_errors(self.source, PARQUET if self.parquet else ARROW)

    def _inspect(self) -> tuple[Any, int | None]:
        """The schema and, if the file tells it, the number of records."""
        import pyarrow as pa

        if self.parquet:
            import pyarrow.parquet as pq

            with pq.ParquetFile(self.plain) as file:
                return file.schema_arrow, int(file.metadata.num_rows)
        with pa.OSFile(self.plain) as file, open_ipc(file) as reader:
            return reader.schema, None

    def _batches(self, rows: int) -> Iterator[tuple[Any, list[int]]]:
        """Batches, and the positions of source, target and weight in them."""
        import pyarrow as pa

        used = [at for at in (self.columns.source, self.columns.target, self.columns.weight) if at is not None]
        if not self.parquet:
            with pa.memory_map(self.plain) as file, open_ipc(file) as reader:
                for batch in _iterate_batches(reader):
                    for start in range(0, batch.num_rows, rows):
                        yield batch.slice(start, rows), used
            return
        import pyarrow.parquet as pq

        names, at = None, used
        if len(set(self._names)) == len(self._names):
            names, at = [self._names[column] for column in used], list(range(len(used)))
        with pq.ParquetFile(self.plain, pre_buffer=False, buffer_size=1 << 20) as file:
            for batch in file.iter_batches(batch_size=rows, columns=names, use_threads=self.options.thread_count > 1):
                if names is not None:
                    batch = batch.select(names)
                yield batch, at

    def _piece(self, columns: list[Any], before: int, share: float) -> Piece:
        ends, weights = id_columns(columns[:2]), None
        if len(columns) == 3:
            values = columns[2]
            check_no_null(values, before=before)
            weights = check_weights(np.asarray(values.to_numpy(zero_copy_only=False)), len(values), before=before)
        if ends is None:
            source, target, names = number_strings(columns[:2], len(columns[0]))
            return Piece(source, target, weights, pack_arrow(names), share=share)
        (source, first), (target, second) = (_integers(end) for end in ends)
        return Piece(source, target, weights, missing=(first, second), share=share)


def _iterate_batches(reader: Any) -> Iterator[Any]:
    if hasattr(reader, "num_record_batches"):
        yield from (reader.get_batch(number) for number in range(reader.num_record_batches))
    else:
        yield from reader


def _integers(column: Any) -> tuple[NDArray[Any], Mask | None]:
    """Ids, and a mask of those that are missing."""
    ids = as_ids(id_values(column))
    return (ids.data, np.ma.getmaskarray(ids)) if isinstance(ids, np.ma.MaskedArray) else (ids, None)


def pack_arrow(names: Any) -> PackedNames:
    """The bytes of an Arrow array of large strings or large binaries without nulls."""
    _, offsets, text = names.buffers()
    ends = np.frombuffer(offsets, np.int64)[names.offset : names.offset + len(names) + 1]
    whole = np.zeros(0, np.uint8) if text is None else np.frombuffer(text, np.uint8)
    if not len(ends):
        return PackedNames(whole, np.zeros(1, np.int64))
    return PackedNames(whole[ends[0] : ends[-1]], ends - ends[0])
