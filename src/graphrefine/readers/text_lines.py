"""Text of a graph file as strings, for loaders that read it whole: UTF-8, else Latin-1, or as ``encoding`` says."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator

from graphrefine.errors import InputError
from graphrefine.readers.attributed_graph import AttributedGraph

_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def decode_for(graph: AttributedGraph) -> str:
    """All text of the graph's file, its lines ended as those of Unix; the file's bytes are not needed again."""
    source, encoding = graph.source, graph.options.encoding
    data = source.data
    source.release()
    if data.startswith(_UTF16):
        encoding = encoding or "utf-16"
    elif b"\0" in data[:4096]:
        raise source.error("this is not a text file")
    try:
        text = data.decode(encoding or "utf-8-sig")
    except LookupError:
        raise InputError(
            f"encoding={encoding!r}: there is no such encoding; utf-8 and latin-1 are usual", argument="encoding"
        ) from None
    except UnicodeDecodeError as error:
        if encoding is not None:
            line = data.count(b"\n", 0, error.start) + 1
            raise source.error(f"the text is not {encoding}", line=line, argument="encoding") from None
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
