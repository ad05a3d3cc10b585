"""Bytes of a file or of standard input as they arrive, decompressed: none is held, and none before an error is lost."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import IO, Any

from graphrefine.tables.source import CODECS, SUFFIXES, Source

PORTION = 1 << 18  # bytes that are read at a time
_CAREFUL = 512  # the same, of a decompressor that gives nothing of the portion in which an error is


def stream_bytes(source: Source, file: IO[bytes] | None = None) -> Iterator[bytes]:
    r"""Return the bytes of a source, or of ``file`` if it is open already; compression is told by the first of them.

    Bytes before damaged data are given, and then an error is raised. An empty file has no bytes.

    Examples
    --------
    >>> import gzip
    >>> packed = gzip.compress(b"+,ann,bob\n")
    >>> list(stream_bytes(Source("changes"), io.BytesIO(packed)))
    [b'+,ann,bob\n']
    """
    with contextlib.nullcontext(file) if file is not None else source.open_once() as raw:
        head = _read_head(raw)
        packed = bool(head) or Path(source.path).suffix.lower() in SUFFIXES
        codec = source.find_codec(head) if packed else None
        joined = io.BufferedReader(_Joined(head, raw), buffer_size=PORTION)
        if codec is None:
            yield from iter(lambda: joined.read1(PORTION), b"")
            return
        with contextlib.closing(codec.open(joined)) as stream:
            damage = yield from _stream_packed(stream, careful=codec.suffix == ".zst")
        if damage is not None:
            raise source.error(f"the {codec.suffix[1:]} data is damaged or cut short: {damage}") from None


def _read_head(file: IO[bytes]) -> bytes:
    """Return the first bytes, as many as tell whether a stream is compressed; no more, as it may be slow to go on."""
    head = b""
    while len(head) < 16 and any(codec.magic.startswith(head[: len(codec.magic)]) for codec in CODECS):
        if not (more := file.read(1)):
            break
        head += more
    return head


class _Joined(io.RawIOBase):
    """The first bytes of a stream, which have been read, and the rest of it."""

    def __init__(self, head: bytes, file: IO[bytes]) -> None:
        self._head = head
        self._read: Callable[[int], bytes] = getattr(file, "read1", file.read)  # without waiting for more, if it can

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        portion = self._head or self._read(len(buffer))
        self._head = portion[len(buffer) :]
        size = len(portion) - len(self._head)
        buffer[:size] = portion[:size]
        return size


def _stream_packed(stream: Any, *, careful: bool) -> Generator[bytes, None, Exception | None]:
    """Portions of a decompressor, and the error that ended them, if one did."""
    import lzma
    import zlib

    size, portion, damage = (_CAREFUL if careful else PORTION), bytearray(), None
    while True:
        try:
            piece = stream.read1(size)
        except (EOFError, ValueError, zlib.error, lzma.LZMAError, OSError) as error:
            piece, damage = b"", error
        portion += piece
        if portion and (not piece or not careful or len(portion) >= PORTION):
            yield bytes(portion)
            portion.clear()
        if not piece:
            return damage
