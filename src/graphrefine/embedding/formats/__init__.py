"""The file formats of an embedding, one line each in ``FORMATS``.

A format is a module here with a function that writes ``Parts`` to a path and one that reads them back.
Writers write where they are told (``graphrefine.system.files`` makes it one step); readers raise FormatError
or any of ``READ_ERRORS``, which the caller turns into one. A new format is one file and one line.

================  =====================  ========  ===============  ==================
format            suffix                 names     recipe, state    on load
================  =====================  ========  ===============  ==================
folder            none                   kept      kept             memory-mapped
npy               .npy                   lost (!)  lost             memory-mapped
npz               .npz                   kept      kept             read
parquet           .parquet               kept      kept             read
arrow             .arrow .feather        kept      kept             memory-mapped
safetensors       .safetensors           kept      kept             memory-mapped
word2vec          .txt .vec .w2v         no space  lost             read
word2vec-binary   .bin                   no space  lost             read
csv, csv.gz       .csv .csv.gz           kept      lost             read
pgvector          an address             no NUL    kept             read
================  =====================  ========  ===============  ==================

Every format returns the vectors bit for bit, and the order of the rows. In word2vec files, strings that
are all written as integers are, such as "1" and "2", come back as integers. An address is that of a PostgreSQL
server, ``postgresql://user@host/database``: what is written there is a table, not a file.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import warnings
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from zipfile import BadZipFile

from graphrefine.errors import (
    ArgumentWarning,
    FormatError,
    InputError,
    MissingExtraError,
    OutputError,
    mask_address,
    suggest,
)
from graphrefine.system.files import check_writable

if TYPE_CHECKING:  # the help of the command line needs the formats, but none of NumPy
    from graphrefine.embedding.table import Parts
    from graphrefine.graph.node_ids import Names

PathLike = str | os.PathLike[str]

# What damaged files make the standard library, NumPy and pyarrow (a ValueError) raise.
READ_ERRORS = (OSError, EOFError, LookupError, OverflowError, TypeError, ValueError, BadZipFile, zlib.error)

_SCHEMES = re.compile(r"(postgres|postgresql)://", re.IGNORECASE)
_DRIVERS = re.compile(r"(postgres|postgresql)\+\w*://", re.IGNORECASE)  # of SQLAlchemy
FORMAT_VERSION = 1  # of the folder's layout and of every key that graphrefine adds to other formats
BLANKS = ("blank_names",)  # what becomes of names with blanks: "refuse", or "replace" them by underscores
ARROW = 36_000_000  # bytes of pyarrow, its memory pool, and blocks of rows as it holds them


@dataclass(frozen=True)
class Format:
    """One line of the table: where a format's functions are, and what to know before calling them."""

    name: str
    suffixes: tuple[str, ...]
    module: str
    writer: str = "write"
    reader: str = "read"
    check: str | None = None  # the function that refuses names which the format cannot hold
    needs: str | None = None  # an optional package
    extra: str = "io"  # which installs it
    folder: bool = False
    state: bool = False  # whether it holds the recipe and the state: degrees, fold map and the like
    bytes_per_value: int = 4  # for the size of the output to be
    memory: int = 6_000_000  # bytes that its writer holds beside vectors and names: blocks of rows, its packages
    takes: tuple[str, ...] = ()  # options of its writer
    server: bool = False  # an address rather than a path
    rewritable: bool = False  # whether other programs write such files and keep metadata that they do not know

    def write(self, path: Path | str, parts: Parts, **options: Any) -> None:
        """Write an embedding at ``path``."""
        self.check_names(parts.names)
        self._function(self.writer)(path, parts, **options)

    def read(self, path: Path | str, **options: Any) -> Parts:
        """Read the embedding at ``path``."""
        self.check_package()
        parts: Parts = self._function(self.reader)(path, **options)
        return parts

    def options(self, options: dict[str, Any]) -> dict[str, Any]:
        """The options of the writer that are not None; InputError for one that it does not take.

        Examples
        --------
        >>> choose_format("friends.vec").options({"index": True})
        Traceback (most recent call last):
        graphrefine.errors.InputError: index= is no option of the format word2vec; its options are blank_names
        """
        values = {name: value for name, value in options.items() if value is not None}
        for name in values.keys() - self.takes:
            accepted = f"its options are {', '.join(self.takes)}" if self.takes else "it has none"
            raise InputError(f"{name}= is no option of the format {self.name}; {accepted}", argument=name)
        return values

    def check_place(self, address: str, **options: Any) -> None:
        """Raise OutputError if nothing could be written at the address of a server."""
        self.check_package()
        self._function("check_place")(address, **options)

    def check_names(self, names: Names) -> None:
        """Raise InputError if the format cannot hold one of these names."""
        self.check_package()
        if self.check is not None and names.dtype == object:
            self._function(self.check)(names)

    def replace_blanks(self, names: Names) -> tuple[Names, int]:
        """Names without blanks, which the format cannot hold, and how many have changed."""
        replaced: tuple[Names, int] = self._function("replace_blanks")(names)
        return replaced

    def check_package(self) -> None:
        """Raise MissingExtraError if the package that the format needs is not installed."""
        if self.needs is not None and importlib.util.find_spec(self.needs) is None:
            raise MissingExtraError(f"the {self.name} format", self.needs, self.extra)

    def check_replaceable(self, folder: Path) -> None:
        """Raise OutputError unless a folder is one of this format, which may be replaced."""
        self._function("check_replaceable")(folder)

    def _function(self, name: str) -> Any:
        return getattr(importlib.import_module(f"{__name__}.{self.module}"), name)


