"""Further columns to colour by, from a table with a node in each record: csv, tsv or parquet."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import FormatError
from graphrefine.explore.columns import CategoryColumn, Column, NumberColumn
from graphrefine.graph.node_ids import Names
from graphrefine.readers.small_table import read_table
from graphrefine.vectors.lookup import quote_name

_LOG = 100.0  # largest number over median, beyond which colours go by the logarithm


def read_columns(path: str | PathLike[str], names: Names) -> tuple[dict[str, Column], int]:
    """The columns of a table for the rows of an embedding, and the number of rows that it has values of.

    The nodes are in the column called node, id, name or the like, or else in the first.
    """
    source = read_table(path, comments="")
    table = source.columns
    if len(table) < 2:
        raise FormatError(path, "a column of nodes and at least one more are expected, with a header")
    key = source.node_column
    rows = {str(name): row for row, name in enumerate(names.tolist())}
    place = np.fromiter((rows.get(str(name), -1) for name in table[key]), np.int64, len(table[key]))
    listed = np.unique(place[place >= 0])
    if not len(listed):
        theirs, ours = (", ".join(map(quote_name, some[:3])) for some in (list(table[key]), names))
        raise FormatError(
            path,
            f"none of the {len(place)} nodes in column {key!r} is in the embedding: the table has {theirs}, the "
            f"embedding has {ours}; call them the same in both",
        )
    columns = {name: _column(values, place, len(names)) for name, values in table.items() if name != key}
    return columns, len(listed)


def _column(values: Sequence[Any], place: NDArray[np.int64], count: int) -> Column:
    """Numbers where every value is one, or is missing; categories otherwise."""
    is_listed = place >= 0
    numbers = _numbers(values)
    if numbers is not None:
        column = np.full(count, np.nan, np.float32)
        column[place[is_listed]] = numbers[is_listed]
        return NumberColumn(column, log=_is_skewed(column[np.isfinite(column)]))
    texts = np.array(["" if value is None else str(value) for value in values], object)
    kinds, codes = np.unique(texts, return_inverse=True)
    codes = np.where(texts == "", -1, codes.reshape(-1)).astype(np.int32)
    positions = np.full(count, -1, np.int32)
    positions[place[is_listed]] = codes[is_listed]
    return CategoryColumn(positions, [str(kind) for kind in kinds.tolist()])


def _is_skewed(numbers: NDArray[np.float32]) -> bool:
    if not len(numbers) or numbers.min() < 0:
        return False
    return float(numbers.max()) > _LOG * max(float(np.median(numbers)), 1.0)


def _numbers(values: Sequence[Any]) -> NDArray[np.float32] | None:
    if any(isinstance(value, bool) for value in values):
        return None
    try:
        with np.errstate(over="ignore"):
            return np.array([np.nan if value in ("", None) else float(value) for value in values], np.float32)
    except (TypeError, ValueError):
        return None
