"""Folders of datasets: the user's own folder, then the cache.

``GRAPHREFINE_DATA`` names the user's own; nothing is ever written there. The cache is ``GRAPHREFINE_CACHE`` or, if that
is not set, the system's cache folder.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from graphrefine.datasets.catalogue import Entry


def data_folder() -> Path | None:
    """The user's own folder, if there is one."""
    folder = os.environ.get("GRAPHREFINE_DATA")
    return Path(folder) if folder else None


def cache_folder() -> Path:
    """Folder of downloads.

    Examples
    --------
    >>> cache_folder().name
    'graphrefine'
    """
    folder = os.environ.get("GRAPHREFINE_CACHE")
    if folder:
        return Path(folder)
    if sys.platform == "win32":
        parent = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        parent = Path.home() / "Library" / "Caches"
    else:
        parent = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return parent / "graphrefine"


def locate(entry: Entry) -> Path | None:
    """File of a dataset on this machine, if there is one."""
    folders = [folder for folder in (data_folder(), cache_folder()) if folder is not None]
    return next((folder / entry.file for folder in folders if (folder / entry.file).is_file()), None)


def advise_download(entry: Entry) -> str:
    """Advice to get the file by hand, for messages."""
    own = data_folder()
    folder = cache_folder() if own is None else own
    other = "" if own else ", or into a folder that GRAPHREFINE_DATA names"
    return f"download {entry.url} yourself and save it as {folder / entry.file}{other}"
