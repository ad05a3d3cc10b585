"""Text edge lists: one edge a line, with or without a header, split by blanks, tabs, commas or semicolons.

Ids are integers if every one is written as an integer is (7, -3; not 007, +7 or 1.0), else all are strings.
Between tabs, blanks belong to a name; around names between commas or semicolons they are dropped. A field
that is empty names no node: the other end of that line becomes a node, and the line counts as ``missing``.
"""

from __future__ import annotations

import codecs
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import FormatError, InputError
from graphrefine.graph.node_ids import Numbered
from graphrefine.kernels import edge_lists
from graphrefine.kernels.edge_lists import Parsed, Status
from graphrefine.readers.formats import EdgeTable
from graphrefine.readers.layout import DELIMITERS, SAMPLE, Layout, decode, find_layout, split_line
from graphrefine.readers.options import ReadOptions
from graphrefine.readers.source import Source

_ALL_INTEGERS = re.compile(rb"(?:0|-?[1-9][0-9]{0,18})(?:\n(?:0|-?[1-9][0-9]{0,18}))*")


def load(source: Source, options: ReadOptions) -> EdgeTable:
    """Load a text edge list, comma- or tab-separated file."""
    data, encoding = _utf8(source, options.encoding)
    layout = find_layout(source, data, options)
    if layout is None:
        raise source.error("there is no edge in the file, only blank lines or comments")
    text = np.frombuffer(data, dtype=np.uint8)[layout.start :]
    parsed = parse(source, text, layout, before=layout.line, threads=options.thread_count)
    del data, text
    if len(parsed.source) == 0:
        raise source.error("there is no edge in the file, only a header")
    weights, comment_lines = parsed.weights, parsed.comments
    numbered, encoding = _number(parsed, encoding, options)
    return EdgeTable(numbered, weights, layout.report(comment_lines, encoding))


def parse(source: Source, text: NDArray[np.uint8], layout: Layout, *, before: int, threads: int) -> Parsed:
    """Parse whole lines; ``before`` is the number of lines before them.

    Ids are narrow integers, else wide ones, else strings: whichever every id allows.
    """
    marks: dict[str, Any] = {"delimiter": layout.delimiter, "comments": layout.comments, "threads": threads}
    parsed = edge_lists.parse_integers(text, layout.columns, wide=False, **marks)
    if parsed.status == Status.TOO_WIDE:
        parsed = edge_lists.parse_integers(text, layout.columns, wide=True, **marks)
    if parsed.status == Status.NOT_INTEGER:
        parsed = edge_lists.parse_strings(text, layout.columns, **marks)
    if parsed.status != Status.OK:
        raise _parse_error(source, parsed, text, before, layout)
    return parsed


def find_encoding(source: Source, head: bytes, encoding: str | None) -> str | None:
    """The encoding of the option, or that of the first bytes; None if the text may be UTF-8 or Latin-1."""
    if encoding is None:
        if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            return "utf-16"
        if b"\0" in head[:SAMPLE]:
            raise source.error(
                "this looks like a binary file, not text; say format= if it is a known one", argument="format"
            )
        return None
    try:
        " ".encode(encoding)  # some codecs are not of text
        return codecs.lookup(encoding).name
    except LookupError:
        raise InputError(
            f"there is no encoding {encoding!r}; try utf-8, latin-1 or cp1252", argument="encoding"
        ) from None


def _utf8(source: Source, option: str | None) -> tuple[bytes, str | None]:
    """The text as UTF-8, or as it is where it may be UTF-8 or Latin-1; and its encoding, None if unknown."""
    data = source.data
    source.release()
    encoding = find_encoding(source, data, option)
    if encoding is None:
        return data.removeprefix(codecs.BOM_UTF8), None
    try:
        return data.decode(encoding).removeprefix("\ufeff").encode("utf-8"), encoding
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        problem = f"the text is not {option or encoding}: {error.reason}"
        raise source.error(problem, line=line, argument="encoding") from None


def _number(parsed: Parsed, encoding: str | None, options: ReadOptions) -> tuple[Numbered, str]:
    if not parsed.names:  # integers
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
    if not _ALL_INTEGERS.fullmatch(names):
        return None
    values = [int(name) for name in names.split(b"\n")]
    return np.array(values, dtype=np.int64) if all(-(2**63) <= value < 2**63 for value in values) else None


def _in_number_order(parsed: Parsed, names: NDArray[np.int64]) -> Numbered:
    order = np.argsort(names)
    rank = np.full(len(names) + 1, -1, dtype=np.int32)  # the last one stands for -1: no node
    rank[order] = np.arange(len(names), dtype=np.int32)
    return rank[parsed.source], rank[parsed.target], names[order]


def _parse_error(source: Source, parsed: Parsed, text: NDArray[np.uint8], before: int, layout: Layout) -> FormatError:
    """The error for the line at which a parser stopped."""
    first, second, weight, most = layout.columns
    line = text.tobytes().split(b"\n", parsed.line)[parsed.line - 1].removesuffix(b"\r")
    fields = [decode(field) for field in split_line(line, layout.delimiter.encode())]
    split_by = f"split by {DELIMITERS[layout.delimiter]}"
    argument = None
    if parsed.status == Status.FEW_COLUMNS:
        needed = max(first, second, weight) + 1
        problem = f"there {_are(len(fields))} ({split_by}), where {needed} are needed: {_excerpt(line)}"
    elif parsed.status == Status.MANY_COLUMNS:
        problem = f"there {_are(len(fields))} ({split_by}), where the first record has {most}: {_excerpt(line)}"
    else:
        problem = f"weight {fields[weight].strip()!r} {_weight_problem(fields[weight].strip())}"
        argument = "weights"
    return source.error(problem, line=before + parsed.line, argument=argument)


def _are(count: int) -> str:
    return "is 1 column" if count == 1 else f"are {count} columns"


def _excerpt(line: bytes) -> str:
    text = decode(line)
    return repr(text if len(text) <= 60 else text[:57] + "...")


def _weight_problem(text: str) -> str:
    try:
        value = float(text)
    except ValueError:
        return "is not a number; weights=False reads the edges without weights"
    if value < 0:
        return "is negative; weights must be positive (0: no edge)"
    return "is not a finite float32 number"
