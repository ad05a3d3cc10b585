"""Which files are meant: names, folders, patterns."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphrefine.errors import InputError
from graphrefine.graph.stored import is_stored
from graphrefine.readers.formats import BY_SUFFIX, Format
from graphrefine.readers.read import format_of
from graphrefine.readers.source import Source

STREAMED = ("text", "csv", "tsv", "parquet", "arrow")  # the others are read whole


@dataclass(frozen=True)
class Input:
    """A file of edges."""

    source: Source
    format: Format
    size: int  # in bytes
    changed: int  # when, in nanoseconds

    def fingerprint(self) -> list[Any]:
        """What must not change while the work goes on, or waits to be taken up again."""
        return [os.path.realpath(self.source.path), self.format.name, self.size, self.changed]


def find_inputs(paths: Sequence[str | os.PathLike[str]], name: str | None) -> list[Input]:
    """The files of names, folders (every file in them with a known suffix) and patterns, in order."""
    found = [file for path in paths for file in _files(os.fspath(path))]
    if not found:
        raise InputError("there is nothing to ingest: name at least one file")
    seen: set[str] = set()
    for path in found:
        if os.path.realpath(path) in seen:
            raise InputError(f"{path}: is given twice, and its edges would count twice; leave one out")
        seen.add(os.path.realpath(path))
    return [_input(path, name) for path in found]


def _files(path: str) -> list[str]:
    if path == "-":
        raise InputError("standard input cannot be ingested, as it cannot be read again if it must be: use a file")
    if Path(path).is_dir():
        if is_stored(path):
            raise InputError(f"{path}: is a graph on disk already; embed it as it is")
        inside = sorted(str(each) for each in Path(path).rglob("*") if each.is_file() and _is_table(each))
        if not inside:
            raise InputError(f"{path}: there is no file of a known format in this folder")
        return inside
    if not os.path.lexists(path) and glob.has_magic(path):
        matched = sorted(each for each in glob.glob(path, recursive=True) if Path(each).is_file())  # noqa: PTH207
        if not matched:
            raise InputError(f"{path}: no file matches this pattern")
        return matched
    return [path]


def _is_table(path: Path) -> bool:
    known = BY_SUFFIX.get(Source(path).suffix)
    return known is not None and not path.name.startswith((".", "_"))


def _input(path: str, name: str | None) -> Input:
    source = Source(path)
    format = format_of(source, name, lambda: source.head)
    try:
        stat = Path(path).stat()
    except OSError as error:
        raise source.error(f"the file cannot be read: {error.strerror or error}") from None
    return Input(source, format, stat.st_size, stat.st_mtime_ns)
