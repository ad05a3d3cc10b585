"""GraphML and GEXF against NetworkX and igraph, which write them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from format_writers import edges_of, same_graph

from graphrefine.errors import FormatError, InputError
from graphrefine.readers.read import read


def graphml(edges: str, *, default: str = "undirected", keys: str = "") -> str:
    nodes = '<node id="a"/><node id="b"/><node id="c"/>'
    return f'<graphml>{keys}<graph edgedefault="{default}">{nodes}{edges}</graph></graphml>'


def write(tmp_path: Path, text: str, name: str = "a.graphml") -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_mix_of_directions_is_directed_and_said(tmp_path: Path) -> None:
    mix = '<edge source="a" target="b"/><edge source="b" target="c" directed="false"/>'
    path = write(tmp_path, graphml(mix, default="directed"))
    graph = read(path)
    assert graph.directed
    assert sorted(edges_of(graph)) == [("a", "b"), ("b", "c"), ("c", "b")]
    assert "undirected edges among directed ones, which count in both directions: 1" in graph.reading
    assert "directed, as the graph says" in graph.reading
    plain = read(path, directed=False)
    assert (plain.directed, plain.edges, plain.report["reciprocal"]) == (False, 2, 0)
    assert "notes" not in plain.report
    path = write(tmp_path, graphml('<edge source="a" target="b"/>'))
    assert not read(path).directed
    assert sorted(edges_of(read(path, directed=True))) == [("a", "b"), ("b", "a")]


def test_defaults_are_of_nodes_that_are_declared(tmp_path: Path) -> None:
    key = '<key id="d{}" for="{}" attr.name="{}" attr.type="int"><default>{}</default></key>'
    keys = key.format(0, "node", "age", 7) + key.format(1, "edge", "weight", 2)
    edges = '<edge source="a" target="b"/><edge source="b" target="z"><data key="d1">5</data></edge>'
    text = graphml(edges, keys=keys).replace('<node id="b"/>', '<node id="b"><data key="d0">9</data></node>')
    graph = read(write(tmp_path, text))
    assert graph.attributes["age"].tolist() == [7, 9, 7, None]
    assert (edges_of(graph)["a", "b"], edges_of(graph)["b", "z"]) == (2, 5)


def test_graphics_and_nested_graphs(tmp_path: Path) -> None:
    text = """<graphml xmlns:y="yed"><key id="g" for="node" yfiles.type="nodegraphics"/>
    <key id="n" for="node" attr.name="nick" attr.type="string"/>
    <graph edgedefault="directed"><node id="a"><data key="g"><y:ShapeNode><y:node id="no"/>text</y:ShapeNode></data>
    <data key="n"> A </data><port name="p"><data key="n">port</data></port>
    <graph edgedefault="undirected"><node id="a::b"/><node id="a::c"/><edge source="a::b" target="a::c"/></graph></node>
    <node id="d"/><edge source="a" target="d"/></graph></graphml>"""
    graph = read(write(tmp_path, text))
    assert graph.names.tolist() == ["a", "a::b", "a::c", "d"]
    assert sorted(edges_of(graph)) == [("a", "d"), ("a::b", "a::c"), ("a::c", "a::b")]
    assert {name: column.tolist() for name, column in graph.attributes.items()} == {"nick": [" A ", None, None, None]}


GEXF = """<gexf xmlns="http://www.gexf.net/1.2draft" xmlns:viz="http://www.gexf.net/1.2draft/viz" version="1.2">
<graph defaultedgetype="directed" mode="static">
  <attributes class="node"><attribute id="0" title="age" type="integer"><default>9</default></attribute></attributes>
  <attributes class="edge"><attribute id="0" title="cost" type="double"/></attributes>
  <nodes><node id="n1" label="Ann"><viz:size value="2"/><attvalues><attvalue for="0" value="3"/></attvalues>
    <nodes><node id="n2" label="Bob"/></nodes></node><node id="n3" label="Cy"/></nodes>
  <edges><edge id="0" source="n1" target="n2" weight="2.5"><attvalues><attvalue for="0" value="7"/></attvalues></edge>
    <edge id="1" source="n2" target="n3" type="mutual"{extra}/></edges>
</graph></gexf>"""


def test_gexf_with_all_that_it_has(tmp_path: Path) -> None:
    path = write(tmp_path, GEXF.format(extra=""), "a.gexf")
    graph = read(path)
    assert graph.names.tolist() == ["n1", "n2", "n3"]
    assert edges_of(graph) == {("n1", "n2"): 2.5, ("n2", "n3"): 1, ("n3", "n2"): 1}
    assert graph.attributes["age"].tolist() == [3, 9, 9]
    assert graph.report["ignored_columns"] == ["cost"]
    assert read(path, names="label").names.tolist() == ["Ann", "Bob", "Cy"]
    assert edges_of(read(path, weights="cost"))["n1", "n2"] == 7
    assert "times of nodes and edges are not used" not in graph.reading
    timed = read(write(tmp_path, GEXF.format(extra=' start="2009"'), "a.gexf"))
    assert "times of nodes and edges are not used" in timed.reading


def test_the_root_decides_not_the_suffix(tmp_path: Path) -> None:
    graph = nx.path_graph(4)
    nx.write_gexf(graph, tmp_path / "a.graphml")
    nx.write_graphml(graph, tmp_path / "a.gexf")
    nx.write_gexf(graph, tmp_path / "a.xml")
    nx.write_graphml(graph, tmp_path / "a.txt")
    for name, format in {"a.graphml": "gexf", "a.gexf": "graphml", "a.xml": "gexf", "a.txt": "graphml"}.items():
        same_graph(read(tmp_path / name), graph)
        assert read(tmp_path / name).report["format"] == format
    with pytest.raises(FormatError, match=r"format='graphml', and the content is gexf; .* pass format='gexf'"):
        read(tmp_path / "a.graphml", format="graphml")


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"names": "nick"}, r"names='nick': no node has this attribute; the attributes are 'id', 'rare', 'age'"),
        ({"names": "age"}, "names='age': 'age' of the nodes 'a' and 'b' is 3"),
        ({"names": "rare"}, "names='rare': the node 'b' has no 'rare'"),
        ({"weights": 2}, "weights=2: attributes have names"),
        ({"weights": "cost"}, "no edge has the attribute 'cost'; edges have none"),
    ],
)
def test_options_that_the_file_does_not_answer(tmp_path: Path, options: dict[str, Any], problem: str) -> None:
    age = '<key id="k" for="node" attr.name="age" attr.type="int"><default>3</default></key>'
    text = graphml('<edge source="a" target="b"/>', keys=age + '<key id="r" attr.name="rare"/>')
    path = write(tmp_path, text.replace('<node id="a"/>', '<node id="a"><data key="r">x</data></node>'))
    with pytest.raises(InputError, match=problem) as caught:
        read(path, **options)
    assert caught.value.argument == next(iter(options))
