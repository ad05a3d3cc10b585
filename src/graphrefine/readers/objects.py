"""Graphs in memory: one line for each kind in `KINDS`, and the loaders of arrays, matrices, records and mappings.

A kind is recognized by its attributes, without an import of its package. A loader takes the object and the reader's
options and returns edges or a matrix, as those of `formats` do. A new kind is a loader and a line in the table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import InputError
from graphrefine.graph.adjacency import check_weights
from graphrefine.graph.node_ids import (
    MAX_NODES,
    add_nodes,
    id_array,
    is_missing_id,
    number,
    number_checked,
    object_array,
)
from graphrefine.readers.columns import ColumnTable
from graphrefine.readers.formats import SIDES, TABLE, TIMES, VALUES, EdgeTable, MatrixTable, import_loader
from graphrefine.readers.options import ReadOptions
from graphrefine.tables.kinds import read_days, unit_of
from graphrefine.tables.vocabulary import find_pair


@dataclass(frozen=True)
class Kind:
    """A kind of object: the test for it, its loader, and the options that apply to it."""

    name: str
    matches: Callable[[Any], bool]
    loader: str  # "module:function", imported when it is needed
    options: frozenset[str]
    may_be_names: bool = False  # where names of nodes are expected, it is a list of them unless it holds pairs

    def load(self, graph: Any, options: ReadOptions) -> EdgeTable | MatrixTable:
        """Load an object of this kind."""
        table: EdgeTable | MatrixTable = import_loader(self.loader)(graph, options)
        return table


def find_kind(graph: Any) -> Kind:
    """Return the kind of an object, or an error that lists all kinds."""
    for kind in KINDS:
        if kind.matches(graph):
            return kind
    names = ", ".join(kind.name for kind in KINDS)
    raise InputError(f"a graph cannot be read from {type(graph).__name__}; give a path, or {names}", argument="graph")


def load_matrix(matrix: Any, options: ReadOptions) -> MatrixTable:
    """Load a matrix: SciPy's of any kind, or a square array."""
    if options.names_weights:
        raise InputError("a matrix holds its own weights; weights=False leaves them out", argument="weights")
    return MatrixTable(matrix)


def edge_index(index: NDArray[Any], weights: Any, nodes: int | None) -> EdgeTable:
    """Return edges in PyG's form: two rows of node numbers, so that row i of the result is node i."""
    if index.ndim != 2 or index.shape[0] != 2 or (index.dtype.kind not in "iu" and index.size):
        raise InputError(f"an edge_index holds integers of shape (2, m), not {index.dtype} {index.shape}")
    lowest, highest = (int(index.min()), int(index.max())) if index.size else (0, -1)
    count = min(highest + 1, MAX_NODES) if nodes is None else nodes
    if lowest < 0 or highest >= count:
        raise InputError(
            f"an edge_index holds row numbers from 0 to {count - 1}, not {lowest} to {highest}; give edges of shape "
            "(m, 2), which may have any ids, as array.T does",
            argument="graph",
        )
    source, target = np.ascontiguousarray(index, dtype=np.int32)
    return EdgeTable((source, target, np.arange(count)), edge_weights(weights, len(source)), row_numbers=True)


def load_array(array: Any, options: ReadOptions) -> EdgeTable | MatrixTable:
    """Load a NumPy array: edges, an edge_index, or a matrix, by its shape."""
    values = array if isinstance(array, np.ma.MaskedArray) else np.asarray(array)
    shape = values.shape
    if shape in ((2, 2), (3, 3), (2, 3)):
        raise InputError(
            f"an array of shape {shape} can be read in more than one way: use "
            "Graph.from_edges(source, target) for edges, or Graph.from_matrix for an adjacency matrix"
        )
    is_table = len(shape) == 2 and 0 not in shape
    if is_table and (shape[0] == shape[1] or (options.bipartite and shape[0] != 2 and shape[1] not in (2, 3))):
        return load_matrix(values.filled(0) if isinstance(values, np.ma.MaskedArray) else values, options)
    if is_table and shape[0] == 2:
        return edge_index(values, options.weights, None)
    if not is_table or shape[1] not in (2, 3):
        raise InputError(
            f"an array of edges has shape (m, 2), (m, 3) or (2, m), a matrix (n, n); not {shape}; bipartite=True reads "
            "it as a matrix whose rows and columns are two sets of nodes",
            argument="bipartite",
        )
    weights = options.weights
    if shape[1] == 3 and weights is None:
        weights = _third_values(values[:, 2])
    ends = number(values[:, 0], values[:, 1], threads=options.thread_count, apart=bool(options.bipartite))
    return EdgeTable(ends, edge_weights(weights, shape[0]))


