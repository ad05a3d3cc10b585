"""Records of a stream of changes, not checked yet, in blocks: of a file, of an open one, or of standard input.

A line must have a line end: without one it may be cut, as a weight 12 may have been 125. In JSON the closing brace
tells that a record is whole; a parquet file cannot be read without its end.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

from graphrefine.errors import FormatError, InputError, suggest
from graphrefine.live.change_lines import Block, DelimitedLines, JsonLines, Lines, find_columns
from graphrefine.readers.arrow import PARQUET, import_pyarrow, parquet_batches, sound
from graphrefine.readers.byte_stream import stream_bytes
from graphrefine.readers.formats import BY_SUFFIX
from graphrefine.readers.limits import wrap_errors
from graphrefine.readers.source import CODECS, SUFFIXES, Source, refuse_page

FORMATS = ("csv", "tsv", "jsonl", "parquet")
LONGEST = 1 << 20  # bytes of a line
ROWS = 1 << 14  # records of parquet in a block
CUT = "its group does not count; once the file is whole, --resume goes on after the last group that does"
NO_END = "the last line has no line end and may be cut; if it is whole, end it with a line end"


def check_format(source: Source, format: str | None) -> str | None:
    """The format that was named, or that of the suffix; None where the first bytes must tell it."""
    if format is not None:
        if format not in FORMATS:
            known = f"changes can be {', '.join(FORMATS)}"
            raise InputError(f"format={format!r} is not known{suggest(format, FORMATS)}; {known}", argument="format")
        return format
    if not source.suffix:
        return None
    named = BY_SUFFIX.get(source.suffix)
    if named is None or named.name not in FORMATS:
        suffixes = " ".join(suffix for suffix, each in BY_SUFFIX.items() if each.name in FORMATS)
        compressions = " ".join(codec.suffix for codec in CODECS)
        problem = f"changes are read from files with {suffixes}, each also with {compressions}; or say format='csv'"
        raise source.error(f"the suffix {source.suffix!r} is not one of changes: {problem}", argument="format")
    return named.name


def read_blocks(source: Source, file: IO[bytes] | None, format: str | None) -> Iterator[Block]:
    """The records in blocks; ``file`` is open already. Those before an error are given before it."""
    if format == "parquet" and file is None and Path(source.path).suffix.lower() not in SUFFIXES:
        yield from _read_parquet(source, source.path)
        return
    portions = stream_bytes(source, file)
    head = b""
    for portion in portions:
        head += portion
        if len(head) > 4:  # bytes that tell a format
            break
    head = head.removeprefix(codecs.BOM_UTF8)
    whole = chain([head], portions)
    format = format or _tell_format(head)
    if format == "parquet":
        with TemporaryFile() as plain:
            plain.writelines(whole)
            plain.seek(0)
            yield from _read_parquet(source, plain)
        return
    refuse_page(source, head)
    lines = JsonLines(source) if format == "jsonl" else DelimitedLines(source, "\t" if format == "tsv" else ",")
    yield from _read_lines(lines, whole)


def _tell_format(head: bytes) -> str:
    if head.startswith(b"PAR1"):
        return "parquet"
    return "jsonl" if head.lstrip().startswith(b"{") else "csv"


def _read_lines(lines: Lines, portions: Iterable[bytes]) -> Iterator[Block]:
    for data, cut in _split_lines(lines.source, portions):
        if cut is None or (cut == NO_END and lines.is_whole(data)):
            yield from lines.parse(data)
        else:
            raise lines.error(f"record {lines.records + 1} is not whole: {cut}; {CUT}")


def _split_lines(source: Source, portions: Iterable[bytes]) -> Iterator[tuple[bytes, str | None]]:
    """Whole lines with their ends, and None; at the end, if a line is cut, what there is of it, and why."""
    rest = b""
    try:
        for portion in portions:
            lines, end, rest = (rest + portion).rpartition(b"\n")
            if end:
                yield lines + end, None
            if len(rest) > LONGEST:
                yield rest, f"the line has more than {LONGEST} bytes; a line of changes has one record"
                return
    except FormatError as error:  # of a decompressor
        yield rest, str(error).removeprefix(f"{source.name}: ")
        return
    if rest.strip():
        yield rest, NO_END


def _read_parquet(source: Source, file: Any) -> Iterator[Block]:
    import_pyarrow("parquet")
    import pyarrow as pa
    import pyarrow.parquet as pq
    import pyarrow.types as types

    with wrap_errors(source, PARQUET), pq.ParquetFile(file, pre_buffer=False, buffer_size=1 << 20) as table:
        names = list(table.schema_arrow.names)
        used = [names[at] for at in find_columns(names) if at is not None]
        for batch in parquet_batches(table, batch_size=ROWS, columns=used, use_threads=False):
            columns = [sound(batch).column(name) for name in used]
            columns = [column.cast(pa.float64()) if types.is_decimal(column.type) else column for column in columns]
            operations, sources, targets, *weights = (column.to_pylist() for column in columns)
            targets = [None if target in ("", None) or target != target else target for target in targets]
            yield Block(operations, sources, targets, weights[0] if weights else [None] * len(targets), None)
