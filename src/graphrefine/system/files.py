"""Outputs that are either the old one or the new one, never a part of one; and the checks of where they go.

Everything is written in a hidden folder beside its target and gets the target's name in one step: `replacing` for a
file (one rename), `replacing_folder` for a folder (one exchange of two names). An error, Ctrl-C or ``SIGKILL`` at any
moment leaves the old output whole. What a killed run leaves is removed by the next save to the same target
(`graphrefine.system.temporary`).

A killed *process* loses nothing, as the system already has all that was written; only a power cut soon after could
lose the new output. With ``durable=True``, and in every command, the disk has it before it gets its name.
"""

from __future__ import annotations

import contextlib
import glob
import hashlib
import json
import os
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from graphrefine.errors import OutputError
from graphrefine.system.memory import gigabytes
from graphrefine.system.temporary import leftovers, temporary_folder, unlock

CLUTTER = frozenset({".DS_Store", "Thumbs.db", "desktop.ini"})  # files that systems leave in folders
NEW, OLD = "new", "old"  # names in the hidden folder
_NAME_LIMIT = 160  # bytes of a target's name kept in the hidden name; file systems stop at 255
_PATIENCE = 1.0  # seconds to wait for another process between its two renames
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
def replacing(path: str | os.PathLike[str], *, durable: bool | None = None) -> Iterator[Path]:
    """Write a file beside ``path`` that gets the name ``path`` if the block ends well.

    Parameters
    ----------
    path : path
        The file to make or replace.
    durable : bool, optional
        Wait until the disk has it, so that it also survives a power cut. If not given, within `durable_outputs`.

    Yields
    ------
    Path
        The hidden file to write. It does not exist yet.

    Examples
    --------
    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "answer.txt"
    >>> with replacing(target) as hidden:
    ...     _ = hidden.write_text("42")
    ...     print(target.exists())
    False
    >>> target.read_text()
    '42'
    """
    target = check_writable(path)
    with _folder_beside(target) as beside:
        hidden = beside / NEW
        yield hidden
        if durable := _durable if durable is None else durable:
            _flush(hidden)
        hidden.replace(target)
        if durable:
            _flush_name(target)


@contextlib.contextmanager
def replacing_folder(
    path: str | os.PathLike[str], *, replaceable: Callable[[Path], None], durable: bool | None = None
) -> Iterator[Path]:
    """Fill a folder beside ``path`` that gets the name ``path`` in one step if the block ends well.

    Parameters
    ----------
    path : path
        The folder to make or replace.
    replaceable : callable
        Called with an existing folder; raises OutputError if that is not one to be replaced. The replaced
        folder is deleted, so this protects other people's data.
    durable : bool, optional
        Wait until the disk has it, so that it also survives a power cut. If not given, within `durable_outputs`.

    Yields
    ------
    Path
        The hidden folder to fill.
    """
    recover(path)
    target = check_writable(path, folder=True, replaceable=replaceable)
    with _folder_beside(target) as beside:
        hidden = beside / NEW
        hidden.mkdir()
        yield hidden
        if durable := _durable if durable is None else durable:
            for part in (*hidden.rglob("*"), hidden):
                _flush(part)
        if target.exists():
            replaceable(target)  # once more: minutes may have passed
        _put_in_place(hidden, target)
        if durable:
            _flush_name(target)


@contextlib.contextmanager
def _folder_beside(target: Path) -> Iterator[Path]:
    """Make a hidden folder beside ``target``, removed in the end; first bring back what a killed run set aside."""
    _bring_back(target)
    with temporary_folder(target.parent, _prefix(target)) as folder:
        yield folder


def _prefix(target: Path) -> str:
    name = target.name
    if len(os.fsencode(name)) > _NAME_LIMIT:
        name = hashlib.blake2b(os.fsencode(name), digest_size=16).hexdigest()
    return f".{name}.graphrefine-"


