"""Input files of an ingestion: from names, folders and patterns."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphrefine.errors import InputError
from graphrefine.graph.stored import is_stored
from graphrefine.readers.formats import BY_SUFFIX, Format, find_format
from graphrefine.readers.source import Source


@dataclass(frozen=True)
class Input:
    """A file of edges."""

    source: Source
    format: Format
    size: int  # in bytes
    changed: int  # when, in nanoseconds

    def fingerprint(self) -> list[Any]:
        """Path, format, size and time, which must not change until the work is done."""
        return [os.path.realpath(self.source.path), self.format.name, self.size, self.changed]


def find_inputs(paths: Sequence[str | os.PathLike[str]], name: str | None) -> list[Input]:
    """The files of names, folders (every file in them with the suffix of a format) and patterns, in order."""
    files = [file for path in paths for file in _files(os.fspath(path))]
    if not files:
        raise InputError("there is nothing to ingest: name at least one file", argument="paths")
    places: set[str] = set()
    for path in files:
        if os.path.realpath(path) in places:
            raise InputError(
                f"{path}: is given twice, and its edges would count twice; leave one out", argument="paths"
            )
        places.add(os.path.realpath(path))
    return [_input(path, name) for path in files]


def _files(path: str) -> list[str]:
    if path == "-":
        raise InputError(
            "standard input cannot be ingested, as it cannot be read again if it must be: use a file", argument="paths"
        )
    if Path(path).is_dir():
        if is_stored(path):
            raise InputError(f"{path}: is a graph on disk already; embed it as it is", argument="paths")
        inside = sorted(str(each) for each in Path(path).rglob("*") if each.is_file() and _is_table(each))
        if not inside:
            raise InputError(f"{path}: there is no file of a known format in this folder", argument="paths")
        return inside
    if not os.path.lexists(path) and glob.has_magic(path):
        matched = sorted(each for each in glob.glob(path, recursive=True) if Path(each).is_file())  # noqa: PTH207
        if not matched:
            raise InputError(f"{path}: no file matches this pattern", argument="paths")
        return matched
    return [path]


def _is_table(path: Path) -> bool:
    return Source(path).suffix in BY_SUFFIX and not path.name.startswith((".", "_"))


def _input(path: str, name: str | None) -> Input:
    source = Source(path)
    format = find_format(source, name, lambda: source.head)
    try:
        stat = Path(path).stat()
    except OSError as error:
        raise source.error(f"the file cannot be read: {error.strerror or error}") from None
    return Input(source, format, stat.st_size, stat.st_mtime_ns)
