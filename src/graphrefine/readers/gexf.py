"""GEXF, the XML of Gephi: nodes, also within each other, and edges, with values of attributes that are declared.

A node's name is its ``id``; its label is an attribute, and ``names="label"`` reads it as the name. Weights are the
edges' own attribute weight, or the values that the option ``weights`` names. Times are not used, and that is said.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from graphrefine.readers.limits import check_fields
from graphrefine.readers.xml_stream import Elements

_KINDS = {"directed": True, "undirected": False, "mutual": None}
_ENDS = ("source", "target", "type", "id")


class _Field(NamedTuple):
    """A declared attribute: its title and its type."""

    title: str
    type: str


class GexfElements(Elements):
    """Reader of GEXF."""

    format = "gexf"

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.fields: dict[str, dict[str, _Field]] = {"node": {}, "edge": {}}
        self.scope = ""  # of the declarations that are open: node or edge
        self.declared = ""  # the id of the declaration that is open
        self.kind = "undirected"
        self.graphs = 0
        self.timed = False
        self.nodes: list[str] = []
        self.ends = ("", "", "")

    def open(self, tag: str, attributes: dict[str, str]) -> None:
        """Read an element and its attributes."""
        match tag:
            case "graph":
                self._open_graph(attributes)
            case "attributes":
                self.scope = attributes.get("class", "")
            case "attribute" if self.scope in self.fields:
                self.declared = attributes.get("id", "")
                title, kind = attributes.get("title", self.declared), attributes.get("type", "string").lower()
                self.fields[self.scope][self.declared] = _Field(title, kind)
                check_fields(len(self.fields[self.scope]))
            case "default" if self.path[-2] == "attribute":
                self.collect()
            case "node":
                self.nodes.append(self.attribute(attributes, "id"))
                self.owners.append({"label": attributes.get("label")})
                self._note_times(attributes)
            case "edge":
                ends = (self.attribute(attributes, "source"), self.attribute(attributes, "target"))
                self.ends = (*ends, self._kind(attributes.get("type", self.kind)))
                own = {name: text for name, text in attributes.items() if name not in _ENDS}
                self.owners.append(own)
                self._note_times(attributes)
            case "attvalue" if self.owners:
                self._take_value(attributes)

    def close(self, tag: str) -> None:
        """Finish an element."""
        match tag:
            case "attributes":
                self.scope = ""
            case "default" if self.path[-1] == "attribute" and self.scope in self.fields:
                field = self.fields[self.scope][self.declared]
                value = self.value(self.text(), field.type)
                if value is not None:
                    self.graph.set_default(field.title, value, edges=self.scope == "edge")
            case "node":
                self.graph.add_node(self.nodes.pop(), self.owners.pop(), line=self.line)
            case "edge":
                self._close_edge()
            case "gexf" if self.timed:
                self.graph.remarks.append("times of nodes and edges are not used")

    def _open_graph(self, attributes: dict[str, str]) -> None:
        self.graphs += 1
        if self.graphs > 1:
            raise self.error("a second graph begins here; keep one graph in the file")
        self.kind = self._kind(attributes.get("defaultedgetype", "undirected"))

    def _kind(self, text: str) -> str:
        if text.lower() not in _KINDS:
            raise self.error(f"the type {text!r} is none of {', '.join(_KINDS)}")
        return text.lower()

    def _close_edge(self) -> None:
        first, second, kind = self.ends
        attributes = self.owners.pop()
        if kind == "mutual":  # two arcs
            self.graph.add_edge(second, first, attributes, directed=True, line=self.line)
        directed = _KINDS[kind] is not False
        self.graph.add_edge(first, second, attributes, directed=directed, line=self.line)

    def _take_value(self, attributes: dict[str, str]) -> None:
        scope = "edge" if "edge" in self.path else "node"
        id = attributes.get("for", attributes.get("id", ""))
        field = self.fields[scope].get(id)
        if field is None:
            raise self.error(f"the value is for the attribute {id!r}, which is not declared")
        self._note_times(attributes)
        text = attributes.get("value")
        self.owners[-1][field.title] = self.value(text, field.type) if scope == "node" else text

    def _note_times(self, attributes: dict[str, str]) -> None:
        self.timed = self.timed or any(name in attributes for name in ("start", "end", "timestamp", "intervals"))
