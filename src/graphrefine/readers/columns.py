"""Tables in memory: named columns of NumPy, of Arrow or of Python's values, found by `graphrefine.tables` and numbered.

Data frames, mappings of columns, parquet, Arrow, JSON records and databases all become edges here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import InputError
from graphrefine.graph.adjacency import check_weights
from graphrefine.graph.node_ids import Numbered, as_ids, check_line_ends, number, object_array
from graphrefine.kernels.edge_lists import number_texts
from graphrefine.readers.attributed_graph import parse_weight
from graphrefine.readers.formats import EdgeTable
from graphrefine.readers.options import ReadOptions
from graphrefine.readers.times import times_of, use_times
from graphrefine.tables.kinds import MOST
from graphrefine.tables.roles import EdgeRoles
from graphrefine.tables.sniff import find_edges
from graphrefine.tables.source import check_fields

_EXACT = 1 << 53  # integers up to here are the same as float64


@dataclass(frozen=True)
class ColumnTable:
    """A table of any kind: names of its columns, None where they have none, and the columns by position."""

    names: Sequence[str | None]
    column: Callable[[int], Any]  # a NumPy array, an Arrow array in chunks, or a list
    sample: Callable[[int], Sequence[Any]] | None = None  # first values, where they do not take the whole column

    def find_edges(self, options: ReadOptions) -> EdgeRoles:
        """Return the columns of the edges, by the options or usual names, else by their first values."""
        return find_edges(self.names, self.sample or self._sample, options.hints)

    def edges(self, options: ReadOptions) -> EdgeTable:
        """Return the edges."""
        return number_edges(self.column, self.find_edges(options), options)

    def _sample(self, at: int) -> list[Any]:
        first = self.column(at)[:MOST]
        if is_arrow(first):
            return list(first.to_pylist())
        return first if isinstance(first, list) else list(first.tolist())


def table_of_records(records: Sequence[dict[str, Any]]) -> ColumnTable:
    """Return records as a table: the names of all fields, in the order of their first mention; None where one lacks."""
    names: dict[str, None] = {}
    for record in records:
        names.update(dict.fromkeys(record))
        check_fields(len(names), "fields")
    # No column is made before it is needed: records that each have another field, in a file of a few megabytes, would
    # make as many columns as rows.
    first: dict[str, list[Any]] = {name: [] for name in names}
    for record in records[:MOST]:
        for name, value in record.items():
            first[name].append(value)
    fields = list(names)
    return ColumnTable(fields, lambda at: [each.get(fields[at]) for each in records], lambda at: first[fields[at]])


def edges_of_rows(names: list[str], rows: Iterable[Sequence[Any]], options: ReadOptions) -> EdgeTable:
    """Return the edges of rows that come one by one; of other columns, only the first values are kept."""
    # The rows of a query may have many columns that hold no edges: which those are is known after the first rows, and
    # of the others nothing is kept.
    iterator = iter(rows)
    sample = list(islice(iterator, MOST))
    if not sample:
        raise InputError("there is no edge: the table or query has no rows")
    columns = [list(column) for column in zip(*sample, strict=True)]
    roles = ColumnTable(names, columns.__getitem__).find_edges(options)
    used = roles.used
    for row in iterator:
        for at in used:
            columns[at].append(row[at])
    return number_edges(columns.__getitem__, roles, options)


def number_edges(
    column: Callable[[int], Any], roles: EdgeRoles, options: ReadOptions, *, as_text: bool = False
) -> EdgeTable:
    """Return the edges in columns of known roles; see `number_ends` for ``as_text``."""
    weights = None if roles.weight is None else _weights(column(roles.weight))
    times = None if roles.time is None else as_numpy(column(roles.time))
    ends = number_ends(column(roles.source), column(roles.target), options, as_text=as_text)
    directed = roles.find_direction(lambda at: as_numpy(column(at)).tolist(), options.hints)
    if times is not None:
        seconds, dates = times_of(times)
        ends, weights = use_times(ends, weights, seconds, options, roles.report, dates=dates)
    return EdgeTable(ends, weights, roles.report, directed=directed, sets=roles.sets)


def number_ends(source: Any, target: Any, options: ReadOptions, *, as_text: bool = False) -> Numbered:
    """Assign numbers to the ids of two columns.

    ``as_text``: where one column of a file holds integers and the other texts, 1 and "1" are one node.
    """
    sides = [source, target]
    if all(map(is_arrow, sides)):
        sides = [_decode(side) for side in sides]
        kinds = [is_text_type(side.type) for side in sides]
        if all(kinds) or (as_text and are_texts(sides)):
            chunks = [chunk for side in sides for chunk in side.chunks]
            first, second, names = number_strings(chunks, len(source))
            listed = names.to_pylist()
            check_line_ends(listed)
            return first, second, object_array(listed)
    ids = [_ids(side) for side in sides]
    return number(ids[0], ids[1], threads=options.thread_count, apart=bool(options.bipartite))


def _ids(column: Any) -> NDArray[Any]:
    if isinstance(column, list):
        return _list_ids(column)
    if not is_arrow(column):
        return np.asanyarray(column)
    column = _decode(column)
    return object_array(column.to_pylist()) if is_text_type(column.type) else id_values(column)


def _list_ids(values: list[Any]) -> NDArray[Any]:
    """Return ids as integers or strings, masked or None where missing; whole floats are integers."""
    for row, value in enumerate(values, start=1):
        if isinstance(value, bool) or not isinstance(value, str | int | float | None):
            raise InputError(
                f"record {row}: ids must be integers or strings, not {value!r}; source= and target= name other columns",
                argument="source",
            )
    kinds = set(map(type, values))
    if float not in kinds or str in kinds:
        return as_ids(object_array(values))
    # Beside floats integers become floats too, which do not tell 2^53 and 2^53 + 1 apart.
    if any(isinstance(value, int) and abs(value) > _EXACT for value in values):
        raise InputError("ids beyond 2^53 among ids with decimal points: give all as integers or strings")
    return as_ids(np.array([np.nan if value is None else value for value in values], dtype=np.float64))


def _weights(column: Any) -> NDArray[np.float32]:
    if is_arrow(column):
        check_no_null(column)
        column = as_numpy(_decode(column))
    if not isinstance(column, list):
        if column.dtype == object and None in (listed := column.tolist()):
            raise _missing_weight(listed.index(None) + 1)
        return check_weights(column, len(column))
    if set(map(type, column)) <= {int, float}:  # as nearly always, and many times as fast as one by one
        with suppress(OverflowError):
            return check_weights(np.array(column, np.float64), len(column))
    weights = []
    for row, value in enumerate(column, start=1):
        if value is None:
            raise _missing_weight(row)
        try:
            weights.append(parse_weight(value))
        except InputError as error:
            raise InputError(f"record {row}: {error}", argument="weights") from None
    return check_weights(np.array(weights), len(weights))


def check_no_null(weights: Any, *, before: int = 0) -> None:
    """Refuse an Arrow column of weights that lacks one; ``before`` is the number of records before these."""
    if weights.null_count:
        raise _missing_weight(before + int(weights.is_null().to_numpy(zero_copy_only=False).argmax()) + 1)


def _missing_weight(row: int) -> InputError:
    return InputError(f"record {row}: the weight is missing; fill it in, or pass weights=False", argument="weights")


def as_numpy(column: Any) -> NDArray[Any]:
    """Return a column as an array of NumPy."""
    if not is_arrow(column):
        return np.asarray(column)
    if column.null_count == len(column):  # also dictionaries without an entry, which Arrow cannot look into
        return object_array([None] * len(column))
    return np.asarray(column.to_numpy())


def is_arrow(column: Any) -> bool:
    """Return whether a column is Arrow's."""
    return hasattr(column, "null_count") and hasattr(column, "type")


