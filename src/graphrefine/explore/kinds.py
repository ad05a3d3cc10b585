"""What the values in a request may be: read from a query's text or from JSON, and described as a JSON Schema.

A kind raises ValueError, with what is expected, where a value is not of its kind. `endpoints` names the kind of every
parameter once; requests are read by it (`reading`) and the OpenAPI document is written by it (`openapi`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

LONGEST = 4000  # characters of a text
LARGEST = 1e18  # of a number in a vector: products and sums of such still fit float32
_WHOLE = re.compile(r"-?[0-9]{1,19}")


class Kind(Protocol):
    """A kind of value."""

    def from_text(self, text: str) -> Any:
        """The value that a query has as text."""

    def from_json(self, value: Any) -> Any:
        """The value that a body has."""

    def schema(self) -> dict[str, Any]:
        """What is allowed, as a JSON Schema."""


@dataclass(frozen=True)
class Whole:
    """A whole number from `least` to `most`.

    Examples
    --------
    >>> Whole(1, 10).from_text("7"), Whole(1, 10).from_json(7.0)
    (7, 7)
    >>> Whole(1, 10).from_text("11")
    Traceback (most recent call last):
    ValueError: a whole number from 1 to 10 is expected
    """

    least: int
    most: int

    def from_text(self, text: str) -> int:
        """See `Kind`."""
        if not _WHOLE.fullmatch(text):
            raise self._error()
        return self._checked(int(text))

    def from_json(self, value: Any) -> int:
        """See `Kind`; 7.0 is a whole number in JSON."""
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if type(value) is not int:
            raise self._error()
        return self._checked(value)

    def _checked(self, value: int) -> int:
        if not self.least <= value <= self.most:
            raise self._error()
        return value

    def _error(self) -> ValueError:
        if self.most < self.least:
            return ValueError("there is nothing to choose from: the embedding is empty")
        return ValueError(f"a whole number from {self.least} to {self.most} is expected")

    def schema(self) -> dict[str, Any]:
        """See `Kind`."""
        return {"type": "integer", "minimum": self.least, "maximum": self.most}


@dataclass(frozen=True)
class Text:
    """Text of at most `LONGEST` characters."""

    def from_text(self, text: str) -> str:
        """See `Kind`."""
        if len(text) > LONGEST:
            raise ValueError(f"at most {LONGEST} characters are expected")
        return text

    def from_json(self, value: Any) -> str:
        """See `Kind`."""
        if not isinstance(value, str):
            raise ValueError("a string is expected")
        return self.from_text(value)

    def schema(self) -> dict[str, Any]:
        """See `Kind`."""
        return {"type": "string", "maxLength": LONGEST}


@dataclass(frozen=True)
class Choice:
    """One of a few words."""

    words: tuple[str, ...]

    def from_text(self, text: str) -> str:
        """See `Kind`."""
        return self.from_json(text)

    def from_json(self, value: Any) -> str:
        """See `Kind`."""
        if not isinstance(value, str) or value not in self.words:
            raise ValueError(f"one of {', '.join(self.words)} is expected")
        return value

    def schema(self) -> dict[str, Any]:
        """See `Kind`."""
        return {"type": "string", "enum": list(self.words)}


@dataclass(frozen=True)
class Flag:
    """True or false."""

    def from_text(self, text: str) -> bool:
        """See `Kind`."""
        if text not in ("true", "false"):
            raise ValueError("true or false is expected")
        return text == "true"

    def from_json(self, value: Any) -> bool:
        """See `Kind`."""
        if not isinstance(value, bool):
            raise ValueError("true or false is expected")
        return value

    def schema(self) -> dict[str, Any]:
        """See `Kind`."""
        return {"type": "boolean"}


@dataclass(frozen=True)
class ListOf:
    """From one to `most` values of a kind, in a body.

    Examples
    --------
    >>> ListOf(Whole(0, 9), 3).from_json([1, 2])
    [1, 2]
    >>> ListOf(Whole(0, 9), 3).from_json([1, True])
    Traceback (most recent call last):
    ValueError: entry 1: a whole number from 0 to 9 is expected
    """

    of: Kind
    most: int
    least: int = 1

    def from_text(self, text: str) -> Any:
        """See `Kind`."""
        raise ValueError("a list can stand in a body only")

    def from_json(self, value: Any) -> list[Any]:
        """See `Kind`."""
        if not isinstance(value, list) or not self.least <= len(value) <= self.most:
            counts = str(self.most) if self.least == self.most else f"{self.least} to {self.most}"
            raise ValueError(f"a list of {counts} values is expected")
        found = []
        for place, entry in enumerate(value):
            try:
                found.append(self.of.from_json(entry))
            except ValueError as error:
                raise ValueError(f"entry {place}: {error}") from None
        return found

    def schema(self) -> dict[str, Any]:
        """See `Kind`."""
        return {"type": "array", "items": self.of.schema(), "minItems": self.least, "maxItems": self.most}


@dataclass(frozen=True)
class Vector:
    """So many numbers, in a body.

    Examples
    --------
    >>> Vector(2).from_json([1, 0.5])
    array([1. , 0.5], dtype=float32)
    """

    dim: int

    def from_text(self, text: str) -> Any:
        """See `Kind`."""
        raise ValueError("a vector can stand in a body only")

    def from_json(self, value: Any) -> NDArray[np.float32]:
        """See `Kind`."""
        if not isinstance(value, list) or len(value) != self.dim or not set(map(type, value)) <= {int, float}:
            raise ValueError(f"a list of {self.dim} numbers is expected")
        if any(not -LARGEST <= number <= LARGEST for number in value):
            raise ValueError(f"numbers from {-LARGEST:g} to {LARGEST:g} are expected")
        return np.array(value, np.float32)

    def schema(self) -> dict[str, Any]:
        """See `Kind`."""
        number = {"type": "number", "minimum": -LARGEST, "maximum": LARGEST}
        return {"type": "array", "items": number, "minItems": self.dim, "maxItems": self.dim}
