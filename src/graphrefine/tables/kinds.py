"""Step 3, kinds: what a column holds, by its values and, where they do not tell, by its name."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import date
from enum import StrEnum
from functools import cached_property, partial
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.graph.node_ids import is_missing_id
from graphrefine.kernels.edge_lists import NUMBER
from graphrefine.tables import vocabulary

# Values in which 0, 1, 2, ... are no accident. With fewer, the ids of a short list of edges, such as 1, 2, 3, would be
# taken for row numbers; a column that is called index or the like needs two.
FEWEST = 8
MOST = 1000  # values that are looked at
UNITS = {"seconds": 1.0, "milliseconds": 1e3, "microseconds": 1e6, "nanoseconds": 1e9}
# Seconds since 1970, from 1979 to 2103: numbers between them are taken for times. A wider range would take more ids
# for times; a column of ids in it is still an end if no other columns can be (`roles._choose_ends`).
EARLIEST, LATEST = 3e8, 4.2e9
_DIGITS = re.compile(NUMBER.pattern.decode())
_DECIMAL = re.compile(r"[+-]?[0-9]+,[0-9]+")
_NO_NUMBER = re.compile(r"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)
_DATE = re.compile(r"[0-9]{4}([-/])[0-9]{2}\1[0-9]{2}([T ].*)?")


class Kind(StrEnum):
    """What a column holds, in the words of messages."""

    INTEGER = "integers"
    NUMBER = "numbers"
    TEXT = "texts"
    DATE = "dates"
    TIME = "times"
    ROW_NUMBER = "row numbers"


NUMBERS = (Kind.INTEGER, Kind.NUMBER)
NO_ENDS = (Kind.ROW_NUMBER, Kind.TIME, Kind.DATE)
"""Kinds of columns that are no ends of edges, and no weights."""


class Column:
    """A column: its name, if it has one, its position, and a sample of its values, from which its kind follows.

    ``commas``: numbers in text may have a decimal comma.
    """

    def __init__(
        self, name: str | None, position: int, values: Callable[[], Sequence[Any]], *, commas: bool = False
    ) -> None:
        self.name, self.position = name, position
        self._take_values, self._test = values, is_amount if commas else is_number

    @cached_property
    def values(self) -> Sequence[Any]:
        """A sample of its values."""
        return self._take_values()

    @cached_property
    def kind(self) -> Kind:
        """What it holds."""
        return find_kind(self.values, self.name)

    @cached_property
    def is_numeric(self) -> bool:
        """Whether there is a number among its values; others of them are then refused by their own line."""
        return any(
            self._test(value) if isinstance(value, str) else isinstance(value, Number) and not isinstance(value, bool)
            for value in self.values
        )

    @property
    def label(self) -> str | int:
        """Its name, or its position."""
        return self.position if self.name is None else self.name


def detect_kinds(rows: Sequence[Sequence[str]], names: Sequence[str] | None, delimiter: str) -> list[Column]:
    """Return the columns of records of text."""
    count = len(names or rows[0])
    while names is None and count > 2 and not any(len(row) >= count and row[count - 1] for row in rows):
        count -= 1  # a delimiter at the end of every line makes no column
    named = [None] * count if names is None else names
    return [
        Column(name, at, partial(column_values, rows, at), commas=delimiter != ",") for at, name in enumerate(named)
    ]


def column_values(rows: Sequence[Sequence[str]], at: int) -> list[str]:
    """Return the values of a column that are not empty."""
    return [row[at] for row in rows if at < len(row) and row[at]]


def find_kind(values: Sequence[Any], name: str | None = None) -> Kind:
    """Return the kind of a column with these values."""
    present = [value for value in values[:MOST] if not is_missing_id(value)]
    may_count = name is not None and name.strip().lower() in vocabulary.ROW_NUMBERS
    if not present:
        return Kind.TEXT
    if all(isinstance(value, date) or (isinstance(value, str) and _DATE.fullmatch(value)) for value in present):
        return Kind.DATE
    numbers = as_numbers(present)
    if may_count and are_distinct(present):
        return Kind.ROW_NUMBER
    if numbers is None:
        return Kind.TEXT
    if _count_up(numbers, 2 if may_count else FEWEST):
        return Kind.ROW_NUMBER
    if read_days(numbers) is not None:
        return Kind.DATE
    if unit_of(numbers) is not None:
        return Kind.TIME
    return Kind.INTEGER if all(isinstance(value, int) or _is_integer(value) for value in present) else Kind.NUMBER


def is_number(field: str) -> bool:
    """Return whether a field is a number; NaN and infinity are, and are refused later, by their line."""
    return bool(_DIGITS.fullmatch(field) or _NO_NUMBER.fullmatch(field))


def is_finite(field: str) -> bool:
    """Return whether a field is a finite decimal number."""
    return _DIGITS.fullmatch(field.strip()) is not None


def is_amount(field: str) -> bool:
    """Return whether a field is a number with a decimal point or, where no comma is a delimiter, a decimal comma."""
    return is_number(field) or _DECIMAL.fullmatch(field) is not None


def have_decimal_commas(values: Sequence[str]) -> bool:
    """Return whether values are numbers, some with a decimal comma and none with a point, which may mark thousands."""
    others = [value for value in values if not _DECIMAL.fullmatch(value)]
    return len(others) < len(values) and all(value.lstrip("+-").isdecimal() for value in others)


def as_numbers(values: Sequence[Any]) -> list[float] | None:
    """Return values as numbers; None if one is none."""
    try:
        return [float(value) for value in values if not isinstance(value, bool)]
    except (TypeError, ValueError, OverflowError):
        return None


def are_distinct(values: Sequence[Any]) -> bool:
    """Return whether there are several values, all different."""
    return len(values) > 1 and len(set(map(repr, values))) == len(values)


def _is_integer(value: Any) -> bool:
    return isinstance(value, str) and value.removeprefix("-").isdecimal()


def _count_up(numbers: Sequence[float], fewest: int) -> bool:
    first = numbers[0] if numbers else -1
    return len(numbers) >= fewest and first in (0, 1) and all(n == first + at for at, n in enumerate(numbers))


def text_of(value: Any) -> str:
    """Return a value as text; a whole number without a point, as tables make floats where an integer is missing."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else str(value)


def unit_of(numbers: Sequence[float] | NDArray[np.float64]) -> float | None:
    """Return units in a second if numbers look like times since 1970, else None."""
    if not len(numbers):
        return None
    lowest, highest = min(numbers), max(numbers)
    return next((unit for unit in UNITS.values() if EARLIEST * unit <= lowest and highest <= LATEST * unit), None)


def read_days(numbers: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Return seconds since 1970 of numbers that are all days, such as 20240131; None if they are not."""
    if not len(numbers) or min(numbers) < 19000101 or max(numbers) > 21001231:
        return None
    values = np.asarray(numbers, np.float64)
    if not np.isfinite(values).all():
        return None
    whole = values.astype(np.int64)
    months = (whole // 10000 - 1970).astype("M8[Y]").astype("M8[M]") + (whole // 100 % 100 - 1)
    days = months.astype("M8[D]") + (whole % 100 - 1)
    if (values != whole).any() or (days.astype("M8[M]") != months).any() or (whole // 100 % 100 > 12).any():
        return None
    return days.astype("M8[s]").astype(np.float64) if (whole // 100 % 100 > 0).all() else None
