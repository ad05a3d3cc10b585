"""Temporary folders that are removed in the end, if need be by the next process that makes one at the same place.

A folder is locked by a descriptor of its own (``flock``). The system releases that lock when the process ends, however
it ends, so a folder without a lock is a leftover. Where there are no such locks (Windows, some network disks), nothing
is ever taken for a leftover.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

PREFIX, SUFFIX = "graphrefine-", ".tmp"
_open: set[tempfile.TemporaryDirectory[str]] = set()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_open.clear)  # they are still the parent's to remove


@contextmanager
def temporary_folder(parent: Path | None = None, prefix: str = PREFIX) -> Iterator[Path]:
    """Make a folder that only this user can read, and remove it in the end; first remove what killed processes left.

    Examples
    --------
    >>> with temporary_folder() as folder:
    ...     _ = (folder / "graph.npz").write_bytes(b"...")
    >>> folder.exists()
    False
    """
    parent = Path(tempfile.gettempdir()) if parent is None else parent
    for leftover, lock in leftovers(parent, prefix):
        shutil.rmtree(leftover, ignore_errors=True)
        unlock(lock)
    temporary, handle = _make_locked(parent, prefix)
    _open.add(temporary)
    try:
        yield Path(temporary.name)
    finally:
        shutil.rmtree(temporary.name, ignore_errors=True)
        temporary.cleanup()  # tries once more what a disk has refused
        _open.discard(temporary)
        if handle is not None:
            unlock(handle)


def remove_temporary_folders() -> None:
    """Remove the temporary folders of this process, before an end that runs no ``finally``."""
    for temporary in tuple(_open):
        temporary.cleanup()


def leftovers(parent: Path, prefix: str) -> Iterator[tuple[Path, int]]:
    """Yield the folders of processes that have ended, each with a lock; whoever takes one closes the handle."""
    with suppress(OSError), os.scandir(parent) as entries:
        for entry in entries:
            if entry.name.startswith(prefix) and entry.name.endswith(SUFFIX):
                with suppress(OSError):
                    yield Path(entry.path), _lock(entry.path)


def _make_locked(parent: Path, prefix: str) -> tuple[tempfile.TemporaryDirectory[str], int | None]:
    while True:
        temporary = tempfile.TemporaryDirectory(SUFFIX, prefix, parent, ignore_cleanup_errors=True)
        try:
            return temporary, _lock(temporary.name)
        except (BlockingIOError, FileNotFoundError):
            temporary.cleanup()  # another process has taken it for a leftover before it was locked
        except OSError:
            return temporary, None  # no locks here


def _lock(folder: str) -> int:
    """Lock a folder, and return the handle; BlockingIOError if it is in use, another OSError if that cannot be told."""
    if fcntl is None:
        raise OSError("no locks of folders on this system")
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.stat(folder)  # noqa: PTH116  gone, if its owner or another process has removed it meanwhile
    except OSError:
        os.close(handle)
        raise
    return handle


def unlock(handle: int) -> None:
    """Release the lock of a folder; an error is of no interest, as nothing was written by it."""
    with suppress(OSError):
        os.close(handle)
