"""Inputs in pieces: text cut at line ends, parquet and Arrow in record batches; and the times of their edges."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import InputError
from graphrefine.graph.adjacency import check_weights
from graphrefine.graph.node_ids import as_ids
from graphrefine.ingestion.spool import Mask, PackedNames, Piece, select_records
from graphrefine.kernels import edge_lists
from graphrefine.readers.arrow import (
    ARROW,
    PARQUET,
    find_table_columns,
    first_rows,
    import_pyarrow,
    iterate_batches,
    open_ipc,
    parquet_batches,
    sound,
)
from graphrefine.readers.columns import are_texts, check_no_null, id_values, number_strings
from graphrefine.readers.options import ReadOptions
from graphrefine.readers.text import Layout, find_layout, parse, whole_numbers
from graphrefine.readers.times import TimeRule, describe_options, make_rule, times_of
from graphrefine.tables.decode import decode_portions
from graphrefine.tables.dialect import LONGEST, detect_dialect
from graphrefine.tables.header import HEAD
from graphrefine.tables.roles import EdgeRoles
from graphrefine.tables.sniff import sniff
from graphrefine.tables.source import Source, wrap_errors

# Bytes from which the layout is found: as many as `read` looks at below a first record, which may be long itself. With
# fewer, a part could be read with another header than `read` finds.
_HEAD = 2 * HEAD


class EdgeFile:
    """A file with the roles of its columns, None where it has no records; it yields its edges in pieces."""

    encoding: str | None = None
    records: int | None = None  # their number, or an estimate
    roles: EdgeRoles | None = None

    def __init__(self, source: Source, options: ReadOptions) -> None:
        self.source, self.options = source, options
        self._rule: TimeRule | None = None  # for times, which the first piece fixes

    @property
    def weighted(self) -> bool | None:
        """Whether there are weights; None if there are no records at all."""
        return None if self.roles is None else self.roles.weight is not None or self.options.half_life is not None

    def report(self, comments: int, encoding: str) -> dict[str, Any]:
        """Return the report of `graphrefine.read` on it."""
        times = {} if self.options.time is None else {"times": describe_options(self.options)}
        return {**self._report(comments, encoding), **times}

    def pieces(self, size: int) -> Iterator[Piece]:
        """Yield the records in pieces of about ``size`` bytes of text, or rows of a table."""
        raise NotImplementedError

    def _report(self, comments: int, encoding: str) -> dict[str, Any]:
        return {} if self.roles is None else self.roles.report

    def _select(self, piece: Piece, times: NDArray[np.float64] | None, *, dates: bool) -> Piece:
        """Return the records of a piece that count by their times, with their weights."""
        if times is None:
            return piece
        if self.options.half_life is not None and self.options.until is None:
            problem = "half_life= needs until= here: the newest edge is not known before all are read"
            raise InputError(problem, argument="half_life")
        if not len(times):
            return piece
        rule, times = make_rule(self.options, times, dates=dates)
        self._rule = self._rule or rule
        if rule != self._rule:
            problem = f"the times in column {self.options.time!r} change their unit within the file"
            raise self.source.error(problem, argument="time")
        mask = rule.select(times)
        weights = None if piece.weights is None else piece.weights[mask]
        return select_records(piece, mask, rule.weigh(weights, times[mask], newest=0.0))


class TextFile(EdgeFile):
    """A text with the layout of its first lines; that of a part without a header is ``like`` that of the first part."""

    def __init__(self, source: Source, options: ReadOptions, like: TextFile | None) -> None:
        super().__init__(source, options)
        self.encoding = options.encoding
        self.layout: Layout | None = self._find_layout(None if like is None else like.layout)
        self.roles = None if self.layout is None else self.layout.roles

    def _report(self, comments: int, encoding: str) -> dict[str, Any]:
        return {} if self.layout is None else self.layout.report(comments, encoding)

    def pieces(self, size: int) -> Iterator[Piece]:
        """Yield the records in pieces of about ``size`` bytes."""
        layout = self.layout
        if layout is None:
            return
        line, skip = layout.sample.dialect.line, layout.sample.dialect.skip
        quote, rest = layout.marks[1].encode(), b""
        for text, share in self._text(size):
            portion, skip = text[skip:], max(skip - len(text), 0)
            rest += portion
            cut = rest.rfind(b"\n") + 1
            if quote and quote in rest:  # a field in quotes may hold line ends
                cut = edge_lists.whole_records(np.frombuffer(rest, np.uint8), layout.marks)
            # No record ends in what there is. A quote that is never closed would otherwise bring all of the file into
            # memory; beyond LONGEST the parser gets it as it is, and names the line.
            if cut == 0 and len(rest) < LONGEST:
                continue
            whole, rest = (rest[:cut], rest[cut:]) if cut else (rest, b"")
            yield self._piece(whole, line, layout, share)
            line += whole.count(b"\n")
        if rest:
            yield self._piece(rest, line, layout, 1.0)

    def _piece(self, text: bytes, line: int, layout: Layout, share: float) -> Piece:
        data = np.frombuffer(text, np.uint8)
        parsed = parse(self.source, data, layout, before=line, threads=self.options.thread_count)
        numbers = None if parsed.integers else whole_numbers(parsed.names)
        others: dict[str, Any] = {"comments": parsed.comments, "trimmed": parsed.trimmed, "share": share}
        packed = None if parsed.integers or numbers is not None else PackedNames.of_lines(parsed.names)
        others["is_utf8"] = packed is None or _is_utf8(parsed.names)
        piece = Piece(parsed.source, parsed.target, parsed.weights, packed, **others)
        if numbers is not None:
            missing = parsed.source < 0, parsed.target < 0
            ids = np.append(numbers, 0)  # the last one is that of -1: no node
            piece = replace(piece, source=ids[parsed.source], target=ids[parsed.target], missing=missing)
        return self._select(piece, parsed.times, dates=layout.dates)

    def _find_layout(self, like: Layout | None) -> Layout | None:
        """Return the layout from the first lines; from later ones if the first are all comments."""
        head, enough = b"", _HEAD
        for text, share in self._text(_HEAD):
            head += text
            if len(head) < enough:
                continue
            layout = self._lay_out(head, like, complete=False)
            if layout is not None:
                self.records = int(head.count(b"\n") / share)
                return layout
            if len(head) > LONGEST:
                raise self.source.error(
                    f"no record ends within the first {len(head) >> 20} MiB: this is no list of edges, or a quote is "
                    "never closed",
                    argument="quote",
                )
            enough *= 2
        self.records = head.count(b"\n") + 1
        return self._lay_out(head, like, complete=True) if head else None

    def _lay_out(self, head: bytes, like: Layout | None, *, complete: bool) -> Layout | None:
        """Return the layout of the beginning of the text; a part without a header has the columns of the first part."""
        hints = self.options.hints
        if like is not None and hints.header is None:
            first = detect_dialect(self.source, head, hints, complete=complete)
            if first is not None and tuple(first.rows[0]) == like.sample.dialect.names:
                hints = replace(hints, header=True)
        sample = sniff(self.source, hints, head, complete=complete)
        if sample is None:
            return None
        if sample.is_matrix:
            raise self.source.error(
                "this is an adjacency matrix, which is not cut into pieces: all but ingest take it as it is; for a "
                "graph on disk write it as .mtx or .npz, or as edges (source, target, weight)"
            )
        if like is not None and not sample.dialect.header:
            same, width = like.roles, len(sample.rows[0])
            weights = False if same.weight is None or same.weight >= width else same.weight
            hints = replace(hints, source=same.source, target=same.target, weights=weights, time=same.time)
        return find_layout(self.source, sample, hints)

    def _text(self, size: int) -> Iterator[tuple[bytes, float]]:
        """Yield the text in portions of about ``size`` bytes."""
        portions = decode_portions(self.source, self.source.chunks(size), self.options.encoding)
        for text, share, encoding in portions:
            self.encoding = encoding
            yield text, share


class TableFile(EdgeFile):
    """A table with its edge columns. ``plain`` is a file that can be read without decompressing."""

    def __init__(self, source: Source, options: ReadOptions, plain: str, *, parquet: bool) -> None:
        super().__init__(source, options)
        self.plain, self.parquet = plain, parquet
        import_pyarrow("parquet" if parquet else "Arrow")
        with self._errors(), self._open() as file:
            schema = file.schema_arrow if parquet else file.schema
            self.records = int(file.metadata.num_rows) if parquet else None
            self.roles = self.columns = find_table_columns(schema, lambda: first_rows(file), options)

    def pieces(self, size: int) -> Iterator[Piece]:
        """Yield the records, about ``size`` at a time."""
        done = 0
        with self._errors(), self._open() as file:
            for batch in self._batches(file, size):
                share = 1.0 if self.records is None else (done + batch.num_rows) / self.records
                yield self._piece(batch.columns, done, share)
                done += batch.num_rows

    def _errors(self) -> AbstractContextManager[None]:
        return wrap_errors(self.source, PARQUET if self.parquet else ARROW)

    @contextmanager
    def _open(self) -> Iterator[Any]:
        import pyarrow as pa

        if not self.parquet:
            with pa.memory_map(self.plain) as file, open_ipc(file) as reader:
                yield reader
            return
        import pyarrow.parquet as pq

        # With `pre_buffer`, pyarrow reads the columns of whole row groups ahead, which may be larger than the budget.
        with pq.ParquetFile(self.plain, pre_buffer=False, buffer_size=1 << 20) as parquet:
            yield parquet

    def _batches(self, file: Any, rows: int) -> Iterator[Any]:
        """Yield batches of the columns of source, target, weight and time."""
        used = [at for at in self.columns.positions if at is not None]
        if self.parquet:
            names = [file.schema_arrow.names[at] for at in used]
            threaded = self.options.thread_count > 1
            for batch in parquet_batches(file, batch_size=rows, columns=names, use_threads=threaded):
                yield sound(batch.select(names))
            return
        for batch in iterate_batches(file):
            columns = sound(batch.select(used))
            for start in range(0, batch.num_rows, rows):
                yield columns.slice(start, rows)

    def _piece(self, columns: list[Any], before: int, share: float) -> Piece:
        weights = None
        if self.columns.weight is not None:
            values = columns[2]
            check_no_null(values, before=before)
            weights = check_weights(np.asarray(values.to_numpy(zero_copy_only=False)), len(values), before=before)
        if are_texts(columns[:2]):
            source, target, names = number_strings(columns[:2], len(columns[0]))
            piece = Piece(source, target, weights, pack_arrow(names), share=share)
        else:
            (source, first), (target, second) = (_integers(end) for end in columns[:2])
            piece = Piece(source, target, weights, missing=(first, second), share=share)
        if self.columns.time is None:
            return piece
        times, dates = times_of(np.asarray(columns[-1].to_numpy(zero_copy_only=False)))
        return self._select(piece, times, dates=dates)


def _is_utf8(names: bytes) -> bool:
    try:
        names.decode()
    except UnicodeDecodeError:
        return False
    return True


def _integers(column: Any) -> tuple[NDArray[Any], Mask | None]:
    """Return ids, and a mask of those that are missing."""
    ids = as_ids(id_values(column))
    return (ids.data, np.ma.getmaskarray(ids)) if isinstance(ids, np.ma.MaskedArray) else (ids, None)


def pack_arrow(names: Any) -> PackedNames:
    """Return the bytes of an Arrow array of large strings or large binaries without nulls."""
    _, offsets, text = names.buffers()
    ends = np.frombuffer(offsets, np.int64)[names.offset : names.offset + len(names) + 1]
    whole = np.zeros(0, np.uint8) if text is None else np.frombuffer(text, np.uint8)
    if not len(ends):
        return PackedNames(whole, np.zeros(1, np.int64))
    return PackedNames(whole[ends[0] : ends[-1]], ends - ends[0])
