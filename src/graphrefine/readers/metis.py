"""METIS graphs: a line ``n m [format [constraints]]``, then one line of neighbors for each node, from 1.

The digits of the format announce further numbers on a line: 100 a size of the node, 10 weights of the node
(which are not used), 1 a weight after each neighbor. Nodes are named 1..n, as the file numbers them.
"""

from __future__ import annotations

import re

import numpy as np

from graphrefine.errors import InputError
from graphrefine.graph.adjacency import check_weights
from graphrefine.readers.attributed_graph import parse_weight
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
    # An empty line is a node without neighbors: only those beyond the last node may be left out.
    while len(body) > nodes and not body[-1][1].strip():
        body.pop()
    if len(body) != nodes:
        problem = f"the first line promises {nodes} nodes, and {len(body)} lines follow"
        raise source.error(f'{problem}; format="text" reads a list of edges', argument="format")
    step = 2 if weighted else 1
    counts: list[int] = []
    neighbors: list[int] = []
    weights: list[float] = []
    for number, line in body:
        fields = line.split()[skip:]
        if len(fields) % step:
            raise source.error("a neighbor has no weight", line=number)
        for neighbor in fields[::step]:
            if not neighbor.isdigit() or len(neighbor) > 19 or not 1 <= int(neighbor) <= nodes:
                text = neighbor.decode("utf-8", "replace")
                raise source.error(f"neighbor {text!r} is not a node from 1 to {nodes}", line=number)
        counts.append(len(fields) // step)
        neighbors += map(int, fields[::step])
        if weighted and options.weights is not False:
            try:
                weights += [parse_weight(field.decode("utf-8", "replace")) for field in fields[1::2]]
            except InputError as error:
                raise source.error(error, line=number) from None
    if len(neighbors) != 2 * edges:
        raise source.error(f"the first line promises {edges} edges, so {2 * edges} neighbors, not {len(neighbors)}")
    values = check_weights(np.array(weights), len(weights)) if weights else None
    ends = np.repeat(np.arange(nodes, dtype=np.int32), counts)
    report = {"weight_column": "edge weights" if values is not None else None}
    return EdgeTable((ends, np.array(neighbors, np.int32) - 1, np.arange(1, nodes + 1)), values, report)


def _header(source: Source, first: tuple[int, bytes]) -> tuple[int, int, int, bool]:
    """Nodes, edges, the count of numbers before the neighbors, and whether edges have weights."""
    number, line = first
    match = re.fullmatch(rb"([0-9]{1,19})\s+([0-9]{1,19})(?:\s+([01]{1,3})(?:\s+([0-9]{1,19}))?)?", line.strip())
    if match is None:
        problem = "a METIS graph begins with its numbers of nodes and edges, then perhaps a format of digits 0 and 1"
        raise source.error(problem, line=number)
    form = (match[3] or b"").decode().zfill(3)
    constraints = int(match[4] or 1)
    return int(match[1]), int(match[2]), int(form[0]) + int(form[1]) * constraints, form[2] == "1"