FORMATS = (
    Format("folder", (), "folder", folder=True, state=True),
    Format("npy", (".npy",), "numpy_files", "write_npy", "read_npy"),
    Format("npz", (".npz",), "numpy_files", "write_npz", "read_npz", state=True),
    Format(
        "parquet",
        (".parquet",),
        "arrow_files",
        "write_parquet",
        "read_parquet",
        "check",
        "pyarrow",
        state=True,
        memory=ARROW,
        rewritable=True,
    ),
    Format(
        "arrow",
        (".arrow", ".feather"),
        "arrow_files",
        "write_arrow",
        "read_arrow",
        "check",
        "pyarrow",
        state=True,
        memory=ARROW,
        rewritable=True,
    ),
    Format("safetensors", (".safetensors",), "safetensors_file", state=True),
    Format(
        "word2vec",
        (".txt", ".vec", ".w2v"),
        "word2vec_text",
        check="check",
        bytes_per_value=12,
        memory=ARROW,
        takes=BLANKS,
    ),
    Format("word2vec-binary", (".bin",), "word2vec_binary", check="check", takes=BLANKS),
    Format("csv", (".csv",), "csv_file", bytes_per_value=12, memory=ARROW),
    Format("csv.gz", (".csv.gz",), "csv_file", "write_gzip", bytes_per_value=6, memory=ARROW),
)
SERVER = Format(
    "pgvector",
    (),
    "pgvector_server",
    check="check",
    needs="psycopg",
    extra="postgres",
    state=True,
    takes=("table", "index", "replace"),
    server=True,
)


def choose_format(path: str | os.PathLike[str], format: str | None = None) -> Format:
    """Find a format by its name or, if None is given, by the suffix of a path.

    Examples
    --------
    >>> choose_format("vectors.vec").name, choose_format("my-embedding").name, choose_format("x.dat", "npz").name
    ('word2vec', 'folder', 'npz')
    >>> choose_format("postgresql://ada@localhost/graphs").name
    'pgvector'
    """
    if is_address(path):
        if format in (None, SERVER.name):
            return SERVER
        raise InputError(f"{format_address(path)}: a server takes the format {SERVER.name}, not {format!r}")
    if _DRIVERS.match(os.fspath(path)):
        raise InputError(
            f"{mask_address(os.fspath(path))}: is an address of SQLAlchemy; say postgresql://user@host/database"
        )
    if format is not None:
        zipped = f"{format}.gz" if os.fspath(path).lower().endswith(".gz") else format
        for name in (zipped, format):
            for each in FORMATS:
                if each.name == name:
                    return each
        if format == SERVER.name:
            raise InputError(
                f"{os.fspath(path)}: the format {format} is a table of a server; give its address instead, "
                "postgresql://user@host/database"
            )
        known = [each.name for each in FORMATS]
        raise InputError(f"format {format!r} is not known{suggest(format, known)}; known: {', '.join(known)}")
    name = Path(path).name.lower()
    for each in FORMATS:
        if any(name.endswith(suffix) for suffix in each.suffixes) or (each.folder and not Path(name).suffix):
            return each
    suffixes = ", ".join(suffix for each in FORMATS for suffix in each.suffixes)
    raise InputError(
        f"{os.fspath(path)}: the suffix {Path(name).suffix!r} is not that of an embedding; "
        f"known: {suffixes}, or none for a folder; or name the format"
    )


