"""Graph file formats: one module for each family, one line for each format in `FORMATS`.

A loader takes the opened file and the reader's options and returns edges or a matrix. A new format is a module with a
loader and a line in the table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from graphrefine.errors import InputError
from graphrefine.readers.options import ReadOptions
from graphrefine.readers.source import CODECS, Source

if TYPE_CHECKING:  # the command line needs the formats, but none of NumPy
    import numpy as np
    from numpy.typing import NDArray

    from graphrefine.graph.node_ids import Numbered


@dataclass(frozen=True)
class EdgeTable:
    """Edges with numbered ends; `names` in order, `weights` checked."""

    numbered: Numbered
    weights: NDArray[np.float32] | None
    report: dict[str, Any] = field(default_factory=dict)
    row_numbers: bool = False  # ids are rows, and all from 0 to the largest are nodes


@dataclass(frozen=True)
class MatrixTable:
    """A matrix, sparse or dense, square unless the graph is bipartite."""

    matrix: Any
    report: dict[str, Any] = field(default_factory=dict)


Loader = Callable[[Source, ReadOptions], EdgeTable | MatrixTable]


@dataclass(frozen=True)
class Format:
    """A format: its suffixes and first bytes, the options that apply to it, and the function that loads it."""

    name: str
    suffixes: tuple[str, ...]
    loader: str  # "module:function", imported when it is needed
    options: frozenset[str]
    magic: tuple[bytes, ...] = ()
    pieces: Literal["text", "table"] | None = None  # the reader of `ingestion` that cuts it; None: it is read whole
    weights_in_entries: bool = False  # as in a matrix: weights=False is the one value of that option

    def load(self, source: Source, options: ReadOptions) -> EdgeTable | MatrixTable:
        """Load a file of this format."""
        module, function = self.loader.split(":")
        load: Loader = getattr(import_module(f"graphrefine.readers.{module}"), function)
        return load(source, options)


VALUES = frozenset({"weights"})  # options of edges with values, of edges with two sides, of tables, of text
SIDES = VALUES | {"bipartite"}
COLUMNS = SIDES | {"source", "target"}
_TEXT = COLUMNS | {"delimiter", "header", "comments", "encoding"}
_MAT_MARKS = (b"MATLAB 5.0 MAT-file", b"MATLAB 7.3 MAT-file")
_ARROW_MARKS = (b"ARROW1", b"\xff\xff\xff\xff")
_ARROW_SUFFIXES = (".arrow", ".feather", ".ipc", ".arrows")

FORMATS = (
    Format("text", (".txt", ".edges", ".edgelist", ".el", ".dat", ".ncol"), "text:load", _TEXT, pieces="text"),
    Format("csv", (".csv",), "text:load", _TEXT, pieces="text"),
    Format("tsv", (".tsv", ".tab"), "text:load", _TEXT, pieces="text"),
    Format("parquet", (".parquet", ".pq"), "arrow:load_parquet", COLUMNS, (b"PAR1",), pieces="table"),
    Format("arrow", _ARROW_SUFFIXES, "arrow:load_arrow", COLUMNS, _ARROW_MARKS, pieces="table"),
    Format("mat", (".mat",), "matrices:load_mat", SIDES | {"variable"}, _MAT_MARKS, weights_in_entries=True),
    Format("mtx", (".mtx", ".mm"), "matrices:load_mtx", SIDES, (b"%%MatrixMarket",), weights_in_entries=True),
    Format("npz", (".npz",), "matrices:load_npz", SIDES, (b"PK\x03\x04",), weights_in_entries=True),
    Format("metis", (".metis", ".graph"), "metis:load", VALUES, weights_in_entries=True),
    Format("graphml", (".graphml",), "graphml:load", VALUES, (b"<?xml", b"<graphml")),
)
BY_NAME = {each.name: each for each in FORMATS}
BY_SUFFIX = {suffix: each for each in FORMATS for suffix in each.suffixes}


def find_format(source: Source, name: str | None, head: Callable[[], bytes]) -> Format:
    """The format of a file: the one named, that of its suffix, or that of its first bytes."""
    if name is not None:
        if name not in BY_NAME:
            raise InputError(
                f"format={name!r} is not known; the formats are {', '.join(BY_NAME)}, grf", argument="format"
            )
        return BY_NAME[name]
    by_suffix = BY_SUFFIX.get(source.suffix)
    if by_suffix is not None and by_suffix.name != "text":
        return by_suffix
    for format in FORMATS:  # the suffix decides nothing: the first bytes may
        if head().startswith(format.magic) and format.magic:
            return format
    if by_suffix is None and source.suffix:
        suffixes = " ".join(suffix for each in FORMATS for suffix in each.suffixes)
        compressions = " ".join(codec.suffix for codec in CODECS)
        raise source.error(
            f"the suffix {source.suffix!r} is not known; known are {suffixes}, each also with {compressions}; "
            'format="text" reads it as an edge list',
            argument="format",
        )
    return BY_NAME["text"]
