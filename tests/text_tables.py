"""Tables as text whose content is known: drawn cells, and a writer that spells them in many ways.

A table is drawn from a `random.Random`, so that one seed gives one table, and so that hypothesis, which has such an
object too (`strategies.randoms`), can find the smallest one that shows a fault.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

BLANKS = " \t"
DELIMITERS = (",", ",", ",", "\t", "\t", ";", "|", " ", " ")
INTEGER = re.compile(r"0|-?[1-9][0-9]*")
Row = tuple[str, ...]

INTEGERS = ("0", "1", "2", "3", "10", "-3", "42", "7", "2147483647", "2147483648", "9223372036854775807", "-2147483648")
NUMBERLIKE = ("007", "1.0", "-3", "+4", "1e5", "-0", "0x1F", "9223372036854775808", "1,5", "3", "12", "1_000", "½", "٣")
ABSENTLIKE = ("NA", "nan", "null", "None", "true", "N/A", "NULL", "inf", "-", "\\N", "#N/A", "False", "n/a", "<NA>")
WORDS = ("ann", "bob", "Cy", "dora", "Eve", "New York", "O'Neil", "x", "ann@example.org", "10.0.0.1", "a.b/c", "C++")
UNICODE = (
    "é", "e\u0301", "Zürich", "名前", "\U0001f600", "\U0001d4b3", "👩‍👩‍👧", "a\u2028b", "\u00a0nbsp", "a\u0085b",
    "ß", "ς", "\u202eabc", "ﬁ", "a\x0bb", "x\x1cy", "\u3000wide",
)  # fmt: skip
MARKED = (
    "#tag", "%x", "# note", "#", 'say "hi"', '"all"', '"', '""', "a, b", "x;y", "a\tb", "p|q", "it's", "'", "5\" pipe",
    "back\\", '\\"', " lead", "trail ", "\tin", "//", ",", "=1+1", "{a: 1}",
)  # fmt: skip
SPACED = (" 7", "7 ", "7", "42", " 42", "8", "9", "10")
NAMES = (INTEGERS, NUMBERLIKE, ABSENTLIKE, WORDS, UNICODE, MARKED, SPACED)
MIXES = ((0,), (0,), (0, 1), (1,), (2,), (3,), (3,), (3, 4), (4,), (3, 5), (5,), (0, 2), (6,), (0, 1, 2, 3, 4, 5))
WEIGHTS = ("1", "2", "0.5", "3", "0", "1e3", "2.5E-2", "+4", ".25", "7.", "1e-30", "123456.789", "0.1", "007")
BAD_WEIGHTS = ("-1", "nan", "inf", "", "x", "1e99")
TEXTS = (
    "plain", "", "two words", 'he said "no"', "line\nbreak", "win\r\nbreak", "a\n# not a comment\nb", "\n", '"',
    "a;b,c|d", "tab\there", "naïve", "# no comment", "x\n\ny", "it's", "\n\n", '",\n"', "end\n", "\rreturn",
)  # fmt: skip
DATES = ("2024-01-31", "2023-12-01T10:00:00Z", "31/12/2020", "1082040961", "Jan 5 2021", "")
NUMBERS = ("1", "-2.5", "", "1e9", "0", "NaN", "3,5")
COLUMN_NAMES = (
    "source", "target", "weight", "from", "to", "a", "b", "user id", "x,y", 'the "q"', "naïve", "date", "n", "",
)  # fmt: skip
PAIRS = (
    ("source", "target"), ("from", "to"), ("a", "b"), ("package", "depends_on"), ("sender", "receiver"), ("x", "y"),
)  # fmt: skip
COMMENTS = ("", " a comment", ' says "hi', "a,b,c", " x y", " one;two;three", " 名前")


@dataclass(frozen=True)
class TextTable:
    """A table, the text that it is written as, and the options that say how to read it."""

    text: str
    bare: str  # the text without comments
    rows: list[Row]  # without the header
    header: Row | None
    delimiter: str
    quote: str
    comments: str | None
    columns: tuple[int, int, int | None]  # source, target, weight
    bom: bool = False
    pads: int = 0  # cells with blanks around them, those of the header among them
    trimmed: int = 0  # ends with blanks around them, outside of quotes
    comment_lines: int = 0
    refusable: frozenset[str] = field(default_factory=frozenset)  # what the documentation says is refused

    @property
    def options(self) -> dict[str, Any]:
        """The options of `graphrefine.read` that leave nothing to be found out."""
        source, target, weight = self.columns
        return {
            "delimiter": self.delimiter,
            "header": self.header is not None,
            "source": source,
            "target": target,
            "weights": False if weight is None else weight,
            "quote": self.quote,
            "comments": self.comments,
        }

    @property
    def padded(self) -> bool:
        """Whether the text has blanks around cells."""
        return bool(self.pads)

    def encode(self, text: str | None = None) -> bytes:
        """The bytes of the text, or of another."""
        return (b"\xef\xbb\xbf" if self.bom else b"") + (self.text if text is None else text).encode()


@dataclass(frozen=True)
class _Style:
    """How a table is written."""

    delimiter: str
    quote: str
    comments: str | None
    line_end: str
    quote_share: float  # of the cells that need no quotes
    padded: bool
    runs: bool  # of blanks between the columns

    @property
    def marks(self) -> str:
        """Characters that begin a comment, or a line that may be meant as one."""
        return "#%" if self.comments is None else self.comments


def draw_table(random: Random, *, plain: bool = False, most: int = 30) -> TextTable:
    """A drawn table of ``most`` rows or fewer.

    ``plain``: as most people write one, with the ends in the first two columns, the weights in the next, double quotes,
    and comments only before the first record.
    """
    style = _draw_style(random)
    if plain:
        style = replace(style, quote='"', comments=None)
    rows, refusable = _draw_edges(random, style, most)
    width = len(rows[0])
    named = random.random() < 0.5
    columns_beside = 0 if plain and not named else random.choice((0, 0, 0, 1, 1, 2, 3))
    others = [_draw_column(random, len(rows)) for _ in range(columns_beside)]
    if others:
        rows = [(*row, *extra) for row, extra in zip(rows, zip(*others, strict=True), strict=True)]
    order = list(range(len(rows[0])))
    if not plain:
        random.shuffle(order)
    rows = [tuple(row[at] for at in order) for row in rows]
    header = _draw_header(random, len(order), width, plain) if named else None
    columns = (order.index(0), order.index(1), order.index(2) if width == 3 else None)
    rows, header = ([_strip_marks(row, style) for row in rows], header and _strip_marks(header, style))
    return _write(random, style, rows, header, columns, refusable)


def _draw_style(random: Random) -> _Style:
    delimiter = random.choice(DELIMITERS)
    return _Style(
        delimiter=delimiter,
        quote=random.choice('""""""""""""\'') if random.random() < 0.95 else "",
        comments=random.choice((None, None, "", "#", "%", "#%")),
        line_end=random.choice(("\n", "\n", "\r\n")),
        quote_share=random.choice((0.0, 0.0, 0.2, 1.0)),
        padded=random.random() < 0.15 and delimiter != " ",
        runs=delimiter == " " and random.random() < 0.5,
    )


def _draw_edges(random: Random, style: _Style, most: int) -> tuple[list[Row], frozenset[str]]:
    """Rows of ends and perhaps weights, and what in them is refused."""
    refusable = set()
    names = [name for kind in random.choice(MIXES) for name in NAMES[kind]]
    names = random.sample(names, random.randint(2, 8))
    if style.padded:
        names = [name.strip(BLANKS) or "x" for name in names]
    if random.random() < 0.1:
        names.append("")
    if random.random() < 0.01 and style.quote:
        names.append("two\nlines")
    count = min(random.choice((1, 2, 3, 5, 8, 13, 30)), most)
    rows: list[Row] = [(random.choice(names), random.choice(names)) for _ in range(count)]
    if random.random() < 0.95:
        rows[-1] = (names[0], names[1])  # an edge, for sure
    if any("\n" in name for row in rows for name in row):
        refusable.add("a line break in a name")
    if random.random() < 0.5:
        spelled = [random.choice(WEIGHTS) for _ in rows]
        if random.random() < 0.01:
            spelled[random.randrange(len(rows))] = random.choice(BAD_WEIGHTS)
            refusable.add("a wrong weight")
        rows = [(*row, weight) for row, weight in zip(rows, spelled, strict=True)]
    return rows, frozenset(refusable)


def _draw_column(random: Random, count: int) -> list[str]:
    """Cells of a column that is not used."""
    kind = random.choice((TEXTS, TEXTS, DATES, NUMBERS, WORDS, UNICODE, ABSENTLIKE, ("",)))
    return [random.choice(kind) for _ in range(count)]


def _draw_header(random: Random, count: int, width: int, plain: bool) -> Row:
    """Names of columns; of a plain table, ``width`` of them say what they are."""
    if plain:
        known = ("weight",) if width == 3 else ()
        return (*random.choice(PAIRS), *known, "date", "note", "n")[:count]
    names = list(COLUMN_NAMES)
    random.shuffle(names)
    return tuple(names[:count])


def _strip_marks(row: Row, style: _Style) -> Row:
    """A row that can be written: without quotes, no cell holds a delimiter, a line end or blanks around it."""
    if style.quote:
        return row
    unwritable = re.compile(r"[\r\n\t ]+" if style.delimiter == " " else rf"[\r\n{re.escape(style.delimiter)}]+")
    cells = [unwritable.sub("_", cell).strip(BLANKS) for cell in row]
    if style.delimiter == " ":
        cells = [cell or "_" for cell in cells]
    return tuple("_" + cell if cell[:1] in ("#", "%") else cell for cell in cells)


def _write(
    random: Random,
    style: _Style,
    rows: list[Row],
    header: Row | None,
    columns: tuple[int, int, int | None],
    refusable: frozenset[str],
) -> TextTable:
    """The table with its text."""
    records: list[str] = []
    trimmed = pads = 0
    for number, row in enumerate(rows if header is None else [header, *rows]):
        cells = [_spell(random, style, cell, first=at == 0) for at, cell in enumerate(row)]
        if style.padded:
            padded = [_pad(random, style, cell) for cell in cells]
            pads += sum(before != after for before, after in zip(cells, padded, strict=True))
            if header is None or number:
                trimmed += sum(_is_trimmed(cells[at], padded[at], style) for at in columns[:2])
            cells = padded
        records.append(_join(random, style, cells))
    lines, comment_lines = _with_comments(random, style, records)
    text, bare = (_end_lines(random, style, each) for each in (lines, records))
    return TextTable(
        text=text,
        bare=bare,
        rows=rows,
        header=header,
        delimiter=style.delimiter,
        quote=style.quote,
        comments=style.comments,
        columns=columns,
        bom=random.random() < 0.05,
        pads=pads,
        trimmed=trimmed,
        comment_lines=comment_lines,
        refusable=refusable,
    )


def _spell(random: Random, style: _Style, cell: str, *, first: bool) -> str:
    """A cell as text, in quotes where it needs them."""
    quote = style.quote
    if not quote:
        return cell
    special = style.delimiter + "\r\n" + ("\t" if style.delimiter == " " else "")
    needed = any(character in cell for character in special) or cell != cell.strip(BLANKS)
    needed = needed or cell.startswith(quote) or (style.delimiter == " " and not cell)
    needed = needed or (first and cell[:1] in ("#", "%"))
    if needed or random.random() < (0.3 if quote in cell else style.quote_share):
        return quote + cell.replace(quote, quote * 2) + quote
    return cell


def _pad(random: Random, style: _Style, cell: str) -> str:
    quoted = bool(style.quote) and cell.startswith(style.quote)
    if random.random() < (0.95 if quoted else 0.5):
        return cell
    blanks = (" ", "  ") if style.delimiter == "\t" else (" ", "  ", "\t", " \t")
    before, after = random.choice(("", *blanks)), random.choice(("", *blanks))
    return f"{before}{cell}{after}"


def _is_trimmed(cell: str, padded: str, style: _Style) -> bool:
    return bool(cell) and padded != cell and not (style.quote and cell.startswith(style.quote))


def _join(random: Random, style: _Style, cells: Sequence[str]) -> str:
    if not style.runs:
        return style.delimiter.join(cells)
    line = random.choice(("", "", " "))
    for cell in cells[:-1]:
        line += cell + random.choice((" ", " ", "  ", "     "))
    return line + cells[-1] + random.choice(("", "", " "))


def _with_comments(random: Random, style: _Style, records: list[str]) -> tuple[list[str], int]:
    """Records with blank lines and comments: before them, and between them where the option says what a comment is."""
    commented = style.comments != "" and random.random() < 0.3
    blank = 0.1 if random.random() < 0.1 else 0.0
    lines: list[str] = []
    count = 0
    for number, record in enumerate(records):
        while commented and random.random() < 0.3 and (style.comments is not None or number == 0):
            lines.append(random.choice(style.marks) + random.choice(COMMENTS))
            count += 1
        if random.random() < blank:
            lines.append(random.choice(("", "", " ")))
        lines.append(record)
    return lines, count


def _end_lines(random: Random, style: _Style, lines: list[str]) -> str:
    """The lines with their ends; the last may have none, and lines may be empty."""
    text: str = style.line_end.join(lines)
    empty = len(lines) == 1 and not lines[0]
    return text if random.random() < 0.2 and not empty else text + style.line_end


def is_integer(name: str) -> bool:
    """Whether a name is written as an integer of 64 bits is."""
    return INTEGER.fullmatch(name) is not None and -(2**63) <= int(name) < 2**63
