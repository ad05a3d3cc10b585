"""Graphs of NetworkX, igraph, rustworkx and NetworKit, by the real packages."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import igraph
import networkx
import pytest
import rustworkx
from graph_views import dense, entries_of
from hypothesis import given
from hypothesis import strategies as st

from graphrefine.errors import InputError
from graphrefine.readers.read import read
from graphs import check
from strategies import PATIENT, Edge, edge_lists

networkit: Any = import_module("networkit")  # which has no types


@PATIENT
@given(edge_lists(), st.booleans())
def test_every_library_gives_the_graph_that_networkx_adds_up(edges: list[Edge], directed: bool) -> None:
    multi = networkx.MultiDiGraph() if directed else networkx.MultiGraph()
    multi.add_weighted_edges_from(edges)
    expected: dict[tuple[str, str], float] = {}
    for u, v, weight in multi.edges(data="weight"):
        if u != v:
            for pair in {(u, v)} if directed else {(u, v), (v, u)}:
                expected[pair] = expected.get(pair, 0.0) + weight
    place = {node: at for at, node in enumerate(multi.nodes)}
    ends = [(place[u], place[v]) for u, v, _ in edges]
    weights = [weight for _, _, weight in edges]
    named = igraph.Graph(len(place), ends, directed=directed, edge_attrs={"weight": weights})
    named.vs["name"] = list(place)
    rusty = rustworkx.PyDiGraph() if directed else rustworkx.PyGraph()
    rusty.add_nodes_from(list(place))
    rusty.add_edges_from([(u, v, weight) for (u, v), weight in zip(ends, weights, strict=True)])
    for graph in (multi, named, rusty):
        result = read(graph)
        assert result.directed is directed
        assert result.names.tolist() == sorted(place)
        assert entries_of(result) == pytest.approx(expected)
        assert result.report["direction"] == "declared"


def make_networkit(*, directed: bool) -> Any:
    graph = networkit.Graph(3, directed=directed)
    graph.addEdge(0, 1)
    graph.addEdge(1, 2)
    return graph


@pytest.mark.parametrize(
    ("one_way", "both_ways"),
    [
        (networkx.DiGraph([(0, 1), (1, 2)]), networkx.Graph([(0, 1), (1, 2)])),
        (igraph.Graph([(0, 1), (1, 2)], directed=True), igraph.Graph([(0, 1), (1, 2)])),
        (rustworkx.generators.directed_path_graph(3), rustworkx.generators.path_graph(3)),
        (make_networkit(directed=True), make_networkit(directed=False)),
    ],
    ids=["networkx", "igraph", "rustworkx", "networkit"],
)
def test_the_direction_is_the_one_that_the_graph_declares(one_way: Any, both_ways: Any) -> None:
    arcs, edges = [[0, 1, 0], [0, 0, 1], [0, 0, 0]], [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    assert dense(read(one_way)) == arcs and read(one_way).report["direction"] == "declared"
    assert dense(read(one_way, directed=False)) == dense(read(both_ways)) == edges
    assert read(both_ways).directed is False
    assert dense(read(both_ways, directed=True)) == edges and read(both_ways, directed=True).directed


def test_parallel_edges_are_told() -> None:
    graph = networkx.MultiGraph()
    graph.add_weighted_edges_from([(0, 1, 2.0), (1, 0, 3.0), (1, 2, 1.0)])
    result = read(graph)
    assert result.report["duplicates"] == 1
    assert "parallel edges are one, with the sum of their weights" in result.reading
    assert "parallel" not in read(networkx.path_graph(3)).reading


def test_attributes_of_the_nodes_stay_with_their_rows() -> None:
    club = networkx.karate_club_graph()
    graph = read(club)
    assert graph.attributes["club"].tolist() == [club.nodes[node]["club"] for node in graph.names.tolist()]
    mixed = networkx.Graph([("b", "a")])
    mixed.nodes["b"]["size"] = 3
    assert read(mixed).attributes["size"].tolist() == [None, 3]
    assert read(mixed, nodes=["aa"]).attributes["size"].tolist() == [None, None, 3]
    named = igraph.Graph([(0, 1)], vertex_attrs={"name": ["z", "y"], "size": [1, 2]})
    assert {key: column.tolist() for key, column in read(named).attributes.items()} == {"size": [2, 1]}


def test_names_can_be_an_attribute() -> None:
    club = networkx.karate_club_graph()
    networkx.set_node_attributes(club, {node: f"p{33 - node:02}" for node in club}, "nick")
    graph = read(club, names="nick")
    assert graph.names.tolist() == [f"p{at:02}" for at in range(34)]
    assert entries_of(graph)["p33", "p32"] == club.edges[0, 1]["weight"]
    keyed = read(igraph.Graph([(0, 1)], vertex_attrs={"name": ["a", "a"], "key": [9, 7]}), names="key")
    assert entries_of(keyed) == {(9, 7): 1, (7, 9): 1} and keyed.attributes["name"].tolist() == ["a", "a"]
    assert read(igraph.Graph([(2, 0)])).names.tolist() == [0, 1, 2]


def sides(*edges: tuple[str, str]) -> Any:
    graph = networkx.Graph(edges)
    networkx.set_node_attributes(graph, {"ann": 0, "bob": 0, "tea": 1}, "bipartite")
    return graph


def heavy(payload: Any) -> Any:
    graph = rustworkx.PyGraph()
    graph.add_nodes_from(["a", "b"])
    graph.add_edge(0, 1, payload)
    return graph


@pytest.mark.parametrize(
    ("graph", "options", "problem"),
    [
        (networkx.karate_club_graph(), {"names": "club"}, r"two nodes are called 'Mr\. Hi', by names='club'"),
        (networkx.karate_club_graph(), {"names": "age"}, r"no node has that attribute; the attributes are \['club'"),
        (networkx.Graph(sides(("ann", "odd"))), {"names": "bipartite"}, "a node's name is missing"),
        (igraph.Graph([(0, 1)], vertex_attrs={"name": ["a", "a"]}), {}, "two nodes are called 'a'; names= can name"),
        (networkx.Graph([(0, 1, {"weight": "heavy"})]), {}, "weights must be numbers, not 'heavy'; weights=False"),
        (networkx.Graph([(0, 1, {"size": 4})]), {"weights": "cost"}, r"'cost'; the attributes are \['size'\]"),
        (heavy({"size": 4}), {"weights": "cost"}, r"no edge has the attribute 'cost'; the attributes are \['size'\]"),
        (heavy(4), {"weights": "cost"}, "the edges hold single values"),
        (make_networkit(directed=True), {"weights": "cost"}, "a NetworKit graph has one weight for each edge"),
        (sides(("ann", "tea"), ("ann", "bob")), {"bipartite": True}, "joins two nodes of one side"),
        (sides(("ann", "tea"), ("ann", "odd")), {"bipartite": True}, "that of the node 'odd' is None"),
        (networkx.path_graph(3), {"bipartite": True}, r"bipartite=True needs the side of each node, 0 or 1"),
    ],
)
def test_graphs_that_are_refused(graph: Any, options: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        read(graph, **options)


def test_the_sides_of_a_bipartite_graph_are_an_attribute() -> None:
    graph = networkx.Graph()
    graph.add_nodes_from([("tea", {"bipartite": 1, "price": 3}), ("ann", {"bipartite": 0}), ("bob", {"bipartite": 0})])
    graph.add_node("cake", bipartite=1)
    graph.add_edge("tea", "ann", weight=2)
    result = read(graph, bipartite=True)
    check(result)
    assert (result.names.tolist(), result.sources) == (["ann", "bob", "cake", "tea"], 2)
    assert entries_of(result) == {("ann", "tea"): 2, ("tea", "ann"): 2}
    assert result.attributes["price"].tolist() == [None, None, None, 3]
    assert "bipartite=True would read the nodes' attribute 'bipartite' as two sides" in read(graph).reading
    kinds = igraph.Graph.Full_Bipartite(2, 3)  # with the attribute type
    assert (read(kinds, bipartite=True).sources, read(kinds, bipartite=True).edges) == (2, 6)


def test_rustworkx_payloads_are_names_where_they_differ() -> None:
    graph = rustworkx.PyGraph()
    graph.add_nodes_from(["c", "a", "b"])
    graph.add_edges_from([(0, 1, {"weight": 2, "size": 5}), (1, 2, {"weight": 3})])
    assert entries_of(read(graph)) == {("c", "a"): 2, ("a", "c"): 2, ("a", "b"): 3, ("b", "a"): 3}
    assert entries_of(read(graph, weights="size"))["a", "b"] == 1
    graph[2] = "a"
    same = read(graph)
    assert same.names.tolist() == [0, 1, 2]
    assert same.attributes["payload"].tolist() == ["c", "a", "a"]
    graph.remove_node(1)  # which leaves a hole in the numbers
    graph.add_edge(0, 2, "friend")
    holed = read(graph)
    assert holed.names.tolist() == ["a", "c"]
    assert holed.weights is None


def test_networkit_agrees_with_networkx_on_a_real_graph() -> None:
    numbers = networkx.convert_node_labels_to_integers(networkx.les_miserables_graph())
    kit = networkit.nxadapter.nx2nk(numbers, weightAttr="weight")
    assert entries_of(read(kit)) == entries_of(read(numbers))
    assert read(kit, weights=False).weights is None
    kit.removeNode(5)
    assert 5 not in read(kit).names
