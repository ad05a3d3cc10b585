"""Lines of a stream of changes, csv, tsv or jsonl: their fields, not checked yet, in blocks.

Fields are split by the rules of graph files: a field may be in quotes, blanks around it drop, blank lines drop. A name
fits on one line. The first line of csv or tsv may name the columns.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from graphrefine.errors import FormatError, InputError, suggest
from graphrefine.kernels.edge_lists import Status
from graphrefine.kernels.text_records import QuoteError, split_record
from graphrefine.readers.source import Source

OPERATIONS = ("+", "-", "=")
FIELDS = ("op", "source", "target", "weight")
EXAMPLE = '{"op": "+", "source": "ann", "target": "bob"}'
_QUOTES = {
    Status.OPEN_QUOTE: "a quote is opened and not closed on this line; close it, as a name must fit on one line",
    Status.AFTER_QUOTE: "characters stand after the quote that closes a field; double a quote within a field",
}
_FORBIDDEN = {
    "\0": "a zero byte stands in the line; changes are text in UTF-8, or parquet",
    "\r": "a return (\\r) stands within the line; end lines with \\n or \\r\\n",
}


class Block(NamedTuple):
    """Columns of records, not checked yet; None for a target or a weight that is empty."""

    operations: Sequence[Any]
    sources: Sequence[Any]
    targets: Sequence[Any]
    weights: Sequence[Any]
    lines: Sequence[int] | None  # None where the format has none

    def first(self, count: int) -> Block:
        """The first records."""
        operations, sources, targets, weights, lines = self
        return Block(operations[:count], sources[:count], targets[:count], weights[:count], lines)


class Columns(NamedTuple):
    """Positions of the fields in a record; None for a weight that no record has."""

    op: int
    source: int
    target: int
    weight: int | None


class Reading(NamedTuple):
    """Records of some lines: of those before a line that cannot be read."""

    block: Block
    lines: int  # before that line
    problem: str | None  # of that line


def find_columns(names: Sequence[str]) -> Columns:
    """The positions of the fields by their names, in any case and order; other columns are left out.

    Examples
    --------
    >>> find_columns(["Target", "Source", "time", "Op"])
    Columns(op=3, source=1, target=0, weight=None)
    """
    words = [name.strip().lower() for name in names]
    header = ", ".join(map(repr, names))
    for field in FIELDS:
        if words.count(field) > 1:
            raise InputError(f"two columns are called {field!r} ({header}); rename one")
        if field not in words and field != "weight":
            raise InputError(f"no column is called {field!r} ({header}); op, source and target must be named")
    if "weight" not in words:
        odd = next((name for name, word in zip(names, words, strict=True) if suggest(word, ["weight"])), None)
        if odd is not None:
            raise InputError(f"no column is called 'weight', but one is called {odd!r}; rename it")
    weight = words.index("weight") if "weight" in words else None
    return Columns(words.index("op"), words.index("source"), words.index("target"), weight)


def shorten(value: object) -> str:
    """A value for a message."""
    text = repr(value)
    return text if len(text) <= 62 else f"{text[:58]}...{text[0] if isinstance(value, str) else ''}"


class Lines:
    """Records on lines: the number of those that were read, and the line that comes next."""

    def __init__(self, source: Source) -> None:
        self.source, self.line, self.records = source, 1, 0

    def error(self, problem: str) -> FormatError:
        """An error of the line that comes next."""
        return self.source.error(problem, line=self.line)

    def is_whole(self, line: bytes) -> bool:
        """Whether a last line without a line end is known to be whole."""
        return False

    def parse(self, data: bytes) -> Iterator[Block]:
        """The records of some lines; those before a line that cannot be read, and then an error."""
        text, problem = _decode(data)
        lines = text.split("\n")
        if not lines[-1]:
            lines.pop()  # after the last line end
        reading = self.read(text, lines)
        self.line += reading.lines
        self.records += len(reading.block.operations)
        if reading.block.operations:
            yield reading.block
        if reading.problem or problem:
            raise self.error(reading.problem or problem or "")

    def read(self, text: str, lines: list[str]) -> Reading:
        """The records of a text, which has these lines."""
        raise NotImplementedError


def _decode(data: bytes) -> tuple[str, str | None]:
    """The text of the lines before one that is no text, and the problem of that one."""
    problem = None
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        text = data[: data.rfind(b"\n", 0, error.start) + 1].decode("utf-8")
        problem = f"the text is not UTF-8 (byte 0x{data[error.start]:02x}); save the file as UTF-8"
    text = text.replace("\r\n", "\n")
    for character, message in _FORBIDDEN.items():
        if (at := text.find(character)) >= 0:
            text, problem = text[: text.rfind("\n", 0, at) + 1], message
    return text, problem


class DelimitedLines(Lines):
    """Lines of csv or tsv."""

    def __init__(self, source: Source, delimiter: str) -> None:
        super().__init__(source)
        self._delimiter = delimiter
        blank = " " if delimiter == "\t" else "[ \t]"
        self._loose = re.compile(rf"{blank}(?:{delimiter}|$)|(?:^|{delimiter}){blank}", re.MULTILINE)
        self._columns = Columns(0, 1, 2, 3)
        self._widths: frozenset[int] = frozenset()  # numbers of fields of a record; none before the first is seen

    def read(self, text: str, lines: list[str]) -> Reading:
        """Split lines, find the columns by the first, check the numbers of fields."""
        rows, problem = self._split(text, lines)
        numbers: Sequence[int] = range(self.line, self.line + len(rows))
        count = len(rows)
        if not self._widths.issuperset(map(len, rows)):
            records, count, mistake = self._select(rows)
            rows, numbers = [rows[at] for at in records], [self.line + at for at in records]
            problem = mistake or problem
        if len(self._widths) > 1:  # without a weight, or with one
            rows = [row if len(row) == 4 else [*row, ""] for row in rows]
        columns = list(zip(*rows, strict=True)) or [()] * max(self._widths, default=4)
        op, source, target, weight = self._columns
        weights = [None] * len(rows) if weight is None else [field or None for field in columns[weight]]
        targets = [field or None for field in columns[target]]
        return Reading(Block(columns[op], columns[source], targets, weights, numbers), count, problem)

    def _split(self, text: str, lines: list[str]) -> tuple[list[list[str]], str | None]:
        """Fields of the lines before one with a quote in a wrong place, and the problem of that one."""
        loose = (" " in text or "\t" in text) and self._loose.search(text)  # blanks at the end of a field
        if '"' not in text:
            rows = [line.split(self._delimiter) for line in lines]
            return [[field.strip(" \t") for field in row] for row in rows] if loose else rows, None
        if not loose:
            try:
                rows = list(csv.reader(lines, delimiter=self._delimiter, strict=True))
            except csv.Error:
                rows = []
            if len(rows) == len(lines):
                return rows, None
        rows = []  # blanks around quotes, or a quote in a wrong place: line by line
        for line in lines:
            try:
                fields = list(split_record(line.encode(), (self._delimiter, '"', "", "")))
            except QuoteError as error:
                return rows, f"{_QUOTES[error.status]}: {shorten(line)}"
            rows.append([field.text.decode() if field.quoted else field.text.decode().strip(" \t") for field in fields])
        return rows, None

    def _select(self, rows: list[list[str]]) -> tuple[list[int], int, str | None]:
        """The rows that are records, the number of rows before a bad one, and the problem of that one."""
        records: list[int] = []
        for at, row in enumerate(rows):
            if len(row) < 2 and not any(row):
                continue
            if not self._widths:
                try:
                    if self._find_layout(row):
                        continue
                except InputError as error:
                    return records, at, str(error)
            if len(row) not in self._widths:
                return records, at, self._describe_width(row)
            records.append(at)
        return records, len(rows), None

    def _find_layout(self, row: list[str]) -> bool:
        """Find the columns by the first row, and tell whether that is a header."""
        header = row[0] not in OPERATIONS and not {*FIELDS}.isdisjoint(field.lower() for field in row)
        if header:
            self._columns = find_columns(row)
        self._widths = frozenset({len(row)}) if header else frozenset({3, 4})
        return header

    def _describe_width(self, row: list[str]) -> str:
        count = "is 1 field" if len(row) == 1 else f"are {len(row)} fields"
        needed = "3 or 4 are needed (op, source, target, weight)"
        if len(self._widths) == 1:
            needed = f"the header has {max(self._widths)}"
        mark = "commas" if self._delimiter == "," else "tabs"
        return f"there {count} (split by {mark}), where {needed}: {shorten(self._delimiter.join(row))}"


class JsonLines(Lines):
    """Lines of jsonl, each an object with the fields as its keys."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self._decode = json.JSONDecoder().raw_decode
        self._keys: dict[
            tuple[str, ...], tuple[str, str, str, str]
        ] = {}  # of the four fields, by all keys of an object

    def is_whole(self, line: bytes) -> bool:
        """Whether the object is closed."""
        try:
            self._parse_object(line.decode().strip())
        except ValueError:
            return False
        return True

    def read(self, text: str, lines: list[str]) -> Reading:
        """Parse lines, find the fields by their keys."""
        records: list[tuple[Any, ...]] = []
        numbers: list[int] = []
        count, problem = len(lines), None
        for at, line in enumerate(lines):
            if not (bare := line.strip()):
                continue
            try:
                value = self._parse_object(bare)
                op, source, target, weight = self._keys.get(keys := tuple(value)) or self._find_keys(keys)
            except ValueError as error:
                words = str(error) if isinstance(error, InputError) else f"this is no object such as {EXAMPLE}"
                count, problem = at, f"{words}: {shorten(bare)}"
                break
            records.append((value[op], value[source], value[target], value[weight] if weight else None))
            numbers.append(self.line + at)
        operations, sources, targets, weights = zip(*records, strict=True) if records else ((), (), (), ())
        targets = tuple(None if target == "" else target for target in targets)
        return Reading(Block(operations, sources, targets, weights, numbers), count, problem)

    def _parse_object(self, line: str) -> dict[str, Any]:
        try:
            value, end = self._decode(line)
        except RecursionError:
            raise ValueError from None
        if end < len(line) or not isinstance(value, dict):
            raise ValueError
        return value

    def _find_keys(self, keys: tuple[str, ...]) -> tuple[str, str, str, str]:
        op, source, target, weight = find_columns(keys)
        self._keys[keys] = keys[op], keys[source], keys[target], "" if weight is None else keys[weight]
        return self._keys[keys]
