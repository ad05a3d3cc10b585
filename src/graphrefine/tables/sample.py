"""What is found of a table: its dialect, its columns, and its first records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from graphrefine.kernels.edge_lists import Marks
from graphrefine.tables.kinds import Kind, find_kind, is_amount, is_number

Record = list[str]


@dataclass(frozen=True)
class Dialect:
    """How a text is cut into records.

    ``delimiter`` is a blank for any run of blanks. Lines that begin with a character of ``comment`` are left out;
    those that begin with one of ``suspects`` may be comments or records, and are refused.
    """

    delimiter: str
    quote: str = '"'
    comment: str = ""
    suspects: str = ""
    header: bool = False
    skip: int = 0  # bytes before the records
    line: int = 0  # lines before the records
    comments: int = 0  # comment lines before the records
    names: tuple[str, ...] = ()  # in the header
    is_doubtful: bool = False  # nothing but the absence of these names below says that they are a header

    @property
    def marks(self) -> Marks:
        """The dialect as the compiled parser takes it."""
        return self.delimiter, self.quote, self.comment, self.suspects


class Column:
    """A column: its name, if it has one, its position, and a sample of its values, from which its kind follows."""

    def __init__(
        self, name: str | None, position: int, values: Callable[[], Sequence[Any]], *, is_numeric: bool
    ) -> None:
        self.name, self.position, self.is_numeric = name, position, is_numeric
        self._take_values = values

    @cached_property
    def values(self) -> Sequence[Any]:
        """A sample of its values."""
        return self._take_values()

    @cached_property
    def kind(self) -> Kind:
        """What it holds."""
        return find_kind(self.values, self.name)

    @property
    def label(self) -> str | int:
        """Its name, or its position."""
        return self.position if self.name is None else self.name


@dataclass(frozen=True)
class Sample:
    """The first records of a text, those with the names of the columns aside, and its dialect and columns."""

    dialect: Dialect
    rows: list[Record]  # until step 4 the names of the columns may be the first of them
    end: tuple[int, int]  # bytes, and lines, before the end of the first record
    line: int  # of the first record, from 1
    preamble: bytes = b""  # the beginning of what comes before it
    columns: list[Column] = field(default_factory=list)
    origin: Any = None  # an `Origin`, whose module needs this one
    is_matrix: bool = False


def make_columns(rows: Sequence[Record], names: Sequence[str] | None, count: int, delimiter: str) -> list[Column]:
    """Return the columns of records of text."""
    while names is None and count > 2 and not any(len(row) >= count and row[count - 1] for row in rows):
        count -= 1  # a delimiter at the end of every line makes no column
    test = is_number if delimiter == "," else is_amount

    def make(at: int) -> Column:
        values = column_values(rows, at)
        # One number makes a column of numbers: any other value is refused by its own line.
        name = None if names is None else names[at]
        return Column(name, at, lambda: values, is_numeric=any(map(test, values)))

    return [make(at) for at in range(count)]


def column_values(rows: Sequence[Record], at: int) -> list[str]:
    """Return the values of a column that are not empty."""
    return [row[at] for row in rows if at < len(row) and row[at]]
