"""Tensors of torch, and the graphs of PyG that are made of them; on any device."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from graphrefine.errors import InputError
from graphrefine.graph.node_ids import object_array
from graphrefine.readers.formats import EdgeTable, MatrixTable
from graphrefine.readers.objects import as_array, edge_index, edge_weights, load_array, load_matrix
from graphrefine.readers.options import ReadOptions

_USED = frozenset({"edge_index", "edge_weight", "num_nodes"})


def load_tensor(tensor: Any, options: ReadOptions) -> EdgeTable | MatrixTable:
    """Load a tensor: an edge_index of shape (2, m), or a matrix, sparse or dense."""
    layout = str(getattr(tensor, "layout", "")).rpartition(".")[2]
    if layout in ("sparse_csr", "sparse_csc", "sparse_coo"):
        return load_matrix(_sparse_matrix(tensor.detach().cpu(), layout), options)
    if layout.startswith("sparse"):
        raise InputError(f"a tensor of layout {layout} cannot be read; convert it with to_sparse_csr()")
    values = as_array(tensor)
    return edge_index(values, options.weights, None) if _is_edge_index(values) else load_array(values, options)


def _is_edge_index(values: NDArray[Any]) -> bool:
    return values.ndim == 2 and values.shape[0] == 2 and values.dtype.kind in "iu"


def _sparse_matrix(tensor: Any, layout: str) -> Any:
    """Return a sparse tensor as SciPy's matrix; entries that stand twice add up."""
    if len(tensor.shape) != 2:
        raise InputError(f"an adjacency matrix has two dimensions, not {len(tensor.shape)}")
    shape = (int(tensor.shape[0]), int(tensor.shape[1]))
    if layout == "sparse_coo":
        whole = tensor.coalesce()
        rows, columns = as_array(whole.indices())
        return coo_array((as_array(whole.values()), (rows, columns)), shape=shape)
    if layout == "sparse_csc":
        pointers, indices = tensor.ccol_indices(), tensor.row_indices()
        parts = (as_array(tensor.values()), as_array(indices), as_array(pointers))
        return csr_array(parts, shape=shape[::-1]).T
    parts = (as_array(tensor.values()), as_array(tensor.col_indices()), as_array(tensor.crow_indices()))
    return csr_array(parts, shape=shape)


def load_pyg(data: Any, options: ReadOptions) -> EdgeTable:
    """Load a PyG Data object; its nodes are numbers, and its direction is what `is_directed` says."""
    weights = _pyg_weights(data, options)
    nodes = data.num_nodes
    table = edge_index(as_array(data.edge_index), weights, None if nodes is None else int(nodes))
    used = {*_USED} | ({options.weights} if isinstance(options.weights, str) else set())
    attributes, ignored = {}, []
    for name in sorted(_keys(data) - used):
        values = getattr(data, name, None)
        shape = tuple(getattr(values, "shape", ()))
        if shape == (len(table.numbered[2]),) and not name.startswith("edge"):
            attributes[name] = object_array(as_array(values).tolist())
        elif values is not None:
            ignored.append(name)
    report: dict[str, Any] = {"ignored_columns": ignored} if ignored else {}
    directed = bool(data.is_directed()) if callable(getattr(data, "is_directed", None)) else None
    if directed is not None:
        listed = "one direction only" if directed else "both directions"
        report["remarks"] = [f"edges stand in {listed} in the edge_index"]
    weight_column = options.weights if isinstance(options.weights, str) else "edge_weight"
    report["weight_column"] = None if weights is None or weights is False else weight_column
    return EdgeTable(table.numbered, table.weights, report, row_numbers=True, directed=directed, attributes=attributes)


def _pyg_weights(data: Any, options: ReadOptions) -> Any:
    if not isinstance(options.weights, str):
        return getattr(data, "edge_weight", None) if options.weights is None else options.weights
    weights = getattr(data, options.weights, None)
    if weights is None:
        raise InputError(
            f"the data has no {options.weights!r}; edge_weight and edge_attr are usual", argument="weights"
        )
    return weights


def _keys(data: Any) -> set[str]:
    """Names of what a Data object holds."""
    keys = getattr(data, "keys", None)
    listed = keys() if callable(keys) else vars(data)
    return {str(name) for name in listed}


def load_hetero(data: Any, options: ReadOptions) -> EdgeTable:
    """Load a PyG HeteroData object; nodes are called by their type and number, such as "paper:3"."""
    kinds = [str(kind) for kind in data.node_types]
    if any(":" in kind for kind in kinds):
        raise InputError(f"the types of nodes {kinds} hold a colon, so that names such as 'type:3' would not be clear")
    counts = {kind: _count_nodes(data, kind) for kind in kinds}
    first = dict(zip(kinds, np.cumsum([0, *counts.values()])[:-1].tolist(), strict=True))
    ends, weights = [], []
    for source, relation, target in data.edge_types:
        store = data[source, relation, target]
        index = as_array(store.edge_index)
        for side, end in zip(index, (source, target), strict=True):
            if side.max(initial=-1) >= counts[end] or side.min(initial=0) < 0:
                kind = f"{source}, {relation}, {target}"
                raise InputError(f"edges of type {kind} hold the node {side.max()} of {end!r}, which has {counts[end]}")
        ends.append(index.astype(np.int64) + np.array([[first[source]], [first[target]]]))
        values = None if options.weights is False else getattr(store, options.weights or "edge_weight", None)
        weights.append(None if values is None else edge_weights(values, index.shape[1]))
    if isinstance(options.weights, str) and all(each is None for each in weights):
        raise InputError(f"weights={options.weights!r}: no type of edges has it", argument="weights")
    names = [f"{kind}:{number}" for kind in kinds for number in range(counts[kind])]
    return _merge_types(np.concatenate(ends, axis=1), weights, names, ends)


def _count_nodes(data: Any, kind: str) -> int:
    """Return the number of nodes of a type: as the data says, or up to the largest in its edges."""
    count = getattr(data[kind], "num_nodes", None)
    if count is not None:
        return int(count)
    largest = [-1]
    for source, relation, target in data.edge_types:
        index = as_array(data[source, relation, target].edge_index)
        largest += [int(side.max(initial=-1)) for side, end in zip(index, (source, target), strict=True) if end == kind]
    return max(largest) + 1


def _merge_types(
    ends: NDArray[np.int64], weights: list[NDArray[np.float32] | None], names: list[str], parts: list[NDArray[np.int64]]
) -> EdgeTable:
    """Edges of all types as one list, with the names sorted; edges without weights count as 1 beside those with."""
    values = None
    if any(each is not None for each in weights):
        sizes = [part.shape[1] for part in parts]
        values = np.concatenate(
            [np.ones(n, np.float32) if each is None else each for each, n in zip(weights, sizes, strict=True)]
        )
    texts = object_array(names)
    order = np.argsort(texts, kind="stable")
    rank = np.empty(len(names), np.int32)
    rank[order] = np.arange(len(names), dtype=np.int32)
    report = {"remarks": [f"types of edges read as one graph: {len(parts)}; names are type:number"]}
    return EdgeTable((rank[ends[0]], rank[ends[1]], texts[order]), values, report)
