"""Text edge lists: one edge a record, with or without a header, split by blanks, tabs, commas, semicolons, bars or ::.

What the text means is found by `graphrefine.tables.sniff`; all of it is then parsed by a compiled kernel. Ids are
integers if every one is written as an integer is (7, -3; not 007, +7 or 1.0), else all are strings. Blanks around a
name are dropped, unless it is quoted, and counted as ``trimmed``. A field that is empty names no node: the other end of
that record becomes a node, and the record counts as ``missing``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import InputError
from graphrefine.graph.adjacency import check_weights
from graphrefine.graph.node_ids import Numbered, from_strings
from graphrefine.kernels import edge_lists
from graphrefine.kernels.edge_lists import PAIR, Columns, Marks, Parsed, Status
from graphrefine.readers.attributed_graph import parse_weight
from graphrefine.readers.formats import EdgeTable, MatrixTable, make_report
from graphrefine.readers.options import ReadOptions
from graphrefine.tables.decode import as_text, decode
from graphrefine.tables.dialect import DELIMITERS, QUOTE_PROBLEMS, QuoteError, split_head, split_records
from graphrefine.tables.header import check_counts, check_header
from graphrefine.tables.kinds import column_values, have_decimal_commas, is_number
from graphrefine.tables.roles import EdgeRoles, assign_edges
from graphrefine.tables.sample import Hints, Record, Sample
from graphrefine.tables.sniff import sniff
from graphrefine.tables.source import Source

LATIN = "text that is not UTF-8, read as Latin-1"
NO_RECORD = "there is no edge in the file, only blank lines or comments; pass comments='' if names begin with #"
PROBLEMS = {
    **QUOTE_PROBLEMS,
    Status.LINE_IN_NAME: "a name holds a line end; names must fit on one line",
    Status.LONE_RETURN: "a return (\\r) is within the line, and may end it or belong to a name; write line ends as "
    "\\n or \\r\\n, or put the name into quotes",
    Status.COMMENT_LIKE: "the line begins as a comment does: pass comments='#' if it is one (or comments='%'), "
    "comments='' if it is a name",
}
ARGUMENTS = {Status.OPEN_QUOTE: "quote", Status.AFTER_QUOTE: "quote", Status.COMMENT_LIKE: "comments"}
_ALL_INTEGERS = re.compile(rb"(?:0|-?[1-9][0-9]{0,18})(?:\n(?:0|-?[1-9][0-9]{0,18}))*")
_DECIMAL_COMMA = re.compile(rb"[+-]?[0-9]+(?:,[0-9]+)?")


@dataclass(frozen=True)
class Layout:
    """A text as the compiled parser takes it: its sample, the roles of its columns, and what its values are."""

    sample: Sample
    roles: EdgeRoles
    columns: Columns
    dates: bool  # times are dates, not numbers
    decimal_commas: bool  # of the weights

    @property
    def marks(self) -> Marks:
        """Delimiter, quote and comments."""
        return self.sample.dialect.marks

    def report(self, comments: int, encoding: str) -> dict[str, Any]:
        """Return the part of `Graph.report` about the text; ``comments``: lines of comment among the records."""
        dialect = self.sample.dialect
        notes = ["weights with decimal commas"] if self.decimal_commas else []
        notes += [LATIN] if encoding == "latin-1" else []
        return self.roles.report | make_report(
            delimiter=DELIMITERS.get(dialect.delimiter, repr(dialect.delimiter)),
            header=dialect.header,
            comments=comments + dialect.comments,
            encoding=encoding,
            notes=notes,
        )


def load(source: Source, options: ReadOptions) -> EdgeTable | MatrixTable:
    """Load a text edge list, comma- or tab-separated file; or an adjacency matrix with names in both directions."""
    data, encoding = decode(source, options.encoding)
    hints = options.hints
    sample = sniff(source, hints, data)
    if sample is None:
        raise source.error(NO_RECORD, argument="comments")
    if sample.is_matrix:
        split = split_head(data[sample.dialect.skip :], sample.dialect, whole=True)
        return _read_matrix([] if split is None else split.rows, is_bipartite=bool(options.bipartite))
    layout = find_layout(source, sample, hints)
    text = np.frombuffer(data, dtype=np.uint8)[sample.dialect.skip :]
    parsed = parse(source, text, layout, before=sample.dialect.line, threads=options.thread_count)
    directed = layout.roles.find_direction(partial(_distinct_values, text, layout), hints)
    del data, text
    if len(parsed.source) == 0:
        raise source.error("there is no edge in the file, only a header", argument="header")
    if options.header is None:
        check_counts(parsed, layout.columns[4])
    weights, times = parsed.weights, parsed.times
    numbered, encoding = _number(parsed, encoding, options)
    report = {**layout.report(parsed.comments, encoding), "trimmed": parsed.trimmed}
    if times is not None:
        from graphrefine.readers.times import use_times  # for tables with times alone

        numbered, weights = use_times(numbered, weights, times, options, report, dates=layout.dates)
    return EdgeTable(numbered, weights, report, directed=directed, sets=layout.roles.sets)


def find_layout(source: Source, sample: Sample, hints: Hints) -> Layout:
    """Return the layout of a text from its sample."""
    dialect, rows = sample.dialect, sample.rows
    try:
        roles = assign_edges(sample.columns, hints, sample.origin)
    except InputError as error:
        raise source.error(error, line=sample.line) from None
    first, second, weight, time = (-1 if at is None else at for at in roles.positions)
    width = len(dialect.names) if dialect.header else len(rows[0])
    dates = time >= 0 and not any(map(is_number, column_values(rows, time)))
    commas = weight >= 0 and dialect.delimiter != "," and have_decimal_commas(column_values(rows, weight))
    return Layout(sample, roles, (first, second, weight, time, width), dates, commas)


def parse(source: Source, text: NDArray[np.uint8], layout: Layout, *, before: int, threads: int) -> Parsed:
    """Parse whole records; ``before`` is the number of lines before them.

    Ids are narrow integers, else wide ones, else strings: whichever every id allows.
    """
    settings: dict[str, Any] = {"dates": layout.dates, "threads": threads}
    columns, marks, dialect = layout.columns, layout.marks, layout.sample.dialect
    if dialect.delimiter == PAIR and (data := text.tobytes()).count(b":") != 2 * data.count(b"::"):
        raise source.error("a single colon in a text whose columns are set apart by '::'", argument="delimiter")
    weights = None
    if layout.decimal_commas:
        weights = parse_decimal_commas(text, columns, marks, threads=threads)
        columns = (*columns[:2], -1, *columns[3:])
    # Narrow integers take half the memory of wide ones, so they are tried first. Strings come last: once one id is no
    # integer, all are names as they are written.
    parsed = edge_lists.parse_integers(text, columns, marks, wide=False, **settings)
    if parsed.status == Status.TOO_WIDE:
        parsed = edge_lists.parse_integers(text, columns, marks, wide=True, **settings)
    if parsed.status == Status.NOT_INTEGER:
        parsed = edge_lists.parse_strings(text, columns, marks, **settings)
    if weights is not None and parsed.status == Status.OK:
        parsed = weights if weights.status != Status.OK else parsed._replace(weights=weights.weights)
    if parsed.status != Status.OK:
        problem, argument = _describe_problem(parsed, text, layout)
        raise source.error(problem, line=before + parsed.line, argument=argument)
    names = b"\n%s\n" % parsed.names if dialect.header and parsed.names else b""
    nodes = [name for name in dialect.names if names and b"\n%s\n" % name.encode() in names]
    if nodes:
        check_header(source, parsed, dialect, columns[:2], nodes)
    return parsed


def parse_decimal_commas(text: NDArray[np.uint8], columns: Columns, marks: Marks, *, threads: int) -> Parsed:
    """Parse a column of weights with decimal commas, as spreadsheets write them; the other fields are of no use."""
    at = columns[2]
    parsed = edge_lists.parse_strings(text, (at, at, -1, -1, columns[4]), marks, dates=False, threads=threads)
    if parsed.status != Status.OK:
        return parsed
    texts = [*parsed.names.split(b"\n"), b""]  # the last one is that of an empty field
    matches = [_DECIMAL_COMMA.fullmatch(text) for text in texts]
    values = np.array([np.nan if match is None else float(match[0].replace(b",", b".")) for match in matches])
    wrong = np.flatnonzero(np.isnan(values[parsed.source]))
    if len(wrong):
        weight = texts[parsed.source[wrong[0]]].decode("latin-1")
        raise InputError(
            f"record {wrong[0] + 1}: weight {weight!r} is not a number with a decimal comma, as others are; "
            "weights=False reads the edges without weights",
            argument="weights",
        )
    return parsed._replace(weights=check_weights(values[parsed.source], len(parsed.source)))


def _distinct_values(text: NDArray[np.uint8], layout: Layout, at: int) -> list[str]:
    # The column is parsed as if both ends of edges were in it: the names are then its different values.
    columns = (at, at, -1, -1, layout.columns[4])
    parsed = edge_lists.parse_strings(text, columns, layout.marks, dates=False, threads=1)
    return as_text(parsed.names).split("\n")


def _number(parsed: Parsed, encoding: str | None, options: ReadOptions) -> tuple[Numbered, str]:
    if parsed.integers:
        return edge_lists.number_ids(parsed.source, parsed.target, threads=options.thread_count), encoding or "utf-8"
    values = whole_numbers(parsed.names)
    if values is not None:
        return _in_number_order(parsed, values), encoding or "utf-8"
    try:
        names, encoding = parsed.names.decode("utf-8"), encoding or "utf-8"
    except UnicodeDecodeError:
        names, encoding = parsed.names.decode("latin-1"), "latin-1"
    return (parsed.source, parsed.target, np.array(names.split("\n"), object)), encoding


def whole_numbers(names: bytes) -> NDArray[np.int64] | None:
    """Return names, a line each, as integers if all are, as those of a text with an empty field may be; else None."""
    if names and not _ALL_INTEGERS.fullmatch(names):
        return None
    values = [int(name) for name in names.split()]
    return np.array(values, dtype=np.int64) if all(-(2**63) <= value < 2**63 for value in values) else None


def _in_number_order(parsed: Parsed, names: NDArray[np.int64]) -> Numbered:
    order = np.argsort(names)
    rank = np.full(len(names) + 1, -1, dtype=np.int32)  # the last one is of -1: no node
    rank[order] = np.arange(len(names), dtype=np.int32)
    return rank[parsed.source], rank[parsed.target], names[order]


def _describe_problem(parsed: Parsed, text: NDArray[np.uint8], layout: Layout) -> tuple[str, str | None]:
    """Return the problem of the record at which the parser stopped, and the argument of the error."""
    status, dialect = Status(parsed.status), layout.sample.dialect
    record = as_text(text.tobytes().split(b"\n", parsed.line)[parsed.line - 1]).rstrip("\r")
    excerpt = repr(record if len(record) <= 60 else record[:57] + "...")
    if status in PROBLEMS:
        return f"{PROBLEMS[status]}: {excerpt}", ARGUMENTS.get(status)
    first, second, weight, time, most = layout.columns
    fields = _fields_of(record, layout)
    count = "is 1 column" if len(fields) == 1 else f"are {len(fields)} columns"
    split_by = f"split by {DELIMITERS.get(dialect.delimiter, repr(dialect.delimiter))}"
    if status == Status.FEW_COLUMNS:
        needed = max(first, second, weight, time) + 1
        return f"there {count} ({split_by}), where {needed} are needed: {excerpt}", None
    if status == Status.MANY_COLUMNS:
        return f"there {count} ({split_by}), where the first record has {most}: {excerpt}", None
    if status == Status.BAD_TIME:
        kind = "a date such as 2024-01-31 or 2024-01-31T12:30:00Z" if layout.dates else "a number"
        return f"time {fields[min(time, len(fields) - 1)]!r} is not {kind}, as the times before are", "time"
    value = fields[min(weight, len(fields) - 1)]
    try:
        parse_weight(value)
    except InputError as error:
        return str(error), "weights"
    return f"weight {value!r} is not written as a number is", "weights"  # but as Python does, such as 1_000


def _fields_of(record: str, layout: Layout) -> list[str]:
    try:
        return next((fields for *_, fields in split_records(record, layout.sample.dialect)), [record])
    except QuoteError:  # quotes over several lines, of which this is the first
        return record.split(layout.marks[0])


def _read_matrix(records: Sequence[Record], *, is_bipartite: bool) -> MatrixTable:
    """Return the matrix of all records of a labeled table, or of one with names of rows; an empty field is no edge."""
    first, *rest = records
    names, labels = first[1:], [record[0] if record else "" for record in rest]
    if labels != names and not is_bipartite:
        raise InputError(
            "the first column begins with the names in the header, as that of an adjacency matrix, but has "
            f"{len(rest)} names where the header has {len(names)}; pass source= and target= if it is a list of edges",
            argument="source",
        )
    try:
        values = [[float(each or 0) for each in record[1:]] for record in rest]
    except ValueError as error:
        raise InputError(f"an adjacency matrix holds numbers: {error}") from None
    if any(len(row) != len(names) for row in values) or len(set(labels)) < len(labels) or len(set(names)) < len(names):
        raise InputError("a matrix needs a name for each row and column, all of them different, and rows of one length")
    weights = np.array(values, dtype=np.float64).reshape(len(labels), len(names))
    columns = from_strings(names) if is_bipartite else None
    report = make_report(notes=["a matrix with names in its header and first column"])
    return MatrixTable(weights, report, from_strings(labels), column_names=columns)
