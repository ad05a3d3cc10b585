"""Objects in memory: records, arrays and matrices of SciPy, and stand-ins for tensors; frames are in `test_frames`."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import fields
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from graph_views import Tensor, dense

from graphrefine.errors import InputError
from graphrefine.graph.graph import Graph
from graphrefine.readers.formats import import_loader
from graphrefine.readers.objects import KINDS, Kind
from graphrefine.readers.options import ReadOptions
from graphrefine.readers.read import read

WEIGHTED = [("a", "b", 2.0), ("b", "c", 3.0), ("c", "b", 1.0)]
EXPECTED = [[0, 2, 0], [2, 0, 3], [0, 3, 0]]
DIRECTED = [[0, 2, 0], [0, 0, 3], [0, 1, 0]]


def test_tuples() -> None:
    assert dense(read(WEIGHTED)) == EXPECTED
    assert dense(read(iter(WEIGHTED), directed=True)) == DIRECTED
    assert read(edge[:2] for edge in WEIGHTED).weights is None
    assert read([(1, 2), (2, 10)]).names.tolist() == [1, 2, 10]
    assert read([("1", "2")]).names.tolist() == ["1", "2"]  # typed ids keep their type
    assert read([(np.nan, 1), (np.float32("nan"), 2), (1, 2)]).report["missing"] == 2
    assert read([(1, "x")]).names.tolist() == [1, "x"]
    graph = Graph.from_edges([1], [2])
    assert read(graph) is graph


@pytest.mark.parametrize("kind", ["bsr", "coo", "csc", "csr", "dia", "dok", "lil"])
@pytest.mark.parametrize("family", ["array", "matrix"])
def test_every_kind_of_scipy_sparse_matrix(kind: str, family: str) -> None:
    matrix = getattr(sp, f"{kind}_{family}")(np.array(DIRECTED, np.float64))
    assert dense(read(matrix, directed=True)) == DIRECTED
    assert dense(read(matrix)) == EXPECTED
    graph = read(matrix, bipartite=True, weights=False)
    assert (graph.sources, graph.edges, graph.weights) == (3, 3, None)


def test_masked_arrays_are_read_without_what_they_hide() -> None:
    pairs = np.ma.masked_array([[1, 2], [2, 3], [3, 4]], mask=np.array([[0, 0], [0, 1], [0, 0]], bool))
    graph = read(pairs)
    assert (graph.names.tolist(), graph.report["missing"]) == ([1, 2, 3, 4], 1)
    band = (np.eye(4) + np.eye(4, k=1) + np.eye(4, k=-1)).astype(bool)
    assert read(np.ma.masked_array(np.ones((4, 4)), mask=band)).edges == 3
    with pytest.raises(InputError, match="weight nan is not allowed"):
        read(np.array([[1, 2], [2, 3], [3, 4]]), weights=np.ma.masked_array([1, 2, 3], mask=[False, True, False]))


def test_record_arrays_are_tables() -> None:
    records = np.array([("a", 1, 2.0), ("b", 1, 3.0)], dtype=[("user", "U5"), ("size", int), ("weight", float)])
    with_item = np.array([("a", "b", 2.0)], dtype=[("user", "U5"), ("item", "S5"), ("weight", "f4")])
    assert read(records, source="user", target="size", bipartite=True).names.tolist() == ["a", "b", 1]
    for form in (with_item, with_item.view(np.recarray)):
        assert dense(read(form)) == [[0, 2], [2, 0]]


def test_arrays_of_edges_and_matrices() -> None:
    pairs = np.array([[5, 9], [9, 7], [7, 9], [9, 5]])
    assert read(pairs).names.tolist() == [5, 7, 9]
    assert dense(read(pairs[:, ::-1])) == [[0, 0, 1], [0, 0, 1], [1, 1, 0]]
    assert dense(read(pairs, weights=np.array([1, 2, 3, 4]))) == [[0, 0, 4], [0, 0, 3], [4, 3, 0]]
    triples = np.column_stack([pairs, [1, 2, 3, 4]])
    for form in (triples, triples.astype(float)):
        assert dense(read(form)) == [[0, 0, 4], [0, 0, 3], [4, 3, 0]]
    assert read(triples, weights=False).weights is None
    assert read(np.array([["x", "y"], ["y", "z"], ["x", "z"]])).names.tolist() == ["x", "y", "z"]
    matrix = np.zeros((4, 4))
    matrix[0, 3] = 2
    assert dense(read(matrix)) == (matrix + matrix.T).tolist()


def test_an_edge_index_keeps_its_numbers_as_rows() -> None:
    index = [[1, 4, 1], [4, 1, 3]]
    wide = np.array([[1, 4, 1, 3], [4, 1, 3, 1]])  # (2, 3) could be edges with weights, (2, 4) cannot
    for form in (wide, Tensor(index)):
        graph = read(form)
        assert (graph.names.tolist(), graph.isolated) == ([0, 1, 2, 3, 4], 2)
    weighted = read(Tensor(index), weights=Tensor([2.0, 5.0, 1.0]))
    assert weighted.to_scipy().toarray()[1].tolist() == [0, 0, 0, 1, 5]
    assert read(Tensor(index), nodes=7).nodes == 7
    ids = np.array([[10**12, 1, 2, 3], [1, 2, 3, 4]])
    with pytest.raises(InputError, match=r"shape \(m, 2\)"):
        read(ids)
    assert read(ids.T).names.tolist() == [1, 2, 3, 4, 10**12]


def test_pyg_data_keeps_its_nodes() -> None:
    data = SimpleNamespace(edge_index=Tensor([[0, 2], [2, 0]]), num_nodes=5, edge_weight=Tensor([3.0, 3.0]))
    graph = read(data)
    assert (graph.nodes, graph.edges, graph.isolated, graph.weights is None) == (5, 1, 3, False)
    assert graph.degrees().tolist() == [3, 0, 3, 0, 0]
    assert read(data, weights=False).weights is None
    data.edge_attr = Tensor([[4.0], [4.0]])
    assert read(data, weights="edge_attr").degrees().tolist() == [4, 0, 4, 0, 0]
    assert read(data, weights=[2.0, 2.0]).degrees().tolist() == [2, 0, 2, 0, 0]
    with pytest.raises(InputError, match="the data has no 'size'"):
        read(data, weights="size")
    data.num_nodes = 2
    with pytest.raises(InputError, match="from 0 to 1, not 0 to 2"):
        read(data)


SPARSE = sp.csr_array(np.array(EXPECTED))

# object, options, the fact
REFUSED: list[tuple[Any, dict[str, Any], str]] = [
    ([(1, 2), (3,)], {}, r"record 2 is \(3,\)"),
    (["ab", "bc"], {}, "record 1 is 'ab'"),
    ([(1, 2), (1, 2, 3)], {}, "record 2"),
    ([(1, 2, [3])], {}, "the weight of an edge is one number"),
    ([], {}, "no edge"),
    ([(1, 1)], {}, "no edge in the graph but 1 self-loops"),
    ([(1, 2, -1.0)], {}, "record 1: weight -1"),
    ([(1, "1")], {}, "are both written"),
    ([("a\nb", "c")], {}, "line end"),
    ([(["a"], "c")], {}, r"the id \['a'\] is a list, which can change"),
    ([(True, 2), (1, 3)], {}, "the ids True and 1 are equal in Python"),
    ([(object(), 1)], {}, "has no text"),
    (7, {}, "cannot be read from int"),
    (sp.coo_array(np.ones(4)), {}, "an adjacency matrix must be square, not 4"),
    (sp.csr_array(np.ones((4, 4)) * 1j), {}, "must hold real numbers, not complex128"),
    (np.zeros((1, 1), [("u", int), ("v", int)]), {}, "an array of records has one dimension, not 2"),
    *[(np.ones(shape, int), {}, "more than one way") for shape in ((2, 2), (3, 3), (2, 3))],
    *[(np.ones(shape, int), {}, "an array of edges has shape") for shape in ((5,), (4, 5), (2, 2, 2), (0, 2))],
    ([(1, 2)], {"delimiter": ","}, "delimiter= does not apply to an iterable"),
    (SPARSE, {"source": 1}, "source= does not apply to a SciPy sparse matrix"),
    ([(1, 2)], {"format": "csv"}, "format='csv' is for files"),
    ([(1, 2)], {"weights": "w"}, "these edges have no named columns"),
    ([(1, 2)], {"weights": True}, "weights=True does not say which"),
    ([(1, 2)], {"nodes": 2}, "nodes=2 means nodes 0 to 1, and the edges mention 2"),
    ([("a", "b")], {"nodes": 2}, "the edges mention 'a'"),
    ([(1, 2)], {"nodes": 0}, "must be positive"),
    ([(1, 2)], {"nodes": [None]}, "name is missing"),
    (SPARSE, {"nodes": ["a"]}, "needs 3 distinct names, not 1"),
    (read(WEIGHTED), {"directed": True}, "does not apply to a Graph"),
    (read(WEIGHTED), {"weights": False}, "does not apply to a Graph"),
    ({}, {}, "the mapping is empty"),
    ({"a": 3}, {}, "the mapping has 'a': int"),
    ({"a": "bc"}, {}, "the mapping has 'a': str"),
    ({"source": [1, 2], "target": [3]}, {}, r"different lengths: \[1, 2\]"),
    ({"a": {"b": "heavy"}}, {}, "'a' - 'b' has the weight 'heavy'"),
    ({1: ()}, {}, "there is no edge"),
    ({"a": {"b": -1}}, {}, "weight -1.0"),
    ({"a": ["b"], "b": ["c"]}, {"weights": np.ones(3)}, "no edge has it"),
    ({"source": [], "target": [], "time": []}, {"time": "time"}, "there is no edge"),
    ({"source": [1], "target": [2], "t": ["\ud800"]}, {"time": "t"}, "time"),
    ({"source": [1], "target": [2], "t": [pd.NA]}, {"time": "t"}, "time"),
    (pd.DataFrame({"t": [pd.NaT], "u": ["b"], "v": ["c"]}).astype("category"), {"time": "t"}, "time"),
    (pd.DataFrame({"a": [1, 2], "b": [2, 3]}), {"weights": np.ones(2)}, "weights= is the name or the position"),
    (pd.DataFrame({"a": [[1], 2], "b": [2, 3], "c": [{1: 2}, 3]}), {}, "ids must be|the id|cannot be"),
    (pd.DataFrame({"source": [], "target": []}, dtype=object), {"nodes": 3}, "there is no edge"),
    (np.eye(4), {"weights": np.ones(3)}, "a matrix holds its own weights"),
    ([["a", 1, [1]], [1, 5, 3]], {}, "the weight of an edge is one number"),
    ("\ud800", {}, "no file can have this name"),
    ("a\0b", {}, "no file can have this name"),
]


@pytest.mark.parametrize(("graph", "options", "fact"), REFUSED, ids=range(len(REFUSED)))
def test_what_is_refused(graph: Any, options: dict[str, Any], fact: str) -> None:
    with pytest.raises(InputError, match=fact) as caught:
        read(graph, **options)
    assert not options or caught.value.argument in (None, *options)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.loader)
def test_every_kind_has_a_loader(kind: Kind) -> None:
    assert callable(import_loader(kind.loader))
    assert kind.options <= {each.name for each in fields(ReadOptions)}


def test_reading_imports_none_of_the_packages_it_recognizes() -> None:
    code = (
        "import sys, numpy as np; from graphrefine.readers.read import read;"
        "read(np.array([[1, 2], [2, 3], [3, 4]]));"
        "others = {'networkx', 'igraph', 'pandas', 'polars', 'torch', 'pyarrow'};"
        "print(others & {*sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
