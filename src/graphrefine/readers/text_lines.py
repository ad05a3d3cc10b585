"""Text of a graph file as strings, for loaders that read it whole: UTF-8, else Latin-1, or as ``encoding`` says."""

from __future__ import annotations

import re
from collections.abc import Iterator

from graphrefine.readers.attributed_graph import AttributedGraph
from graphrefine.readers.source import decoding_error, find_encoding


def decode_for(graph: AttributedGraph) -> str:
    """All text of the graph's file, its lines ended as those of Unix; the file's bytes are not needed again."""
    source, data = graph.source, graph.source.data
    source.release()
    encoding = find_encoding(source, data, graph.options.encoding)
    try:
        text = data.decode(encoding or "utf-8-sig")
        if encoding is not None:
            text.encode()  # some encodings have halves of characters, which no name can hold
    except UnicodeError as error:
        if encoding is not None:
            raise decoding_error(source, error, data, encoding=graph.options.encoding or encoding) from None
        text, encoding = data.decode("latin-1"), "latin-1"
        graph.remarks.append("text that is not UTF-8, read as Latin-1")
    graph.report["encoding"] = encoding or "utf-8"
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_lines(graph: AttributedGraph, *, marks: str) -> Iterator[tuple[int, str]]:
    """Lines with their numbers from 1, less empty ones and comments, which begin with one of the ``marks``."""
    comment = re.compile(f"\\s*(?:$|[{re.escape(marks)}])" if marks else "\\s*$")
    for number, line in enumerate(decode_for(graph).split("\n"), start=1):
        if not comment.match(line):
            yield number, line