def load_records(records: Iterable[Any], options: ReadOptions) -> EdgeTable:
    """Load (u, v) or (u, v, weight) for every edge."""
    edges = list(records)
    width = len(edges[0]) if edges and isinstance(edges[0], tuple | list) else 0
    for at, record in enumerate(edges, start=1):
        if not isinstance(record, tuple | list) or len(record) != width or width not in (2, 3):
            raise InputError(f"record {at} is {record!r}; give (u, v) or (u, v, weight) for every edge")
    if not edges:
        raise InputError("there is no edge")
    ids = id_array(end for record in edges for end in record[:2])
    weights = options.weights
    if width == 3 and weights is None:
        odd = next((at for at, edge in enumerate(edges) if isinstance(edge[2], list | tuple | np.ndarray)), None)
        if odd is not None:
            problem = f"record {odd + 1} is {edges[odd]!r}; the weight of an edge is one number"
            raise InputError(problem, argument="weights")
        weights = _third_values(np.array([edge[2] for edge in edges]))
    ends = number_checked(ids[::2], ids[1::2], threads=options.thread_count, apart=bool(options.bipartite))
    return EdgeTable(ends, edge_weights(weights, len(edges)))


def _third_values(values: NDArray[Any]) -> NDArray[Any]:
    """Return the third values of edges as weights, unless they look like times."""
    if values.dtype.kind in "iuf" and len(values) and (unit_of(values) is not None or read_days(values) is not None):
        problem = f"the third value of each edge looks like a time ({values[0]}), not like a weight"
        hint = "pass weights=False, weights= as an array, or a table with names and time="
        raise InputError(f"{problem}: {hint}", argument="weights")
    return values


def edge_weights(weights: Any, count: int) -> NDArray[np.float32] | None:
    """Return weights of edges that have no named columns: an array, or none."""
    if weights is None or weights is False:
        return None
    if isinstance(weights, str | int):
        raise InputError(
            f"weights={weights!r}: these edges have no named columns; give an array, or False", argument="weights"
        )
    values = as_array(weights)
    return check_weights(values.reshape(-1) if values.shape == (count, 1) else values, count)


def as_array(values: Any) -> NDArray[Any]:
    """Return a tensor, on any device, or anything else, as an array."""
    if isinstance(values, np.ma.MaskedArray):
        return np.ma.filled(np.ma.asarray(values, np.float64), np.nan)
    return np.asarray(values.detach().cpu().numpy() if hasattr(values, "detach") else values)


def load_mapping(mapping: Mapping[Any, Any], options: ReadOptions) -> EdgeTable:
    """Load a mapping: columns if options or usual names say so, neighbors if the values cannot be columns.

    Where it can be either, it is refused.
    """
    if not mapping:
        raise InputError("the mapping is empty; a graph needs at least one edge", argument="graph")
    if options.source is not None or options.target is not None:
        return _load_columns(mapping, options)
    columns, neighbors = _may_be_columns(mapping), all(map(_is_listing, mapping.values()))
    usual = columns and find_pair(list(mapping)) is not None
    if usual and not _mentions_keys(mapping):
        return _load_columns(mapping, options)
    equal = columns and len({len(value) for value in mapping.values()}) == 1
    if neighbors and not usual and (not equal or _mentions_keys(mapping)):
        return _load_neighbors(mapping, options)
    if not columns:
        odd = next(key for key, value in mapping.items() if not _is_listing(value))
        raise InputError(
            f"the mapping has {odd!r}: {type(mapping[odd]).__name__}; give lists of neighbors {{node: [neighbor]}}, "
            "neighbors with weights {node: {neighbor: weight}}, or columns of equal length",
            argument="graph",
        )
    raise InputError(
        f"a mapping of lists such as {next(iter(mapping))!r} can be read in two ways: source= and target= name the "
        "columns of a table; sets instead of lists are the neighbors of each node",
        argument="source",
    )


def _load_columns(mapping: Mapping[Any, Any], options: ReadOptions) -> EdgeTable:
    names = [str(name) for name in mapping]
    arrays = [_column(values) for values in mapping.values()]
    lengths = {len(array) for array in arrays}
    if len(lengths) > 1:
        raise InputError(f"the columns {', '.join(names)} have different lengths: {sorted(lengths)}", argument="graph")
    edges = ColumnTable(names, arrays.__getitem__).edges(options)
    edges.report["format"] = "a mapping of columns"
    return edges


def _column(values: Any) -> NDArray[Any]:
    """Return a list or an array as a column, in which 1 and "a" keep their types."""
    if hasattr(values, "to_numpy"):
        return np.asarray(values.to_numpy())
    if not _is_listing(values):
        raise InputError(f"a column is a list or an array, not {type(values).__name__}: {values!r}", argument="graph")
    return values if isinstance(values, np.ndarray) else object_array(list(values))


def _load_neighbors(mapping: Mapping[Any, Any], options: ReadOptions) -> EdgeTable:
    """Load edges from each key to its neighbors; keys without any are nodes without edges."""
    for name in TIMES:
        if getattr(options, name) is not None:
            raise InputError(f"{name}= does not apply to a mapping of nodes; give a table", argument=name)
    triples = [
        (node, neighbor, weight)
        for node, neighbors in mapping.items()
        for neighbor, weight in _list_neighbors(node, neighbors, options)
    ]
    ids = id_array([end for triple in triples for end in triple[:2]])
    numbered = number_checked(ids[::2], ids[1::2], threads=options.thread_count, apart=bool(options.bipartite))
    if not options.bipartite:
        numbered = add_nodes(numbered, id_array([node for node in mapping if not is_missing_id(node)]))
    weights = None
    weighted = any(weight is not None for _, _, weight in triples)
    if options.names_weights and not (weighted and isinstance(options.weights, str)):
        raise InputError(
            f"weights={options.weights!r}: no edge has it; give weights as {{node: {{neighbor: weight}}}}, or False",
            argument="weights",
        )
    if weighted and options.weights is not False:
        values = object_array([1 if weight is None else weight for _, _, weight in triples])
        weights = check_weights(values, len(triples))
    return EdgeTable(numbered, weights, {"format": "a mapping of nodes to neighbors"})


