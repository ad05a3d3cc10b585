"""Text edge lists: one edge a record, with or without a header, split by blanks, tabs, commas, semicolons, bars or ::.

Ids are integers if every one is written as an integer is (7, -3; not 007, +7 or 1.0), else all are strings. Blanks
around a name are dropped, unless it is quoted, and counted as ``trimmed``. A field that is empty names no node: the
other end of that record becomes a node, and the record counts as ``missing``.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import FormatError, InputError
from graphrefine.graph.node_ids import Numbered
from graphrefine.kernels import edge_lists
from graphrefine.kernels.edge_lists import PAIR, Marks, Parsed, Status, single
from graphrefine.readers.formats import EdgeTable, MatrixTable
from graphrefine.readers.layout import (
    BLANKS,
    DELIMITERS,
    SAMPLE,
    SIGNS,
    Layout,
    Record,
    Sample,
    Split,
    column_values,
    decode,
    find_layout,
    find_pair,
    is_amount,
    is_number,
)
from graphrefine.readers.limits import COLUMNS, check_columns
from graphrefine.readers.options import ReadOptions, are_counted
from graphrefine.readers.source import Source, find_separator, read_text, refuse_page

FEW = 4  # records by which one column of numbers is no proof of a header
_CHARACTER = re.compile(rb"\S")
_ALL_INTEGERS = re.compile(rb"(?:0|-?[1-9][0-9]{0,18})(?:\n(?:0|-?[1-9][0-9]{0,18}))*")


def load(source: Source, options: ReadOptions) -> EdgeTable | MatrixTable:
    """Load a text edge list, comma- or tab-separated file."""
    data, encoding = read_text(source, options.encoding)
    sample = take_sample(source, data, options)
    if sample is not None and len(sample.records[0]) > 3 and options.source is None:
        from graphrefine.readers.text_matrix import is_matrix, read_matrix  # for wide tables alone

        if is_matrix(sample, options):
            split = split_records(data[sample.start :], sample.marks, whole=True)
            return read_matrix([] if split is None else split[0], bipartite=bool(options.bipartite))
    layout = None if sample is None else find_text_layout(source, data, options, sample=sample)
    if layout is None:
        raise source.error(NO_RECORD, argument="comments")
    text = np.frombuffer(data, dtype=np.uint8)[layout.start :]
    parsed = parse(source, text, layout, before=layout.line, threads=options.thread_count)
    directed = None
    if layout.dialect is not None:
        directed = layout.dialect.find_direction(text, layout.columns, layout.marks, options)
    del data, text
    if len(parsed.source) == 0:
        raise source.error("there is no edge in the file, only a header", argument="header")
    if options.header is None and parsed.integers and parsed.target[0] == len(parsed.target) - 1:
        from graphrefine.readers.header import check_counts  # as the first edge may tell their number

        check_counts(parsed, layout)
    weights, times = parsed.weights, parsed.times
    numbered, encoding = _number(parsed, encoding, options)
    report = {**layout.report(parsed.comments, encoding), "trimmed": parsed.trimmed}
    if times is not None:
        from graphrefine.readers.times import use_times  # for tables with times alone

        numbered, weights = use_times(numbered, weights, times, options, report, dates=layout.dates)
    if layout.dialect is not None:
        layout.dialect.check_spaces(numbered, options)
    return EdgeTable(numbered, weights, report, directed=None if options.bipartite else directed)


NO_RECORD = (
    "there is no edge in the file, only blank lines or comments; comments='' takes lines that begin with # for edges"
)


def find_text_layout(
    source: Source,
    data: bytes,
    options: ReadOptions,
    *,
    like: Layout | None = None,
    complete: bool = True,
    sample: Sample | None = None,
) -> Layout | None:
    """The layout of a text; None if there is no record in it. ``complete``: the text does not go on after ``data``."""
    sample = sample or take_sample(source, data, options, complete=complete)
    if sample is None:
        return None
    if len(sample.records[0]) > 3:
        from graphrefine.readers.text_matrix import refuse_matrix  # as above

        refuse_matrix(source, sample, data, options)
    if like is not None and like.names == tuple(sample.records[0]) and options.header is None:
        options = replace(options, header=True)
    header, doubtful = _find_header(source, data, sample, options)
    return replace(find_layout(source, sample, header, options, like=like), doubtful=doubtful)


def _find_header(source: Source, data: bytes, sample: Sample, options: ReadOptions) -> tuple[bool, tuple[str, ...]]:
    """Whether the first record names the columns; and its names, if nothing but their absence below says so."""
    columns = (options.source, options.target, options.weights, options.time)
    if options.header is not None:
        return options.header, ()
    if any(isinstance(column, str) and not column.isdecimal() for column in columns):
        return True, ()
    first, rest = sample.records[0], sample.records[1:]
    if any(map(is_number, first)):  # columns are not called 7 or 0.5, but by pandas, beside its index
        rows = list(map(str, range(len(rest))))
        return are_counted(first) and len(rest) > 1 and column_values(rest, 0) == rows, ()
    test = is_number if sample.marks[0] == "," else is_amount
    typed = [
        bool(name) and bool(below) and all(map(test, below))
        for name, below in ((name, column_values(rest, at)) for at, name in enumerate(first))
    ]
    sure = sum(typed) > 1 or (any(typed) and (len(rest) > FEW or len(first) > 2))
    if sure and {*filter(None, first)}.isdisjoint(name for record in rest for name in record):
        return True, ()
    from graphrefine.readers.header import HEAD, find_header, header_problem  # where types of columns do not decide

    header = (
        None if sure else find_header(sample.records, data[sample.end : sample.end + HEAD + 1], sample.marks, options)
    )
    if header is None:
        raise source.error(header_problem(first), line=sample.line, argument="header")
    return header, tuple(first) if header and find_pair(first) is None else ()


def parse(source: Source, text: NDArray[np.uint8], layout: Layout, *, before: int, threads: int) -> Parsed:
    """Parse whole records; ``before`` is the number of lines before them.

    Ids are narrow integers, else wide ones, else strings: whichever every id allows.
    """
    settings: dict[str, Any] = {"dates": layout.dates, "threads": threads}
    columns, marks = layout.columns, layout.marks
    if layout.delimiter == PAIR and (data := text.tobytes()).count(b":") != 2 * data.count(b"::"):
        raise source.error("a colon stands alone in a text whose columns are set apart by '::'", argument="delimiter")
    weights = None
    if layout.decimal_commas:
        from graphrefine.readers.decimal_commas import parse_weights  # for such weights alone

        weights = parse_weights(text, columns, marks, threads=threads)
        columns = (*columns[:2], -1, *columns[3:])
    parsed = edge_lists.parse_integers(text, columns, marks, wide=False, **settings)
    if parsed.status == Status.TOO_WIDE:
        parsed = edge_lists.parse_integers(text, columns, marks, wide=True, **settings)
    if parsed.status == Status.NOT_INTEGER:
        parsed = edge_lists.parse_strings(text, columns, marks, **settings)
    if weights is not None and parsed.status == Status.OK:
        parsed = weights if weights.status != Status.OK else parsed._replace(weights=weights.weights)
    if parsed.status != Status.OK:
        raise _parse_error(source, parsed, text, before, layout)
    names = b"\n%s\n" % parsed.names if layout.header and parsed.names else b""
    nodes = [name for name in layout.names if names and b"\n%s\n" % name.encode() in names]
    if nodes:
        from graphrefine.readers.header import check_header  # as nodes are called as columns are

        check_header(source, parsed, layout, nodes)
    return parsed


def take_sample(source: Source, data: bytes, options: ReadOptions, *, complete: bool = True) -> Sample | None:
    """The first records, split by the delimiter that fits them; None if there is none."""
    _check_marks(options)
    signs = SIGNS if options.comments is None else options.comments
    tabs = options.delimiter == "\t" or source.suffix in (".tsv", ".tab")
    refuse_page(source, data)
    start, delimiter = find_separator(data)
    options = options if options.delimiter or not delimiter else replace(options, delimiter=delimiter)
    if delimiter and delimiter == options.quote:
        problem = f"the first line says that {delimiter!r} is the delimiter; it cannot be the quote too"
        raise source.error(problem, line=1, argument="quote")
    named = re.escape((options.delimiter or "").encode())
    cells = rb"(?:" + named + rb")*" if named else rb"(?:,+|;+|\|+)?"
    start, comments = _skip_comments(data, start, signs, b" " if tabs else b" \t", cells)
    if not _CHARACTER.search(data, start):  # if every line begins with a sign that belongs to a name, none is a comment
        names = options.comments is None and re.fullmatch(rb"(?:[ \t]*(?:[#%][^ \t\r\n#%][^\n]*)?\r?(?:\n|\Z))+", data)
        if not (names and complete):
            return None
        start, comments, signs = len(data) - len(data.lstrip(b" \t\r\n")), 0, ""
    suspects = signs if options.comments is None else ""
    marks = ("", options.quote, "" if options.comments is None else signs, suspects)
    size = SAMPLE
    while True:
        head = data[start : start + size]
        whole = complete and start + size >= len(data)
        splits = _split_sample(source, head, marks, options, whole=whole)
        if start + size >= len(data) or (splits is not None and len(splits[1][0]) > 1):
            break
        size *= 4
    if splits is None:
        return None  # the first record goes on after what there is
    delimiter, (records, end, bad_quote) = splits
    check_columns(len(records[0]))
    line = data.count(b"\n", 0, start) + 1
    if bad_quote is not None:
        from graphrefine.readers.record_errors import PROBLEMS  # as there is one

        raise source.error(PROBLEMS[bad_quote[0]], line=line + head.count(b"\n", 0, bad_quote[1]), argument="quote")
    lines = data.count(b"\n", start, start + end)
    marks = (delimiter, *marks[1:])
    sample = Sample(records, start, start + end, line, lines, comments, marks, data[: min(start, 1000)])
    _check_hashtags(source, data[:start], sample, options)
    return sample


def _check_marks(options: ReadOptions) -> None:
    quote, delimiter = options.quote, options.delimiter
    if len(quote.encode()) > 1 or quote.isalnum() or quote in ("\n", "\r", " ", "\t"):
        raise InputError(f"quote={quote!r} must be one character, or '' for none", argument="quote")
    if delimiter not in (None, PAIR) and (
        len(delimiter.encode()) != 1 or delimiter.isalnum() or delimiter in ("\n", "\r", quote)
    ):
        allowed = ", ".join(f"{key!r} ({name})" for key, name in DELIMITERS.items())
        raise InputError(
            f"delimiter={delimiter!r} must be one character: one of {allowed}, '::', or another that is no "
            "letter and no digit",
            argument="delimiter",
        )


def _skip_comments(data: bytes, at: int, signs: str, blanks: bytes, cells: bytes) -> tuple[int, int]:
    """The end of blank lines, empty ``cells`` and comments before the first record, and the number of comments."""
    comment = rb"[" + blanks + rb"]*[" + re.escape(signs.encode()) + rb"][^\n]*(?:\n|\Z)" if signs else rb"(?!)"
    pattern, comments = re.compile(rb"(" + comment + rb")|[ \t]*" + cells + rb"[ \t]*\r?(?:\n|\Z)"), 0
    while at < len(data) and (match := pattern.match(data, at)) and match.end() > at:
        at, comments = match.end(), comments + (match[1] is not None)
    return at, comments


def _check_hashtags(source: Source, preamble: bytes, sample: Sample, options: ReadOptions) -> None:
    """Refuse a text whose first lines may be comments or edges of names such as #tag, as later ones are."""
    records = sample.records
    if options.comments is not None or not any(record[:1] and record[0][:1] in ("#", "%") for record in records):
        return
    for number, line in enumerate(preamble.split(b"\n"), start=1):
        name = re.match(rb"[ \t]*[#%][^ \t#%\r]", line)
        split = split_records(line, sample.marks, whole=True) if name else None
        if split is not None and len(split[0][0]) == len(records[0]):
            raise source.error(
                "this line can be a comment, or an edge, as names below begin like a comment too: say comments='#' or "
                "comments=''",
                line=number,
                argument="comments",
            )


