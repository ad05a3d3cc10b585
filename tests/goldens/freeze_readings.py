"""The cases of ``readings.json``: files, tables and objects, and digests of what graphrefine reads from them."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import shutil
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import graphrefine
from graphrefine.evaluate import as_labels
from graphrefine.pipeline import feature_table

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TABLES = HERE / "tables.jsonl"
DOCUMENTS = HERE / "documents.jsonl"
CORPUS_MODULES = ("corpus_text", "corpus_tools")  # below tests: each has a list CASES
DIGITS = 16  # of a digest, hexadecimal
COUNTS = ("records", "self_loops", "duplicates", "reciprocal", "zero_weights", "missing", "trimmed", "comments")

Outcome = dict[str, Any]  # the value of a case: plain JSON


class Case(NamedTuple):
    """A case of readings: its id, what makes a file or an object in an empty folder, and what reads that."""

    id: str
    make: Callable[[Path], Any]
    read: Callable[[Any], Outcome]


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


def list_entries(matrix: Any) -> tuple[Any, Any, Any]:
    """Return rows, columns and values of a sparse matrix, by row and column."""
    entries = matrix.tocoo()
    order = np.lexsort((entries.col, entries.row))
    return entries.row[order].astype(np.int64), entries.col[order].astype(np.int64), entries.data[order]


def describe_graph(graph: Any) -> Outcome:
    """Describe a graph: digest of names, sides, direction, edges and attributes; sizes; counts of reading."""
    rows, columns, weights = list_entries(graph.to_scipy())
    digest = compute_digest(
        bool(graph.directed),
        None if graph.sources is None else int(graph.sources),
        np.asarray(graph.names).dtype.kind,
        list_typed(graph.names),
        rows,
        columns,
        weights.astype(np.float32),
        [(name, list_typed(graph.attributes[name])) for name in sorted(graph.attributes)],
    )
    summary = graph.summary()
    counts = {name: int(summary[name]) for name in COUNTS if summary.get(name)}
    return {"graph": digest, "nodes": int(graph.nodes), "edges": int(graph.edges), **counts}


# Ways to read


def read_graph(source: Any, /, **options: Any) -> Outcome:
    """Read a graph."""
    return describe_graph(graphrefine.read(source, **{"threads": 1, **options}))


def ingest_graph(path: Path, /, **options: Any) -> Outcome:
    """Ingest a graph."""
    return describe_graph(graphrefine.ingest(path, path.with_name("freeze.grf"), threads=1, **options))


def read_labels(path: Path, *, names: Sequence[Any]) -> Outcome:
    """Read labels of nodes with these names: digest of nodes, classes and which node has which; sizes."""
    array = np.array(names) if all(isinstance(name, int) for name in names) else np.array(names, object)
    labels: Any = as_labels(path, names=array)
    rows, columns, _ = list_entries(labels.indicator)
    classes = list(map(str, labels.classes))
    digest = compute_digest(list_typed(labels.names), classes, bool(labels.by_row), rows, columns)
    return {"labels": digest, "nodes": len(labels.names), "classes": len(classes)}


def read_features(path: Path, *, names: Sequence[Any]) -> Outcome:
    """Read features of a path of nodes with these names: digest of the matrix as float64; sizes."""
    graph = graphrefine.Graph.from_edges(list(names[:-1]), list(names[1:]))
    features: Any = feature_table.read_features(path, graph)
    matrix = features.matrix.toarray() if hasattr(features.matrix, "toarray") else features.matrix
    dense = np.asarray(matrix).astype(np.float64)
    sizes = {"nodes": features.nodes, "columns": dense.shape[1], "unknown": features.unknown}
    return {"features": compute_digest(dense), **sizes}


def load_vectors(path: Path, /, **options: Any) -> Outcome:
    """Load an embedding: digest of names, vectors, degrees, regression and recipe; sizes."""
    embedding = graphrefine.load(path, **options)
    vectors = np.asarray(embedding.vectors, np.float32)
    further = [None if part is None else np.asarray(part) for part in (embedding.degrees, embedding.fold_map)]
    recipe = json.dumps(embedding.recipe, sort_keys=True, default=str)
    digest = compute_digest(list_typed(embedding.names), vectors, *further, recipe)
    return {"vectors": digest, "nodes": len(vectors), "dim": vectors.shape[1]}


def read_live(path: Path) -> Outcome:
    """Read the vectors of a folder of live vectors."""
    expected = sorted(json.loads((path.parent / "expected.json").read_text(encoding="utf-8"))["vectors"])
    with graphrefine.live.open(path, read_only=True) as reader:
        vectors = [np.asarray(reader.vector(name), np.float32) for name in expected]
        return {"vectors": compute_digest(expected, *vectors), "nodes": len(reader), "dim": len(vectors[0])}


# Cases


def write_file(name: str, content: bytes, folder: Path) -> Path:
    """Write a file."""
    path = folder / name
    path.write_bytes(content)
    return path


def list_corpus_cases() -> Iterator[Case]:
    """List the cases of the corpus of meanings."""
    for module in CORPUS_MODULES:
        for case in import_module(module).CASES:
            yield Case(f"corpus/{case.name}", case.make, partial(read_graph, **case.options))


SUFFIXES = {  # of files of the fuzz corpus, by target; others end as their target is called
    "adjlist": ".adjlist", "arrow-stream": ".arrows", "text": ".txt", "sqlite": ".db", "bz2": ".csv.bz2",
    "gz": ".csv.gz", "xz": ".csv.xz", "zst": ".csv.zst", "mat-packed": ".mat", "mat-process": ".mat", "pajek": ".net",
    "networkx": ".edgelist", "word2vec": ".vec", "word2vec-binary": ".bin", "csv-gz": ".csv.gz",
}  # fmt: skip
FOLDERS = {"read-grf": "input.grf", "read-ogb": "input", "load-folder": "input"}  # whose inputs are bundles of files
FUZZ_NAMES: dict[str, Sequence[Any]] = {"words": ("ann", "bob", "cy", "dee", "eve"), "numbers": range(5)}
FUZZ_READERS: dict[str, dict[str, Callable[[Any], Outcome]]] = {  # by the first word of a target
    "read": {
        "plain": read_graph,
        "directed": partial(read_graph, directed=True),
        "bipartite": partial(read_graph, bipartite=True),
    },
    "options": {"plain": read_graph, "quote-comma": partial(read_graph, quote=",")},
    "ingest": {"": ingest_graph},
    "load": {"verified": partial(load_vectors, verify=True), "unverified": partial(load_vectors, verify=False)},
    "labels": {way: partial(read_labels, names=names) for way, names in FUZZ_NAMES.items()},
    "features": {way: partial(read_features, names=names) for way, names in FUZZ_NAMES.items()},
}


def list_fuzz_cases() -> Iterator[Case]:
    """List the inputs that fuzzing found, read by the public way to the same thing."""
    for folder in sorted((ROOT / "fuzz" / "corpus").iterdir()):
        kind, _, rest = folder.name.partition("-")
        for path in sorted(folder.iterdir()):
            if folder.name in FOLDERS:
                make = partial(unpack_bundle, path.read_bytes(), FOLDERS[folder.name])
            else:
                make = partial(write_file, f"input{SUFFIXES.get(rest, f'.{rest}')}", path.read_bytes())
            for way, read in FUZZ_READERS.get(kind, {}).items():
                yield Case(f"fuzz/{folder.name}/{path.name}/{way}".rstrip("/"), make, read)


def unpack_bundle(data: bytes, name: str, folder: Path) -> Path:
    """Write the files of a bundle: for each one the length of its name and of its content, the name, the content."""
    head = struct.Struct("<HI")
    target = folder / name
    target.mkdir()
    at = 0
    while at + head.size <= len(data):
        width, size = head.unpack_from(data, at)
        at += head.size
        path = target / data[at : at + width].decode("utf-8", "replace")
        if path.resolve().is_relative_to(target.resolve()) and "\0" not in str(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data[at + width : at + width + size])
        at += width + size
    return target


def list_document_cases() -> Iterator[Case]:
    """List files that the documentation once showed: as a graph, and as labels of the words in them."""
    with DOCUMENTS.open(encoding="utf-8") as lines:
        for file in map(json.loads, lines):
            make = partial(write_file, file["file"], file["text"].encode())
            yield Case(f"docs/{file['id']}/graph", make, read_graph)
            if file["file"].endswith(".csv"):
                names = sorted(set(re.findall(r"^[^,\n]+", file["text"], re.MULTILINE)))[:-1]
                yield Case(f"docs/{file['id']}/labels", make, partial(read_labels, names=names))


def list_old_file_cases() -> Iterator[Case]:
    """List the files that older versions wrote."""
    readers: dict[str, Callable[[Any], Outcome]] = {".grf": read_graph, ".live": read_live}
    for folder in sorted((HERE.parent / "old_files").iterdir()):
        for path in sorted(folder.iterdir()):
            if path.suffix not in (".json", ".index", ".map"):
                make = partial(copy_folder, folder, path.name)
                yield Case(f"old/{folder.name}/{path.name}", make, readers.get(path.suffix, load_vectors))


def copy_folder(source: Path, name: str, folder: Path) -> Path:
    """Copy a folder of old files, as some write next to themselves; return the path of one of them."""
    shutil.copytree(source, folder / "old")
    return folder / "old" / name


def list_table_cases() -> Iterator[Case]:
    """List the tables of ``tables.jsonl``, and for each kind the digest of all of them."""
    # They were drawn at random, from all that exports of tables have: delimiters, quotes, headers, comments, encodings,
    # gaps. They are stored, as NumPy does not promise that each of its versions draws the same from a seed.
    with TABLES.open(encoding="utf-8") as lines:
        tables = [json.loads(line) for line in lines]
    for kind, group in groupby(tables, lambda table: str(table["id"]).partition("/")[0]):
        members = list(group)
        yield Case(f"tables/{kind}", partial(_keep, members), digest_tables)
        for table in members:
            make = partial(write_table_file, table)
            names, options = table.get("names", []), table.get("options", {})
            readers: dict[str, Callable[[Any], Outcome]] = {
                "edges": partial(read_graph, **options),
                "ingest": partial(ingest_graph, **options),
                "labels": partial(read_labels, names=names),
                "features": partial(read_features, names=names),
                "vectors": load_vectors,
            }
            yield Case(f"tables/{table['id']}", make, readers[kind])


def _keep(tables: Any, folder: Path) -> Any:
    """Make nothing of tables: they are described as they are."""
    return tables


def encode_table(table: Mapping[str, Any]) -> bytes:
    """Return the text of a table in its encoding."""
    return str(table["text"]).encode(table.get("encoding", "utf-8"))


def digest_tables(tables: Sequence[Mapping[str, Any]]) -> Outcome:
    """Describe all tables of a kind, before they are read."""
    parts = [(each["file"], encode_table(each), each.get("options", {}), each.get("names", [])) for each in tables]
    return {"drawn": compute_digest(*parts)}


def write_table_file(table: Mapping[str, Any], folder: Path) -> Path:
    """Write a table, compressed if its name says so."""
    name, kind = str(table["file"]), str(table["id"]).partition("/")[0]
    if kind in ("features", "vectors"):  # other suffixes are those of word2vec
        suffix = ".tsv" if kind == "features" and name.startswith("table.tsv") else ".csv"
        name = f"{kind}{suffix}{'.gz' if name.endswith('.gz') else ''}"
    content = encode_table(table)
    return write_file(name, gzip.compress(content, mtime=0) if name.endswith(".gz") else content, folder)


GROUPS: dict[str, Callable[[], Iterator[Case]]] = {  # by the start of their ids
    "corpus/": list_corpus_cases,
    "fuzz/": list_fuzz_cases,
    "docs/": list_document_cases,
    "old/": list_old_file_cases,
    "tables/": list_table_cases,
}
