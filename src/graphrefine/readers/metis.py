"""METIS graphs: a line ``n m [format [constraints]]``, then one line of neighbors for each node, from 1.

The digits of the format announce further numbers on a line: 100 a size of the node, 10 weights of the node
(which are not used), 1 a weight after each neighbor. Nodes are named 1..n, as the file numbers them.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from graphrefine.graph.adjacency import check_weights, describe_outside
from graphrefine.readers.formats import EdgeTable
from graphrefine.readers.options import ReadOptions
from graphrefine.tables.source import Source


def load(source: Source, options: ReadOptions) -> EdgeTable:
    """Load a METIS graph."""
    lines = [
        (number, line)
        for number, line in enumerate(source.data.removesuffix(b"\n").split(b"\n"), start=1)
        if not line.lstrip().startswith(b"%")
    ]
    source.release()
    nodes, edges, skip, weighted = _header(source, lines[0] if lines else (1, b""))
    body = lines[1:]
    while len(body) > nodes and not body[-1][1].strip():
        body.pop()
    if len(body) != nodes:
        problem = f"the first line promises {nodes} nodes, and {len(body)} lines follow"
        raise source.error(f'{problem}; format="text" reads a list of edges', argument="format")
    step = 2 if weighted else 1
    fields = [line.split()[skip:] for _, line in body]
    for (number, _), row in zip(body, fields, strict=True):
        if len(row) % step:
            raise source.error("a neighbor stands without its weight", line=number)
    counts = np.array([len(row) // step for row in fields], np.int64)
    if counts.sum() != 2 * edges:
        raise source.error(f"the first line promises {edges} edges, so {2 * edges} neighbors, not {counts.sum()}")
    tokens = [token for row in fields for token in row]
    target = _neighbors(source, body, fields, (nodes, step))
    values = None
    if weighted and options.weights is not False:
        values = _weights(source, tokens[1::2], np.repeat([number for number, _ in body], counts))
    ends = np.repeat(np.arange(nodes, dtype=np.int32), counts)
    report = {"weight_column": "edge weights" if values is not None else None}
    return EdgeTable((ends, target, np.arange(1, nodes + 1)), values, report)


def _header(source: Source, first: tuple[int, bytes]) -> tuple[int, int, int, bool]:
    """Nodes, edges, the count of numbers before the neighbors, and whether edges have weights."""
    number, line = first
    fields = line.split()
    if not 2 <= len(fields) <= 4 or not all(re.fullmatch(rb"[0-9]{1,19}", field) for field in fields):
        raise source.error("a METIS graph begins with its numbers of nodes and edges", line=number)
    form = fields[2].decode().zfill(3) if len(fields) > 2 else "000"
    if not re.fullmatch("[01]{3}", form):
        raise source.error(f"the format {form!r} is not three digits of 0 and 1", line=number)
    constraints = int(fields[3]) if len(fields) == 4 else 1
    skip = int(form[0]) + int(form[1]) * constraints
    return int(fields[0]), int(fields[1]), skip, form[2] == "1"


def _neighbors(
    source: Source, body: list[tuple[int, bytes]], fields: list[list[bytes]], sizes: tuple[int, int]
) -> NDArray[np.int32]:
    nodes, step = sizes
    try:
        numbers = np.array([int(token) for row in fields for token in row[::step]], dtype=np.int64)
        if not numbers.size or (numbers.min() >= 1 and numbers.max() <= nodes):
            return (numbers - 1).astype(np.int32)
    except (ValueError, OverflowError):
        pass
    for (number, _), row in zip(body, fields, strict=True):
        for token in row[::step]:
            if not token.isdigit() or not 1 <= int(token) <= nodes:
                text = token.decode("utf-8", "replace")
                raise source.error(f"neighbor {text!r} is not a node from 1 to {nodes}", line=number)
    raise AssertionError("every neighbor is a node")


def _weights(source: Source, tokens: list[bytes], lines: NDArray[np.int64]) -> NDArray[np.float32]:
    values = np.empty(len(tokens))
    for at, token in enumerate(tokens):
        try:
            values[at] = float(token)
        except ValueError:
            text = token.decode("utf-8", "replace")
            raise source.error(f"weight {text!r} is not a number", line=int(lines[at])) from None
        problem = describe_outside(values[at], text=token.decode("latin-1"))
        if problem is not None:
            raise source.error(f"weight {token.decode('latin-1')} {problem}", line=int(lines[at]))
    bad = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
    if bad.size:
        raise source.error(f"weight {values[bad[0]]:g} is negative or not finite", line=int(lines[bad[0]]))
    return check_weights(values, len(values))
