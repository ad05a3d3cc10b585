"""Mappings: of columns, and of nodes to neighbors."""

from __future__ import annotations

from typing import Any

import networkx
import numpy as np
import pytest
from graph_views import dense

from graphrefine.errors import InputError
from graphrefine.readers.read import read


def test_columns() -> None:
    columns = {"size": [9, 9], "source": ["b", "a"], "target": np.array(["c", "b"]), "weight": (2, 3)}
    graph = read(columns)
    assert (graph.names.tolist(), dense(graph)) == (["a", "b", "c"], [[0, 3, 0], [3, 0, 2], [0, 2, 0]])
    assert graph.reading.startswith("a mapping of columns; edges 'source' - 'target', undirected; weights 'weight'")
    assert graph.report["ignored_columns"] == ["size"]
    assert read({"source": [1, None], "target": [2, 3]}).report["missing"] == 1


@pytest.mark.parametrize(
    ("mapping", "expected"),
    [
        ({1: [2, 3], 2: [], 4: []}, [[0, 1, 1, 0], [1, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]]),
        ({"a": ["b"], "b": ["a", "c"]}, [[0, 1, 0], [1, 0, 1], [0, 1, 0]]),
        ({"a": ["b", "c"], "b": ["a", "c"]}, [[0, 1, 1], [1, 0, 1], [1, 1, 0]]),
        ({"a": {"b", "c"}}, [[0, 1, 1], [1, 0, 0], [1, 0, 0]]),
        ({"a": {"b": 2.0}, "b": {"a": 2.0, "c": None}}, [[0, 2, 0], [2, 0, 1], [0, 1, 0]]),
        ({"a": {"b": {"weight": 5}}, "b": {"a": {}}}, [[0, 5], [5, 0]]),
        ({"a": {"b": {0: {"weight": 5}, 1: {"weight": 2}}}}, [[0, 7], [7, 0]]),
    ],
)
def test_neighbors(mapping: dict[Any, Any], expected: list[list[float]]) -> None:
    graph = read(mapping)
    assert dense(graph) == expected
    assert graph.reading.startswith("a mapping of nodes to neighbors; undirected")


def test_neighbors_have_a_direction_if_the_option_says_so() -> None:
    assert dense(read({1: [2], 2: [3]}, directed=True)) == [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    bought = {"ann": {"tea", "cake"}, "bob": {"tea"}}
    graph = read(bought, bipartite=True)
    assert (graph.names.tolist(), graph.sources, graph.edges) == (["ann", "bob", "cake", "tea"], 2, 3)


def test_the_dicts_of_networkx_are_its_graphs() -> None:
    novel = networkx.les_miserables_graph()
    for form in (networkx.to_dict_of_dicts(novel), {u: dict(near) for u, near in novel.adjacency()}):
        graph = read(form)
        assert graph.names.tolist() == read(novel).names.tolist()
        assert dense(graph) == dense(read(novel))
    assert read(networkx.to_dict_of_dicts(novel), weights=False).weights is None
    assert read(networkx.to_dict_of_lists(novel)).edges == 254


def test_what_can_be_read_in_two_ways_is_refused_with_both() -> None:
    for mapping in ({"a": ["x"], "b": ["y"]}, {"source": ["target"], "target": ["x"]}):
        with pytest.raises(InputError, match="can be read in two ways") as caught:
            read(mapping)
        assert caught.value.argument == "source"
    with pytest.raises(InputError, match="a column is a list or an array, not int") as caught:
        read({1: 2}, target=1)
    assert caught.value.argument == "graph"
    assert read({"a": ["x"], "b": ["y"]}, source="a", target="b").edges == 1
    assert read({"a": {"x"}, "b": {"y"}}).edges == 2
