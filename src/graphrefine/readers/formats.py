"""Graph file formats: one module for each family, one line for each format in `FORMATS`.

A loader takes the opened file and the reader's options and returns edges or a matrix. A new format is a
module with a loader and a line in the table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import cast

from graphrefine.readers.options import EdgeTable, MatrixTable, Options
from graphrefine.readers.source import Source

Loader = Callable[[Source, Options], EdgeTable | MatrixTable]


@dataclass(frozen=True)
class Format:
    """How a format is recognised, what can be said about it, and the function that loads it."""

    name: str
    suffixes: tuple[str, ...]
    loader: str  # "module:function", imported when it is needed
    options: frozenset[str]
    magic: tuple[bytes, ...] = ()

    def load(self, source: Source, options: Options) -> EdgeTable | MatrixTable:
        """Load a file of this format."""
        module, function = self.loader.split(":")
        loader = cast("Loader", getattr(import_module(f"graphrefine.readers.{module}"), function))
        return loader(source, options)


_COLUMNS = frozenset({"source", "target", "weights", "bipartite"})
_TEXT = _COLUMNS | {"delimiter", "header", "comments", "encoding"}
_VALUES = frozenset({"weights"})
_MATRIX = _VALUES | {"bipartite"}

FORMATS = (
    Format("text", (".txt", ".edges", ".edgelist", ".el", ".dat", ".ncol"), "text:load", _TEXT),
    Format("csv", (".csv",), "text:load", _TEXT),
    Format("tsv", (".tsv", ".tab"), "text:load", _TEXT),
    Format("parquet", (".parquet", ".pq"), "tables:load_parquet", _COLUMNS, (b"PAR1",)),
    Format(
        "arrow",
        (".arrow", ".feather", ".ipc", ".arrows"),
        "tables:load_arrow",
        _COLUMNS,
        (b"ARROW1", b"\xff\xff\xff\xff"),
    ),
    Format(
        "mat",
        (".mat",),
        "matlab:load",
        _MATRIX | {"variable"},
        (b"MATLAB 5.0 MAT-file", b"MATLAB 7.3 MAT-file"),
    ),
    Format("mtx", (".mtx", ".mm"), "matrices:load_mtx", _MATRIX, (b"%%MatrixMarket",)),
    Format("npz", (".npz",), "matrices:load_npz", _MATRIX, (b"PK\x03\x04",)),
    Format("metis", (".metis", ".graph"), "metis:load", _VALUES),
    Format("graphml", (".graphml",), "graphml:load", _VALUES, (b"<?xml", b"<graphml")),
)
BY_NAME = {each.name: each for each in FORMATS}
BY_SUFFIX = {suffix: each for each in FORMATS for suffix in each.suffixes}
