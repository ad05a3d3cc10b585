from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from graphrefine.errors import InputError
from graphrefine.graph.graph import Graph
from graphs import check
from strategies import PATIENT


def dense(graph: Graph) -> list[list[float]]:
    return graph.to_scipy().toarray().tolist()


def test_duplicates_add_directions_merge_and_weights_count() -> None:
    source, target = ["a", "a", "b", "c", "d"], ["b", "b", "a", "a", "d"]
    graph = Graph.from_edges(source, target, [1, 2, 2.5, 4, 9])
    check(graph)
    assert graph.names.tolist() == ["a", "b", "c", "d"]
    assert dense(graph) == [[0, 3, 4, 0], [3, 0, 0, 0], [4, 0, 0, 0], [0, 0, 0, 0]]
    none = {"zero_weights": 0, "missing": 0}
    assert graph.report == {"records": 5, "self_loops": 1, "duplicates": 1, "reciprocal": 1, **none}
    assert (graph.edges, graph.isolated, graph.weighted) == (2, 1, True)
    graph = Graph.from_edges([1, 1, 2, 3], [2, 2, 1, 1], directed=True)
    check(graph)
    assert dense(graph) == [[0, 2, 0], [1, 0, 0], [1, 0, 0]]
    assert graph.report["reciprocal"] == 0
    assert graph.edges == 3
    assert dense(Graph.from_edges([1, 1, 2], [2, 2, 3])) == [[0, 2, 0], [2, 0, 1], [0, 1, 0]]
    assert Graph.from_edges([1, 2, 2], [2, 1, 3]).weights is None  # both directions: once
    assert Graph.from_edges([1, 2], [2, 3], [1, 1]).weights is None
    assert Graph.from_edges([1, 1, 2], [2, 2, 3], [0.5, 0.5, 1]).weights is None
    graph = Graph.from_edges([1, 2], [2, 3], [1, 0])
    assert (graph.nodes, graph.edges, graph.isolated, graph.report["zero_weights"]) == (3, 1, 1, 1)


def test_names_make_source_and_target_row_numbers() -> None:
    graph = Graph.from_edges([0, 2], [1, 1], names=["z", "y", "x", "lonely"])
    check(graph)
    assert graph.names.tolist() == ["z", "y", "x", "lonely"]
    assert dense(graph) == [[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1, 2], [2]), "equally long"),
        (([[1]], [[2]]), "one-dimensional"),
        (([1, 2], [2, 3], [1, -1]), "record 2: weight -1"),
        (([1, 2], [2, 3], [np.nan, 1]), "record 1: weight nan"),
        (([1, 2], [2, 3], [1, np.inf]), "record 2: weight inf"),
        (([1, 2], [2, 3], [1]), "one for each of the 2 edges"),
        (([1, 2], [2, 3], ["x", "y"]), "weights must be numbers"),
        (([1.5], [2.0]), "1.5 is not a whole number"),
        ((np.array([1j]), np.array([2j])), "integers or strings"),
        (([{1}], [{2}]), "which can change"),
        (([0], [2], None, ["a", "b"]), "from 0 to 1"),
        (([0], [1], None, ["a", "a"]), "distinct"),
        (([1], [2], None, None, 0), "threads=0"),
    ],
)
def test_bad_edges_are_refused(arguments: tuple[Any, ...], message: str) -> None:
    named = dict(zip(("names", "threads"), arguments[3:], strict=False))
    with pytest.raises(InputError, match=message):
        Graph.from_edges(*arguments[:3], **named)


def test_clean_matrices_are_not_copied_and_stored_zeros_are_no_edges() -> None:
    matrix = sp.csr_array(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], dtype=np.float32))
    graph = Graph.from_matrix(matrix)
    check(graph)
    assert np.shares_memory(graph.indices, matrix.indices)
    assert graph.weights is None
    assert Graph.from_matrix(matrix.tocsc()).indices.tolist() == graph.indices.tolist()
    zeros = sp.csr_array((np.array([1.0, 0, 1, 0]), np.array([1, 2, 0, 0]), np.array([0, 2, 3, 4])), shape=(3, 3))
    assert dense(Graph.from_matrix(zeros)) == [[0, 1, 0], [1, 0, 0], [0, 0, 0]]
    twice = sp.csr_array((np.array([1.0, 2]), np.array([1, 1]), np.array([0, 2, 2])), shape=(2, 2))
    assert dense(Graph.from_matrix(twice)) == [[0, 3], [3, 0]]


