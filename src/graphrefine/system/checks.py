"""Checks of arguments: a value of the right kind and in its range, or an InputError that names the argument."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable
from typing import Any

from graphrefine.errors import InputError, suggest

MOST_NUMBERS = 1000  # in a sequence


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
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    number = as_float(value) if is_number else math.nan
    if not math.isfinite(number):
        raise InputError(f"{name}={value!r} must be a finite number", argument=name)
    too_low = (above is not None and number <= above) or (least is not None and number < least)
    if too_low or (most is not None and number > most):
        limits = [("greater than", above), ("at least", least), ("at most", most)]
        listed = " and ".join(f"{words} {limit:g}" for words, limit in limits if limit is not None)
        raise InputError(f"{name}={value!r} must be {listed}", argument=name)


def check_numbers(name: str, values: Any) -> tuple[float, ...]:
    """Return a setting that is a sequence of finite numbers, not all zero, as a tuple.

    Examples
    --------
    >>> check_numbers("weights", [1, 0.5])
    (1.0, 0.5)
    """
    try:
        found = tuple(as_float(value) for value in values)
    except (TypeError, ValueError):
        raise InputError(f"{name}={values!r} must be a sequence of numbers, as in (1, 0.5)", argument=name) from None
    if len(found) > MOST_NUMBERS:
        raise InputError(f"{name}: {len(found):,} numbers are given, and {MOST_NUMBERS} are the most", argument=name)
    if not all(map(math.isfinite, found)) or not any(found):
        raise InputError(f"{name}={values!r} must be finite numbers, not all zero", argument=name)
    return found


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


def version_problem(version: Any, newest: int) -> str | None:
    """Return what is wrong with the version of a stored format; None if this installation can read it."""
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        return f"names {version!r} as its format, which is no version: damaged"
    if version > newest:
        text = f"was written by a newer graphrefine, format {version}; this one reads up to {newest}"
        return f"{text}: install a newer graphrefine"
    return None
