"""Files from the internet, by `sklearn.datasets.fetch_file`: checked, and put in their place in one step.

A file arrives under a hidden name beside its target, and is renamed when it has passed its checks. A lock lets one
process download it; the others wait, and use the same file.
"""

from __future__ import annotations

import errno
import hashlib
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPException
from pathlib import Path
from urllib.error import HTTPError, URLError

from filelock import FileLock

from graphrefine.errors import DownloadError, FormatError, GraphRefineError, OutputError
from graphrefine.progress import Stages, Watcher

ATTEMPTS = 4
PAUSE = 1.0  # seconds before the second attempt; doubled for each further one
TIMEOUT = 30.0  # seconds without a byte
BUSY = (408, 429)  # answers below 500 that may be others at the next attempt
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

    ``accept`` is called with the path of the complete file, before that is put in its place, and raises FormatError to
    refuse it. ``advice`` is the way to get the file by hand, for messages.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with _one_download, _lock(target.with_name(f".{target.name}.lock")), _socket_timeout(TIMEOUT):
            if not target.is_file():
                with Stages(progress).stage("download"):
                    _download(url, target, sha256, accept, advice)
    except GraphRefineError:
        raise
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        problem = "the disk is full" if full else f"cannot be written: {error.strerror or error}"
        raise OutputError(
            f"{target}: {problem}; free some space or let GRAPHREFINE_CACHE name another folder, and run again"
        ) from error


def sha256_of(path: Path) -> str:
    """Compute the checksum of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _download(url: str, target: Path, sha256: str | None, accept: Callable[[Path], None], advice: str) -> None:
    for leftover in target.parent.glob(f".{target.stem}.*part*"):  # of a process that was killed
        leftover.unlink(missing_ok=True)
    part = target.with_name(f".{target.stem}.{os.getpid()}.part{target.suffix}")
    _receive(url, part, sha256, advice)
    try:
        accept(part)
        part.replace(target)
    except FormatError as error:
        raise DownloadError(f"{url}: the download is not kept: {error}; {advice}") from error
    finally:
        part.unlink(missing_ok=True)


def _receive(url: str, part: Path, sha256: str | None, advice: str) -> None:
    """Ask until the whole file has arrived; give up after some attempts, or at once if the server refuses."""
    from sklearn.datasets import fetch_file

    for attempt in range(ATTEMPTS):
        time.sleep(PAUSE * 2 ** (attempt - 1) if attempt else 0)
        try:
            # No retries of its own: it would repeat a 404 too.
            fetch_file(url, folder=part.parent, local_filename=part.name, sha256=sha256, n_retries=0)
            return
        except HTTPError as error:
            problem = f"the server says {error.code} ({error.reason})"
            error.close()
            if error.code < 500 and error.code not in BUSY:
                raise DownloadError(f"{url}: {problem}; {advice}") from None
        except URLError as error:  # also a connection that was cut
            problem = str(error.reason)
        except TimeoutError:
            problem = f"nothing came for {TIMEOUT:g} s"
        except (ConnectionError, HTTPException) as error:
            problem = str(error) or type(error).__name__
        except OSError as error:
            if error.errno is not None:
                raise
            raise DownloadError(f"{url}: the download is not kept: {error}; {advice}") from error  # another checksum
    raise DownloadError(f"{url}: cannot be downloaded ({problem}); {advice}")


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    """Hold a lock that ends with the process; wait for its holder."""
    with FileLock(path):
        try:
            yield
        finally:
            with suppress(OSError):
                path.unlink()


@contextmanager
def _socket_timeout(seconds: float) -> Iterator[None]:
    """Let no socket wait for ever: `fetch_file` has no timeout of its own."""
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(seconds)
    try:
        yield
    finally:
        socket.setdefaulttimeout(before)
