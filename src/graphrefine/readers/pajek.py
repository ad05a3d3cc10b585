"""Pajek: ``*Vertices n``, lines with numbers and labels, then ``*Arcs`` and ``*Edges``, also as lists of neighbors.

A node's name is its label, if all have one and no two the same, else its number from 1; the option ``names`` decides.
The third number of an edge is its weight.
"""

from __future__ import annotations

import re
from itertools import islice

from graphrefine.errors import FormatError
from graphrefine.readers.attributed_graph import AttributedGraph, unescape
from graphrefine.readers.formats import EdgeTable
from graphrefine.readers.options import ReadOptions
from graphrefine.tables.source import Source, check_stated

_WORD = re.compile(r'"([^"]*)"(?=[ \t]|$)|([^ \t]+)')
_POSITION = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def load(source: Source, options: ReadOptions) -> EdgeTable:
    """Load a Pajek network."""
    size = len(source.data)
    reader = _Reader(AttributedGraph(source, options, closed=True, label="label"), size)
    for line, text in reader.graph.lines(marks="%"):
        reader.read(line, text)
    return reader.table()


class _Reader:
    """Collector of vertices and edges; the last line with a star says what the lines after it hold."""

    def __init__(self, graph: AttributedGraph, size: int) -> None:
        self.graph, self.size = graph, size
        self.section = ""
        self.count = 0  # vertices
        self.seen: set[int] = set()
        self.relations: list[str] = []
        self.line = 0

    def read(self, line: int, text: str) -> None:
        """Read a line."""
        self.line = line
        if text.lstrip().startswith("*"):
            self._open(text.split())
        elif self.section == "*vertices":
            self._add_vertex(text)
        elif self.section in ("*arcs", "*edges"):
            self._add_edge(text.split(maxsplit=3))
        elif self.section in ("*arcslist", "*edgeslist"):
            first, *others = map(self._number, text.split())
            for second in others:
                self.graph.add_edge(first, second, {}, directed=self.section == "*arcslist", line=line)
        elif self.section != "*network":
            raise self._error("a Pajek network begins with *Vertices and their number")

    def table(self) -> EdgeTable:
        """Return the edges."""
        if not self.count:
            raise self.graph.error("a Pajek network begins with *Vertices and their number")
        for number in range(1, self.count + 1):
            if number not in self.seen:
                self.graph.add_node(str(number), {})
        if len(self.relations) > 1:
            relations = ", ".join(self.relations)
            self.graph.notes.append(f"edges of {len(self.relations)} relations are read as one graph: {relations}")
        return self.graph.table()

    def _open(self, words: list[str]) -> None:
        self.section, _, rest = words[0].lower().partition(":")  # *Arcs :1 "likes", also written *Arcs:1
        if self.section == "*vertices":
            self._open_vertices(words[1:])
        elif self.section in ("*arcs", "*edges", "*arcslist", "*edgeslist"):
            if not self.count:
                raise self._error(f"{self.section} comes before *Vertices")
            if rest or (words[1:2] and words[1].startswith(":")):
                self.relations.append(" ".join([rest, *words[1:]]).strip(": "))
        elif self.section != "*network":
            raise self._error(
                f"the section {self.section!r} is not read; those of a network are *Vertices, *Arcs, *Edges, *Arcslist "
                "and *Edgeslist"
            )

    def _open_vertices(self, words: list[str]) -> None:
        if self.count:
            raise self._error("a second network begins here; keep one network in the file")
        if not words or not re.fullmatch("[0-9]{1,18}", words[0]) or int(words[0]) < 1:
            raise self._error("*Vertices must be followed by the number of vertices")
        self.count = int(words[0])
        check_stated(self.count, self.size, "vertices")
        if len(words) > 1 and words[1].isdecimal():
            self.graph.notes.append(f"a network of two modes, the first {words[1]} vertices and the others")

    def _add_vertex(self, text: str) -> None:
        number, *words = islice(_WORD.finditer(text), 5)
        id = self._number(number[0])
        self.seen.add(int(id))
        attributes: dict[str, object] = {}
        if words:
            attributes["label"] = unescape(words[0][1] if words[0][2] is None else words[0][2], named=False)
        for name, word in zip("xyz", words[1:], strict=False):
            if not _POSITION.fullmatch(word[0]):  # colors and shapes may follow
                break
            attributes[name] = float(word[0])
        self.graph.add_node(id, attributes, line=self.line)

    def _add_edge(self, words: list[str]) -> None:
        if len(words) < 2:
            raise self._error("an edge needs two vertices")
        weight = {"weight": words[2]} if len(words) > 2 else {}
        first, second = self._number(words[0]), self._number(words[1])
        self.graph.add_edge(first, second, weight, directed=self.section == "*arcs", line=self.line)

    def _number(self, word: str) -> str:
        if not re.fullmatch("[0-9]{1,18}", word) or not 1 <= int(word) <= self.count:
            raise self._error(f"{word!r} is not the number of a vertex, from 1 to {self.count}")
        return str(int(word))

    def _error(self, problem: str) -> FormatError:
        return self.graph.error(problem, self.line)