def are_texts(columns: Sequence[Any]) -> bool:
    """Return whether two Arrow columns hold texts, or texts and integers; raise for a type that holds no ids."""
    import pyarrow.types as types

    kinds = [_decode(column).type for column in columns]
    if all(types.is_integer(kind) or types.is_floating(kind) for kind in kinds):
        return False
    for kind in kinds:
        if not (is_text_type(kind) or types.is_integer(kind)):
            raise _type_error(kind)
    return True


def is_text_type(kind: Any) -> bool:
    """Return whether a type of Arrow is text."""
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or kind == pa.string_view())


def _type_error(kind: Any) -> InputError:
    return InputError(
        f"ids must be integers or strings, not {kind}; cast the column, or name others with source= and target=",
        argument="source",
    )


def _decode(column: Any) -> Any:
    """Return an Arrow column with the values of a dictionary instead of codes."""
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        return column
    # Not by a cast of the column, which not every pyarrow can do where the values are views of strings.
    chunks = column.chunks if hasattr(column, "chunks") else [column]
    kind = pa.large_string() if is_text_type(column.type.value_type) else column.type.value_type
    return pa.chunked_array([chunk.dictionary.cast(kind).take(chunk.indices) for chunk in chunks], type=kind)


def id_values(column: Any) -> NDArray[Any]:
    """Return numbers of an Arrow column; integers with nulls stay integers, masked, as floats would not hold them."""
    import pyarrow.types as types

    column = _decode(column)
    if not (types.is_integer(column.type) or types.is_floating(column.type)):
        raise _type_error(column.type)
    if not column.null_count or types.is_floating(column.type):
        return np.asarray(column.to_numpy(zero_copy_only=False))
    missing = column.is_null().to_numpy(zero_copy_only=False)
    return np.ma.masked_array(column.fill_null(0).to_numpy(zero_copy_only=False), mask=missing)


