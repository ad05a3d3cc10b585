"""Graphs in XML: GraphML, and GEXF, the XML of Gephi; the root element, not the name of the file, decides.

A node's name is its ``id``, or the attribute that the option ``names`` says. Weights are the edges' attribute called
weight, or as the option ``weights`` names it. Times in GEXF are not used, and a note says so.
"""

from __future__ import annotations

from typing import Any, NamedTuple
from xml.parsers import expat

from graphrefine.errors import FormatError
from graphrefine.readers.attributed_graph import AttributedGraph
from graphrefine.readers.formats import EdgeTable
from graphrefine.readers.options import ReadOptions
from graphrefine.tables.limits import check_fields
from graphrefine.tables.source import Source, wrap_errors

_TRUTH = {"true": True, "1": True, "false": False, "0": False}
_NUMBERS: dict[str, type[int] | type[float]] = {
    **dict.fromkeys(("int", "integer", "long", "short", "byte", "biginteger"), int),
    **dict.fromkeys(("float", "double", "decimal", "bigdecimal"), float),
}
_DIRECTIONS = {"directed": True, "undirected": False, "true": True, "false": False, None: None}  # of GraphML
_OWNERS = ("node", "edge", "port")  # elements of GraphML that have data
_KINDS = {"directed": True, "undirected": False, "mutual": None}  # of edges in GEXF
_ENDS = ("source", "target", "type", "id")


def load(source: Source, options: ReadOptions) -> EdgeTable:
    """Load a GraphML or GEXF file."""
    parser = expat.ParserCreate()
    parser.buffer_text = True
    readers: list[_Elements] = []

    def start_root(tag: str, attributes: dict[str, str]) -> None:
        reader = _find_reader(source, options, tag, parser.CurrentLineNumber)(source, options, parser)
        readers.append(reader)
        parser.StartElementHandler, parser.EndElementHandler = reader.start, reader.end
        reader.start(tag, attributes)

    # An entity may stand for others, ten times each, and these for others again: no graph needs any.
    def refuse_entity(*_: Any) -> None:
        raise source.error("the file declares XML entities, which are refused", line=parser.CurrentLineNumber)

    parser.StartElementHandler, parser.EntityDeclHandler = start_root, refuse_entity
    with wrap_errors(source, "XML file"):
        try:
            parser.Parse(source.data, True)
        except expat.ExpatError as error:
            problem = f"this is not well-formed XML: {expat.ErrorString(error.code)}"
            raise source.error(problem, line=error.lineno) from None
    source.release()
    (reader,) = readers  # a document without a root is not well-formed
    if source.suffix[1:] in _READERS and source.suffix[1:] != reader.format:
        reader.graph.notes.append(f"the name ends in {source.suffix}, the content is {reader.format}")
    table = reader.graph.table()
    table.report["format"] = reader.format
    return table


def _find_reader(source: Source, options: ReadOptions, tag: str, line: int) -> type[_Elements]:
    """Return the reader for a root element; refuse one that the option ``format`` contradicts."""
    root = tag.rpartition(":")[2].lower()
    if root not in _READERS:
        problem = f"the root element is {tag!r}; that of GraphML is 'graphml', that of GEXF 'gexf'"
        raise source.error(problem, line=line)
    if options.format not in (None, root):
        problem = f"format={options.format!r}, and the content is {root}; leave it out, or pass format={root!r}"
        raise source.error(problem, argument="format")
    return _READERS[root]


