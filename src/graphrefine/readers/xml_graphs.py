"""Graphs in XML: the root element, not the name of the file, says whether it is GraphML or GEXF."""

from __future__ import annotations

from typing import Any
from xml.parsers import expat

from graphrefine.errors import InputError
from graphrefine.readers.formats import EdgeTable
from graphrefine.readers.gexf import GexfElements
from graphrefine.readers.graphml import GraphmlElements
from graphrefine.readers.options import ReadOptions
from graphrefine.readers.source import Source
from graphrefine.readers.xml_stream import Elements

PORTION = 1 << 16  # bytes that are parsed at a time
LONGEST = 1 << 20  # bytes of a tag
READERS: dict[str, type[Elements]] = {"graphml": GraphmlElements, "gexf": GexfElements}


def load(source: Source, options: ReadOptions) -> EdgeTable:
    """Load a GraphML or GEXF file."""
    document = _Document(source, options)
    try:
        document.parse(source.data)
    except expat.ExpatError as error:
        raise source.error(f"this is not well-formed XML: {expat.ErrorString(error.code)}", line=error.lineno) from None
    except InputError:
        raise
    except (LookupError, ValueError) as error:  # an encoding that there is not, or that expat does not know
        raise source.error(f"this is not readable XML: {error}") from None
    source.release()
    assert document.elements is not None  # a document without a root is not well-formed
    table = document.elements.graph.table()
    table.report["format"] = document.elements.format
    return table


class _Document:
    """A parser whose first element decides who reads the others."""

    def __init__(self, source: Source, options: ReadOptions) -> None:
        self.source, self.options = source, options
        self.elements: Elements | None = None
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EntityDeclHandler = self._refuse_entity

    def parse(self, data: bytes) -> None:
        """Parse a document in portions; a tag is read as a whole, and refused before it is if it is too long."""
        for at in range(0, len(data), PORTION):
            self.parser.Parse(data[at : at + PORTION], False)
            if at + PORTION - self.parser.CurrentByteIndex > LONGEST:
                raise self.source.error(
                    f"a tag or a comment is longer than {LONGEST:,} bytes", line=self.parser.CurrentLineNumber
                )
        self.parser.Parse(b"", True)

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        root = tag.rpartition(":")[2].lower()
        if root not in READERS:
            raise self.source.error(
                f"the root element is {tag!r}; that of GraphML is 'graphml', that of GEXF 'gexf'",
                line=self.parser.CurrentLineNumber,
            )
        self.elements = READERS[root](self.source, self.options, self.parser)
        self._compare(root)
        self.parser.StartElementHandler = self.elements.start
        self.parser.EndElementHandler = self.elements.end
        self.elements.start(tag, attributes)

    def _compare(self, root: str) -> None:
        """Refuse a document that the option ``format`` calls something else; remark on one whose name does."""
        if self.options.format not in (None, root):
            raise self.source.error(
                f"format={self.options.format!r}, and the content is {root}; leave it out, or say format={root!r}",
                argument="format",
            )
        suffix = self.source.suffix[1:]
        if self.elements is not None and suffix in READERS and suffix != root:
            self.elements.graph.remarks.append(f"the name ends in .{suffix}, the content is {root}")

    def _refuse_entity(self, *_: Any) -> None:
        raise self.source.error("the file declares XML entities, which are refused", line=self.parser.CurrentLineNumber)
