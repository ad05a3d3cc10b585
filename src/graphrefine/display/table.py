"""Table: named columns of one length. It prints, shows in a notebook, and goes to other packages and to files.

Files are csv, tsv and JSON Lines by the standard library, parquet and arrow by pyarrow.
"""

from __future__ import annotations

import csv
import json
import os
from collections import namedtuple
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import chain
from pathlib import Path
from typing import IO, Any, overload

import numpy as np
from numpy.typing import NDArray

from graphrefine.display.console import format_table
from graphrefine.display.html import count_of, render, shorten
from graphrefine.errors import InputError, require, suggest
from graphrefine.system import as_plain
from graphrefine.system.files import check_writable, replacing

Column = NDArray[Any]
SHOWN = 10  # rows that are printed, or shown in a notebook
Columns = Mapping[str, NDArray[Any]]
Blocks = Iterable[Columns]  # of one table: the same columns in each, one block at least
TEXT_ROWS = 1 << 16  # rows that are text at a time


class Table:
    """Columns with names, all of one length; a row is a named tuple.

    Parameters
    ----------
    columns : mapping of names to arrays or sequences
        Numbers stay NumPy arrays; anything else is an array of objects.
    stats : mapping, optional
        Facts about the whole table, such as settings and counts: anything that JSON can hold.

    Attributes
    ----------
    columns : dict of arrays
    stats : dict

    Examples
    --------
    >>> table = Table({"node": ["ann", "bob"], "score": [0.5, 0.25]}, {"k": 1})
    >>> table
    node  score
    ann     0.5
    bob    0.25
    >>> table[1], table["score"].tolist(), len(table), table.stats
    (Row(node='bob', score=0.25), [0.5, 0.25], 2, {'k': 1})
    >>> [row.node for row in table if row.score > 0.3]
    ['ann']
    """

    def __init__(self, columns: Mapping[str, Any], stats: Mapping[str, Any] | None = None) -> None:
        self.columns: dict[str, Column] = {name: as_column(values) for name, values in columns.items()}
        self.stats: dict[str, Any] = dict(stats or {})
        lengths = {name: len(column) for name, column in self.columns.items()}
        if len(set(lengths.values())) > 1:
            raise InputError(f"columns of a table have one length; these have {lengths}", argument="columns")

    @cached_property
    def _row_type(self) -> Any:
        return namedtuple("Row", list(self.columns), rename=True)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def __iter__(self) -> Iterator[Any]:
        columns = (column.tolist() for column in self.columns.values())
        return map(self._row_type._make, zip(*columns, strict=True))

    @overload
    def __getitem__(self, key: str) -> Column: ...

    @overload
    def __getitem__(self, key: int) -> Any: ...

    @overload
    def __getitem__(self, key: slice | Sequence[int] | NDArray[Any]) -> Table: ...

    def __getitem__(self, key: Any) -> Any:
        """Return a column by its name, a row by its number, or a table of some rows."""
        if isinstance(key, str):
            if key not in self.columns:
                near = suggest(key, self.columns)
                raise KeyError(f"there is no column {key!r}{near}; the columns are {', '.join(self.columns)}")
            return self.columns[key]
        if isinstance(key, int | np.integer):
            return self._row_type._make(as_plain(column[key]) for column in self.columns.values())
        rows = key if isinstance(key, slice) else np.asarray(key)
        return type(self)({name: column[rows] for name, column in self.columns.items()}, self.stats)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Table):
            return NotImplemented
        return list(self.columns) == list(other.columns) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]  # tables are equal by content, and can change

    def __repr__(self) -> str:
        left = [index for index, column in enumerate(self.columns.values()) if column.dtype.kind not in "iuf"]
        more = f"\n... {count_of(len(self), 'row')}" if len(self) > SHOWN else ""
        return format_table([tuple(self.columns), *self._cells(SHOWN)], left=left) + more

    def _repr_html_(self) -> str:
        """Render the table in a notebook."""
        return render(
            "table.html",
            title=count_of(len(self), "row"),
            lines=[f"the first {SHOWN}"] if len(self) > SHOWN else [],
            heads=list(self.columns),
            rows=self._cells(SHOWN),
            numbers=[name for name, column in self.columns.items() if column.dtype.kind in "iuf"],
        )

    def _cells(self, count: int) -> list[tuple[str, ...]]:
        """Return the first rows as text."""
        columns = [[_cell(value) for value in column[:count].tolist()] for column in self.columns.values()]
        return list(zip(*columns, strict=True))

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the columns as lists."""
        return {name: column.tolist() for name, column in self.columns.items()}

    def records(self) -> list[dict[str, Any]]:
        """Return the rows as dicts, for JSON; NaN becomes None.

        Examples
        --------
        >>> Table({"node": ["ann"], "score": [float("nan")]}).records()
        [{'node': 'ann', 'score': None}]
        """
        columns = [[None if value != value else value for value in column.tolist()] for column in self.columns.values()]
        return [dict(zip(self.columns, row, strict=True)) for row in zip(*columns, strict=True)]

    def to_pandas(self) -> Any:
        """Return a pandas DataFrame."""
        require("pandas", "to_pandas()")
        import pandas as pd

        return pd.DataFrame(self.columns)

    def to_polars(self) -> Any:
        """Return a polars DataFrame."""
        require("polars", "to_polars()")
        import polars as pl

        columns = {name: column.tolist() if column.dtype == object else column for name, column in self.columns.items()}
        return pl.DataFrame(columns)

    def to_arrow(self) -> Any:
        """Return a pyarrow Table."""
        return arrow_table(self.columns)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Export the table by the Arrow PyCapsule interface, which DuckDB, polars and pyarrow take."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the table, replacing what is there in one step; .csv, .tsv, .jsonl, .parquet or .arrow.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "near.csv"
        >>> Table({"node": ["ann, jr.", "bob"], "score": [0.5, 0.25]}).save(path)
        >>> print(path.read_text(), end="")
        node,score
        "ann, jr.",0.5
        bob,0.25
        """
        save_table(self.columns, path)


