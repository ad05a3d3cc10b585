"""Types of the values in a request: checked in a query's text or in JSON, and described as a JSON Schema.

A `ParamType` stands in the annotation of a field of `request_params`; pydantic checks requests by it and FastAPI writes
the OpenAPI document by it. The bounds of some types depend on the embedding that is served: those of rows, names and
vectors are taken from `FACTS`, which is set for each request.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic_core import CoreSchema, core_schema

from graphrefine.graph.lookup import is_integer

LONGEST = 4000  # characters of a text
LARGEST = 1e18  # of a number in a vector: products and sums of such still fit float32
INT64 = 2**63

Schema = dict[str, Any]


class Facts(NamedTuple):
    """Facts about the embedding on which parameters depend."""

    nodes: int
    dim: int
    integer_names: bool  # names are integers, rather than text
    two_sides: bool  # a name may stand on two sides


FACTS: ContextVar[Facts] = ContextVar("FACTS")


class QueryText(str):
    """A value of a query: text, whatever its type is; in JSON, a string is a string."""


@dataclass(frozen=True)
class ParamType:
    """A type of values, as metadata of an annotation.

    `check` gives the value or raises ValueError with the expectation; `schema` gives the JSON Schema.
    """

    check: Callable[[Any], Any]
    schema: Callable[[], Schema]

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> CoreSchema:
        """Let pydantic check values by `check` alone."""
        return core_schema.no_info_plain_validator_function(self.check)

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: Any) -> Schema:
        """Let pydantic describe values by `schema`."""
        return self.schema()


def whole(least: int, most: int) -> ParamType:
    """Whole numbers from `least` to `most`; 7.0 is one in JSON.

    Examples
    --------
    >>> whole(1, 10).check(QueryText("7")), whole(1, 10).check(7.0)
    (7, 7)
    >>> whole(1, 10).check("7")
    Traceback (most recent call last):
    ValueError: a whole number from 1 to 10 is expected
    """

    def check(value: Any) -> int:
        if isinstance(value, QueryText) and is_integer(value):
            value = int(value)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if type(value) is int and least <= value <= most:
            return value
        if most < least:
            raise ValueError("there is nothing to choose from: the embedding is empty")
        raise ValueError(f"a whole number from {least} to {most} is expected")

    return ParamType(check, lambda: {"type": "integer", "minimum": least, "maximum": most})


def choice(*words: str) -> ParamType:
    """One of a few words."""

    def check(value: Any) -> str:
        if not isinstance(value, str) or value not in words:
            raise ValueError(f"one of {', '.join(words)} is expected")
        return str(value)

    return ParamType(check, lambda: {"type": "string", "enum": list(words)})


def list_of(item: ParamType, most: int, least: int = 1) -> ParamType:
    """Lists of `least` to `most` values of a type, in a body.

    Examples
    --------
    >>> list_of(whole(0, 9), 3).check([1, 2])
    [1, 2]
    >>> list_of(whole(0, 9), 3).check([1, True])
    Traceback (most recent call last):
    ValueError: entry 1: a whole number from 0 to 9 is expected
    """
    counts = str(most) if least == most else f"{least} to {most}"

    def check(value: Any) -> list[Any]:
        if not isinstance(value, list) or not least <= len(value) <= most:
            raise ValueError(f"a list of {counts} values is expected")
        values: list[Any] = []
        try:
            for entry in value:
                values.append(item.check(entry))
        except ValueError as error:
            raise ValueError(f"entry {len(values)}: {error}") from None
        return values

    return ParamType(check, lambda: {"type": "array", "items": item.schema(), "minItems": least, "maxItems": most})


def vector(dim: int) -> ParamType:
    """Vectors of `dim` numbers, in a body.

    Examples
    --------
    >>> vector(2).check([1, 0.5])
    array([1. , 0.5], dtype=float32)
    """

    def check(value: Any) -> NDArray[np.float32]:
        if not isinstance(value, list) or len(value) != dim or not set(map(type, value)) <= {int, float}:
            raise ValueError(f"a list of {dim} numbers is expected")
        if any(not -LARGEST <= number <= LARGEST for number in value):
            raise ValueError(f"numbers from {-LARGEST:g} to {LARGEST:g} are expected")
        return np.array(value, np.float32)

    number = {"type": "number", "minimum": -LARGEST, "maximum": LARGEST}
    return ParamType(check, lambda: {"type": "array", "items": number, "minItems": dim, "maxItems": dim})


def _check_text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("a string is expected")
    if len(value) > LONGEST:
        raise ValueError(f"at most {LONGEST} characters are expected")
    return str(value)


def _check_flag(value: Any) -> bool:
    flag = {"true": True, "false": False}.get(value) if isinstance(value, QueryText) else value
    if not isinstance(flag, bool):
        raise ValueError("true or false is expected")
    return flag


def _by_facts(make: Callable[[Facts], ParamType]) -> ParamType:
    """A type that depends on the embedding."""
    of_facts = lru_cache(maxsize=8)(make)
    return ParamType(lambda value: of_facts(FACTS.get()).check(value), lambda: of_facts(FACTS.get()).schema())


TEXT = ParamType(_check_text, lambda: {"type": "string", "maxLength": LONGEST})
FLAG = ParamType(_check_flag, lambda: {"type": "boolean"})
ROW = _by_facts(lambda facts: whole(0, facts.nodes - 1))
NAME = _by_facts(lambda facts: whole(-INT64, INT64 - 1) if facts.integer_names else TEXT)
AXIS = _by_facts(lambda facts: whole(0, facts.dim - 1))
VECTOR = _by_facts(lambda facts: vector(facts.dim))
