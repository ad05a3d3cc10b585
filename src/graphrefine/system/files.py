"""Outputs that are replaced in one step, and the checks of where they go.

Everything is written in a hidden folder next to its target and gets the target's name in one step: `replacing` for a
file (one rename), `replacing_folder` for a folder (one exchange of two names). An error, Ctrl-C or ``SIGKILL`` at any
moment leaves the old output whole; only ``SIGKILL`` leaves the hidden folder, which can be deleted.

A killed process loses nothing, as the system already has all that was written; only a power cut soon after could
lose the new output. With ``durable=True``, and in every command, the disk has it before it gets its name.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from graphrefine.errors import OutputError
from graphrefine.system.memory import gigabytes

CLUTTER = frozenset({".DS_Store", "Thumbs.db", "desktop.ini"})  # files that systems leave in folders
# File systems stop at 255 bytes, of which the hidden name needs some for what surrounds the target's name. The shortest
# part that is cut off a name in UTF-8 may be half a character, hence bytes.
_NAME_LIMIT = 160
_durable = False  # whether outputs wait for the disk if they do not say; of the process, for all threads


@contextlib.contextmanager
def durable_outputs() -> Iterator[None]:
    """Have outputs wait for the disk unless they say otherwise; it holds for all threads."""
    global _durable
    before, _durable = _durable, True
    try:
        yield
    finally:
        _durable = before


@contextlib.contextmanager
def temporary_folder(parent: Path | None = None, prefix: str = "graphrefine-") -> Iterator[Path]:
    """Make a folder that only this user can read, and remove it in the end."""
    # A file that the disk refuses to remove is not worth an error: the work is done by then.
    with tempfile.TemporaryDirectory(".tmp", prefix, parent, ignore_cleanup_errors=True) as name:
        yield Path(name)


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str], *, durable: bool | None = None) -> Iterator[Path]:
    """Write a hidden file, which does not exist yet, and give it the name ``path`` if the block ends well.

    With ``durable`` the disk has it before it gets its name, so that it also survives a power cut; if that is not
    given, within `durable_outputs`.
    """
    target = check_writable(path)
    with _hidden_folder(target) as folder:
        hidden = folder / "new"
        yield hidden
        _give_name(hidden, target, durable=durable)


@contextlib.contextmanager
def replacing_folder(
    path: str | os.PathLike[str], *, replaceable: Callable[[Path], None], durable: bool | None = None
) -> Iterator[Path]:
    """Fill a hidden folder that gets the name ``path`` in one step if the block ends well.

    ``replaceable`` is called with an existing folder, and raises OutputError if that is not one to be replaced: the old
    folder is deleted, so this protects other people's data. For ``durable`` see `replacing`.
    """
    target = check_writable(path, folder=True, replaceable=replaceable)
    with _hidden_folder(target) as folder:
        hidden = folder / "new"
        hidden.mkdir()
        yield hidden
        if target.exists():
            # Check again: the work may have taken minutes, in which the user has put files there.
            replaceable(target)
        _give_name(hidden, target, durable=durable)


def _hidden_folder(target: Path) -> contextlib.AbstractContextManager[Path]:
    # It must be in the folder of the target: a rename to another file system is a copy, which can end half way.
    name = os.fsdecode(os.fsencode(target.name)[:_NAME_LIMIT])
    return temporary_folder(target.parent, f".{name}.graphrefine-")


def _give_name(hidden: Path, target: Path, *, durable: bool | None) -> None:
    """Rename a hidden file or folder to its target; what was there is left in the hidden folder, or replaced."""
    durable = _durable if durable is None else durable
    if durable:
        # The content must be on the disk before the name points to it: a journaling file system may write the rename
        # first, and a power cut between the two would leave an empty file under the name of the old one.
        for part in (*hidden.rglob("*"), hidden):
            _flush(part)
    if not hidden.is_dir():
        hidden.replace(target)
    elif not target.exists():
        hidden.rename(target)
    elif not _exchange(hidden, target):
        _rename_twice(hidden, target)
    if durable:
        # By now the output is there, and an error would say that it is not.
        with contextlib.suppress(OSError):
            _flush(target.parent)


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two names in one step; False where the system or the file system cannot."""
    # No function of Python does this: a rename replaces files and empty folders alone, and two renames leave a moment
    # in which a reader finds no folder at all.
    at_fdcwd, rename_exchange = -100, 2
    names = os.fsencode(one), os.fsencode(other)
    try:
        library = ctypes.CDLL(None, use_errno=True)
        if sys.platform == "darwin":
            return bool(library.renamex_np(*names, rename_exchange) == 0)  # RENAME_SWAP has the same value
        return bool(library.renameat2(at_fdcwd, names[0], at_fdcwd, names[1], rename_exchange) == 0)
    except (AttributeError, OSError, TypeError):  # no such call here, or no C library by that name (Windows)
        return False


