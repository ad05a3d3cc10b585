"""Mappings of nodes to neighbors."""

from __future__ import annotations

from typing import Any

import networkx
import numpy as np
import pytest
from graph_views import dense

from graphrefine.errors import InputError
from graphrefine.readers.read import read


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


def test_columns_are_refused() -> None:
    for columns in ({"source": ["b", "a"], "target": np.array(["c", "b"])}, {"u": [1, 2], "v": [2, 3], "w": [1, 1]}):
        with pytest.raises(InputError, match="are names of columns") as caught:
            read(columns)
        assert caught.value.argument == "graph"
    with pytest.raises(InputError, match="the mapping has 1: int; give lists of neighbors"):
        read({1: 2})
    with pytest.raises(InputError, match="source= does not apply to a mapping") as caught:
        read({"a": ["x"], "b": ["y"]}, source="a", target="b")
    assert caught.value.argument == "source"
    assert read({"source": ["target"], "target": ["x"]}).names.tolist() == ["source", "target", "x"]
    assert read({"a": ["x"], "b": ["y"]}).edges == 2
    assert read({"a": {"x"}, "b": {"y"}}).edges == 2
