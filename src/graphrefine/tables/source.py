"""Files as bytes: those of a path or of standard input, decompressed by their first bytes, within a budget of memory.

The budget is that of ``memory=`` where a run has one (`reading_within`), else most of what is free.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from os import PathLike, fspath
from pathlib import Path
from typing import IO, Any, cast

from graphrefine.errors import AmbiguousFile, AmbiguousTable, FormatError, GraphRefineError, InputError, require
from graphrefine.system.memory import budget_of, gigabytes

_PORTION = 1 << 22  # bytes that are unpacked at a time
STREAMED = 1 << 18  # bytes of a stream that are read at a time
READING = 4  # bytes of memory for each byte of a file, while it is read
PACKED = 4  # bytes of data for each byte of a compressed file
# Bytes that are unpacked without a look at the memory: asking for what is free takes longer than small files do.
UNASKED = 1 << 26
ALWAYS = 1_000_000  # nodes that a file of any size may state
FIELDS = 1 << 14  # names of fields or attributes that records may have, as many as columns of a spreadsheet
COLUMNS = 1 << 16  # columns of a table of text, which may be a matrix
_budget: ContextVar[int | None] = ContextVar("budget", default=None)


def _zstd(file: IO[bytes]) -> IO[bytes]:
    require("pyarrow", "reading .zst files", "io")
    import pyarrow as pa

    # Buffered, so that a stream gives as many bytes as it is asked for, as those of the standard library do.
    return io.BufferedReader(pa.CompressedInputStream(file, "zstd"))


@dataclass(frozen=True)
class Codec:
    """A compression: its suffix, its first bytes, and the function that reads it."""

    suffix: str
    magic: re.Pattern[bytes]
    open: Callable[[IO[bytes]], IO[bytes]]


CODECS = (
    Codec(".gz", re.compile(rb"\x1f\x8b"), lambda file: import_module("gzip").open(file)),
    # A text may begin with the three letters of bz2: the first six bytes of its first block, or of its end, tell.
    Codec(".bz2", re.compile(rb"BZh[1-9](1AY&SY|\x17rE8P\x90)"), lambda file: import_module("bz2").open(file)),
    Codec(".xz", re.compile(rb"\xfd7zXZ\x00"), lambda file: import_module("lzma").open(file)),
    Codec(".zst", re.compile(rb"\x28\xb5\x2f\xfd"), _zstd),
)
SUFFIXES = frozenset(codec.suffix for codec in CODECS)


class Source:
    """A file, or standard input for ``-``, whose bytes are read once; ``needs`` ends the error for an empty one."""

    def __init__(self, path: str | PathLike[str], *, needs: str = "a graph needs at least one edge") -> None:
        self.path = fspath(path)
        self.name = "standard input" if self.path == "-" else self.path
        self._needs = needs

    @property
    def suffix(self) -> str:
        """The last suffix in lower case, a compression's aside: ".csv" for "Edges.CSV.gz"."""
        path = Path(self.path)
        if path.suffix.lower() in SUFFIXES:
            path = path.with_suffix("")
        return path.suffix.lower()

    def error(self, problem: str | InputError, *, line: int | None = None, argument: str | None = None) -> FormatError:
        """Return an error that names this file; of another error, it keeps the argument."""
        blamed = getattr(problem, "argument", None) or argument
        kind = AmbiguousFile if isinstance(problem, AmbiguousTable) else FormatError
        error = kind(self.name, str(problem), line=line, argument=blamed)
        if isinstance(problem, AmbiguousTable) and isinstance(error, AmbiguousTable):
            error.readings = problem.readings
        return error

    def empty_error(self) -> FormatError:
        """Return the error for a file without content."""
        return self.error(f"the file is empty; {self._needs}")

    @cached_property
    def data(self) -> bytes:
        """All bytes, decompressed, if the memory allows it."""
        data = b"".join(portion for portion, _ in self.chunks())
        if not data:
            raise self.empty_error()
        return data

    def find_codec(self, raw: bytes) -> Codec | None:
        """Return the compression of a file that begins with these bytes; None if it is not compressed."""
        if not raw:
            raise self.empty_error()
        codec = next((each for each in CODECS if each.magic.match(raw)), None)
        named = Path(self.path).suffix.lower()
        if named in SUFFIXES and (codec is None or codec.suffix != named):
            raise self.error(f"the name says {named}, but the content is something else")
        return codec

    def chunks(self, size: int | None = None) -> Iterator[tuple[bytes, float]]:
        """Yield the bytes, decompressed, in portions of ``size``; with each, the share of the file so far."""
        with self.open_once() as file:
            # What cannot be read twice is read into memory, as its first bytes are looked at before the rest.
            raw = file if self.path != "-" and file.seekable() else io.BytesIO(file.read())
            codec = self.find_codec(raw.read(16))
            whole = max(raw.seek(0, os.SEEK_END), 1)
            raw.seek(0)
            with self.name_damage(codec), contextlib.closing(raw if codec is None else codec.open(raw)) as stream:
                unpacked, step = 0, size or (-1 if codec is None else _PORTION)
                while portion := stream.read(step):
                    unpacked += len(portion)
                    # Portion by portion, so that a small file that unpacks to gigabytes is refused before it is in
                    # memory. Readers that state a size keep none of the portions.
                    if size is None and codec is not None:
                        check_unpacked(self.name, unpacked, f"the {codec.suffix[1:]} data")
                    yield portion, min(raw.tell() / whole, 1.0)

    @cached_property
    def head(self) -> bytes:
        """The first bytes, decompressed."""
        return next((portion for portion, _ in self.chunks(1 << 16)), b"")

    def release(self) -> None:
        """Forget the bytes; a loader calls this when it has them, or has parsed them, before the graph is built."""
        self.__dict__.pop("data", None)

    @contextlib.contextmanager
    def name_damage(self, codec: Codec | None) -> Iterator[None]:
        """Turn the errors of a decompressor into one that names this file."""
        import lzma
        import zlib

        try:
            yield
        except (EOFError, ValueError, zlib.error, lzma.LZMAError, OSError) as error:
            if codec is None or isinstance(error, GraphRefineError):
                raise
            raise self.error(f"the {codec.suffix[1:]} data is damaged or cut short: {error}") from None

    @contextlib.contextmanager
    def open_once(self) -> Iterator[IO[bytes]]:
        """Open the file as it is, to be read once; standard input is not read into memory."""
        try:
            with contextlib.nullcontext(sys.stdin.buffer) if self.path == "-" else self._open() as file:
                yield file
        except GraphRefineError:
            raise
        except FileNotFoundError:
            raise self.error("there is no such file") from None
        except IsADirectoryError:
            raise self.error(_describe_folder(Path(self.path))) from None
        except OSError as error:
            raise self.error(f"the file cannot be read: {error.strerror or error}") from None

    def _open(self) -> IO[bytes]:
        try:
            return Path(self.path).open("rb")
        except ValueError as error:  # a zero byte, or half a character, in the name
            raise self.error(f"no file can have this name: {error}") from None