def _list_neighbors(node: Any, neighbors: Any, options: ReadOptions) -> list[tuple[Any, Any]]:
    """Return the neighbors of a node and their weights, None where there is none."""
    if not isinstance(neighbors, Mapping):
        return [(neighbor, None) for neighbor in neighbors]
    pairs = []
    for neighbor, value in neighbors.items():
        parallel = isinstance(value, Mapping) and value and all(isinstance(each, Mapping) for each in value.values())
        for each in value.values() if parallel else [value]:  # the latter but of a multigraph's dict of dicts
            pairs.append((neighbor, _edge_weight(node, neighbor, each, options)))
    return pairs


def _edge_weight(node: Any, neighbor: Any, value: Any, options: ReadOptions) -> Any:
    """Return the weight of an edge: a number, or an attribute of NetworkX's dict of dicts."""
    if isinstance(value, Mapping):
        return value.get(options.weights if isinstance(options.weights, str) else "weight")
    if value is None or isinstance(value, int | float | np.number):
        return value
    problem = f"the edge {node!r} - {neighbor!r} has the weight {value!r}; a number is expected"
    raise InputError(problem, argument="weights")


def _is_listing(value: Any) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, str | bytes)


def _may_be_columns(mapping: Mapping[Any, Any]) -> bool:
    """Return whether the values can be columns: two or more, in order, under names."""
    values = list(mapping.values())
    if len(values) < 2 or not all(isinstance(name, str) for name in mapping):
        return False
    return all(
        _is_listing(value) and hasattr(value, "__len__") and not isinstance(value, Mapping | set | frozenset)
        for value in values
    )


def _mentions_keys(mapping: Mapping[Any, Any]) -> bool:
    """Return whether some value names a key, as lists of neighbors do."""
    keys = set(mapping)
    return any(isinstance(each, str) and each in keys for value in mapping.values() for each in value)


def _has(*attributes: str) -> Callable[[Any], bool]:
    return lambda graph: not isinstance(graph, type) and all(hasattr(graph, name) for name in attributes)


def _is_mapping(graph: Any) -> bool:
    return isinstance(graph, Mapping)


def _is_record_array(graph: Any) -> bool:
    return isinstance(graph, np.ndarray) and graph.dtype.names is not None


def _has_arrow(graph: Any) -> bool:
    """Return whether an object hands out its columns by the Arrow C interface; a series is no table."""
    series = hasattr(graph, "dtype") or (hasattr(graph, "type") and hasattr(graph, "null_count"))
    return (_has("__arrow_c_stream__")(graph) or _has("__arrow_c_array__")(graph)) and not series


_NODES = VALUES | {"names"}
_TWO_SIDES = _NODES | {"bipartite"}

KINDS = (
    Kind("a SciPy sparse matrix or array", _has("tocsr", "nnz", "shape"), "objects:load_matrix", SIDES),
    Kind("a NetworkX graph", _has("is_directed", "adjacency", "edges"), "networks:load_networkx", _TWO_SIDES),
    Kind("an igraph graph", _has("is_directed", "get_edgelist", "vs"), "networks:load_igraph", _TWO_SIDES),
    Kind("a rustworkx graph", _has("node_indices", "weighted_edge_list"), "networks:load_rustworkx", _NODES),
    Kind("a NetworKit graph", _has("iterNodes", "iterEdgesWeights"), "networks:load_networkit", VALUES),
    Kind("a PyG Data object", _has("edge_index", "num_nodes"), "networks:load_pyg", VALUES),
    Kind("a torch tensor", _has("detach", "cpu", "numpy"), "networks:load_tensor", SIDES),
    Kind("a pandas data frame", _has("iloc", "index", "columns"), "frames:load_pandas", TABLE),
    Kind("a pandas series", _has("iloc", "index", "to_frame"), "frames:load_series", TABLE, may_be_names=True),
    Kind("a polars LazyFrame", _has("collect", "collect_schema"), "frames:load_lazy", TABLE),
    Kind("an Arrow table (polars, DuckDB ...)", _has_arrow, "frames:load_arrow", TABLE),
    Kind("a NumPy record array", _is_record_array, "frames:load_structured", TABLE),
    Kind("a NumPy array", _has("__array__", "shape", "dtype"), "objects:load_array", SIDES, may_be_names=True),
    Kind("a mapping of columns, or of nodes to neighbors", _is_mapping, "objects:load_mapping", TABLE),
    Kind("an iterable of (u, v) or (u, v, weight)", _is_listing, "objects:load_records", SIDES, may_be_names=True),
)
