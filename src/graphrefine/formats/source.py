"""Opening a file: its bytes, or those of standard input, decompressed by what they are, not by the name."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from os import PathLike, fspath
from pathlib import Path

from graphrefine.errors import FormatError, MissingExtraError


def _gunzip(data: bytes) -> bytes:
    import gzip

    return gzip.decompress(data)


def _bunzip(data: bytes) -> bytes:
    import bz2

    return bz2.decompress(data)


def _unxz(data: bytes) -> bytes:
    import lzma

    return lzma.decompress(data)


def _unzstd(data: bytes) -> bytes:
    try:
        import pyarrow as pa
    except ImportError:
        raise MissingExtraError("reading .zst files", "pyarrow", "io") from None
    with pa.CompressedInputStream(pa.BufferReader(data), "zstd") as stream:
        return bytes(stream.read())


@dataclass(frozen=True)
class _Codec:
    suffix: str
    magic: bytes
    decompress: Callable[[bytes], bytes]


CODECS = (
    _Codec(".gz", b"\x1f\x8b", _gunzip),
    _Codec(".bz2", b"BZh", _bunzip),
    _Codec(".xz", b"\xfd7zXZ\x00", _unxz),
    _Codec(".zst", b"\x28\xb5\x2f\xfd", _unzstd),
)
_BZIP2_BLOCK = b"1AY&SY"


class Source:
    """A file, or standard input for ``-``, whose bytes are read once, when they are asked for."""

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = fspath(path)
        self.name = "standard input" if self.path == "-" else self.path

    @property
    def suffix(self) -> str:
        """The last suffix in lower case, a compression's aside: ".csv" for "Edges.CSV.gz"."""
        path = Path(self.path)
        if path.suffix.lower() in {codec.suffix for codec in CODECS}:
            path = path.with_suffix("")
        return path.suffix.lower()

    def error(self, problem: str, *, line: int | None = None) -> FormatError:
        """An error that names this file."""
        return FormatError(self.name, problem, line=line)

    @cached_property
    def data(self) -> bytes:
        """All bytes, decompressed."""
        raw = self._raw()
        if not raw:
            raise self.error("the file is empty; a graph needs at least one edge")
        named = Path(self.path).suffix.lower()
        codec = next((each for each in CODECS if _has_magic(raw, each)), None)
        for each in CODECS:
            if named == each.suffix and codec is not each:
                raise self.error(f"the name says {each.suffix}, but the content is something else")
        return raw if codec is None else self._decompress(raw, codec)

    def release(self) -> None:
        """Forget the bytes; a loader calls this when it has parsed them, before the graph is built."""
        self.__dict__.pop("data", None)

    def _raw(self) -> bytes:
        if self.path == "-":
            return sys.stdin.buffer.read()
        try:
            return Path(self.path).read_bytes()
        except FileNotFoundError:
            raise self.error("there is no such file") from None
        except IsADirectoryError:
            raise self.error("this is a folder; name a file in it") from None
        except OSError as error:
            raise self.error(f"the file cannot be read: {error.strerror or error}") from None

    def _decompress(self, raw: bytes, codec: _Codec) -> bytes:
        import lzma
        import zlib

        try:
            data = codec.decompress(raw)
        except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError) as error:
            raise self.error(f"the {codec.suffix[1:]} data is damaged or cut short: {error}") from None
        if not data:
            raise self.error("the file is empty; a graph needs at least one edge")
        return data


def _has_magic(raw: bytes, codec: _Codec) -> bool:
    if not raw.startswith(codec.magic):
        return False
    return codec.suffix != ".bz2" or raw[4:10] == _BZIP2_BLOCK or len(raw) < 10
