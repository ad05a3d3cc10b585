"""GraphML: nodes and edges in XML, read as a stream; entities, which could expand without end, are refused.

A node's name is its ``id``. Weights are the edges' data whose key is called weight, or as the option ``weights`` names
it. An undirected edge of a graph that is read as directed counts in both directions.
"""

from __future__ import annotations

import re
from typing import Any
from xml.parsers import expat

import numpy as np

from graphrefine.errors import FormatError, InputError
from graphrefine.graph.adjacency import check_weights
from graphrefine.graph.node_ids import add_nodes, number, object_array
from graphrefine.readers.formats import EdgeTable
from graphrefine.readers.options import ReadOptions
from graphrefine.readers.source import Source


def load(source: Source, options: ReadOptions) -> EdgeTable:
    """Load a GraphML file."""
    if isinstance(options.weights, int) and options.weights is not False:
        raise InputError(f"weights={options.weights!r}: GraphML data has names, not positions", argument="weights")
    reader = _Reader(source, options)
    try:
        reader.parser.Parse(source.data, True)
    except expat.ExpatError as error:
        raise source.error(f"this is not well-formed XML: {expat.ErrorString(error.code)}", line=error.lineno) from None
    source.release()
    return reader.table()


_WHOLE = re.compile("0|-?[1-9][0-9]{0,17}")


class _Reader:
    """Collector of nodes and edges, which the parser calls as it walks through the file."""

    def __init__(self, source: Source, options: ReadOptions) -> None:
        self.source, self.options = source, options
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.EntityDeclHandler = self._entity
        self.nodes: list[str] = []
        self.ends: list[tuple[str, str]] = []
        self.values: list[float] = []
        self.keys: dict[str, str] = {}  # id and name of each key for edges
        self.open_key = ""
        self.key, self.default = "", 1.0  # id of the key of the weights, and the weight of an edge without
        self.directed, self.weighted, self.in_edge = False, False, False
        self.copies = 1  # entries of the current edge: 2 if it counts in both directions
        self.data: list[str] | None = None

    def table(self) -> EdgeTable:
        names = list(self.keys.values())
        if isinstance(self.options.weights, str) and not self.key:
            data_list = f"the edges' data is {', '.join(map(repr, names))}" if names else "the edges have no data"
            raise self.source.error(
                f"there is no data {self.options.weights!r} for edges; {data_list}", argument="weights"
            )
        if not self.ends:
            raise self.source.error("there is no edge in the file")
        ends = object_array([end for pair in self.ends for end in pair]).reshape(-1, 2)  # (m, 2)
        ids = _integers(ends, self.nodes)
        numbered = add_nodes(number(ids[0][:, 0], ids[0][:, 1]), ids[1])
        weights = check_weights(np.array(self.values), len(self.ends)) if self.weighted else None
        return EdgeTable(numbered, weights, {"weight_column": self._weight_name() if self.weighted else None})

    def _weight_name(self) -> str:
        return self.options.weights if isinstance(self.options.weights, str) else "weight"

    def _error(self, problem: str) -> FormatError:
        return self.source.error(problem, line=self.parser.CurrentLineNumber)

    def _entity(self, *_: Any) -> None:
        raise self._error("the file declares XML entities, which are refused")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        match tag.rpartition(":")[2]:
            case "graph":
                self.directed = attributes.get("edgedefault") == "directed"
            case "key":
                self._add_key(attributes)
            case "node":
                self.nodes.append(self._attribute(attributes, "node", "id"))
            case "edge":
                self._add_edge(attributes)
            case "hyperedge":
                raise self._error("hyperedges join more than two nodes and cannot be read")
            case "data" | "default" if self._collects(tag, attributes):
                self.data = []
                self.parser.CharacterDataHandler = self.data.append

    def _collects(self, tag: str, attributes: dict[str, str]) -> bool:
        if not self.key:
            return False
        if tag.endswith("default"):
            return self.open_key == self.key
        return self.in_edge and attributes.get("key") == self.key

    def _end(self, tag: str) -> None:
        if self.data is not None:
            value = self._number("".join(self.data).strip())
            if self.in_edge:
                self.values[-self.copies :] = [value] * self.copies
                self.weighted = True
            else:
                self.default, self.weighted = value, True
            self.data = None
            self.parser.CharacterDataHandler = None
        if tag.rpartition(":")[2] == "edge":
            self.in_edge = False

    def _number(self, text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            raise self._error(f"weight {text!r} is not a number") from None
        if not 0 <= value < np.inf:
            raise self._error(f"weight {text!r} is negative or not finite")
        return value

    def _add_key(self, attributes: dict[str, str]) -> None:
        self.open_key = attributes.get("id", "")
        if attributes.get("for", "all") not in ("edge", "all"):
            return
        name = self.keys[self.open_key] = attributes.get("attr.name", self.open_key)
        if self.options.weights is not False and name == self._weight_name():
            self.key = self.open_key

    def _add_edge(self, attributes: dict[str, str]) -> None:
        ends = (self._attribute(attributes, "edge", "source"), self._attribute(attributes, "edge", "target"))
        self.in_edge = True
        one_way = attributes.get("directed", "true" if self.directed else "false") == "true"
        pairs = [ends] if one_way or not self.options.directed else [ends, ends[::-1]]
        self.copies = len(pairs)
        self.ends += pairs
        self.values += [self.default] * len(pairs)

    def _attribute(self, attributes: dict[str, str], tag: str, name: str) -> str:
        if not attributes.get(name):
            raise self._error(f"the {tag} has no {name}")
        return attributes[name]


def _integers(ends: Any, nodes: list[str]) -> tuple[Any, Any]:
    """Ids as integers if every one is written as one."""
    if all(_WHOLE.fullmatch(name) for name in {*nodes, *ends.ravel().tolist()}):
        return ends.astype(np.int64), np.array(nodes, dtype=np.int64)
    return ends, object_array(nodes)
