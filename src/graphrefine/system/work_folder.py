"""A folder for work in progress: held by one process at a time, with state that a later run finds again.

::

    OUT.work/
      lock          held (flock) by the process whose id stands in it
      NAME.json     state, replaced in one step
      ...           whatever the work keeps there

A run that is killed leaves its folder behind, and the next one into the same place goes on from there. `finish`
removes it all.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Container
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from graphrefine.errors import OutputError

LOCK = "lock"


class WorkFolder:
    """A locked folder, made where it is not there yet. Used as a context manager.

    Leaving the block gives the lock back and keeps the folder, unless `finish` was called.

    Examples
    --------
    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp()) / "graph.work"
    >>> with WorkFolder(place) as work:
    ...     work.save("progress", {"blocks": 3})
    >>> with WorkFolder(place) as work:
    ...     print(work.state("progress"), work.state("plan"))
    ...     work.finish()
    {'blocks': 3} None
    >>> place.exists()
    False
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._lock: IO[bytes] | None = None

    @property
    def locked(self) -> bool:
        """Whether it is this object that holds the lock."""
        return self._lock is not None

    def lock(self) -> None:
        """Take the lock, if it is not held already; leaving the block gives it back."""
        while self._lock is None:
            self._lock = self._locked()

    def __enter__(self) -> WorkFolder:
        self.lock()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give the lock back, if it is held."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def state(self, name: str) -> Any:
        """What was saved under a name; None if nothing was."""
        try:
            return json.loads((self.path / f"{name}.json").read_bytes())
        except FileNotFoundError:
            return None
        except ValueError:
            raise OutputError(f"{self.path / name}.json: is damaged; delete {self.path} to start anew") from None

    def save(self, name: str, state: Any) -> None:
        """Save state under a name: all of it or, whatever happens, what was there before."""
        fresh = self.path / f".{name}.new"
        fresh.write_text(json.dumps(state), encoding="utf-8")
        fresh.replace(self.path / f"{name}.json")

    def clear(self, *, keep: Container[str] = ()) -> None:
        """Start anew: remove everything but the lock, and what is to be kept.

        What was saved goes first, the oldest before all: a run that is killed here must not leave state that says that
        there is work to go on with, when that work is gone.
        """
        there = [each for each in self.path.iterdir() if each.name != LOCK and each.name not in keep]
        for each in sorted(there, key=lambda each: (each.suffix != ".json", each.stat().st_mtime_ns)):
            _remove(each)

    def finish(self) -> None:
        """Remove the folder; the work is done."""
        self.clear()
        _remove(self.path / LOCK)  # last, so that nobody else works here before all is gone
        with contextlib.suppress(OSError):
            self.path.rmdir()

    def _locked(self) -> IO[bytes] | None:
        """The lock, taken; None if the folder went away in the meantime."""
        try:
            self.path.mkdir(exist_ok=True)
            file = (self.path / LOCK).open("a+b")
        except FileExistsError:
            raise OutputError(f"{self.path}: is a file, but the work needs a folder there; remove it") from None
        except FileNotFoundError as error:
            if self.path.parent.is_dir():
                return None
            raise OutputError(f"{self.path}: the folder {self.path.parent} does not exist; create it first") from error
        except OSError as error:
            raise OutputError(f"{self.path}: cannot write there ({error.strerror}); choose another place") from error
        if not _take(file):
            file.seek(0)
            holder = file.read().decode("ascii", "replace").strip()
            file.close()
            raise OutputError(
                f"another run works in {self.path}, process {holder or 'unknown'}; wait for it or choose another place"
            )
        if not (self.path / LOCK).exists() or not os.path.samestat(os.fstat(file.fileno()), (self.path / LOCK).stat()):
            file.close()  # that run has just finished, and removed what we had opened
            return None
        file.truncate(0)
        file.write(str(os.getpid()).encode())
        file.flush()
        return file


def _take(file: IO[bytes]) -> bool:
    """Lock a file, or say that somebody else has; where there are no such locks (Windows) everybody gets it."""
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
