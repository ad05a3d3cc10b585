"""Graphs in JSON: node-link (NetworkX, d3), Cytoscape, JSON Graph Format, lists of edges, and JSON Lines.

Columns of edges follow the rules of tables; names of nodes are integers or strings, as JSON has them. The ends of edges
may be positions in the list of nodes, as d3 has them: if they are whole numbers, and none of them is a node's id.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import chain
from typing import Any

from graphrefine.errors import InputError
from graphrefine.graph.node_ids import table_key
from graphrefine.readers.attributed_graph import AttributedGraph, list_names
from graphrefine.readers.columns import ColumnTable, table_of_records
from graphrefine.readers.formats import EdgeTable
from graphrefine.readers.options import ReadOptions
from graphrefine.system import distinct_keys
from graphrefine.tables.source import Source, check_fields

_EDGES = ("links", "edges")
_NODES = ("nodes", "vertices")
_TEXTS = ("id", "source", "target")  # in Cytoscape
_IDS = ("id", "name", "key", "label")
_SHAPES = (
    'a graph in JSON is {"nodes": [...], "links": [...]} (also "edges"), the elements of Cytoscape, a list of '
    '{"source": ..., "target": ...} or of [u, v], or one such record on each line (format="jsonl")'
)


def load(source: Source, options: ReadOptions) -> EdgeTable:
    """Load a JSON file; one with a record on each line is read as JSON Lines."""
    try:
        document = json.loads(source.data, object_pairs_hook=distinct_keys)
    except json.JSONDecodeError as error:
        # A second document after the first: many programs call their JSON Lines .json.
        if error.msg != "Extra data" or options.format is not None:
            raise source.error(f"this is not JSON: {error.msg}", line=error.lineno) from None
        table = load_lines(source, options)
        table.report["format"] = "jsonl"
        return table
    source.release()
    return _load_document(source, document, options)


def load_lines(source: Source, options: ReadOptions) -> EdgeTable:
    """Load JSON Lines: an object, or an array [u, v] or [u, v, weight], on each line."""
    rows: list[tuple[int, Any]] = []
    for line, text in enumerate(source.data.split(b"\n"), start=1):
        if text.strip():
            try:
                rows.append((line, json.loads(text, object_pairs_hook=distinct_keys)))
            except json.JSONDecodeError as error:
                raise source.error(f"this is not JSON: {error.msg}", line=line) from None
            except InputError as error:  # duplicate keys
                raise source.error(error, line=line) from None
    source.release()
    return _load_records(source, rows, options)


def _load_document(source: Source, document: Any, options: ReadOptions) -> EdgeTable:
    if isinstance(document, list):
        if document and isinstance(document[0], dict) and "data" in document[0]:
            return _load_cytoscape(source, {"elements": document}, options)
        return _load_records(source, [(0, record) for record in document], options)
    if not isinstance(document, dict):
        raise source.error(_SHAPES, argument="format")
    if "elements" in document:
        return _load_cytoscape(source, document, options)
    inner = document.get("graph")
    if not _lists(document, _NODES) and isinstance(inner, dict) and _lists(inner, (*_NODES, *_EDGES)):
        document = inner  # JSON Graph Format
    edges = _lists(document, _EDGES)
    if edges is None:
        raise source.error(f"there are no edges; {_SHAPES}; the keys are {list_names(document)}", argument="format")
    return _load_node_link(source, _lists(document, _NODES), edges, options, _direction(source, document))


def _lists(document: dict[str, Any], names: Iterable[str]) -> Any:
    """Return the first of these values that is a list or an object."""
    return next((document[name] for name in names if isinstance(document.get(name), list | dict)), None)


def _load_records(source: Source, rows: list[tuple[int, Any]], options: ReadOptions) -> EdgeTable:
    """Load edges that are objects, or arrays of one length."""
    if options.names is not None:
        raise InputError("names= is for nodes with attributes, and there are edges alone", argument="names")
    if not rows:
        raise source.error("there is no edge in the file")
    first = rows[0][1]
    kind, width = (list, len(first)) if isinstance(first, list) else (dict, 0)
    check_fields(width, "values in a record")
    for number, (line, record) in enumerate(rows, start=1):
        if not isinstance(record, kind) or (width and len(record) != width):
            expected = f"array of {width} values" if width else "object"
            problem = f"{str(record)[:40]!r} is no {expected}, as the first record is"
            raise source.error(problem if line else f"record {number}: {problem}", line=line or None)
    if kind is dict:
        return table_of_records([record for _, record in rows]).edges(options)
    columns = [[record[at] for _, record in rows] for at in range(width)]
    return ColumnTable([None] * width, columns.__getitem__).edges(options)


def _load_node_link(source: Source, nodes: Any, edges: Any, options: ReadOptions, directed: bool | None) -> EdgeTable:
    if isinstance(edges, dict):
        raise source.error("the edges are an object; a list is expected")
    if nodes is None:
        return replace(_load_records(source, [(0, record) for record in edges], options), directed=directed)
    if isinstance(nodes, dict):  # by id
        nodes = [{"id": id, **(each if isinstance(each, dict) else {})} for id, each in nodes.items()]
    nodes = [{"id": node} if isinstance(node, str | int) else node for node in nodes]
    nodes = [_flat(source, record, "node") for record in nodes]
    return _join(source, nodes, [_flat(source, record, "edge") for record in edges], options, directed=directed)


def _flat(source: Source, record: Any, word: str) -> dict[str, Any]:
    """Return a record with its attributes, where these are in an object inside of it."""
    if not isinstance(record, dict):
        raise source.error(f"a {word} is {str(record)[:40]!r}; an object is expected")
    flat = dict(record)
    for name in ("attributes", "metadata"):
        if isinstance(flat.get(name), dict):
            flat |= flat.pop(name)
    return flat


def _direction(source: Source, document: dict[str, Any]) -> bool | None:
    value = document.get("directed")
    if value is None or isinstance(value, bool):
        return value
    raise source.error(f'"directed" is {value!r}; it must be true or false')


def _join(
    source: Source,
    nodes: list[dict[str, Any]],
    edges: list[dict[str, Any]],
    options: ReadOptions,
    *,
    directed: bool | None,
    typed: bool = True,
) -> EdgeTable:
    """Return nodes with attributes, and edges between their ids or positions."""
    if not edges:
        raise source.error("there is no edge in the file")
    columns = table_of_records(edges)
    roles = columns.find_edges(options)
    first, second = (str(columns.names[at]) for at in (roles.source, roles.target))
    weight = None if roles.weight is None else str(columns.names[roles.weight])
    ends = [(_as_id(edge.get(first)), _as_id(edge.get(second))) for edge in edges]
    id_key, ids = _ids(nodes)
    if options.weights is not False:
        options = replace(options, weights=weight)
    graph = AttributedGraph(source, options, closed=True, typed=typed)
    resolve = _resolver(graph, ids, [*chain.from_iterable(ends)])
    for id, node in zip(ids, nodes, strict=True):
        graph.add_node(id, {key: value for key, value in node.items() if key != id_key})
    for edge, (start, end) in zip(edges, ends, strict=True):
        own = edge.get("directed")
        attributes = {} if weight is None else {weight: edge.get(weight)}
        direction = own if isinstance(own, bool) else directed
        graph.add_edge(resolve(start), resolve(end), attributes, directed=direction)
    others = [str(name) for name in columns.names]
    graph.unused |= dict.fromkeys(name for name in others if name not in (first, second, weight, "directed"))
    graph.report["columns"] = roles.report["columns"]
    return replace(graph.table(), sets=roles.sets)


def _ids(nodes: list[dict[str, Any]]) -> tuple[str | None, list[Any]]:
    """Return the ids of nodes, and their key; positions, where no key has distinct values for all nodes."""
    for key in _IDS:
        if nodes and all(key in node for node in nodes):
            ids = [_as_id(node[key]) for node in nodes]
            if key == "id" or len(set(map(table_key, ids))) == len(ids):
                return key, ids
    return None, list(range(len(nodes)))


def _as_id(value: Any) -> Any:
    """Return an id that can be compared: a whole float as an integer, an array as the tuple that NetworkX had."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return tuple(_as_id(each) for each in value)
    if not isinstance(value, str | int) or isinstance(value, bool):
        raise InputError(f"the id of a node is {value!r}; it must be an integer or a string")
    return value


