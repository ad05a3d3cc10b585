"""Files from the internet, by `sklearn.datasets.fetch_file`: checked, and renamed to their names in one step.

A file arrives under a hidden name next to its target, and is renamed when it has passed its checks. A lock lets one
process download it; the others wait, and use the same file.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path
from urllib.error import URLError

from filelock import FileLock

from graphrefine.errors import DownloadError, FormatError, OutputError
from graphrefine.progress import Stages, Watcher

RETRIES = 3
PAUSE = 1.0  # seconds between two attempts
TIMEOUT = 30.0  # seconds without a byte
_one_download = threading.Lock()  # in this process: the timeout of sockets is set for all of it


def fetch(
    url: str,
    target: Path,
    *,
    sha256: str | None,
    accept: Callable[[Path], None],
    advice: str,
    progress: Watcher | None = None,
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
                with Stages(progress).stage("download"):
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
