"""Graph file formats: one module for each family, one line for each format in `FORMATS`.

A new format, such as ``.dot``, takes three steps:

1. a module ``dot.py`` in this folder with ``load(source, options)``, which returns the edges (`EdgeTable`) or a matrix
   (`MatrixTable`). For nodes and edges with attributes `attributed_graph.AttributedGraph` collects them: ``add_node``,
   ``add_edge``, and ``table()`` at the end; `pajek` is an example. Raise ``source.error(problem, line=line)`` for what
   cannot be read. Names, duplicates, directions and counts are handled for all formats, in `read`;
2. a line in `FORMATS`, with the options that apply; and its name in the docstring of `read.read`, which a test holds to
   the table. The reference of formats shows the first line of the docstring of ``load``;
3. a line in `WRITERS` of ``tests/readers/format_writers.py``, by which files with any names, damage and weights are
   tested, and one for each error in ``tests/readers/test_refusals.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from graphrefine.errors import InputError, suggest
from graphrefine.readers.options import ReadOptions
from graphrefine.tables.source import CODECS, Source

if TYPE_CHECKING:  # the command line needs the formats, but none of NumPy
    import numpy as np
    from numpy.typing import NDArray

    from graphrefine.graph.node_ids import Numbered
    from graphrefine.tables.roles import TwoSets


@dataclass(frozen=True)
class EdgeTable:
    """Edges with numbered ends; `names` in order, `weights` checked."""

    numbered: Numbered
    weights: NDArray[np.float32] | None
    report: dict[str, Any] = field(default_factory=dict)
    row_numbers: bool = False  # ids are rows, and all from 0 to the largest are nodes
    directed: bool | None = None  # the direction that the graph declares by itself, if it does
    attributes: dict[str, NDArray[Any]] = field(default_factory=dict)  # of the nodes, in the order of `names`
    sets: TwoSets | None = None  # from which the ids of the ends come


@dataclass(frozen=True)
class MatrixTable:
    """A matrix, sparse or dense, square unless the graph is bipartite."""

    matrix: Any
    report: dict[str, Any] = field(default_factory=dict)
    names: NDArray[Any] | None = None  # of the rows, where the matrix has some
    directed: bool | None = None  # as in `EdgeTable`
    attributes: dict[str, NDArray[Any]] = field(default_factory=dict)  # of the rows, then of the columns of two sides
    column_names: NDArray[Any] | None = None  # where rows and columns are two sides


def make_report(*, unused: Iterable[Any] = (), notes: Iterable[str] = (), **keys: Any) -> dict[str, Any]:
    """Return the report of a loader, with the columns or attributes that are not used, and notes, if there are any."""
    lists = {"ignored_columns": list(unused), "notes": list(notes)}
    return keys | {key: values for key, values in lists.items() if values}


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
        load: Loader = import_loader(self.loader)
        return load(source, options)


def import_loader(name: str) -> Any:
    """Return the function at "module:function" of this folder."""
    module, function = name.split(":")
    return getattr(import_module(f"graphrefine.readers.{module}"), function)


VALUES = frozenset({"weights"})  # options of edges with values, of edges with two sides, of tables, of text
SIDES = VALUES | {"bipartite"}
NAMED = VALUES | {"names"}
COLUMNS = SIDES | {"source", "target"}
TIMES = frozenset({"time", "since", "until", "half_life"})
TABLE = COLUMNS | TIMES
_TEXT = TABLE | {"delimiter", "header", "quote", "comments", "encoding"}
QUERY = TABLE | {"query"}
NETWORKX = VALUES | {"delimiter", "comments", "encoding"}
# Bytes that show the format of a text: comments before the first record may be long, and all of them are searched.
_SAMPLE = 1 << 15
_MAT_MARKS = (b"MATLAB 5.0 MAT-file", b"MATLAB 7.3 MAT-file", b"\x89HDF\r\n\x1a\n")
_ARROW_MARKS = (b"ARROW1", b"\xff\xff\xff\xff")
_JSON_MARKS = (b'{"', b"{\n", b"{\r", b"{ ", b"[{", b"[[", b"[\n", b"[\r", b"[ ")
_PAJEK_MARKS = (b"*Vertices", b"*vertices", b"*VERTICES", b"*Network", b"*network", b"*NETWORK")
_KONECT_MARKS = (b"% sym ", b"% asym ", b"% bip ")  # its files are called out.name
_TEXT_SUFFIXES = (".txt", ".edges", ".edgelist", ".el", ".dat", ".ncol")
_ARROW_SUFFIXES = (".arrow", ".feather", ".ipc", ".arrows")

# One line a format. A suffix, which is what people mean, goes before the marks in the first bytes; of these the first
# line that fits wins (see `find_format`).
FORMATS = (
    Format("text", _TEXT_SUFFIXES, "text:load", _TEXT, _KONECT_MARKS, pieces="text"),
    Format("csv", (".csv",), "text:load", _TEXT, pieces="text"),
    Format("tsv", (".tsv", ".tab"), "text:load", _TEXT, pieces="text"),
    Format("parquet", (".parquet", ".pq"), "arrow:load_parquet", TABLE, (b"PAR1",), pieces="table"),
    Format("arrow", _ARROW_SUFFIXES, "arrow:load_arrow", TABLE, _ARROW_MARKS, pieces="table"),
    Format("mat", (".mat",), "matrix_files:load_mat", SIDES | {"variable"}, _MAT_MARKS, weights_in_entries=True),
    Format("mtx", (".mtx", ".mm"), "matrix_files:load_mtx", SIDES, (b"%%MatrixMarket",), weights_in_entries=True),
    Format("npz", (".npz",), "matrix_files:load_npz", SIDES, (b"PK\x03\x04",), weights_in_entries=True),
    Format("metis", (".metis", ".graph"), "metis:load", VALUES, weights_in_entries=True),
    Format("graphml", (".graphml", ".xml"), "xml_graphs:load", NAMED, (b"<?xml", b"<graphml")),
    Format("gexf", (".gexf",), "xml_graphs:load", NAMED, (b"<gexf",)),
    Format("gml", (".gml",), "gml:load", NAMED | {"encoding"}, (b"graph [", b"graph\n[", b'Creator "')),
    Format("json", (".json",), "json_graphs:load", NAMED | {"source", "target"}, _JSON_MARKS),
    Format("jsonl", (".jsonl", ".ndjson"), "json_graphs:load_lines", TABLE),
    Format("sqlite", (".sqlite", ".sqlite3", ".db", ".db3"), "databases:load", QUERY, (b"SQLite format 3\0",)),
    Format("duckdb", (".duckdb", ".ddb"), "databases:load", QUERY),
    Format("ogb", (), "ogb:load", VALUES),
    Format("networkx", (), "networkx_text:load_edges", NETWORKX),
    Format("adjlist", (".adjlist",), "networkx_text:load_adjacency", NETWORKX),
    Format("pajek", (".net", ".paj"), "pajek:load", NAMED | {"encoding"}, _PAJEK_MARKS),
)
BY_NAME = {each.name: each for each in FORMATS}
BY_SUFFIX = {suffix: each for each in FORMATS for suffix in each.suffixes}


def find_format(source: Source, name: str | None, head: Callable[[], bytes]) -> Format:
    """Return the format of a file: the one named, that of its suffix, or that of its first bytes."""
    if name is not None:
        if name not in BY_NAME:
            near = suggest(name, [*BY_NAME, "grf"])
            known = f"the formats are {', '.join(BY_NAME)}, grf"
            raise InputError(f"format={name!r} is not known{near}; {known}", argument="format")
        return BY_NAME[name]
    by_suffix = BY_SUFFIX.get(source.suffix)
    if by_suffix is not None and by_suffix.name != "text":
        return BY_NAME["networkx"] if by_suffix.pieces == "text" and _has_attributes(head()) else by_suffix
    begin = head()[:_SAMPLE].removeprefix(b"\xef\xbb\xbf").lstrip()
    # After the suffix, which is what people mean: an edge list may begin with any name, also with one like a mark.
    for format in FORMATS:
        if format.magic and (head().startswith(format.magic) or begin.startswith(format.magic)):
            return format
    if by_suffix is None and source.suffix:
        compressions = " ".join(codec.suffix for codec in CODECS)
        raise source.error(
            f"the suffix {source.suffix!r} is not known; known are {' '.join(BY_SUFFIX)}, each also with "
            f'{compressions}; format="text" reads it as an edge list',
            argument="format",
        )
    return BY_NAME["networkx"] if _has_attributes(head()) else BY_NAME["text"]


def is_ogb_folder(path: str | PathLike[str]) -> bool:
    """Return whether a path is a folder of the Open Graph Benchmark."""
    names = ("raw", "num-node-list.csv.gz", "num-node-list.csv")
    return Path(path).is_dir() and any(Path(path, name).exists() for name in names)


def _has_attributes(head: bytes) -> bool:
    """Return whether a text is an edge list with attributes in braces."""
    if b"}" not in head[:_SAMPLE]:  # as in most: no need to load what knows more
        return False
    return bool(import_loader("networkx_text:is_attribute_edge_list")(head[:_SAMPLE]))
