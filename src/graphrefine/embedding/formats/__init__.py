"""The file formats of an embedding, one line each in ``FORMATS``.

A format is a module here with a function that writes an ``EmbeddingData`` to a path and one that reads it back.
``formats.io`` makes a write one step, and turns all that a reader raises into a FormatError.
A new format is one file and one line.

Every format returns the vectors bit for bit, and the order of the rows. In word2vec files, strings that are all
integers, such as "1" and "2", come back as integers. An address is that of a PostgreSQL server,
``postgresql://user@host/database``: what is written there is a table, not a file.
"""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphrefine.errors import FormatError, InputError, MissingExtraError, OutputError, mask_address, require, suggest
from graphrefine.system.files import check_free_disk, check_writable

if TYPE_CHECKING:  # the help of the command line needs the formats, but none of NumPy
    from graphrefine.embedding.state import EmbeddingData
    from graphrefine.graph.node_ids import Names

PathLike = str | os.PathLike[str]

_SCHEMES = re.compile(r"(postgres|postgresql)://", re.IGNORECASE)
FORMAT_VERSION = 1  # of the folder's layout and of every key that graphrefine adds to other formats
BLANKS = ("blank_names",)  # what becomes of names with blanks: "refuse", or "replace" them by underscores
ARROW = 36_000_000  # bytes of pyarrow, its memory pool, and blocks of rows as it holds them


@dataclass(frozen=True)
class Format:
    """One line of the table: the module with a format's functions, and what to know before calling them."""

    name: str
    suffixes: tuple[str, ...]
    module: str
    writer: str = "write"
    reader: str = "read"
    check: str | None = None  # the function that refuses names which the format cannot store
    needs: str | None = None  # an optional package
    extra: str = "io"  # which installs it
    folder: bool = False
    state: bool = False  # whether it holds the recipe and the state: degrees, fold map and the like
    bytes_per_value: int = 4  # for the size of the output to be
    memory: int = 6_000_000  # bytes that its writer takes in addition to vectors and names: blocks of rows, packages
    takes: tuple[str, ...] = ()  # options of its writer
    server: bool = False  # an address rather than a path
    rewritable: bool = False  # whether other programs write such files and keep metadata that they do not know

    def write(self, path: Path | str, data: EmbeddingData, **options: Any) -> None:
        """Write an embedding to ``path``."""
        self.function(self.writer)(path, data, **options)

    def read(self, path: Path | str, **options: Any) -> EmbeddingData:
        """Read the embedding at ``path``."""
        self.check_package()
        data: EmbeddingData = self.function(self.reader)(path, **options)
        return data

    def options(self, options: dict[str, Any]) -> dict[str, Any]:
        """Return the options of the writer that are not None; InputError for one that it does not take."""
        values = {name: value for name, value in options.items() if value is not None}
        for name in values.keys() - self.takes:
            accepted = ", ".join(self.takes) or "none"
            raise InputError(f"{name}= is no option of the format {self.name}, which has {accepted}", argument=name)
        return values

    def check_package(self) -> None:
        """Raise MissingExtraError if the package that the format needs is not installed."""
        if self.needs is not None:
            require(self.needs, f"the {self.name} format", self.extra)

    def check_replaceable(self, folder: Path) -> None:
        """Raise OutputError unless a folder is one of this format, which may be replaced."""
        self.function("check_replaceable")(folder)

    def function(self, name: str) -> Any:
        """Return a function of the format's module, which is imported for it."""
        return getattr(importlib.import_module(f"{__name__}.{self.module}"), name)


FORMATS = (
    Format("folder", (), "folder", folder=True, state=True),
    Format("npy", (".npy",), "numpy_files", "write_npy", "read_npy"),
    Format("npz", (".npz",), "numpy_files", "write_npz", "read_npz", state=True),
    Format(
        "parquet", (".parquet",), "arrow_files", "write_parquet", "read_parquet", "check", "pyarrow",
        state=True, memory=ARROW, rewritable=True,
    ),
    Format(
        "arrow", (".arrow", ".feather"), "arrow_files", "write_arrow", "read_arrow", "check", "pyarrow",
        state=True, memory=ARROW, rewritable=True,
    ),
    Format("safetensors", (".safetensors",), "safetensors_file", needs="safetensors", state=True),
    Format(
        "word2vec", (".txt", ".vec", ".w2v"), "word2vec", "write_text", "read_text", "check",
        bytes_per_value=12, memory=ARROW, takes=BLANKS,
    ),
    Format("word2vec-binary", (".bin",), "word2vec", "write_binary", "read_binary", "check", takes=BLANKS),
    Format("csv", (".csv",), "csv_file", bytes_per_value=12, memory=ARROW),
    Format("csv.gz", (".csv.gz",), "csv_file", "write_gzip", bytes_per_value=6, memory=ARROW),
)  # fmt: skip
SERVER = Format(
    "pgvector", (), "pgvector", needs="psycopg", extra="postgres", state=True,
    takes=("table", "index", "replace"), server=True,
)  # fmt: skip
_SHARED = {".parquet": "parquet", ".arrow": "arrow", ".feather": "arrow", ".npz": "npz"}  # with graphs
_OWN = (".safetensors", ".npy", ".vec", ".w2v", ".bin")  # suffixes that no graph has


