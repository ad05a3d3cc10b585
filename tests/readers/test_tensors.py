"""Tensors and PyG graphs: by stand-ins that have torch's attributes, and, marked slow, by the real packages.

The real ones are no part of the test group: ``pip install torch torch_geometric`` takes about 5.6 GB on Linux, with the
libraries for graphics processors; ``make check-torch`` does it. Elsewhere the slow tests are skipped.
"""

from __future__ import annotations

import os
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from graph_views import Tensor, dense
from hypothesis import given
from hypothesis import strategies as st

from graphrefine.errors import InputError
from graphrefine.readers.read import read
from strategies import PATIENT, Edge, edge_lists

ARCS = np.array([[0, 2, 0, 0], [0, 0, 3, 0], [0, 1, 0, 0], [0, 0, 0, 0]], np.float32)


class SparseTensor(Tensor):
    """The same of a sparse one, made from SciPy's."""

    def __init__(self, matrix: Any, layout: str) -> None:
        self.matrix, self.layout, self.shape = matrix, f"torch.{layout}", matrix.shape

    def numpy(self) -> Any:
        raise TypeError("can't convert a sparse tensor")

    def to_sparse_coo(self) -> Any:
        return SparseTensor(self.matrix.tocoo(), "sparse_coo")

    def coalesce(self) -> Any:
        return self

    def indices(self) -> Tensor:
        return Tensor(np.stack(self.matrix.coords))

    def values(self) -> Tensor:
        return Tensor(self.matrix.data)


def test_sparse_tensors_are_matrices() -> None:
    for tensor in (
        SparseTensor(sp.coo_array(ARCS), "sparse_coo"),
        SparseTensor(sp.csr_array(ARCS), "sparse_csr"),
        SparseTensor(sp.csc_array(ARCS), "sparse_csc"),
        SparseTensor(sp.bsr_array(ARCS), "sparse_bsr"),
        Tensor(ARCS),
    ):
        assert dense(read(tensor, directed=True)) == ARCS.tolist()
        assert dense(read(tensor)) == np.maximum(ARCS, ARCS.T).tolist()
        assert read(tensor, weights=False).weights is None
        with pytest.raises(InputError, match="a matrix holds its own weights"):
            read(tensor, weights="size")
    with pytest.raises(InputError, match="an adjacency matrix must be square, not 2 x 4"):
        read(SparseTensor(sp.csr_array(ARCS[:2]), "sparse_csr"))


def test_what_pyg_data_holds_beside_edges_is_told_or_kept() -> None:
    pieces = {"num_nodes": 3, "edge_weight": None, "x": Tensor(np.ones((3, 8))), "y": Tensor([5, 6, 7])}
    attributes = Tensor([[1.0, 2.0], [3.0, 4.0]])
    graph = read(SimpleNamespace(edge_index=Tensor([[0, 1], [1, 2]]), edge_attr=attributes, **pieces))
    assert graph.report["ignored_columns"] == ["edge_attr", "x"]
    assert "not used: 'edge_attr', 'x'" in graph.reading
    assert {name: values.tolist() for name, values in graph.attributes.items()} == {"y": [5, 6, 7]}
    assert graph.weights is None


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of torch, which calls its sparse tensors new
@PATIENT
@given(edge_lists(ids=st.integers(0, 49).map(str)))
def test_real_tensors_and_pyg_graphs(edges: list[Edge]) -> None:
    load = import_module if "GRAPHREFINE_TORCH" in os.environ else pytest.importorskip
    torch: Any = load("torch")
    geometric: Any = load("torch_geometric.data")
    ends = np.array([(int(u), int(v)) for u, v, _ in edges]).T
    weights = np.array([weight for _, _, weight in edges])
    nodes = int(ends.max()) + 1
    expected = read(ends if len(edges) > 3 else Tensor(ends), weights=weights, directed=True)
    index, values = torch.tensor(ends), torch.tensor(weights)
    sparse = torch.sparse_coo_tensor(index, values, (nodes, nodes))
    whole = sparse.coalesce()
    tensors = [sparse, whole, whole.to_sparse_csr(), whole.to_sparse_csc(), *([sparse.to_dense()] if nodes > 3 else [])]
    for tensor in tensors:
        assert np.allclose(dense(read(tensor, directed=True)), dense(expected), rtol=1e-6)
    graph = geometric.Data(edge_index=index, edge_weight=values, num_nodes=nodes, x=torch.ones(nodes, 3))
    result = read(graph)
    assert result.directed == graph.is_directed()
    assert dense(read(graph, directed=True)) == dense(expected)
    hetero = geometric.HeteroData()
    hetero["person"].num_nodes = nodes
    hetero["person", "knows", "person"].edge_index = index
    with pytest.raises(InputError, match="cannot be read from HeteroData"):
        read(hetero)
    assert read(hetero.to_homogeneous(), directed=True).nodes == nodes
