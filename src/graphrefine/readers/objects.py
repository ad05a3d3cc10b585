"""Graphs in memory, recognised by their attributes: none of the packages they come from is imported.

A graph that is undirected by itself (NetworkX, igraph) and is read as directed counts in both directions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import InputError
from graphrefine.graph.adjacency import check_weights
from graphrefine.graph.node_ids import as_ids, name_array, number, object_array
from graphrefine.readers.formats import COLUMNS, SIDES, VALUES, EdgeTable, MatrixTable
from graphrefine.readers.layout import find_columns
from graphrefine.readers.options import ReadOptions


@dataclass(frozen=True)
class Kind:
    """A kind of object: the test for it, its loader, and the options that apply to it."""

    name: str
    matches: Callable[[Any], bool]
    load: Callable[[Any, ReadOptions], EdgeTable | MatrixTable]
    options: frozenset[str]


def find_kind(graph: Any) -> Kind:
    """The kind of an object, or an error that lists all kinds."""
    for kind in KINDS:
        if kind.matches(graph):
            return kind
    names = ", ".join(kind.name for kind in KINDS)
    raise InputError(f"a graph cannot be read from {type(graph).__name__}; give a path, or {names}", argument="graph")


def _has(*attributes: str) -> Callable[[Any], bool]:
    return lambda graph: not isinstance(graph, type) and all(hasattr(graph, name) for name in attributes)


def _load_matrix(matrix: Any, options: ReadOptions) -> MatrixTable:
    if options.weights not in (None, False):
        raise InputError("a matrix holds its own weights; weights=False leaves them out", argument="weights")
    return MatrixTable(matrix)


def _load_networkx(graph: Any, options: ReadOptions) -> EdgeTable:
    edges = [(u, v, data) for u, v, data in graph.edges(data=True)]
    attribute = _weight_attribute(options, {name for _, _, data in edges for name in data})
    values = None if attribute is None else np.array([data.get(attribute, 1) for _, _, data in edges])
    nodes = as_ids(object_array(list(graph.nodes)))  # one look at all ids, so that all have one type
    place = {node: at for at, node in enumerate(graph.nodes)}
    ends = np.array([(place[u], place[v]) for u, v, _ in edges], dtype=np.int64).reshape(-1, 2)
    return _named_edges(ends, values, nodes, options, one_way=bool(graph.is_directed()), column=attribute)


def _load_igraph(graph: Any, options: ReadOptions) -> EdgeTable:
    attribute = _weight_attribute(options, set(graph.es.attributes()))
    weights = [] if attribute is None else graph.es[attribute]
    values = None if attribute is None else np.array([1 if value is None else value for value in weights])
    named = "name" in graph.vs.attributes()
    nodes = name_array(graph.vs["name"]) if named else np.arange(graph.vcount())
    ends = np.array(graph.get_edgelist(), dtype=np.int64).reshape(-1, 2)
    return _named_edges(ends, values, nodes, options, one_way=bool(graph.is_directed()), column=attribute)


def _weight_attribute(options: ReadOptions, attributes: set[Any]) -> str | None:
    """The attribute of the edges that holds their weights, if there is one."""
    named = isinstance(options.weights, str)
    attribute = options.weights if named else "weight"
    if named and attribute not in attributes:
        raise InputError(
            f"no edge has the attribute {attribute!r}; the attributes are {sorted(map(str, attributes))}",
            argument="weights",
        )
    return None if options.weights is False or attribute not in attributes else str(attribute)


def _named_edges(
    ends: NDArray[np.int64],
    values: NDArray[Any] | None,
    nodes: NDArray[Any],
    options: ReadOptions,
    *,
    one_way: bool,
    column: str | None,
) -> EdgeTable:
    """Edges between positions in a list of nodes, with the nodes sorted."""
    weights = None if values is None else check_weights(values, len(ends))
    if options.directed and not one_way:
        ends = np.concatenate([ends, ends[:, ::-1]])
        weights = None if weights is None else np.concatenate([weights, weights])
    order = np.array(sorted(range(len(nodes)), key=nodes.tolist().__getitem__), dtype=np.int64)
    if len(set(nodes.tolist())) != len(nodes):
        raise InputError("two nodes have the same name; names must be distinct")
    rank = np.empty(len(nodes), dtype=np.int32)
    rank[order] = np.arange(len(nodes), dtype=np.int32)
    numbered = (rank[ends[:, 0]], rank[ends[:, 1]], nodes[order])
    return EdgeTable(numbered, weights, {"weight_column": column})


def _load_pyg(data: Any, options: ReadOptions) -> EdgeTable:
    weights = options.weights
    if weights is None:
        weights = getattr(data, "edge_weight", None)
    elif isinstance(weights, str):
        weights = getattr(data, weights, None)
        if weights is None:
            raise InputError(
                f"the data has no {options.weights!r}; edge_weight and edge_attr are usual", argument="weights"
            )
    nodes = data.num_nodes
    return _edge_index(_array(data.edge_index), weights, None if nodes is None else int(nodes))


def _load_tensor(tensor: Any, options: ReadOptions) -> EdgeTable:
    return _edge_index(_array(tensor), options.weights, None)


def _edge_index(index: NDArray[Any], weights: Any, nodes: int | None) -> EdgeTable:
    """PyG's form: two rows of node numbers, so that row i of the result is node i."""
    if index.ndim != 2 or index.shape[0] != 2 or (index.dtype.kind not in "iu" and index.size):
        raise InputError(f"an edge_index holds integers of shape (2, m), not {index.dtype} {index.shape}")
    lowest, highest = (int(index.min()), int(index.max())) if index.size else (0, -1)
    count = highest + 1 if nodes is None else nodes
    if lowest < 0 or highest >= count:
        raise InputError(f"an edge_index holds numbers from 0 to {count - 1} here, not {lowest} to {highest}")
    source, target = np.ascontiguousarray(index, dtype=np.int32)
    return EdgeTable((source, target, np.arange(count)), _edge_weights(weights, len(source)), row_numbers=True)


