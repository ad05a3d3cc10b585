"""Graphs of other libraries: NetworkX, igraph, rustworkx, NetworKit and PyG, with all that they tell; tensors of torch.

These say by themselves whether their edges have a direction. An undirected one that is read as directed counts in both
directions. Parallel edges add their weights.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array

from graphrefine.errors import InputError
from graphrefine.graph.adjacency import check_weights
from graphrefine.graph.node_ids import name_array, object_array, sort_rows
from graphrefine.readers.formats import EdgeTable, MatrixTable, make_report
from graphrefine.readers.objects import as_array, edge_index, load_array, load_matrix
from graphrefine.readers.options import ReadOptions

_PYG_EDGES = frozenset({"edge_index", "edge_weight", "num_nodes"})


class Network(NamedTuple):
    """Nodes, and edges between their positions, as a library lists them."""

    names: NDArray[Any]  # (n,)
    ends: NDArray[np.int64]  # (m, 2)
    weights: Sequence[Any] | None  # (m,), None in it where an edge has none
    directed: bool
    weight_column: str | None = None
    attributes: dict[str, NDArray[Any]] = {}  # noqa: RUF012 - never changed
    side: str = "bipartite"  # attribute of the nodes that holds their side, as NetworkX has it
    unused: tuple[str, ...] = ()  # attributes of the edges


def load_networkx(graph: Any, options: ReadOptions) -> EdgeTable | MatrixTable:
    """Load a NetworkX graph of any of its classes."""
    records = [data for _, _, data in graph.edges(data=True)]
    present = {name for data in records for name in data}
    attribute = _weight_attribute(options, present)
    weights = None if attribute is None else [data.get(attribute) for data in records]
    attributes = _gather_attributes([data for _, data in graph.nodes(data=True)])
    names = _names(list(graph.nodes), attributes, options)
    unused = tuple(sorted(str(name) for name in present if name != attribute))
    ends = _ends(graph.nodes, graph.edges())
    return _load(Network(names, ends, weights, graph.is_directed(), attribute, attributes, unused=unused), options)


def load_igraph(graph: Any, options: ReadOptions) -> EdgeTable | MatrixTable:
    """Load an igraph graph; names are the attribute name, if there is one."""
    attribute = _weight_attribute(options, set(graph.es.attributes()))
    attributes = {name: object_array(graph.vs[name]) for name in graph.vs.attributes()}
    nodes = range(graph.vcount())
    names = _names(attributes.get("name", nodes), attributes, options)
    network = Network(
        names,
        _ends(nodes, graph.get_edgelist()),
        None if attribute is None else graph.es[attribute],
        graph.is_directed(),
        attribute,
        {name: values for name, values in attributes.items() if name != (options.names or "name")},
        side="type",
        unused=tuple(name for name in graph.es.attributes() if name != attribute),
    )
    return _load(network, options)


def load_rustworkx(graph: Any, options: ReadOptions) -> EdgeTable | MatrixTable:
    """Load a rustworkx graph; what it keeps for its nodes are their names, if these differ."""
    indices, payloads = list(graph.node_indices()), list(graph.nodes())
    triples = list(graph.weighted_edge_list())
    attribute, weights = _payload_weights([payload for _, _, payload in triples], options)
    records = bool(payloads) and all(isinstance(payload, dict) for payload in payloads)
    named = not records and _distinct(payloads)
    others = [] if named else [{"payload": each} for each in payloads]
    attributes = _gather_attributes(payloads if records else others)
    names = _names(payloads if named else indices, attributes, options)
    directed = hasattr(graph, "successors")  # of a PyDiGraph alone
    return _load(Network(names, _ends(indices, triples), weights, directed, attribute, attributes), options)


def load_networkit(graph: Any, options: ReadOptions) -> EdgeTable | MatrixTable:
    """Load a NetworKit graph, whose nodes are numbers."""
    if options.names_weights:
        problem = "a NetworKit graph has one weight for each edge; leave it out, or pass weights=False"
        raise InputError(f"weights={options.weights!r}: {problem}", argument="weights")
    nodes, triples = list(graph.iterNodes()), list(graph.iterEdgesWeights())
    weighted = graph.isWeighted() and options.weights is not False
    weights = [weight for _, _, weight in triples] if weighted else None
    return _load(Network(name_array(nodes), _ends(nodes, triples), weights, graph.isDirected()), options)


def _load(network: Network, options: ReadOptions) -> EdgeTable | MatrixTable:
    """Return the edges, or the matrix of two sides, with the nodes sorted by name."""
    # The rows of a graph are sorted by name, so that its vectors do not depend on the order in which a library lists
    # nodes; attributes follow the same order.
    names = network.names
    notes: list[str] = []
    weights = _edge_weights(network, notes)
    # Some libraries list the parallel edges of an undirected graph in both orders, which would be the two directions of
    # one edge, of which the larger weight counts: in one order they add up.
    ends = network.ends if network.directed else np.sort(network.ends, axis=1)
    if len(np.unique(ends[:, 0] * len(names) + ends[:, 1])) < len(ends):
        notes.append("parallel edges are one, with the sum of their weights (1 each where there are none)")
    if options.bipartite:
        notes.append(f"sides by the nodes' attribute {network.side!r}")
    elif network.side in network.attributes and set(network.attributes[network.side].tolist()) == {0, 1}:
        notes.append(f"bipartite=True would read the nodes' attribute {network.side!r} as two sides")
    report = make_report(weight_column=network.weight_column, unused=network.unused, notes=notes)
    if options.bipartite:
        return _load_sides(network, weights, report)
    if options.directed and not network.directed:
        ends = np.concatenate([ends, ends[:, ::-1]])
        weights = None if weights is None else np.concatenate([weights, weights])
    order = sort_rows(names)
    rank = np.argsort(order).astype(np.int32)
    numbered = rank[ends[:, 0]], rank[ends[:, 1]], names[order]
    attributes = {name: values[order] for name, values in network.attributes.items()}
    return EdgeTable(numbered, weights, report, directed=network.directed, attributes=attributes)


def _load_sides(network: Network, weights: NDArray[np.float32] | None, report: dict[str, Any]) -> MatrixTable:
    """Return the matrix of a bipartite graph, a row for each node of side 0 and a column for each of side 1."""
    side, ends, order = _sides(network), network.ends, sort_rows(network.names)
    inside = np.flatnonzero(side[ends[:, 0]] == side[ends[:, 1]])
    if inside.size:
        first, second = (network.names.tolist()[at] for at in ends[inside[0]])
        raise InputError(
            f"the edge {first!r} - {second!r} joins two nodes of one side, by their attribute {network.side!r}; "
            "bipartite=True needs edges between the sides",
            argument="bipartite",
        )
    rows, columns = order[side[order] == 0], order[side[order] == 1]
    rank = np.empty(len(order), np.int64)
    rank[rows], rank[columns] = np.arange(len(rows)), np.arange(len(columns))
    row, column = rank[np.where(side[ends[:, :1]] == 0, ends, ends[:, ::-1])].T
    values = np.ones(len(ends), np.float32) if weights is None else weights
    both = np.concatenate([rows, columns])
    return MatrixTable(
        coo_array((values, (row, column)), shape=(len(rows), len(columns))),
        report,
        names=network.names[rows],
        column_names=network.names[columns],
        attributes={name: values[both] for name, values in network.attributes.items()},
    )


def _sides(network: Network) -> NDArray[np.int64]:
    """Return the side of each node, 0 or 1."""
    sides = network.attributes.get(network.side, object_array([None] * len(network.names)))
    odd = next((at for at, side in enumerate(sides.tolist()) if side not in (0, 1)), None)
    if odd is not None:
        raise InputError(
            f"bipartite=True needs the side of each node, 0 or 1, as its attribute {network.side!r}; that of the node "
            f"{network.names.tolist()[odd]!r} is {sides[odd]!r}; or give pairs (source, target)",
            argument="bipartite",
        )
    return sides.astype(np.int64)


def _names(nodes: Iterable[Any], attributes: dict[str, NDArray[Any]], options: ReadOptions) -> NDArray[Any]:
    """Return the names of the nodes: the nodes themselves, or the attribute that the options name; all different."""
    hint = "; names= can name an attribute that tells them apart"
    if options.names is not None:
        if options.names not in attributes:
            known = f"the attributes are {sorted(attributes)}" if attributes else "they have none"
            raise InputError(f"names={options.names!r}: no node has that attribute; {known}", argument="names")
        nodes, hint = attributes[options.names].tolist(), f", by names={options.names!r}"
    names = name_array(nodes)
    twice = next((name for name, count in Counter(names.tolist()).items() if count > 1), None)
    if twice is not None:
        raise InputError(f"two nodes are called {twice!r}{hint}", argument="names")
    return names


def _weight_attribute(options: ReadOptions, attributes: set[Any]) -> str | None:
    """Return the attribute of the edges that holds their weights, if there is one."""
    named = options.names_weights
    attribute = options.weights if named else "weight"
    if named and (not isinstance(attribute, str) or attribute not in attributes):
        raise InputError(
            f"no edge has the attribute {attribute!r}; the attributes are {sorted(map(str, attributes))}",
            argument="weights",
        )
    return None if options.weights is False or attribute not in attributes else str(attribute)


def _payload_weights(payloads: list[Any], options: ReadOptions) -> tuple[str | None, list[Any] | None]:
    """Return name and values of the weights that rustworkx keeps for edges: numbers, or entries of dicts."""
    if any(isinstance(payload, dict) for payload in payloads):
        attribute = _weight_attribute(options, {name for each in payloads if isinstance(each, dict) for name in each})
        values = [each.get(attribute) if isinstance(each, dict) else each for each in payloads]
        return attribute, None if attribute is None else values
    if isinstance(options.weights, str):
        problem = f"weights={options.weights!r}: the edges hold single values, not dicts; leave it out"
        raise InputError(problem, argument="weights")
    numeric = any(isinstance(payload, int | float | np.number) for payload in payloads)
    return None, payloads if numeric and options.weights is not False else None


def _edge_weights(network: Network, notes: list[str]) -> NDArray[np.float32] | None:
    """Return weights, 1 where an edge has none, with a note."""
    if network.weights is None:
        return None
    if absent := sum(weight is None for weight in network.weights):
        notes.append(f"edges without a weight count as 1: {absent:,}")
    values = object_array([1 if weight is None else weight for weight in network.weights])
    odd = next((weight for weight in values if isinstance(weight, str | bytes)), None)
    if odd is not None:
        raise InputError(f"weights must be numbers, not {odd!r}; weights=False reads none", argument="weights")
    return check_weights(values, len(network.ends))


def _gather_attributes(records: list[dict[Any, Any]]) -> dict[str, NDArray[Any]]:
    """Return a column for each attribute of some node, with None where a node has none."""
    names = dict.fromkeys(name for data in records for name in data)
    return {str(name): object_array([data.get(name) for data in records]) for name in names}


def _ends(nodes: Iterable[Any], edges: Iterable[Sequence[Any]]) -> NDArray[np.int64]:
    """Return the positions of the ends of edges among the nodes."""
    position = {node: at for at, node in enumerate(nodes)}
    return np.array([(position[edge[0]], position[edge[1]]) for edge in edges], dtype=np.int64).reshape(-1, 2)


def _distinct(values: list[Any]) -> bool:
    """Return whether values can serve as names: all different, none missing."""
    if any(value is None or not isinstance(value, Hashable) for value in values):
        return False
    try:
        return len(set(name_array(values).tolist())) == len(values)
    except (InputError, TypeError):
        return False


def load_tensor(tensor: Any, options: ReadOptions) -> EdgeTable | MatrixTable:
    """Load a tensor: an edge_index of shape (2, m), or a matrix, sparse or dense."""
    if str(getattr(tensor, "layout", "")).startswith("torch.sparse"):
        if len(tensor.shape) != 2:
            raise InputError(f"an adjacency matrix has two dimensions, not {len(tensor.shape)}")
        entries = tensor.detach().cpu().to_sparse_coo().coalesce()  # duplicate entries add up
        ends, shape = tuple(as_array(entries.indices())), tuple(map(int, tensor.shape))
        return load_matrix(coo_array((as_array(entries.values()), ends), shape=shape), options)
    values = as_array(tensor)
    is_index = values.ndim == 2 and values.shape[0] == 2 and values.dtype.kind in "iu"
    return edge_index(values, options.weights, None) if is_index else load_array(values, options)


def load_pyg(data: Any, options: ReadOptions) -> EdgeTable:
    """Load a PyG Data object; its nodes are numbers, and its direction is what `is_directed` says."""
    named = isinstance(options.weights, str)
    name = options.weights if named else "edge_weight"
    weights = getattr(data, name, None) if named or options.weights is None else options.weights
    if named and weights is None:
        raise InputError(f"the data has no {name!r}; edge_weight and edge_attr are usual", argument="weights")
    nodes = data.num_nodes
    table = edge_index(as_array(data.edge_index), weights, None if nodes is None else int(nodes))
    attributes, ignored = {}, []
    keys = data.keys() if callable(getattr(data, "keys", None)) else vars(data)
    for key in sorted(set(map(str, keys)) - {*_PYG_EDGES, name}):
        values = getattr(data, key, None)
        shape = tuple(getattr(values, "shape", ()))
        if shape == (len(table.numbered[2]),) and not key.startswith("edge"):
            attributes[key] = object_array(as_array(values).tolist())
        elif values is not None:
            ignored.append(key)
    directed = bool(data.is_directed()) if callable(getattr(data, "is_directed", None)) else None
    listed = "one direction only" if directed else "both directions"
    notes = [] if directed is None else [f"the edge_index lists edges in {listed}"]
    report = make_report(weight_column=None if table.weights is None else name, unused=ignored, notes=notes)
    return EdgeTable(table.numbered, table.weights, report, row_numbers=True, directed=directed, attributes=attributes)
