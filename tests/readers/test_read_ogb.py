"""Folders of the Open Graph Benchmark, with the files that its loader reads."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from format_writers import edges_of

from graphrefine.errors import FormatError, InputError
from graphrefine.ingestion.ingest import ingest
from graphrefine.readers.read import read

EDGES = "0,1\n1,2\n2,0\n4,3\n"


def make(folder: Path, **files: str) -> Path:
    """A folder with these files, ``__`` standing for a dash."""
    raw = folder / "raw"
    raw.mkdir(parents=True, exist_ok=True)
    for name, text in {"edge": EDGES, "num__node__list": "6\n", "num__edge__list": "4\n", **files}.items():
        (raw / f"{name.replace('__', '-')}.csv.gz").write_bytes(gzip.compress(text.encode()))
    return folder


def test_a_graph_with_labels_and_features(tmp_path: Path) -> None:
    folder = make(tmp_path / "ogbn_arxiv", node__label="4\n4\n3\n0\n1\n1\n", node__feat="0.1,0.2\n" * 6)
    graph = read(folder)
    assert sorted(edges_of(graph)) == sorted(tuple(line.split(",")) for line in EDGES.split())
    assert (graph.names.tolist(), graph.isolated) == ([0, 1, 2, 3, 4, 5], 1)
    assert graph.attributes["label"].tolist() == [4, 4, 3, 0, 1, 1]
    assert graph.attributes["label"].dtype == np.int64
    assert read(folder / "raw").edges == 4
    assert not read(folder, directed=False).directed


@pytest.mark.parametrize(
    ("name", "directed"), [("ogbn_arxiv", True), ("ogbn-products", False), ("collab", False), ("mine", None)]
)
def test_the_direction_is_that_of_the_benchmark(tmp_path: Path, name: str, directed: bool | None) -> None:
    graph = read(make(tmp_path / name))
    assert graph.directed is bool(directed)
    assert ("the folder does not say whether edges have a direction" in graph.reading) == (directed is None)
    assert graph.report.get("direction") == (None if directed is None else "declared")
    assert ("directed, as the graph says" in graph.reading) == (directed is not None)


def test_weights(tmp_path: Path) -> None:
    folder = make(tmp_path / "ogbl_collab", edge_weight="1\n2\n3\n4\n", edge_year="1999\n2000\n2001\n2002\n")
    graph = read(folder)
    assert edges_of(graph)["1", "2"] == 2
    assert (graph.report["weight_column"], graph.report["ignored_columns"]) == ("edge_weight", ["edge_year"])
    assert edges_of(read(folder, weights="edge_year"))["4", "3"] == 2002


def test_labels_that_are_missing_or_many(tmp_path: Path) -> None:
    labels = read(make(tmp_path / "a", node__label="1\nnan\n" * 3)).attributes
    assert labels["label"].tolist() == [1, None, 1, None, 1, None]
    many = read(make(tmp_path / "b", node__label="1,0\n" * 6)).attributes
    assert {name: column.tolist() for name, column in many.items()} == {"label_0": [1] * 6, "label_1": [0] * 6}


@pytest.mark.parametrize(
    ("files", "options", "problem"),
    [
        ({"num__node__list": "3\n"}, {}, "the edges name 4, and there are 3 nodes"),
        ({"num__node__list": "3\n4\n"}, {}, "the folder holds 2 graphs"),
        ({"num__node__list": "10000000000\n"}, {}, "10,000,000,000 is no number of nodes"),
        ({"num__node__list": "x\n"}, {}, "each line must hold 1 number"),
        ({"edge": "0,1\n1\n"}, {}, "edge.csv.gz, line 2"),
        ({"edge": "a,b\n"}, {}, "the edges name 'b'"),
        ({"node__label": "1\n"}, {}, "there are 1 lines, and 6 nodes"),
        ({"node__label": "1,2\n1\n"}, {}, "each line must hold 2 numbers"),
        ({"edge_weight": "1\n2\n"}, {}, "one for each of the 4 edges"),
        ({"edge_weight": "1\n-2\n3\n4\n"}, {}, "edge_weight.csv.gz: record 2: weight -2"),
        ({"edge_weight": "1\n" * 4}, {"weights": "cost"}, "no file 'cost'.* 'edge_weight'"),
        ({}, {"names": "x"}, "names= does not apply"),
    ],
)
def test_bad_folders(tmp_path: Path, files: dict[str, str], options: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        read(make(tmp_path / "g", **files), **options)


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("g/raw/data.npz", "data.npz.* is not read"),
        ("g/raw/relations/a", "several kinds of nodes"),
        ("g/raw/other", "raw/edge.csv.gz in it"),
    ],
)
def test_folders_of_another_kind(tmp_path: Path, path: str, problem: str) -> None:
    (tmp_path / path).parent.mkdir(parents=True)
    (tmp_path / path).touch()
    for given in ("g", "g/raw"):
        with pytest.raises(FormatError, match=problem):
            read(tmp_path / given, format="ogb")


def test_ingesting_does_not_take_features_for_edges(tmp_path: Path) -> None:
    folder = make(tmp_path / "g", node__feat="0.1,0.2\n" * 6)
    with pytest.raises(InputError, match=r"is a graph of OGB; name the file raw/edge\.csv\.gz in it"):
        ingest(folder, tmp_path / "g.grf")
    assert ingest(folder / "raw" / "edge.csv.gz", tmp_path / "g.grf").edges == 4
