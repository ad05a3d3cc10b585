"""Registry of methods: one line each, loaded on first use; their settings by name and preset."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from graphrefine.errors import InputError, suggest
from graphrefine.methods.contract import Method
from graphrefine.refine.settings import build_settings

METHODS = {  # name -> its module in this folder and the name of its Method there; loaded on first use
    "refine": ("refine", "REFINE_METHOD"),
    "rbqr": ("refine", "RBQR_METHOD"),
    "prone": ("prone", "PRONE"),
    "netmf": ("netmf", "NETMF"),
    "netsmf": ("netsmf", "NETSMF"),
    "grarep": ("grarep", "GRAREP"),
    "hope": ("hope", "HOPE"),
    "arope": ("arope", "AROPE"),
    "randne": ("randne", "RANDNE"),
    "fastrp": ("fastrp", "FASTRP"),
    "deepwalk": ("random_walks", "DEEPWALK"),
    "node2vec": ("random_walks", "NODE2VEC"),
    "line": ("line", "LINE"),
    "pte": ("line", "PTE"),
    "harp": ("harp", "HARP"),
    "mile": ("mile", "MILE"),
    "louvainne": ("louvainne", "LOUVAINNE"),
}


def find_method(name: str) -> Method[Any]:
    """Return the method of this name.

    Examples
    --------
    >>> find_method("refine").reference
    'Zhu and Koniusz, CIKM 2021'
    """
    if name not in METHODS:
        known = f"the methods are {', '.join(METHODS)}"
        raise InputError(f"method={name!r} is not known{suggest(name, METHODS)}; {known}", argument="method")
    module, attribute = METHODS[name]
    method: Method[Any] = getattr(import_module(f"graphrefine.methods.{module}"), attribute)
    return method


def make_settings(name: str, preset: str | None = None, **options: Any) -> Any:
    """Return the settings of a method: those of a preset, overridden by the options that are not None.

    Examples
    --------
    >>> make_settings("rbqr", dim=16).filter
    'none'
    """
    method = find_method(name)
    overrides = {option: value for option, value in options.items() if value is not None}
    for option, value in method.fixed.items():
        if overrides.setdefault(option, value) != value:
            raise InputError(
                f"{option}={overrides[option]!r} cannot be set with method={name!r}; leave it out",
                argument=option,
            )
    return build_settings(method.settings, overrides, presets=method.presets, preset=preset, of=f"method {name!r}")
