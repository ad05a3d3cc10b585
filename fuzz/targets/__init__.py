"""The targets: every module here has a list ``TARGETS``, and is found by its being here."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from fuzz.target import Target


def list_targets(*modules: str) -> dict[str, Target]:
    """All targets of this folder, or those of the modules named, by name.

    Examples
    --------
    >>> list_targets()["sizes"].group
    'tables'
    """
    names = modules or tuple(f"{__name__}.{module.name}" for module in iter_modules(__path__))
    targets: dict[str, Target] = {}
    for name in names:
        for target in import_module(name).TARGETS:
            if target.name in targets:
                raise ValueError(f"two targets are called {target.name!r}")
            targets[target.name] = target
    return targets
