"""Records of small text tables: delimiters, quotes, comments; by the rules of RFC 4180, with blanks as a delimiter too.

A field in quotes may hold delimiters, line ends and, doubled, quotes; a quote within a field that does not begin with
one is a character. Blanks around a field drop, unless they are in quotes. Blank lines drop; lines that begin with # or
% drop before the first record only, so that a node may be called #news.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from graphrefine.readers.source import Source, find_separator, refuse_page

SAMPLE = 100  # records that a delimiter must split alike, of the first characters
HEAD = 1 << 16
BLANKS = " "
_LINE_END = re.compile(r"\r\n|\n|\r")
_BLANK = re.compile(r"[ \t]+")
_NAMES = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars", BLANKS: "blanks"}


class Record(NamedTuple):
    """The fields of a record, and the line on which it begins, from 1; None where a file has no lines."""

    line: int | None
    fields: list[str]


class TextRecords(NamedTuple):
    """The records of a text, what stands between their fields, and the comments before them."""

    records: Iterator[Record]
    delimiter: str
    comments: list[str]


def split_text(source: Source, comments: str) -> TextRecords:
    """The records of a text file; ``comments`` are the characters that begin a comment before the first record."""
    lines, encoding = source.lines()
    data = b"\n".join(lines)
    refuse_page(source, data)
    size, named = find_separator(data)
    text = data[size:].decode(encoding)
    start, line, preamble = _skip_preamble(text, comments, 1 + data.count(b"\n", 0, size))
    delimiter = named or _find_delimiter(source, text, start, line)
    return TextRecords(_split(source, text, start, line, delimiter), delimiter, preamble)


def _skip_preamble(text: str, comments: str, line: int) -> tuple[int, int, list[str]]:
    """Position and line of the first record, and the comments before it; the text begins on ``line``."""
    at, preamble = 0, []
    while at < len(text):
        end = _LINE_END.search(text, at)
        bare = text[at : end.start() if end else len(text)].strip(" \t")
        if bare and bare[0] not in comments:
            break
        preamble += [bare] if bare else []
        at, line = end.end() if end else len(text), line + 1
    return at, line, preamble


def _find_delimiter(source: Source, text: str, start: int, line: int) -> str:
    """The one that splits all records of a sample into as many fields, two at least; else one that the first has."""
    marks = _candidates(source.suffix)
    fitting = [mark for mark in marks if _fits(source, text, start, line, mark)]
    if len(clean := [mark for mark in fitting if not _cuts_quotes(text, start, mark)]) == 1:
        fitting = clean
    if {",", ";"} <= set(fitting) and fitting[0] != "\t":
        readings = " or ".join(
            f"{_NAMES[mark]}: {next(_split(source, text, start, line, mark)).fields!r}" for mark in (",", ";")
        )
        raise source.error(
            f"the fields may lie between {readings}; put quotes around fields that hold one of them", line=line
        )
    head = text[start : start + 10_000]
    head = head[: end.start()] if (end := _LINE_END.search(head)) else head
    return next(iter(fitting), next((mark for mark in marks if mark in head), marks[0]))


def _candidates(suffix: str) -> str:
    if suffix in (".tsv", ".tab"):
        return "\t"
    return ",;\t|" if suffix == ".csv" else "\t,;| "


def _fits(source: Source, text: str, start: int, line: int, delimiter: str) -> bool:
    if len(text) > start + HEAD and (end := max(text.rfind(mark, start, start + HEAD) for mark in "\n\r")) > start:
        text = text[:end]  # whole lines; a quoted field that is cut is left out with its record
    sample = islice(_split(source, text, start, line, delimiter, strict=False), SAMPLE)
    widths = {len(record.fields) for record in sample}
    return len(widths) == 1 and widths.pop() > 1


def _cuts_quotes(text: str, start: int, delimiter: str) -> bool:
    """Whether quotes stand within fields, as those around fields do where another delimiter is meant."""
    fields = islice(_field_pattern(delimiter).finditer(text, start), SAMPLE)
    return '"' in text and any('"' in (match["plain"] or "") for match in fields)


def _split(
    source: Source, text: str, start: int, line: int, delimiter: str, *, strict: bool = True
) -> Iterator[Record]:
    if delimiter == BLANKS or '"' not in text:
        yield from _split_plain(text, start, line, delimiter)
        return
    field, fields = _field_pattern(delimiter), list[str]()
    first, at = line, start
    while at < len(text):
        match = field.match(text, at)
        if match is None or (match["quoted"] is not None and not match["closed"]):
            if strict:
                raise source.error(_quote_problem(match is None), line=line)
            return
        plain = match["plain"]
        fields.append(match["quoted"].replace('""', '"') if plain is None else plain.strip(" \t"))
        line += len(_LINE_END.findall(match[0]))
        at = match.end()
        if match["end"] != delimiter or at == len(text):
            if match["end"] == delimiter:
                fields.append("")  # after a delimiter at the very end
            if len(fields) > 1 or fields[0] or plain is None:
                yield Record(first, fields)
            fields, first = [], line


def _field_pattern(delimiter: str) -> re.Pattern[str]:
    mark, blanks = re.escape(delimiter), "[ \t]*+".replace(delimiter, "")
    quoted = rf'{blanks}"(?P<quoted>[^"]*+(?:""[^"]*+)*+)(?P<closed>"?+){blanks}'
    plain = rf'(?!{blanks}")(?P<plain>[^{mark}\r\n]*+)'
    return re.compile(rf"(?:{quoted}|{plain})(?P<end>{mark}|\r\n|\n|\r|\Z)")


def _quote_problem(followed: bool) -> str:
    way_out = "double the quotes within a field, and put quotes around the whole of it"
    if followed:
        return f"something stands after the quote that ends a field; {way_out}"
    return f"a quote is opened, and none closes it before the end of the file; {way_out}"


def _split_plain(text: str, start: int, line: int, delimiter: str) -> Iterator[Record]:
    """Records of a text without quotes, or of words with blanks between."""
    for number, content in enumerate(_LINE_END.split(text[start:]), start=line):
        bare = content.strip(" \t")
        if not bare:
            continue
        if delimiter == BLANKS:
            yield Record(number, _BLANK.split(bare))
        else:
            yield Record(number, [field.strip(" \t") for field in content.split(delimiter)])
