"""Graphs of NetworkX with awkward names, and what they hold, to compare with what is read from their files."""

from __future__ import annotations

from typing import Any

import networkx as nx
from hypothesis import strategies as st

from graphrefine.graph.graph import Graph
from graphs import check
from strategies import WEIGHTS

AWKWARD = st.text(
    st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp"), exclude_characters="\ufffe\uffff\x85"), min_size=1
).map(str.strip).filter(bool) | st.sampled_from(['a "b" c', "it's", "<&>", "a  b", "é ü", "7", "007", "{}", "]", "#x"])


@st.composite
def networkx_graphs(draw: st.DrawFn, *, names: st.SearchStrategy[str] = AWKWARD, ints: bool = True) -> Any:
    """Directed or not, weighted or not, with self-loops and isolated nodes; names are integers or odd strings."""
    numbers = ints and draw(st.booleans())
    some: st.SearchStrategy[Any] = st.integers(-5, 99) if numbers else names
    nodes = draw(st.lists(some, min_size=2, max_size=7, unique=True))
    graph = nx.DiGraph() if draw(st.booleans()) else nx.Graph()
    graph.add_nodes_from(nodes)
    graph.add_edge(nodes[0], nodes[1])
    graph.add_edges_from(draw(st.lists(st.tuples(st.sampled_from(nodes), st.sampled_from(nodes)), max_size=12)))
    if draw(st.booleans()):
        for edge in graph.edges:
            graph.edges[edge]["weight"] = draw(WEIGHTS)
    return graph


def edges_of(graph: Graph) -> dict[tuple[str, str], float]:
    """The entries of a graph, by the names of their ends."""
    check(graph)
    entries = graph.to_scipy().tocoo()
    names = [str(name) for name in graph.names.tolist()]
    ends = zip(entries.coords[0].tolist(), entries.coords[1].tolist(), entries.data.tolist(), strict=True)
    return {(names[u], names[v]): weight for u, v, weight in ends}


def edges_of_networkx(graph: Any) -> dict[tuple[str, str], float]:
    """The same of a NetworkX graph, less its self-loops, as float32 holds the weights."""
    both = graph if graph.is_directed() else graph.to_directed()
    as_float32 = Graph.from_edges
    edges = [(str(u), str(v), data.get("weight", 1.0)) for u, v, data in both.edges(data=True) if u != v]
    held = as_float32(*(list(each) for each in zip(*edges, strict=True)), directed=True)
    return edges_of(held)


def same_graph(graph: Graph, oracle: Any) -> None:
    """The graph that was read is the one that NetworkX holds: names, edges, weights and direction."""
    assert sorted(str(name) for name in graph.names.tolist()) == sorted(map(str, oracle.nodes))
    assert graph.directed == oracle.is_directed()
    assert graph.report["direction"] == "declared"
    assert edges_of(graph) == edges_of_networkx(oracle)
