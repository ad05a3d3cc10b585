"""Changes of an input: of its bits, its numbers, its blocks and its words, as little or as much as chance has it.

Every change is a function of a random generator and the bytes, and returns other bytes, of at most ``LONGEST``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from random import Random
from typing import Literal

Mutation = Callable[[Random, bytes], bytes]

LONGEST = 1 << 20  # bytes: longer inputs find no more, and take longer
NUMBER = re.compile(rb"[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?")
NUMBERS = (
    b"0", b"-1", b"1", b"-0", b"00", b"1.5", b"1e308", b"1e400", b"-1e-400", b"1e", b"nan", b"inf", b"-inf", b"0x10",
    b"1_0", b"2147483647", b"2147483648", b"-2147483649", b"4294967296", b"9007199254740993", b"9223372036854775807",
    b"9223372036854775808", b"-9223372036854775808", b"18446744073709551615", b"18446744073709551616", b"9" * 400,
)  # fmt: skip
WORDS = (
    b"", b" ", b"\t", b"\n", b"\r", b"\r\n", b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b'"', b"'", b",", b";", b"|", b"::",
    b"#", b"%", b"\\", b"/", b"../", b"<", b">", b"&", b"[", b"]", b"{", b"}", b"null", b"true", b"NaN", b"\xc3",
    b"\xed\xa0\x80", "é".encode(), "\u202e".encode(), "\U0001f600".encode(), b"\x1b[2J", b"%s%n", b"a" * 300,
    b"[" * 2000,
)  # fmt: skip
SEPARATOR = re.compile(rb"[\s,;|\t<>{}\[\]\"]")


def mutate(rng: Random, data: bytes, others: Sequence[bytes] = ()) -> bytes:
    r"""An input after one to eight changes, most often one; at times the first is a splice with one of ``others``.

    Examples
    --------
    >>> mutate(Random(4), b"1 2\n2 3\n") == mutate(Random(4), b"1 2\n2 3\n")
    True
    """
    if others and rng.random() < 0.1:
        data = splice(rng, data, rng.choice(others))
    choices = MUTATIONS if is_text(data) else BINARY
    for _ in range(count_changes(rng)):
        data = rng.choice(choices)(rng, data)
    return data[:LONGEST]


def count_changes(rng: Random) -> int:
    """One to eight, each half as often as the one before."""
    count = 1
    while count < 8 and rng.random() < 0.5:
        count += 1
    return count


def is_text(data: bytes) -> bool:
    """Whether the beginning has no zero byte."""
    return b"\0" not in data[:512]


def flip_bits(rng: Random, data: bytes) -> bytes:
    """One to four bits flipped.

    Examples
    --------
    >>> flipped = flip_bits(Random(1), bytes(100))
    >>> 0 < sum(flipped) and len(flipped)
    100
    """
    changed = bytearray(data)
    for _ in range(rng.randint(1, 4) if data else 0):
        changed[place(rng, len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def set_bytes(rng: Random, data: bytes) -> bytes:
    """A few bytes, beside each other, replaced by other ones."""
    at = place(rng, len(data) + 1)
    count = rng.choice((1, 1, 2, 4, 8))
    return data[:at] + rng.randbytes(count) + data[at + count :]


def set_integer(rng: Random, data: bytes) -> bytes:
    """An integer of 1, 2, 4 or 8 bytes replaced by an extreme, or moved a little, most often where one may stand."""
    width = rng.choice((1, 2, 4, 4, 8, 8))
    if len(data) < width:
        return data
    at = place(rng, len(data) - width + 1)
    if rng.random() < 0.7:
        at -= at % width
    order: Literal["little", "big"] = "little" if rng.random() < 0.7 else "big"
    top = 1 << 8 * width
    if rng.random() < 0.4:
        value = int.from_bytes(data[at : at + width], order) + rng.choice((-1, 1, -2, 2, 16, -16, 255, 4096))
    else:
        power = 1 << rng.randrange(8 * width)
        value = rng.choice((0, 1, top - 1, top // 2, top // 2 - 1, power, power - 1, len(data), len(data) + 1))
    return data[:at] + (value % top).to_bytes(width, order) + data[at + width :]


def copy_block(rng: Random, data: bytes) -> bytes:
    """A block inserted once more, here or there, at times many times."""
    start, end = block(rng, data)
    at = rng.choice((end, place(rng, len(data) + 1)))
    times = rng.choice((1, 1, 1, 2, 30))
    return data[:at] + data[start:end] * times + data[at:]


def remove_block(rng: Random, data: bytes) -> bytes:
    """A block taken out."""
    start, end = block(rng, data)
    return data[:start] + data[end:]


def swap_blocks(rng: Random, data: bytes) -> bytes:
    """Two blocks beside each other, in the other order."""
    start, end = block(rng, data)
    middle = rng.randint(start, end)
    return data[:start] + data[middle:end] + data[start:middle] + data[end:]


def fill_block(rng: Random, data: bytes) -> bytes:
    """A block of one byte only."""
    start, end = block(rng, data)
    return data[:start] + bytes([rng.choice((0, 255, 32, rng.randrange(256)))]) * (end - start) + data[end:]


def truncate(rng: Random, data: bytes) -> bytes:
    """The beginning."""
    return data[: place(rng, len(data) + 1)]


def edit_number(rng: Random, data: bytes) -> bytes:
    """A number in a text replaced by one that is extreme, or nearly one."""
    start = place(rng, len(data) + 1)
    found = NUMBER.search(data, start) or NUMBER.search(data)
    if found is None:
        return set_bytes(rng, data)
    return data[: found.start()] + rng.choice(NUMBERS) + data[found.end() :]


def insert_word(rng: Random, data: bytes) -> bytes:
    """A mark or a word that has a meaning somewhere, put between others or in the place of one."""
    start = place(rng, len(data) + 1)
    found = SEPARATOR.search(data, start)
    at = start if found is None or rng.random() < 0.3 else found.start()
    end = at if found is None or rng.random() < 0.5 else found.end()
    return data[:at] + rng.choice(WORDS) + data[max(at, end) :]


def edit_lines(rng: Random, data: bytes) -> bytes:
    """A line repeated, removed or put elsewhere."""
    lines = data.splitlines(keepends=True)
    if not lines:
        return data
    line = rng.choice(lines) if rng.random() < 0.5 else lines.pop(rng.randrange(len(lines)))
    lines.insert(rng.randint(0, len(lines)), line)
    if rng.random() < 0.3:
        lines.pop(rng.randrange(len(lines)))
    return b"".join(lines)


def splice(rng: Random, data: bytes, other: bytes) -> bytes:
    """The beginning of one input and the end of another.

    Examples
    --------
    >>> spliced = splice(Random(2), b"aaaa", b"bbbb")
    >>> set(spliced) <= set(b"ab")
    True
    """
    return data[: place(rng, len(data) + 1)] + other[place(rng, len(other) + 1) :]


def place(rng: Random, size: int) -> int:
    """A position below ``size``; half of them lie in the first 256, where headers are. 0 if there is none."""
    if size <= 1:
        return 0
    return rng.randrange(min(size, 256)) if rng.random() < 0.5 else rng.randrange(size)


def block(rng: Random, data: bytes) -> tuple[int, int]:
    """Where a block begins and ends, most often a short one, at times one whose size is a power of two."""
    start = place(rng, len(data) + 1)
    size = rng.choice((rng.randint(1, 8), 1 << rng.randrange(10), rng.randint(0, len(data))))
    return start, min(len(data), start + size)


BINARY: tuple[Mutation, ...] = (
    flip_bits, flip_bits, set_bytes, set_integer, set_integer, set_integer, copy_block, remove_block, swap_blocks,
    fill_block, truncate, edit_number,
)  # fmt: skip
MUTATIONS: tuple[Mutation, ...] = (
    flip_bits, set_bytes, copy_block, remove_block, swap_blocks, fill_block, truncate, edit_number, edit_number,
    edit_number, insert_word, insert_word, insert_word, edit_lines, edit_lines,
)  # fmt: skip
