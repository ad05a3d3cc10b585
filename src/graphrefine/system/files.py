"""Outputs that are either the old one or the new one, never a part of one; and the checks of their place.

Everything is written beside its target under a hidden name and takes the target's place in one step:
``replacing`` for a file (one rename), ``replacing_folder`` for a folder (one exchange of two names). An
error, Ctrl-C or ``SIGKILL`` at any moment leaves the old output whole. The leftovers of a killed run
carry its process id in their names and are removed by the next save to the same target.

A killed *process* loses nothing, as the system already holds all that was written; only a power cut soon after could
lose the new output. With ``durable=True``, as in every command (`durability`), the disk has it before it is in place.
"""

from __future__ import annotations

import contextlib
import errno
import glob
import hashlib
import os
import platform
import re
import secrets
import shutil
import sys
import time
import warnings
import zlib
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from graphrefine.errors import OutputError
from graphrefine.system.durability import is_durable
from graphrefine.system.memory import gigabytes

_active: set[Path] = set()  # outputs that this very process is writing; the same process id may have died before
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_active.clear)  # they are still the parent's to remove
CLUTTER = frozenset({".DS_Store", "Thumbs.db", "desktop.ini"})  # files that systems leave in folders
_NO_NAMELESS_FILES = (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOENT)  # what a file system says of them
_NAME_LIMIT = 160  # bytes of a target's name kept in the hidden name; file systems stop at 255


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str], *, durable: bool | None = None) -> Iterator[Path]:
    """Write a file beside ``path``; it takes the place of ``path`` if the block ends well.

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
    with _hidden_beside(target) as hidden:
        yield hidden
        if durable := is_durable(durable):
            _flush(hidden)
        hidden.replace(target)
        if durable:
            _flush_name(target)


@contextlib.contextmanager
def replacing_folder(
    path: str | os.PathLike[str], *, replaceable: Callable[[Path], None], durable: bool | None = None
) -> Iterator[Path]:
    """Fill a folder beside ``path``; it takes the place of ``path`` in one step if the block ends well.

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
    with _hidden_beside(target) as hidden:
        hidden.mkdir()
        yield hidden
        if durable := is_durable(durable):
            for part in (*hidden.rglob("*"), hidden):
                _flush(part)
        if target.exists():
            replaceable(target)  # once more: minutes may have passed
        _put_in_place(hidden, target)
        if durable:
            _flush_name(target)


@contextlib.contextmanager
def _hidden_beside(target: Path) -> Iterator[Path]:
    """A hidden name beside ``target``, with nothing under it afterwards."""
    _sweep(target)
    hidden = _hidden_name(target, "new")
    _active.add(hidden)
    try:
        yield hidden
    finally:
        remove(hidden)
        _active.discard(hidden)


def remove_unfinished() -> None:
    """Remove unfinished outputs of this process, if an interruption also cut their removal short."""
    for hidden in tuple(_active):
        if hidden.suffix == ".new":  # an "old" one may be all that is left of the target: see `recover`
            remove(hidden)
            _active.discard(hidden)


def _hidden_name(target: Path, kind: str) -> Path:
    return target.with_name(f"{_prefix(target)}{_host()}-{os.getpid()}-{secrets.token_hex(4)}.{kind}")


def _prefix(target: Path) -> str:
    name = target.name
    if len(os.fsencode(name)) > _NAME_LIMIT:
        name = hashlib.blake2b(os.fsencode(name), digest_size=16).hexdigest()
    return f".{name}.graphrefine-"


def _host() -> str:
    """Eight digits for this machine: on a shared disk, another's process ids mean nothing here."""
    return f"{zlib.crc32(platform.node().encode()):08x}"


def _leftovers(target: Path, kind: str) -> list[Path]:
    """Hidden siblings of ``target`` whose writer is no longer alive, oldest first."""
    pattern = re.compile(re.escape(_prefix(target)) + rf"{_host()}-(\d+)-[0-9a-f]{{8}}\.{kind}")
    leftovers = []
    with os.scandir(target.parent) as entries:
        for entry in entries:
            match = pattern.fullmatch(entry.name)
            if match and Path(entry.path) not in _active:
                with contextlib.suppress(FileNotFoundError):  # another run may be cleaning up as well
                    leftovers.append((entry.stat().st_mtime_ns, int(match[1]), Path(entry.path)))
    return [path for written, pid, path in sorted(leftovers) if not _is_alive(pid, written / 1e9)]


def _is_alive(pid: int, written: float) -> bool:
    """Whether another process has this id, and had it at that time, by a clock of seconds: ids are given again."""
    import psutil  # only where something was left behind

    try:
        return pid != os.getpid() and psutil.pid_exists(pid) and psutil.Process(pid).create_time() < written + 2
    except (OverflowError, psutil.Error):  # no id that this system could have given, or nothing is told of it
        return True


def _sweep(target: Path) -> None:
    """Remove leftovers of killed runs beside ``target``; an ``old`` one only if there is a target again."""
    with contextlib.suppress(OSError):
        for leftover in _leftovers(target, "new"):
            remove(leftover)
        if target.exists():
            for leftover in _leftovers(target, "old"):
                remove(leftover)


