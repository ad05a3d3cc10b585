"""Text that NetworkX writes: edge lists with attributes (``0 1 {'weight': 3}``), and adjacency lists.

An adjacency list has a node and its neighbors on each line. Attributes are literals of Python, which are read and never
run.
"""

from __future__ import annotations

import ast
import re
from typing import Any

from graphrefine.errors import InputError
from graphrefine.readers.attributed_graph import AttributedGraph
from graphrefine.readers.formats import EdgeTable
from graphrefine.readers.options import ReadOptions
from graphrefine.tables.source import Source

# Records that tell what a text is, all of which must look so: a name with a brace may be among those of any edge list.
SAMPLE = 20
_RECORD = rb"[ \t]*[^\s{}]{1,999}(?:[ \t]+|[ \t]*[,;][ \t]*)[^\s{}]{1,999}(?:[ \t]+|[ \t]*[,;][ \t]*)"
_ATTRIBUTES = rb"\{[ \t]*(?:['\"(0-9-].*)?\}[ \t]*\r?"  # keys are literals of Python
_FIRST, _ATTRIBUTED = re.compile(_RECORD + _ATTRIBUTES), re.compile(_RECORD + rb"\{.*\}[ \t]*\r?")
_LITERAL_ERRORS = (ValueError, SyntaxError, TypeError, MemoryError, RecursionError)
_DELIMITERS = ("\t", ",", ";", " ")


def is_attribute_edge_list(head: bytes) -> bool:
    r"""Return whether a text begins with edges that have their attributes in braces, as NetworkX writes them.

    Examples
    --------
    >>> is_attribute_edge_list(b"# a comment\n0 1 {}\n"), is_attribute_edge_list(b"0 1 {a: 1}\n")
    (True, False)
    """
    lines = [line for line in head.split(b"\n")[:-1] or [head] if line.strip() and not line.lstrip().startswith(b"#")]
    return bool(lines and _FIRST.fullmatch(lines[0])) and all(_ATTRIBUTED.fullmatch(line) for line in lines[:SAMPLE])


def load_edges(source: Source, options: ReadOptions) -> EdgeTable:
    """Load an edge list with attributes."""
    graph, lines, delimiter = _open(source, options)
    for line, text in lines:
        words = _split(text, delimiter, 2)
        if len(words) < 2 or not all(words):
            raise graph.error("two nodes and their attributes in braces are expected", line)
        attributes = _attributes(graph, words[2] if len(words) > 2 else "{}", line)
        graph.add_edge(words[0], words[1], attributes, directed=None, line=line)
    return graph.table()


def load_adjacency(source: Source, options: ReadOptions) -> EdgeTable:
    """Load an adjacency list."""
    graph, lines, delimiter = _open(source, options)
    if block := next((line for line, text in lines[:SAMPLE] if text.rstrip().endswith("}")), None):
        raise graph.error("this is a multiline adjacency list, which is not read; write it as an edge list", block)
    listed: set[str] = set()
    for line, text in lines:
        words = [word for word in _split(text, delimiter) if word]
        if not words:
            raise graph.error("there is no node on this line", line)
        node, *neighbors = words
        if node in listed:
            raise graph.error(f"the node {node!r} begins a second line; an adjacency list has one for each node", line)
        listed.add(node)
        graph.add_node(node, {}, line=line)
        for neighbor in neighbors:
            graph.add_edge(node, neighbor, {}, directed=None, line=line)
    graph.notes.append("each line is a node and its neighbors")
    return graph.table()


def _open(source: Source, options: ReadOptions) -> tuple[AttributedGraph, list[tuple[int, str]], str]:
    """Return a graph to fill, the numbered lines, and the delimiter: the option's, or the first in the first record."""
    graph = AttributedGraph(source, options)
    lines = list(graph.lines(marks="#" if options.comments is None else options.comments))
    if options.delimiter not in (None, *_DELIMITERS):
        allowed = ", ".join(map(repr, _DELIMITERS))
        raise InputError(f"delimiter={options.delimiter!r} is not one of {allowed}", argument="delimiter")
    first = next((text.partition("{")[0] for _, text in lines), "")
    return graph, lines, options.delimiter or next(mark for mark in _DELIMITERS if mark in first or mark == " ")


def _split(text: str, delimiter: str, most: int = -1) -> list[str]:
    """Return the words of a line, the last one with the rest of it."""
    return [word.strip() for word in text.strip().split(None if delimiter == " " else delimiter, most)]


def _attributes(graph: AttributedGraph, text: str, line: int) -> dict[str, Any]:
    """Return the attributes of an edge, from the literal of a dictionary."""
    try:
        literal = {} if text == "{}" else ast.literal_eval(text)
    except _LITERAL_ERRORS:
        literal = None
    if not isinstance(literal, dict) or not all(isinstance(key, str | int) for key in literal):
        raise graph.error(f"{text[:40]!r} is not a dictionary of attributes, such as {{'weight': 3}}", line)
    return {str(key): value for key, value in literal.items()}
