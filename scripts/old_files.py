"""Write small files of every stored format, as this graphrefine writes them, for the tests to read for ever.

``python scripts/old_files.py`` makes the folders of ``tests/old_files`` that are not there yet, one for each format and
its version, such as ``graph-1``; what is there stays. Run it when the version of a format has been raised, and commit
what it made: ``tests/test_old_files.py`` reads them all and holds them to their ``expected.json``.
"""

from __future__ import annotations

import json
import os
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

import graphrefine
from graphrefine.display.maps.layout import VERSION as MAP_VERSION
from graphrefine.display.maps.layout import obtain_layout
from graphrefine.embedding.formats import FORMAT_VERSION
from graphrefine.graph import stored_writer
from graphrefine.live import store
from graphrefine.readers.read import read
from graphrefine.search import index
from graphrefine.search.searcher import Search

PLACE = Path(__file__).resolve().parent.parent / "tests" / "old_files"
SUFFIXES = ("", ".npz", ".parquet", ".arrow", ".safetensors")
NODES = 12


def make_edges() -> list[tuple[str, str, float]]:
    """Two rings of nodes with names, one of them beyond ASCII, and a bridge; weights of 1 to 3."""
    names = [f"n{node}" for node in range(NODES - 1)] + ["é 1"]
    half = NODES // 2
    pairs = [(start + at, start + (at + step) % half) for start in (0, half) for at in range(half) for step in (1, 2)]
    return [(names[u], names[v], float(1 + (u + v) % 3)) for u, v in [*pairs, (0, half)]]


def make_embedding() -> graphrefine.Embedding:
    """Vectors of four numbers."""
    return graphrefine.embed(make_edges(), 4, threads=1)


def describe(embedding: graphrefine.Embedding) -> dict[str, Any]:
    """What a test holds an embedding to."""
    state = {name: piece.tolist() for name, piece in embedding.state.arrays().items()}
    return {
        "names": embedding.names.tolist(),
        "vectors": embedding.vectors.tolist(),
        "state": state,
        "fingerprint": str(embedding.fingerprint),
    }


def write_embeddings(folder: Path) -> dict[str, Any]:
    """The same vectors in each format with a version."""
    embedding = make_embedding()
    for suffix in SUFFIXES:
        embedding.save(folder / f"rings{suffix}")
    return describe(graphrefine.load(folder / "rings"))


def write_graph(folder: Path) -> dict[str, Any]:
    """A graph on disk."""
    graph = read(make_edges())
    graph.save(folder / "rings.grf")
    weights = None if graph.weights is None else np.asarray(graph.weights).tolist()
    arrays = {"indptr": np.asarray(graph.indptr).tolist(), "indices": np.asarray(graph.indices).tolist()}
    return {"names": graph.names.tolist(), **arrays, "weights": weights}


def write_index(folder: Path) -> dict[str, Any]:
    """An index beside vectors, and the neighbors of each node by it."""
    make_embedding().save(folder / "rings.npy")
    nearest = Search(graphrefine.load(folder / "rings.npy"), index=True).nearest(rows=list(range(NODES)), k=2)
    return {"rows": nearest.rows.tolist()}


def write_map(folder: Path) -> dict[str, Any]:
    """A layout beside vectors."""
    make_embedding().save(folder / "rings.npy")
    layout = obtain_layout(graphrefine.load(folder / "rings.npy"), "clusters")
    return {"coordinates": layout.coordinates.tolist()}


def write_live(folder: Path) -> dict[str, Any]:
    """Live vectors after a change."""
    with graphrefine.live.create(make_edges(), folder / "rings.live", dim=4, threads=1) as live:
        live.add(["n3", "new"], ["n9", "n1"])
        live.commit()
    with graphrefine.live.open(folder / "rings.live", read_only=True) as reader:
        names = [*(f"n{node}" for node in range(NODES - 1)), "é 1", "new"]
        vectors = {name: np.asarray(reader.vector(name)).tolist() for name in names}
    for database in (folder / "rings.live").glob("*.db"):  # the last one to close a database removes its log
        with closing(sqlite3.connect(database)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    (folder / "rings.live" / "lock").unlink()
    return {"vectors": vectors}


WRITERS: dict[str, Callable[[Path], dict[str, Any]]] = {
    f"embedding-{FORMAT_VERSION}": write_embeddings,
    f"graph-{stored_writer.VERSION}": write_graph,
    f"index-{index.VERSION}": write_index,
    f"map-{MAP_VERSION}": write_map,
    f"live-{store.VERSION}": write_live,
}


def main() -> None:
    """Make what is missing."""
    PLACE.mkdir(exist_ok=True)
    for name, write in WRITERS.items():
        if (PLACE / name).exists():
            continue
        with tempfile.TemporaryDirectory(dir=PLACE) as temporary:
            folder = Path(temporary, name)
            folder.mkdir()
            expected = write(folder)
            text = json.dumps(expected, ensure_ascii=False)
            (folder / "expected.json").write_text(text + "\n", encoding="utf-8")
            os.rename(folder, PLACE / name)  # noqa: PTH104
        print(f"made {PLACE / name}")


if __name__ == "__main__":
    main()
