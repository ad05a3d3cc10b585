"""Edge lists with attributes and adjacency lists, as NetworkX writes them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_writers import edges_of, edges_of_networkx, networkx_graphs
from graphrefine.errors import FormatError
from graphrefine.readers.networkx_text import is_attribute_edge_list
from graphrefine.readers.read import read
from strategies import PATIENT

PLAIN = st.text(st.characters(categories=("L", "N", "S")), min_size=1, max_size=5)  # it escapes nothing


def linked(graph: Any) -> Any:
    """The graph less the nodes that no line of an edge list has."""
    return graph.subgraph([node for node in graph if graph.degree(node)])


@PATIENT
@given(graph=networkx_graphs(names=PLAIN), delimiter=st.sampled_from([" ", ",", "\t", ";"]))
def test_edge_lists_come_back(tmp_path: Path, graph: Any, delimiter: str) -> None:
    nx.set_edge_attributes(graph, "x, {y}", "kind")
    for name in ("a.txt", "a.csv", "a.edgelist"):
        nx.write_edgelist(graph, tmp_path / name, delimiter=delimiter)
        held = read(tmp_path / name, directed=graph.is_directed())
        assert held.report["format"] == "networkx"
        assert held.report["ignored_columns"] == ["kind"]
        assert edges_of(held) == edges_of_networkx(graph)
        assert sorted(map(str, held.names.tolist())) == sorted(map(str, linked(graph)))


@PATIENT
@given(graph=networkx_graphs(names=PLAIN), delimiter=st.sampled_from([" ", ",", "\t"]))
def test_adjacency_lists_come_back(tmp_path: Path, graph: Any, delimiter: str) -> None:
    path = tmp_path / "a.adjlist"
    nx.write_multiline_adjlist(graph, path, delimiter=delimiter)
    held = read(path, directed=graph.is_directed(), delimiter=delimiter)
    assert edges_of(held) == edges_of_networkx(graph)
    assert sorted(map(str, held.names.tolist())) == sorted(map(str, graph))
    nx.write_adjlist(graph, path, delimiter=delimiter)
    plain = read(path, directed=graph.is_directed(), delimiter=delimiter)
    assert set(edges_of(plain)) == set(edges_of_networkx(graph))
    assert plain.weights is None
    assert sorted(map(str, plain.names.tolist())) == sorted(map(str, graph))
    assert "each line is a node and its neighbors" in plain.reading


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (b"0 1 {}\n1 2 {'weight': 3}\n", True),
        (b"# comment\n\n0,1,{}\n", True),
        (b"0\t1\t{'a': {'b': 1}}\r\n", True),
        (b"0 1 {}", True),
        (b"0 1 {}\n1 2\n", False),
        (b"0 1\n", False),
        (b"0 {} 1\n", False),
        (b"{} {} {}\n", False),
        (b'{"u": 1, "v": {}}\n', False),
        (b"# only {}\n", False),
    ],
)
def test_the_first_lines_tell(head: bytes, expected: bool) -> None:
    assert is_attribute_edge_list(head) is expected


def test_weights_by_another_name(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("a b {'cost': 2.5}\nb c {}\n")
    assert read(path).weights is None
    assert edges_of(read(path, weights="cost"))["a", "b"] == 2.5
    assert read(path, format="text", header=False, weights=False, source=0, target=1).edges == 2


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("a.txt", "0 1 {}\n1 2 {oops}\n" + "3 4 {}\n", r"^, line 2: '\{oops\}' is not a dictionary of attributes"),
        ("a.txt", "0 1 {}\n1 2 {__import__('os')}\n", "^, line 2: .* is not a dictionary"),
        ("a.txt", "0 1 {}\n" * 30 + "1\n", "^, line 31: two nodes and their attributes"),
        ("a.txt", "0 1 {}\n0 1 {'weight': " + "[" * 5000 + "]" * 5000 + "}\n", "^, line 2: .* is not a dictionary"),
        ("a.txt", "0 1 {}\n0 1 {'weight': " + "-" * 100_000 + "1}\n", "^, line 2: .* is not a dictionary"),
        ("a.txt", "0 1 {'weight': 'much'}\n", "^, line 1: weight 'much' is not a number"),
        ("a.txt", "0 1 {'weight': -2}\n", "^, line 1: weight -2 is negative"),
        ("a.adjlist", "a b\na c\n", "^, line 2: the node 'a' begins a second line"),
        ("a.adjlist", "a 2\nb {}\n", "^, line 1: the node 'a' has 2 neighbors, and the file ends before"),
        ("a.adjlist", "a 1\nb {}\nc\n", "^, line 3: a node and the number of its neighbors"),
        ("a.adjlist", "a 99999999\nb {}\n", "^, line 1: the node 'a' has 99999999 neighbors, and the file ends"),
        ("a.adjlist", "a\nb\n", "there is no edge in the file"),
    ],
)
def test_bad_files(tmp_path: Path, name: str, text: str, problem: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(FormatError) as caught:
        read(path)
    assert re.search(problem, str(caught.value).removeprefix(str(path))), caught.value


def test_blanks_without_end_take_no_time(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("0 1 {}\n" * 30 + "a" + " " * 200_000 + "\n")
    with pytest.raises(FormatError, match="line 31: two nodes"):
        read(path)
