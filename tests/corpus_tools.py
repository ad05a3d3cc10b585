"""Files that other tools write, and objects that they make: NetworkX, igraph, pandas, polars, DuckDB, SciPy, NumPy."""

from __future__ import annotations

import csv
import gzip
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import igraph
import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import scipy.io
import scipy.sparse as sp

from corpus import Case, Maker, Weights, meant, refused
from corpus_text import EPOCHS, FRIENDS, NUMBERS

ROADS = [("a", "b", 2.0), ("b", "c", 0.5), ("c", "d", 1.0)]
ARCS = [("a", "b"), ("b", "a"), ("b", "c"), ("c", "d")]
ODD = [("Doe, J", 'say "hi"'), ("a;b", "Doe, J"), ("it's", "a;b"), ("New York", "it's")]
MATRIX = [(0, 1, 2.0), (1, 2, 0.5), (2, 3, 1.0)]


def _saved(name: str, save: Callable[[Path], object]) -> Maker:
    """A file that a function writes."""

    def make(folder: Path) -> Path:
        save(folder / name)
        return folder / name

    return make


def _networkx(*, directed: bool = False, weighted: bool = False) -> Any:
    graph = nx.DiGraph() if directed else nx.Graph()
    if weighted:
        graph.add_weighted_edges_from(ROADS)
    else:
        graph.add_edges_from(ARCS if directed else FRIENDS)
    return graph


def _by_networkx(writer: str, name: str, *, options: dict[str, Any] | None = None, **graph: bool) -> Maker:
    return _saved(name, lambda path: getattr(nx, writer)(_networkx(**graph), path, **(options or {})))


def _node_link() -> Any:
    return nx.node_link_data(_networkx(directed=True), edges="edges")


def _by_igraph(method: str, name: str, *, directed: bool = False, weighted: bool = False) -> Maker:
    edges: list[Any] = ROADS if weighted else ARCS if directed else FRIENDS
    graph = igraph.Graph.TupleList(edges, directed=directed, weights=weighted)
    return _saved(name, lambda path: getattr(graph, method)(str(path)))


def _by_pandas(writer: str, name: str, *, columns: tuple[str, ...] = ("source", "target"), **options: Any) -> Maker:
    frame = pd.DataFrame(FRIENDS, columns=list(columns))
    return _saved(name, lambda path: getattr(frame, writer)(path, **options))


def _by_polars(writer: str, name: str, **options: Any) -> Maker:
    frame = pl.DataFrame(ROADS, schema=["source", "target", "weight"], orient="row")
    return _saved(name, lambda path: getattr(frame, writer)(path, **options))


def _by_duckdb(name: str, options: str) -> Maker:
    query = f"SELECT * FROM (VALUES {', '.join(map(str, ROADS))}) AS roads(source, target, weight)"
    return _saved(name, lambda path: duckdb.connect().execute(f"COPY ({query}) TO '{path}' ({options})"))


def _by_csv(**dialect: Any) -> Maker:
    """A file that the csv module writes: names with delimiters, quotes and blanks."""

    def save(path: Path) -> None:
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, **dialect).writerows([("source", "target"), *ODD])

    return _saved("edges.csv", save)


def _by_scipy(name: str, write: Callable[[Path, Any], object]) -> Maker:
    row, column, weight = zip(*MATRIX, strict=True)
    matrix = sp.coo_array((weight + weight, (row + column, column + row)), shape=(4, 4))
    return _saved(name, lambda path: write(path, matrix))


def _savetxt(name: str, **options: Any) -> Maker:
    return _saved(name, lambda path: np.savetxt(path, np.array(NUMBERS), **options))


def _sqlite(*tables: str) -> Maker:
    def save(path: Path) -> None:
        with closing(sqlite3.connect(path)) as connection, connection:
            for name in tables:
                connection.execute(f"CREATE TABLE {name} (source TEXT, target TEXT, weight REAL)")
                connection.executemany(f"INSERT INTO {name} VALUES (?, ?, ?)", ROADS)

    return _saved("graph.sqlite", save)


def _ogb(folder: Path) -> Path:
    """A folder as the Open Graph Benchmark has them: edges, and how many nodes and edges there are."""
    raw = folder / "dataset" / "raw"
    raw.mkdir(parents=True)
    edges = "".join(f"{u},{v}\n" for u, v in NUMBERS)
    files = {"edge": edges, "num-node-list": "7\n", "num-edge-list": f"{len(NUMBERS)}\n"}
    for name, text in files.items():
        (raw / f"{name}.csv.gz").write_bytes(gzip.compress(text.encode()))
    return folder / "dataset"


