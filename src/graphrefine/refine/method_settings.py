"""Settings of methods: frozen dataclasses, checked when they are made; from presets, options, text and files.

The base class, the checks, and the one validator of settings: `build_settings` and `parse_setting`.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from graphrefine.errors import InputError

S = TypeVar("S")


def setting(
    value: Any, text: str, *, default: str | None = None, metavar: str | None = None, flag: str | None = None
) -> Any:
    """A field of settings with its help text.

    Parameters
    ----------
    value
        The default.
    text
        The help text: a noun phrase, or a sentence.
    default
        The default in words, where the value does not tell.
    metavar
        The value's name in ``--help``.
    flag
        Of a bool: the option of the command line that turns it off.
    """
    return field(default=value, metadata={"help": text, "default": default, "metavar": metavar, "flag": flag})


@dataclass(frozen=True)
class MethodSettings:
    """Settings of every method: the length of the vectors, and the seed of all random numbers.

    A method's own settings are further fields with defaults, checked in ``__post_init__`` after ``super()``'s.
    """

    dim: int = setting(
        128, "Length of the vectors.", default="128, or the number of nodes if that is less", metavar="K"
    )
    seed: int = setting(0, "Seed of all random numbers.", metavar="N")

    def __post_init__(self) -> None:
        check_integer("dim", self.dim, least=1)
        check_integer("seed", self.seed, least=0, most=2**64 - 1)


def check_integer(name: str, value: Any, *, least: int, most: int | None = None) -> None:
    """Raise InputError unless ``value`` is a whole number in its range."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise InputError(f"{name}={value!r} must be a whole number")
    number = int(value)
    if number < least or (most is not None and number > most):
        upper = "" if most is None else f" and at most {most}"
        raise InputError(f"{name}={value!r} must be at least {least}{upper}")


def check_number(
    name: str, value: Any, *, above: float | None = None, least: float | None = None, most: float | None = None
) -> None:
    """Raise InputError unless ``value`` is a finite number in its range."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise InputError(f"{name}={value!r} must be a number")
    number = float(value)
    if not math.isfinite(number):
        raise InputError(f"{name}={value!r} must be a finite number")
    if above is not None and number <= above:
        raise InputError(f"{name}={value!r} must be greater than {above:g}")
    if least is not None and number < least:
        raise InputError(f"{name}={value!r} must be at least {least:g}")
    if most is not None and number > most:
        raise InputError(f"{name}={value!r} must be at most {most:g}")


def build_settings(
    kind: type[S], options: Mapping[str, Any], *, presets: Mapping[str, Mapping[str, Any]], preset: str | None, of: str
) -> S:
    """Settings of a preset, with those options that are not None in place of its own.

    Examples
    --------
    >>> build_settings(MethodSettings, {"dim": 8, "seed": None}, presets={}, preset=None, of="line")
    MethodSettings(dim=8, seed=0)
    """
    if preset is not None and preset not in presets:
        choices = ", ".join(map(repr, presets)) or "none"
        raise InputError(f"preset={preset!r} is not known; the presets of {of} are {choices}")
    overrides = {name: value for name, value in options.items() if value is not None}
    names = [field.name for field in fields(kind)]  # type: ignore[arg-type]  # a dataclass
    unknown = sorted(set(overrides) - set(names))
    if unknown:
        raise InputError(f"{of} has no setting {unknown[0]!r}; its settings are {', '.join(names)}")
    return kind(**{**presets.get(preset or "default", {}), **overrides})


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def parse_setting(kind: type, name: str, text: str, *, of: str) -> Any:
    """A setting from text, by the type of its field.

    Examples
    --------
    >>> parse_setting(MethodSettings, "dim", "64", of="line")
    64
    """
    hints = _hints(kind)
    if name not in hints:
        raise InputError(f"{of} has no setting {name!r}; its settings are {', '.join(hints)}")
    types = get_args(hints[name]) or (hints[name],)
    if get_origin(hints[name]) is tuple:
        return _numbers(name, text, of=of)
    if bool in types and text.lower() in ("true", "yes", "on", "false", "no", "off"):
        return text.lower() in ("true", "yes", "on")
    if type(None) in types and text.lower() == "none" and str not in types:
        return None
    for number in (int, float):
        if number in types or (number is int and float in types):
            try:
                return number(text)
            except ValueError:
                continue
    if str in types:
        several = "," in text and any(get_origin(one) is tuple for one in types)
        return _numbers(name, text, of=of) if several else text
    kinds = " or ".join(getattr(one, "__name__", str(one)) for one in types if one is not type(None))
    raise InputError(f"{of}: {name}={text!r} is not of its kind ({kinds})")


def _numbers(name: str, text: str, *, of: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise InputError(f"{of}: {name}={text!r} must be numbers with commas between them, as in 1,0.5") from None


def check_numbers(name: str, values: Any) -> tuple[float, ...]:
    """A setting that is a sequence of finite numbers, not all zero, as a tuple.

    Examples
    --------
    >>> check_numbers("weights", [1, 0.5])
    (1.0, 0.5)
    """
    try:
        checked = tuple(float(value) for value in values)
    except (TypeError, ValueError):
        raise InputError(f"{name}={values!r} must be a sequence of numbers, as in (1, 0.5)") from None
    if not all(map(math.isfinite, checked)) or not any(checked):
        raise InputError(f"{name}={values!r} must be finite numbers, not all zero")
    return checked
