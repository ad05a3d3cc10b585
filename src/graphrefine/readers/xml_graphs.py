"""Graphs in XML: GraphML, and GEXF, the XML of Gephi; the root element, not the name of the file, decides.

A node's name is its ``id``, or the attribute that the option ``names`` says. Weights are the edges' attribute called
weight, or as the option ``weights`` names it. Times in GEXF are not used, and a note says so.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from xml.parsers import expat

from graphrefine.readers.attributed_graph import AttributedGraph
from graphrefine.readers.formats import EdgeTable
from graphrefine.readers.options import ReadOptions
from graphrefine.tables.source import Source, check_fields

_TRUTH = {"true": True, "1": True, "false": False, "0": False}
_NUMBERS: dict[str, type[int] | type[float]] = {
    **dict.fromkeys(("int", "integer", "long", "short", "byte", "biginteger"), int),
    **dict.fromkeys(("float", "double", "decimal", "bigdecimal"), float),
}
_DIRECTIONS = {"directed": True, "undirected": False, "true": True, "false": False}  # of GraphML
_KINDS = {"directed": True, "undirected": False, "mutual": True}  # of edges in GEXF
_TIMES = {"start", "end", "timestamp", "intervals"}
_WITH_TEXT = ("data", "default")
_PARTS = (*_WITH_TEXT, "graph", "attribute", "attvalue", "attvalues")  # elements that say something about their parent


@dataclass(slots=True)
class _Element:
    """An element, with what is said in it once it is closed."""

    tag: str  # without a prefix; empty for elements of other vocabularies
    attributes: dict[str, str]
    line: int
    children: list[_Element] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    holds_others: bool = False

    @property
    def text(self) -> str | None:
        """Text of the element; None if it has elements in it, such as the graphics of yEd."""
        return None if self.holds_others else "".join(self.texts)

    def find(self, tag: str) -> list[_Element]:
        """Return the children with a tag."""
        return [each for each in self.children if each.tag == tag]


def load(source: Source, options: ReadOptions) -> EdgeTable:
    """Load a GraphML or GEXF file."""
    document = _Document(source, options)
    document.parse(source.data)
    source.release()
    table = document.graph.table()
    table.report["format"] = document.format
    return table


class _Document:
    """Elements of a file as the parser gives them, handed to the reader of the format when they are closed."""

    def __init__(self, source: Source, options: ReadOptions) -> None:
        self.source, self.options = source, options
        self.graph = AttributedGraph(source, options)
        self.format = ""
        self._prefix = ""
        self._open: list[_Element] = []
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler, self._parser.EndElementHandler = self._start, self._end
        self._parser.EntityDeclHandler = self._refuse_entity

    def parse(self, data: bytes) -> None:
        """Read all elements."""
        try:
            self._parser.Parse(data, True)
        except expat.ExpatError as error:
            problem = f"this is not well-formed XML: {expat.ErrorString(error.code)}"
            raise self.source.error(problem, line=error.lineno) from None

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        prefix, _, name = tag.rpartition(":")
        if not self._open:
            self._prefix, self.format = prefix, self._find_format(name)
            self._reader = _READERS[self.format](self.graph)
        else:
            parent = self._open[-1]
            parent.holds_others = True
            name = "" if prefix != self._prefix or parent.tag in ("", *_WITH_TEXT) else name
        element = _Element(name, attributes, self._parser.CurrentLineNumber)
        self._open.append(element)
        # Most text is the indentation between elements: only that which is a value is asked for.
        self._parser.CharacterDataHandler = element.texts.append if name in _WITH_TEXT else None

    def _end(self, _: str) -> None:
        element = self._open.pop()
        self._parser.CharacterDataHandler = None
        if element.tag == "graph" and len(self._open) == 1 and self._open[0].find("graph"):
            raise self.graph.error("a second graph begins here; keep one graph in the file", element.line)
        self._reader.close(element, self._open)
        # Nodes and edges go as soon as they are read: a tree of a large file would take many times its size.
        if self._open and element.tag in _PARTS:
            self._open[-1].children.append(element)

    def _find_format(self, root: str) -> str:
        """Return the format of a root element; refuse one that the option ``format`` contradicts."""
        name, wanted = root.lower(), self.options.format
        if name not in _READERS:
            problem = f"the root element is {root!r}; that of GraphML is 'graphml', that of GEXF 'gexf'"
            raise self.source.error(problem, line=self._parser.CurrentLineNumber)
        if wanted not in (None, name):
            problem = f"format={wanted!r}, and the content is {name}; leave it out, or pass format={name!r}"
            raise self.source.error(problem, argument="format")
        return name

    def _refuse_entity(self, *_: Any) -> None:
        # An entity may hold others ten times, and these others again: a few lines would take all memory.
        line = self._parser.CurrentLineNumber
        raise self.source.error("the file declares XML entities, which are refused", line=line)


class _Reader:
    """What the readers of the two formats share."""

    def __init__(self, graph: AttributedGraph) -> None:
        self.graph = graph
        self.fields: dict[str, dict[str, tuple[str, str]]] = {"node": {}, "edge": {}}  # name and type, by id

    def close(self, element: _Element, parents: list[_Element]) -> None:
        """Read an element with all that is in it."""
        raise NotImplementedError

    def declare(self, tag: str, id: str, name: str, kind: str, element: _Element | None) -> None:
        """Add an attribute of nodes or edges, and its default value if ``element`` has one."""
        self.fields[tag][id] = name, kind
        check_fields(len(self.fields[tag]))
        for default in [] if element is None else element.find("default"):
            value = self.value(default, default.text, kind)
            if value is not None:
                self.graph.set_default(name, value, edges=tag == "edge")

    def required(self, element: _Element, name: str) -> str:
        """Return an XML attribute that the element must have."""
        if not element.attributes.get(name):
            raise self.graph.error(f"the {element.tag} has no {name}", element.line)
        return element.attributes[name]

    def one_of(self, element: _Element, text: str, allowed: dict[str, bool]) -> bool:
        """Return the direction that a text means."""
        if text not in allowed:
            known = ", ".join(allowed)
            raise self.graph.error(f"the direction {text!r} is not known; known are {known}", element.line)
        return allowed[text]

    def value(self, element: _Element, text: str | None, kind: str) -> Any:
        """Return the value of a text, by the name of its type; None for no text where a number must be."""
        if text is None or (kind not in _NUMBERS and kind != "boolean"):
            return text
        bare = text.strip()
        if not bare:
            return None
        try:
            return _TRUTH[bare.lower()] if kind == "boolean" else _NUMBERS[kind](bare)
        except (ValueError, KeyError):
            raise self.graph.error(f"{text!r} is no {kind}", element.line) from None


class _Graphml(_Reader):
    """Reader of GraphML: nodes and edges with data whose keys are declared before."""

    def close(self, element: _Element, parents: list[_Element]) -> None:
        """Read an element with all that is in it."""
        match element.tag:
            case "graph":
                self._direction(element, [element])
            case "key":
                id, scope = element.attributes.get("id", ""), element.attributes.get("for", "all")
                kind = element.attributes.get("attr.type", "string").lower()
                name = element.attributes.get("attr.name", id)
                for tag in self.fields:
                    self.declare(tag, id, name, kind, element if scope in (tag, "all") else None)
            case "node":
                self.graph.add_node(self.required(element, "id"), self._data(element), line=element.line)
            case "edge":
                ends = self.required(element, "source"), self.required(element, "target")
                directed = self._direction(element, parents)
                self.graph.add_edge(*ends, self._data(element), directed=directed, line=element.line)
            case "hyperedge":
                raise self.graph.error("hyperedges join more than two nodes and cannot be read", element.line)

    def _data(self, element: _Element) -> dict[str, Any]:
        values = {}
        for data in element.find("data"):
            key = data.attributes.get("key", "")
            declared = self.fields[element.tag].get(key)
            if declared is None:
                raise self.graph.error(f"the data has the key {key!r}, which is not declared", data.line)
            if data.text is not None:
                # A weight is checked as text, which tells 1e-400 from 0.
                (name, kind), is_node = declared, element.tag == "node"
                values[name] = self.value(data, data.text, kind) if is_node else data.text.strip()
        return values

    def _direction(self, element: _Element, parents: list[_Element]) -> bool | None:
        """Return the direction of an edge: its own, or that of the innermost graph around it that declares one."""
        defaults = [each.attributes.get("edgedefault") for each in parents if each.tag == "graph"]
        for text in (element.attributes.get("directed"), *reversed(defaults)):
            if text is not None:
                return self.one_of(element, text, _DIRECTIONS)
        return None


class _Gexf(_Reader):
    """Reader of GEXF: nodes, also within each other, and edges, with values of attributes that are declared."""

    def close(self, element: _Element, parents: list[_Element]) -> None:
        """Read an element with all that is in it."""
        match element.tag:
            case "graph":
                self.one_of(element, element.attributes.get("defaultedgetype", "undirected").lower(), _KINDS)
            case "attributes" if element.attributes.get("class") in self.fields:
                for each in element.find("attribute"):
                    tag, id = element.attributes["class"], each.attributes.get("id", "")
                    kind = each.attributes.get("type", "string").lower()
                    self.declare(tag, id, each.attributes.get("title", id), kind, each)
            case "node":
                attributes = {"label": element.attributes.get("label"), **self._values(element)}
                self.graph.add_node(self.required(element, "id"), attributes, line=element.line)
            case "edge":
                self._add_edge(element, parents)

    def _add_edge(self, element: _Element, parents: list[_Element]) -> None:
        first, second = self.required(element, "source"), self.required(element, "target")
        usual = next((each.attributes.get("defaultedgetype") for each in parents if each.tag == "graph"), None)
        kind = (element.attributes.get("type") or usual or "undirected").lower()
        directed = self.one_of(element, kind, _KINDS)
        own = {
            name: text for name, text in element.attributes.items() if name not in ("source", "target", "type", "id")
        }
        attributes = {**own, **self._values(element)}
        self.graph.add_edge(first, second, attributes, directed=directed, line=element.line)
        if kind == "mutual":  # two arcs
            self.graph.add_edge(second, first, attributes, directed=True, line=element.line)

    def _values(self, element: _Element) -> dict[str, Any]:
        """Return the values of the declared attributes that a node or an edge has."""
        stated = [each for child in element.children for each in (child, *child.children) if each.tag == "attvalue"]
        values = {}
        for each in stated:
            id = each.attributes.get("for", each.attributes.get("id", ""))
            declared = self.fields[element.tag].get(id)
            if declared is None:
                raise self.graph.error(f"the value is for the attribute {id!r}, which is not declared", each.line)
            (name, kind), text = declared, each.attributes.get("value")
            values[name] = self.value(each, text, kind) if element.tag == "node" else text
        note = "times of nodes and edges are not used"
        if note not in self.graph.notes and any(not _TIMES.isdisjoint(each.attributes) for each in (element, *stated)):
            self.graph.notes.append(note)
        return values


_READERS: dict[str, type[_Reader]] = {"graphml": _Graphml, "gexf": _Gexf}