def _put_in_place(hidden: Path, target: Path) -> None:
    """Give ``hidden`` the name ``target``; the old folder, if there was one, is left in the folder of ``hidden``."""
    if not target.exists():
        hidden.rename(target)
    elif not _exchange(hidden, target):  # two steps; `recover` does the rest if the process dies between them
        aside = hidden.with_name(OLD)
        target.rename(aside)
        try:
            hidden.rename(target)
        except BaseException:
            aside.rename(target)
            raise


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two names in one step; False where the system or the file system cannot."""
    import ctypes

    here, flag = -100, 2  # AT_FDCWD, RENAME_EXCHANGE (Linux)
    names = os.fsencode(one), os.fsencode(other)
    try:
        library = ctypes.CDLL(None, use_errno=True)
        if sys.platform == "darwin":
            return bool(library.renamex_np(*names, flag) == 0)  # RENAME_SWAP is 2 as well
        return bool(library.renameat2(here, names[0], here, names[1], flag) == 0)
    except (AttributeError, OSError, TypeError):  # no such call here, or no C library by that name (Windows)
        return False


def recover(path: str | os.PathLike[str]) -> bool:
    """Bring back a folder whose replacement was killed between two renames, and return whether it is there now.

    Only where a file system cannot exchange two names is there a moment without any folder. A replacement that another
    process is making right now is waited for.
    """
    target = Path(os.path.realpath(path))
    until = time.monotonic() + _PATIENCE
    while not target.exists() and target.parent.is_dir():
        _bring_back(target)
        if time.monotonic() > until or not any(target.parent.glob(f"{glob.escape(_prefix(target))}*")):
            break
        time.sleep(0.01)
    return target.exists()


def _bring_back(target: Path) -> None:
    """Give the folder that a killed run had set aside its name again."""
    if target.exists():
        return
    for leftover, handle in leftovers(target.parent, _prefix(target)):
        with contextlib.suppress(OSError):  # another run may be faster
            (leftover / OLD).rename(target)
        unlock(handle)


def _flush_name(target: Path) -> None:
    """Wait until the disk has the name of an output, which is there in any case."""
    try:
        _flush(target.parent)
    except OSError as error:
        warnings.warn(f"{target}: is written, but the disk did not confirm its name ({error.strerror})", stacklevel=4)


def _flush(path: Path) -> None:
    """Wait until the disk has a file, or the names in a folder (which Windows cannot be asked for)."""
    if path.is_dir() and os.name != "posix":
        return
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def check_free_disk(folder: Path, size: int, *, label: str | None = None, way_out: str = "choose another") -> None:
    """Refuse a disk with too little free space, before any work is done.

    Parameters
    ----------
    folder : Path
        A folder of the disk.
    size : int
        Bytes that will be written.
    label : str, optional
        Subject of the message; the folder with a colon if None.
    way_out : str
        Advice at the end of the message.

    Examples
    --------
    >>> check_free_disk(Path("."), 10**18)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    graphrefine.errors.OutputError: .: needs about 1,000,000,000.0 GB of disk, and ... are free there; free some, or ...
    """
    free = shutil.disk_usage(folder).free
    if size > free:
        raise OutputError(
            f"{label or f'{folder}:'} needs about {gigabytes(size)} of disk, and {gigabytes(free)} are free there; "
            f"free some, or {way_out}"
        )


def check_writable(
    path: str | os.PathLike[str],
    *,
    folder: bool = False,
    size: int = 0,
    replaceable: Callable[[Path], None] | None = None,
) -> Path:
    """Refuse an output that cannot be written, before any work is done for it.

    Parameters
    ----------
    path : path
        The output.
    folder : bool
        Whether the output is a folder rather than a file.
    size : int
        Bytes of the output; refused if the file system has fewer left.
    replaceable : callable, optional
        Called with an existing folder; raises OutputError if that is not one to be replaced.

    Returns
    -------
    Path
        The real target, links followed, so that a link stays a link.

    Examples
    --------
    >>> check_writable("no/such/output.npy")
    Traceback (most recent call last):
    graphrefine.errors.OutputError: no/such/output.npy: the folder no/such does not exist; create it first
    """
    output, target, parent = os.fspath(path), Path(os.path.realpath(path)), Path(path).parent
    if not target.name:
        raise OutputError(f"{output or '(empty)'}: not the name of an output; give a name below a folder")
    if not os.path.lexists(target.parent):
        raise OutputError(f"{output}: the folder {parent} does not exist; create it first")
    if not target.parent.is_dir():
        raise OutputError(f"{output}: {parent} is not a folder; choose another one")
    try:  # the only honest test: permission bits know nothing of read-only disks, quotas or root
        tempfile.TemporaryFile(dir=target.parent).close()
    except OSError as error:
        raise OutputError(f"{output}: cannot write in {parent} ({error.strerror}); choose another") from error
    if target.exists():
        _check_existing(target, output, folder, replaceable)
    check_free_disk(target.parent, size, label=f"{output}:")
    return target


def _check_existing(target: Path, output: str, folder: bool, replaceable: Callable[[Path], None] | None) -> None:
    if folder and not target.is_dir():
        raise OutputError(f"{output}: is a file, but the output is a folder; choose another name")
    if folder:
        if replaceable is not None:
            replaceable(target)
    elif target.is_dir():
        raise OutputError(f"{output}: is a folder, but the output is a file; choose another name")
    elif not target.is_file():
        raise OutputError(f"{output}: is not a regular file, and would be replaced; choose another name")
    elif not os.access(target, os.W_OK):
        raise OutputError(f"{output}: is write-protected; make it writable or choose another name")


def check_only(folder: Path, files: Collection[str] | None, *, kind: str, way_out: str = "choose another name") -> None:
    """Refuse to replace a folder with anything in it but `files`, those of an output of this kind; None: it is none."""
    present = {entry.name for entry in folder.iterdir()} - CLUTTER
    if present and files is None:
        raise OutputError(f"{folder}: is a folder but no {kind}, and would be lost; {way_out}")
    foreign = sorted(present - set(files or ()))
    if foreign:
        raise OutputError(f"{folder}: also holds {', '.join(foreign[:3])}, which would be lost; {way_out}")


def read_mark(path: Path, mark: str) -> dict[str, Any] | None:
    """Read the JSON file that says what its folder is; None unless it can be read, and has ``format``: `mark`."""
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) and content.get("format") == mark else None


def listed_files(content: Mapping[str, Any], *more: str) -> set[str]:
    """Return the names under ``files`` of such a JSON file, and those of `more`.

    Examples
    --------
    >>> sorted(listed_files({"files": {"indptr.npy": 136}}, "manifest.json"))
    ['indptr.npy', 'manifest.json']
    """
    files = content.get("files")
    return {*(files if isinstance(files, dict) else ()), *more}