def is_address(place: str | os.PathLike[str]) -> bool:
    """Whether this is the address of a server rather than a path.

    Examples
    --------
    >>> is_address("postgresql://ada@localhost/graphs"), is_address("postgresql.parquet")
    (True, False)
    """
    return bool(_SCHEMES.match(os.fspath(place)))


def format_address(address: str | os.PathLike[str]) -> str:
    """The address as messages have it: without password and options.

    Examples
    --------
    >>> format_address("postgresql://ada:secret@localhost:5433/graphs?sslpassword=more")
    'postgresql://ada@localhost:5433/graphs'
    >>> format_address("postgresql://ada:se/cr@t@localhost/graphs")
    'postgresql://...'
    """
    text = os.fspath(address)
    if _is_torn(text):
        return f"{text.partition('://')[0]}://..."
    parts = urlsplit(text)
    user, at, host = parts.netloc.rpartition("@")
    return f"{parts.scheme}://{user.partition(':')[0]}{at}{host}{parts.path}"


def format_place(place: str | os.PathLike[str]) -> str:
    """A path as it is, an address without its password."""
    return format_address(place) if is_address(place) else os.fspath(place)


def check_address(address: str | os.PathLike[str]) -> None:
    """Refuse an address that would be cut in the middle of its password, parts of which then stand in messages."""
    if _is_torn(os.fspath(address)):
        raise InputError(
            f"{format_address(address)}: the address cannot be taken apart; in a user or password, write @ as %40, / "
            "as %2F, ? as %3F, # as %23 and % as %25; or leave the password out and put it into ~/.pgpass or PGPASSWORD"
        )


def _is_torn(text: str) -> bool:
    """Whether an @ stands elsewhere than between user and host, or the port is no number."""
    place = text.partition("://")[2]
    login, _, rest = place.partition("@")
    if "@" not in place:
        login, rest = "", place
    hosts = re.split("[/?]", rest, maxsplit=1)[0]
    one = r"(\[[0-9a-fA-F:.]*\]|[^:\[\]@#]*)(:[0-9]*)?"
    torn = re.search("[/?#]", login) or "@" in rest.partition("?")[0]
    return bool(torn or not re.fullmatch(f"{one}(,{one})*", hosts))


def unreadable(path: PathLike, file_format: Format, error: Exception) -> FormatError:
    """The error of a file or a table that cannot be read as its format."""
    problem = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return FormatError(format_place(path), f"cannot be read as {file_format.name}: {problem}")


def input_format(path: PathLike, format: str | None) -> Format:
    """The format of a file to read: a folder is the native format, whatever its name."""
    return choose_format(path, "folder" if format is None and Path(path).is_dir() else format)


def check_output(path: PathLike, *, format: str | None = None, names: Names | None = None, values: int = 0) -> None:
    """Check before the work whether an embedding could be saved at ``path``.

    Parameters
    ----------
    path : path
        Its suffix must be known, its package installed, its folder there and writable; what stands there
        already must be something to be replaced.
    format : str, optional
        The format, whatever the suffix.
    names : array, optional
        The names to be stored, if known by now: not every format can hold every name.
    values : int
        Number of numbers that will be stored (nodes times dim), if known by now: the disk must have room for them.
    """
    file_format = choose_format(path, format)
    if file_format.server:
        raise OutputError(
            f"{format_place(path)}: is a server; make a file first, then: graphrefine convert FILE postgresql://..."
        )
    file_format.check_package()
    if names is not None:
        check_names(path, file_format, names)
    size = values * file_format.bytes_per_value
    check_writable(path, folder=file_format.folder, size=size, replaceable=file_format.check_replaceable)


def names_as_text(parts: Parts, place: str, *, stacklevel: int) -> Parts:
    """The parts with names that files can hold: of other objects their text, with a warning."""
    if parts.names.dtype != object or set(map(type, parts.names)) <= {str}:
        return parts
    from graphrefine.graph.node_ids import text_names  # and NumPy, which the help does without

    odd = next(name for name in parts.names.tolist() if not isinstance(name, str))
    message = f"names such as {odd!r} ({type(odd).__name__}) are written as text, {str(odd)!r}, and come back so"
    warnings.warn(ArgumentWarning(message), stacklevel=stacklevel)
    try:
        return parts._replace(names=text_names(parts.names, sources=parts.recipe.get("sources")))
    except InputError as error:
        raise InputError(f"{place}: {error}") from None


def check_names(path: PathLike, file_format: Format, names: Names) -> None:
    """Raise InputError, which names the path, if a format cannot hold one of these names."""
    try:
        file_format.check_names(names)
    except InputError as error:
        raise InputError(f"{format_place(path)}: {error}", argument=error.argument) from None
