"""XML as a stream of elements: the base of the readers of GraphML and GEXF.

Entities, which could expand without end, and elements nested without end are refused.
"""

from __future__ import annotations

from typing import Any
from xml.parsers import expat

from graphrefine.errors import FormatError
from graphrefine.readers.attributed_graph import AttributedGraph
from graphrefine.readers.options import ReadOptions
from graphrefine.readers.source import Source

DEEPEST = 200  # elements within each other
_TRUTH = {"true": True, "1": True, "false": False, "0": False}
_NUMBERS: dict[str, type[int] | type[float]] = {
    **dict.fromkeys(("int", "integer", "long", "short", "byte", "biginteger"), int),
    **dict.fromkeys(("float", "double", "decimal", "bigdecimal"), float),
}


class Elements:
    """Reader of the elements of one document, which the parser calls as it walks through the file."""

    format = ""

    def __init__(self, source: Source, options: ReadOptions, parser: expat.XMLParserType) -> None:
        self.parser = parser
        self.graph = AttributedGraph(source, options)
        self.prefix = ""
        self.path: list[str] = []  # tags from the root to here
        self.owners: list[dict[str, Any]] = []  # attributes of the nodes and edges that are open
        self._text: list[str] | None = None
        self._nested = False

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Enter an element; those of other vocabularies, which have other prefixes, do not count."""
        if not self.path:
            self.prefix = tag.rpartition(":")[0]
        if len(self.path) == DEEPEST:
            raise self.error(f"more than {DEEPEST} elements stand within each other")
        self._nested = self._text is not None
        self.path.append("" if self._nested else self._local(tag))
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
        """The text since `collect`; None if it has elements in it."""
        text, self._text = self._text, None
        self.parser.CharacterDataHandler = None
        return None if self._nested or text is None else "".join(text)

    def attribute(self, attributes: dict[str, str], name: str) -> str:
        """An attribute that the element must have."""
        if not attributes.get(name):
            raise self.error(f"the {self.path[-1]} has no {name}")
        return attributes[name]

    def value(self, text: str | None, kind: str) -> Any:
        """The value of a text, by the name of its type; None for no text where a number must be."""
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
        """The line of the file at which the parser is."""
        return int(self.parser.CurrentLineNumber)

    def error(self, problem: str) -> FormatError:
        """An error of this line."""
        return self.graph.error(problem, self.line)

    def _local(self, tag: str) -> str:
        prefix, _, name = tag.rpartition(":")
        return name if prefix == self.prefix else tag
