"""Graphs in JSON against NetworkX, which writes some of the shapes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import networkx as nx
import pandas as pd
import pytest
from format_writers import edges_of

from graphrefine.errors import FormatError
from graphrefine.readers.read import read


def write(tmp_path: Path, document: Any, name: str = "a.json") -> Path:
    path = tmp_path / name
    path.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
    return path


def test_names_have_the_types_of_json(tmp_path: Path) -> None:
    graph = nx.Graph([("1", "2"), ((1, 2), "x")])
    names = read(write(tmp_path, nx.node_link_data(graph, edges="links"))).names.tolist()
    assert names == ["1", "2", "x", (1, 2)]  # an array of JSON is a tuple, as it was
    with pytest.raises(FormatError, match="the names 1 and '1' are both written '1'"):
        read(write(tmp_path, nx.node_link_data(nx.Graph([(1, "1")]), edges="links")))


def test_parallel_edges_add_up(tmp_path: Path) -> None:
    graph = nx.MultiGraph([("a", "b", {"weight": 2}), ("b", "a", {"weight": 3}), ("b", "c")])
    held = read(write(tmp_path, nx.node_link_data(graph, edges="links")))
    assert held.report["records"] == 3
    assert edges_of(held)["b", "c"] == 1
    assert "edges without 'weight', which count 1: 1" in held.reading
    assert "not used: 'key'" in held.reading


def test_attributes_and_names(tmp_path: Path) -> None:
    graph = nx.Graph([(10, 20, {"kind": "x", "cost": 3})])
    graph.nodes[10].update(nick="ann", age=3, note=None)
    graph.nodes[20].update(nick="bob", age=4.5)
    path = write(tmp_path, nx.node_link_data(graph, edges="links"))
    held = read(path)
    assert {name: column.tolist() for name, column in held.attributes.items()} == {
        "nick": ["ann", "bob"],
        "age": [3.0, 4.5],
    }
    assert held.report["columns"] == ["source", "target"]
    assert held.report["ignored_columns"] == ["kind", "cost"]
    named = read(path, names="nick", weights="cost")
    assert (named.names.tolist(), named.attributes["id"].tolist()) == (["ann", "bob"], [10, 20])
    assert edges_of(named)["ann", "bob"] == 3
    with pytest.raises(FormatError, match="there is no column 'price'; the columns are"):
        read(path, weights="price")


MISERABLES = {
    "nodes": [{"name": "Myriel", "group": 1}, {"name": "Napoleon", "group": 1}, {"name": "Valjean", "group": 2}],
    "links": [{"source": 1, "target": 0, "value": 8}, {"source": 2, "target": 0, "value": 10}],
}


def test_ends_of_d3_are_positions_or_ids(tmp_path: Path) -> None:
    graph = read(write(tmp_path, MISERABLES), weights="value")
    assert not graph.directed and "direction" not in graph.report, "the file does not say"
    assert edges_of(graph)["Napoleon", "Myriel"] == 8
    assert graph.attributes["group"].tolist() == [1, 1, 2]
    assert "ends of edges are positions in the list of nodes" in graph.reading
    assert "not used: 'value'" in read(write(tmp_path, MISERABLES)).reading
    by_name = MISERABLES | {"links": [{"from": "Napoleon", "to": "Valjean"}]}
    assert sorted(edges_of(read(write(tmp_path, by_name)))) == [("Napoleon", "Valjean"), ("Valjean", "Napoleon")]
    twins = {"nodes": [{"name": "x"}, {"name": "x"}], "links": [{"source": 0, "target": 1}]}
    assert read(write(tmp_path, twins)).names.tolist() == [0, 1]
    ids_and_positions = {"nodes": [{"id": 1}, {"id": 2}], "links": [{"source": 0, "target": 1}]}
    with pytest.raises(FormatError, match="an edge names the node 0, which is no id; is it a position"):
        read(write(tmp_path, ids_and_positions))


def test_other_shapes(tmp_path: Path) -> None:
    edges = {("a", "b"): 2.0, ("b", "a"): 2.0}
    record = {"source": "a", "target": "b", "weight": 2}
    keyed = {"key": "e", "source": "a", "target": "b", "attributes": {"weight": 2}}
    jgf = {"nodes": {"a": {"label": "A"}, "b": {}}, "edges": [record]}
    shapes: list[Any] = [
        [record],
        [["a", "b", 2]],
        {"edges": [record]},
        {"graph": {"directed": False, **jgf}},
        {"nodes": ["a", "b"], "edges": [record]},
        {"nodes": [{"key": "a", "attributes": {"x": 1}}, {"key": "b"}], "edges": [keyed]},
        [{"data": {"id": "a"}}, {"data": {"id": "b"}}, {"group": "edges", "data": record}],
    ]
    for shape in shapes:
        assert edges_of(read(write(tmp_path, shape))) == edges, shape
    assert edges_of(read(write(tmp_path, {"graph": {"directed": True, **jgf}}))) == {("a", "b"): 2.0}
    assert read(write(tmp_path, shapes[0], "a.txt")).report["format"] == "json"


def test_json_lines(tmp_path: Path) -> None:
    table = pd.DataFrame({"when": [5, 6], "from": ["a", "b"], "to": ["b", "é"], "weight": [0.5, 2]})
    table.to_json(tmp_path / "a.jsonl", orient="records", lines=True)
    graph = read(tmp_path / "a.jsonl")
    assert edges_of(graph) == edges_of(read(table))
    assert graph.report["columns"] == ["from", "to"]
    assert graph.report["weight_column"] == "weight"
    assert graph.report["ignored_columns"] == ["when"]
    assert edges_of(read(tmp_path / "a.jsonl", weights="when", source="to", target="from"))["b", "a"] == 5
    (tmp_path / "a.json").write_bytes((tmp_path / "a.jsonl").read_bytes())
    assert read(tmp_path / "a.json").report["format"] == "jsonl"
    graph = read(write(tmp_path, '["a", "b"]\n\n["b", "c"]\n', "b.ndjson"), bipartite=True)
    assert graph.names.tolist() == ["a", "b", "b", "c"]
    rare = '{"u": 1, "v": 2}\n{"u": 2, "v": null}\n{"v": 4, "u": 3.0, "note": "x"}\n'
    graph = read(write(tmp_path, rare, "c.jsonl"))
    assert (graph.names.tolist(), graph.report["missing"]) == ([1, 2, 3, 4], 1)


NODE = '{"type":"node","id":"0","labels":["P"]}\n'
APOC = NODE + '{"type":"relationship","label":"KNOWS","start":{"id":"0","labels":["P"]},"end":{"id":"1"}}\n'


@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
@pytest.mark.parametrize("text", [APOC, '{"source": 1, "target": 2}\n{"source": [1], "target": 2}\n'])
def test_ends_that_are_objects_or_arrays_are_refused(name: str, text: str, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"record 2: ids must be integers or strings.*source= and target= name other"):
        read(write(tmp_path, text, name))
