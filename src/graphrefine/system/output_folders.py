"""Output folders and what a user may have put into them: only a folder of our own files alone is ever replaced.

A folder says in a file of JSON what it is (``format``) and which files belong to it (``files``).
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from graphrefine.errors import OutputError

CLUTTER = frozenset({".DS_Store", "Thumbs.db", "desktop.ini"})  # files that systems leave in folders
_FEW = 3  # names in a message


def read_mark(path: Path, mark: str) -> dict[str, Any] | None:
    """The file of JSON that says what its folder is; None unless it can be read, and says ``format``: `mark`."""
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) and content.get("format") == mark else None


def listed_files(content: Mapping[str, Any], *more: str) -> set[str]:
    """The names under ``files``, and those of `more`.

    Examples
    --------
    >>> sorted(listed_files({"files": {"indptr.npy": 136}}, "manifest.json"))
    ['indptr.npy', 'manifest.json']
    """
    files = content.get("files")
    return {*(files if isinstance(files, dict) else ()), *more}


def check_only(folder: Path, files: Collection[str] | None, *, kind: str, way_out: str = "choose another name") -> None:
    """Refuse to replace a folder that has anything of somebody else in it.

    Parameters
    ----------
    folder : Path
        The folder that is to be replaced.
    files : collection of str or None
        Names that belong to an output of this kind; None if the folder is no such output.
    kind : str
        The output, for the message.
    way_out : str
        What to do, for the message.

    Examples
    --------
    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp())
    >>> check_only(place, None, kind="map")
    >>> (place / "thesis.txt").touch()
    >>> check_only(place, {"meta.json"}, kind="map")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    graphrefine.errors.OutputError: ...: also holds thesis.txt, which would be lost; choose another name
    """
    present = {entry.name for entry in folder.iterdir()} - CLUTTER
    if not present:
        return
    if files is None:
        raise OutputError(f"{folder}: is a folder but no {kind}, and would be lost; {way_out}")
    foreign = sorted(present - set(files))
    if foreign:
        raise OutputError(f"{folder}: also holds {', '.join(foreign[:_FEW])}, which would be lost; {way_out}")
