"""Columns to colour by: a category or a number for each row, in the form in which the page takes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

NONE = 65535  # the code of a node without a category
MOST = 1000  # categories with a code of their own, "other" included
OTHER = "other"


@dataclass(frozen=True, eq=False)
class CategoryColumn:
    """A category for each row.

    Examples
    --------
    >>> column = CategoryColumn(np.array([1, 0, 1, -1], np.int32), ["red", "blue"])
    >>> column.categories, column.codes.tolist(), column.value(0), column.value(3)
    ([{'name': 'blue', 'count': 2}, {'name': 'red', 'count': 1}], [0, 1, 0, 65535], 'blue', None)
    """

    positions: NDArray[np.int32]  # (n,), of each row in `names`; -1 for none
    names: Sequence[str]

    kind = "category"

    @cached_property
    def _ranked(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The number of nodes of each category, and the categories, the largest first."""
        counts = np.bincount(self.positions[self.positions >= 0], minlength=len(self.names))
        order = np.argsort(-counts, kind="stable")
        return counts, order[counts[order] > 0]

    @cached_property
    def categories(self) -> list[dict[str, Any]]:
        """Name and count of each category that has a code of its own, in the order of the codes."""
        counts, order = self._ranked
        first = order if len(order) <= MOST else order[: MOST - 1]
        categories: list[dict[str, Any]] = [
            {"name": self.names[each], "count": int(counts[each])} for each in first.tolist()
        ]
        if len(first) < len(order):
            categories.append({"name": OTHER, "count": int(counts[order[MOST - 1 :]].sum()), "other": True})
        return categories

    @cached_property
    def codes(self) -> NDArray[np.uint16]:
        """The code of each row: a position in `categories`, or 65535."""
        _, order = self._ranked
        table = np.full(len(self.names) + 1, NONE, np.uint16)  # the last is that of -1
        table[order] = np.minimum(np.arange(len(order)), MOST - 1)
        return table[self.positions]

    def raw(self) -> memoryview:
        """The codes as bytes."""
        return as_bytes(self.codes, "<u2")

    def value(self, row: int) -> str | None:
        """The category of a row."""
        position = int(self.positions[row])
        return None if position < 0 else self.names[position]

    def describe(self) -> dict[str, Any]:
        """The facts that the page needs to colour by it."""
        return {"categories": self.categories}


@dataclass(frozen=True, eq=False)
class NumberColumn:
    """A number for each row; NaN for none.

    Examples
    --------
    >>> NumberColumn(np.array([3, np.nan, 1], np.float32)).describe()
    {'min': 1.0, 'max': 3.0, 'log': False}
    """

    numbers: NDArray[np.float32]  # (n,)
    log: bool = False  # whether colours go by its logarithm

    kind = "number"

    @cached_property
    def _range(self) -> tuple[float | None, float | None]:
        finite = self.numbers[np.isfinite(self.numbers)]
        return (float(finite.min()), float(finite.max())) if len(finite) else (None, None)

    def raw(self) -> memoryview:
        """The numbers as bytes."""
        return as_bytes(self.numbers, "<f4")

    def value(self, row: int) -> float | int | None:
        """The number of a row."""
        return as_number(self.numbers[row])

    def describe(self) -> dict[str, Any]:
        """The facts that the page needs to colour by it."""
        least, most = self._range
        return {"min": least, "max": most, "log": self.log}


def as_bytes(array: NDArray[Any], kind: str) -> memoryview:
    """The bytes of an array, as numbers of a kind: not copied if they are that already.

    Examples
    --------
    >>> as_bytes(np.array([1, 258]), "<u2").tolist()
    [1, 0, 2, 1]
    """
    flat = np.ascontiguousarray(array, dtype=kind).reshape(-1)
    return flat.view(np.uint8).data


def as_number(value: Any) -> float | int | None:
    """A number for JSON: a whole one as such, none if it is not finite.

    Examples
    --------
    >>> as_number(np.float32(3)), as_number(0.5), as_number(np.nan)
    (3, 0.5, None)
    """
    number = float(value)
    if not isfinite(number):
        return None
    return int(number) if number.is_integer() else number


Column = CategoryColumn | NumberColumn
