"""A file from the internet: resumed where it was cut off, checked, and put in its place in one step.

What has arrived is kept in a hidden file beside the target (``.name.part.mat``) with, if the server gave one, the tag
of the version it is a part of. A later attempt, of this run or of the next, asks for the rest of that version. A lock
lets one process download at a time; the others wait, and find the file there.
"""

from __future__ import annotations

import errno
import hashlib
import http.client
import os
import shutil
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from graphrefine.errors import DownloadError, FormatError, OutputError
from graphrefine.progress import Stages, Watcher

CHUNK = 1 << 16
ATTEMPTS = 4  # in a row without a byte
PAUSE = 1.0  # seconds before the second attempt; doubled for each further one
TIMEOUT = 30.0  # seconds without a byte


def fetch(
    url: str,
    target: Path,
    *,
    sha256: str | None,
    accept: Callable[[Path], None],
    advice: str,
    progress: Watcher | None = None,
) -> None:
    """Download a file to ``target``, unless it is there.

    Parameters
    ----------
    url, target
        From where, to where. The folder is made.
    sha256
        What its checksum must be, if that is known.
    accept
        Called with the complete file, which is not yet in its place; raises FormatError if it is not what was wanted.
    advice
        How to get the file by hand, for messages.
    progress
        Told of the stage "download", with a step for each percent.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with _locked(target.with_name(f".{target.name}.lock")):
            if not target.is_file():
                _Download(url, target, advice).run(sha256, accept, Stages(progress))
    except (DownloadError, FormatError, OutputError):
        raise
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        what = "the disk is full" if full else f"cannot be written: {error.strerror or error}"
        raise OutputError(
            f"{target}: {what}; free some space or let GRAPHREFINE_CACHE name another folder, and run again: what "
            "has arrived is kept"
        ) from error


@dataclass(frozen=True)
class _Download:
    url: str
    target: Path
    advice: str

    @property
    def part(self) -> Path:
        return self.target.with_name(f".{self.target.stem}.part{self.target.suffix}")

    @property
    def tag(self) -> Path:
        return self.target.with_name(f".{self.target.stem}.part.tag")

    def run(self, sha256: str | None, accept: Callable[[Path], None], stages: Stages) -> None:
        resumed = self.part.is_file() and self.part.stat().st_size > 0
        while True:
            self._receive(stages)
            try:
                self._check(sha256)
                accept(self.part)
                break
            except FormatError as error:
                self.forget()
                if not resumed:
                    raise DownloadError(f"{self.url}: what arrived is not kept: {error}; {self.advice}") from error
                resumed = False  # the old part may have been of another version: once more, from the start
        self.part.replace(self.target)
        self.tag.unlink(missing_ok=True)

    def forget(self) -> None:
        for path in (self.part, self.tag):
            path.unlink(missing_ok=True)

    def _check(self, sha256: str | None) -> None:
        if sha256 is not None and (seen := sha256_of(self.part)) != sha256:
            raise FormatError(self.part, f"its sha256 is {seen}, and {sha256} is expected")

    def _receive(self, stages: Stages) -> None:
        """Ask until all has arrived; give up when nothing comes for some attempts in a row."""
        failures, have = 0, -1
        while True:
            try:
                if self._ask(stages):
                    return
                problem: Any = "the connection was cut"
            except urllib.error.HTTPError as error:
                problem = f"the server says {error.code} ({error.reason})"
                error.close()
                if error.code < 500 and error.code not in (408, 429):
                    raise DownloadError(f"{self.url}: {problem}; {self.advice}") from None
            except urllib.error.URLError as error:
                problem = error.reason
            except TimeoutError:
                problem = f"nothing came for {TIMEOUT:g} s"
            except (ConnectionError, http.client.HTTPException) as error:
                problem = str(error) or type(error).__name__
            now = self._size()
            failures, have = (1, now) if now > have else (failures + 1, have)
            if failures >= ATTEMPTS:
                self._give_up(problem)
            time.sleep(PAUSE * 2 ** (failures - 1))

    def _give_up(self, problem: Any) -> None:
        kept = f"{self._size() / 1e6:.1f} MB have arrived and are kept, so run again; or " if self._size() else ""
        raise DownloadError(f"{self.url}: cannot be downloaded ({problem}); {kept}{self.advice}")

    def _size(self) -> int:
        return self.part.stat().st_size if self.part.is_file() else 0

    def _ask(self, stages: Stages) -> bool:
        """One request; whether all has arrived."""
        have, tag = self._size(), self.tag.read_text() if self.tag.is_file() else ""
        if have and not tag:  # no way to know that the rest would be of the same version
            have = 0
        request = urllib.request.Request(self.url, headers={"User-Agent": "graphrefine"})
        if have:
            request.add_header("Range", f"bytes={have}-")
            request.add_header("If-Range", tag)
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT) as response:
                return self._store(response, have, stages)
        except urllib.error.HTTPError as error:
            if error.code != 416 or not have:
                raise
            error.close()
            if error.headers.get("Content-Range") == f"bytes */{have}":  # the last run ended before it could check
                return True
            self.forget()
            return False

    def _store(self, response: Any, have: int, stages: Stages) -> bool:
        """Write what comes behind what is there, or over it; whether all has arrived."""
        if response.status == 206 and _first_byte(response) == have:
            mode = "ab"
        else:
            have, mode = 0, "wb"
            self.tag.write_text(response.headers.get("ETag") or response.headers.get("Last-Modified") or "")
        length = response.headers.get("Content-Length")
        total = None if length is None else have + int(length)
        if response.status == 206 and mode == "wb":  # another part than was asked for
            self.forget()
            return False
        self._check_room(total, have)
        with stages.stage("download", steps=100 if total else 1), self.part.open(mode) as file:
            _copy(response, file, have, total, stages)
        return total is None or self._size() == total

    def _check_room(self, total: int | None, have: int) -> None:
        free = shutil.disk_usage(self.part.parent).free
        if total is not None and total - have > free:
            raise OutputError(
                f"{self.target}: {(total - have) / 1e6:,.1f} MB are to come, and {free / 1e6:,.1f} MB are free there; "
                "free some space or let GRAPHREFINE_CACHE name another folder"
            )


def sha256_of(path: Path) -> str:
    """The checksum of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _first_byte(response: Any) -> int:
    """Where the part that the server sends begins; -1 if it does not say."""
    unit, _, span = response.headers.get("Content-Range", "").partition(" ")
    first = span.partition("-")[0]
    return int(first) if unit == "bytes" and first.isdecimal() else -1


def _copy(response: Any, file: IO[bytes], have: int, total: int | None, stages: Stages) -> None:
    told = 0
    while chunk := response.read(CHUNK):
        file.write(chunk)
        have += len(chunk)
        while total and told < min(100 * have // total, 100):
            stages.advance()
            told += 1


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold a lock that ends with the process; wait for whoever holds it."""
    while True:
        with path.open("ab") as file:
            if _try_lock(file) and path.exists() and os.path.samestat(os.fstat(file.fileno()), path.stat()):
                try:
                    yield
                finally:
                    with suppress(OSError):
                        path.unlink()  # those who wait hold a file without a name then, and open the next one
                return
        time.sleep(0.05)


def _try_lock(file: IO[bytes]) -> bool:
    try:
        if os.name == "posix":
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        else:
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    except OSError:
        return False
    return True
