"""Parquet and Arrow in pieces: record batches of the columns of the edges."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.graph.adjacency import check_weights
from graphrefine.graph.node_ids import as_ids
from graphrefine.ingestion.piece_times import PieceClock
from graphrefine.ingestion.spool import Mask, PackedNames, Piece
from graphrefine.readers.arrow import (
    ARROW,
    PARQUET,
    check_no_null,
    find_table_columns,
    first_batch,
    first_rows,
    id_columns,
    id_values,
    import_pyarrow,
    iterate_batches,
    number_strings,
    open_ipc,
    parquet_batches,
    sound,
)
from graphrefine.readers.options import ReadOptions
from graphrefine.readers.source import Source, wrap_errors
from graphrefine.readers.times import describe_options, times_of


class TableFile:
    """A table with its edge columns. ``plain`` is a file that can be read without decompressing."""

    encoding = None

    def __init__(self, source: Source, options: ReadOptions, plain: str, *, parquet: bool) -> None:
        self.source, self.options, self.plain, self.parquet = source, options, plain, parquet
        import_pyarrow("parquet" if parquet else "Arrow")
        with self._errors():
            self._inspect()
        self._clock: PieceClock | None = None

    @property
    def weighted(self) -> bool | None:
        """Whether there are weights."""
        return self.columns.weight is not None or self.options.half_life is not None

    def report(self, comments: int, encoding: str) -> dict[str, Any]:
        """The report of `graphrefine.read` on it."""
        times = {} if self.options.time is None else {"times": describe_options(self.options)}
        return {**self.columns.report, **times}

    def pieces(self, rows: int) -> Iterator[Piece]:
        """The records, about ``rows`` at a time."""
        done = 0
        with self._errors():
            for batch, at in self._batches(rows):
                share = 1.0 if self.records is None else (done + batch.num_rows) / self.records
                yield self._piece([batch.column(column) for column in at], done, share)
                done += batch.num_rows

    def _errors(self) -> AbstractContextManager[None]:
        return wrap_errors(self.source, PARQUET if self.parquet else ARROW)

    def _inspect(self) -> None:
        """Find the columns and, if the file tells it, the number of records."""
        import pyarrow as pa

        self.records: int | None = None
        if self.parquet:
            import pyarrow.parquet as pq

            with pq.ParquetFile(self.plain, pre_buffer=False, buffer_size=1 << 20) as file:
                self.records = int(file.metadata.num_rows)
                self._find_columns(file.schema_arrow, lambda: first_batch(file))
            return
        with pa.memory_map(self.plain) as file, open_ipc(file) as reader:
            self._find_columns(reader.schema, lambda: first_rows(iterate_batches(reader)))

    def _find_columns(self, schema: Any, take_sample: Callable[[], Any]) -> None:
        self._names = list(schema.names)
        self.columns = find_table_columns(schema, take_sample, self.options)
        if self.columns.dialect is not None:
            self.columns.dialect.refuse_two_spaces(self.source, self.options)

    def _batches(self, rows: int) -> Iterator[tuple[Any, list[int]]]:
        """Batches, and the positions of source, target and weight in them."""
        import pyarrow as pa

        used = [at for at in self.columns.places if at is not None]
        if not self.parquet:
            with pa.memory_map(self.plain) as file, open_ipc(file) as reader:
                for batch in iterate_batches(reader):
                    columns = sound(batch.select(used))
                    for start in range(0, batch.num_rows, rows):
                        yield columns.slice(start, rows), list(range(len(used)))
            return
        import pyarrow.parquet as pq

        names, at = None, used
        if len(set(self._names)) == len(self._names):
            names, at = [self._names[column] for column in used], list(range(len(used)))
        with pq.ParquetFile(self.plain, pre_buffer=False, buffer_size=1 << 20) as file:
            threaded = self.options.thread_count > 1
            for batch in parquet_batches(file, batch_size=rows, columns=names, use_threads=threaded):
                yield sound(batch if names is None else batch.select(names)), at

    def _piece(self, columns: list[Any], before: int, share: float) -> Piece:
        ends, weights = id_columns(columns[:2]), None
        if self.columns.weight is not None:
            values = columns[2]
            check_no_null(values, before=before)
            weights = check_weights(np.asarray(values.to_numpy(zero_copy_only=False)), len(values), before=before)
        if ends is None:
            source, target, names = number_strings(columns[:2], len(columns[0]))
            piece = Piece(source, target, weights, pack_arrow(names), share=share)
        else:
            (source, first), (target, second) = (_integers(end) for end in ends)
            piece = Piece(source, target, weights, missing=(first, second), share=share)
        if self.columns.time is None:
            return piece
        times, dates = times_of(np.asarray(columns[-1].to_numpy(zero_copy_only=False)))
        self._clock = self._clock or PieceClock(self.source, self.options)
        return self._clock.select(piece, times, dates=dates)


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