def _resolver(graph: AttributedGraph, ids: list[Any], ends: list[Any]) -> Callable[[Any], Any]:
    """Return the function from the end of an edge to the id of its node: itself, or its position among the nodes."""
    known, named = set(map(table_key, ids)), {table_key(end): end for end in ends}
    strange = [end for key, end in named.items() if key not in known]
    positions = all(isinstance(end, int) and not isinstance(end, bool) and 0 <= end < len(ids) for end in ends)
    if not strange or not positions:
        return lambda end: end
    # Some ends that are ids and some that are positions could be either: such a file is not guessed at.
    if len(strange) < len(named):
        raise graph.error(f"an edge names the node {strange[0]!r}, which is no id; is it a position? others are ids")
    graph.notes.append("ends of edges are positions in the list of nodes")
    return ids.__getitem__


def _load_cytoscape(source: Source, document: dict[str, Any], options: ReadOptions) -> EdgeTable:
    """Load Cytoscape's elements: by kind, or as one list, each with its ``data``."""
    elements = document["elements"]
    if isinstance(elements, dict):
        elements = [*(elements.get("nodes") or []), *(elements.get("edges") or [])]
    if not isinstance(elements, list):
        raise source.error(f'"elements" is {str(elements)[:40]!r}; a list or an object is expected')
    data = [each.get("data") if isinstance(each, dict) else None for each in elements]
    if not all(isinstance(each, dict) for each in data):
        raise source.error('an element of Cytoscape has no "data"')
    records = [each | {key: str(each[key]) for key in _TEXTS if key in each} for each in data if each is not None]
    edges = [each for each in records if "source" in each and "target" in each]
    nodes = [each for each in records if not ("source" in each and "target" in each)]
    return _join(source, nodes, edges, options, directed=_direction(source, document), typed=False)
