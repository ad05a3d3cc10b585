"""The file formats of an embedding, one line each in ``FORMATS``.

A format is a module here with a function that writes ``Parts`` to a path and one that reads them back.
Writers write where they are told (``graphrefine.files`` makes it one step); readers raise FormatError
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
================  =====================  ========  ================  ========  ==================

Every format returns the vectors bit for bit, and the order of the rows. In word2vec files, strings that
are all written as integers are, such as "1" and "2", come back as integers.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

from graphrefine.errors import InputError, MissingExtraError
from graphrefine.vector_formats.names import Names
from graphrefine.vector_formats.parts import Parts

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
    folder: bool = False
    degrees: bool = False  # whether it holds the degrees, their weight and the recipe
    maps: bool = False  # whether it holds the map for folding in new nodes
    bytes_per_value: int = 4  # for the size of the output to be

    def write(self, path: Path, parts: Parts) -> None:
        """Write an embedding at ``path``."""
        self.check_names(parts.names)
        self._function(self.writer)(path, parts)

    def read(self, path: Path) -> Parts:
        """Read the embedding at ``path``."""
        self.check_package()
        parts: Parts = self._function(self.reader)(path)
        return parts

    def check_names(self, names: Names) -> None:
        """Raise InputError if the format cannot hold one of these names."""
        self.check_package()
        if self.check is not None and names.dtype == object:
            self._function(self.check)(names)

    def check_package(self) -> None:
        """Raise MissingExtraError if the package that the format needs is not installed."""
        if self.needs is not None and importlib.util.find_spec(self.needs) is None:
            raise MissingExtraError(f"the {self.name} format", self.needs, "io")

    def _function(self, name: str) -> Any:
        return getattr(importlib.import_module(f"{__name__}.{self.module}"), name)


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
)


def choose(path: str | os.PathLike[str], format: str | None = None) -> Format:
    """Find a format by its name or, if None is given, by the suffix of a path.

    Examples
    --------
    >>> choose("vectors.vec").name, choose("my-embedding").name, choose("x.dat", "npz").name
    ('word2vec', 'folder', 'npz')
    """
    if format is not None:
        for each in FORMATS:
            if each.name == format:
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
