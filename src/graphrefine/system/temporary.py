"""Temporary folders that do not outlive their process for long: what a killed one left goes at the next occasion.

A folder holds a lock as long as its process lives. The system releases the lock of a process that ends, whatever ends
it, so that the next process of the same user that needs a temporary folder sees that the other one belongs to nobody.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from graphrefine.system.files import remove

PREFIX, LOCK = "graphrefine-", ".lock"
_NAME = re.compile(r"graphrefine-[a-z0-9_]{8}")  # as tempfile makes them
YOUNG = 10.0  # seconds: a folder may be without its lock while it is made


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder that only this user can read; it is removed at the end, and so are those of processes that were killed.

    Examples
    --------
    >>> with temporary_folder() as folder:
    ...     _ = (folder / "graph.npz").write_bytes(b"...")
    >>> folder.exists()
    False
    """
    from filelock import FileLock  # 50 ms, which a run without such a folder need not wait

    _sweep(Path(tempfile.gettempdir()))
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    lock = FileLock(folder / LOCK, thread_local=False)
    try:
        with lock:
            yield folder
            with suppress(OSError):
                _clear(folder, keep=LOCK)  # as long as the lock is held, nobody else takes the folder for a lost one
    finally:
        remove(folder)


def _clear(folder: Path, *, keep: str) -> None:
    for entry in folder.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry, ignore_errors=True)
        elif entry.name != keep:
            with suppress(OSError):
                entry.unlink()


def _sweep(place: Path) -> None:
    """Remove folders of this user's whose process has ended without doing so."""
    from filelock import FileLock, Timeout

    for folder in place.glob(f"{PREFIX}*"):
        with suppress(OSError, Timeout):
            lock = folder / LOCK
            if not _is_ours(folder) or time.time() - (lock if lock.exists() else folder).stat().st_mtime <= YOUNG:
                continue
            if not lock.exists() and _NAME.fullmatch(folder.name):
                folder.rmdir()  # killed when it was just made, or all but gone: it is empty, or somebody else's
            elif lock.exists():
                with FileLock(lock, timeout=0, thread_local=False):
                    _clear(folder, keep=LOCK)
                remove(folder)


def _is_ours(folder: Path) -> bool:
    about = folder.lstat()
    return stat.S_ISDIR(about.st_mode) and (not hasattr(os, "getuid") or about.st_uid == os.getuid())
