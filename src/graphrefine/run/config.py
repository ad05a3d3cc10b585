"""Settings kept in a file: what `graphrefine tune` writes and ``graphrefine embed --config`` takes.

A JSON object with the name of the method and any of its settings: ``{"method": "refine", "dim": 64, "negative": 5}``.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, get_args, get_origin, get_type_hints

from graphrefine.errors import FormatError
from graphrefine.refine.method_settings import MethodSettings
from graphrefine.system.files import replacing

MOST_BYTES = 1 << 20  # of a file of settings; one that is larger is something else


class Config(NamedTuple):
    """A method, and some of its settings."""

    method: str
    settings: dict[str, Any]


def write_config(path: str | PathLike[str], method: str, settings: MethodSettings) -> None:
    """Write all settings, those that are the default's too: the file means the same if defaults change."""
    text = json.dumps({"method": method, **asdict(settings)}, indent=2, allow_nan=False)
    with replacing(path) as hidden:
        hidden.write_text(text + "\n", encoding="utf-8")


def read_config(path: str | PathLike[str]) -> Config:
    """The settings in a file; each is known to the method, and of its kind.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "wide.json"
    >>> _ = path.write_text('{"dim": 256}')
    >>> read_config(path)
    Config(method='refine', settings={'dim': 256})
    """
    from graphrefine.methods.registry import METHODS, find

    found = _object(path)
    method = found.pop("method", "refine")
    if method not in METHODS:
        raise FormatError(path, f"the method {method!r} is not known; the methods are {', '.join(METHODS)}")
    kind = find(method).settings
    for name, value in found.items():
        problem = _problem(kind, name, value)
        if problem:
            raise FormatError(path, f"{problem} of method {method!r}")
    return Config(method, {name: tuple(v) if isinstance(v, list) else v for name, v in found.items()})


def _problem(kind: type, name: str, value: Any) -> str:
    """What is wrong with a value for a setting, or nothing."""
    hints = get_type_hints(kind)
    if name not in hints:
        return f"{name!r} is not one of the settings {', '.join(hints)}"
    wanted = get_args(hints[name]) or (hints[name],)
    several = get_origin(hints[name]) is tuple or any(get_origin(one) is tuple for one in wanted)
    if isinstance(value, list):
        number = all(isinstance(part, int | float) and not isinstance(part, bool) for part in value)
        return "" if several and number else f"{value!r} is not of the kind of the setting {name!r}"
    allowed = {type(None), *wanted, *((int,) if float in wanted else ())}
    return "" if type(value) in allowed else f"{value!r} is not of the kind of the setting {name!r}"


def _object(path: str | PathLike[str]) -> dict[str, Any]:
    try:
        with Path(path).open("rb") as file:
            text = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise FormatError(path, f"cannot be read: {error.strerror or error}") from None
    expected = 'a JSON object of settings is expected, like {"method": "refine", "dim": 64}'
    if len(text) > MOST_BYTES:
        raise FormatError(path, f"is larger than any file of settings; {expected}")
    try:
        found = json.loads(text.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise FormatError(path, f"not JSON ({error}); {expected}") from None
    if not isinstance(found, dict):
        raise FormatError(path, expected)
    return found