def _load_table(table: Any, options: ReadOptions) -> EdgeTable:
    if hasattr(table, "schema") and hasattr(table, "column"):
        from graphrefine.readers.arrow import edges_of_arrow  # for an optional package

        return edges_of_arrow(table, options)
    names = [str(name) for name in table.columns]
    frames = (table.iloc[:, at] if hasattr(table, "iloc") else table[names[at]] for at in range(len(names)))
    columns = [np.asarray(frame.to_numpy()) for frame in frames]
    edge_columns = find_columns(names, [each.dtype.kind in "iuf" for each in columns], options)
    weights = None
    if edge_columns.weight is not None:
        weights = check_weights(columns[edge_columns.weight], len(columns[edge_columns.weight]))
    ends = number(columns[edge_columns.source], columns[edge_columns.target], threads=options.thread_count)
    return EdgeTable(ends, weights, edge_columns.report)


def _load_array(array: Any, options: ReadOptions) -> EdgeTable | MatrixTable:
    values = np.asarray(array)
    shape = values.shape
    if values.ndim != 2 or 0 in shape:
        raise InputError(f"an array of edges has shape (m, 2), (m, 3) or (2, m), a matrix (n, n); not {shape}")
    if shape in ((2, 2), (3, 3), (2, 3)):
        raise InputError(
            f"an array of shape {shape} can be read in more than one way: use "
            "Graph.from_edges(source, target) for edges, or Graph.from_matrix for an adjacency matrix"
        )
    if shape[0] == shape[1] or (options.bipartite and shape[0] != 2 and shape[1] not in (2, 3)):
        return _load_matrix(values, options)
    if shape[0] == 2:
        return _edge_index(values, options.weights, None)
    if shape[1] not in (2, 3):
        raise InputError(
            f"an array of edges has shape (m, 2), (m, 3) or (2, m), a matrix (n, n); not {shape}; bipartite=True reads "
            "it as a matrix whose rows and columns are two sets of nodes",
            argument="bipartite",
        )
    weights = options.weights
    if shape[1] == 3 and weights is None:
        weights = values[:, 2]
    ends = number(values[:, 0], values[:, 1], threads=options.thread_count)
    return EdgeTable(ends, _edge_weights(weights, shape[0]))


def _load_records(records: Iterable[Any], options: ReadOptions) -> EdgeTable:
    edges = list(records)
    width = len(edges[0]) if edges and isinstance(edges[0], tuple | list) else 0
    for at, record in enumerate(edges, start=1):
        if not isinstance(record, tuple | list) or len(record) != width or width not in (2, 3):
            raise InputError(f"record {at} is {record!r}; give (u, v) or (u, v, weight) for every edge")
    if not edges:
        raise InputError("there is no edge")
    ids = as_ids(object_array([end for record in edges for end in record[:2]])).reshape(-1, 2)
    weights = options.weights
    if width == 3 and weights is None:
        weights = np.array([record[2] for record in edges])
    return EdgeTable(number(ids[:, 0], ids[:, 1], threads=options.thread_count), _edge_weights(weights, len(edges)))


def _edge_weights(weights: Any, count: int) -> NDArray[np.float32] | None:
    if weights is None or weights is False:
        return None
    if isinstance(weights, str | int):
        raise InputError(
            f"weights={weights!r}: these edges have no named columns; give an array, or False", argument="weights"
        )
    values = _array(weights)
    return check_weights(values.reshape(-1) if values.shape == (count, 1) else values, count)


def _array(values: Any) -> NDArray[Any]:
    """A tensor, on any device, or anything else, as an array."""
    return np.asarray(values.detach().cpu().numpy() if hasattr(values, "detach") else values)


def _is_iterable(graph: Any) -> bool:
    return isinstance(graph, Iterable) and not isinstance(graph, str | bytes | dict)


KINDS = (
    Kind("a SciPy sparse matrix or array", _has("tocsr", "nnz", "shape"), _load_matrix, SIDES),
    Kind("a NetworkX graph", _has("is_directed", "adjacency", "edges"), _load_networkx, VALUES),
    Kind("an igraph graph", _has("is_directed", "get_edgelist", "vs"), _load_igraph, VALUES),
    Kind("a PyG Data object", _has("edge_index", "num_nodes"), _load_pyg, VALUES),
    Kind("a tensor of shape (2, m)", _has("detach", "cpu", "numpy"), _load_tensor, SIDES),
    Kind("a pandas or polars data frame", _has("columns", "shape", "dtypes"), _load_table, COLUMNS),
    Kind("an Arrow table", _has("schema", "column", "num_rows"), _load_table, COLUMNS),
    Kind("a NumPy array", _has("__array__", "shape", "dtype"), _load_array, SIDES),
    Kind("an iterable of (u, v) or (u, v, weight)", _is_iterable, _load_records, SIDES),
)