@pytest.mark.parametrize("convert", [sp.csr_matrix, sp.csc_array, sp.coo_array, sp.lil_array, np.asarray])
@pytest.mark.parametrize("directed", [False, True])
def test_matrices_keep_their_rows(convert: Any, directed: bool) -> None:
    values = np.array([[5, 2, 0, 0], [3, 0, 0, 0], [0, 0, 0, 0], [0, 0.5, 0, 0]])
    graph = Graph.from_matrix(convert(values), directed=directed)
    check(graph)
    assert graph.names.tolist() == [0, 1, 2, 3]
    hollow = values - np.diag(np.diag(values))
    assert dense(graph) == (hollow if directed else np.maximum(hollow, hollow.T)).tolist()
    assert graph.report["self_loops"] == 1


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.ones((2, 3)), "square, not 2 x 3"),
        (np.ones((2, 2), dtype=complex), "real numbers, not complex128"),
        (np.array([[0, -1.0], [1, 0]]), "weight -1.0"),
        (np.array([[0, np.nan], [1, 0]]), "weight nan"),
    ],
)
def test_bad_matrices_are_refused(matrix: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Graph.from_matrix(matrix)
    with pytest.raises(InputError, match=message):
        Graph.from_matrix(sp.csr_array(matrix))
    outside = sp.csr_array(np.array([[0, 1.0], [1, 0]]))
    outside.indices[0] = 7
    with pytest.raises(InputError, match="outside its 2 rows"):
        Graph.from_matrix(outside)


@PATIENT
@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6), st.sampled_from([0.5, 1, 2])), min_size=1), st.booleans()
)
def test_degrees_rows_and_transposes_match_the_matrix(edges: list[tuple[int, int, float]], directed: bool) -> None:
    source, target, weights = zip(*edges, strict=True)
    graph = Graph.from_edges(source, target, weights, directed=directed)
    check(graph)
    matrix = np.array(dense(graph)).reshape(graph.nodes, graph.nodes)
    np.testing.assert_array_equal(graph.degrees(), matrix.sum(axis=1))
    np.testing.assert_array_equal(graph.out_counts, (matrix > 0).sum(axis=1))
    assert graph.isolated == ((matrix + matrix.T).sum(axis=1) == 0).sum()
    turned = graph.transposed()
    check(turned)
    np.testing.assert_array_equal(dense(turned), matrix.T.tolist())
    assert (turned is graph) == (not directed)
    assert graph.transposed() is turned
    for start in range(graph.nodes):
        block = graph.rows(start, min(start + 2, graph.nodes))
        values = np.ones(len(block.indices)) if block.weights is None else block.weights
        part = sp.csr_array((values, block.indices, block.indptr), shape=(len(block.indptr) - 1, graph.nodes))
        np.testing.assert_array_equal(part.toarray(), matrix[start : start + 2])
        assert len(block.indices) == 0 or np.shares_memory(block.indices, graph.indices)


def test_components_and_the_summary() -> None:
    graph = Graph.from_edges([1, 3, 5], [2, 2, 4], names=None, directed=True)
    count, labels = graph.components()
    assert count == 2 and labels[0] == labels[1] == labels[2] != labels[3]
    graph = Graph.from_edges(["a"], ["b"])
    summary = json.loads(json.dumps(graph.summary()))
    assert (summary["nodes"], summary["edges"], summary["source"]) == (2, 1, "memory")
    assert repr(graph) == "Graph(2 nodes, 1 edge, undirected, unweighted)"


SOUND: dict[str, Any] = {
    "indptr": np.array([0, 1, 2, 2]),
    "indices": np.array([1, 0], np.int32),
    "weights": None,
    "names": np.array([1, 2, 3]),
}
DAMAGES: list[dict[str, Any]] = [
    {"indices": np.array([1, 0, 2], np.int32), "indptr": np.array([0, 2, 3, 3])},  # not ascending
    *({"indices": np.array(ends, np.int32)} for ends in ([1, 2], [0, 1], [1, 9])),  # not symmetric, loops, out of range
    {"indices": np.array([1, 0], np.int64)},
    *({"names": np.array(names)} for names in ([1, 1, 2], [1, 2])),
    *({"weights": np.array(weights, np.float32)} for weights in ([1, -1], [2])),
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_check_finds_every_broken_promise(damage: dict[str, Any]) -> None:
    check(Graph(**SOUND))
    with pytest.raises(InputError):
        check(Graph(**{**SOUND, **damage}))
