"""Embeddings in files and databases: the checks before a write, the write in one step, the read."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from graphrefine.embedding.formats import READ_ERRORS, Format, choose_format, format_place
from graphrefine.embedding.formats.folder import check_replaceable
from graphrefine.embedding.formats.parts import Parts
from graphrefine.errors import FormatError, InputError, OutputError
from graphrefine.graph.node_ids import Names
from graphrefine.system.files import check_writable, replacing, replacing_folder

PathLike = str | os.PathLike[str]


def save_parts(parts: Parts, path: PathLike, *, format: str | None, durable: bool, **options: Any) -> None:
    """Write an embedding at a path or an address, replacing it in one step or, if anything fails, not at all."""
    file_format = choose_format(path, format)
    options = file_format.options(options)
    _check_names(path, file_format, parts.names)
    if not file_format.state:
        parts = Parts(parts.names, parts.vectors, parts.recipe)
    if file_format.server:
        return file_format.write(os.fspath(path), parts, **options)
    try:
        with (
            replacing_folder(path, replaceable=check_replaceable, durable=durable)
            if file_format.folder
            else replacing(path, durable=durable)
        ) as hidden:
            file_format.write(hidden, parts, **options)
    except OSError as error:
        if isinstance(error, OutputError):
            raise
        raise OutputError(f"{os.fspath(path)}: cannot be written: {error.strerror or error}") from error
    return None


def load_parts(path: PathLike, *, format: str | None = None, table: str | None = None) -> Parts:
    """Read the parts of an embedding from a file, a folder, or the table of a server."""
    place, file_format = Path(path), input_format(path, format)
    if file_format.server:
        return file_format.read(os.fspath(path), table=table)
    if table is not None:
        raise InputError(f"table={table!r}: only a server has tables, and {os.fspath(path)} is a file")
    if place.is_file() if file_format.folder else place.is_dir():
        kind = "file" if file_format.folder else "folder"
        raise FormatError(place, f"is a {kind}, so it cannot be read as {file_format.name}")
    try:
        return file_format.read(place)
    except FormatError:
        raise
    except READ_ERRORS as error:
        raise unreadable(place, file_format, error) from error


def unreadable(path: PathLike, file_format: Format, error: Exception) -> FormatError:
    """The error of a file or a table that cannot be read as its format."""
    problem = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return FormatError(format_place(path), f"cannot be read as {file_format.name}: {problem}")


def input_format(path: PathLike, format: str | None) -> Format:
    """The format of a file to read: a folder is the native format, whatever its name."""
    return choose_format(path, "folder" if format is None and Path(path).is_dir() else format)


def check_output(path: PathLike, *, format: str | None = None, names: Names | None = None, values: int = 0) -> None:
    """Check before the work whether an embedding could be saved at ``path``.

    Parameters
    ----------
    path : path
        Its suffix must be known, its package installed, its folder there and writable; what stands there
        already must be something to be replaced.
    format : str, optional
        The format, whatever the suffix.
    names : array, optional
        The names to be stored, if known by now: not every format can hold every name.
    values : int
        Number of numbers that will be stored (nodes times dim), if known by now: the disk must have room for them.
    """
    file_format = choose_format(path, format)
    if file_format.server:
        raise OutputError(
            f"{format_place(path)}: is a server; make a file first, then: graphrefine convert FILE postgresql://..."
        )
    file_format.check_package()
    if names is not None:
        _check_names(path, file_format, names)
    size = values * file_format.bytes_per_value
    check_writable(path, folder=file_format.folder, size=size, replaceable=check_replaceable)


def _check_names(path: PathLike, file_format: Format, names: Names) -> None:
    try:
        file_format.check_names(names)
    except InputError as error:
        raise InputError(f"{format_place(path)}: {error}") from None