class Tabular:
    """A result that has a table, and can be exported as one."""

    def table(self) -> Table:
        """Return the result as a table, which prints, saves and goes to other packages."""
        raise NotImplementedError

    def to_pandas(self) -> Any:
        """Return a pandas DataFrame of the table."""
        return self.table().to_pandas()

    def to_polars(self) -> Any:
        """Return a polars DataFrame of the table."""
        return self.table().to_polars()

    def to_arrow(self) -> Any:
        """Return a pyarrow Table of the table."""
        return self.table().to_arrow()

    def _repr_html_(self) -> str:
        """Render the table in a notebook."""
        return self.table()._repr_html_()


def table_of(rows: Sequence[Mapping[str, Any]], stats: Mapping[str, Any] | None = None) -> Table:
    """Make a table of rows that have the same names; a missing number, None, becomes NaN.

    Examples
    --------
    >>> table_of([{"method": "line", "dim": 8}, {"method": "degree", "dim": None}]).to_dict()
    {'method': ['line', 'degree'], 'dim': [8.0, nan]}
    """
    return Table({name: fill_gaps([row[name] for row in rows]) for name in (rows[0] if rows else ())}, stats)


def fill_gaps(values: list[Any]) -> list[Any]:
    """Replace None by NaN among numbers; other values stay."""
    present = [value for value in values if value is not None]
    numbers = all(isinstance(value, int | float | np.number) and not isinstance(value, bool) for value in present)
    return [float("nan") if value is None else value for value in values] if numbers and present else values


def text_html(rows: Sequence[Sequence[str]], title: str, lines: Sequence[str] = ()) -> str:
    """Render rows of text, the column titles first, for a notebook."""
    heads, *cells = rows
    return render("table.html", title=title, lines=list(lines), heads=list(heads), rows=cells, numbers=list(heads)[1:])


