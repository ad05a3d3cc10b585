"""Pajek networks against NetworkX and igraph, which write them."""

from __future__ import annotations

from pathlib import Path

from format_writers import edges_of

from graphrefine.readers.read import read

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
