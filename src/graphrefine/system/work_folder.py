"""A folder for work in progress: held by one process at a time, with state that a later run finds again.

::

    OUT.work/
      lock          locked by the process that works there
      NAME.json     state, replaced in one step
      ...           files of the work

A run that is killed leaves its folder behind, and the next one into the same output goes on from there: the system
releases the lock of a process that ends. `finish` removes the folder.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Container
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphrefine.errors import OutputError
from graphrefine.system.checks import version_problem

if TYPE_CHECKING:
    from filelock import BaseFileLock

LOCK = "lock"
FORMAT = 1  # of the state and the files of the works that are kept in such folders


class WorkFolder:
    """A locked folder, created if it is missing. Used as a context manager.

    Leaving the block releases the lock and keeps the folder, unless `finish` was called.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._lock: BaseFileLock | None = None

    def lock(self) -> None:
        """Take the lock, if this object does not hold it yet; leaving the block releases it."""
        # 50 ms to import, for which a run without a work folder need not wait.
        from filelock import FileLock, Timeout

        if self._lock is not None:
            return
        # The object may be used by other threads than the one that made it, as that of live vectors is.
        lock = FileLock(self.path / LOCK, timeout=0, thread_local=False)
        try:
            self.path.mkdir(exist_ok=True)
            lock.acquire()
        except Timeout:
            raise OutputError(f"another run works in {self.path}; wait for it or choose another folder") from None
        except OSError as error:
            raise OutputError(f"{self.path}: cannot write there ({error.strerror}); choose another folder") from error
        self._lock = lock

    def __enter__(self) -> WorkFolder:
        self.lock()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the lock, if this object holds it."""
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def state(self, name: str) -> Any:
        """Return the state that was saved under a name; None if nothing was."""
        try:
            return json.loads((self.path / f"{name}.json").read_bytes())
        except FileNotFoundError:
            return None
        except ValueError:
            raise OutputError(f"{self.path / name}.json: is damaged; delete {self.path} to start again") from None

    def check_format(self, state: Any) -> None:
        """Raise OutputError if a newer graphrefine began the work; its first state has the ``FORMAT``, or none of 1."""
        version = state.get("format", 1) if isinstance(state, dict) else 1
        if problem := version_problem(version, FORMAT):
            raise OutputError(f"{self.path}: {problem}, or delete that folder to start again")

    def save(self, name: str, state: Any) -> None:
        """Save state under a name: all of it or, in case of an interruption, the state before."""
        # Not flushed to the disk: a killed run loses nothing; after a power cut the work may have to begin again.
        fresh = self.path / f".{name}.new"
        fresh.write_text(json.dumps(state), encoding="utf-8")
        fresh.replace(self.path / f"{name}.json")

    def clear(self, *, keep: Container[str] = ()) -> None:
        """Start again: remove everything but the lock and the names to keep."""
        # Saved state goes first, the oldest before all: a run that is killed here must not leave state that says that
        # there is work to go on with, when that work is gone.
        entries = [entry for entry in self.path.iterdir() if entry.name != LOCK and entry.name not in keep]
        for entry in sorted(entries, key=lambda entry: (entry.suffix != ".json", entry.stat().st_mtime_ns)):
            if entry.is_dir():
                shutil.rmtree(entry)
            else:
                entry.unlink()

    def finish(self) -> None:
        """Remove the folder; the work is done, and stays so if the disk refuses to remove a file."""
        with contextlib.suppress(OSError):
            self.clear()
        # The lock is last: no other run may begin to work here while there are files of this one.
        shutil.rmtree(self.path, ignore_errors=True)
