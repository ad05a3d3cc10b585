"""Settings of methods: frozen dataclasses, checked when they are made; chosen by name, preset and text."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

import numpy as np

from graphrefine.errors import InputError

S = TypeVar("S")


@dataclass(frozen=True)
class MethodSettings:
    """What every method has: the length of the vectors, and the seed of all that is random.

    A method's own settings are further fields with defaults, checked in ``__post_init__`` after ``super()``'s.
    """

    dim: int = 128
    seed: int = 0

    def __post_init__(self) -> None:
        check_integer("dim", self.dim, least=1)
        check_integer("seed", self.seed, least=0, most=2**64 - 1)


def check_integer(name: str, value: Any, *, least: int, most: int | None = None) -> None:
    """Raise InputError unless ``value`` is a whole number in its range."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise InputError(f"{name}={value!r} must be a whole number")
    if value < least or (most is not None and value > most):
        upper = "" if most is None else f" and at most {most}"
        raise InputError(f"{name}={value!r} must be at least {least}{upper}")


def check_number(
    name: str, value: Any, *, above: float | None = None, least: float | None = None, most: float | None = None
) -> None:
    """Raise InputError unless ``value`` is a finite number in its range."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise InputError(f"{name}={value!r} must be a number")
    if not math.isfinite(value):
        raise InputError(f"{name}={value!r} must be a finite number")
    if above is not None and value <= above:
        raise InputError(f"{name}={value!r} must be greater than {above:g}")
    if least is not None and value < least:
        raise InputError(f"{name}={value!r} must be at least {least:g}")
    if most is not None and value > most:
        raise InputError(f"{name}={value!r} must be at most {most:g}")


def choose(
    kind: type[S], options: Mapping[str, Any], *, presets: Mapping[str, Mapping[str, Any]], preset: str | None, of: str
) -> S:
    """Settings of a preset, with those options that are not None in place of its own.

    Examples
    --------
    >>> choose(MethodSettings, {"dim": 8, "seed": None}, presets={}, preset=None, of="line")
    MethodSettings(dim=8, seed=0)
    """
    if preset is not None and preset not in presets:
        known = ", ".join(map(repr, presets)) or "none"
        raise InputError(f"preset={preset!r} is not known; the presets of {of} are {known}")
    given = {name: value for name, value in options.items() if value is not None}
    names = [field.name for field in fields(kind)]  # type: ignore[arg-type]  # a dataclass
    unknown = sorted(set(given) - set(names))
    if unknown:
        raise InputError(f"{of} has no setting {unknown[0]!r}; its settings are {', '.join(names)}")
    return kind(**{**presets.get(preset or "default", {}), **given})


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def parse(kind: type, name: str, text: str, *, of: str) -> Any:
    """A setting from text, by the type of its field.

    Examples
    --------
    >>> parse(MethodSettings, "dim", "64", of="line")
    64
    """
    hints = _hints(kind)
    if name not in hints:
        raise InputError(f"{of} has no setting {name!r}; its settings are {', '.join(hints)}")
    wanted = get_args(hints[name]) or (hints[name],)
    if get_origin(hints[name]) is tuple:
        return _numbers(name, text, of=of)
    if bool in wanted and text.lower() in ("true", "yes", "on", "false", "no", "off"):
        return text.lower() in ("true", "yes", "on")
    if type(None) in wanted and text.lower() == "none" and str not in wanted:
        return None
    for number in (int, float):
        if number in wanted or (number is int and float in wanted):
            try:
                return number(text)
            except ValueError:
                continue
    if str in wanted:
        several = "," in text and any(get_origin(one) is tuple for one in wanted)
        return _numbers(name, text, of=of) if several else text
    kinds = " or ".join(getattr(one, "__name__", str(one)) for one in wanted if one is not type(None))
    raise InputError(f"{of}: {name}={text!r} is not of its kind ({kinds})")


def _numbers(name: str, text: str, *, of: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise InputError(f"{of}: {name}={text!r} must be numbers with commas between them, as in 1,0.5") from None


def numbers(name: str, values: Any) -> tuple[float, ...]:
    """A setting that is a sequence of finite numbers, not all zero, as a tuple.

    Examples
    --------
    >>> numbers("weights", [1, 0.5])
    (1.0, 0.5)
    """
    try:
        checked = tuple(float(value) for value in values)
    except (TypeError, ValueError):
        raise InputError(f"{name}={values!r} must be a sequence of numbers, as in (1, 0.5)") from None
    if not all(map(math.isfinite, checked)) or not any(checked):
        raise InputError(f"{name}={values!r} must be finite numbers, not all zero")
    return checked
