"""Companions of an embedding: folders next to it, such as an index of its vectors, which are used with no others.

``friends.parquet.map`` is the map of ``friends.parquet``. Its ``meta.json`` has the format and version, a stamp of the
vectors under ``of``, and the digests of the files. A companion of other vectors, or a damaged one, is made again.
"""

from __future__ import annotations

import contextlib
import json
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import OutputError
from graphrefine.search.vectors import Stamp, VectorTable
from graphrefine.system.arrays import row_blocks
from graphrefine.system.checks import version_problem
from graphrefine.system.digest import digest_file, digest_json
from graphrefine.system.files import check_only, listed_files, read_mark, replacing_folder

META = "meta.json"


def stamp_file(path: Path) -> Stamp | None:
    """Return size and time of the file with the vectors of an embedding; None if there is none."""
    try:
        status = (path / "vectors.npy" if path.is_dir() else path).stat()
    except OSError:
        return None
    return {"size": status.st_size, "mtime_ns": status.st_mtime_ns}


def companion(path: Path, kind: str) -> Path:
    """Return the path of a companion of the embedding at a path."""
    return path.with_name(f"{path.name}.{kind}")


def stamp(embedding: VectorTable) -> Stamp:
    """Return what tells these vectors from all others."""
    nodes, dim = embedding.vectors.shape
    return {"nodes": nodes, "dim": dim, "crc32": _crc32(embedding.vectors), **(embedding.file_stamp or {})}


def is_current(of: Any, embedding: VectorTable) -> bool:
    """Return whether a stamp is of these vectors."""
    if not isinstance(of, dict) or (of.get("nodes"), of.get("dim")) != embedding.vectors.shape:
        return False
    # Size and time first: the checksum reads all vectors, which of mapped ones is the time that an index saves.
    if embedding.file_stamp is not None and all(of.get(key) == value for key, value in embedding.file_stamp.items()):
        return True
    return bool(of.get("crc32") == _crc32(embedding.vectors))


def find_meta(folder: Path, mark: str, version: int, embedding: VectorTable) -> dict[str, Any] | None:
    """Return the metadata of a companion of this format and version and of these vectors; None if there is none."""
    meta = read_mark(folder / META, mark)
    is_usable = meta is not None and meta.get("version") == version and is_current(meta.get("of"), embedding)
    return meta if is_usable else None


def is_whole(folder: Path, meta: Mapping[str, Any], *files: str) -> bool:
    """Return whether ``meta.json`` and all files, `files` among them, have the digests that they were written with."""
    # Asked before anything is made of the files: usearch trusts what it reads, and a damaged index ends the process.
    digests = meta.get("digests")
    if not isinstance(digests, dict) or not set(files) <= digests.keys():
        return False
    try:
        own = digest_json({name: value for name, value in meta.items() if name != "digest"}) == meta.get("digest")
        return own and all(digest_file(folder / name) == digest for name, digest in digests.items())
    except (OSError, ValueError, TypeError):
        return False


@contextlib.contextmanager
def replacing_companion(
    folder: Path, mark: str, version: int, embedding: VectorTable, *files: str, **facts: Any
) -> Iterator[Path]:
    """Fill a hidden folder that becomes a companion in one step; OutputError where it may not replace another."""
    newer = (read_mark(folder / META, mark) or {}).get("version")
    if isinstance(newer, int) and newer > version:
        raise OutputError(f"{folder}: {version_problem(newer, version)}")

    def check_ours(path: Path) -> None:
        meta = read_mark(path / META, mark)
        ours = None if meta is None else listed_files(meta, META, *files)
        check_only(path, ours, kind=mark, advice="move it away")

    # Not durable: what a power cut takes is made again, and no command should wait for the disk.
    with replacing_folder(folder, replaceable=check_ours, durable=False) as hidden:
        yield hidden
        written = sorted(hidden.iterdir())
        meta = {"format": mark, "version": version, "of": stamp(embedding), **facts}
        meta["files"] = {file.name: file.stat().st_size for file in written}
        meta["digests"] = {file.name: digest_file(file) for file in written}
        meta["digest"] = digest_json(meta)
        (hidden / META).write_text(json.dumps(meta, indent=1) + "\n", encoding="utf-8")


def _crc32(vectors: NDArray[np.float32]) -> int:
    checksum = 0
    for block in row_blocks(vectors):  # a copy of some rows at a time, where vectors are a part of wider ones
        checksum = zlib.crc32(np.ascontiguousarray(block).data, checksum)
    return checksum
