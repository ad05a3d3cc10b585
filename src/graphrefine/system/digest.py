"""Hashes of arrays, files and JSON: SHA-256 of blocks, so that threads share the work and no copy of all is made.

The digest of n bytes is the SHA-256 of the SHA-256 of its blocks, one after the other, of 2^20 bytes each; the first 32
digits of it. SHA-256 is that of the standard library: 1.8 GB/s a core where the processor has instructions for it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.system.threads import map_tasks, usable_threads

# Bytes of a block, and names of one: both are parts of the definition, and another number would give all embeddings
# other fingerprints. SHA-256 over a whole array could not be shared by threads.
BLOCK = 1 << 20
_NAMES_AT_ONCE = 1 << 16
DIGITS = 32


def digest_blocks(blocks: Iterable[bytes]) -> str:
    """Return the digest of content that comes in its blocks."""
    return _join(hashlib.sha256(block).digest() for block in blocks)


def _join(digests: Iterable[bytes]) -> str:
    return hashlib.sha256(b"".join(digests)).hexdigest()[:DIGITS]


def digest_json(value: Mapping[str, Any]) -> str:
    """Return the digest of a JSON object: keys sorted, no blanks, ASCII."""
    return digest_blocks([json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()])


def digest_array(array: NDArray[Any], dtype: str) -> str:
    """Return the digest of the numbers of an array, row after row, in this type (little-endian)."""
    content = np.ascontiguousarray(array, dtype=dtype).reshape(-1).view(np.uint8).data
    starts = range(0, len(content), BLOCK)

    def digest(start: int) -> bytes:
        return hashlib.sha256(content[start : start + BLOCK]).digest()

    few = len(starts) <= 8  # 8 MB take 5 ms, about as long as starting threads
    return _join(map(digest, starts) if few else map_tasks(starts, digest, usable_threads(None)))


def digest_names(names: NDArray[Any]) -> str:
    """Return the digest of names in their order: integers of 64 bits, or texts.

    Texts come in blocks of 65,536, each the lengths of the names in bytes (32 bits) and then their UTF-8 bytes.
    """
    if names.dtype != object:
        return digest_array(names, "<i8")
    starts = range(0, len(names), _NAMES_AT_ONCE)
    return digest_blocks(_pack(names[start : start + _NAMES_AT_ONCE].tolist()) for start in starts)


def _pack(names: list[Any]) -> bytes:
    encoded = [str(name).encode("utf-8", "surrogatepass") for name in names]
    return np.fromiter(map(len, encoded), "<u4", len(encoded)).tobytes() + b"".join(encoded)


def digest_file(path: Path) -> str:
    """Return the digest of a file, as `digest_array` has it of its bytes."""
    if not path.stat().st_size:  # which cannot be mapped
        return digest_blocks([])
    return digest_array(np.memmap(path, np.uint8, mode="r"), "u1")


def hash_parts(*parts: NDArray[Any] | bytes | None) -> str:
    """Return the digits of arrays and bytes, one after the other; None is a part too."""
    # BLAKE2b, while the digests above are of SHA-256 in blocks: graphs, work folders and comparisons have these digits,
    # and another hash would take all of them for changed.
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        digest.update(part if isinstance(part, bytes) else b"-" if part is None else np.ascontiguousarray(part).data)
    return digest.hexdigest()
