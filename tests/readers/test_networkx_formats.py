"""Round trips: what NetworkX and igraph write is read as the graph that they hold, with any names.

A new format has a line in `FORMATS`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import igraph
import networkx as nx
import pytest
from format_writers import edges_of, edges_of_networkx, networkx_graphs
from hypothesis import given
from hypothesis import strategies as st

from graphrefine.errors import FormatError
from graphrefine.readers.read import read
from strategies import PATIENT

PLAIN = st.text(st.characters(categories=("L", "N", "S")), min_size=1, max_size=5)


@PATIENT
@given(graph=networkx_graphs(names=PLAIN), delimiter=st.sampled_from([" ", ",", "\t", ";"]))
def test_text_with_any_delimiter_comes_back(tmp_path: Path, graph: Any, delimiter: str) -> None:
    nx.set_edge_attributes(graph, "x, {y}", "kind")
    for name in ("a.txt", "a.csv", "a.edgelist"):
        nx.write_edgelist(graph, tmp_path / name, delimiter=delimiter)
        held = read(tmp_path / name, directed=graph.is_directed())
        assert (held.report["format"], held.report["ignored_columns"]) == ("networkx", ["kind"])
        assert edges_of(held) == edges_of_networkx(graph)
    nx.write_multiline_adjlist(graph, tmp_path / "a.adjlist", delimiter=delimiter)
    with pytest.raises(FormatError, match="this is a multiline adjacency list"):
        read(tmp_path / "a.adjlist", delimiter=delimiter)


@pytest.mark.parametrize("suffix", ["gml", "graphml"])
@pytest.mark.parametrize("directed", [True, False])
def test_names_and_attributes_of_igraph_come_back(tmp_path: Path, suffix: str, directed: bool) -> None:
    graph = igraph.Graph([(0, 1), (1, 2), (2, 0)], directed=directed)
    graph.vs["name"], graph.vs["age"] = ['a "&" <b>', "é", "x"], [3, 4, 5]
    graph.es["weight"], graph.es["kind"] = [0.5, 2, 3], ["p", "q", "r"]
    path = tmp_path / f"a.{suffix}"
    getattr(graph, f"write_{suffix}")(str(path))
    named = read(path, names="name")
    assert (named.names.tolist(), named.directed) == (['a "&" <b>', "x", "é"], directed)
    assert edges_of(named)['a "&" <b>', "é"] == 0.5
    assert named.attributes["age"].tolist() == [3.0, 5.0, 4.0]
    assert named.report["ignored_columns"] == ["kind"]
    by_id = read(path).names.tolist()
    assert by_id == ([0, 1, 2] if suffix == "gml" else ["n0", "n1", "n2"])
    assert named.attributes["id"].tolist() == [by_id[0], by_id[2], by_id[1]]


@pytest.mark.parametrize("suffix", ["graphml", "gexf", "gml"])
def test_attributes_of_nodes_keep_their_types(tmp_path: Path, suffix: str) -> None:
    graph = nx.path_graph(3)
    values: dict[str, list[Any]] = {"club": ["x", "y", "x"], "age": [3, 4, 5], "size": [0.5, 1.5, 2.5]}
    for name, column in values.items():
        nx.set_node_attributes(graph, dict(enumerate(column)), name)
    graph.nodes[1]["rare"] = 7
    path = tmp_path / f"a.{suffix}"
    getattr(nx, f"write_{suffix}")(graph, path)
    attributes = read(path).attributes
    assert {name: attributes[name].tolist() for name in values} == values
    assert [attributes[name].dtype.kind for name in values] == ["O", "i", "f"]
    assert attributes["rare"].tolist() == [None, 7, None]
