"""Tables in files: csv, tsv and JSON Lines by the standard library, parquet and arrow by pyarrow."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import InputError, MissingExtraError, suggest
from graphrefine.system.files import check_writable, replacing

Columns = Mapping[str, NDArray[Any]]
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
    check_table_path(path)
    with replacing(path) as hidden:
        _writer(path)(columns, hidden)


def arrow_table(columns: Columns) -> Any:
    """Columns as a pyarrow Table: texts as strings, objects of other kinds as their text."""
    pa = _pyarrow("a table of Arrow")
    return pa.table({name: _arrow_column(column) for name, column in columns.items()})


def _writer(path: str | os.PathLike[str]) -> Callable[[Columns, Path], None]:
    suffix = Path(path).suffix.lower()
    if suffix not in WRITERS:
        near = suggest(suffix, WRITERS)
        raise InputError(f"{os.fspath(path)}: no table has the suffix {suffix!r}{near}; it can be {', '.join(WRITERS)}")
    return WRITERS[suffix]


def _pyarrow(purpose: str) -> Any:
    try:
        import pyarrow
    except ImportError:
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


def _write_csv(columns: Columns, path: Path, delimiter: str = ",") -> None:
    with path.open("w", encoding="utf-8", errors="surrogateescape", newline="") as file:
        lines = csv.writer(_Lines(file), delimiter=delimiter)
        lines.writerow(columns)
        for rows in _blocks(columns):
            lines.writerows(zip(*(_texts(column[rows]) for column in columns.values()), strict=True))


class _Lines:
    """A file whose lines end as on Unix; the csv module quotes both signs of a line's end only if it writes both."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def write(self, line: str) -> None:
        self._file.write(line[:-2] + "\n")


def _write_tsv(columns: Columns, path: Path) -> None:
    _write_csv(columns, path, delimiter="\t")


def _texts(column: NDArray[Any]) -> list[Any]:
    """Values as csv has them: the shortest text of a number at its own precision, nothing for one that is not."""
    if column.dtype.kind != "f":
        return list(column.tolist())
    return ["" if value != value else str(value) for value in column]


def _write_json_lines(columns: Columns, path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        for rows in _blocks(columns):
            for row in zip(*(column[rows].tolist() for column in columns.values()), strict=True):
                known = {name: None if value != value else value for name, value in zip(columns, row, strict=True)}
                file.write(json.dumps(known, default=str) + "\n")


def _blocks(columns: Columns) -> list[slice]:
    count = len(next(iter(columns.values()), ()))
    return [slice(start, start + BLOCK) for start in range(0, count, BLOCK)]


def _write_parquet(columns: Columns, path: Path) -> None:
    from pyarrow import parquet

    parquet.write_table(arrow_table(columns), path, compression="zstd")


def _write_arrow(columns: Columns, path: Path) -> None:
    from pyarrow import feather

    feather.write_feather(arrow_table(columns), str(path), compression="uncompressed")


WRITERS: dict[str, Callable[[Columns, Path], None]] = {
    ".csv": _write_csv,
    ".tsv": _write_tsv,
    ".jsonl": _write_json_lines,
    ".parquet": _write_parquet,
    ".arrow": _write_arrow,
}
