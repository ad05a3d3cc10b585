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

_HEADER = re.compile(rb"([0-9]{1,19})\s+([0-9]{1,19})(?:\s+([01]{1,3})(?:\s+([0-9]{1,19}))?)?")


def load(source: Source, options: ReadOptions) -> EdgeTable:
    """Load a METIS graph."""
    lines = source.data.removesuffix(b"\n").split(b"\n")
    source.release()
    numbered = ((at, line) for at, line in enumerate(lines, start=1) if not line.lstrip().startswith(b"%"))
    first, head = next(numbered, (1, b""))
    match = _HEADER.fullmatch(head.strip())
    if match is None:
        problem = "a METIS graph begins with its numbers of nodes and edges, then perhaps a format of digits 0 and 1"
        raise source.error(problem, line=first)
    nodes, edges = int(match[1]), int(match[2])
    has_size, has_node_weights, weighted = (digit == "1" for digit in (match[3] or b"").decode().zfill(3))
    skip = has_size + has_node_weights * int(match[4] or 1)
    body = list(numbered)
    # An empty line is a node without neighbors: only those beyond the last node may be left out.
    while len(body) > nodes and not body[-1][1].strip():
        body.pop()
    if len(body) != nodes:
        problem = f"the first line promises {nodes} nodes, and {len(body)} lines follow"
        raise source.error(f'{problem}; format="text" reads a list of edges', argument="format")
    counts: list[int] = []
    neighbors: list[int] = []
    weights: list[float] = []
    for number, line in body:
        fields = line.split()[skip:]
        ends = fields[:: 1 + weighted]
        if weighted and len(fields) % 2:
            raise source.error("a neighbor has no weight", line=number)
        for neighbor in ends:
            if not neighbor.isdigit() or len(neighbor) > 19 or not 1 <= int(neighbor) <= nodes:
                text = neighbor.decode("utf-8", "replace")
                raise source.error(f"neighbor {text!r} is not a node from 1 to {nodes}", line=number)
        counts.append(len(ends))
        neighbors += map(int, ends)
        if weighted and options.weights is not False:
            try:
                weights += [parse_weight(field.decode("utf-8", "replace")) for field in fields[1::2]]
            except InputError as error:
                raise source.error(error, line=number) from None
    if len(neighbors) != 2 * edges:
        raise source.error(f"the first line promises {edges} edges, so {2 * edges} neighbors, not {len(neighbors)}")
    values = check_weights(np.array(weights), len(weights)) if weights else None
    rows = np.repeat(np.arange(nodes, dtype=np.int32), counts)
    report = {"weight_column": None if values is None else "edge weights"}
    return EdgeTable((rows, np.array(neighbors, np.int32) - 1, np.arange(1, nodes + 1)), values, report)
