"""Freeze what graphrefine reads and what it offers, and tell each later difference.

::

    PYTHONPATH=tests python -m goldens.freeze --record   # write readings.json and surface.json
    PYTHONPATH=tests python -m goldens.freeze            # compare; exit code 1 if there is an unexpected difference

``readings.json`` has one line for each case: a digest of what was read, or the type, argument and line of the error.
``surface.json`` has the public names, signatures, commands, options and the keys of JSON outputs. ``intended.json``
maps the id of a case that may differ (or the start of several ids, followed by ``*``) to the reason, in one line. An
entry of ``intended.json`` that matches no difference is an error, so that the list stays true.

Wording of messages, paths, times and versions of other packages are not recorded.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import inspect
import io
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.metadata import entry_points
from multiprocessing import get_context
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch

import numpy as np

import graphrefine

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
READINGS, SURFACE, INTENDED = "readings.json", "surface.json", "intended.json"
DIGITS = 16  # of a digest, hexadecimal
COUNTS = ("records", "self_loops", "duplicates", "reciprocal", "zero_weights", "missing", "trimmed", "comments")

Outcome = dict[str, Any]  # the value of a case: plain JSON

# --------------------------------------------------------------------------------------------------------------------
# Names that a restructuring may move. Repoint them here; nothing below this section knows a module of the package
# other than `graphrefine` itself.


def read_labels(path: Path, names: Any) -> Any:
    """Read labels from a file, for nodes with these names: an object with names, indicator, classes and by_row."""
    return import_module("graphrefine.evaluate").as_labels(path, names=names)


def read_features(path: Path, graph: Any) -> tuple[Any, int, int]:
    """Read features from a file: the matrix in the order of the graph's nodes, nodes with a row, rows of no node."""
    features = import_module("graphrefine.pipeline.feature_table").read_features(path, graph)
    return features.matrix, features.nodes, features.unknown


def get_live_module() -> ModuleType:
    """Return the public submodule of live vectors."""
    return import_module("graphrefine.live")


def get_graph_counts(graph: Any) -> Mapping[str, Any]:
    """Return the counts of reading a graph."""
    summary: Mapping[str, Any] = graph.summary()
    return summary


def is_missing_package(error: Exception) -> bool:
    """Whether an error says that an optional package is not installed here."""
    return isinstance(error, ImportError)


def list_public_modules() -> dict[str, ModuleType]:
    """Return the modules whose names are public."""
    return {
        "graphrefine": graphrefine,
        "graphrefine.live": get_live_module(),
        "graphrefine.evaluate": import_module("graphrefine.evaluate"),
    }


CORPUS_MODULES = ("corpus_text", "corpus_tools", "corpus_objects")  # below tests: each has a list CASES
MEMBERS_OF = ("Embedding", "Graph", "REFINE", "NodeVectors")

# --------------------------------------------------------------------------------------------------------------------
# Digests


def compute_digest(*parts: Any) -> str:
    """Hash parts: arrays by type, shape and bytes, bytes as they are, all else by its `ascii` form.

    >>> compute_digest("é", [1, 2.5]) == compute_digest("é", [1, 2.5]) != compute_digest("é", [1, 2])
    True
    """
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray):
            content = np.ascontiguousarray(part)
            content = content.astype(content.dtype.newbyteorder("<"), copy=False)
            data = f"{content.dtype.str}{content.shape}".encode() + content.tobytes()
        else:
            data = part if isinstance(part, bytes) else ascii(part).encode()
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()[:DIGITS]


def list_typed(values: Any) -> list[tuple[str, Any]]:
    """List values with the names of their types."""
    return [(type(value).__name__, value) for value in np.asarray(values).tolist()]


def describe_graph(graph: Any) -> Outcome:
    """Describe a graph: digest of names, sides, direction, edges and attributes; sizes; counts of reading."""
    matrix = graph.to_scipy().tocoo()
    order = np.lexsort((matrix.col, matrix.row))
    edges = [np.asarray(part)[order] for part in (matrix.row, matrix.col)]
    attributes = [(name, list_typed(graph.attributes[name])) for name in sorted(graph.attributes)]
    digest = compute_digest(
        bool(graph.directed),
        None if graph.sources is None else int(graph.sources),
        np.asarray(graph.names).dtype.kind,
        list_typed(graph.names),
        *(part.astype(np.int64) for part in edges),
        np.asarray(matrix.data)[order].astype(np.float32),
        attributes,
    )
    counts = get_graph_counts(graph)
    told = {name: int(counts[name]) for name in COUNTS if counts.get(name)}
    return {"graph": digest, "nodes": int(graph.nodes), "edges": int(graph.edges), **told}


def describe_labels(labels: Any) -> Outcome:
    """Describe labels: digest of nodes, classes and which node has which; sizes."""
    matrix = labels.indicator.tocoo()
    order = np.lexsort((matrix.col, matrix.row))
    edges = [np.asarray(part)[order].astype(np.int64) for part in (matrix.row, matrix.col)]
    digest = compute_digest(list_typed(labels.names), list(map(str, labels.classes)), bool(labels.by_row), *edges)
    return {"labels": digest, "nodes": len(labels.names), "classes": len(labels.classes)}


def describe_features(matrix: Any, nodes: int, unknown: int) -> Outcome:
    """Describe features: digest of the matrix as float64; sizes."""
    dense = np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix).astype(np.float64)
    return {"features": compute_digest(dense), "nodes": nodes, "columns": dense.shape[1], "unknown": unknown}


def describe_vectors(embedding: Any) -> Outcome:
    """Describe an embedding: digest of names, vectors, degrees, regression and recipe; sizes."""
    vectors = np.asarray(embedding.vectors, np.float32)
    further = [None if part is None else np.asarray(part) for part in (embedding.degrees, embedding.fold_map)]
    recipe = json.dumps(embedding.recipe, sort_keys=True, default=str)
    digest = compute_digest(list_typed(embedding.names), vectors, *further, recipe)
    return {"vectors": digest, "nodes": len(vectors), "dim": vectors.shape[1]}


# --------------------------------------------------------------------------------------------------------------------
# Ways to read


def read_as_graph(make: Callable[[Path], Any], options: Mapping[str, Any], folder: Path) -> Outcome:
    """Read what `make` gives as a graph."""
    return describe_graph(graphrefine.read(make(folder), **{"threads": 1, **options}))


def ingest_as_graph(make: Callable[[Path], Any], options: Mapping[str, Any], folder: Path) -> Outcome:
    """Ingest what `make` gives."""
    place = folder / "freeze.grf"
    return describe_graph(graphrefine.ingest(make(folder), place, threads=1, **options))


def read_as_labels(make: Callable[[Path], Any], names: Sequence[Any], folder: Path) -> Outcome:
    """Read what `make` gives as labels of nodes with these names."""
    array = np.array(names) if all(isinstance(name, int) for name in names) else np.array(names, object)
    return describe_labels(read_labels(make(folder), array))