def _describe_folder(path: Path) -> str:
    """Return what is wrong with a folder where a file is expected, by what is in it."""
    if (path / "vectors.npy").exists():
        return "this folder holds vectors, not a graph; name the graph that they were made from"
    if (path / "live.db").exists():
        return "this is a folder of live vectors; graphrefine live has the commands for it"
    return "this is a folder; name a file in it"


def reading_bytes(path: str) -> int:
    """Return about what reading a graph file into memory takes; 0 for a graph on disk, and for what is not a file."""
    file = Path(path)
    suffix = file.suffix.lower()
    if not file.is_file() or suffix == ".grf":
        return 0
    return file.stat().st_size * READING * (PACKED if suffix in SUFFIXES or suffix == ".parquet" else 1)


@contextlib.contextmanager
def wrap_errors(source: Source, what: str) -> Iterator[None]:
    """Turn errors into errors of a file that say what it should be."""
    try:
        yield
    except FormatError:
        raise
    except InputError as error:
        raise source.error(error) from None
    except GraphRefineError:  # such as a package that is missing
        raise
    except FileNotFoundError:
        raise source.error("no such file") from None
    except MemoryError as error:
        raise source.error(f"this {what} asks for more memory than there is", argument="memory") from error
    except Exception as error:
        # On damaged bytes libraries raise errors of any type, also SystemError and AssertionError; the first cause
        # stays in the traceback.
        problem = str(error).strip() or type(error).__name__
        raise source.error(f"this is not a readable {what}: {problem}") from error


