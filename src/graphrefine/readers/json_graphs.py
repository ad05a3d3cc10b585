"""Graphs in JSON: node-link (NetworkX, d3), Cytoscape, adjacency, JSON Graph Format, lists of edges, and JSON Lines.

Columns of edges follow the rules of tables (`layout`); names of nodes are integers or strings, as JSON has them. A key
that stands twice in an object is refused. The ends of edges may be positions in the list of nodes, as d3 has them: if
they are whole numbers, and none of them is a node's id.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from graphrefine.errors import FormatError, InputError
from graphrefine.graph.object_ids import table_key
from graphrefine.readers.attributed_graph import AttributedGraph, list_names
from graphrefine.readers.formats import EdgeTable
from graphrefine.readers.options import ReadOptions
from graphrefine.readers.value_columns import Columns, edges_of_columns
from graphrefine.system import distinct_keys
from graphrefine.tables.limits import check_fields
from graphrefine.tables.source import Source

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
    data = source.data
    try:
        document = parse(data)
    except json.JSONDecodeError as error:
        if error.msg == "Extra data" and options.format is None:
            table = load_lines(source, options)
            table.report["format"] = "jsonl"
            return table
        raise source.error(f"this is not JSON: {error.msg}", line=error.lineno) from None
    except _PARSE_ERRORS as error:
        raise _json_error(source, error) from None
    source.release()
    return _load_document(source, document, options)


def load_lines(source: Source, options: ReadOptions) -> EdgeTable:
    """Load JSON Lines: an object, or an array [u, v] or [u, v, weight], on each line."""
    rows: list[tuple[int, Any]] = []
    for line, text in enumerate(source.data.split(b"\n"), start=1):
        if not text.strip():
            continue
        try:
            rows.append((line, parse(text)))
        except json.JSONDecodeError as error:
            raise source.error(f"this is not JSON: {error.msg}", line=line) from None
        except _PARSE_ERRORS as error:
            raise _json_error(source, error, line) from None
    source.release()
    return _load_records(source, rows, options)


_PARSE_ERRORS = (ValueError, RecursionError, UnicodeError)


def parse(data: bytes) -> Any:
    """Return a document; keys that stand twice are refused.

    Examples
    --------
    >>> parse(b'{"a": [1, null]}')
    {'a': [1, None]}
    """
    return json.loads(data.removeprefix(b"\xef\xbb\xbf"), object_pairs_hook=distinct_keys)


def _json_error(source: Source, error: Exception, line: int | None = None) -> FormatError:
    if isinstance(error, InputError):
        return source.error(error, line=line)
    if isinstance(error, RecursionError):
        return source.error("lists and objects stand too deep within each other", line=line)
    if isinstance(error, UnicodeError):
        return source.error("the text is not UTF-8", line=line)
    return source.error(f"this is not readable JSON: {error}", line=line)


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
    if isinstance(document.get("adjacency"), list):
        return _load_adjacency(source, document, options)
    edges = _lists(document, _EDGES)
    if edges is None:
        raise source.error(f"there are no edges; {_SHAPES}; the keys are {list_names(document)}", argument="format")
    return _load_node_link(source, document, (_lists(document, _NODES), edges), options)


def _lists(document: dict[str, Any], names: Iterable[str]) -> Any:
    """Return the first of these values that is a list or an object."""
    return next((document[name] for name in names if isinstance(document.get(name), list | dict)), None)


def _load_records(source: Source, rows: list[tuple[int, Any]], options: ReadOptions) -> EdgeTable:
    """Edges as objects, or as arrays of one length."""
    if options.names is not None:
        raise InputError("names= is for nodes with attributes, and there are edges alone", argument="names")
    if not rows:
        raise source.error("there is no edge in the file")
    first = rows[0][1]
    if isinstance(first, list):
        return edges_of_columns(_transpose(source, rows, len(first)), options)
    for place, (line, record) in enumerate(rows, start=1):
        if not isinstance(record, dict):
            raise _record_error(source, line, place, f"{str(record)[:40]!r} is no object, as the first record is")
    columns = Columns([record for _, record in rows])
    _check_ends(source, rows, [columns.names[at] for at in columns.find_edges(options).positions[:2]])
    return columns.edges(options)


def _check_ends(source: Source, rows: list[tuple[int, Any]], names: list[str]) -> None:
    """Refuse ends that are objects or lists, such as nodes with all that they have."""
    for place, (line, record) in enumerate(rows, start=1):
        for name in names:
            if isinstance(value := record.get(name), dict | list):
                way_out = "write the id itself there, or name other keys with source= and target="
                if record.get("type") == "relationship":
                    way_out = "this is JSON of apoc.export of Neo4j: export with apoc.export.csv.all, which is read"
                problem = f"{name!r} is {str(value)[:60]!r}, where an integer or a string is expected; {way_out}"
                raise _record_error(source, line, place, problem)


def _transpose(source: Source, rows: list[tuple[int, Any]], width: int) -> list[list[Any]]:
    check_fields(width, "values in a record")
    for place, (line, record) in enumerate(rows, start=1):
        if not isinstance(record, list) or len(record) != width:
            problem = f"{str(record)[:40]!r} is no array of {width} values, as the first record is"
            raise _record_error(source, line, place, problem)
    return [[record[at] for _, record in rows] for at in range(width)]


def _record_error(source: Source, line: int, place: int, problem: str) -> FormatError:
    return source.error(problem, line=line) if line else source.error(f"record {place}: {problem}")


def _load_node_link(
    source: Source, document: dict[str, Any], parts: tuple[Any, Any], options: ReadOptions
) -> EdgeTable:
    nodes, edges = parts
    if isinstance(nodes, dict):  # by id
        nodes = [{"id": id, **(each if isinstance(each, dict) else {})} for id, each in nodes.items()]
    if isinstance(edges, dict):
        raise source.error("the edges are an object; a list is expected")
    if nodes is None:
        table = _load_records(source, [(0, record) for record in edges], options)
        return replace(table, directed=_direction(source, document.get("directed")))
    for word, records in (("node", nodes), ("edge", edges)):
        for at, record in enumerate(records):
            if not isinstance(record, dict):
                if word == "node" and isinstance(record, str | int):
                    records[at] = {"id": record}
                    continue
                raise source.error(f"{word} {at + 1} is {str(record)[:40]!r}; an object is expected")
    flat = [[_flat(record) for record in records] for records in (nodes, edges)]
    return _join(source, flat[0], flat[1], options, directed=_direction(source, document.get("directed")))


def _flat(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record with its attributes, where these stand in an object of their own."""
    for name in ("attributes", "metadata"):
        if isinstance(record.get(name), dict):
            record = record | record[name]
            del record[name]
    return record


