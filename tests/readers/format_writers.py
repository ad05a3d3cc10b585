"""A writer for every format of graphs, and graphs of NetworkX with awkward names to write.

A new format has a line in `WRITERS`: round trips, damage and weights outside of float32 are then tested for it.
"""

from __future__ import annotations

import gzip
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import h5py
import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import scipy.io
import scipy.sparse as sp
from graph_views import entries_of
from hypothesis import strategies as st

from graphrefine.graph.graph import Graph
from strategies import WEIGHTS

AWKWARD = st.text(
    st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp"), exclude_characters="\ufffe\uffff\x85"), min_size=1
).map(str.strip).filter(bool) | st.sampled_from(['a "b" c', "it's", "<&>", "a  b", "é ü", "7", "007", "{}", "]", "#x"])
UNESCAPED = AWKWARD.filter(lambda name: '"' not in name and "&#" not in name and name.isprintable())
PLAIN = st.text(st.characters(categories=("L", "N", "S")), min_size=1, max_size=5)


class Writer(NamedTuple):
    """The writer of a format, the names that it can hold, and what it does not keep."""

    format: str
    write: Callable[[Any, Path], object]
    names: st.SearchStrategy[str] | None = AWKWARD  # None: the nodes are numbered by ``first``, in their order
    has_direction: bool = True
    has_weights: bool = True
    has_isolated: bool = True
    first: int = 0


def _frame(graph: Any) -> pd.DataFrame:
    rows = [(str(u), str(v), float(weight)) for u, v, weight in graph.edges(data="weight", default=1.0)]
    return pd.DataFrame(rows, columns=["source", "target", "weight"])


def _json(format: Callable[..., Any], **options: Any) -> Writer:
    return Writer("json", lambda graph, path: path.write_text(json.dumps(format(graph, **options)), encoding="utf-8"))


def _table(format: str, write: Callable[[pd.DataFrame, Path], object]) -> Writer:
    return Writer(format, lambda graph, path: write(_frame(graph), path), has_direction=False, has_isolated=False)


def _matrix(format: str, write: Callable[[Any, Path], object]) -> Writer:
    return Writer(format, lambda graph, path: write(nx.to_scipy_sparse_array(graph), path), None, has_direction=False)


def _text(format: str, write: Callable[[Any, Path], object], **lacks: bool) -> Writer:
    return Writer(format, write, PLAIN, has_direction=False, **lacks)


def _sqlite(frame: pd.DataFrame, path: Path) -> None:
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        frame.to_sql("edges", connection, index=False)


def _duckdb(frame: pd.DataFrame, path: Path) -> None:
    path.unlink(missing_ok=True)
    with closing(duckdb.connect(str(path))) as connection:
        connection.execute("create table edges as select * from frame")


def _arrow(frame: pd.DataFrame, path: Path, open: Callable[..., Any]) -> None:
    table = pa.Table.from_pandas(frame)
    with open(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=2)


def _hdf5(matrix: Any, path: Path) -> None:
    with h5py.File(path, "w") as file:
        file["network"] = matrix.toarray().T


def _metis(graph: Any, path: Path) -> None:
    plain = nx.Graph((u, v, data) for u, v, data in graph.edges(data=True) if u != v)
    plain.add_nodes_from(graph)
    rows = [" ".join(f"{v + 1} {data.get('weight', 1)!r}" for v, data in plain[u].items()) for u in range(len(graph))]
    path.write_text("\n".join([f"{len(graph)} {plain.number_of_edges()} 1", *rows, ""]))


def _ogb(graph: Any, path: Path) -> None:
    files: dict[str, list[Any]] = {"num-node-list": [len(graph)], "edge": [f"{u},{v}" for u, v in graph.edges]}
    files["edge_weight"] = [weight for _, _, weight in graph.edges(data="weight", default=1.0)]
    (path / "raw").mkdir(parents=True, exist_ok=True)
    for name, lines in files.items():
        text = "".join(f"{line}\n" for line in lines)
        (path / "raw" / f"{name}.csv.gz").write_bytes(gzip.compress(text.encode()))


