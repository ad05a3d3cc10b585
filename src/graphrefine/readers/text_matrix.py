"""Adjacency matrices in text, as pandas writes them: names in the first record and in the first column."""

from __future__ import annotations

import numpy as np

from graphrefine.errors import InputError
from graphrefine.graph.node_ids import from_strings
from graphrefine.readers.formats import MatrixTable
from graphrefine.readers.layout import Record, Sample, column_values, find_pair, is_number
from graphrefine.readers.options import ReadOptions
from graphrefine.readers.source import Source

LEAST = 4  # columns of a matrix; a narrower table has edges


def is_labeled(sample: Sample) -> bool:
    """Whether the first column of a table has the names that its first record has.

    Examples
    --------
    >>> records = [["", "a", "b", "c"], ["a", "0", "1", "1"], ["b", "1", "0", "0"], ["c", "1", "0", "0"]]
    >>> is_labeled(Sample(records, 0, 0, 1, 1, 0, (",", "", "", "")))
    True
    """
    first, *rest = sample.records
    names, labels = first[1:], [record[0] if record else "" for record in rest]
    width = len(first)
    if width < LEAST or len(rest) < LEAST - 1 or labels != names[: len(labels)] or len(set(names)) < len(names):
        return False
    return all(len(record) == width and all(not each or is_number(each) for each in record[1:]) for record in rest)


def has_row_names(sample: Sample) -> bool:
    """Whether the first column of a table of numbers names each row once.

    Examples
    --------
    >>> records = [["user", "x", "y", "z"], ["ann", "0", "1", "1"], ["bob", "1", "", "0"], ["cy", "1", "0", "0"]]
    >>> has_row_names(Sample(records, 0, 0, 1, 1, 0, (",", "", "", "")))
    True
    """
    first, *rest = sample.records
    labels = [record[0] if record else "" for record in rest]
    if len(first) < LEAST or len(rest) < 2 or len(set(labels)) < len(labels) or any(map(is_number, [*first, *labels])):
        return False
    return all(len(record) == len(first) and all(not each or is_number(each) for each in record[1:]) for record in rest)


def is_matrix(sample: Sample, options: ReadOptions) -> bool:
    """Whether a table is an adjacency matrix, by its names; not if the options name a column of edges."""
    columns = (options.source, options.target, options.time)
    if options.names_weights or any(column is not None for column in columns):
        return False
    return is_labeled(sample) or (options.bipartite and has_row_names(sample))


def refuse_matrix(source: Source, sample: Sample, data: bytes, options: ReadOptions) -> None:
    """Refuse a matrix where edges are read; and a table that may be either: as many records of numbers as columns."""
    first, *rest = sample.records
    lines = data.count(b"\n", sample.end) + (not data.endswith(b"\n"))
    if is_matrix(sample, options):
        raise source.error(
            "this is an adjacency matrix, which is not cut into pieces: all but ingest take it as it is; for a graph "
            "on disk write it as .mtx or .npz, or as edges (source, target, weight)"
        )
    if any(each is not None for each in (options.source, options.target, options.weights, options.time)):
        return
    if lines != len(first) or find_pair(first) or any(map(is_number, first)):
        return
    if all(all(map(is_number, column_values(rest, at))) for at in range(len(first))):
        problem = InputError(
            f"a table of {lines} x {lines} numbers can be an adjacency matrix or a list of edges: say source= and "
            "target= for edges; write the names of the rows into the first column for a matrix",
            argument="source",
        )
        raise source.error(problem)


def read_matrix(records: list[Record], *, bipartite: bool) -> MatrixTable:
    """The matrix of all records of a labeled table, or of one with names of rows; an empty field is no edge."""
    first, *rest = records
    names, labels = first[1:], [record[0] if record else "" for record in rest]
    if labels != names and not bipartite:
        raise InputError(
            "the first column begins with the names in the header, as that of an adjacency matrix, but has "
            f"{len(rest)} names where the header has {len(names)}; say source= and target= if it is a list of edges",
            argument="source",
        )
    try:
        values = [[float(each or 0) for each in record[1:]] for record in rest]
    except ValueError as error:
        raise InputError(f"an adjacency matrix holds numbers: {error}") from None
    if any(len(row) != len(names) for row in values) or len(set(labels)) < len(labels) or len(set(names)) < len(names):
        raise InputError("a matrix needs a name for each row and column, all of them different, and rows of one length")
    weights = np.array(values, dtype=np.float64).reshape(len(labels), len(names))
    columns = from_strings(names) if bipartite else None
    report = {"remarks": ["a matrix with names in its header and first column"]}
    return MatrixTable(weights, report, from_strings(labels), column_names=columns)