def read_as_features(make: Callable[[Path], Any], names: Sequence[Any], folder: Path) -> Outcome:
    """Read what `make` gives as features of a path of nodes with these names."""
    graph = graphrefine.Graph.from_edges(list(names[:-1]), list(names[1:]))
    return describe_features(*read_features(make(folder), graph))


def load_as_vectors(make: Callable[[Path], Any], options: Mapping[str, Any], folder: Path) -> Outcome:
    """Load what `make` gives as vectors."""
    return describe_vectors(graphrefine.load(make(folder), **options))


def write_file(name: str, content: bytes, folder: Path) -> Path:
    """Write a file."""
    path = folder / name
    path.write_bytes(content)
    return path


# --------------------------------------------------------------------------------------------------------------------
# Cases


@dataclass(frozen=True)
class Case:
    """A case of readings: an id, and a function of an empty folder."""

    id: str
    run: Callable[[Path], Outcome]


def list_cases() -> Iterator[Case]:
    """List all cases of readings, in the same order in every process."""
    yield from list_corpus_cases()
    yield from list_fuzz_cases()
    yield from list_document_cases()
    yield from list_old_file_cases()
    yield from list_table_cases()


def list_corpus_cases() -> Iterator[Case]:
    """List the cases of the corpus of meanings."""
    for module in CORPUS_MODULES:
        for case in import_module(module).CASES:
            yield Case(f"corpus/{case.name}", partial(read_as_graph, case.make, case.options))


SUFFIXES = {  # of files of the fuzz corpus, by target; others end as their target is called
    "adjlist": ".adjlist", "arrow-stream": ".arrows", "text": ".txt", "sqlite": ".db", "bz2": ".csv.bz2",
    "gz": ".csv.gz", "xz": ".csv.xz", "zst": ".csv.zst", "mat-packed": ".mat", "mat-process": ".mat", "pajek": ".net",
    "networkx": ".edgelist", "word2vec": ".vec", "word2vec-binary": ".bin", "csv-gz": ".csv.gz",
}  # fmt: skip
FOLDERS = ("read-grf", "read-ogb", "load-folder")  # targets whose inputs are bundles of files
FUZZ_NAMES: dict[str, Sequence[Any]] = {"words": ("ann", "bob", "cy", "dee", "eve"), "numbers": range(5)}
SIDES: dict[str, dict[str, Any]] = {"plain": {}, "directed": {"directed": True}, "bipartite": {"bipartite": True}}
QUOTE_COMMA: dict[str, dict[str, Any]] = {"plain": {}, "quote-comma": {"quote": ","}}


def list_fuzz_cases() -> Iterator[Case]:
    """List the inputs that fuzzing found, read by the public way to the same thing."""
    for folder in sorted((ROOT / "fuzz" / "corpus").iterdir()):
        for path in sorted(folder.iterdir()):
            kind, _, rest = folder.name.partition("-")
            suffix = SUFFIXES.get(rest, f".{rest}")
            make: Callable[[Path], Path] = partial(write_file, f"input{suffix}", path.read_bytes())
            if folder.name in FOLDERS:
                name = "input.grf" if rest == "grf" else "input"
                make = partial(unpack_bundle, path.read_bytes(), name)
            name = f"fuzz/{folder.name}/{path.name}"
            if kind in ("read", "options"):
                for way, options in (SIDES if kind == "read" else QUOTE_COMMA).items():
                    yield Case(f"{name}/{way}", partial(read_as_graph, make, options))
            elif kind == "ingest":
                yield Case(name, partial(ingest_as_graph, make, {}))
            elif kind == "load":
                for way, verify in (("verified", True), ("unverified", False)):
                    yield Case(f"{name}/{way}", partial(load_as_vectors, make, {"verify": verify}))
            elif kind in ("labels", "features"):
                read = read_as_labels if kind == "labels" else read_as_features
                for way, names in FUZZ_NAMES.items():
                    yield Case(f"{name}/{way}", partial(read, make, names))


def unpack_bundle(data: bytes, name: str, folder: Path) -> Path:
    """Write the files of a bundle: for each one the length of its name and of its content, the name, the content."""
    head = struct.Struct("<HI")
    place = folder / name
    place.mkdir()
    at = 0
    while at + head.size <= len(data):
        width, size = head.unpack_from(data, at)
        at += head.size
        path = place / data[at : at + width].decode("utf-8", "replace")
        if path.resolve().is_relative_to(place.resolve()) and "\0" not in str(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data[at + width : at + width + size])
        at += width + size
    return place