def _split_sample(
    source: Source, head: bytes, marks: Marks, options: ReadOptions, *, whole: bool
) -> tuple[str, Split] | None:
    """The delimiter and the records that it makes; None if no record is whole."""
    if options.delimiter is not None:
        split = split_records(head, (options.delimiter, *marks[1:]), whole=whole)
        return None if split is None else (options.delimiter, split)
    splits: dict[str, Split] = {}
    for candidate in DELIMITERS:
        if candidate != options.quote and (candidate == " " or candidate.encode() in head):
            split = split_records(head, (candidate, *marks[1:]), whole=whole)
            if split is None:
                return None
            splits[candidate] = split
    pairs = b"::" in head and options.quote != ":"
    if pairs and not any(len(row) > 1 for split in splits.values() for row in split[0]):
        split = split_records(head, (PAIR, *marks[1:]), whole=whole)
        if split is not None and len(split[0][0]) > 2:  # two parts may be a name, as fe80::1 is
            return PAIR, split
    # What stands after a quote may be a delimiter in another reading.
    sound = {key: split[0] for key, split in splits.items() if split[2] is None or split[2][0] != Status.AFTER_QUOTE}
    if not any(key != " " and all(len(row) > 1 for row in rows) for key, rows in sound.items()):
        sound = {key: split[0] for key, split in splits.items()}
    delimiter = _choose_delimiter(source, sound, aligned=b"\t\t" in head and _is_aligned(sound.get("\t", [])))
    return delimiter, splits[delimiter]


