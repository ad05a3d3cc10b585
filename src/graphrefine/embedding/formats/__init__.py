"""The file formats of an embedding, one line each in ``FORMATS``.

A format is a module here with a function that writes ``Parts`` to a path and one that reads them back.
Writers write where they are told (``graphrefine.system.files`` makes it one step); readers raise FormatError
or any of ``READ_ERRORS``, which the caller turns into one. A new format is one file and one line.

================  =====================  ========  ================  ========  ==================
format            suffix                 names     recipe, degrees   fold map  on load
================  =====================  ========  ================  ========  ==================
folder            none                   kept      kept              kept      memory-mapped
npy               .npy                   lost (!)  lost              lost      memory-mapped
npz               .npz                   kept      kept              kept      read
parquet           .parquet               kept      kept              lost      read
arrow             .arrow .feather        kept      kept              lost      memory-mapped
safetensors       .safetensors           kept      kept              kept      memory-mapped
word2vec          .txt .vec .w2v         no space  lost              lost      read
word2vec-binary   .bin                   no space  lost              lost      read
csv, csv.gz       .csv .csv.gz           kept      lost              lost      read
pgvector          .sql, or an address    no NUL    kept              lost      read
pgvector.gz       .sql.gz                no NUL    kept              lost      read
================  =====================  ========  ================  ========  ==================

Every format returns the vectors bit for bit, and the order of the rows. In word2vec files, strings that
are all written as integers are, such as "1" and "2", come back as integers. An address is that of a PostgreSQL
server, ``postgresql://user@host/database``: what is written there is a table, not a file.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import zlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

from graphrefine.embedding.formats.addresses import is_address, shown_address
from graphrefine.embedding.formats.parts import Parts
from graphrefine.errors import InputError, MissingExtraError
from graphrefine.graph.node_names import Names

# What damaged files make the standard library, NumPy and pyarrow (a ValueError) raise.
READ_ERRORS = (OSError, EOFError, LookupError, OverflowError, TypeError, ValueError, BadZipFile, zlib.error)


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
    degrees: bool = False  # whether it holds the degrees, their weight and the recipe
    maps: bool = False  # whether it holds the map for folding in new nodes
    bytes_per_value: int = 4  # for the size of the output to be
    takes: tuple[str, ...] = ()  # options of its writer
    server: bool = False  # an address rather than a path

    def write(self, path: Path | str, parts: Parts, **options: Any) -> None:
        """Write an embedding at ``path``."""
        self.check_names(parts.names)
        self._function(self.writer)(path, parts, **options)

    def read(self, path: Path | str, **options: Any) -> Parts:
        """Read the embedding at ``path``."""
        self.check_package()
        parts: Parts = self._function(self.reader)(path, **options)
        return parts

    def options(self, path: str | os.PathLike[str], options: dict[str, Any]) -> dict[str, Any]:
        """Options of the writer for an output: those that were given; a table is named after its file.

        Examples
        --------
        >>> choose("friends.sql").options("friends.sql", {"index": True})
        {'table': 'friends', 'index': True}
        >>> choose("friends.vec").options("friends.vec", {"index": True})
        Traceback (most recent call last):
        graphrefine.errors.InputError: index= is no option of the format word2vec; it has none
        """
        given = {name: value for name, value in options.items() if value is not None}
        for name in given.keys() - self.takes:
            known = f"its options are {', '.join(self.takes)}" if self.takes else "it has none"
            raise InputError(f"{name}= is no option of the format {self.name}; {known}")
        if "table" in self.takes and not self.server:
            return {"table": self._function("table_name")(path), **given}
        return given

    def check_place(self, address: str, **options: Any) -> None:
        """Raise OutputError if nothing could be written at the address of a server."""
        self.check_package()
        self._function("check_place")(address, **options)

    def check_names(self, names: Names) -> None:
        """Raise InputError if the format cannot hold one of these names."""
        self.check_package()
        if self.check is not None and names.dtype == object:
            self._function(self.check)(names)

    def check_package(self) -> None:
        """Raise MissingExtraError if the package that the format needs is not installed."""
        if self.needs is not None and importlib.util.find_spec(self.needs) is None:
            raise MissingExtraError(f"the {self.name} format", self.needs, self.extra)

    def _function(self, name: str) -> Any:
        return getattr(importlib.import_module(f"{__name__}.{self.module}"), name)


PGVECTOR = Format(
    "pgvector",
    (".sql",),
    "pgvector_file",
    check="check",
    degrees=True,
    bytes_per_value=12,
    takes=("table", "index", "replace"),
)
FORMATS = (
    Format("folder", (), "folder", folder=True, degrees=True, maps=True),
    Format("npy", (".npy",), "numpy_files", "write_npy", "read_npy"),
    Format("npz", (".npz",), "numpy_files", "write_npz", "read_npz", degrees=True, maps=True),
    Format("parquet", (".parquet",), "arrow_files", "write_parquet", "read_parquet", "check", "pyarrow", degrees=True),
    Format(
        "arrow", (".arrow", ".feather"), "arrow_files", "write_arrow", "read_arrow", "check", "pyarrow", degrees=True
    ),
    Format("safetensors", (".safetensors",), "safetensors_file", degrees=True, maps=True),
    Format("word2vec", (".txt", ".vec", ".w2v"), "word2vec_text", check="check", bytes_per_value=12),
    Format("word2vec-binary", (".bin",), "word2vec_binary", check="check"),
    Format("csv", (".csv",), "csv_file", bytes_per_value=12),
    Format("csv.gz", (".csv.gz",), "csv_file", "write_gzip", bytes_per_value=6),
    PGVECTOR,
    replace(PGVECTOR, name="pgvector.gz", suffixes=(".sql.gz",), writer="write_gzip", bytes_per_value=6),
)
SERVER = replace(PGVECTOR, suffixes=(), module="pgvector_server", needs="psycopg", extra="postgres", server=True)


def choose(path: str | os.PathLike[str], format: str | None = None) -> Format:
    """Find a format by its name or, if None is given, by the suffix of a path.

    Examples
    --------
    >>> choose("vectors.vec").name, choose("my-embedding").name, choose("x.dat", "npz").name
    ('word2vec', 'folder', 'npz')
    >>> choose("x.sql.gz", "pgvector").name, choose("postgresql://ada@localhost/graphs").name
    ('pgvector.gz', 'pgvector')
    """
    if is_address(path):
        if format in (None, SERVER.name):
            return SERVER
        raise InputError(f"{shown_address(path)}: a server takes the format {SERVER.name}, not {format!r}")
    if format is not None:
        zipped = f"{format}.gz" if os.fspath(path).lower().endswith(".gz") else format
        for wanted in (zipped, format):
            for each in FORMATS:
                if each.name == wanted:
                    return each
        raise InputError(f"format {format!r} is not known; known: {', '.join(f.name for f in FORMATS)}")
    name = Path(path).name.lower()
    for each in FORMATS:
        if any(name.endswith(suffix) for suffix in each.suffixes) or (each.folder and not Path(name).suffix):
            return each
    known = ", ".join(suffix for each in FORMATS for suffix in each.suffixes)
    raise InputError(
        f"{os.fspath(path)}: the suffix {Path(name).suffix!r} is not that of an embedding; "
        f"known: {known}, or none for a folder; or name the format"
    )
