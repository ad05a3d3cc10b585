"""Base method of HARP and MILE, with its settings, for the graphs of a hierarchy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from graphrefine.errors import InputError
from graphrefine.methods.contract import Method, Shape
from graphrefine.methods.registry import find_method, make_settings
from graphrefine.refine.settings import MethodSettings, parse_setting, setting

NESTED = ("harp", "mile")


@dataclass(frozen=True)
class BaseSettings(MethodSettings):
    """Settings of a method that is made of another; dim and seed of the base are those of the method itself."""

    base: str = setting("deepwalk", "Method that embeds the coarsest graph: any but HARP and MILE themselves.")
    base_settings: str | Mapping[str, Any] = setting(
        "", "Settings of the base, as a mapping or as text: window=5,length=20."
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        self.base_method()  # refuses what the base does not know

    def base_defaults(self) -> Mapping[str, Any]:
        """Return settings of the base that ``base_settings`` overrides."""
        return {}

    def base_method(self) -> tuple[Method[Any], Any]:
        """Return the base method and its settings."""
        if self.base in NESTED:
            raise InputError(f"base={self.base!r} is made of a base itself; choose another method", argument="base")
        try:
            method = find_method(self.base)
        except InputError as error:
            raise InputError(str(error).replace("method=", "base=", 1)) from None
        options = assignments(self.base_settings, method)
        for name in ("dim", "seed"):
            if name in options:
                raise InputError(
                    f"base_settings={self.base_settings!r} sets {name}; set {name} of the method itself",
                    argument="base_settings",
                )
        # REFINE alone: the other views would be made on every level, and the levels are views enough.
        alone = {"quality": "fast"} if self.base == "refine" else {}
        chosen = {**alone, **self.base_defaults(), **options}
        return method, make_settings(self.base, dim=self.dim, seed=self.seed, **chosen)


def assignments(value: str | Mapping[str, Any], method: Method[Any]) -> dict[str, Any]:
    """Return settings of a method from a mapping, or from text with commas between.

    Examples
    --------
    >>> assignments("power=2,two_sided=no", find_method("refine"))
    {'power': 2, 'two_sided': False}
    """
    if isinstance(value, Mapping):
        return dict(value)
    if not isinstance(value, str):
        raise InputError(
            f"base_settings={value!r} must be a mapping, or text such as 'window=5,length=20'", argument="base_settings"
        )
    options: dict[str, Any] = {}
    for part in filter(None, (part.strip() for part in value.split(","))):
        name, equals, text = part.partition("=")
        if not equals:
            raise InputError(
                f"base_settings={value!r}: {part!r} is not SETTING=VALUE, as in window=5", argument="base_settings"
            )
        options[name] = parse_setting(method.settings, name, text, of=f"method {method.name!r} (the base)")
    return options


def hierarchy_memory(shape: Shape) -> int:
    """Return the coarser graphs, about as many entries together as the first, and the edges while they are matched."""
    return shape.entries * 48 + shape.nodes * 120