def _choose_delimiter(source: Source, readings: dict[str, list[Record]], *, aligned: bool) -> str:
    """The delimiter that splits all records into the same number of columns, at least two; ``aligned``: not tabs."""
    even = [key for key, rows in readings.items() if len({len(row) for row in rows}) == 1 and len(rows[0]) > 1]
    marks = [key for key in even if key != " " and not (key == "\t" and aligned)]
    if "\t" in marks:
        return "\t"
    if "," in marks and ";" not in marks and source.suffix == ".csv":
        return ","
    rivals = marks
    if len(marks) == 1 and " " in even and source.suffix != ".csv" and _holds_words(readings[marks[0]]):
        rivals = [marks[0], " "]
    if len(rivals) > 1:
        from graphrefine.readers.record_errors import rival_error  # as there is one

        raise rival_error(source, rivals, readings)
    if rivals:
        return rivals[0]
    # Records of several lengths: the first decides, and a later one is then refused by its own line.
    preferred = [","] if source.suffix == ".csv" else []
    order = [key for key in [*preferred, *readings] if key in readings and key != " "]
    in_all = [key for key in order if all(len(row) > 1 for row in readings[key])]
    in_all = [key for key in in_all if not (key == "\t" and aligned)]
    if in_all:
        return in_all[0]
    if len(readings.get(" ", [[]])[0]) > 1 and source.suffix != ".csv":
        return " "
    return next((key for key in order if len(readings[key][0]) > 1), " ")