WRITERS = {
    "a.csv": _table("csv", lambda frame, path: frame.to_csv(path, index=False, quoting=1)),
    "a.tsv": _table("tsv", lambda frame, path: frame.to_csv(path, index=False, quoting=1, sep="\t")),
    "a.ncol": _text("text", nx.write_weighted_edgelist, has_isolated=False)._replace(
        write=lambda graph, path: path.write_text("".join(f'"{u}" "{v}" {w!r}\n' for u, v, w in _frame(graph).values))
    ),
    "a.parquet": _table("parquet", lambda frame, path: frame.to_parquet(path)),
    "a.feather": _table("arrow", lambda frame, path: frame.to_feather(path)),
    "a.arrow": _table("arrow", lambda frame, path: _arrow(frame, path, pa.ipc.new_file)),
    "a.arrows": _table("arrow", lambda frame, path: _arrow(frame, path, pa.ipc.new_stream)),
    "a.jsonl": _table("jsonl", lambda frame, path: frame.to_json(path, orient="records", lines=True)),
    "a.db": _table("sqlite", _sqlite),
    "a.duckdb": _table("duckdb", _duckdb),
    "5.mat": _matrix("mat", lambda matrix, path: scipy.io.savemat(path, {"network": matrix.tocsc()})),
    "73.mat": _matrix("mat", _hdf5),
    "a.mtx": _matrix("mtx", lambda matrix, path: scipy.io.mmwrite(path, matrix, precision=17)),
    "a.npz": _matrix("npz", lambda matrix, path: sp.save_npz(path, matrix)),
    "a.metis": Writer("metis", _metis, None, has_direction=False, first=1),
    "ogb": Writer("ogb", _ogb, None, has_direction=False),
    "a.graphml": Writer("graphml", nx.write_graphml),
    "a.gexf": Writer("gexf", nx.write_gexf),
    "a.gml": Writer("gml", nx.write_gml),
    "a.net": Writer("pajek", nx.write_pajek, UNESCAPED),
    "links.json": _json(nx.node_link_data, edges="links"),
    "edges.json": _json(nx.node_link_data, edges="edges"),
    "cytoscape.json": _json(nx.cytoscape_data),
    "a.edgelist": _text("networkx", nx.write_edgelist, has_isolated=False),
    "plain.adjlist": _text("adjlist", nx.write_adjlist, has_weights=False),
}


@st.composite
def networkx_graphs(draw: st.DrawFn, *, names: st.SearchStrategy[str] | None = AWKWARD) -> Any:
    """Directed or not, weighted or not, with self-loops and isolated nodes; names are integers or odd strings."""
    some: st.SearchStrategy[Any] = st.integers(-5, 99) if names is None or draw(st.booleans()) else names
    nodes = draw(st.lists(some, min_size=2, max_size=7, unique=True))
    nodes = list(range(len(nodes))) if names is None else nodes
    graph = nx.DiGraph() if draw(st.booleans()) else nx.Graph()
    graph.add_nodes_from(nodes)
    graph.add_edge(nodes[0], nodes[1])
    graph.add_edges_from(draw(st.lists(st.tuples(st.sampled_from(nodes), st.sampled_from(nodes)), max_size=12)))
    if draw(st.booleans()):
        for edge in graph.edges:
            graph.edges[edge]["weight"] = draw(WEIGHTS)
    return graph


def edges_of(graph: Graph) -> dict[tuple[str, str], float]:
    """Return the entries of a graph, by the names of their ends."""
    return {(str(u), str(v)): weight for (u, v), weight in entries_of(graph).items()}


def edges_of_networkx(graph: Any, *, first: int = 0) -> dict[tuple[str, str], float]:
    """Return the same of a NetworkX graph, less its self-loops, as float32 holds the weights."""
    both = graph if graph.is_directed() else graph.to_directed()
    if first:
        both = nx.relabel_nodes(both, {node: node + first for node in both})
    edges = both.edges(data="weight", default=1.0)
    return {(str(u), str(v)): float(np.float32(weight)) for u, v, weight in edges if u != v}


def same_graph(graph: Graph, oracle: Any) -> None:
    """Check that the graph that was read is the one that NetworkX holds: names, edges, weights and direction."""
    assert sorted(str(name) for name in graph.names.tolist()) == sorted(map(str, oracle.nodes))
    assert graph.directed == oracle.is_directed()
    assert graph.report["direction"] == "declared"
    assert edges_of(graph) == edges_of_networkx(oracle)
