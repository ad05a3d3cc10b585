"""`load`: a dataset from the user's folder, from the cache, or from the internet, checked for its sizes.

``GRAPHREFINE_DATA`` names the user's own folder; nothing is ever written there. The cache is ``GRAPHREFINE_CACHE`` or,
if that is not set, the system's cache folder.

A file arrives there under a hidden name next to its target, by `sklearn.datasets.fetch_file`, and is renamed when it
has passed its checks. A lock lets one process download it; the others wait, and use the same file.
"""

from __future__ import annotations

import os
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path
from urllib.error import URLError

from filelock import FileLock

from graphrefine.datasets.catalog import Dataset, Entry, find
from graphrefine.errors import DownloadError, FormatError, InputError, OutputError
from graphrefine.progress import Stages, Watcher
from graphrefine.readers.labels import read_labels
from graphrefine.readers.read import read

RETRIES = 3
PAUSE = 1.0  # seconds between two attempts
TIMEOUT = 30.0  # seconds without a byte
_one_download = threading.Lock()  # in this process: the timeout of sockets is set for all of it


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
    watcher: Watcher | None = None,
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
    watcher : Watcher, optional
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
            watcher=watcher,
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


def fetch(
    url: str,
    target: Path,
    *,
    sha256: str | None,
    accept: Callable[[Path], None],
    advice: str,
    watcher: Watcher | None = None,
) -> None:
    """Download a file to ``target``, unless it is there; its folder is made.

    ``accept`` is called with the path of the complete file, before it is renamed, and raises FormatError to refuse it.
    ``advice`` is how to get the file by hand, for messages.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        # The lock file stays: if it were removed, a process that waits for it and one that makes it again would both
        # hold a lock.
        with _one_download, _socket_timeout(TIMEOUT), FileLock(target.with_name(f".{target.name}.lock")):
            if not target.is_file():
                with Stages(watcher).stage("download"):
                    _download(url, target, sha256, accept)
    except FormatError as error:
        raise DownloadError(f"{url}: the download is not kept: {error}; {advice}") from error
    except (URLError, TimeoutError, ConnectionError, HTTPException) as error:
        raise DownloadError(f"{url}: cannot be downloaded ({error}); {advice}") from error
    except OSError as error:
        # `fetch_file` raises a bare OSError, which no system call made, for another checksum.
        if error.errno is None:
            raise DownloadError(f"{url}: the download is not kept: {error}; {advice}") from error
        raise OutputError(
            f"{target}: cannot be written: {error.strerror}; free some space or set GRAPHREFINE_CACHE to another "
            "folder, and run again"
        ) from error


def _download(url: str, target: Path, sha256: str | None, accept: Callable[[Path], None]) -> None:
    from sklearn.datasets import fetch_file

    for leftover in target.parent.glob(f".{target.stem}.*part*"):  # of a process that was killed
        leftover.unlink(missing_ok=True)
    # The suffix stays that of the target: `accept` reads the file in the format that the suffix names.
    part = target.with_name(f".{target.stem}.part{target.suffix}")
    try:
        fetch_file(url, folder=part.parent, local_filename=part.name, sha256=sha256, n_retries=RETRIES, delay=PAUSE)
        accept(part)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def _socket_timeout(seconds: float) -> Iterator[None]:
    """Let no socket wait for ever: `fetch_file` has no timeout."""
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(seconds)
    try:
        yield
    finally:
        socket.setdefaulttimeout(before)