def _is_aligned(rows: list[Record]) -> bool:
    """Whether tabs stand in runs, to align columns: then they are blanks."""
    return 2 * sum(len(row) > 2 and not row[1] and bool(row[2]) for row in rows) > len(rows)


def _holds_words(rows: list[Record]) -> bool:
    """Whether there is a blank within some field of each row."""
    return all(any(" " in field or "\t" in field for field in row) for row in rows)


def split_records(head: bytes, marks: Marks, *, whole: bool) -> Split | None:
    """The records of the beginning of a text; None if it has no whole record.

    ``whole``: the text ends there. Blanks around fields, comment lines and blank lines are left out.
    """
    if marks[0] == PAIR:
        pairs = split_records(head, single(marks), whole=whole)
        return None if pairs is None else ([record[::2] for record in pairs[0]], *pairs[1:])
    if marks[1] and marks[1].encode() in head:
        from graphrefine.readers.quoted_sample import split_quoted  # for texts with quotes alone

        return split_quoted(head, marks, whole=whole)
    lines = head.split(b"\n") if whole else head.split(b"\n")[:-1]
    records: list[Record] = []
    first = 0
    for line in lines:
        bare = line.strip(b" \t\r")
        first += 0 if records else len(line) + 1
        sign = decode(line.lstrip(b" " if marks[0] == "\t" else b" \t")[:1])
        if bare and not (sign and sign in marks[2]):
            text = decode(line.removesuffix(b"\r"))
            fields = text.split(None if marks[0] == " " else marks[0], COLUMNS)  # one more are too many
            records.append([field.strip(BLANKS) for field in fields])
    return (records, min(first, len(head)), None) if records else None


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
    r"""Names, a line each, as integers if all of them are; else None. Integers beside an empty field come here.

    Examples
    --------
    >>> whole_numbers(b"7\n-1"), whole_numbers(b"7\nx")
    (array([ 7, -1]), None)
    """
    if names and not _ALL_INTEGERS.fullmatch(names):
        return None
    values = [int(name) for name in names.split()]
    return np.array(values, dtype=np.int64) if all(-(2**63) <= value < 2**63 for value in values) else None


def _in_number_order(parsed: Parsed, names: NDArray[np.int64]) -> Numbered:
    order = np.argsort(names)
    rank = np.full(len(names) + 1, -1, dtype=np.int32)  # the last one stands for -1: no node
    rank[order] = np.arange(len(names), dtype=np.int32)
    return rank[parsed.source], rank[parsed.target], names[order]


def _parse_error(source: Source, parsed: Parsed, text: NDArray[np.uint8], before: int, layout: Layout) -> FormatError:
    """The error for the record at which a parser stopped."""
    from graphrefine.readers.record_errors import describe_problem  # when there is one

    problem, argument = describe_problem(parsed, text, layout)
    return source.error(problem, line=before + parsed.line, argument=argument)