def as_column(values: Any) -> Column:
    """Return values as a column: numbers and truth values as NumPy has them, anything else as objects.

    Examples
    --------
    >>> as_column([1, 2]).dtype, as_column(["a", "b"]).dtype, as_column([("a", 1), ("b", 2)]).tolist()
    (dtype('int64'), dtype('O'), [('a', 1), ('b', 2)])
    """
    if isinstance(values, np.ndarray) and values.ndim == 1 and (values.dtype.kind in "biuf" or values.dtype == object):
        return values
    listed = list(values)
    if all(isinstance(value, int | float | np.number | np.bool_) for value in listed) and listed:
        return np.asarray(listed)
    column = np.empty(len(listed), object)
    column[:] = listed
    return column


def _cell(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else shorten(value)


def check_table_path(path: str | os.PathLike[str]) -> None:
    """Raise InputError for a path or a suffix that no table can be written to, before any work is done for it."""
    writer = _writer(path)
    if writer in (_write_parquet, _write_arrow):
        require("pyarrow", f"{os.fspath(path)}:", "io")
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
    """Return columns as a pyarrow Table: texts as strings, objects of other kinds as their text; or one as it is."""
    require("pyarrow", "a table of Arrow", "io")
    import pyarrow as pa

    if isinstance(columns, pa.Table):
        return columns
    return pa.table({name: _arrow_column(column) for name, column in columns.items()})


def _writer(path: str | os.PathLike[str]) -> Callable[[Blocks, Path], None]:
    suffix = Path(path).suffix.lower()
    if suffix not in WRITERS:
        near = suggest(suffix, WRITERS)
        raise InputError(f"{os.fspath(path)}: no table has the suffix {suffix!r}{near}; it can be {', '.join(WRITERS)}")
    return WRITERS[suffix]


def _arrow_column(column: NDArray[Any]) -> Any:
    import pyarrow as pa

    if column.dtype != object:
        return pa.array(np.ascontiguousarray(column))
    return pa.array([None if value is None else _text(value) for value in column.tolist()], pa.large_string())


def _text(value: Any) -> str:
    """Return the text of a name; a byte that was not UTF-8 becomes a replacement sign."""
    return str(value).encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _write_csv(blocks: Blocks, path: Path, delimiter: str = ",") -> None:
    with path.open("w", encoding="utf-8", errors="surrogateescape", newline="") as file:
        lines = csv.writer(_Lines(file), delimiter=delimiter)
        for number, columns in enumerate(_small(blocks)):
            if number == 0:
                lines.writerow(columns)
            lines.writerows(zip(*map(_texts, columns.values()), strict=True))


# The csv module quotes carriage returns and line feeds in names only if its line end has both. So it writes both, and
# the carriage return is dropped here: otherwise a name with one would be two rows.
class _Lines:
    """A file whose lines end as on Unix."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def write(self, line: str) -> None:
        self._file.write(line[:-2] + "\n")


def _texts(column: NDArray[Any]) -> list[Any]:
    """Return values as csv has them: the shortest text of a number at its own precision, nothing for NaN."""
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
    """Split large blocks; an empty one stays."""
    for columns in blocks:
        count = len(next(iter(columns.values()), ()))
        for start in range(0, max(count, 1), TEXT_ROWS):
            yield {name: column[start : start + TEXT_ROWS] for name, column in columns.items()}


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
            file.write_table(table, max_chunksize=TEXT_ROWS)


WRITERS: dict[str, Callable[[Blocks, Path], None]] = {
    ".csv": _write_csv,
    ".tsv": partial(_write_csv, delimiter="\t"),
    ".jsonl": _write_json_lines,
    ".parquet": _write_parquet,
    ".arrow": _write_arrow,
}
