"""A graph as people use it: neighbors, subgraphs, other packages, files that are read back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import networkx as nx
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import graphrefine
from graphrefine import Graph, read
from graphrefine.errors import ArgumentWarning, InputError, OutputError

ROADS = [("ann", "bob", 2.0), ("bob", "cy", 5.0), ("cy", "ann", 1.5), ("dan", "cy", 4.0)]
PEOPLE = read(ROADS)
ARCS = read(ROADS, directed=True)
TASTES = [("ann", "tea", 2.0), ("bob", "tea", 3.0), ("bob", "ann", 1.0)]  # 'ann' is a cake too
SIDES = read(TASTES, bipartite=True)


def same(one: Graph, other: Graph) -> bool:
    parts = ("weights", "names", "indptr", "indices", "directed", "sources")
    return all(np.array_equal(getattr(one, part), getattr(other, part)) for part in parts)


def test_neighbors_have_weights() -> None:
    assert PEOPLE.neighbors("cy") == {"ann": 1.5, "bob": 5.0, "dan": 4.0}
    assert ARCS.neighbors("cy") == {"ann": 1.5} and ARCS.neighbors("cy", direction="in") == {"bob": 5.0, "dan": 4.0}
    assert ARCS.neighbors("dan", direction="in") == {} and read([(1, 2)]).neighbors(2) == {1: 1.0}
    assert SIDES.neighbors("ann", side="source") == {"tea": 2.0}
    assert SIDES.neighbors("ann", side="target") == {"bob": 1.0}
    assert SIDES.neighbors("tea") == {"ann": 2.0, "bob": 3.0}
    assert "cy" in PEOPLE and "x" not in PEOPLE and PEOPLE.index("cy") == 2
    with pytest.raises(KeyError, match="no node is called 'bop'; similar names: bob"):
        PEOPLE.neighbors("bop")
    with pytest.raises(InputError, match="'ann' is a name on both sides"):
        SIDES.neighbors("ann")
    with pytest.raises(InputError, match="direction='both' is not known"):
        ARCS.neighbors("cy", direction="both")  # type: ignore[arg-type]


@pytest.mark.parametrize("directed", [False, True])
def test_subgraphs_are_those_of_networkx(directed: bool) -> None:
    other = nx.gnm_random_graph(60, 300, seed=1, directed=directed)
    for u, v in other.edges:
        other.edges[u, v]["weight"] = float(1 + (u * 7 + v) % 5)
    some = [5, 40, 17, *range(20, 45)]
    part = read(other).subgraph(dict.fromkeys(some))
    expected = nx.to_scipy_sparse_array(other, nodelist=sorted(set(some)), weight="weight")
    assert part.names.tolist() == sorted(set(some)) and (part.to_scipy() != expected).nnz == 0
    assert part.directed == directed and "27 of 60 nodes" in part.reading
    assert graphrefine.embed(part, dim=4).shape == (27, 4)


def test_subgraphs_keep_sides_and_attributes(tmp_path: Path) -> None:
    part = SIDES.subgraph(["ann", "tea"])
    assert part.names.tolist() == ["ann", "ann", "tea"] and part.sources == 1 and part.edges == 1
    club = read(nx.karate_club_graph())
    assert club.subgraph([33, 0]).attributes["club"].tolist() == ["Mr. Hi", "Officer"]
    assert not club.subgraph([0, 1]).weighted or club.subgraph([0, 1]).weights is not None
    PEOPLE.save(tmp_path / "g.grf")
    assert same(read(tmp_path / "g.grf").subgraph(["ann", "cy"]), PEOPLE.subgraph(["ann", "cy"]))
    assert PEOPLE.subgraph([]).nodes == 0
    with pytest.raises(KeyError, match=r"'x'.*1 of 2 names are unknown"):
        PEOPLE.subgraph(["ann", "x"])
    with pytest.raises(InputError, match="'ann' is one name; give a list"):
        PEOPLE.subgraph("ann")


def test_networkx_and_back() -> None:
    for graph in (PEOPLE, ARCS, read([(1, 2), (2, 3)])):
        other = graph.to_networkx()
        assert other.is_directed() == graph.directed and same(read(other), graph)
    club = nx.karate_club_graph()
    back = read(club).to_networkx()
    assert dict(back.nodes(data="club")) == dict(club.nodes(data="club"))
    assert all(back.edges[u, v]["weight"] == weight for u, v, weight in club.edges(data="weight"))
    assert back.number_of_edges() == club.number_of_edges()
    sides = read([("ann", "tea"), ("bob", "tea")], bipartite=True)
    other = sides.to_networkx()
    assert dict(other.nodes(data="bipartite")) == {"ann": 0, "bob": 0, "tea": 1} and nx.bipartite.is_bipartite(other)
    assert same(read(other, bipartite=True), sides)
    with pytest.raises(InputError, match="'ann' is a name on both sides"):
        SIDES.to_networkx()


def test_edges_and_nodes_as_tables() -> None:
    rows = [("ann", "bob", 2.0), ("ann", "cy", 1.5), ("bob", "cy", 5.0), ("cy", "dan", 4.0)]
    graph = PEOPLE
    assert pl.DataFrame(graph).rows() == rows and pa.table(graph).equals(graph.to_arrow())
    assert duckdb.sql("select * from graph where weight > 2").fetchall() == rows[2:]
    assert {tuple(row.values()) for row in ARCS.to_arrow().to_pylist()} == {*ROADS}
    assert {tuple(row.values()) for row in SIDES.to_arrow().to_pylist()} == {*TASTES}
    assert same(read(PEOPLE.to_arrow()), PEOPLE) and same(read(SIDES.to_arrow(), bipartite=True), SIDES)
    assert read([(1, 2)]).to_arrow().to_pydict() == {"source": [1], "target": [2]}
    club = read(nx.karate_club_graph())
    table = club.node_table()
    assert list(table.columns) == ["node", "degree", "club"] and table["club"].tolist()[33] == "Officer"
    assert table["degree"].tolist() == [degree for _, degree in nx.karate_club_graph().degree()]
    assert SIDES.node_table()["side"].tolist() == ["source", "source", "target", "target"]
    other = nx.Graph([(1, 2)])
    nx.set_node_attributes(other, {1: {"age": 5, "degree": "phd"}})
    table = read(other).node_table()
    assert list(table.columns) == ["node", "degree", "age", "attribute degree"]
    np.testing.assert_array_equal(table["age"], [5, np.nan])


SUFFIXES = [".grf", ".csv", ".tsv", ".parquet", ".arrow"]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_files_are_read_back(tmp_path: Path, suffix: str) -> None:
    lonely = read({"a": ["b"], "c": [], 'odd, "name"': ["ünï"], "z": []})
    numbers = Graph.from_edges([0, 5], [5, 2], [0.1, 3.0], names=range(7))
    lonely_sides = read(csr_array(np.array([[1, 0, 0], [0, 0, 0]])), bipartite=True)
    cases: list[tuple[Graph, dict[str, Any]]] = [
        (PEOPLE, {}), (ARCS, {"directed": True}), (SIDES, {"bipartite": True}), (lonely, {}), (numbers, {}),
        (lonely_sides, {"bipartite": True}), (read([("new york", "new town"), ("new town", "#1")]), {}),
    ]  # fmt: skip
    for number, (graph, options) in enumerate(cases):
        path = tmp_path / f"{number}{suffix}"
        if suffix == ".tsv" and graph.isolated:
            with pytest.raises(InputError, match=r"nodes without edges, such as .* save as \.csv"):
                graph.save(path)
        else:
            graph.save(path)
            assert same(read(path, **({} if suffix == ".grf" else options)), graph), (number, path)


LETTERS = st.characters(codec="utf-8", exclude_characters="\n\r\x00", exclude_categories=["Cs"])
NAME = st.text(LETTERS, min_size=1, max_size=6)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(edges=st.lists(st.tuples(NAME, NAME), min_size=1, max_size=8), weighted=st.booleans())
def test_any_names_come_back_from_parquet(tmp_path: Path, edges: list[tuple[str, str]], weighted: bool) -> None:
    sources, targets = zip(*edges, strict=True)
    graph = Graph.from_edges(sources, targets, np.arange(len(edges)) + 0.5 if weighted else None)
    if not graph.edges:
        with pytest.raises(InputError, match=r"the graph has no edges.*\.grf"):
            graph.save(tmp_path / "g.parquet")
        return
    graph.save(tmp_path / "g.parquet")
    assert same(read(tmp_path / "g.parquet"), graph)


def test_what_a_file_cannot_hold_and_where_none_can_be_is_told(tmp_path: Path) -> None:
    club = read(nx.karate_club_graph())
    for suffix in SUFFIXES:
        with pytest.warns(ArgumentWarning, match=r"are not in the file: club; graph\.node_table\(\)") as caught:
            club.save(tmp_path / f"club{suffix}")
        assert caught[0].filename == __file__
    digits = Graph.from_edges(["1", "2"], ["2", "3"])
    with pytest.warns(ArgumentWarning, match="names such as '1' are digits, and come back as integers"):
        digits.save(tmp_path / "digits.csv")
    digits.save(tmp_path / "digits.parquet")
    assert read(tmp_path / "digits.parquet").names.tolist() == ["1", "2", "3"]
    with pytest.raises(InputError, match=r"'\.graphml'; it can be \.grf, \.csv"):
        PEOPLE.save(tmp_path / "g.graphml")
    with pytest.raises(OutputError):
        PEOPLE.save(tmp_path / "nowhere" / "g.csv")