_FRIENDS, _ROADS = meant(FRIENDS), meant(ROADS)
_ARCS = meant(ARCS, directed=True)
NETWORKX = (
    Case("NetworkX: GraphML", _by_networkx("write_graphml", "g.graphml"), _FRIENDS),
    Case("NetworkX: GraphML, directed", _by_networkx("write_graphml", "g.graphml", directed=True), _ARCS),
    Case("NetworkX: GraphML, directed, read without", _by_networkx("write_graphml", "g.graphml", directed=True),
         meant([("a", "b"), ("b", "c"), ("c", "d")]), {"directed": False}),
    Case("NetworkX: GraphML with weights", _by_networkx("write_graphml", "g.graphml", weighted=True), _ROADS),
    Case("NetworkX: GEXF with weights", _by_networkx("write_gexf", "g.gexf", weighted=True), _ROADS),
    Case("NetworkX: GEXF, directed", _by_networkx("write_gexf", "g.gexf", directed=True), _ARCS),
    Case("NetworkX: GML with weights", _by_networkx("write_gml", "g.gml", weighted=True), _ROADS),
    Case("NetworkX: GML, directed", _by_networkx("write_gml", "g.gml", directed=True), _ARCS),
    Case("NetworkX: Pajek with weights", _by_networkx("write_pajek", "g.net", weighted=True), _ROADS),
    Case("NetworkX: Pajek, directed", _by_networkx("write_pajek", "g.net", directed=True), _ARCS),
    Case("NetworkX: node-link JSON", _saved("graph.json", lambda path: path.write_text(json.dumps(_node_link()))),
         _ARCS),
    Case("NetworkX: edge list", _by_networkx("write_edgelist", "g.edgelist", options={"data": False}), _FRIENDS),
    Case("NetworkX: edge list with data", _by_networkx("write_edgelist", "g.edgelist", weighted=True),
         (_ROADS, refused("column"))),
    Case("NetworkX: edge list with empty data", _by_networkx("write_edgelist", "g.txt"), (_FRIENDS, refused("column"))),
    Case("NetworkX: weighted edge list", _by_networkx("write_weighted_edgelist", "g.edgelist", weighted=True), _ROADS),
    Case("NetworkX: adjacency list", _by_networkx("write_adjlist", "g.adjlist"),
         (_FRIENDS, refused("column"), refused("suffix"))),
    Case("NetworkX: adjacency list as text", _by_networkx("write_adjlist", "g.txt"), refused("column")),
)  # fmt: skip
IGRAPH = (
    Case("igraph: GraphML, directed", _by_igraph("write_graphml", "g.graphml", directed=True), _ARCS,
         {"names": "name"}),
    Case("igraph: GraphML with weights", _by_igraph("write_graphml", "g.graphml", weighted=True), _ROADS,
         {"names": "name"}),
    Case("igraph: GML", _by_igraph("write_gml", "g.gml"), _FRIENDS, {"names": "name"}),
    Case("igraph: ncol with weights", _by_igraph("write_ncol", "g.ncol", weighted=True), _ROADS),
    Case("igraph: edge list of numbers", _by_igraph("write_edgelist", "g.txt"),
         meant([(0, 1), (1, 2), (2, 0), (3, 2)])),
    Case("igraph: Pajek", _by_igraph("write_pajek", "g.net"), (_FRIENDS, meant([(1, 2), (2, 3), (1, 3), (3, 4)]))),
)  # fmt: skip
FRAMES = (
    Case("pandas: csv", _by_pandas("to_csv", "e.csv", index=False), _FRIENDS),
    Case("pandas: csv with its index", _by_pandas("to_csv", "e.csv"), _FRIENDS),
    Case("pandas: csv with its index, of other names", _by_pandas("to_csv", "e.csv", columns=("person", "friend")),
         (_FRIENDS, refused("source=", "target="))),
    Case("pandas: tsv", _by_pandas("to_csv", "e.tsv", index=False, sep="\t"), _FRIENDS),
    Case("pandas: all in quotes", _by_pandas("to_csv", "e.csv", index=False, quoting=csv.QUOTE_ALL), _FRIENDS),
    Case("pandas: without a header", _by_pandas("to_csv", "e.csv", index=False, header=False), _FRIENDS),
    Case("pandas: compressed", _by_pandas("to_csv", "e.csv.gz", index=False), _FRIENDS),
    Case("pandas: parquet", _by_pandas("to_parquet", "e.parquet"), _FRIENDS),
    Case("pandas: feather", _by_pandas("to_feather", "e.feather"), _FRIENDS),
    Case("pandas: JSON records", _by_pandas("to_json", "e.json", orient="records"), _FRIENDS),
    Case("pandas: JSON lines", _by_pandas("to_json", "e.jsonl", orient="records", lines=True), _FRIENDS),
    Case("polars: csv", _by_polars("write_csv", "e.csv"), _ROADS),
    Case("polars: csv with semicolons and a mark", _by_polars("write_csv", "e.csv", separator=";", include_bom=True),
         _ROADS),
    Case("polars: parquet", _by_polars("write_parquet", "e.parquet"), _ROADS),
    Case("polars: Arrow", _by_polars("write_ipc", "e.arrow"), _ROADS),
    Case("DuckDB: csv", _by_duckdb("e.csv", "HEADER"), _ROADS),
    Case("DuckDB: csv with bars", _by_duckdb("e.csv", "HEADER, DELIMITER '|'"), _ROADS, {"delimiter": "|"}),
    Case("DuckDB: csv in quotes", _by_duckdb("e.csv", "HEADER, FORCE_QUOTE *"), _ROADS),
    Case("DuckDB: parquet", _by_duckdb("e.parquet", "FORMAT parquet"), _ROADS),
    Case("csv module", _by_csv(), meant(ODD)),
    Case("csv module: Excel with tabs", _by_csv(dialect="excel-tab"), meant(ODD)),
    Case("csv module: Unix", _by_csv(dialect="unix"), meant(ODD)),
    Case("csv module: semicolons", _by_csv(delimiter=";"), meant(ODD)),
    Case("csv module: other quotes", _by_csv(quotechar="'"), meant(ODD), {"quote": "'"}),
)  # fmt: skip
MATRICES = (
    Case("SciPy: Matrix Market", _by_scipy("m.mtx", scipy.io.mmwrite), meant(MATRIX)),
    Case("SciPy: MATLAB", _by_scipy("m.mat", lambda path, matrix: scipy.io.savemat(path, {"network": matrix.tocsc()})),
         meant(MATRIX)),
    Case("SciPy: npz", _by_scipy("m.npz", lambda path, matrix: sp.save_npz(path, matrix.tocsr())), meant(MATRIX)),
    Case("NumPy: savetxt", _savetxt("n.txt", fmt="%d"), meant(NUMBERS)),
    Case("NumPy: savetxt with a header", _savetxt("n.txt", fmt="%d", header="source target"),
         meant(NUMBERS, comments=1)),
    Case("NumPy: savetxt with commas", _savetxt("n.csv", fmt="%d", delimiter=","), meant(NUMBERS)),
    Case("sqlite: one table", _sqlite("edges"), _ROADS),
    Case("sqlite: two tables", _sqlite("edges", "nodes"), refused("query=")),
    Case("sqlite: a query", _sqlite("edges", "other"), meant(ROADS[:2]),
         {"query": "SELECT * FROM edges WHERE source < 'c'"}),
    Case("OGB: the edges", lambda folder: _ogb(folder) / "raw" / "edge.csv.gz", meant(NUMBERS)),
    Case("OGB: the folder", _ogb,
         (meant(NUMBERS, alone=(0, 6), directed=True), meant(NUMBERS, alone=(0, 6)), refused("folder"))),
)  # fmt: skip
# Objects in memory


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
    return sp.csr_array(np.array([[0, 1, 0], [0, 0, 2], [0, 0, 0]]))


