"""Columns of values in Python, as JSON and SQLite give them: found by `graphrefine.tables`, then numbered."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import InputError
from graphrefine.graph.adjacency import check_weights, describe_outside
from graphrefine.graph.node_ids import as_ids, number, object_array
from graphrefine.readers.formats import EdgeTable
from graphrefine.readers.options import ReadOptions
from graphrefine.readers.times import edges_with_times
from graphrefine.tables.kinds import MOST
from graphrefine.tables.limits import check_fields
from graphrefine.tables.roles import EdgeRoles
from graphrefine.tables.sniff import find_edges

_EXACT = 1 << 53  # integers up to here are the same as float64


class Columns:
    """Records as a table: the names of all fields, in the order of their first mention, and each column when needed.

    No column is made before it is: records that each have a field of their own would make as many columns as rows.
    """

    def __init__(self, records: Sequence[dict[str, Any]]) -> None:
        self.records = records
        names: dict[str, None] = {}
        for record in records:
            names.update(dict.fromkeys(record))
            check_fields(len(names), "fields")
        self.names = list(names)

    def column(self, at: int) -> list[Any]:
        """Return the values of a column, None where a record lacks it."""
        name = self.names[at]
        return [record.get(name) for record in self.records]

    def find_edges(self, options: ReadOptions) -> EdgeRoles:
        """Return the columns of the edges, by their names and by the values of the first records."""
        sample: dict[str, list[Any]] = {}
        for record in self.records[:MOST]:
            for name, value in record.items():
                sample.setdefault(name, []).append(value)
        values = [sample.get(name, ()) for name in self.names]
        return find_edges(self.names, list(map(is_numeric, values)), values.__getitem__, options.hints)

    def edges(self, options: ReadOptions) -> EdgeTable:
        """Return the edges; an end that a record lacks is missing.

        Examples
        --------
        >>> table = Columns([{"from": "a", "to": "b"}, {"from": "b", "when": 2}]).edges(ReadOptions())
        >>> table.numbered[2].tolist(), table.report["ignored_columns"]
        (['a', 'b'], ['when'])
        """
        return _number(self.column, self.find_edges(options), options)


def edges_of_columns(columns: Sequence[list[Any]], options: ReadOptions) -> EdgeTable:
    """Edges of columns without names; an end of None is missing.

    Examples
    --------
    >>> table = edges_of_columns([["a", "b"], ["b", None]], ReadOptions())
    >>> table.numbered[0].tolist(), table.numbered[2].tolist()
    ([0, 1], ['a', 'b'])
    """
    return _number(columns.__getitem__, _find_edge_roles(None, columns, options), options)


def _find_edge_roles(names: list[str] | None, columns: Sequence[list[Any]], options: ReadOptions) -> EdgeRoles:
    numeric = [is_numeric(column[:MOST]) for column in columns]
    return find_edges(names, numeric, lambda at: columns[at][:MOST], options.hints)


def _number(column: Callable[[int], list[Any]], roles: EdgeRoles, options: ReadOptions) -> EdgeTable:
    ends = [id_array(column(at)) for at in (roles.source, roles.target)]
    weights = None if roles.weight is None else weight_array(column(roles.weight))
    numbered = number(ends[0], ends[1], threads=options.thread_count)
    times = None if roles.time is None else np.array(column(roles.time))
    return edges_with_times(numbered, weights, roles, times, options)


def edges_of_rows(names: list[str], rows: Iterable[Sequence[Any]], options: ReadOptions) -> EdgeTable:
    """Edges of rows that come one by one; of columns that hold no edges, only the first values are kept."""
    iterator = iter(rows)
    sample = list(islice(iterator, MOST))
    if not sample:
        raise InputError("there is no edge: the table or query has no rows")
    columns = [list(column) for column in zip(*sample, strict=True)]
    roles = _find_edge_roles(names, columns, options)
    places = [at for at in roles.positions if at is not None]
    for row in iterator:
        for at in places:
            columns[at].append(row[at])
    return _number(columns.__getitem__, roles, options)


def id_array(values: list[Any]) -> NDArray[Any]:
    """Ids: integers, whole floats or strings, None where missing."""
    for at, value in enumerate(values, start=1):
        if isinstance(value, bool) or not isinstance(value, str | int | float | None):
            raise InputError(
                f"record {at}: ids must be integers or strings, not {value!r}; source= and target= name other columns",
                argument="source",
            )
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
    for at in np.flatnonzero(floats == 0).tolist():
        problem = describe_outside(0.0, text=values[at]) if isinstance(values[at], str) else None
        if problem is not None:
            raise InputError(f"record {at + 1}: weight {values[at]!r} {problem}", argument="weights")
    return check_weights(floats, len(values))


def is_numeric(values: Iterable[Any]) -> bool:
    """Whether there are numbers among the values, and nothing else but None."""
    present = [value for value in values if value is not None]
    return bool(present) and all(isinstance(each, int | float) and not isinstance(each, bool) for each in present)
