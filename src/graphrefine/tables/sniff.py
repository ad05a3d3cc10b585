"""The driver of the five steps, for text of any size; and the rows of small tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from graphrefine.errors import InputError
from graphrefine.tables.decode import decode
from graphrefine.tables.dialect import detect_dialect
from graphrefine.tables.header import detect_header
from graphrefine.tables.hints import Hints
from graphrefine.tables.origin import apply_origin
from graphrefine.tables.roles import EdgeRoles, assign_edges
from graphrefine.tables.sample import Column, Sample, make_columns
from graphrefine.tables.source import Source


def sniff(source: Source, hints: Hints, data: bytes | None = None, *, complete: bool = True) -> Sample | None:
    """Return the dialect, the columns and the first records of a text of edges; None if it has no record.

    Parameters
    ----------
    source : Source
        File, for its suffix and for errors.
    hints : Hints
        What the caller says.
    data : bytes, optional
        Text in UTF-8 or Latin-1, or its beginning; by default that of the file.
    complete : bool
        Whether the text does not go on after ``data``.
    """
    if data is None:
        data, _ = decode(source, hints.encoding)  # 1
    sample = detect_dialect(source, data, hints, complete=complete)  # 2
    if sample is None:
        return None
    sample = detect_header(source, data, sample, hints)  # 4, by the kinds of the values (3)
    if sample.is_matrix:
        return sample
    names = sample.dialect.names if sample.dialect.header else None
    columns = make_columns(sample.rows, names, len(names or sample.rows[0]), sample.dialect.delimiter)  # 3
    try:
        origin = apply_origin(columns, hints, preamble=sample.preamble, are_named=names is not None)  # 5
    except InputError as error:
        raise source.error(error, line=sample.line) from None
    return replace(sample, columns=columns, origin=origin)


def find_edges(
    names: Sequence[str] | None, numeric: Sequence[bool], values: Callable[[int], Sequence[Any]], hints: Hints
) -> EdgeRoles:
    """Find the columns of the edges in a table that enters at the third step: its columns have types.

    ``values`` returns a sample of the values of a column.
    """

    def make(at: int) -> Column:
        return Column(None if names is None else names[at], at, lambda: values(at), is_numeric=numeric[at])

    columns = [make(at) for at in range(len(numeric))]
    origin = apply_origin(columns, hints, are_named=names is not None)
    return assign_edges(columns, hints, origin)
