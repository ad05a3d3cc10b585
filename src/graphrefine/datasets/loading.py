"""`load`: a dataset from the user's folder, from the cache, or from the internet, checked for its sizes.

``GRAPHREFINE_DATA`` names the user's own folder; nothing is ever written there. The cache is ``GRAPHREFINE_CACHE`` or,
if that is not set, the system's cache folder.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from graphrefine.datasets.catalog import Dataset, Entry, find
from graphrefine.datasets.download import fetch
from graphrefine.errors import DownloadError, FormatError, InputError
from graphrefine.progress import Watcher
from graphrefine.readers.labels import read_labels
from graphrefine.readers.read import read


def data_folder() -> Path | None:
    """Return the user's own folder, if there is one."""
    folder = os.environ.get("GRAPHREFINE_DATA")
    return Path(folder) if folder else None


def cache_folder() -> Path:
    """Return the folder of downloads.

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
    """Find the file of a dataset on this machine, if there is one."""
    folders = [folder for folder in (data_folder(), cache_folder()) if folder is not None]
    return next((folder / entry.file for folder in folders if (folder / entry.file).is_file()), None)


def advise_download(entry: Entry) -> str:
    """Describe how to get the file by hand, for messages."""
    own = data_folder()
    folder = cache_folder() if own is None else own
    other = "" if own else ", or into a folder that GRAPHREFINE_DATA names"
    return f"download {entry.url} yourself and save it as {folder / entry.file}{other}"


def load(
    name: str | Entry,
    *,
    download: bool = True,
    unverified: bool = False,
    threads: int | None = None,
    progress: Watcher | None = None,
) -> Dataset:
    """Load one of the paper's graphs, with its labels.

    The file is searched in the folder that ``GRAPHREFINE_DATA`` names, then in the cache (``GRAPHREFINE_CACHE``, or the
    system's cache folder), and is downloaded into the cache if it is in neither.

    Parameters
    ----------
    name : str or Entry
        A name in `graphrefine.datasets.DATASETS`, or an entry like those.
    download : bool
        False: refuse to download.
    unverified : bool
        True: download also what cannot be verified, as there is neither a checksum nor TLS.
    threads : int, optional
        Threads for reading.
    progress : Watcher, optional
        Watcher of the stage "download".
    """
    entry = name if isinstance(name, Entry) else find(name)
    path = locate(entry)
    if path is None and not download:
        raise InputError(
            f"{entry.title} is not here; {advise_download(entry)}; or leave out download=False", argument="download"
        )
    if path is None:
        if entry.sha256 is None and not entry.url.startswith("https://") and not unverified:
            raise DownloadError(
                f"{entry.url}: has neither TLS nor a published checksum, so it cannot be verified that the download is "
                f"{entry.title}; {advise_download(entry)}, from a source that you trust, or pass unverified=True",
                argument="unverified",
            )
        path = cache_folder() / entry.file
        fetch(
            entry.url,
            path,
            sha256=entry.sha256,
            accept=lambda part: _check_sizes(entry, _read(entry, part, threads)),
            advice=advise_download(entry),
            progress=progress,
        )
    dataset = _read(entry, path, threads)
    # At each load: a file that was saved again, by hand, has another checksum, but the sizes of the same graph.
    _check_sizes(entry, dataset)
    return dataset


def _read(entry: Entry, path: Path, threads: int | None) -> Dataset:
    """Read the graph and the labels in a file."""
    return Dataset(entry.name, entry.title, read(path, threads=threads), read_labels(path), path=path)


def _check_sizes(entry: Entry, dataset: Dataset) -> None:
    sizes = (dataset.graph.nodes, dataset.graph.edges, dataset.classes)
    expected = (entry.nodes, entry.edges, entry.classes)
    if sizes != expected:
        has, must = ("{:,} nodes, {:,} edges, {:,} classes".format(*counts) for counts in (sizes, expected))
        raise FormatError(
            str(dataset.path), f"this is not {entry.title}: it has {has}, and {must} are expected; move it elsewhere"
        )
