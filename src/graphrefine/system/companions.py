"""Files beside an embedding, such as an index of its vectors, and the check that they still belong to it.

A companion is a folder: ``friends.index`` beside ``friends``, ``friends.parquet.map`` beside ``friends.parquet``. Its
``meta.json`` holds a stamp of the vectors that it was made from. A companion of other vectors is never used.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import OutputError
from graphrefine.system.checks import version_problem
from graphrefine.system.digest import digest_file, digest_json
from graphrefine.system.files import check_only, listed_files, read_mark

META = "meta.json"
_BLOCK = 1 << 16  # rows summed up at a time

Stamp = dict[str, Any]  # nodes, dim, crc32; size and mtime_ns of the file where there is one


class StoredVectors(Protocol):
    """Vectors, and the file that they came from."""

    vectors: NDArray[np.float32]
    path: Path | None
    file_stamp: Stamp | None  # the file when it was opened


def stamp_file(path: Path) -> Stamp | None:
    """Return size and time of the file with the vectors of an embedding; None if there is none."""
    try:
        status = (path / "vectors.npy" if path.is_dir() else path).stat()
    except OSError:
        return None
    return {"size": status.st_size, "mtime_ns": status.st_mtime_ns}


def companion(path: Path, kind: str) -> Path:
    """Return the path of a companion.

    Examples
    --------
    >>> companion(Path("data/friends.parquet"), "index").as_posix()
    'data/friends.parquet.index'
    """
    return path.with_name(f"{path.name}.{kind}")


def stamp(embedding: StoredVectors) -> Stamp:
    """Return what tells these vectors from all others.

    Examples
    --------
    >>> from graphrefine.embedding.embedding import Embedding
    >>> one, same, other = (stamp(Embedding(None, [[number]])) for number in (1, 1, 2))
    >>> one["nodes"], one == same, one == other
    (1, True, False)
    """
    nodes, dim = embedding.vectors.shape
    return {"nodes": nodes, "dim": dim, "crc32": _crc32(embedding.vectors), **(embedding.file_stamp or {})}


def is_current(of: Any, embedding: StoredVectors) -> bool:
    """Return whether a stamp is of these vectors: at once if their file is as it was, else by reading them all."""
    if not isinstance(of, dict) or (of.get("nodes"), of.get("dim")) != embedding.vectors.shape:
        return False
    if embedding.file_stamp is not None and all(of.get(key) == value for key, value in embedding.file_stamp.items()):
        return True
    return bool(of.get("crc32") == _crc32(embedding.vectors))


def read_meta(folder: Path, mark: str) -> dict[str, Any] | None:
    """Return the ``meta.json`` of a companion whose format is `mark`; None if there is no such, or it is damaged."""
    return read_mark(folder / META, mark)


def write_meta(folder: Path, meta: Mapping[str, Any]) -> None:
    """Write ``meta.json`` with the size and the digest of every file in the folder, and a digest of its own."""
    files = sorted(folder.iterdir())
    whole = {**meta, "files": {file.name: file.stat().st_size for file in files}}
    whole["digests"] = {file.name: digest_file(file) for file in files}
    whole["digest"] = digest_json(whole)
    (folder / META).write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")


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


def check_version(folder: Path, mark: str, newest: int) -> None:
    """Raise OutputError where a companion was written by a newer graphrefine: it is neither read nor replaced."""
    version = (read_meta(folder, mark) or {}).get("version")
    if isinstance(version, int) and version > newest:
        raise OutputError(f"{folder}: {version_problem(version, newest)}")


def check_ours(folder: Path, mark: str, *files: str) -> None:
    """Raise OutputError unless a folder is empty or a companion of this kind and nothing else.

    Its files are those that ``meta.json`` lists, and `files`.
    """
    meta = read_meta(folder, mark)
    ours = None if meta is None else listed_files(meta, META, *files)
    check_only(folder, ours, kind=mark, way_out="move it away")


def _crc32(vectors: NDArray[np.float32]) -> int:
    checksum = 0
    for lo in range(0, len(vectors), _BLOCK):
        checksum = zlib.crc32(np.ascontiguousarray(vectors[lo : lo + _BLOCK]).data, checksum)
    return checksum
