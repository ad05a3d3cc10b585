"""Checks of the place of an output, before the work for it: it can be written, and its disk has room."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable
from pathlib import Path

from graphrefine.errors import OutputError
from graphrefine.system.memory import gigabytes


def check_free_disk(
    folder: Path, size: int, *, label: str | None = None, way_out: str = "choose another place"
) -> None:
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
    _check_parent(Path(path).parent, target.parent, output)
    if folder:
        _check_existing_folder(target, output, replaceable)
    else:
        _check_existing_file(target, output)
    check_free_disk(target.parent, size, label=f"{output}:")
    return target


def _check_parent(name: Path, parent: Path, output: str) -> None:
    if not os.path.lexists(parent):
        raise OutputError(f"{output}: the folder {name} does not exist; create it first")
    if not parent.is_dir():
        raise OutputError(f"{output}: {name} is not a folder; choose another place")
    probe = parent / f".graphrefine-{secrets.token_hex(8)}.probe"
    try:  # trying is the only honest test: permission bits know nothing of read-only disks, quotas or root
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise OutputError(f"{output}: cannot write in {name} ({error.strerror}); choose another") from error


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
