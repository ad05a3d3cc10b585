"""Digests of arrays and files: SHA-256 of blocks, so that threads share the work and no copy of all is made.

The digest of n bytes is the SHA-256 of the SHA-256 of its blocks, one after the other, of 2^20 bytes each; the first 32
digits of it. SHA-256 is that of the standard library: 1.8 GB/s a core where the processor has instructions for it.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.system.threads import map_tasks, usable_threads

BLOCK = 1 << 20  # bytes: a part of the definition
DIGITS = 32
_PIECE = 1 << 14  # bytes read at a time
_NAMES_AT_ONCE = 1 << 16  # a part of the definition
_FEW = 8  # blocks that are not worth a thread


def digest_blocks(blocks: Iterable[bytes]) -> str:
    """The digest of content that comes in its blocks.

    Examples
    --------
    >>> digest_blocks([b"abc"]) == hashlib.sha256(hashlib.sha256(b"abc").digest()).hexdigest()[:32]
    True
    """
    return _join(hashlib.sha256(block).digest() for block in blocks)


def _join(digests: Iterable[bytes]) -> str:
    return hashlib.sha256(b"".join(digests)).hexdigest()[:DIGITS]


def digest_json(value: Mapping[str, Any]) -> str:
    """The digest of a JSON object: keys sorted, no blanks, ASCII.

    Examples
    --------
    >>> digest_json({"b": 1, "a": [1, 2]}) == digest_json({"a": [1, 2], "b": 1})
    True
    """
    return digest_blocks([json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()])


def digest_array(array: NDArray[Any], dtype: str) -> str:
    """The digest of the numbers of an array, row after row, in this type (little-endian).

    Examples
    --------
    >>> one = np.arange(6, dtype=np.float32).reshape(2, 3)
    >>> digest_array(one, "<f4") == digest_array(np.asfortranarray(one), "<f4") == digest_blocks([one.tobytes()])
    True
    """
    content = np.ascontiguousarray(array, dtype=dtype).reshape(-1).view(np.uint8).data
    return _digest_parts(len(content), lambda start, end: [content[start:end]])


def digest_names(names: NDArray[Any]) -> str:
    r"""The digest of names in their order: integers of 64 bits, or texts.

    Texts come in blocks of 65,536, each the lengths of the names in bytes (32 bits) and then their UTF-8 bytes.

    Examples
    --------
    >>> digest_names(np.array(["ada", "bo"], object)) == digest_blocks([b"\3\0\0\0\2\0\0\0adabo"])
    True
    """
    if names.dtype != object:
        return digest_array(names, "<i8")
    starts = range(0, len(names), _NAMES_AT_ONCE)
    return digest_blocks(_pack(names[start : start + _NAMES_AT_ONCE].tolist()) for start in starts)


def _pack(names: list[Any]) -> bytes:
    texts = names if all(type(name) is str for name in names) else [str(name) for name in names]
    joined = "".join(texts)
    if joined.isascii():  # one byte a character
        return np.fromiter(map(len, texts), "<u4", len(texts)).tobytes() + joined.encode()
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    return np.fromiter(map(len, encoded), "<u4", len(encoded)).tobytes() + b"".join(encoded)


def digest_file(handle: int, replaced: Mapping[int, bytes] | None = None) -> str:
    """The digest of an open file, with other bytes at some places (offset -> bytes)."""
    places = replaced or {}

    def read(start: int, end: int) -> Iterator[bytes]:
        for first, piece in read_pieces(handle, start, end):
            yield _replace(piece, first, places) if places else piece

    return _digest_parts(os.fstat(handle).st_size, read)


def _replace(piece: bytes, start: int, places: Mapping[int, bytes]) -> bytes:
    """A piece of a file that starts somewhere, with the bytes that stand at other places in it."""
    for place, text in places.items():
        first, last = max(place - start, 0), min(place - start + len(text), len(piece))
        if first < last:
            offset = start - place
            piece = piece[:first] + text[first + offset : last + offset] + piece[last:]
    return piece


def read_pieces(handle: int, start: int, end: int) -> Iterator[tuple[int, bytes]]:
    """Pieces of an open file between two places, each with its place; whatever the position of the file is."""
    read = getattr(os, "pread", _read_mapped)
    while start < end and (piece := read(handle, min(end - start, _PIECE), start)):
        yield start, piece
        start += len(piece)


def _read_mapped(handle: int, count: int, start: int) -> bytes:
    """Bytes of a file where the system has no pread (Windows)."""
    import mmap

    with mmap.mmap(handle, 0, access=mmap.ACCESS_READ) as content:
        return content[start : start + count]


def _digest_parts(size: int, read: Callable[[int, int], Iterable[bytes | memoryview]]) -> str:
    starts = range(0, size, BLOCK)

    def digest(start: int) -> bytes:
        block = hashlib.sha256()
        for piece in read(start, min(start + BLOCK, size)):
            block.update(piece)
        return block.digest()

    return _join(map(digest, starts) if len(starts) <= _FEW else map_tasks(starts, digest, usable_threads(None)))
