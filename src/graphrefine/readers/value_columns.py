"""Columns of values in Python, as JSON and SQLite give them: found by the rules of `layout`, then numbered."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import InputError
from graphrefine.graph.adjacency import check_weights
from graphrefine.graph.node_ids import as_ids, number, object_array
from graphrefine.readers.formats import EdgeTable
from graphrefine.readers.layout import EdgeColumns, find_columns
from graphrefine.readers.options import ReadOptions
from graphrefine.readers.timed_edges import edges_with_times

SAMPLE = 1000  # values that tell whether a column holds numbers
_EXACT = 1 << 53  # integers up to here are the same as float64


class Columns:
    """Columns that grow record by record, with names in the order of their first mention."""

    def __init__(self) -> None:
        self.values: dict[str, list[Any]] = {}
        self.records = 0

    def add(self, record: dict[str, Any]) -> None:
        """Add a record; what it lacks is None."""
        for name, value in record.items():
            column = self.values.setdefault(name, [])
            column.extend([None] * (self.records - len(column)))
            column.append(value)
        self.records += 1

    def finish(self) -> tuple[list[str], list[list[Any]]]:
        """The names and the columns, all of one length."""
        for column in self.values.values():
            column.extend([None] * (self.records - len(column)))
        return list(self.values), list(self.values.values())


def find_edge_columns(names: list[str] | None, columns: Sequence[list[Any]], options: ReadOptions) -> EdgeColumns:
    """Find the columns of the edges by their names and by which of them hold numbers."""
    numeric = [is_numeric(column[:SAMPLE]) for column in columns]
    return find_columns(names, numeric, options, values=lambda at: columns[at][:SAMPLE])


def edges_of_columns(names: list[str] | None, columns: Sequence[list[Any]], options: ReadOptions) -> EdgeTable:
    """Edges of columns; an end of None is missing.

    Examples
    --------
    >>> table = edges_of_columns(["from", "to", "when"], [["a", "b"], ["b", None], [1, 2]], ReadOptions())
    >>> table.numbered[2].tolist(), table.report["ignored_columns"]
    (['a', 'b'], ['when'])
    """
    return _number(columns, find_edge_columns(names, columns, options), options)


def _number(columns: Sequence[list[Any]], edge_columns: EdgeColumns, options: ReadOptions) -> EdgeTable:
    ends = [id_array(columns[at]) for at in (edge_columns.source, edge_columns.target)]
    weights = None if edge_columns.weight is None else weight_array(columns[edge_columns.weight])
    numbered = number(ends[0], ends[1], threads=options.thread_count)
    times = None if edge_columns.time is None else np.array(columns[edge_columns.time])
    return edges_with_times(numbered, weights, edge_columns, times, options)


def edges_of_rows(names: list[str], rows: Iterable[Sequence[Any]], options: ReadOptions) -> EdgeTable:
    """Edges of rows that come one by one; of columns that hold no edges, only the first values are kept."""
    iterator = iter(rows)
    sample = list(islice(iterator, SAMPLE))
    if not sample:
        raise InputError("there is no edge: the table or query has no rows")
    columns = [list(column) for column in zip(*sample, strict=True)]
    edge_columns = find_edge_columns(names, columns, options)
    places = [at for at in edge_columns.places if at is not None]
    for row in iterator:
        for at in places:
            columns[at].append(row[at])
    return _number(columns, edge_columns, options)


def id_array(values: list[Any]) -> NDArray[Any]:
    """Ids: integers, whole floats or strings, None where missing."""
    for value in values:
        if isinstance(value, bool) or not isinstance(value, str | int | float | None):
            raise InputError(f"ids must be integers or strings, not {value!r}")
    kinds = {type(value) for value in values} - {type(None)}
    if float in kinds and str not in kinds:
        for value in values:
            if isinstance(value, int) and abs(value) > _EXACT:
                text = str(value) if abs(value) < 1 << 64 else f"a number of {value.bit_length()} bits"
                problem = f"ids beyond 2^53 among ids with decimal points ({text})"
                raise InputError(f"{problem}: give all as integers or strings")
        return as_ids(np.array([np.nan if value is None else value for value in values], dtype=np.float64))
    return as_ids(object_array(values))


def weight_array(values: list[Any]) -> NDArray[np.float32]:
    """Weights: numbers, also written as text; none may be missing."""
    if None in values:
        raise InputError(
            f"record {values.index(None) + 1}: the weight is missing; fill it in, or say weights=False",
            argument="weights",
        )
    for at, value in enumerate(values, start=1):
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise InputError(f"record {at}: weight {value!r} is not a number", argument="weights")
    try:
        floats = np.array([float(value) for value in values])
    except (ValueError, OverflowError) as error:
        raise InputError(f"weights must be numbers: {error}", argument="weights") from None
    return check_weights(floats, len(values))


def is_numeric(values: list[Any]) -> bool:
    """Whether there are numbers among the values, and nothing else but None."""
    present = [value for value in values if value is not None]
    return bool(present) and all(isinstance(each, int | float) and not isinstance(each, bool) for each in present)
