"""Versions of stored formats: an older one is read, a newer one is refused by name."""

from __future__ import annotations

from typing import Any


def version_problem(version: Any, newest: int, *, name: str = "format") -> str | None:
    """Return what is wrong with the version that a file names; None if this installation can read it.

    Examples
    --------
    >>> version_problem(3, 2)
    'was written by a newer graphrefine, format 3; this one reads up to 2: install a newer graphrefine'
    >>> version_problem("x", 2)
    "names 'x' as its format, which is no version: damaged"
    >>> version_problem(1, 2)
    """
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        return f"names {version!r} as its {name}, which is no version: damaged"
    if version > newest:
        text = f"was written by a newer graphrefine, {name} {version}; this one reads up to {newest}"
        return f"{text}: install a newer graphrefine"
    return None
