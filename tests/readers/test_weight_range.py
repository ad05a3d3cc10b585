"""Weights outside of what float32 holds: refused by every reader, with the range and the way out."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import networkx
import numpy as np
import pandas as pd
import pytest
from scipy.io import savemat
from scipy.sparse import coo_array, save_npz

from graphrefine import ingest, read
from graphrefine.errors import InputError
from graphrefine.graph.adjacency import FLOAT32_RANGE

pa = pytest.importorskip("pyarrow")
TINY, HUGE = 1e-50, 1e39


def write_text(path: Path, weight: float, pattern: str) -> None:
    path.write_text(pattern.replace("W", repr(weight)), encoding="utf-8")


def write_table(path: Path, weight: float, _: str) -> None:
    table = pa.table({"source": ["a", "b"], "target": ["b", "c"], "weight": [1.0, weight]})
    if path.suffix == ".parquet":
        import pyarrow.parquet as pq

        pq.write_table(table, path)
    else:
        import pyarrow.feather as feather

        feather.write_feather(table, path)


def write_database(path: Path, weight: float, _: str) -> None:
    lite = path.suffix == ".db"
    base: Any = sqlite3.connect(path) if lite else pytest.importorskip("duckdb").connect(str(path))
    base.execute("CREATE TABLE edges (source TEXT, target TEXT, weight DOUBLE)")
    base.execute(f"INSERT INTO edges VALUES ('a', 'b', 1), ('b', 'c', {weight!r})")
    base.commit()
    base.close()


def write_matrix(path: Path, weight: float, _: str) -> None:
    matrix = coo_array(([1.0, weight], ([0, 1], [1, 2])), shape=(3, 3))
    if path.suffix == ".npz":
        save_npz(path, matrix)
    else:
        savemat(path, {"network": matrix})


NODES = [{"id": "a"}, {"id": "b"}]
FILES = {
    "g.csv": (write_text, "source,target,weight\na,b,1\nb,c,W\n"),
    "g.txt": (write_text, "a b 1\nb c W\n"),
    "integers.txt": (write_text, "1 2 1\n2 3 W\n"),
    "g.jsonl": (write_text, '["a", "b", 1]\n["b", "c", W]\n'),
    "texts.jsonl": (write_text, '["a", "b", "1"]\n["b", "c", "W"]\n'),
    "g.json": (write_text, json.dumps({"nodes": NODES, "links": [{"source": "a", "target": "b", "weight": 0}]})),
    "g.gml": (write_text, "graph [ node [ id 1 ] node [ id 2 ] edge [ source 1 target 2 weight W ] ]"),
    "g.net": (write_text, "*Vertices 2\n1 a\n2 b\n*Edges\n1 2 W\n"),
    "g.mtx": (write_text, "%%MatrixMarket matrix coordinate real general\n3 3 2\n1 2 1\n2 3 W\n"),
    "g.metis": (write_text, "2 1 1\n2 W\n1 W\n"),
    "g.parquet": (write_table, ""),
    "g.arrow": (write_table, ""),
    "g.db": (write_database, ""),
    "g.duckdb": (write_database, ""),
    "g.npz": (write_matrix, ""),
    "g.mat": (write_matrix, ""),
}


@pytest.mark.parametrize("reader", [read, lambda path: ingest(path, path.with_suffix(".grf"))], ids=["read", "ingest"])
@pytest.mark.parametrize("weight", [TINY, HUGE])
@pytest.mark.parametrize("name", FILES)
def test_files(name: str, weight: float, reader: Any, tmp_path: Path) -> None:
    write, pattern = FILES[name]
    write(tmp_path / name, weight, pattern.replace('"weight": 0', '"weight": W'))
    problem = "is 0 as a float32 number" if weight == TINY else "is not a finite float32 number"
    with pytest.raises(InputError, match=rf"{name}.*weight .*{problem}; {FLOAT32_RANGE}$"):
        reader(tmp_path / name)


@pytest.mark.parametrize("text", ["1e-50", "1e-400", f"0.{'0' * 52}1", "+.1E-60"])
def test_texts_that_are_nothing_as_float32(text: str, tmp_path: Path) -> None:
    (tmp_path / "g.csv").write_text(f"a,b,1\nb,c,{text}\n")
    with pytest.raises(InputError, match=r"line 2: weight .* is 0 as a float32 number"):
        read(tmp_path / "g.csv")


@pytest.mark.parametrize("text", ["0", "0.0", "-0.0", "0e7", "+.0E-60", "00"])
def test_zeros_are_no_edges(text: str, tmp_path: Path) -> None:
    (tmp_path / "g.csv").write_text(f"a,b,1\nb,c,{text}\nc,d,1.4e-45\n")
    for graph in (read(tmp_path / "g.csv"), ingest(tmp_path / "g.csv", tmp_path / "g.grf")):
        assert graph.report["zero_weights"] == 1
        assert graph.weights is not None and graph.weights.min() > 0


OBJECTS: dict[str, Any] = {
    "frame": lambda w: pd.DataFrame({"source": ["a", "b"], "target": ["b", "c"], "weight": [1.0, w]}),
    "triples": lambda w: [("a", "b", 1.0), ("b", "c", w)],
    "dense": lambda w: np.diag([w, 1.0, 1.0], 1),
    "sparse": lambda w: coo_array(([1.0, w], ([0, 1], [1, 2])), shape=(3, 3)).tocsr(),
    "mapping": lambda w: {"a": {"b": 1.0}, "b": {"c": w}},
    "network": lambda w: networkx.Graph([("a", "b", {"weight": w})]),
}


@pytest.mark.parametrize("weight", [TINY, HUGE])
@pytest.mark.parametrize("kind", OBJECTS)
def test_objects(kind: str, weight: float) -> None:
    problem = "is 0 as a float32 number" if weight == TINY else "is not a finite float32 number"
    with pytest.raises(InputError, match=rf"record [12]: weight .* {problem}; {FLOAT32_RANGE}$"):
        read(OBJECTS[kind](weight))


def test_a_matrix_without_its_weights() -> None:
    assert read(OBJECTS["dense"](TINY), weights=False).edges == 3


def test_weights_that_decay_to_nothing_are_told(tmp_path: Path) -> None:
    path = tmp_path / "g.csv"
    path.write_text("source,target,day\na,b,1990-01-01\nb,c,2024-01-01\nc,d,2024-01-02\n")
    options: dict[str, Any] = {"time": "day", "half_life": "1d", "until": "2024-01-03"}
    for graph in (read(path, **options), ingest(path, tmp_path / "g.grf", **options)):
        assert graph.edges == 2 and "edges of weight 0 left out: 1" in graph.reading
    options["until"] = "2090-01-01"
    for reader in (read, lambda path, **options: ingest(path, tmp_path / "none.grf", **options)):
        with pytest.raises(InputError, match="no edge in the graph but 3 of weight 0"):
            reader(path, **options)