FENCE = re.compile(r"^```(csv|tsv|json|jsonl|gml|txt|xml|graphml) (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def list_document_cases() -> Iterator[Case]:
    """List the files that README and documentation show: as a graph, and as labels of the words in them."""
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        if "_build" in page.parts:
            continue
        for found in FENCE.finditer(page.read_text(encoding="utf-8")):
            make = partial(write_file, found[2], found[3].encode())
            name = f"docs/{page.stem}/{found[2]}"
            yield Case(f"{name}/graph", partial(read_as_graph, make, {}))
            if found[1] == "csv":
                names = sorted(set(re.findall(r"^[^,\n]+", found[3], re.MULTILINE)))[:-1]
                yield Case(f"{name}/labels", partial(read_as_labels, make, names))


def list_old_file_cases() -> Iterator[Case]:
    """List the files that older versions wrote."""
    for folder in sorted((HERE.parent / "old_files").iterdir()):
        for path in sorted(folder.iterdir()):
            name = f"old/{folder.name}/{path.name}"
            make = partial(copy_folder, folder, path.name)
            if path.suffix == ".grf":
                yield Case(name, partial(read_as_graph, make, {}))
            elif path.suffix == ".live":
                yield Case(name, partial(read_live, make))
            elif path.suffix not in (".json", ".index", ".map"):
                yield Case(name, partial(load_as_vectors, make, {}))


def copy_folder(source: Path, name: str, folder: Path) -> Path:
    """Copy a folder of old files, as some write beside themselves; return the path of one of them."""
    shutil.copytree(source, folder / "old")
    return folder / "old" / name


def read_live(make: Callable[[Path], Any], folder: Path) -> Outcome:
    """Read the vectors of a folder of live vectors."""
    path = make(folder)
    expected = json.loads((path.parent / "expected.json").read_text(encoding="utf-8"))["vectors"]
    with get_live_module().open(path, read_only=True) as reader:
        vectors = [np.asarray(reader.vector(name), np.float32) for name in sorted(expected)]
        digest = compute_digest(sorted(expected), *vectors)
        return {"vectors": digest, "nodes": len(reader), "dim": len(vectors[0])}


# --------------------------------------------------------------------------------------------------------------------
# Tables drawn with fixed seeds

TABLES = {"edges": 1300, "labels": 250, "features": 200, "vectors": 150, "ingest": 100}
SEED = 20_260_101
DELIMITERS = (",", ",", ",", "\t", "\t", ";", " ", "  ", "|")
SUFFIX_OF = {",": ".csv", "\t": ".tsv", ";": ".csv", " ": ".txt", "  ": ".txt", "|": ".txt"}
HEADERS: tuple[tuple[str, ...], ...] = (
    ("source", "target"), ("Source", "Target"), ("from", "to"), ("src", "dst"), ("u", "v"), ("id1", "id2"),
    ("userId", "movieId"), ("node1", "node2"), ("person", "friend"), ("FromNodeId", "ToNodeId"), ("a", "b"),
    ("start", "end"), ("caller", "callee"), ("head", "tail"), ("author", "paper"), ("origin", "destination"),
    (":START_ID", ":END_ID"), ("x", "y"), ("i", "j"), ("city", "country"),
)  # fmt: skip
WEIGHT_HEADERS = ("weight", "weight", "Weight", "w", "value", "rating", "count", "score", "distance", "strength")
TIME_HEADERS = ("timestamp", "time", "date", "t", "created_at", "year")
RELATION_HEADERS = ("relation", "type", "predicate", "label", "interaction", "kind")
RELATIONS = ("knows", "likes", "works with", "cites", "pp", "is_a")
WORDS = ("ann", "bob", "cy", "dora", "eve", "fay", "gus", "hal", "ida", "jon", "kim", "lou")
PHRASES = ("New York", "San Jose", "St. Louis", "Los Angeles", "Rio de Janeiro", "La Paz", "El Paso", "Bad Ems")
UNICODE = ("Zürich", "Köln", "Århus", "Łódź", "Αθήνα", "東京", "São Paulo", "naïve", "Ñandú", "Ωmega")
LATIN = ("Zürich", "Köln", "Århus", "Málaga", "Besançon", "Ñandú", "Tromsø", "Gießen")
EMPTY = ("", "NA", "nan", "NULL", "None", "-", "?")


class Draw:
    """Random choices of one table."""

    def __init__(self, kind: str, number: int) -> None:
        self._rng = np.random.default_rng([SEED, list(TABLES).index(kind), number])

    def integer(self, low: int, high: int) -> int:
        """Draw an integer from `low` up to and including `high`."""
        return int(self._rng.integers(low, high + 1))

    def pick(self, choices: Sequence[Any]) -> Any:
        """Draw one of the choices."""
        return choices[self.integer(0, len(choices) - 1)]

    def chance(self, percent: int) -> bool:
        """Whether something of this probability is to happen."""
        return self.integer(0, 99) < percent


def draw_names(draw: Draw, delimiter: str) -> list[str]:
    """Draw the names of the nodes of a table: 3 to 12."""
    count = draw.integer(3, 12)
    kind = draw.pick(("number", "number", "number", "large", "zeros", "word", "word", "phrase", "unicode", "latin",
                      "code", "mail", "mixed", "float", "negative", "hash", "address"))  # fmt: skip
    if kind == "phrase" and delimiter.isspace() and delimiter != "\t":
        kind = "word"
    if kind == "phrase":
        return [PHRASES[at % len(PHRASES)] + (str(at) if at >= len(PHRASES) else "") for at in range(count)]
    first = draw.pick((0, 1, 1, 100))
    return [_name_node(kind, first + at, at) for at in range(count)]


def _name_node(kind: str, number: int, at: int) -> str:
    plain = {
        "number": str(number), "large": str(10**12 + 7919 * number), "zeros": f"{number:05d}", "float": f"{number}.0",
        "negative": str(number - 3), "code": f"Q{number * 17}", "mail": f"u{number}@example.org", "hash": f"#tag{at}",
        "address": f"10.0.{at}.{number % 250}",
    }  # fmt: skip
    if kind in plain:
        return plain[kind]
    if kind == "mixed":
        return str(number) if at % 3 else f"n{number}"
    words = {"word": WORDS, "unicode": UNICODE, "latin": LATIN}[kind]
    name = words[at % len(words)]
    return (name if at < len(words) else f"{name}{at}").replace(" ", "_")


def draw_weight(draw: Draw, kind: str) -> str:
    """Draw a weight of a kind, as text."""
    number = draw.integer(0, 500)
    if kind == "integer":
        return str(number % 9 + 1)
    if kind == "ones":
        return "1"
    if kind == "exponent":
        return f"{number % 90 / 10 + 0.1:.1f}e{draw.pick(('-3', '+2', '1', '05'))}"
    if kind == "comma":
        return f"{number // 100},{number % 100:02d}5"
    if kind == "zero" and number % 4 == 0:
        return draw.pick(("0", "0.0"))  # type: ignore[no-any-return]
    if kind == "negative" and number % 3 == 0:
        return f"-{number % 50 / 10}"
    if kind == "missing" and number % 5 == 0:
        return draw.pick(EMPTY)  # type: ignore[no-any-return]
    if kind == "percent":
        return f"{number % 100}%"
    return f"{number / 100 + 0.25:.2f}"


def draw_time(draw: Draw, kind: str) -> str:
    """Draw a time of a kind, as text."""
    days = draw.integer(0, 3000)
    if kind == "seconds":
        return str(1_082_040_961 + days * 86_400)
    if kind == "milliseconds":
        return str((1_082_040_961 + days * 86_400) * 1000)
    if kind == "year":
        return str(1990 + days % 30)
    day = np.datetime64("2015-01-01") + days
    if kind == "moment":
        return f"{day}{draw.pick(('T', ' '))}{days % 24:02d}:05:30"
    return str(day) if kind == "date" else str(day).replace("-", "/")


def draw_edge_table(draw: Draw) -> tuple[list[str] | None, list[list[str]], str]:
    """Draw an edge list: its header (or None), its records and its delimiter."""
    delimiter = draw.pick(DELIMITERS)
    names = draw_names(draw, delimiter)
    others = draw_names(draw, delimiter) if draw.chance(15) else names  # two sets of nodes, or one
    count = draw.integer(2, 30) if not draw.chance(4) else draw.integer(0, 1)
    columns: list[list[str]] = [[draw.pick(names) for _ in range(count)], [draw.pick(others) for _ in range(count)]]
    header = list(draw.pick(HEADERS))
    if draw.chance(45):
        kinds = ("integer", "integer", "float", "float", "ones", "exponent", "zero", "negative", "missing", "percent")
        kind = "comma" if delimiter == ";" and draw.chance(40) else draw.pick(kinds)
        columns.append([draw_weight(draw, kind) for _ in range(count)])
        header.append(draw.pick(WEIGHT_HEADERS))
    if draw.chance(20):
        kind = draw.pick(("seconds", "milliseconds", "year", "date", "moment", "slashes"))
        columns.append([draw_time(draw, kind) for _ in range(count)])
        header.append(draw.pick(TIME_HEADERS))
    if draw.chance(15):
        column = [draw.pick(RELATIONS) for _ in range(count)]
        if delimiter.isspace() and delimiter != "\t":
            column = [text.replace(" ", "_") for text in column]
        at = 1 if draw.chance(60) else len(columns)
        columns.insert(at, column)
        header.insert(at, draw.pick(RELATION_HEADERS))
    if draw.chance(12):  # row numbers, as pandas writes an index, or as a column of their own
        first = draw.pick((0, 0, 1))
        columns.insert(0, [str(first + at) for at in range(count)])
        header.insert(0, draw.pick(("", "", "Unnamed: 0", "id", "index", "edge_id")))
    if draw.chance(6):  # columns in another order
        columns, header = columns[::-1], header[::-1]
    rows = [list(row) for row in zip(*columns, strict=True)]
    if rows and draw.chance(25):
        rows.append(list(draw.pick(rows)))  # a duplicate
    return (header if draw.chance(60) else None), rows, delimiter


def damage_rows(draw: Draw, rows: list[list[str]]) -> None:
    """Take fields away or add some, in a few records."""
    if rows and draw.chance(8):
        row = draw.pick(rows)
        row[draw.integer(0, len(row) - 1)] = draw.pick(EMPTY)
    if rows and draw.chance(4):
        draw.pick(rows).append(draw.pick(("", "extra", "7")))
    if rows and draw.chance(3):
        draw.pick(rows).pop()


def write_rows(
    draw: Draw, header: list[str] | None, rows: list[list[str]], delimiter: str, *, calm: bool = False
) -> tuple[str, bytes, bytes]:
    """Write records as text: the name of the file, its bytes before compression, and after it.

    A calm file has no quotes, comments or blank lines, and is in UTF-8.
    """
    if calm:
        content = "".join(f"{delimiter.join(row)}\n" for row in [*([] if header is None else [header]), *rows]).encode()
        return f"table{SUFFIX_OF[delimiter]}", content, content
    quotes = draw.pick(("", "", "", "needed", "needed", "all", "names"))
    wide = delimiter if delimiter != "  " else draw.pick(("  ", "   ", " \t"))
    lines = [wide.join(_quote(field, delimiter, quotes) for field in row) for row in rows]
    if header is not None:
        lines.insert(0, wide.join(_quote(name, delimiter, "all" if quotes == "all" else "") for name in header))
        if draw.chance(4):
            lines[0] = f"{draw.pick(('#', '# ', '%'))}{lines[0]}"
    if draw.chance(12):
        mark = draw.pick(("# ", "#", "% ", "%"))
        said = ("a comment", "nodes: 5 edges: 9", "sym unweighted", "asym positive", "FromNodeId ToNodeId", "it's", "")
        lines[:0] = [f"{mark}{draw.pick(said)}" for _ in range(draw.integer(1, 3))]
    if draw.chance(3):
        lines.insert(draw.integer(0, len(lines)), draw.pick(("# in between", "#", "% 5 5")))
    if draw.chance(8):
        lines.insert(draw.integer(0, len(lines)), draw.pick(("", "", "  ")))
    if draw.chance(3):
        lines = [f" {line}" for line in lines]
    if draw.chance(4):
        lines = [f"{line}{draw.pick((' ', delimiter[:1]))}" for line in lines]
    end = "\r\n" if draw.chance(15) else "\r" if draw.chance(2) else "\n"
    text = end.join(lines) + (end if not draw.chance(10) else "")
    encoding = draw.pick(("utf-8",) * 16 + ("utf-8-sig", "utf-8-sig", "utf-16", "latin-1"))
    try:
        content = text.encode("utf-16-le" if encoding == "utf-16" else encoding)
    except UnicodeEncodeError:
        content = text.encode()
        encoding = "utf-8"
    if encoding == "utf-16":
        content = b"\xff\xfe" + content
    suffix = draw.pick((SUFFIX_OF[delimiter],) * 6 + (".txt", ".csv", ".edges"))
    if draw.chance(6):
        return f"table{suffix}.gz", content, gzip.compress(content, mtime=0)
    return f"table{suffix}", content, content


def _quote(field: str, delimiter: str, quotes: str) -> str:
    if quotes == "all" or (quotes == "names" and not field[:1].isdigit()):
        return '"' + field.replace('"', '""') + '"'
    return f'"{field}"' if quotes == "needed" and (delimiter in field or '"' in field) else field


@dataclass(frozen=True)
class Table:
    """A drawn table: its file, and what it is read with."""

    name: str
    text: bytes  # before compression
    content: bytes
    options: dict[str, Any]
    names: list[Any]  # of the nodes


def draw_table(kind: str, number: int) -> Table:
    """Draw a table of a kind; the same for one number, everywhere."""
    draw = Draw(kind, number)
    if kind in ("edges", "ingest"):
        header, rows, delimiter = draw_edge_table(draw)
        damage_rows(draw, rows)
        return Table(*write_rows(draw, header, rows, delimiter), draw_options(draw, header, rows), [])
    makers = {"labels": draw_label_table, "features": draw_feature_table, "vectors": draw_vector_table}
    header, rows, delimiter, names = makers[kind](draw)
    calm = kind != "labels" and draw.chance(65)
    if not calm:
        damage_rows(draw, rows)
    return Table(*write_rows(draw, header, rows, delimiter, calm=calm), {}, names)


def draw_options(draw: Draw, header: list[str] | None, rows: list[list[str]]) -> dict[str, Any]:
    """Draw options of reading: none for most tables."""
    if not draw.chance(22):
        return {}
    width = len(rows[0]) if rows else 2
    column = draw.pick(header) if header is not None else draw.integer(0, width - 1)
    choices: tuple[dict[str, Any], ...] = (
        {"directed": True}, {"bipartite": True}, {"weights": False}, {"header": header is not None},
        {"weights": column}, {"source": 0, "target": width - 1}, {"time": column}, {"comments": "#"},
        {"time": column, "until": "2018-01-01"}, {"quote": ""}, {"nodes": ["ann", "zoe"]}, {"directed": False},
        {"target": column}, {"time": column, "half_life": "30d"},
    )  # fmt: skip
    return draw.pick(choices)  # type: ignore[no-any-return]


def draw_nodes(draw: Draw, delimiter: str) -> tuple[list[str], list[Any]]:
    """Draw the names in a table of nodes, and those of the graph: nearly the same, sorted, integers if all are."""
    names = list(dict.fromkeys(draw_names(draw, delimiter)))
    graph = names[: len(names) - draw.integer(0, 1)] + (["further"] if draw.chance(20) else [])
    if all(re.fullmatch(r"-?(0|[1-9]\d*)", name) for name in graph):
        return names, sorted(map(int, graph))
    return names, sorted(graph)


def draw_label_table(draw: Draw) -> tuple[list[str] | None, list[list[str]], str, list[Any]]:
    """Draw labels of nodes: its header (or None), records, delimiter, and the names of the graph's nodes."""
    delimiter = draw.pick(DELIMITERS)
    names, graph = draw_nodes(draw, delimiter)
    kinds: dict[str, tuple[str, ...]] = {
        "words": ("red", "blue", "green"), "numbers": ("0", "1", "2"), "floats": ("1.0", "2.0"),
        "truth": ("True", "False"), "gaps": ("red", "", "blue", "NA"), "signs": ("-1", "1"),
        "many": ("a;b", "a", "b|c"),
    }  # fmt: skip
    labels = kinds[draw.pick(tuple(kinds))]
    rows = [[name, draw.pick(labels)] for name in names for _ in range(1 + draw.chance(10))]
    header = [draw.pick(("node", "id", "name", "user", "Id", "paper", "x")),
              draw.pick(("label", "class", "group", "category", "Label", "club", "y"))]  # fmt: skip
    _add_columns(draw, header, rows)
    if draw.chance(10):
        header, rows = header[::-1], [row[::-1] for row in rows]
    return (header if draw.chance(60) else None), rows, delimiter, graph


def _add_columns(draw: Draw, header: list[str], rows: list[list[str]]) -> None:
    if draw.chance(15):
        header.append(draw.pick(("age", "degree", "note", "country")))
        for row in rows:
            row.append(draw.pick(("7", "12", "0.5")) if header[-1] != "note" else draw.pick(WORDS))
    if draw.chance(12):
        header.insert(0, draw.pick(("", "Unnamed: 0", "index")))
        for at, row in enumerate(rows):
            row.insert(0, str(at))


def draw_number(draw: Draw) -> str:
    """Draw a coordinate, as text."""
    number = draw.integer(-999, 999)
    return draw.pick((f"{number / 100}", f"{number / 1000:.4f}", f"{number}", f"{number / 10}e-2"))  # type: ignore[no-any-return]


def draw_number_table(draw: Draw, prefixes: Sequence[str]) -> tuple[list[str], list[list[str]], str, list[Any]]:
    """Draw a table with numbers for each node: header, records, delimiter, and the names of the graph's nodes."""
    delimiter = draw.pick((",", ",", ",", "\t", "\t", ";", "|", " "))
    names, graph = draw_nodes(draw, delimiter)
    width = draw.integer(1, 6)
    prefix = draw.pick(prefixes)
    kind = draw.pick(("plain", "plain", "plain", "flags", "integers", "text", "gap", "infinite"))
    header = [draw.pick(("node", "id", "name", "Node", "user_id", "label", ""))]
    header += [f"{prefix}{at}" for at in range(width)]
    odd = {"text": "abc", "gap": "", "infinite": "inf"}
    rows = []
    for name in names:
        numbers = [draw_number(draw) for _ in range(width)]
        if kind == "flags":
            numbers = [draw.pick(("0", "1")) for _ in range(width)]
        elif kind == "integers":
            numbers = [str(draw.integer(0, 90)) for _ in range(width)]
        elif kind in odd and draw.chance(20):
            numbers[-1] = odd[kind]
        rows.append([name, *numbers])
    if draw.chance(10):
        header.append(draw.pick(("pagerank", "degree", "community")))
        for row in rows:
            row.append(draw.pick(("0.25", "3", "1")))
    if draw.chance(12):
        header.insert(0, draw.pick(("", "Unnamed: 0")))
        for at, row in enumerate(rows):
            row.insert(0, str(at))
    if draw.chance(12):  # the names at the end
        header, rows = [*header[1:], header[0]], [[*row[1:], row[0]] for row in rows]
    if draw.chance(8):  # no names
        header, rows = header[1:], [row[1:] for row in rows]
    if delimiter == ";" and draw.chance(50):
        rows = [[field.replace(".", ",") for field in row] for row in rows]
    return header, rows, delimiter, graph


def draw_feature_table(draw: Draw) -> tuple[list[str] | None, list[list[str]], str, list[Any]]:
    """Draw features of nodes."""
    header, rows, delimiter, graph = draw_number_table(draw, ("f", "x", "age", "feature_", ""))
    return (header if draw.chance(93) else None), rows, delimiter, graph


def draw_vector_table(draw: Draw) -> tuple[list[str] | None, list[list[str]], str, list[Any]]:
    """Draw vectors of nodes."""
    header, rows, delimiter, graph = draw_number_table(draw, ("v", "dim_", "", "x", "emb_"))
    return (header if draw.chance(93) else None), rows, delimiter, graph


def list_table_cases() -> Iterator[Case]:
    """List the drawn tables, and for each kind the digest of all their texts, which tells a change of the drawing."""
    for kind, count in TABLES.items():
        yield Case(f"tables/{kind}", partial(describe_drawing, kind))
        for number in range(count):
            yield Case(f"tables/{kind}/{number:04d}", partial(read_table, kind, number))


def describe_drawing(kind: str, folder: Path) -> Outcome:
    """Describe all tables of a kind, before they are read."""
    tables = [draw_table(kind, number) for number in range(TABLES[kind])]
    return {"drawn": compute_digest(*((each.name, each.text, each.options, each.names) for each in tables))}


def read_table(kind: str, number: int, folder: Path) -> Outcome:
    """Draw a table and read it."""
    table = draw_table(kind, number)
    name = table.name
    if kind in ("features", "vectors"):  # other suffixes are those of word2vec
        suffix = ".tsv" if kind == "features" and name.startswith("table.tsv") else ".csv"
        name = f"{kind}{suffix}{'.gz' if name.endswith('.gz') else ''}"
    make = partial(write_file, name, table.content)
    if kind == "edges":
        return read_as_graph(make, table.options, folder)
    if kind == "ingest":
        return ingest_as_graph(make, table.options, folder)
    if kind == "vectors":
        return load_as_vectors(make, {}, folder)
    return (read_as_labels if kind == "labels" else read_as_features)(make, table.names, folder)


# --------------------------------------------------------------------------------------------------------------------
# Running cases


def run_case(case: Case, folder: Path) -> Outcome | None:
    """Run a case in an empty folder: what was read, or the error; None where an optional package is missing."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return case.run(folder)
    except Exception as error:  # whatever comes is the behavior of today
        return None if is_missing_package(error) else describe_error(error)


def describe_error(error: Exception) -> Outcome:
    """Describe an error: its type, the argument to blame, and the line that its message names.

    >>> describe_error(ValueError("edges.csv, line 3: no number"))
    {'error': 'ValueError', 'line': 3}
    """
    line = re.search(r"\bline ([\d,]*\d)\b", str(error))
    argument = getattr(error, "argument", None)
    kind = next(each for each in type(error).__mro__ if not each.__name__.startswith("Ambiguous"))
    return {
        "error": kind.__name__,  # of a table with two readings, the type of which that is a kind
        **({} if argument is None else {"argument": str(argument)}),
        **({} if line is None else {"line": int(line[1].replace(",", ""))}),
    }


def run_share(first: int, step: int, only: str = "") -> dict[str, Outcome | None]:
    """Run each `step`-th case, of those whose id has the text `only`."""
    found: dict[str, Outcome | None] = {}
    with clean_environment(), tempfile.TemporaryDirectory(prefix="freeze-") as whole:
        for case in [case for case in list_cases() if only in case.id][first::step]:
            if case.id in found:
                raise ValueError(f"two cases are called {case.id!r}")
            folder = Path(whole, "case")
            folder.mkdir()
            found[case.id] = run_case(case, folder)
            shutil.rmtree(folder)
    return found


def read_all(only: str = "", workers: int = 2) -> dict[str, Outcome | None]:
    """Run all cases whose id has the text `only`, in so many processes."""
    if workers == 1 or only.partition("/")[0] in SURFACE_LISTS:
        return run_share(0, 1, only)
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        shares = pool.map(run_share, range(workers), [workers] * workers, [only] * workers)
        return {name: outcome for share in shares for name, outcome in share.items()}


@contextmanager
def clean_environment() -> Iterator[None]:
    """Keep variables of graphrefine and of the terminal from making a difference."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith("GRAPHREFINE_")}
    with patch.dict(os.environ, {**kept, "COLUMNS": "100"}, clear=True):
        yield


# --------------------------------------------------------------------------------------------------------------------
# Surface: names and signatures

SPECIAL = ("__arrow_c_stream__", "__array__", "__contains__", "__enter__", "__exit__", "__getitem__", "__iter__",
           "__len__")  # fmt: skip
EDGES = [(u, v) for first in (0, 6, 12, 18) for u in range(first, first + 6) for v in range(u + 1, first + 6)]
EDGES += [(0, 7), (6, 13), (12, 19), (18, 1)]


def list_names() -> dict[str, Any]:
    """List public names, with the parameters of functions, and the members of public classes."""
    found: dict[str, Any] = {}
    for place, module in list_public_modules().items():
        for name in module.__all__:
            found[f"name/{place}/{name}"] = describe_member(getattr(module, name, None))
    for name, thing in make_public_objects():
        for member, description in list_members(thing):
            found[f"member/{name}/{member}"] = description
    return found


def make_public_objects() -> Iterator[tuple[str, Any]]:
    """Make an object of each public class."""
    graph = graphrefine.read(EDGES)
    found = {
        "Graph": graph,
        "Embedding": graphrefine.embed(graph, 4, threads=1),
        "REFINE": graphrefine.REFINE(dim=4).fit(graph.to_scipy()),
        "NodeVectors": graphrefine.NodeVectors(graph, dim=4).fit([0, 1, 2]),
    }
    for name in MEMBERS_OF:
        yield name, found[name]
    with tempfile.TemporaryDirectory(prefix="freeze-") as folder:
        path = Path(folder, "names.live")
        get_live_module().create(graph, path, dim=4, threads=1).close()
        with get_live_module().open(path, threads=1) as live:
            yield "live", live
        with get_live_module().open(path, read_only=True, threads=1) as live:
            yield "live read_only", live


def list_members(thing: Any) -> Iterator[tuple[str, Any]]:
    """List the public members of an object that its own package defines, and its attributes."""
    kind = type(thing)
    own = [each for each in kind.__mro__ if each.__module__.partition(".")[0] == graphrefine.__name__]
    names = {name for each in own for name in (*vars(each), *inspect.get_annotations(each))} | set(vars(thing))
    yield "()", describe_member(kind)
    for name in sorted(names):
        public = not name.startswith("_") and not re.fullmatch(r"set_\w+_request", name)  # of scikit-learn's routing
        if public or name in SPECIAL:
            yield name, describe_member(inspect.getattr_static(kind, name, None))


def describe_member(member: Any) -> Any:
    """Describe a function by its parameters, anything else by one word."""
    if isinstance(member, (classmethod, staticmethod)):
        member = member.__func__
    if inspect.isclass(member) or inspect.isroutine(member):
        try:
            return describe_parameters(inspect.signature(member))
        except (TypeError, ValueError):  # a cached property, or something without a signature
            return "attribute"
    return "attribute"


def describe_parameters(signature: inspect.Signature) -> list[str]:
    """List the parameters of a function: name, default, and its kind where that is not the usual one.

    >>> describe_parameters(inspect.signature(lambda a, *, b=1, **c: 0))
    ['a', 'b=1 keyword-only', 'c variadic keyword']
    """
    found = []
    for each in signature.parameters.values():
        default = "" if each.default is each.empty else f"={describe_default(each.default)}"
        kind = "" if each.kind is each.POSITIONAL_OR_KEYWORD else f" {each.kind.description}"
        found.append(f"{each.name}{default}{kind}")
    return found


def describe_default(value: Any) -> str:
    """Describe a default, without the address of an object."""
    if callable(value):
        return str(getattr(value, "__name__", type(value).__name__))
    return re.sub(r" at 0x[0-9a-f]+", "", ascii(value))


# --------------------------------------------------------------------------------------------------------------------
# Surface: commands


class Found(BaseException):
    """Carries the root of the commands out of the program; no error that the program would catch."""


def load_program() -> Callable[[], object]:
    """Return the function that the installed program calls."""
    (script,) = entry_points(group="console_scripts", name="graphrefine")
    start: Callable[[], object] = script.load()
    return start


@contextmanager
def program_called(arguments: Sequence[str]) -> Iterator[None]:
    """Set the arguments of the program for a while, and keep its handling of Ctrl-C from lasting."""
    before = signal.getsignal(signal.SIGINT)
    try:
        with patch.object(sys, "argv", ["graphrefine", *arguments]):
            yield
    finally:
        signal.signal(signal.SIGINT, before)


def find_root_command() -> Any:
    """Find the click command that the installed program runs: the first of which it makes a context."""
    import click

    def stop(self: Any, *_: Any, **__: Any) -> None:
        raise Found(self)

    with program_called(["--help"]), patch.object(click.Command, "make_context", stop):
        try:
            load_program()()
        except Found as found:
            return found.args[0]
    raise LookupError("the program runs no click command")


def list_commands(command: Any, path: str = "graphrefine") -> Iterator[tuple[str, Any]]:
    """List a command and all below it, by the words that run them."""
    import click

    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in sorted(command.list_commands(context)):
            yield from list_commands(command.get_command(context, name), f"{path} {name}")


def list_options() -> dict[str, Any]:
    """List commands with their options and arguments."""
    found: dict[str, Any] = {}
    for path, command in list_commands(find_root_command()):
        found[f"command/{path}"] = "hidden" if command.hidden else "shown"
        for option in command.params:
            name = option.opts[0] if option.param_type_name == "option" else option.name
            found[f"command/{path}/{name}"] = describe_option(option)
    return found


def describe_option(option: Any) -> Outcome:
    """Describe an option or an argument."""
    kind = option.type
    described: Outcome = {"kind": option.param_type_name, "required": bool(option.required), "type": kind.name}
    if option.param_type_name == "option":
        described["spellings"] = sorted([*option.opts, *option.secondary_opts])
        described["is_flag"] = bool(option.is_flag)
        described["default"] = describe_option_default(option)
    if hasattr(kind, "choices"):
        described["choices"] = list(map(str, kind.choices))
    for limit in ("min", "max"):
        if getattr(kind, limit, None) is not None:
            described[limit] = getattr(kind, limit)
    if option.nargs != 1:
        described["nargs"] = option.nargs
    if getattr(option, "multiple", False):
        described["multiple"] = True
    return described


def describe_option_default(option: Any) -> str | None:
    """Describe the default of an option; None where there is none, whatever click's version calls that."""
    default = option.default
    if default is None or "Sentinel" in type(default).__name__ or (option.is_flag and default is False):
        return None
    return str(getattr(default, "__name__", type(default).__name__)) if callable(default) else str(default)


# --------------------------------------------------------------------------------------------------------------------
# Surface: keys of JSON outputs

FIELD = re.compile(r"[A-Za-z]\w*")  # of a dictionary; other keys are data, as names of nodes are below
OPAQUE = ("best", "changes", "trail[].changes")  # settings, of which the time of a search decides
SERVERS = ("explore", "live serve")
RUNS: dict[str, str] = {  # by command: what is run, in this order, in a folder with `write_inputs`
    "embed": "edges.csv -o old --dim 4 --threads 1",
    "embed/same": "edges.csv -o new --dim 4 --seed 1 --threads 1 --align-to old",
    "embed/features": "edges.csv -o featured --dim 4 --threads 1 --features features.csv",
    "embed/learn": "edges.csv -o learned --dim 4 --threads 1 --quality fast",
    "embed/directed": "edges.csv -o arcs --dim 4 --threads 1 --directed",
    "embed/auto": "edges.csv -o auto --dim auto --threads 1",
    "embed/deepwalk": "edges.csv -o walks --dim 4 --threads 1 --method deepwalk --set walks=2 --set length=5",
    "embed/bipartite": "taken.csv -o sides --dim 2 --threads 1 --bipartite",
    "info/graph": "edges.csv",
    "info/bipartite": "taken.csv --bipartite",
    "info/stored": "stored.grf",
    "ingest": "edges.csv -o edges.grf",
    "convert": "old old.parquet",
    "evaluate labels": "old labels.csv --repeats 1 --ratios 0.5 --threads 1",
    "evaluate links": "edges.csv --dim 4 --threads 1",
    "evaluate reconstruction": "edges.csv --dim 4 --threads 1",
    "compare": "edges.csv --methods refine,randne --dims 4 --threads 1",
    "compare/labels": "edges.csv --methods refine --dims 4 --threads 1 --labels labels.csv --repeats 1",
    "tune": "edges.csv --budget 20s --dims 4 --threads 1 -o settings.json",
    "tune/labels": "edges.csv --budget 20s --dims 4 --threads 1 --labels labels.csv",
    "neighbors": "old Node-1 -k 2",
    "neighbors/all": "old --all -k 2 -o near.csv",
    "neighbors/label": "old Node-1 -k 2 --labels labels.csv --label Red-1",
    "duplicates": "old --graph edges.csv",
    "duplicates/cosine": "old --above 0.5",
    "communities": "old --graph edges.csv --count 4",
    "communities/alone": "old",
    "drift": "old new -k 3",
    "check": "old",
    "check/graph": "old --graph edges.csv --threads 1",
    "check/against": "old --against new --max-drift 2 -k 3",
    "map": "old -o map.parquet --threads 1",
    "map/labels": "old -o map.html --labels labels.csv --threads 1",
    "predict labels": "old some.csv --folds 2 --threads 1",
    "predict labels/all": "old some.csv --folds 2 --threads 1 --all",
    "predict links": "edges.csv --threads 1",
    "split": "edges.csv -o parts",
    "fold-in": "coming.csv --into old -o folded",
    "live create": "edges.csv -o folder.live --dim 4 --threads 1",
    "live apply": "folder.live changes.csv --threads 1",
    "live refresh": "folder.live --threads 1",
    "live check": "folder.live --threads 1",
    "live export": "folder.live -o exported.parquet",
    "live backup": "folder.live -o copy.live",
    "live serve": "folder.live --no-browser --threads 1",
    "explore": "old --no-browser",
    "methods": "",
    "methods/refine": "refine",
    "demo": "-o demo --threads 1",
}


def write_inputs(folder: Path) -> None:
    """Write the inputs of the commands."""
    names = [f"Node-{node}" for node in range(24)]
    lines = [f"{names[u]},{names[v]}\n" for u, v in EDGES]
    labels = [f"{name},Red-{node // 12}\n" for node, name in enumerate(names)]
    texts = {
        "edges.csv": "source,target\n" + "".join(lines),
        "taken.csv": "user,item\n" + "".join(f"User-{u},Item-{v % 7}\n" for u, v in EDGES),
        "labels.csv": "node,label\n" + "".join(labels),
        "some.csv": "node,label\n" + "".join(labels[:8] + labels[12:20]),
        "features.csv": "node,one,two\n" + "".join(f"{name},{at % 5},{at % 3}\n" for at, name in enumerate(names)),
        "coming.csv": "source,target\nNode-30,Node-1\nNode-30,Node-2\n",
        "changes.csv": "op,source,target,weight\n+,Node-1,Node-9,2\n-,Node-0,Node-1,\n",
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    graphrefine.ingest(folder / "edges.csv", folder / "stored.grf", threads=1)


def list_json_keys() -> dict[str, Any]:
    """Run each command with --json on a small graph, and list the keys of what it prints."""
    found: dict[str, Any] = {}
    missing = {path for path, command in list_commands(find_root_command()) if writes_json(command)}
    with tempfile.TemporaryDirectory(prefix="freeze-") as place, working_in(Path(place)):
        write_inputs(Path(place))
        for name, text in RUNS.items():
            command = name.partition("/")[0]
            missing.discard(f"graphrefine {command}")
            run = run_server if command in SERVERS else run_program
            for key in sorted(list_keys(run([*command.split(), *text.split(), "--json"]))):
                found[f"json/{name}/{key}"] = 1
    for path in sorted(missing):
        found[f"json/{path}"] = "not run: RUNS of goldens/freeze.py has no line for it"
    return found


def writes_json(command: Any) -> bool:
    """Whether a command has the option --json."""
    return any("--json" in option.opts for option in command.params)


@contextmanager
def working_in(folder: Path) -> Iterator[None]:
    """Change the working folder for a while."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def run_program(arguments: Sequence[str]) -> Any:
    """Run the program in this process; return the JSON that it prints, or what went wrong."""
    written = io.BytesIO(), io.BytesIO()
    out, err = (io.TextIOWrapper(stream, "utf-8", write_through=True) for stream in written)
    code: Any = 0
    with program_called(arguments), redirect_stdout(out), redirect_stderr(err), warnings.catch_warnings():
        try:
            load_program()()
        except SystemExit as stop:
            code = stop.code
    if code:
        print(f"{' '.join(arguments)}: {written[1].getvalue().decode().strip()}", file=sys.stderr)
        return {"exit_code": code}
    return json.loads(written[0].getvalue())


PROGRAM = """
from importlib.metadata import entry_points
(script,) = entry_points(group="console_scripts", name="graphrefine")
script.load()()
"""


def run_server(arguments: Sequence[str]) -> Any:
    """Run the program in a process of its own until it prints a line; return its JSON."""
    command = [sys.executable, "-c", PROGRAM, *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        try:
            return json.loads(process.stdout.readline() or b'{"exit_code": 1}')
        finally:
            process.terminate()
            process.wait()


def list_keys(value: Any, path: str = "") -> set[str]:
    """List the keys of a JSON value: dotted paths, [] for lists, * for keys that are data.

    >>> sorted(list_keys({"a": [{"b": 1}, {"c": {"Node-1": 2}}]}))
    ['a', 'a[]', 'a[].b', 'a[].c', 'a[].c.*']
    """
    found: set[str] = set()
    if isinstance(value, list):
        for each in value:
            found |= {f"{path}[]"} | list_keys(each, f"{path}[]")
    elif isinstance(value, dict):
        for key, each in value.items():
            below = f"{path}.{key if FIELD.fullmatch(key) else '*'}".lstrip(".")
            found |= {below} if below in OPAQUE else {below} | list_keys(each, below)
    return found


SURFACE_LISTS = {"name": list_names, "member": list_names, "command": list_options, "json": list_json_keys}
READING_GROUPS = ("corpus", "fuzz", "docs", "old", "tables")


def choose_lists(only: str) -> list[Callable[[], dict[str, Any]]]:
    """Choose the functions that list the surface, by the group with which a text begins."""
    group, found, _ = only.partition("/")
    if found and group in READING_GROUPS:
        return []
    if found and group in SURFACE_LISTS:
        return [SURFACE_LISTS[group]]
    return list(dict.fromkeys(SURFACE_LISTS.values()))


def describe_surface(only: str = "") -> dict[str, Any]:
    """Describe the public surface: names, commands, and keys of JSON outputs."""
    with clean_environment(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {key: value for run in choose_lists(only) for key, value in run().items()}
    return {key: value for key, value in found.items() if only in key}


# --------------------------------------------------------------------------------------------------------------------
# Comparison


@dataclass(frozen=True)
class Difference:
    """A case that is not as it was recorded."""

    id: str
    before: Any
    after: Any

    def __str__(self) -> str:
        return f"{self.id}\n  before {write_value(self.before)}\n  now    {write_value(self.after)}"


ABSENT = "(no such case)"


def find_differences(recorded: Mapping[str, Any], found: Mapping[str, Any], known: set[str]) -> list[Difference]:
    """Find differences: of the cases that ran (None: could not be run here), and of ids that came or went.

    ``known`` are the ids of all cases that there are now, whether they ran or not.
    """
    differences = [
        Difference(name, recorded.get(name, ABSENT), outcome)
        for name, outcome in found.items()
        if outcome is not None and recorded.get(name, ABSENT) != outcome
    ]
    differences += [Difference(name, recorded[name], ABSENT) for name in recorded if name not in known]
    return sorted(differences, key=lambda difference: difference.id)


def matches(entry: str, name: str) -> bool:
    """Whether an entry of the list of intended differences is about a case.

    >>> matches("json/embed/*", "json/embed/dim"), matches("json/embed", "json/embed/dim")
    (True, False)
    """
    return name.startswith(entry[:-1]) if entry.endswith("*") else name == entry


def find_stale(
    intended: Mapping[str, str], differences: Sequence[Difference], ran: set[str], *, whole: bool
) -> list[str]:
    """Find entries of intended differences that match none.

    After a check of a part (``whole`` is False), those about one case that ran.
    """
    unused = [entry for entry in intended if not any(matches(entry, each.id) for each in differences)]
    return [entry for entry in unused if whole or entry in ran]


@dataclass(frozen=True)
class Report:
    """The result of a check."""

    unexpected: list[Difference]
    expected: list[Difference]
    stale: list[str]  # entries of intended.json without a difference
    skipped: list[str]  # cases that need packages which are not installed

    @property
    def is_good(self) -> bool:
        """Whether there is nothing but what is intended."""
        return not self.unexpected and not self.stale

    def __str__(self) -> str:
        lines = [f"DIFFERENT {each}" for each in self.unexpected]
        lines += [f"intended: {each}" for each in self.expected]
        lines += [f"STALE {entry}: {INTENDED} lists it, and there is no such difference" for entry in self.stale]
        lines += [f"skipped, a package is not installed: {len(self.skipped)}"] * bool(self.skipped)
        counts = f"{len(self.unexpected)} unexpected, {len(self.expected)} intended, {len(self.stale)} stale"
        return "\n".join([*lines, f"differences: {counts}"])


def compare(recorded: Mapping[str, Any], found: Mapping[str, Any], known: set[str], intended: Mapping[str, str],
            *, whole: bool) -> Report:  # fmt: skip
    """Compare what was recorded with what was found."""
    differences = find_differences(recorded, found, known)
    listed = {each.id for each in differences if any(matches(entry, each.id) for entry in intended)}
    return Report(
        [each for each in differences if each.id not in listed],
        [each for each in differences if each.id in listed],
        find_stale(intended, differences, set(found), whole=whole),
        sorted(name for name, outcome in found.items() if outcome is None),
    )


def load_table(name: str) -> dict[str, Any]:
    """Load a table that lies beside this module."""
    table: dict[str, Any] = json.loads((HERE / name).read_text(encoding="utf-8"))
    return table


def check(only: str = "", workers: int = 2) -> Report:
    """Compute everything whose id has the text `only`, and compare it with the record."""
    found = {**read_all(only, workers), **describe_surface(only)}
    recorded = {**load_table(READINGS), **load_table(SURFACE)}
    recorded = {name: value for name, value in recorded.items() if only in name}
    return compare(recorded, found, set(found), load_table(INTENDED), whole=not only)


def write_value(value: Any) -> str:
    """Write a value as one line of JSON."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def write_table(table: Mapping[str, Any]) -> str:
    """Write a table as JSON, one line for each case, sorted by id."""
    lines = [f"{json.dumps(name, ensure_ascii=False)}:{write_value(table[name])}" for name in sorted(table)]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def record(workers: int = 2) -> int:
    """Write both tables; return 1 where a package is missing that a case needs."""
    readings = read_all(workers=workers)
    missing = sorted(name for name, outcome in readings.items() if outcome is None)
    if missing:
        print(f"not recorded, these cases need packages that are not installed: {', '.join(missing)}", file=sys.stderr)
        return 1
    (HERE / READINGS).write_text(write_table(readings), encoding="utf-8")
    (HERE / SURFACE).write_text(write_table(describe_surface()), encoding="utf-8")
    if not (HERE / INTENDED).exists():
        (HERE / INTENDED).write_text("{}\n", encoding="utf-8")
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Record or check; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m goldens.freeze", description=str(__doc__).partition("\n")[0])
    way = parser.add_mutually_exclusive_group()
    way.add_argument("--record", action="store_true", help="write readings.json and surface.json anew")
    way.add_argument("--check", action="store_true", help="compare with them (the default)")
    parser.add_argument("--only", default="", metavar="TEXT", help="check only cases whose id has this text")
    parser.add_argument("--workers", type=int, default=2, metavar="N", help="processes (default: 2)")
    options = parser.parse_args(arguments)
    if options.record:
        if options.only:
            parser.error("--record writes all cases; leave out --only")
        return record(options.workers)
    report = check(options.only, options.workers)
    print(report)
    return 0 if report.is_good else 1


if __name__ == "__main__":
    sys.exit(main())
