"""Mappings: columns by name, {"source": [...], "target": [...]}, or neighbors by node, {"ann": ["bob", "cy"]}."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from graphrefine.errors import InputError
from graphrefine.graph.adjacency import check_weights
from graphrefine.graph.node_ids import add_nodes, id_array, is_missing_id, number_checked, object_array
from graphrefine.readers.columns import ColumnTable, edges_of_columns
from graphrefine.readers.formats import TIMES, EdgeTable
from graphrefine.readers.options import ReadOptions
from graphrefine.tables.vocabulary import find_pair


def load_mapping(mapping: Mapping[Any, Any], options: ReadOptions) -> EdgeTable:
    """Load a mapping: columns if options or usual names say so, neighbors if the values cannot be columns.

    Where it can be either, it is refused.
    """
    if not mapping:
        raise InputError("the mapping is empty; a graph needs at least one edge", argument="graph")
    if options.source is not None or options.target is not None:
        return _load_columns(mapping, options)
    columns, neighbors = _may_be_columns(mapping), _may_be_neighbors(mapping)
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
        "columns of a table; sets in place of lists are the neighbors of each node",
        argument="source",
    )


def _load_columns(mapping: Mapping[Any, Any], options: ReadOptions) -> EdgeTable:
    names = [str(name) for name in mapping]
    arrays = [_column(values) for values in mapping.values()]
    lengths = {len(array) for array in arrays}
    if len(lengths) > 1:
        raise InputError(f"the columns {', '.join(names)} have different lengths: {sorted(lengths)}", argument="graph")
    numeric = [_is_numeric(array) for array in arrays]
    edges = edges_of_columns(ColumnTable(names, numeric, arrays.__getitem__), options)
    edges.report["format"] = "a mapping of columns"
    return edges


def _column(values: Any) -> Any:
    """Return a list or an array as a column, in which 1 beside "a" stays a number."""
    if hasattr(values, "to_numpy"):
        return np.asarray(values.to_numpy())
    if not isinstance(values, Iterable) or isinstance(values, str | bytes):
        raise InputError(f"a column is a list or an array, not {type(values).__name__}: {values!r}", argument="graph")
    return values if isinstance(values, np.ndarray) else object_array(list(values))


def _is_numeric(array: Any) -> bool:
    if array.dtype != object:
        return bool(array.dtype.kind in "iuf")
    return all(isinstance(value, int | float | np.number) and not isinstance(value, bool) for value in array)


def _load_neighbors(mapping: Mapping[Any, Any], options: ReadOptions) -> EdgeTable:
    """Edges from each key to its neighbors; keys without any are nodes without edges."""
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
    return [
        (neighbor, weight)
        for neighbor, value in neighbors.items()
        for weight in _list_weights(node, neighbor, value, options)
    ]


def _list_weights(node: Any, neighbor: Any, value: Any, options: ReadOptions) -> list[Any]:
    """Return the weights of an edge: a number, an attribute of NetworkX's dict of dicts, or several of those."""
    if not isinstance(value, Mapping):
        if value is None or isinstance(value, int | float | np.number):
            return [value]
        raise InputError(
            f"the edge {node!r} - {neighbor!r} has the weight {value!r}; a number is expected", argument="weights"
        )
    if value and all(isinstance(each, Mapping) for each in value.values()):
        return [weight for each in value.values() for weight in _list_weights(node, neighbor, each, options)]
    attribute = options.weights if isinstance(options.weights, str) else "weight"
    return [value.get(attribute)]


def _is_listing(value: Any) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, str | bytes)


def _may_be_columns(mapping: Mapping[Any, Any]) -> bool:
    """Whether the values can be columns: two or more, in order, under names."""
    values = list(mapping.values())
    ordered = all(_is_listing(value) and hasattr(value, "__len__") for value in values)
    if not ordered or any(isinstance(value, Mapping | set | frozenset) for value in values):
        return False
    return len(values) > 1 and all(isinstance(name, str) for name in mapping)


def _may_be_neighbors(mapping: Mapping[Any, Any]) -> bool:
    return all(_is_listing(value) for value in mapping.values())


def _mentions_keys(mapping: Mapping[Any, Any]) -> bool:
    """Whether some value names a key, as lists of neighbors do."""
    keys = set(mapping)
    return any(isinstance(each, str) and each in keys for value in mapping.values() for each in value)