class _Elements:
    """Reader of the elements of one document, which the parser calls as it walks through the file."""

    format = ""

    def __init__(self, source: Source, options: ReadOptions, parser: expat.XMLParserType) -> None:
        self.parser = parser
        self.graph = AttributedGraph(source, options)
        self.prefix = ""
        self.path: list[str] = []  # tags from the root to here
        self.owners: list[dict[str, Any]] = []  # attributes of the nodes and edges that are open
        self.nodes: list[str] = []  # those that are open: a node may hold others
        self.graphs = 0
        self._text: list[str] | None = None
        self._nested = False

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Enter an element; those of other vocabularies, which have other prefixes, do not count."""
        prefix, _, name = tag.rpartition(":")
        if not self.path:
            self.prefix = prefix
        self._nested = self._text is not None
        self.path.append("" if self._nested else name if prefix == self.prefix else tag)
        if not self._nested:
            self.open(self.path[-1], attributes)

    def end(self, tag: str) -> None:
        """Leave an element."""
        self.close(self.path.pop())

    def open(self, tag: str, attributes: dict[str, str]) -> None:
        """Read an element and its attributes."""
        raise NotImplementedError

    def close(self, tag: str) -> None:
        """Finish an element."""
        raise NotImplementedError

    def collect(self) -> None:
        """Begin to collect the text of this element."""
        self._text, self._nested = [], False
        self.parser.CharacterDataHandler = self._text.append

    def text(self) -> str | None:
        """Return the text since `collect`; None if it has elements in it."""
        text, self._text = self._text, None
        self.parser.CharacterDataHandler = None
        return None if self._nested or text is None else "".join(text)

    def count_graph(self) -> None:
        """Refuse a second graph."""
        self.graphs += 1
        if self.graphs > 1:
            raise self.error("a second graph begins here; keep one graph in the file")

    def attribute(self, attributes: dict[str, str], name: str) -> str:
        """Return an attribute that the element must have."""
        if not attributes.get(name):
            raise self.error(f"the {self.path[-1]} has no {name}")
        return attributes[name]

    def value(self, text: str | None, kind: str) -> Any:
        """Return the value of a text, by the name of its type; None for no text where a number must be."""
        if text is None or (kind not in _NUMBERS and kind != "boolean"):
            return text
        bare = text.strip()
        if not bare:
            return None
        try:
            return _TRUTH[bare.lower()] if kind == "boolean" else _NUMBERS[kind](bare)
        except (ValueError, KeyError):
            raise self.error(f"{text!r} is no {kind}") from None

    @property
    def line(self) -> int:
        """Line of the file at which the parser is."""
        return int(self.parser.CurrentLineNumber)

    def error(self, problem: str) -> FormatError:
        """Return an error of this line."""
        return self.graph.error(problem, self.line)


class _Key(NamedTuple):
    """A declaration of data in GraphML: what it is for, its name and its type."""

    scope: str
    name: str
    type: str


class _Graphml(_Elements):
    """Reader of GraphML: nodes and edges with data whose keys are declared."""

    format = "graphml"

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.keys: dict[str, _Key] = {}
        self.key: _Key | None = None  # of the data, or of the declaration, that is open
        self.directions: list[bool | None] = []  # of the graphs that are open
        self.ends: tuple[str, str, bool | None] = ("", "", None)

    def open(self, tag: str, attributes: dict[str, str]) -> None:
        """Read an element and its attributes."""
        match tag:
            case "graph":
                if not self.directions:
                    self.count_graph()
                self.directions.append(self._direction(attributes.get("edgedefault")))
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
                self.ends = (*ends, self._direction(attributes.get("directed")))
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

    def _direction(self, text: str | None) -> bool | None:
        """Return the direction that a text means; without one, that of the graph around it."""
        if text not in _DIRECTIONS:
            raise self.error(f"the direction {text!r} is not known")
        return _DIRECTIONS[text] if text is not None or not self.directions else self.directions[-1]


class _Field(NamedTuple):
    """A declared attribute of GEXF: its title and its type."""

    title: str
    type: str


class _Gexf(_Elements):
    """Reader of GEXF: nodes, also within each other, and edges, with values of attributes that are declared."""

    format = "gexf"

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.fields: dict[str, dict[str, _Field]] = {"node": {}, "edge": {}}
        self.scope = ""  # of the declarations that are open: node or edge
        self.declared = ""  # the id of the declaration that is open
        self.kind = "undirected"
        self.is_timed = False
        self.ends = ("", "", "")

    def open(self, tag: str, attributes: dict[str, str]) -> None:
        """Read an element and its attributes."""
        match tag:
            case "graph":
                self.count_graph()
                self.kind = self._kind(attributes.get("defaultedgetype", "undirected"))
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
                self.owners.append({name: text for name, text in attributes.items() if name not in _ENDS})
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
            case "gexf" if self.is_timed:
                self.graph.notes.append("times of nodes and edges are not used")

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
        self.is_timed = self.is_timed or any(name in attributes for name in ("start", "end", "timestamp", "intervals"))


_READERS: dict[str, type[_Elements]] = {"graphml": _Graphml, "gexf": _Gexf}
