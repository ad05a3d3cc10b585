"""Seals: the checksum of a file of ours, inside that file, so that one changed bit anywhere is found.

A seal is a text of fixed length, ``grs1-SIZE-DIGEST``: bytes of the file and their digest (`system.digest`).
The digest is that of the file with a placeholder where the seal stands, which is written first. The placeholder follows
from the fingerprint, so that no name or number of the content can be taken for it. Formats store fingerprint and seal
as they store the recipe; a folder has the seal in its ``meta.json``, which has the digests of the other files.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from pathlib import Path

from graphrefine.embedding.fingerprint import fingerprint_of
from graphrefine.embedding.table import Marks, Parts
from graphrefine.system.digest import DIGITS, digest_file, read_pieces

_KIND = "grs1"
_WINDOW = 1 << 22  # bytes at either end of a file in which its metadata is looked for, beside the length of that
VERIFIED = 1 << 30  # bytes of a mapped file up to which every load verifies it


def new_marks(parts: Parts) -> Marks:
    """The marks that a writer stores: the fingerprint, and the placeholder of a seal."""
    text = json.dumps(fingerprint_of(parts).figures())
    return Marks(text, _placeholder(text))


def _placeholder(fingerprint: str) -> str:
    return f"{_KIND}-{0:016x}-{hashlib.sha256(fingerprint.encode()).hexdigest()[:DIGITS]}"


def close_seal(path: Path, parts: Parts) -> None:
    """Put the seal of a file that is written but for it in the place of the placeholder."""
    assert parts.marks.seal is not None
    with _sealed_file(path).open("r+b") as file:
        handle = file.fileno()
        places = _find(handle, parts.marks.seal.encode(), parts)
        digest = digest_file(handle)
        for place in places:
            file.seek(place)
            file.write(f"{_KIND}-{os.fstat(handle).st_size:016x}-{digest}".encode())


def _sealed_file(path: Path) -> Path:
    return path / "meta.json" if stat.S_ISDIR(path.stat().st_mode) else path


def marks_problem(marks: Marks) -> str | None:
    """What is wrong with marks that no writer of ours can have stored; None where nothing is.

    Examples
    --------
    >>> marks_problem(Marks("{}", 7))
    'has a fingerprint or a checksum that is no text: it is damaged'
    """
    texts = [text for text in (marks.fingerprint, marks.seal, *marks.files.values()) if text is not None]
    if all(isinstance(text, str) and text.isascii() for text in texts):
        return None
    return "has a fingerprint or a checksum that is no text: it is damaged"


def find_damage(path: Path, parts: Parts) -> str | None:
    """What is wrong with a file of ours by its seal; None where it is as it was written, or has none."""
    marks = parts.marks
    if marks.fingerprint is None and marks.seal is None:
        return None
    if marks.fingerprint is None or marks.seal is None:
        return "has a fingerprint without a checksum, or the reverse: it is damaged"
    with _sealed_file(path).open("rb") as file:
        handle = file.fileno()
        replaced = dict.fromkeys(_find(handle, marks.seal.encode(), parts), _placeholder(marks.fingerprint).encode())
        if not replaced or _seal_of(handle, replaced) != marks.seal:
            return _changed("it does")
    for name, digest in marks.files.items():
        with (path / name).open("rb") as file:
            if digest_file(file.fileno()) != digest:
                return _changed(f"{name} does")
    return None


def _changed(what: str) -> str:
    return (
        f"{what} not have the checksum that it was written with: damaged, or changed by another program; take a copy, "
        "or make it again"
    )


def _seal_of(handle: int, replaced: dict[int, bytes]) -> str:
    return f"{_KIND}-{os.fstat(handle).st_size:016x}-{digest_file(handle, replaced)}"


def is_written_anew(path: Path, parts: Parts) -> bool:
    """Whether another program has written a file with our metadata: then size and digest are others than the seal's.

    Where the size alone differs, the seal itself is damaged.
    """
    marks = parts.marks
    pieces = (marks.seal or "").split("-")
    if len(pieces) != 3 or marks.fingerprint is None or pieces[1] == f"{path.stat().st_size:016x}":
        return False
    end = f"-{pieces[2]}".encode()  # of every copy of the seal: one may have other digits of the size
    placeholder = _placeholder(marks.fingerprint).encode()
    with path.open("rb") as file:
        handle = file.fileno()
        places = [place + len(end) - len(placeholder) for place in _find(handle, end, parts)]
        return digest_file(handle, {place: placeholder for place in places if place >= 0}) != pieces[2]


def _find(handle: int, text: bytes, parts: Parts) -> list[int]:
    """The places of a text in a file, near its ends: metadata stands there."""
    size = os.fstat(handle).st_size
    fold_map = parts.state.fold_map
    length = len(json.dumps(parts.recipe)) + (0 if fold_map is None else 2 * fold_map.nbytes)
    window = _WINDOW + 4 * length
    ranges = [(0, size)] if size <= 2 * window else [(0, window), (size - window, size)]
    places = []
    for start, end in ranges:
        before = b""  # a text may lie across two pieces
        for at, piece in read_pieces(handle, start, end):
            content, first = before + piece, at - len(before)
            place = content.find(text)
            while place >= 0:
                places.append(first + place)
                place = content.find(text, place + 1)
            before = content[1 - len(text) :]
    return places