def _rename_twice(hidden: Path, target: Path) -> None:
    # Readers find no folder between the two; where the second fails, the first is taken back.
    aside = hidden.with_name("old")
    target.rename(aside)
    try:
        hidden.rename(target)
    except BaseException:
        aside.rename(target)
        raise


def _flush(path: Path) -> None:
    """Wait until the disk has a file, or the names in a folder (which Windows cannot be asked for)."""
    if path.is_dir() and os.name != "posix":
        return
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def check_free_disk(folder: Path, size: int, *, label: str | None = None, advice: str = "choose another") -> None:
    """Raise OutputError if the disk of a folder has less than ``size`` bytes left, before any work is done."""
    free = shutil.disk_usage(folder).free
    if size > free:
        raise OutputError(
            f"{label or f'{folder}:'} needs about {gigabytes(size)} of disk, and {gigabytes(free)} are free there; "
            f"free some, or {advice}"
        )


def check_writable(
    path: str | os.PathLike[str], *, folder: bool = False, replaceable: Callable[[Path], None] | None = None
) -> Path:
    """Raise OutputError if an output cannot be written, before any work is done for it.

    ``folder`` says that it is a folder; for ``replaceable`` see `replacing_folder`. The result is the real target, with
    links followed, so that a link stays a link.
    """
    output, target, parent = os.fspath(path), Path(os.path.realpath(path)), Path(path).parent
    if not target.name:
        raise OutputError(f"{output or '(empty)'}: not the name of an output; give a name below a folder")
    if not os.path.lexists(target.parent):
        raise OutputError(f"{output}: the folder {parent} does not exist; create it first")
    if not target.parent.is_dir():
        raise OutputError(f"{output}: {parent} is not a folder; choose another one")
    # Trying is the only honest test: permission bits know nothing of read-only disks, quotas or root.
    try:
        tempfile.TemporaryFile(dir=target.parent).close()
    except OSError as error:
        raise OutputError(f"{output}: cannot write in {parent} ({error.strerror}); choose another") from error
    if not target.exists():
        return target
    problem = None
    if folder != target.is_dir():
        problem = "is a file, but the output is a folder" if folder else "is a folder, but the output is a file"
    elif not folder and not target.is_file():
        problem = "is not a regular file, and would be replaced"
    elif not folder and not os.access(target, os.W_OK):
        problem = "is write-protected"  # a rename would replace it all the same
    if problem is not None:
        raise OutputError(f"{output}: {problem}; choose another name")
    if folder and replaceable is not None:
        replaceable(target)
    return target


def check_only(folder: Path, files: Collection[str] | None, *, kind: str, advice: str = "choose another name") -> None:
    """Raise OutputError if a folder holds more than ``files``, those of an output of this kind; None: it is none."""
    present = {entry.name for entry in folder.iterdir()} - CLUTTER
    if present and files is None:
        raise OutputError(f"{folder}: is a folder but no {kind}, and would be lost; {advice}")
    foreign = sorted(present - set(files or ()))
    if foreign:
        raise OutputError(f"{folder}: also holds {', '.join(foreign[:3])}, which would be lost; {advice}")


def read_mark(path: Path, mark: str) -> dict[str, Any] | None:
    """Read the JSON file that says what its folder is; None unless it can be read, and has ``format``: `mark`."""
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) and content.get("format") == mark else None


def listed_files(content: Mapping[str, Any], *more: str) -> set[str]:
    """Return the names under ``files`` of such a JSON file, and those of `more`."""
    files = content.get("files")
    return {*(files if isinstance(files, dict) else ()), *more}
