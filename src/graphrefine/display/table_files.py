"""Tables in files: csv, tsv and JSON Lines by the standard library, parquet and arrow by pyarrow."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import InputError, MissingExtraError, suggest
from graphrefine.system.files import check_writable, replacing

Columns = Mapping[str, NDArray[Any]]
Blocks = Iterable[Columns]  # of one table: the same columns in each, one block at least
BLOCK = 1 << 16  # rows that are text at a time


def check_table_path(path: str | os.PathLike[str]) -> None:
    """Refuse a place or a suffix that no table can be written to, before any work is done for it.

    Examples
    --------
    >>> check_table_path("near.xlsx")
    Traceback (most recent call last):
    graphrefine.errors.InputError: near.xlsx: no table has the suffix '.xlsx'; it can be .csv, .tsv, .jsonl, .parquet, .arrow
    """  # noqa: E501  the message is one line
    writer = _writer(path)
    if writer in (_write_parquet, _write_arrow):
        _pyarrow(f"{os.fspath(path)}:")
    check_writable(path)


def save_table(columns: Columns, path: str | os.PathLike[str]) -> None:
    """Write columns to a file, replacing what is there in one step; the suffix names the format."""
    save_blocks([columns], path)


def save_blocks(blocks: Blocks, path: str | os.PathLike[str]) -> None:
    """Write a table that comes in blocks, one at a time, to a file that is replaced when the last one is there."""
    check_table_path(path)
    with replacing(path) as hidden:
        _writer(path)(blocks, hidden)


def arrow_table(columns: Columns) -> Any:
    """Columns as a pyarrow Table: texts as strings, objects of other kinds as their text."""
    pa = _pyarrow("a table of Arrow")
    return pa.table({name: _arrow_column(column) for name, column in columns.items()})


def _writer(path: str | os.PathLike[str]) -> Callable[[Blocks, Path], None]:
    suffix = Path(path).suffix.lower()
    if suffix not in WRITERS:
        near = suggest(suffix, WRITERS)
        raise InputError(f"{os.fspath(path)}: no table has the suffix {suffix!r}{near}; it can be {', '.join(WRITERS)}")
    return WRITERS[suffix]


def _pyarrow(purpose: str) -> Any:
    try:
        import pyarrow
    except ModuleNotFoundError:
        raise MissingExtraError(purpose, "pyarrow", "io") from None
    return pyarrow


def _arrow_column(column: NDArray[Any]) -> Any:
    import pyarrow as pa

    if column.dtype != object:
        return pa.array(np.ascontiguousarray(column))
    return pa.array([None if value is None else _text(value) for value in column.tolist()], pa.large_string())


def _text(value: Any) -> str:
    """The text of a name; a byte that was not UTF-8 becomes a replacement sign."""
    return str(value).encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _write_csv(blocks: Blocks, path: Path, delimiter: str = ",") -> None:
    with path.open("w", encoding="utf-8", errors="surrogateescape", newline="") as file:
        lines = csv.writer(_Lines(file), delimiter=delimiter)
        for number, columns in enumerate(_small(blocks)):
            if number == 0:
                lines.writerow(columns)
            lines.writerows(zip(*map(_texts, columns.values()), strict=True))


class _Lines:
    """A file whose lines end as on Unix; the csv module quotes both signs of a line's end only if it writes both."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def write(self, line: str) -> None:
        self._file.write(line[:-2] + "\n")


def _write_tsv(blocks: Blocks, path: Path) -> None:
    _write_csv(blocks, path, delimiter="\t")


def _texts(column: NDArray[Any]) -> list[Any]:
    """Values as csv has them: the shortest text of a number at its own precision, nothing for one that is not."""
    if column.dtype.kind != "f":
        return list(column.tolist())
    return ["" if value != value else str(value) for value in column]


def _write_json_lines(blocks: Blocks, path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        for columns in _small(blocks):
            for row in zip(*(column.tolist() for column in columns.values()), strict=True):
                known = {name: None if value != value else value for name, value in zip(columns, row, strict=True)}
                file.write(json.dumps(known, default=str) + "\n")


def _small(blocks: Blocks) -> Iterator[Columns]:
    """The blocks, large ones in parts; an empty one as it is."""
    for columns in blocks:
        count = len(next(iter(columns.values()), ()))
        for start in range(0, max(count, 1), BLOCK):
            yield {name: column[start : start + BLOCK] for name, column in columns.items()}


def _write_parquet(blocks: Blocks, path: Path) -> None:
    from pyarrow import parquet

    tables = map(arrow_table, blocks)
    first = next(tables)
    with parquet.ParquetWriter(path, first.schema, compression="zstd") as file:
        for table in chain([first], tables):
            file.write_table(table)


def _write_arrow(blocks: Blocks, path: Path) -> None:
    from pyarrow import ipc

    tables = map(arrow_table, blocks)
    first = next(tables)
    with ipc.new_file(str(path), first.schema) as file:
        for table in chain([first], tables):
            file.write_table(table, max_chunksize=BLOCK)


WRITERS: dict[str, Callable[[Blocks, Path], None]] = {
    ".csv": _write_csv,
    ".tsv": _write_tsv,
    ".jsonl": _write_json_lines,
    ".parquet": _write_parquet,
    ".arrow": _write_arrow,
}