NAMES = ["source", "target"]
RATINGS = [(1, 31, 2.5), (7, 31, 3.0), (7, 50, 5.0), (9, 50, 1.0)]
_LISTS = {"ann": ["bob", "cy"], "bob": ["ann", "cy"], "cy": ["ann", "bob", "dora"], "dora": ["cy"]}
OBJECTS = (
    Case("NetworkX: les miserables", _object(nx.les_miserables_graph),
         meant([(*pair, w) for pair, w in _miserable_edges().items()])),
    Case("NetworkX: a directed graph", _object(lambda: nx.DiGraph(ARCS)), _ARCS),
    Case("NetworkX: a directed graph, read without", _object(lambda: nx.DiGraph(ARCS)),
         meant([("a", "b"), ("b", "c"), ("c", "d")]), {"directed": False}),
    Case("NetworkX: parallel edges", _object(lambda: nx.MultiGraph([("a", "b"), ("a", "b"), ("b", "c")])),
         meant([("a", "b", 2), ("b", "c", 1)])),
    Case("igraph: a directed graph", _object(lambda: _igraph(directed=True)), _ARCS),
    Case("igraph: an undirected graph", _object(lambda: _igraph(directed=False)), _FRIENDS),
    Case("pandas: an adjacency frame of les miserables",
         _object(lambda: nx.to_pandas_adjacency(nx.les_miserables_graph())),
         meant([(*pair, w) for pair, w in _miserable_edges().items()])),
    Case("pandas: an adjacency frame of numbers", _object(lambda: nx.to_pandas_adjacency(nx.Graph(NUMBERS))),
         meant(NUMBERS)),
    Case("pandas: an edge frame", _object(lambda: _pandas(ROADS, [*NAMES, "weight"])), _ROADS),
    Case("pandas: columns in another order",
         _object(lambda: _pandas([r[::-1] for r in ROADS], ["weight", "target", "source"])), _ROADS),
    Case("pandas: integer names of columns", _object(lambda: _pandas(FRIENDS, [0, 1])), _FRIENDS),
    Case("pandas: numbers of records before the ends",
         _object(lambda: _pandas([(at, *pair) for at, pair in enumerate(FRIENDS)], ["id", "person", "friend"])),
         (meant(FRIENDS, told=("id",)), refused("source=", "target="))),
    Case("pandas: a rating that is not used", _object(lambda: _pandas(RATINGS, ["userId", "movieId", "rating"])),
         meant([pair[:2] for pair in RATINGS], told=("rating",))),
    Case("pandas: a weight that is missing",
         _object(lambda: _pandas([("a", "b", 1.0), ("b", "c", None)], [*NAMES, "weight"])), refused("weight")),
    Case("pandas: an end that is missing", _object(lambda: _pandas([("a", "b"), ("b", None)], NAMES)),
         meant([("a", "b")], missing=1)),
    Case("pandas: ids that became floats", _object(lambda: _pandas([(1.0, 2.0), (2.0, 3.0), (3.0, None)], NAMES)),
         meant([(1, 2), (2, 3)], missing=1)),
    Case("polars: an edge frame", _object(lambda: _polars(ROADS, [*NAMES, "weight"])), _ROADS),
    Case("polars: a lazy frame", _object(lambda: _polars(ROADS, [*NAMES, "weight"]).lazy()), _ROADS),
    Case("Arrow: a table", _object(_arrow), _ROADS),
    Case("DuckDB: a relation", _object(_relation), _ROADS),
    Case("a mapping of nodes to lists", _object(lambda: _LISTS),
         (_FRIENDS, meant([(u, v) for u, vs in _LISTS.items() for v in vs], directed=True))),
    Case("a mapping of nodes to mappings",
         _object(lambda: {"a": {"b": 2.0}, "b": {"c": 0.5}, "c": {"d": 1.0}, "d": {}}),
         (_ROADS, meant(ROADS, directed=True), refused("dict"))),
    Case("a mapping of columns", _object(lambda: {"source": ["a", "b"], "target": ["b", "c"]}),
         meant([("a", "b"), ("b", "c")])),
    Case("SciPy: a matrix that is not symmetric", _object(_sparse_directed), meant([(0, 1, 1), (1, 2, 2)])),
    Case("SciPy: the same, directed", _object(_sparse_directed), meant([(0, 1, 1), (1, 2, 2)], directed=True),
         {"directed": True}),
    Case("NumPy: pairs", _object(lambda: np.array(NUMBERS)), meant(NUMBERS)),
    Case("NumPy: an array that may be both", _object(lambda: np.array([[0, 1], [1, 2]])),
         refused("from_edges", "from_matrix")),
    Case("NumPy: times in the third column", _object(lambda: np.array(EPOCHS)), (refused("weights="), meant(NUMBERS))),
    Case("a list of pairs", _object(lambda: FRIENDS), _FRIENDS),
    Case("a list of triples", _object(lambda: ROADS), _ROADS),
    Case("a generator of pairs", _object(lambda: (pair for pair in FRIENDS)), _FRIENDS),
    Case("a list of strings", _object(lambda: ["ann bob", "bob cy"]), refused("record")),
    Case("a string that is no path", _object(lambda: "ann bob\nbob cy\n"), refused("no such file")),
    Case("None", _object(lambda: None), refused("None")),
)  # fmt: skip
CASES = (*NETWORKX, *IGRAPH, *FRAMES, *MATRICES, *OBJECTS)
