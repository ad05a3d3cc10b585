"""What nodes can be coloured by: a category or a number for each row, in the form in which the page takes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

NONE = 65535  # the code of a node without a category
MOST = 1000  # categories that are told apart, "other" included
OTHER = "other"


@dataclass(frozen=True, eq=False)
class Categories:
    """A category for each row.

    Examples
    --------
    >>> colours = Categories(np.array([1, 0, 1, -1], np.int32), ["red", "blue"])
    >>> colours.categories, colours.codes.tolist(), colours.value(0), colours.value(3)
    ([{'name': 'blue', 'count': 2}, {'name': 'red', 'count': 1}], [0, 1, 0, 65535], 'blue', None)
    """

    of: NDArray[np.int32]  # (n,), a position in `names`; -1 for none
    names: Sequence[str]

    kind = "category"

    @cached_property
    def _ranked(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """How many nodes each category has, and the categories, the largest first."""
        counts = np.bincount(self.of[self.of >= 0], minlength=len(self.names))
        order = np.argsort(-counts, kind="stable")
        return counts, order[counts[order] > 0]

    @cached_property
    def categories(self) -> list[dict[str, Any]]:
        """Name and count of each category that has a code of its own, in the order of the codes."""
        counts, order = self._ranked
        few = order if len(order) <= MOST else order[: MOST - 1]
        found: list[dict[str, Any]] = [{"name": self.names[each], "count": int(counts[each])} for each in few.tolist()]
        if len(few) < len(order):
            found.append({"name": OTHER, "count": int(counts[order[MOST - 1 :]].sum()), "other": True})
        return found

    @cached_property
    def codes(self) -> NDArray[np.uint16]:
        """The code of each row: a position in `categories`, or 65535."""
        _, order = self._ranked
        table = np.full(len(self.names) + 1, NONE, np.uint16)  # the last is that of -1
        table[order] = np.minimum(np.arange(len(order)), MOST - 1)
        return table[self.of]

    def raw(self) -> memoryview:
        """The codes as bytes."""
        return as_bytes(self.codes, "<u2")

    def value(self, row: int) -> str | None:
        """The category of a row."""
        code = int(self.of[row])
        return None if code < 0 else self.names[code]

    def about(self) -> dict[str, Any]:
        """What the page is told."""
        return {"categories": self.categories}


@dataclass(frozen=True, eq=False)
class Numbers:
    """A number for each row; NaN for none.

    Examples
    --------
    >>> Numbers(np.array([3, np.nan, 1], np.float32)).about()
    {'min': 1.0, 'max': 3.0, 'log': False}
    """

    of: NDArray[np.float32]  # (n,)
    log: bool = False  # whether colours go by its logarithm

    kind = "number"

    @cached_property
    def _range(self) -> tuple[float | None, float | None]:
        known = self.of[np.isfinite(self.of)]
        return (float(known.min()), float(known.max())) if len(known) else (None, None)

    def raw(self) -> memoryview:
        """The numbers as bytes."""
        return as_bytes(self.of, "<f4")

    def value(self, row: int) -> float | int | None:
        """The number of a row."""
        return as_number(self.of[row])

    def about(self) -> dict[str, Any]:
        """What the page is told."""
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


Column = Categories | Numbers
