"""Pajek networks against NetworkX and igraph, which write them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import igraph
import networkx as nx
import pytest
from hypothesis import given

from graph_writers import AWKWARD, edges_of, networkx_graphs, same_graph
from graphrefine.errors import FormatError
from graphrefine.readers.read import read
from strategies import PATIENT

NAMES = AWKWARD.filter(lambda name: '"' not in name and "&#" not in name and name.isprintable())  # it has no escapes


@PATIENT
@given(graph=networkx_graphs(names=NAMES))
def test_files_of_networkx_come_back(tmp_path: Path, graph: Any) -> None:
    nx.write_pajek(graph, tmp_path / "a.net")
    same_graph(read(tmp_path / "a.net"), graph)


@PATIENT
@given(graph=networkx_graphs(ints=False))
def test_files_of_igraph_come_back(tmp_path: Path, graph: Any) -> None:
    held = igraph.Graph.from_networkx(graph)
    held.vs["name"] = held.vs["_nx_name"]
    held.write_pajek(str(tmp_path / "a.net"))
    same_graph(read(tmp_path / "a.net"), graph)


FRIENDS = """%  a comment
*Network friends
*Vertices 5
1 "Ann  B." 0.1 0.2 0.3 ic Red
3 bob 0.5
2 "\u00e9 &#8364;"
*Edges
1 2 2.5
*Arcs :1 "likes"
2 3 4 c Blue
*Arcs :2 "knows"
3 1
*Arcslist
4 1 2
*Edgeslist
5 3
"""


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "a.net"
    path.write_text(text, encoding="utf-8")
    return path


def test_all_sections(tmp_path: Path) -> None:
    graph = read(write(tmp_path, FRIENDS))
    assert graph.names.tolist() == [1, 2, 3, 4, 5]  # as two have no label
    assert graph.directed
    weights = {("1", "2"): 2.5, ("2", "1"): 2.5, ("2", "3"): 4, ("3", "1"): 1}
    lists = dict.fromkeys([("4", "1"), ("4", "2"), ("5", "3"), ("3", "5")], 1)
    assert edges_of(graph) == weights | lists
    assert graph.attributes["label"].tolist() == ["Ann  B.", "\u00e9 \u20ac", "bob", None, None]
    assert graph.attributes["x"].tolist() == [0.1, None, 0.5, None, None]
    for remark in ("nodes named by id, as the node '4' has no 'label'", "edges of 2 relations are read as one graph"):
        assert remark in graph.reading
    assert read(write(tmp_path, FRIENDS), weights=False).weights is None


def test_vertices_without_lines(tmp_path: Path) -> None:
    graph = read(write(tmp_path, "*Vertices 4\r\n*Edges\r\n1 2\r\n"))
    assert (graph.names.tolist(), graph.isolated, graph.directed) == ([1, 2, 3, 4], 2, False)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("1 2\n", "^, line 1: a Pajek network begins with"),
        ("*Network x\n", "^: a Pajek network begins with"),
        ("*Vertices\n", "^, line 1: .Vertices must be followed by the number"),
        ("*Vertices 10000000000\n*Edges\n1 2\n", "^, line 1: the line promises 10,000,000,000 vertices, and the file"),
        ("*Vertices 2000000\n*Edges\n1 2\n", "^, line 1: the line promises 2,000,000 vertices, and the file"),
        ("*Vertices 2\n*Vertices 3\n", "^, line 2: a second network begins here"),
        ("*Vertices 2\n3 x\n", "^, line 2: '3' is not the number of a vertex, from 1 to 2"),
        ("*Vertices 2\n1 x\n1 y\n", "^, line 3: the node '1' is declared twice"),
        ("*Edges\n1 2\n", "^, line 1: .edges comes before .Vertices"),
        ("*Vertices 2\n*Edges\n1\n", "^, line 3: an edge needs two vertices"),
        ("*Vertices 2\n*Edges\n1 x\n", "^, line 3: 'x' is not the number of a vertex"),
        ("*Vertices 2\n*Edges\n1 2 x\n", "^, line 3: weight 'x' is not a number"),
        ("*Vertices 2\n*Edges\n1 2 -1\n", "^, line 3: weight '-1' is negative"),
        ("*Vertices 2\n*Matrix\n0 1\n", "^, line 2: the section '.matrix' is not read; those of a network are"),
        ("*Vertices 2\n*Edges\n", "there is no edge in the file"),
    ],
)
def test_bad_files(tmp_path: Path, text: str, problem: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(FormatError) as caught:
        read(path)
    assert re.search(problem, str(caught.value).removeprefix(str(path))), caught.value
