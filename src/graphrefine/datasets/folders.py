"""Where the files of datasets are looked for: the user's own folder, then the cache.

``GRAPHREFINE_DATA`` names the user's own; nothing is ever written there. The cache is ``GRAPHREFINE_CACHE`` or, if that
is not set, the system's place for such files.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from graphrefine.datasets.catalogue import Entry


def data_folder() -> Path | None:
    """The user's own folder, if there is one."""
    named = os.environ.get("GRAPHREFINE_DATA")
    return Path(named) if named else None


def cache_folder() -> Path:
    """Where downloads go.

    Examples
    --------
    >>> cache_folder().name
    'graphrefine'
    """
    named = os.environ.get("GRAPHREFINE_CACHE")
    if named:
        return Path(named)
    if sys.platform == "win32":
        above = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        above = Path.home() / "Library" / "Caches"
    else:
        above = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return above / "graphrefine"


def locate(entry: Entry) -> Path | None:
    """The file of a dataset, if it is here."""
    folders = [folder for folder in (data_folder(), cache_folder()) if folder is not None]
    return next((folder / entry.file for folder in folders if (folder / entry.file).is_file()), None)


def by_hand(entry: Entry) -> str:
    """How to get the file without this program."""
    own = data_folder()
    folder = cache_folder() if own is None else own
    named = "" if own else ", or into a folder that GRAPHREFINE_DATA names"
    return f"download {entry.url} yourself and save it as {folder / entry.file}{named}"
