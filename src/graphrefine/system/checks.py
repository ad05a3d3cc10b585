"""Checks of arguments: a value of the right kind and in its range, or an InputError that names the argument."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable
from typing import Any

from graphrefine.errors import InputError, suggest


def check_integer(name: str, value: Any, *, least: int, most: int | None = None) -> int:
    """Return the value as a plain integer; InputError unless it is one, and in its range.

    Examples
    --------
    >>> check_integer("seed", True, least=0)
    Traceback (most recent call last):
    graphrefine.errors.InputError: seed=True must be a whole number
    """
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise InputError(f"{name}={value!r} must be a whole number", argument=name)
    number = int(value)
    if number < least or (most is not None and number > most):
        upper = "" if most is None else f" and at most {most}"
        raise InputError(f"{name}={value!r} must be at least {least}{upper}", argument=name)
    return number


def check_number(
    name: str, value: Any, *, above: float | None = None, least: float | None = None, most: float | None = None
) -> None:
    """Raise InputError unless ``value`` is a finite number in its range."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise InputError(f"{name}={value!r} must be a number", argument=name)
    number = as_float(value)
    if not math.isfinite(number):
        raise InputError(f"{name}={value!r} must be a finite number", argument=name)
    if above is not None and number <= above:
        raise InputError(f"{name}={value!r} must be greater than {above:g}", argument=name)
    if least is not None and number < least:
        raise InputError(f"{name}={value!r} must be at least {least:g}", argument=name)
    if most is not None and number > most:
        raise InputError(f"{name}={value!r} must be at most {most:g}", argument=name)


def check_choice(name: str, value: Any, choices: Iterable[Any]) -> None:
    """Raise InputError unless ``value`` is one of a few, with the one that may have been meant.

    Examples
    --------
    >>> check_choice("side", "sorce", ["source", "target"])
    Traceback (most recent call last):
    graphrefine.errors.InputError: side='sorce' is not known (did you mean 'source'?); it can be 'source', 'target'
    """
    known = list(choices)
    try:
        found = value in known
    except (TypeError, ValueError):  # such as an array
        found = False
    if not found:
        listed = ", ".join(repr(each) for each in known if each is not None)
        raise InputError(f"{name}={value!r} is not known{suggest(value, known)}; it can be {listed}", argument=name)


def as_float(value: Any) -> float:
    """Return a number as a float; one beyond the range of floats becomes infinite."""
    try:
        return float(value)
    except OverflowError:
        return math.inf