def remove(path: Path) -> None:
    """Remove a file or a folder; what a disk refuses is tried once more, and then left to the next save."""
    for ignore in (False, True):
        with contextlib.suppress(OSError):
            is_folder = not path.is_symlink() and path.is_dir()
            return shutil.rmtree(path, ignore_errors=ignore) if is_folder else path.unlink(missing_ok=True)
    return None


def _put_in_place(hidden: Path, target: Path) -> None:
    """Give ``hidden`` the name ``target``; afterwards ``hidden`` names the old folder, if there was one."""
    if not target.exists():
        hidden.rename(target)
    elif not _exchange(hidden, target):
        _put_in_place_in_two_steps(hidden, target)


def _put_in_place_in_two_steps(hidden: Path, target: Path) -> None:
    """Do the same with two renames; ``recover`` knows what to do if the process dies between them."""
    aside = _hidden_name(target, "old")
    _active.add(aside)
    try:
        target.rename(aside)
        try:
            hidden.rename(target)
        except BaseException:
            aside.rename(target)
            raise
        remove(aside)
    finally:
        _active.discard(aside)


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


def recover(path: str | os.PathLike[str], *, patience: float = 1.0) -> bool:
    """Bring back a folder whose replacement was killed halfway, where replacing takes two steps.

    Only systems without an exchange of names need it: between the two steps there is no folder at all.

    Parameters
    ----------
    path : path
        The folder that should be there.
    patience : float
        Seconds to wait for a replacement that another process is making right now.

    Returns
    -------
    bool
        Whether the folder is there now.
    """
    target = Path(os.path.realpath(path))
    until = time.monotonic() + patience
    while not target.exists() and target.parent.is_dir():
        leftovers = _leftovers(target, "old")
        if leftovers:
            with contextlib.suppress(OSError):  # another run may be faster
                leftovers[-1].rename(target)
        elif not any(target.parent.glob(f"{glob.escape(_prefix(target))}*.old")) or time.monotonic() > until:
            break
        else:
            time.sleep(0.01)
    return target.exists()


def _flush_name(target: Path) -> None:
    """Wait until the disk has the name of an output, which is there whatever the disk says."""
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
    """Refuse a disk with too little room, before any work is done.

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
    >>> check_writable("no/such/place.npy")
    Traceback (most recent call last):
    graphrefine.errors.OutputError: no/such/place.npy: the folder no/such does not exist; create it first
    """
    output, target = os.fspath(path), Path(os.path.realpath(path))
    if not target.name:
        raise OutputError(f"{output or '(empty)'}: not the name of an output; give a name below a folder")
    _check_parent(Path(path).parent, target, output)
    if folder:
        _check_existing_folder(target, output, replaceable)
    else:
        _check_existing_file(target, output)
    check_free_disk(target.parent, size, label=f"{output}:")
    return target


def _check_parent(name: Path, target: Path, output: str) -> None:
    if not os.path.lexists(target.parent):
        raise OutputError(f"{output}: the folder {name} does not exist; create it first")
    if not target.parent.is_dir():
        raise OutputError(f"{output}: {name} is not a folder; choose another place")
    try:  # trying is the only honest test: permission bits know nothing of read-only disks, quotas or root
        _try_to_write(target)
    except OSError as error:
        raise OutputError(f"{output}: cannot write in {name} ({error.strerror}); choose another") from error


def _try_to_write(target: Path) -> None:
    """Make a file beside ``target`` that has no name, so that it goes whatever happens; else one that is hidden."""
    if hasattr(os, "O_TMPFILE"):
        try:
            return os.close(os.open(target.parent, os.O_TMPFILE | os.O_WRONLY, 0o600))
        except OSError as error:
            if error.errno not in _NO_NAMELESS_FILES:
                raise
    with _hidden_beside(target) as hidden:
        return hidden.touch()


def _check_existing_file(target: Path, output: str) -> None:
    if target.is_dir():
        raise OutputError(f"{output}: is a folder, but the output is a file; choose another name")
    if target.exists() and not target.is_file():
        raise OutputError(f"{output}: is not a regular file, and would be replaced; choose another name")
    if target.exists() and not os.access(target, os.W_OK):
        raise OutputError(f"{output}: is write-protected; make it writable or choose another name")


def _check_existing_folder(target: Path, output: str, replaceable: Callable[[Path], None] | None) -> None:
    if target.exists() and not target.is_dir():
        raise OutputError(f"{output}: is a file, but the output is a folder; choose another name")
    if target.exists() and replaceable is not None:
        replaceable(target)


def check_only(folder: Path, files: Collection[str] | None, *, kind: str, way_out: str = "choose another name") -> None:
    """Refuse to replace a folder with anything in it but `files`, those of an output of this kind; None: it is none."""
    present = {entry.name for entry in folder.iterdir()} - CLUTTER
    if present and files is None:
        raise OutputError(f"{folder}: is a folder but no {kind}, and would be lost; {way_out}")
    foreign = sorted(present - set(files or ()))
    if foreign:
        raise OutputError(f"{folder}: also holds {', '.join(foreign[:3])}, which would be lost; {way_out}")
