"""Graphs in a notebook: size and kind, the degrees as a histogram, and the nodes with the highest.

It takes a blink, whatever the size: it looks at the degrees of at most a million nodes. The template is ``graph.html``
of `graphrefine.visuals`; it escapes names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.graph.remarks import describe_reading
from graphrefine.visuals.html import count_of, render, shorten

if TYPE_CHECKING:
    from graphrefine.graph.graph import Graph

HUBS = 5  # nodes with the highest degrees
MOST_NODES = 1 << 20  # whose degrees are looked at; of more nodes, that many evenly spread ones


def graph_html(graph: Graph) -> str:
    """A graph for a notebook.

    Examples
    --------
    >>> from graphrefine import Graph
    >>> "3 nodes, 2 edges" in graph_html(Graph.from_edges(["a", "b"], ["b", "c"]))
    True
    """
    title = f"{count_of(graph.nodes, 'node')}, {count_of(graph.edges, 'edge')}"
    kind = "directed" if graph.directed else "undirected"
    if graph.sources is not None:
        kind = f"bipartite: {graph.sources:,} sources, {graph.nodes - graph.sources:,} targets"
    facts = [kind, "weighted" if graph.weighted else "unweighted", f"{graph.isolated:,} isolated"]
    origin = [f"from {graph.source}"] if graph.source != "memory" else []
    lines = [", ".join(facts), "; ".join(origin + _name_range(graph))]
    degrees = _degrees(graph) if graph.edges else {"histogram": None}
    notes = describe_reading(graph.report, edges=graph.edges)
    return render("graph.html", title=title, lines=lines, notes=notes, **degrees)


def _name_range(graph: Graph) -> list[str]:
    if not graph.nodes:
        return []
    first, last = (shorten(repr(name)) for name in graph.names_of([0, graph.nodes - 1]).tolist())
    return [f"names {first} to {last}" if graph.nodes > 1 else f"name {first}"]


def _degrees(graph: Graph) -> dict[str, Any]:
    """The degrees as a histogram, and the nodes with the highest."""
    step = -(-graph.nodes // MOST_NODES)  # rounded up
    sample = np.arange(0, graph.nodes, step) if step > 1 else None
    degrees = graph.out_counts if sample is None else graph.indptr[sample + 1] - graph.indptr[sample]
    share = "" if step == 1 else f" (of one node in {step})"
    name = "out-degree" if graph.directed else "degree"
    hubs = np.argpartition(degrees, -min(HUBS, len(degrees)))[-min(HUBS, len(degrees)) :]
    hubs = hubs[np.lexsort((hubs, -degrees[hubs]))]
    median = int(np.partition(degrees, len(degrees) // 2)[len(degrees) // 2])
    summary = f"{name}{share}: median {median:,}, mean {degrees.mean():,.1f}, highest {degrees[hubs[0]]:,}"
    hub_names = [shorten(node) for node in graph.names_of(hubs * step)]
    return {
        "histogram": {"name": name, "summary": summary, **_bars(degrees, name)},
        "hubs": [[node, f"{degree:,}"] for node, degree in zip(hub_names, degrees[hubs], strict=True)],
    }


def _bars(degrees: NDArray[np.int64], name: str) -> dict[str, Any]:
    """Bars for the numbers of nodes with 0, 1, 2-3, 4-7 ... neighbours; the height is the logarithm."""
    counts = np.bincount(np.frexp(degrees.astype(np.float64))[1])  # 0 -> 0, 1 -> 1, 2-3 -> 2, 4-7 -> 3
    first = 0 if counts[0] else 1
    heights = np.where(counts, 6 + 54 * np.log1p(counts) / np.log1p(counts.max()), 0)
    width = max(6, min(26, 320 // len(counts)))
    spacing = max(1, 44 // width)  # bars between labels, as these need room
    bars = []
    for place in range(first, len(counts)):
        low, left = 2**place // 2, (place - first) * width
        span = str(low) if place < 2 else f"{low:,} to {2 * low - 1:,}"
        bars.append({
            "left": left,
            "middle": left + width // 2 - 1,
            "width": width - 2,
            "height": round(heights[place]),
            "title": f"{name} {span}: {count_of(int(counts[place]), 'node')}",
            "label": "" if (place - first) % spacing else _short_number(low),
        })  # fmt: skip
    return {"bars": bars, "width": (len(counts) - first) * width + 12}


def _short_number(number: int) -> str:
    """A power of two in short: 512, 1k, 2M.

    Examples
    --------
    >>> _short_number(512), _short_number(1024), _short_number(2**21)
    ('512', '1k', '2M')
    """
    for unit, name in ((2**20, "M"), (2**10, "k")):
        if number >= unit:
            return f"{number // unit}{name}"
    return str(number)
