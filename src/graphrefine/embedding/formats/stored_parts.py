"""Parts of an embedding written to a place and read from it: in one step, with fingerprint and seal, and verified."""

from __future__ import annotations

import logging
import os
import warnings
from pathlib import Path
from typing import Any

from graphrefine.embedding.formats import (
    READ_ERRORS,
    Format,
    PathLike,
    check_names,
    choose_format,
    format_place,
    input_format,
    names_as_text,
    unreadable,
)
from graphrefine.embedding.formats.seal import (
    VERIFIED,
    close_seal,
    find_damage,
    is_written_anew,
    marks_problem,
    new_marks,
)
from graphrefine.embedding.state import State
from graphrefine.embedding.table import Parts
from graphrefine.errors import ArgumentWarning, FormatError, InputError, OutputError
from graphrefine.system.files import replacing, replacing_folder

_log = logging.getLogger(__name__)
_ATTEMPTS = 100  # to load a file that is replaced meanwhile
OTHER_FOLDERS = {  # by a file that only they have
    "live.db": "is a folder of live vectors; graphrefine live has commands for it: check, serve, export (an embedding)",
    "indptr.npy": "is a graph on disk, not an embedding; graphrefine embed makes vectors of it",
}


def save_parts(parts: Parts, path: PathLike, *, format: str | None, durable: bool | None, **options: Any) -> None:
    """Write an embedding at a path or an address, replacing it in one step or, if anything fails, not at all."""
    file_format = choose_format(path, format)
    options = file_format.options(options)
    parts = names_as_text(parts, format_place(path), stacklevel=4)
    parts = _with_blanks(parts, file_format, format_place(path), options.pop("blank_names", "refuse"))
    check_names(path, file_format, parts.names)
    parts = parts._replace(marks=new_marks(parts)) if file_format.state else parts._replace(state=State())
    if file_format.server:
        return file_format.write(os.fspath(path), parts, **options)
    try:
        with (
            replacing_folder(path, replaceable=file_format.check_replaceable, durable=durable)
            if file_format.folder
            else replacing(path, durable=durable)
        ) as hidden:
            file_format.write(hidden, parts, **options)
            if file_format.state:
                close_seal(hidden, parts)
    except OSError as error:
        if isinstance(error, OutputError):
            raise
        raise OutputError(f"{os.fspath(path)}: cannot be written: {error.strerror or error}") from error
    _log.info("wrote %s", os.fspath(path))
    return None


def _with_blanks(parts: Parts, file_format: Format, place: str, choice: str) -> Parts:
    """The parts with underscores for the blanks of names where that is the choice, with a warning that counts them."""
    if choice not in ("refuse", "replace"):
        problem = f"blank_names={choice!r} is not known; it can be 'refuse' or 'replace'"
        raise InputError(problem, argument="blank_names")
    if choice == "refuse":
        return parts
    try:
        names, count = file_format.replace_blanks(parts.names)
    except InputError as error:
        raise InputError(f"{place}: {error}") from None
    if count:
        what = f"{count:,} {'name has' if count == 1 else 'names have'} underscores in the place of blanks"
        warnings.warn(ArgumentWarning(f"{place}: {what}, and will be read so"), stacklevel=4)
    return parts._replace(names=names)


def load_parts(
    path: PathLike, *, format: str | None = None, table: str | None = None, verify: bool | None = None
) -> Parts:
    """Read the parts of an embedding from a file, a folder, or the table of a server.

    Files with a seal are verified; those that are mapped, up to a gigabyte, unless ``verify`` says yes or no.
    """
    place, file_format = Path(path), input_format(path, format)
    if file_format.server:
        return file_format.read(os.fspath(path), table=table)
    if table is not None:
        raise InputError(
            f"table={table!r}: only a server has tables, and {os.fspath(path)} is a file", argument="table"
        )
    check_kind(place, file_format)
    for _ in range(_ATTEMPTS):
        before = _status(place)
        try:
            parts = file_format.read(place)
        except FormatError:
            raise
        except READ_ERRORS as error:
            raise unreadable(place, file_format, error) from error
        problem = marks_problem(parts.marks) or _verify(place, file_format, parts, verify=verify)
        if problem is None:
            return parts
        if before != _status(place):  # replaced meanwhile, by one that may be whole
            continue
        if file_format.rewritable and is_written_anew(place, parts):
            warnings.warn(ArgumentWarning(f"{os.fspath(path)}: {WRITTEN_ANEW}"), stacklevel=3)
            return parts
        raise FormatError(place, problem)
    raise FormatError(place, "is being replaced again and again; load it when that is over")


def check_kind(path: PathLike, file_format: Format) -> None:
    """Refuse a folder for the format of a file, the reverse, and a folder of another kind."""
    place = Path(path)
    if place.is_file() if file_format.folder else place.is_dir():
        kind = "file" if file_format.folder else "folder"
        raise FormatError(path, f"is a {kind}, so it cannot be read as {file_format.name}")
    if file_format.folder and not (place / "meta.json").exists():
        for name, problem in OTHER_FOLDERS.items():
            if (place / name).exists():
                raise FormatError(path, problem)


WRITTEN_ANEW = "was written anew by another program, so that fingerprint and checksum are those of an older file"


def _status(path: Path) -> tuple[int, ...] | None:
    """What changes with a replacement; None where there is nothing."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_mtime_ns


def _verify(path: Path, file_format: Format, parts: Parts, *, verify: bool | None) -> str | None:
    """What is wrong with a file by its seal; None where nothing is, or it is not to be read."""
    large = parts.mapped and parts.vectors.nbytes > VERIFIED
    if verify is False or not file_format.state or (large and verify is None):
        return None
    try:
        return find_damage(path, parts)
    except OSError as error:
        return f"cannot be verified: {error.strerror or error}"
