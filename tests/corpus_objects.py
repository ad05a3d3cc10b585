"""Objects in memory as people have them: graphs, frames, matrices and mappings of other packages."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import igraph
import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from scipy.sparse import csr_array

from corpus import Case, Maker, Weights, meant, refused
from corpus_text import EPOCHS, FRIENDS, NUMBERS
from corpus_tools import ARCS, ROADS


def _object(make: Callable[[], Any]) -> Maker:
    def ignore_folder(folder: Path) -> Any:
        return make()

    return ignore_folder


def _miserable_edges() -> Weights:
    return {(u, v): float(weight) for u, v, weight in nx.les_miserables_graph().edges(data="weight")}


def _igraph(*, directed: bool) -> Any:
    return igraph.Graph.TupleList(ARCS if directed else FRIENDS, directed=directed)


def _pandas(rows: list[Any], columns: list[Any]) -> Any:
    return pd.DataFrame(rows, columns=columns)


def _polars(rows: list[Any], columns: list[str]) -> Any:
    return pl.DataFrame(rows, schema=columns, orient="row")


def _arrow() -> Any:
    source, target, weight = zip(*ROADS, strict=True)
    return pa.table({"source": source, "target": target, "weight": weight})


def _relation() -> Any:
    return duckdb.sql(f"SELECT * FROM (VALUES {', '.join(map(str, ROADS))}) AS roads(source, target, weight)")


def _sparse_directed() -> Any:
    return csr_array(np.array([[0, 1, 0], [0, 0, 2], [0, 0, 0]]))


_FRIENDS, _ROADS, _ARCS = meant(FRIENDS), meant(ROADS), meant(ARCS, directed=True)
NAMES = ["source", "target"]
RATINGS = [(1, 31, 2.5), (7, 31, 3.0), (7, 50, 5.0), (9, 50, 1.0)]
_LISTS = {"ann": ["bob", "cy"], "bob": ["ann", "cy"], "cy": ["ann", "bob", "dora"], "dora": ["cy"]}
CASES = (
    Case(
        "NetworkX: les miserables",
        _object(nx.les_miserables_graph),
        meant([(*pair, w) for pair, w in _miserable_edges().items()]),
    ),
    Case("NetworkX: a directed graph", _object(lambda: nx.DiGraph(ARCS)), _ARCS),
    Case(
        "NetworkX: a directed graph, read without",
        _object(lambda: nx.DiGraph(ARCS)),
        meant([("a", "b"), ("b", "c"), ("c", "d")]),
        {"directed": False},
    ),
    Case(
        "NetworkX: parallel edges",
        _object(lambda: nx.MultiGraph([("a", "b"), ("a", "b"), ("b", "c")])),
        meant([("a", "b", 2), ("b", "c", 1)]),
    ),
    Case("igraph: a directed graph", _object(lambda: _igraph(directed=True)), _ARCS),
    Case("igraph: an undirected graph", _object(lambda: _igraph(directed=False)), _FRIENDS),
    Case(
        "pandas: an adjacency frame of les miserables",
        _object(lambda: nx.to_pandas_adjacency(nx.les_miserables_graph())),
        meant([(*pair, w) for pair, w in _miserable_edges().items()]),
    ),
    Case(
        "pandas: an adjacency frame of numbers",
        _object(lambda: nx.to_pandas_adjacency(nx.Graph(NUMBERS))),
        meant(NUMBERS),
    ),
    Case("pandas: an edge frame", _object(lambda: _pandas(ROADS, [*NAMES, "weight"])), _ROADS),
    Case(
        "pandas: columns in another order",
        _object(lambda: _pandas([r[::-1] for r in ROADS], ["weight", "target", "source"])),
        _ROADS,
    ),
    Case("pandas: integer names of columns", _object(lambda: _pandas(FRIENDS, [0, 1])), _FRIENDS),
    Case(
        "pandas: numbers of records before the ends",
        _object(lambda: _pandas([(at, *pair) for at, pair in enumerate(FRIENDS)], ["id", "person", "friend"])),
        (meant(FRIENDS, told=("id",)), refused("source=", "target=")),
    ),
    Case(
        "pandas: a rating that is not used",
        _object(lambda: _pandas(RATINGS, ["userId", "movieId", "rating"])),
        meant([pair[:2] for pair in RATINGS], told=("rating",)),
    ),
    Case(
        "pandas: a weight that is missing",
        _object(lambda: _pandas([("a", "b", 1.0), ("b", "c", None)], [*NAMES, "weight"])),
        refused("weight"),
    ),
    Case(
        "pandas: an end that is missing",
        _object(lambda: _pandas([("a", "b"), ("b", None)], NAMES)),
        meant([("a", "b")], missing=1),
    ),
    Case(
        "pandas: ids that became floats",
        _object(lambda: _pandas([(1.0, 2.0), (2.0, 3.0), (3.0, None)], NAMES)),
        meant([(1, 2), (2, 3)], missing=1),
    ),
    Case("polars: an edge frame", _object(lambda: _polars(ROADS, [*NAMES, "weight"])), _ROADS),
    Case("polars: a lazy frame", _object(lambda: _polars(ROADS, [*NAMES, "weight"]).lazy()), _ROADS),
    Case("Arrow: a table", _object(_arrow), _ROADS),
    Case("DuckDB: a relation", _object(_relation), _ROADS),
    Case(
        "a mapping of nodes to lists",
        _object(lambda: _LISTS),
        (_FRIENDS, meant([(u, v) for u, vs in _LISTS.items() for v in vs], directed=True)),
    ),
    Case(
        "a mapping of nodes to mappings",
        _object(lambda: {"a": {"b": 2.0}, "b": {"c": 0.5}, "c": {"d": 1.0}, "d": {}}),
        (_ROADS, meant(ROADS, directed=True), refused("dict")),
    ),
    Case(
        "a mapping of columns",
        _object(lambda: {"source": ["a", "b"], "target": ["b", "c"]}),
        meant([("a", "b"), ("b", "c")]),
    ),
    Case("SciPy: a matrix that is not symmetric", _object(_sparse_directed), meant([(0, 1, 1), (1, 2, 2)])),
    Case(
        "SciPy: the same, directed",
        _object(_sparse_directed),
        meant([(0, 1, 1), (1, 2, 2)], directed=True),
        {"directed": True},
    ),
    Case("NumPy: pairs", _object(lambda: np.array(NUMBERS)), meant(NUMBERS)),
    Case(
        "NumPy: an array that may be both",
        _object(lambda: np.array([[0, 1], [1, 2]])),
        refused("from_edges", "from_matrix"),
    ),
    Case("NumPy: times in the third column", _object(lambda: np.array(EPOCHS)), (refused("weights="), meant(NUMBERS))),
    Case("a list of pairs", _object(lambda: FRIENDS), _FRIENDS),
    Case("a list of triples", _object(lambda: ROADS), _ROADS),
    Case("a generator of pairs", _object(lambda: (pair for pair in FRIENDS)), _FRIENDS),
    Case("a list of strings", _object(lambda: ["ann bob", "bob cy"]), refused("record")),
    Case("a string that is no path", _object(lambda: "ann bob\nbob cy\n"), refused("no such file")),
    Case("None", _object(lambda: None), refused("None")),
)
