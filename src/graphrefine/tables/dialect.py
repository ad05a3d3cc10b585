"""Step 2, dialect: delimiter, quotes and comments of a text, and the first records that they make.

A text that two delimiters split equally well is refused. Within a record the rules are those of RFC 4180, with blanks
as a delimiter too: a field in quotes may hold delimiters, line ends and, doubled, quotes; any other quote is a
character. Blanks around a field drop.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from graphrefine.errors import AmbiguousTable, InputError
from graphrefine.kernels.edge_lists import PAIR, Status
from graphrefine.tables.decode import as_text, refuse_page
from graphrefine.tables.sample import Dialect, Hints, Record, Sample
from graphrefine.tables.source import COLUMNS, Source

DELIMITERS = {"\t": "tab", ",": "comma", ";": "semicolon", "|": "bar", " ": "blanks"}
SIGNS = "#%"  # of comment lines
HEAD = 1 << 15  # bytes from which the dialect is detected
BLANKS = " \t"
LONGEST = 1 << 26  # bytes of one record: a quoted field that is longer is not waited for
QUOTE_PROBLEMS = {
    Status.OPEN_QUOTE: "a quote is opened and never closed; close it, or pass quote='' if quotes are ordinary "
    "characters",
    Status.AFTER_QUOTE: "characters follow the quote that closes a field, before the next delimiter; double a quote "
    "within a field, or pass quote='' if quotes are ordinary characters",
}
_CHARACTER = re.compile(rb"\S")
# The first line of Excel's files may name the delimiter: sep=;
_SEPARATOR = re.compile(rb'[ \t]*"?sep=([^\w\r\n"]|\t)"?[ \t]*[,;]*\r?\n', re.IGNORECASE)
_NAMES_ALONE = re.compile(rb"(?:[ \t]*(?:[#%][^ \t\r\n#%][^\n]*)?\r?(?:\n|\Z))+")


class QuoteError(ValueError):
    """A quote that is never closed, or characters after one that closes a field."""

    def __init__(self, status: Status, line: int) -> None:
        super().__init__(QUOTE_PROBLEMS[status])
        self.status, self.line = status, line


class Split(NamedTuple):
    """The first records of a text, the lines that the first takes, and the first bad quote."""

    rows: list[Record]
    lines: int
    problem: QuoteError | None


def detect_dialect(source: Source, data: bytes, hints: Hints, *, complete: bool = True) -> Sample | None:
    """Return the first records of a text, or of its beginning, split by the delimiter that fits; None without any."""
    refuse_page(source, data)
    start = 0
    if match := _SEPARATOR.match(data):
        start = match.end()
        hints = replace(hints, delimiter=hints.delimiter or match[1].decode("latin-1"))
    _check_hints(hints)
    signs = SIGNS if hints.comments is None else hints.comments
    are_tabs = hints.delimiter == "\t" or source.suffix in (".tsv", ".tab")
    start, comments = skip_comments(data, start, signs, b" " if are_tabs else b" \t", hints.delimiter)
    if not _CHARACTER.search(data, start):  # if every line begins with a sign that belongs to a name, none is a comment
        if hints.comments is not None or not complete or not _NAMES_ALONE.fullmatch(data):
            return None
        start, comments, signs = len(data) - len(data.lstrip(b" \t\r\n")), 0, ""
    # Without an option, no line below the first record is taken for a comment: names such as #tag are common. A later
    # line that looks like one, as its sign is alone or before a blank, is refused by the compiled parser.
    comment, suspects = ("", signs) if hints.comments is None else (signs, "")
    # A first record may be longer than the head, with a note of many lines in quotes: more is looked at until there
    # are two records, or the text ends.
    size = HEAD
    while True:
        head = data[start : start + size]
        whole = complete and start + size >= len(data)
        found = detect_delimiter(source, head, Dialect("", hints.quote, comment), hints, whole=whole)
        if start + size >= len(data) or (found is not None and len(found[1].rows) > 1):
            break
        size *= 4
    if found is None:
        return None  # the first record goes on after what there is
    delimiter, split = found
    line = data.count(b"\n", 0, start) + 1
    if len(split.rows[0]) > COLUMNS:
        problem = f"a record has more than {COLUMNS:,} fields; a list of edges has one edge on each line"
        raise source.error(problem, line=line)
    end = start
    for _ in range(split.lines):
        end = data.find(b"\n", end) + 1 or len(data)
    lines = data.count(b"\n", start, end)
    if split.problem is not None:
        raise source.error(str(split.problem), line=line + split.problem.line, argument="quote")
    dialect = Dialect(delimiter, hints.quote, comment, suspects, False, start, line - 1, comments)
    return Sample(dialect, split.rows, (end, lines), line, data[:start])


def _check_hints(hints: Hints) -> None:
    quote, delimiter = hints.quote, hints.delimiter
    if len(quote.encode()) > 1 or quote.isalnum() or quote in ("\n", "\r", " ", "\t"):
        raise InputError(f"quote={quote!r} must be one character, or '' for none", argument="quote")
    if quote and quote == delimiter:
        raise InputError(f"quote={quote!r} is the delimiter", argument="quote")
    if delimiter not in (None, PAIR) and (
        len(delimiter.encode()) != 1 or delimiter.isalnum() or delimiter in ("\n", "\r")
    ):
        allowed = ", ".join(f"{key!r} ({name})" for key, name in DELIMITERS.items())
        raise InputError(
            f"delimiter={delimiter!r} must be one character: one of {allowed}, '::', or another that is no "
            "letter and no digit",
            argument="delimiter",
        )


def skip_comments(data: bytes, at: int, signs: str, blanks: bytes, delimiter: str | None) -> tuple[int, int]:
    """Return the end of blank lines, empty cells and comments before the first record, and the number of comments."""
    named = re.escape((delimiter or "").encode())
    cells = rb"(?:" + named + rb")*" if named else rb"(?:,+|;+|\|+)?"
    comment = rb"[" + blanks + rb"]*[" + re.escape(signs.encode()) + rb"][^\n]*(?:\n|\Z)" if signs else rb"(?!)"
    pattern, comments = re.compile(rb"(" + comment + rb")|[ \t]*" + cells + rb"[ \t]*\r?(?:\n|\Z)"), 0
    while at < len(data) and (match := pattern.match(data, at)) and match.end() > at:
        at, comments = match.end(), comments + (match[1] is not None)
    return at, comments


def detect_delimiter(
    source: Source, head: bytes, dialect: Dialect, hints: Hints, *, whole: bool
) -> tuple[str, Split] | None:
    """Return the delimiter and the records that it makes; None if no record is whole."""
    if hints.delimiter is not None:
        split = split_head(head, replace(dialect, delimiter=hints.delimiter), whole=whole)
        return None if split is None else (hints.delimiter, split)
    splits: dict[str, Split] = {}
    for candidate in DELIMITERS:
        if candidate != hints.quote and (candidate == " " or candidate.encode() in head):
            split = split_head(head, replace(dialect, delimiter=candidate), whole=whole)
            if split is None:
                return None
            splits[candidate] = split
    if b"::" in head and hints.quote != ":" and not any(len(row) > 1 for split in splits.values() for row in split[0]):
        split = split_head(head, replace(dialect, delimiter=PAIR), whole=whole)
        if split is not None and len(split.rows[0]) > 2:  # two parts may be a name, as fe80::1 is
            return PAIR, split
    # What follows a quote may be a delimiter in another reading.
    sound = {
        key: split.rows
        for key, split in splits.items()
        if split.problem is None or split.problem.status != Status.AFTER_QUOTE
    }
    if not any(key != " " and all(len(row) > 1 for row in rows) for key, rows in sound.items()):
        sound = {key: split.rows for key, split in splits.items()}
    delimiter = _choose_delimiter(source, sound)
    return delimiter, splits[delimiter]


def _choose_delimiter(source: Source, readings: dict[str, list[Record]]) -> str:
    """Return the delimiter that splits all records into as many fields, two at least."""
    even = [key for key, rows in readings.items() if len({len(row) for row in rows}) == 1 and len(rows[0]) > 1]
    rivals = [key for key in even if key != " "]
    if "\t" in rivals:
        return "\t"
    if "," in rivals and ";" not in rivals and source.suffix == ".csv":
        return ","
    if len(rivals) == 1 and " " in even and source.suffix != ".csv":
        hold_blanks = all(any(" " in field or "\t" in field for field in row) for row in readings[rivals[0]])
        rivals = [rivals[0], " "] if hold_blanks else rivals
    # Quotes within fields are those around the fields of another delimiter.
    clean = [key for key in rivals if not any('"' in field for row in readings[key] for field in row)]
    rivals = clean if len(clean) == 1 else rivals
    if len(rivals) > 1:
        ways = {f"delimiter={key!r}": ", ".join(map(repr, readings[key][0][:4])) for key in rivals}
        raise source.error(AmbiguousTable("the first record can be split in two ways", ways, argument="delimiter"))
    if rivals:
        return rivals[0]
    # Records of several lengths: the first decides, and a later one is then refused by its own line.
    preferred = [","] if source.suffix == ".csv" else []
    order = [key for key in [*preferred, *readings] if key in readings and key != " "]
    in_all = [key for key in order if all(len(row) > 1 for row in readings[key])]
    if in_all:
        return in_all[0]
    if len(readings.get(" ", [[]])[0]) > 1 and source.suffix != ".csv":
        return " "
    return next((key for key in order if len(readings[key][0]) > 1), " ")


def split_head(head: bytes, dialect: Dialect, *, whole: bool) -> Split | None:
    """Return the records of the beginning of a text; None if it has no whole record. ``whole``: the text ends there."""
    if not whole:
        head = head[: head.rfind(b"\n") + 1]
    text = as_text(head)
    rows: list[Record] = []
    lines, problem = 0, None
    try:
        for _, end, row in split_records(text, dialect):
            lines = lines or end
            rows.append(row)
    except QuoteError as error:
        if whole or error.status != Status.OPEN_QUOTE:
            problem = error
            if not rows:
                bare = text.split("\n")[error.line].strip()
                rows.append(bare.split(None if dialect.delimiter == " " else dialect.delimiter, COLUMNS))
    return Split(rows, lines or 1, problem) if rows else None


def split_records(text: str, dialect: Dialect) -> Iterator[tuple[int, int, Record]]:
    """Yield the records of a text, each with its first line, from 0, and the next; raise QuoteError at a bad quote."""
    separator = None if dialect.delimiter == " " else dialect.delimiter
    if dialect.quote and dialect.quote in text:
        yield from _split_quoted(text, dialect, separator)
        return
    blanks = " " if separator == "\t" else BLANKS
    for number, line in enumerate(text.split("\n")):
        bare = line.lstrip(blanks)
        if bare.strip(" \t\r") and not (dialect.comment and bare[0] in dialect.comment):
            fields = line.removesuffix("\r").split(separator, COLUMNS)  # one more are too many
            yield number, number + 1, [field.strip(BLANKS) for field in fields]


def _split_quoted(text: str, dialect: Dialect, separator: str | None) -> Iterator[tuple[int, int, Record]]:
    """Yield the records of a text with quotes, whose fields may hold delimiters and line ends."""
    if dialect.comment:  # a line of comment may have any quotes; an empty one drops as well
        text = re.sub(rf"^[ \t]*[{re.escape(dialect.comment)}][^\n]*", "", text, flags=re.MULTILINE)
    # Not the csv module. It does not say which fields had quotes, and blanks within quotes belong to a name while those
    # around it do not; and it refuses blanks after a closing quote, which the compiled parser of edges allows. Both
    # must split alike, or a name in a table of labels would not meet the same name in the edges.
    mark = re.escape(dialect.quote)
    if separator is None:
        before, after, plain, end = r"[ \t\r]*+", "", r"[ \t\r]*+[^ \t\r\n]*+", r"[ \t\r]*+(?:\n|\Z)|[ \t\r]++"
    else:
        cut = re.escape(separator)
        before = after = "[ ]*+" if separator == "\t" else "[ \t]*+"
        plain = rf"[^{cut}\n]*+" if len(separator) == 1 else rf"(?:(?!{cut})[^\n])*+"
        end = rf"{cut}|\r?\n|\Z"
    pattern = re.compile(
        rf"(?:{before}{mark}(?P<quoted>[^{mark}]*+(?:{mark}{mark}[^{mark}]*+)*+)(?P<closed>{mark}?+){after}"
        rf"|(?!{before}{mark})(?P<plain>{plain}))(?P<end>{end})"
    )
    fields: Record = []
    at = line = begin = 0
    while at < len(text):
        match = pattern.match(text, at)
        if match is None or match["closed"] == "":
            raise QuoteError(Status.AFTER_QUOTE if match is None else Status.OPEN_QUOTE, begin)
        bare = match["plain"]
        if bare is None:
            fields.append(match["quoted"].replace(dialect.quote * 2, dialect.quote))
        else:
            fields.append(bare.removesuffix("\r").strip(BLANKS if separator else " \t\r"))
        line += match[0].count("\n")
        at = match.end()
        if match["end"].endswith("\n") or at == len(text):
            if match["end"] == separator:
                fields.append("")  # after a delimiter at the very end
            if len(fields) > 1 or fields[0] or bare is None:
                yield begin, max(line, begin + 1), fields
            fields, begin = [], line


def check_records(source: Source, sample: Sample, hints: Hints) -> None:
    """Refuse lines that may be comments, or edges of names such as #tag."""
    rows = sample.rows
    if hints.comments is not None or not any(row[:1] and row[0][:1] in ("#", "%") for row in rows):
        return
    for number, line in enumerate(sample.preamble.split(b"\n"), start=1):
        name = re.match(rb"[ \t]*[#%][^ \t#%\r]", line)
        split = split_head(line, sample.dialect, whole=True) if name else None
        if split is not None and len(split.rows[0]) == len(rows[0]):
            readings = {"comments='#'": "a comment", "comments=''": "an edge"}
            problem = "names below begin as comments do, and so does this line"
            raise source.error(AmbiguousTable(problem, readings, argument="comments"), line=number)
