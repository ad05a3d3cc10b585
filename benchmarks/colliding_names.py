"""Names and ids that one hash function maps to one place: what somebody writes who wants a reader to take forever.

Without a seed, each step of the hash of ``kernels/native/numbering.h`` can be undone. A name of 16 bytes is two words:
its first is drawn, and its second is the one that leads to the hash that is wanted. An id is undone from a hash whose
low bits, the place in the table, are those of all others.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

MASK = (1 << 64) - 1
FACTOR = 0xD6E8FEB86659FD93
INVERSE = pow(FACTOR, -1, 1 << 64)
PLACE_BITS = 24  # of a table of 16 million places
TARGET = 0x0123456789ABCDEF
LETTERS = bytes([*range(0x30, 0x3B), *range(0x41, 0x5B), *range(0x61, 0x7B), *range(0xC0, 0x100)])
"""Bytes of names: digits, letters, and letters of Latin-1; none that text gives a meaning to."""

Words = NDArray[np.uint64]


def hash_integers(values: Words) -> Words:
    """The hash of an integer, or of a state and a word: one-to-one.

    Examples
    --------
    >>> words = np.array([0, 1, 2**64 - 1], np.uint64)
    >>> undo_hash(hash_integers(words)).tolist() == words.tolist()
    True
    """
    half = np.uint64(32)
    for _ in range(2):
        values = (values ^ (values >> half)) * np.uint64(FACTOR)
    return values ^ (values >> half)


def undo_hash(values: Words) -> Words:
    """The integers that have these hashes."""
    half = np.uint64(32)
    values = values ^ (values >> half)
    for _ in range(2):
        values = values * np.uint64(INVERSE)
        values = values ^ (values >> half)
    return values


def hash_name(name: bytes) -> int:
    """The hash of a name, without a seed."""
    state = len(name)
    for at in range(0, len(name), 8):
        word = int.from_bytes(name[at : at + 8], "little")
        state = int(hash_integers(np.array([state ^ word], np.uint64))[0])
    return state


def colliding_names(count: int, *, seed: int = 0) -> list[bytes]:
    """Distinct names of 16 bytes, in Latin-1, that all have one hash of 64 bits."""
    rng = np.random.default_rng(seed)
    last = undo_hash(np.array([TARGET], np.uint64))[0]
    names: set[bytes] = set()
    while len(names) < count:
        first = _draw_words(rng, 1 << 18)
        second = hash_integers(first ^ np.uint64(16)) ^ last
        usable = np.isin(second.view(np.uint8).reshape(-1, 8), list(LETTERS)).all(axis=1)
        both = np.stack([first[usable], second[usable]], axis=1)
        names.update(pair.tobytes() for pair in both)
    return sorted(names)[:count]


def arrow_names(count: int, *, seed: int = 0) -> list[bytes]:
    """Distinct names of 16 letters that all have one hash in pyarrow: two words, each multiplied and turned round."""
    rng, names = np.random.default_rng(seed), set[bytes]()
    last, first = (np.uint64(factor) for factor in (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F))
    undo = np.uint64(pow(int(last), -1, 1 << 64))
    while len(names) < count:
        word = rng.integers(0x30, 0x7F, (1 << 19, 8), np.uint8).view(np.uint64)[:, 0]
        other = (np.uint64(TARGET) ^ (first * word).byteswap()).byteswap() * undo
        usable = ((other.view(np.uint8) >= 0x30) & (other.view(np.uint8) < 0x7F)).reshape(-1, 8).all(axis=1)
        names.update(pair.tobytes() for pair in np.stack([word[usable], other[usable]], axis=1))
    return sorted(names)[:count]


def ordinary_names(count: int, *, seed: int = 0) -> list[bytes]:
    """Distinct names of the same length and of the same bytes that have nothing in common."""
    rng = np.random.default_rng(seed)
    names: set[bytes] = set()
    while len(names) < count:
        names.update(pair.tobytes() for pair in _draw_words(rng, 2 * count).reshape(-1, 2))
    return sorted(names)[:count]


def colliding_ids(count: int) -> NDArray[np.int64]:
    """Distinct ids whose hashes have the same low bits."""
    hashes = (np.arange(count, dtype=np.uint64) << np.uint64(PLACE_BITS)) | np.uint64(TARGET & ((1 << PLACE_BITS) - 1))
    return undo_hash(hashes).view(np.int64)


def ordinary_ids(count: int, *, seed: int = 0) -> NDArray[np.int64]:
    """Distinct ids as far apart as the others."""
    ids = np.random.default_rng(seed).integers(-(2**63), 2**63 - 1, size=2 * count, dtype=np.int64)
    return np.unique(ids)[:count]


def _draw_words(rng: np.random.Generator, count: int) -> Words:
    letters = np.frombuffer(LETTERS, np.uint8)
    return letters[rng.integers(len(letters), size=(count, 8))].view(np.uint64)[:, 0]


def edge_list(names: list[bytes]) -> bytes:
    """A text with a header whose edges join each name with the next."""
    records = [b"%b,%b" % pair for pair in zip(names, names[1:] + names[:1], strict=True)]
    return b"\n".join([b"source,target", *records, b""])


def edge_list_of_ids(ids: NDArray[np.int64]) -> bytes:
    """The same of ids."""
    return edge_list([b"%d" % value for value in ids.tolist()])
