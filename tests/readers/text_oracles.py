"""Other readers of text tables: pandas, polars, DuckDB and the csv module, told everything.

Each gives the columns of the ends and of the weights as strings, an empty one for what is missing.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from text_tables import TextTable

Columns = tuple[list[str], list[str], list[str]]
"""Sources, targets and weights; no weights where there are none."""


def truth(table: TextTable) -> Columns:
    """The columns as they were written."""
    return _select(table, [list(column) for column in zip(*table.rows, strict=True)])


def read_by_pandas(table: TextTable, path: Path) -> Columns:
    import pandas as pd

    frame = pd.read_csv(
        io.BytesIO(table.encode(table.bare)),
        sep=r"\s+" if table.delimiter == " " else table.delimiter,
        header=None if table.header is None else 0,
        dtype=str,
        keep_default_na=False,
        na_filter=False,
        index_col=False,
        engine="c",
        skip_blank_lines=True,
        **_quoting(table),
    )
    return _select(table, [frame.iloc[:, at].tolist() for at in range(frame.shape[1])])


def read_by_polars(table: TextTable, path: Path) -> Columns:
    import polars as pl

    alone = table.comments is not None and len(table.comments) == 1
    frame = pl.read_csv(
        table.encode(table.text if alone else table.bare),
        separator=table.delimiter,
        has_header=table.header is not None,
        comment_prefix=table.comments if alone else None,
        quote_char=table.quote or None,
        infer_schema=False,
        empty_string_is_null=False,
    )
    return _select(table, [[value or "" for value in column.to_list()] for column in frame.get_columns()])


def read_by_duckdb(table: TextTable, path: Path) -> Columns:
    """By DuckDB, from the file, or from another where the file has comments."""
    if table.comment_lines:
        path = path.with_name("bare")
        path.write_bytes(table.encode(table.bare))
    columns = ", ".join(f"'c{at}': 'VARCHAR'" for at in range(len(table.rows[0])))
    marks = [table.delimiter, table.quote, table.quote]
    query = (
        f"SELECT * FROM read_csv(?, delim=?, quote=?, escape=?, header={table.header is not None}, auto_detect=false, "
        f"columns={{{columns}}})"
    )
    rows = _duckdb().execute(query, [str(path), *marks]).fetchall()
    return _select(table, [[value or "" for value in column] for column in zip(*rows, strict=True)])


def read_by_csv(table: TextTable, path: Path) -> Columns:
    """By the csv module, for runs of blanks."""
    lines = csv.reader(
        io.StringIO(table.bare, newline=""),
        delimiter=table.delimiter,
        skipinitialspace=True,
        strict=True,
        **_quoting(table),
    )
    width = len(table.rows[0])
    rows = [row[:width] for row in lines if row][0 if table.header is None else 1 :]
    return _select(table, [list(column) for column in zip(*rows, strict=True)])


def _quoting(table: TextTable) -> dict[str, Any]:
    return {"quotechar": table.quote} if table.quote else {"quoting": csv.QUOTE_NONE}


def _select(table: TextTable, columns: list[list[str]]) -> Columns:
    source, target, weight = table.columns
    if len(columns) != len(table.rows[0]):
        raise ValueError(f"{len(columns)} columns")
    return columns[source], columns[target], [] if weight is None else columns[weight]


@cache
def _duckdb() -> Any:
    import duckdb

    connection = duckdb.connect()
    connection.execute("SET threads = 1")
    return connection


ORACLES: dict[str, Callable[[TextTable, Path], Columns]] = {
    "pandas": read_by_pandas,
    "polars": read_by_polars,
    "DuckDB": read_by_duckdb,
    "csv": read_by_csv,
}
