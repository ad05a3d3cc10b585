r"""GML: keys and values in brackets, ``graph [ node [ id 1 ] edge [ source 1 target 2 ] ]``.

A node's name is its label, if all nodes have one and no two the same, else its id; the option ``names`` decides.
Weights are the edges' attribute weight, or as the option ``weights`` names it. Records within nodes, such as graphics,
become attributes with dots in their names. Characters beyond ASCII may be written as entities.
"""

from __future__ import annotations

import re
from typing import Any

from graphrefine.errors import FormatError
from graphrefine.readers.attributed_graph import AttributedGraph, unescape
from graphrefine.readers.formats import EdgeTable
from graphrefine.readers.options import ReadOptions
from graphrefine.tables.source import Source

_TOKEN = re.compile(
    r"""\s+ | (?:^|(?<=\s))\#[^\n]*  # blanks, comments
    | (?P<bracket>[\[\]])
    | (?P<string>"[^"]*")
    | (?P<number>[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[Ee][+-]?[0-9]+)?(?=[\s\[\]]|$) | [+-]?(?:INF|NAN)(?=\s|\]|$))
    | (?P<key>[A-Za-z_][0-9A-Za-z_.-]*)""",
    re.VERBOSE | re.MULTILINE,
)
# Python converts 4,300 digits to an integer and no more, by default; a longer number is read as a float, so infinite.
_WHOLE = re.compile("[+-]?[0-9]{1,4000}")


def load(source: Source, options: ReadOptions) -> EdgeTable:
    """Load a GML file."""
    reader = _Reader(AttributedGraph(source, options, closed=True, label="label"))
    reader.read()
    return reader.graph.table()


class _Reader:
    """Walk through the tokens; the path of keys of the records that are open says what a value belongs to."""

    def __init__(self, graph: AttributedGraph) -> None:
        self.graph, self.text = graph, graph.text()
        self.directed = False
        self.at = 0
        self.counted = (0, 1)  # an offset in the text, and its line
        self.path: list[str] = []
        self.graphs = 0
        self.values: dict[str, list[Any]] = {}  # of the node or edge that is open
        self.edges: list[tuple[dict[str, Any], int]] = []

    def read(self) -> None:
        """Read all records."""
        key, key_at = "", 0
        while self.at < len(self.text):
            match = _TOKEN.match(self.text, self.at)
            if match is None:
                raise self._error(f"{self.text[self.at : self.at + 20].split()[0]!r} cannot be understood")
            end = match.end()
            match (match.lastgroup, match[0]):
                case (None, _):  # blanks, a comment
                    pass
                case ("key", token) if not key:
                    key, key_at = token, self.at
                case ("bracket", "]") if not key:
                    self._close()
                case ("bracket", "[") if key:
                    self._open(key)
                    key = ""
                case ("string" | "number", token) if key:
                    self._assign(key, _value(token))
                    key = ""
                case (_, token):
                    raise self._error(f"{token[:40]!r} is not expected here{f', after {key!r}' * bool(key)}")
            self.at = end
        if key or self.path:
            self.at = key_at
            raise self._error("the file ends before its records do")
        if not self.graphs:
            raise self.graph.error("there is no graph in the file: a GML file has the record graph [ ... ]")
        # Only now is the direction of all edges known: it may be the last key of the graph.
        for values, line in self.edges:
            first, second = (self._take(values, name, "edge", line) for name in ("source", "target"))
            self.graph.add_edge(first, second, values, directed=self.directed, line=line)

    def _open(self, key: str) -> None:
        self.path.append(key)
        if self.path == ["graph"]:
            self.graphs += 1
            if self.graphs > 1:
                raise self._error("a second graph begins here; keep one graph in the file")
        elif self.path in (["graph", "node"], ["graph", "edge"]):
            self.values = {}

    def _assign(self, key: str, value: Any) -> None:
        match self.path:
            case ["graph"] if key == "directed":
                if value not in (0, 1):
                    raise self._error(f"directed is {value!r}; it must be 0 or 1")
                self.directed = bool(value)
            case ["graph", "node" | "edge", *inner]:
                self.values.setdefault(".".join([*inner, key]), []).append(value)

    def _close(self) -> None:
        if not self.path:
            raise self._error("']' closes no record")
        if self.path in (["graph", "node"], ["graph", "edge"]):
            values = {name: tuple(each) if len(each) > 1 else each[0] for name, each in self.values.items()}
            line = self._line()
            if self.path[1] == "edge":
                self.edges.append((values, line))
            else:
                self.graph.add_node(self._take(values, "id", "node", line), values, line=line)
        self.path.pop()

    def _take(self, values: dict[str, Any], name: str, record: str, line: int) -> str:
        value = values.pop(name, None)
        if value is None:
            raise self.graph.error(f"the {record} has no {name}", line)
        if isinstance(value, tuple | float):
            raise self.graph.error(f"{value!r} cannot be the {name} of the {record}", line)
        return str(value)

    def _line(self) -> int:
        # Lines are counted from where they were last: from the beginning, a file would take quadratic time.
        offset, line = self.counted if self.counted[0] <= self.at else (0, 1)
        self.counted = (self.at, line + self.text.count("\n", offset, self.at))
        return self.counted[1]

    def _error(self, problem: str) -> FormatError:
        return self.graph.error(problem, self._line())


def _value(token: str) -> Any:
    if token.startswith('"'):
        return unescape(token[1:-1])
    return int(token) if _WHOLE.fullmatch(token) else float(token)
