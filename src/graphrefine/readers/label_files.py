"""Files of labels: tables in text, parquet and arrow, mappings in JSON, vectors in npy, matrices in MATLAB files.

A file is parsed once. Which of its columns holds what can be decided later, when the names of the nodes are at hand.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from graphrefine.errors import InputError
from graphrefine.readers.formats import BY_SUFFIX
from graphrefine.readers.label_forms import arrow_entries, find_entries
from graphrefine.readers.label_tables import Known, LabelTable
from graphrefine.readers.label_values import Entries, LabelOptions, Membership, blame_file
from graphrefine.readers.limits import check_fields, check_stated
from graphrefine.readers.matrices import read_variable
from graphrefine.readers.npy import read_npy
from graphrefine.readers.small_records import Record, TextRecords, split_text
from graphrefine.readers.small_table import COMMENTS, count_columns
from graphrefine.readers.source import Source
from graphrefine.system import distinct_keys

NEEDS = "a node and a label are expected in each line"
BY_NUMBER = "row i is node i"
LONGEST = 18  # digits of an integer in JSON

Form = Callable[[Known], Entries | Membership]


def parse_file(source: Source, options: LabelOptions, variable: str) -> Form:
    """The labels of a file, as a function of the names that are known."""
    format = BY_SUFFIX.get(source.suffix)
    if format is not None and format.pieces == "table":
        return _parse_arrow(source, _for_columns(source, options))
    if source.suffix in (".json", ".jsonl", ".ndjson"):
        return _parse_json(source, _for_columns(source, options))
    if source.suffix in (".mat", ".npy"):
        if options != LabelOptions():
            raise source.error(_not_for(options, "a file of an array, which has no columns"))
        return _parse_mat(source, variable) if source.suffix == ".mat" else _parse_npy(source)
    return _parse_text(source, options)


def _for_columns(source: Source, options: LabelOptions) -> LabelOptions:
    """Options of a file whose columns always have names."""
    if options.header is not None:
        raise source.error(_not_for(LabelOptions(header=options.header), "a file whose columns always have names"))
    return options


def _not_for(options: LabelOptions, kind: str) -> InputError:
    name = next(name for name, value in vars(options).items() if value is not None)
    return InputError(f"{name}= is not for {kind}; leave it out", argument=name)


def _parse_text(source: Source, options: LabelOptions) -> Form:
    text = split_text(source, COMMENTS)
    records = list(text.records)
    if not records:
        raise source.error(f"nothing but comments, lines that begin with # or %; {NEEDS}")
    _check_widths(source, records)
    if len(records[0].fields) == 1:
        raise source.error(
            f"one column ({records[0].fields[0]!r}) where a node and a label are expected", line=records[0].line
        )
    columns = [list(column) for column in zip(*(record.fields for record in records), strict=True)]
    table = LabelTable(columns, blame=blame_file(source.name, [record.line for record in records]))
    comments = f"{len(text.comments)} line{'s' * (len(text.comments) > 1)} of comments" if text.comments else ""

    def choose(known: Known) -> Entries:
        _check_comments(source, text, known)
        return table.choose(options, known).with_manner(comments)

    return choose


def _check_comments(source: Source, text: TextRecords, known: Known) -> None:
    """Refuse a comment that is a record of a node called #news."""
    nodes = (comment.split(text.delimiter)[0].strip() for comment in text.comments)
    node = next((node for node in nodes if known and node in known), None)
    if node is not None:
        raise source.error(
            f"a line begins with {node!r}, as comments before the first record do, and there is a node of that name; "
            "put quotes around it"
        )


def _check_widths(source: Source, records: list[Record]) -> None:
    width = len(records[0].fields)
    for record in records:
        if len(record.fields) != width:
            problem = f"{count_columns(record.fields)} where the first line has {width}"
            raise source.error(problem, line=record.line)


def _parse_arrow(source: Source, options: LabelOptions) -> Form:
    from graphrefine.readers.arrow import read_arrow_table  # for an optional package

    table = read_arrow_table(source)
    return lambda known: _blamed(source, lambda: arrow_entries(table, options, known))


def _parse_json(source: Source, options: LabelOptions) -> Form:
    """A mapping from nodes to labels, or objects with the same names in each, as an array or one on each line."""
    lines, encoding = source.lines()
    text = b"\n".join(lines).decode(encoding)
    rows = [line for line in text.split("\n") if line.strip()]
    try:
        content = [_load(row) for row in rows] if source.suffix != ".json" else _load(text)
    except (ValueError, RecursionError) as error:
        raise source.error(f"this is not readable JSON: {error}") from None
    if isinstance(content, dict):
        if options != LabelOptions():
            raise source.error(_not_for(options, "a mapping from nodes to labels, which has no columns"))
        return lambda known: _blamed(source, lambda: find_entries(content, options, known))
    if not isinstance(content, list) or not content or not all(isinstance(row, dict) for row in content):
        raise source.error("a mapping from nodes to labels is expected, or objects with a node and a label in each")
    titles = list(content[0])
    try:
        check_fields(len(titles), "names in an object")
    except InputError as error:
        raise source.error(error) from None
    for place, row in enumerate(content, 1):
        if set(row) != set(titles):
            raise source.error(f"object {place} has the names {', '.join(row)} where the first has {', '.join(titles)}")
    columns = [[row[title] for row in content] for title in titles]
    return lambda known: LabelTable(columns, titles, blame=blame_file(source.name)).choose(options, known)


def _load(text: str) -> Any:
    return json.loads(text, object_pairs_hook=distinct_keys, parse_int=_as_label)


def _as_label(digits: str) -> int | str:
    """An integer, or its text where it is long: Python's hash of integers can be foreseen."""
    return int(digits) if len(digits) <= LONGEST else digits


def _parse_npy(source: Source) -> Form:
    try:
        array = read_npy(source.data)
    except ValueError as error:
        raise source.error(f"this is not a readable npy file: {error}") from None
    return lambda known: _blamed(source, lambda: find_entries(array, LabelOptions(), known))


def _parse_mat(source: Source, variable: str) -> Form:
    named = Source(source.path, needs=f"a matrix {variable!r} is expected, or a table (node, label)")
    matrix = read_variable(named, variable)
    try:
        check_stated(sum(matrix.shape), len(named.data), "rows and columns")
    except InputError as error:
        raise source.error(error) from None
    matrix = matrix.tocsc() if hasattr(matrix, "tocsc") else matrix
    manner = f"variable {variable!r}, {BY_NUMBER}"
    blame = partial(_blame_variable, source, variable)
    if not sp.issparse(matrix) and matrix.ndim == 2 and 1 in matrix.shape:
        return lambda known: Entries(_vector(matrix), None, manner, blame)
    return lambda known: Membership(matrix, manner=manner, blame=blame)


def _blame_variable(source: Source, variable: str, error: InputError, _: int | None) -> InputError:
    return source.error(f"variable {variable!r}: {error}")


def _vector(matrix: Any) -> list[Any]:
    """MATLAB has no vectors, and its texts are cells: one value a node."""
    return [value[0] if isinstance(value, np.ndarray) and value.shape == (1,) else value for value in matrix.ravel()]


def _blamed(source: Source, choose: Callable[[], Entries | Membership]) -> Entries | Membership:
    """The entries of a form in memory that comes from a file, whose errors name it."""
    blame = blame_file(source.name)
    try:
        form = choose()
    except InputError as error:
        text = str(error).removeprefix("labels: ")
        raise source.error(InputError(text, argument=error.argument)) from None
    return form.with_blame(blame)
