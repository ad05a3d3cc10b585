"""Edges by two ways, `read` and `ingest`, with options of every kind: both give the same graph, or refuse.

The options depend on the bytes: columns that are there or not, delimiters, quotes, encodings, times, nodes.
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from fuzz.codecs import below_gzip
from fuzz.mutations import Mutation
from fuzz.target import Target
from fuzz.targets.readers import csv_seeds, jsonl_seeds, packed_seeds, read_soundly, table_seeds, text_seeds

COLUMNS: tuple[Any, ...] = (0, 1, 2, 3, -1, 2**70, "source", "target", "weight", "time", "", "no\nsuch")
MOMENTS: tuple[Any, ...] = (0, 1.5, 978300761, "2020-01-02", "2024-02-01T00:00:00Z", float("nan"), 10**30, "", "x")
# What `read` takes and `ingest` does not, by its messages.
WHOLE = (
    "an adjacency matrix, which is not cut",
    "says which edges are directed",
    "is not valid Unicode and cannot be stored",
    "of two sets, which may coincide",
    "the newest edge is not known before all are read",
)
TABLES: dict[str, tuple[Any, ...]] = {
    "directed": (True, False),
    "bipartite": (True,),
    "weights": (False, *COLUMNS),
    "source": COLUMNS,
    "target": COLUMNS,
    "time": COLUMNS,
    "since": MOMENTS,
    "until": MOMENTS,
    "half_life": ("30d", "12h", 1e-300, 1e300, 0, -1, "d", 2.5),
    "nodes": (0, 1, 7, -1, ["ann", "fay"], [1, 9], []),
}
TEXTS: dict[str, tuple[Any, ...]] = {
    **TABLES,
    "delimiter": (",", ";", "\t", " ", "|", "::", "a", "\n", "", '"'),
    "header": (True, False),
    "quote": ("", "'", '"', ",", "\n", "''"),
    "comments": ("", "#", "%", "#%", "1", "\n"),
    "encoding": ("utf-8", "latin-1", "utf-16", "utf-8-sig", "cp1252", "utf-7", "idna", "zlib", "no-such"),
    "format": ("text", "csv", "tsv", "networkx", "adjlist", "parquet", "no-such"),
}


def draw_options(data: bytes, choices: dict[str, tuple[Any, ...]]) -> dict[str, Any]:
    """Options that depend on the bytes: none to four."""
    rng = Random(zlib.crc32(data))
    names = rng.sample(sorted(choices), rng.choice((0, 1, 1, 2, 2, 3, 4)))
    return {name: rng.choice(choices[name]) for name in names}


def read_with_options(data: bytes, folder: Path, suffix: str, choices: dict[str, tuple[Any, ...]]) -> None:
    """Read bytes with options."""
    path = folder / f"graph{suffix}"
    path.write_bytes(data)
    read_soundly(path, draw_options(data, choices))


def ingest_too(data: bytes, folder: Path, suffix: str, choices: dict[str, tuple[Any, ...]]) -> None:
    """Read bytes, and ingest them in small pieces: one graph, by both or by none."""
    import graphrefine

    path, options = folder / f"graph{suffix}", draw_options(data, choices)
    path.write_bytes(data)
    whole, refusal = _attempt(lambda: graphrefine.read(path, threads=1, **options))
    stored, other = _attempt(lambda: graphrefine.ingest(path, folder / "graph.grf", threads=1, **options))
    left = sorted(each.name for each in folder.iterdir() if each != path)
    assert left == ([] if stored is None else ["graph.grf"]), f"{left} after ingest: {other}"
    if other is not None and any(words in other for words in WHOLE):
        return
    assert (whole is None) == (stored is None), f"options {options}\nread: {refusal}\ningest: {other}"
    if whole is not None:
        _compare(whole, stored, options)


def _attempt(work: Callable[[], Any]) -> tuple[Any, str | None]:
    from graphrefine.errors import GraphRefineError

    try:
        return work(), None
    except GraphRefineError as error:
        return None, str(error)


def _compare(whole: Any, stored: Any, options: dict[str, Any]) -> None:
    import numpy as np

    names = whole.names.tolist()
    as_texts = {int, str} == set(map(type, names)) or any(isinstance(name, int) and name >= 2**63 for name in names)
    assert (list(map(str, names)) if as_texts else names) == stored.names.tolist(), options
    assert whole.directed == stored.directed and whole.sources == stored.sources, options
    for name in ("indptr", "indices", "weights"):
        one, other = getattr(whole, name), getattr(stored, name)
        assert (one is None) == (other is None), (name, options)
        assert one is None or np.array_equal(np.asarray(one), np.asarray(other)), (name, options)


def read_change_file(data: bytes, folder: Path, suffix: str) -> None:
    """Read bytes as changes of a live graph."""
    from graphrefine.live.changes import read_changes

    path = folder / f"changes{suffix}"
    path.write_bytes(data)
    for group in read_changes(path, size=3):
        assert 0 < len(group.changes) <= 3


def change_seeds() -> list[bytes]:
    """Changes of every kind."""
    return [
        b"op,source,target,weight\n+,ann,bob,2\n-,bob,cy,\n=,cy,ann,0.5\n-,dee,,\n",
        b"+,1,2,3\n-,2,3\n",
        b'Target,Source,Op\n"b,b",ann,+\ncy,"a ""a""",-\n',
    ]


def change_line_seeds() -> list[bytes]:
    """Changes, an object on each line."""
    return [b'{"op": "+", "source": "ann", "target": "bob", "weight": 2}\n{"op": "-", "source": 1, "target": null}\n']


def change_table_seeds() -> list[bytes]:
    """Changes as parquet."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {"op": ["+", "-", "="], "source": ["ann", "bob", "cy"], "target": ["bob", None, "ann"]}
    file = io.BytesIO()
    pq.write_table(pa.table({**columns, "weight": [2.0, None, 0.5]}), file, compression="none")
    return [file.getvalue()]


def _targets(name: str, suffix: str, seeds: Callable[[], list[bytes]], change: Mutation | None = None) -> list[Target]:
    choices = TABLES if suffix in (".parquet", ".arrow", ".jsonl") else TEXTS
    ways = {"options": read_with_options, "ingest": ingest_too}
    return [
        Target(f"{way}-{name}", "readers", seeds, partial(run, suffix=suffix, choices=choices), change)
        for way, run in ways.items()
    ]


CHANGES = {".csv": change_seeds, ".jsonl": change_line_seeds, ".parquet": change_table_seeds}
TARGETS = [
    *_targets("text", ".txt", text_seeds),
    *_targets("csv", ".csv", csv_seeds),
    *_targets("gz", ".csv.gz", packed_seeds(lambda text: __import__("gzip").compress(text, mtime=0)), below_gzip),
    *_targets("parquet", ".parquet", table_seeds("parquet")),
    *_targets("arrow", ".arrow", table_seeds("file")),
    *_targets("jsonl", ".jsonl", jsonl_seeds),
    *(
        Target(f"changes-{suffix[1:]}", "tables", seeds, partial(read_change_file, suffix=suffix))
        for suffix, seeds in CHANGES.items()
    ),
]