def stream_bytes(source: Source, file: IO[bytes] | None = None) -> Iterator[bytes]:
    """Yield the bytes of a source, or of an open ``file``, decompressed; raise an error after those before damage."""
    with contextlib.nullcontext(file) if file is not None else source.open_once() as raw:
        # A pipe may stay open for hours: `peek` and `read1` wait for the next bytes, but not for all they may give.
        buffered: Any = raw if hasattr(raw, "peek") else io.BufferedReader(cast("io.RawIOBase", raw))
        head = buffered.peek(16)[:16]
        codec = source.find_codec(head) if head or Path(source.path).suffix.lower() in SUFFIXES else None
        stream: Any = buffered if codec is None else codec.open(buffered)
        try:
            with source.name_damage(codec):
                yield from iter(lambda: stream.read1(STREAMED), b"")
        finally:
            if buffered is not raw:  # or the caller's stream would be closed with it
                with contextlib.suppress(ValueError):
                    buffered.detach()


# ---- limits of memory ------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def reading_within(budget: int | None) -> Iterator[None]:
    """Hold files that are read within this block to a budget of memory; None: to the free memory."""
    token = _budget.set(budget)
    try:
        yield
    finally:
        _budget.reset(token)


def unpacked_limit(copies: int = 2) -> int:
    """Return the most bytes that a file may unpack to; without a budget, ``copies`` of them are to fit."""
    budget = _budget.get()
    return budget_of(None) // copies if budget is None else max(budget // READING, UNASKED)


class UnpackedError(FormatError):
    """A file that is too large for the memory; in pieces it may not be."""


IN_PIECES = "pass a larger memory=, or ingest the file, which reads it in pieces"


def check_unpacked(path: str, size: int, what: str, *, hint: str = IN_PIECES, copies: int = 2) -> None:
    """Refuse a file whose data takes, or states that it takes, more bytes in memory than the budget allows."""
    if size <= UNASKED or size <= (most := unpacked_limit(copies)):
        return
    budget = _budget.get()
    room = f"a memory of {gigabytes(budget)}" if budget is not None else "the free memory"
    raise UnpackedError(
        path,
        f"{what} unpacks to more than {gigabytes(most)}, the most that {room} allows for reading; {hint}",
        argument="memory",
    )


def check_stated(count: int, size: int, what: str) -> None:
    """Refuse a number of nodes that is far beyond what a file of ``size`` bytes can be about."""
    # The rows of an empty matrix take no byte of a file, and memory for each of them: a damaged number would take all.
    if count < 0 or count > max(ALWAYS, 8 * size):
        raise InputError(
            f"the file states {count:,} {what}, and has {size:,} bytes: it is damaged, or not what it seems"
        )


def check_fields(count: int, what: str = "attributes") -> None:
    """Refuse records with more names of fields than any table has."""
    if count > FIELDS:
        raise InputError(
            f"there are more than {FIELDS:,} {what}, of which a file may have no more: are names of nodes among them? "
            "leave out those that say nothing about edges"
        )