def _direction(source: Source, value: Any) -> bool | None:
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
    """Nodes with attributes, and edges between their ids or positions."""
    if not edges:
        raise source.error("there is no edge in the file")
    columns = Columns(edges)
    names, edge_columns = columns.names, columns.find_edges(options)
    first, second = ([_as_id(end) for end in columns.column(at)] for at in (edge_columns.source, edge_columns.target))
    id_key, ids = _ids(nodes)
    weight = None if edge_columns.weight is None else names[edge_columns.weight]
    weighted = options if options.weights is False else replace(options, weights=weight)
    graph = AttributedGraph(source, weighted, closed=True, typed=typed)
    resolve = _resolver(graph, ids, [*first, *second])
    for id, node in zip(ids, nodes, strict=True):
        graph.add_node(id, {key: value for key, value in node.items() if key != id_key})
    rest = [at for at in range(len(names)) if at not in (edge_columns.source, edge_columns.target)]
    weights = [None] * len(first) if edge_columns.weight is None else columns.column(edge_columns.weight)
    declared = "directed" in names
    for at, (start, end) in enumerate(zip(first, second, strict=True)):
        own = edges[at].get("directed") if declared else None
        graph.add_edge(
            resolve(start), resolve(end), {} if weight is None else {weight: weights[at]},
            directed=own if isinstance(own, bool) else directed,
        )  # fmt: skip
    graph.unused |= dict.fromkeys(names[at] for at in rest if names[at] not in (weight, "directed"))
    graph.report["columns"] = edge_columns.report["columns"]
    return graph.table()


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
    """Return the way from the end of an edge to the id of its node: itself, or its position in the list of nodes."""
    known, named = set(map(table_key, ids)), {table_key(end): end for end in ends}
    strange = [end for key, end in named.items() if key not in known]
    positions = all(isinstance(end, int) and not isinstance(end, bool) and 0 <= end < len(ids) for end in ends)
    if strange and len(strange) == len(named) and positions:
        graph.notes.append("ends of edges are positions in the list of nodes")
        return ids.__getitem__
    if strange and positions:
        raise graph.error(f"an edge names the node {strange[0]!r}, which is no id; is it a position? others are ids")
    return lambda end: end


def _load_cytoscape(source: Source, document: dict[str, Any], options: ReadOptions) -> EdgeTable:
    """Cytoscape's elements: by kind, or as one list, each with its ``data``."""
    elements = document["elements"]
    if isinstance(elements, list):
        every = elements
    elif isinstance(elements, dict):
        every = [*(elements.get("nodes") or []), *(elements.get("edges") or [])]
    else:
        raise source.error(f'"elements" is {str(elements)[:40]!r}; a list or an object is expected')
    data = [each.get("data") if isinstance(each, dict) else None for each in every]
    if not all(isinstance(each, dict) for each in data):
        raise source.error('an element of Cytoscape has no "data"')
    records = [each | {key: str(each[key]) for key in _TEXTS if key in each} for each in data if each is not None]
    edges = [each for each in records if "source" in each and "target" in each]
    nodes = [each for each in records if not ("source" in each and "target" in each)]
    directed = _direction(source, document.get("directed"))
    return _join(source, nodes, edges, options, directed=directed, typed=False)


def _load_adjacency(source: Source, document: dict[str, Any], options: ReadOptions) -> EdgeTable:
    """NetworkX's adjacency data: for each node, in order, its neighbors; each undirected edge at both of its ends."""
    nodes, rows = document.get("nodes"), document["adjacency"]
    if not isinstance(nodes, list) or len(nodes) != len(rows):
        raise source.error('"nodes" and "adjacency" must be lists of one length')
    if not all(isinstance(node, dict) and "id" in node for node in nodes):
        raise source.error("a node is no object with an id")
    directed = _direction(source, document.get("directed"))
    place = {table_key(_as_id(node["id"])): at for at, node in enumerate(nodes)}
    edges = []
    for at, (node, row) in enumerate(zip(nodes, rows, strict=True)):
        for neighbor in row if isinstance(row, list) else [None]:
            if not isinstance(neighbor, dict) or "id" not in neighbor:
                raise source.error("a neighbor is no object with an id")
            other = neighbor.pop("id")
            if directed or place.get(table_key(_as_id(other)), at) >= at:
                edges.append({**neighbor, "source": node["id"], "target": other})
    return _join(source, nodes, edges, options, directed=directed)