def number_strings(chunks: list[Any], records: int) -> tuple[NDArray[np.int32], NDArray[np.int32], Any]:
    """Return numbers of the ids of two columns, the second after ``records`` of the first, and the names in Arrow."""
    import pyarrow as pa

    every = [_number_chunk(chunk.cast(pa.large_string())) for chunk in chunks]
    rank, names = _number_chunk(pa.concat_arrays([pa.array([], pa.large_string()), *(names for _, names in every)]))
    ends, at = np.empty(sum(len(codes) for codes, _ in every), np.int32), 0
    for start, (codes, own) in zip(np.cumsum([0, *(len(own) for _, own in every)]).tolist(), every, strict=False):
        ranks = np.append(rank[start : start + len(own)], np.int32(-1))  # the last one is of null
        ends[at : at + len(codes)] = ranks[codes]
        at += len(codes)
    return ends[:records], ends[records:].copy(), names


def _number_chunk(strings: Any) -> tuple[NDArray[np.int32], Any]:
    """Return numbers of strings (large_string), -1 for null; and the distinct ones in the order of their bytes."""
    # By a kernel of our own: pyarrow's hash is the same in every process, so that names can be made to collide in it
    # (20,000 of them took six seconds).
    present = strings.drop_null() if strings.null_count else strings
    _, offsets, text = present.buffers()
    count, first = len(present), present.offset
    ends = np.frombuffer(offsets, np.int64, count + 1, 8 * first) if count else np.zeros(1, np.int64)
    data = np.zeros(0, np.uint8) if text is None else np.frombuffer(text, np.uint8)
    numbers, firsts = number_texts(data, ends)
    if strings.null_count:
        codes = np.full(len(strings), -1, np.int32)
        codes[strings.is_valid().to_numpy(zero_copy_only=False)] = numbers
    else:
        codes = numbers
    return codes, present.take(firsts)
