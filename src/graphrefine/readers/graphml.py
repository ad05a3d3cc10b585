"""GraphML: nodes and edges in XML, with data whose keys are declared.

A node's name is its ``id``, or the data that the option ``names`` says. Weights are the edges' data whose key is called
weight, or as the option ``weights`` names it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from graphrefine.readers.limits import check_fields
from graphrefine.readers.xml_stream import Elements

_DIRECTIONS = {"directed": True, "undirected": False, "true": True, "false": False, None: None}
_OWNERS = ("node", "edge", "port")


@dataclass
class _Key:
    """A declaration of data: what it is for, its name and its type."""

    scope: str
    name: str
    type: str


class GraphmlElements(Elements):
    """Reader of GraphML."""

    format = "graphml"

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.keys: dict[str, _Key] = {}
        self.key: _Key | None = None  # of the data, or of the declaration, that is open
        self.directions: list[bool | None] = []  # of the graphs that are open
        self.graphs = 0
        self.ends: tuple[str, str, bool | None] = ("", "", None)
        self.nodes: list[str] = []  # those that are open: a node may hold a graph

    def open(self, tag: str, attributes: dict[str, str]) -> None:
        """Read an element and its attributes."""
        match tag:
            case "graph":
                self._open_graph(attributes)
            case "key":
                self.key = self.keys[attributes.get("id", "")] = _Key(
                    attributes.get("for", "all"),
                    attributes.get("attr.name", attributes.get("id", "")),
                    attributes.get("attr.type", "string").lower(),
                )
                check_fields(len(self.keys))
            case "node":
                self.nodes.append(self.attribute(attributes, "id"))
                self.owners.append({})
            case "edge":
                ends = (self.attribute(attributes, "source"), self.attribute(attributes, "target"))
                self.ends = (*ends, self._direction(attributes.get("directed"), self.directions[-1:]))
                self.owners.append({})
            case "port":
                self.owners.append({})
            case "hyperedge":
                raise self.error("hyperedges join more than two nodes and cannot be read")
            case "data" if self.owners and self.path[-2] in _OWNERS:
                self.key = self.keys.get(attributes.get("key", ""))
                if self.key is None:
                    raise self.error(f"the data has the key {attributes.get('key')!r}, which is not declared")
                self.collect()
            case "default" if self.path[-2] == "key":
                self.collect()

    def close(self, tag: str) -> None:
        """Finish an element."""
        match tag:
            case "graph":
                self.directions.pop()
            case "node":
                self.graph.add_node(self.nodes.pop(), self.owners.pop(), line=self.line)
            case "edge":
                first, second, directed = self.ends
                self.graph.add_edge(first, second, self.owners.pop(), directed=directed, line=self.line)
            case "port":
                self.owners.pop()
            case "data" if self.owners and self.key is not None and self.path[-1] in _OWNERS:
                text = self.text()
                if text is not None:  # elements in it are graphics, as those of yEd
                    of_node = self.path[-1] == "node"
                    self.owners[-1][self.key.name] = self.value(text, self.key.type) if of_node else text.strip()
            case "default" if self.path[-1] == "key" and self.key is not None:
                self._set_default(self.key, self.value(self.text(), self.key.type))

    def _set_default(self, key: _Key, value: Any) -> None:
        """Keep the value of data that a node or an edge has unless it says otherwise."""
        for scope in ("node", "edge"):
            if value is not None and key.scope in (scope, "all"):
                self.graph.set_default(key.name, value, edges=scope == "edge")

    def _open_graph(self, attributes: dict[str, str]) -> None:
        self.graphs += not self.directions
        if self.graphs > 1:
            raise self.error("a second graph begins here; keep one graph in the file")
        self.directions.append(self._direction(attributes.get("edgedefault"), self.directions[-1:]))

    def _direction(self, text: str | None, default: list[bool | None]) -> bool | None:
        if text not in _DIRECTIONS:
            raise self.error(f"the direction {text!r} is not known")
        return _DIRECTIONS[text] if text is not None or not default else default[0]
