"""What goes into the five steps and what comes out: hints of the caller, dialect, sample.

This module loads nothing heavy, as the options of commands are made of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graphrefine.kernels.edge_lists import Marks
    from graphrefine.tables.kinds import Column

Record = list[str]


@dataclass(frozen=True, kw_only=True)
class Hints:
    """What the caller says about a table, with columns by name or position from 0; what is None is detected."""

    delimiter: str | None = None
    header: bool | None = None
    quote: str = '"'
    comments: str | None = None
    encoding: str | None = None
    source: str | int | None = None
    target: str | int | None = None
    weights: Any = None  # False: left out
    time: str | int | None = None
    directed: bool | None = None
    bipartite: bool | None = None
    threads: int = 1

    @property
    def columns(self) -> tuple[Any, ...]:
        """The columns that are chosen: source, target, weights, time."""
        return self.source, self.target, None if self.weights is False else self.weights, self.time

    @property
    def choose_columns(self) -> bool:
        """Whether a column is chosen."""
        return any(column is not None for column in self.columns)

    @property
    def are_named(self) -> bool:
        """Whether a column is chosen by its name."""
        return any(isinstance(column, str) and not column.isdecimal() for column in self.columns)


@dataclass(frozen=True)
class Dialect:
    """How a text is cut into records."""

    delimiter: str  # a blank for any run of blanks
    quote: str = '"'
    comment: str = ""  # lines that begin with one of these characters are left out
    suspects: str = ""  # those that begin with one of these may be comments or records, and are refused
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


@dataclass(frozen=True)
class Sample:
    """The first records of a text, those with the names of the columns aside, and its dialect and columns."""

    dialect: Dialect
    rows: list[Record]  # until step 4 the names of the columns may be the first of them
    end: tuple[int, int]  # bytes, and lines, before the end of the first record
    line: int  # of the first record, from 1
    preamble: bytes = b""  # what comes before it: blank lines and comments
    columns: list[Column] = field(default_factory=list)
    origin: Any = None  # an `Origin`, whose module needs this one
    is_matrix: bool = False