def choose_format(path: str | os.PathLike[str], format: str | None = None) -> Format:
    """Find a format by its name or, if None is given, by the suffix of a path."""
    if is_address(path):
        if format in (None, SERVER.name):
            return SERVER
        raise InputError(f"{format_place(path)}: a server takes the format {SERVER.name}, not {format!r}")
    if format is not None:
        by_name = {each.name: each for each in FORMATS}
        zipped = f"{format}.gz" if os.fspath(path).lower().endswith(".gz") else format
        if (found := by_name.get(zipped) or by_name.get(format)) is not None:
            return found
        problem = f"format {format!r} is not known{suggest(format, list(by_name))}; known: {', '.join(by_name)}"
        raise InputError(f"{problem}; and {SERVER.name} for the address of a server")
    name = Path(path).name.lower()
    for each in FORMATS:
        if any(name.endswith(suffix) for suffix in each.suffixes) or (each.folder and not Path(name).suffix):
            return each
    suffixes = ", ".join(suffix for each in FORMATS for suffix in each.suffixes)
    raise InputError(
        f"{os.fspath(path)}: the suffix {Path(name).suffix!r} is not that of an embedding; "
        f"known: {suffixes}, or none for a folder; or name the format"
    )


def is_address(path: PathLike) -> bool:
    """Return whether this is the address of a server rather than a path."""
    return bool(_SCHEMES.match(os.fspath(path)))


def format_place(path: PathLike) -> str:
    """Return a path as it is, an address without its password and options."""
    return mask_address(os.fspath(path)).partition("?")[0] if is_address(path) else os.fspath(path)


def check_address(address: PathLike) -> None:
    """Refuse an address that would be cut in the middle of its password, parts of which would get into messages."""
    # libpq ends the login at the first of these characters and takes the rest for a host, which its messages repeat.
    login = os.fspath(address).partition("://")[2].rpartition("@")[0]
    if re.search("[@/?#]", login):
        raise InputError(
            f"{format_place(address)}: a user or password has @, /, ? or #; write %40, %2F, %3F or %23 (and %25 for "
            "%), or put the password into ~/.pgpass or PGPASSWORD"
        )


@contextmanager
def explain_damage(path: PathLike, format: str | None = None) -> Iterator[None]:
    """Turn all that reading a file raises into a FormatError that names it.

    Headers of NumPy are parsed as Python and footers of parquet as Thrift, and the packages beneath check little: there
    is no list of what damage can make them raise.
    """
    try:
        yield
    except (FormatError, MissingExtraError):
        raise
    except Exception as error:
        problem = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        name = input_format(path, format).name
        raise FormatError(format_place(path), f"cannot be read as {name}: {problem}") from error


def input_format(path: PathLike, format: str | None) -> Format:
    """Return the format of a file to read: a folder of any name is the native format."""
    return choose_format(path, "folder" if format is None and Path(path).is_dir() else format)


def is_saved_embedding(path: PathLike) -> bool:
    """Return whether a path is an embedding, by its suffix or, where graphs have it too, its content."""
    if is_address(path):
        return True
    file = Path(path)
    shared = "folder" if file.is_dir() else _SHARED.get(file.suffix.lower())
    if shared is None:
        return file.suffix.lower() in _OWN
    return file.exists() and bool(choose_format(path, shared).function("is_embedding")(file))


def check_output(path: PathLike, *, format: str | None = None) -> Format:
    """Check suffix, package, folder and what is there already before the work, and return the format."""
    file_format = choose_format(path, format)
    if file_format.server:
        raise OutputError(
            f"{format_place(path)}: is a server; make a file first, then: graphrefine convert FILE postgresql://..."
        )
    file_format.check_package()
    check_writable(path, folder=file_format.folder, replaceable=file_format.check_replaceable)
    return file_format


def check_content(path: PathLike, file_format: Format, names: Names, values: int) -> None:
    """Check before the work whether the format can store these names, and the disk ``values`` numbers."""
    check_names(path, file_format, names)
    size = values * file_format.bytes_per_value
    check_free_disk(Path(os.path.realpath(path)).parent, size, label=f"{os.fspath(path)}:")


def check_names(path: PathLike, file_format: Format, names: Names) -> None:
    """Raise InputError, which names the path, if a format cannot store one of these names."""
    if file_format.check is None or names.dtype != object:
        return
    try:
        file_format.function(file_format.check)(names)
    except InputError as error:
        raise InputError(f"{format_place(path)}: {error}", argument=error.argument) from None
