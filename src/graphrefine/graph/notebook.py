"""Graphs in a notebook: size and kind, the degrees as a histogram, and the nodes with the highest.

It takes no time, as it looks at the degrees of at most a million nodes. The template is ``graph.html``
of `graphrefine.display`; it escapes names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphrefine.display.html import count_of, render, shorten
from graphrefine.graph.adjacency import list_notes

NamesOf = Callable[[ArrayLike], NDArray[Any]]

HUBS = 5  # nodes with the highest degrees
MOST_NODES = 1 << 20  # whose degrees are looked at; of more nodes, that many evenly spread ones


def graph_html(
    facts: Mapping[str, Any], *, reading: str, report: Mapping[str, Any], indptr: NDArray[np.int64], names_of: NamesOf
) -> str:
    """Return a graph for a notebook: its summary, the report of its reading, and its rows."""
    nodes, edges = facts["nodes"], facts["edges"]
    title = f"{count_of(nodes, 'node')}, {count_of(edges, 'edge')}"
    kind = "directed" if facts["directed"] else "undirected"
    if "sources" in facts:
        kind = f"bipartite: {facts['sources']:,} sources, {nodes - facts['sources']:,} targets"
    kinds = [kind, "weighted" if facts["weighted"] else "unweighted", f"{facts['isolated']:,} isolated"]
    origin = [f"from {facts['source']}"] if facts["source"] != "memory" else []
    lines = [", ".join(kinds), "; ".join(origin + _name_range(nodes, names_of)), f"read: {reading}"]
    name = "out-degree" if facts["directed"] else "degree"
    degrees = _degrees(name, indptr, names_of) if edges else {"histogram": None}
    return render("graph.html", title=title, lines=lines, notes=list_notes(report, edges=edges), **degrees)


def _name_range(nodes: int, names_of: NamesOf) -> list[str]:
    if not nodes:
        return []
    first, last = (shorten(repr(name)) for name in names_of([0, nodes - 1]).tolist())
    return [f"names {first} to {last}" if nodes > 1 else f"name {first}"]


def _degrees(name: str, indptr: NDArray[np.int64], names_of: NamesOf) -> dict[str, Any]:
    """Return the degrees as a histogram, and the nodes with the highest."""
    nodes = len(indptr) - 1
    step = -(-nodes // MOST_NODES)  # rounded up
    degrees = np.diff(indptr) if step == 1 else indptr[1::step] - indptr[:-1:step]
    share = "" if step == 1 else f" (of one node in {step})"
    hubs = np.argpartition(degrees, -min(HUBS, len(degrees)))[-min(HUBS, len(degrees)) :]
    hubs = hubs[np.lexsort((hubs, -degrees[hubs]))]
    median = int(np.partition(degrees, len(degrees) // 2)[len(degrees) // 2])
    summary = f"{name}{share}: median {median:,}, mean {degrees.mean():,.1f}, highest {degrees[hubs[0]]:,}"
    hub_names = [shorten(node) for node in names_of(hubs * step)]
    return {
        "histogram": {"name": name, "summary": summary, **_bars(degrees, name)},
        "hubs": [[node, f"{degree:,}"] for node, degree in zip(hub_names, degrees[hubs], strict=True)],
    }


def _bars(degrees: NDArray[np.int64], name: str) -> dict[str, Any]:
    """Return bars for the numbers of nodes with 0, 1, 2-3, 4-7 ... neighbors; the height is the logarithm."""
    counts = np.bincount(np.frexp(degrees.astype(np.float64))[1])  # 0 -> 0, 1 -> 1, 2-3 -> 2, 4-7 -> 3
    first = 0 if counts[0] else 1
    heights = np.where(counts, 6 + 54 * np.log1p(counts) / np.log1p(counts.max()), 0)
    width = max(6, min(26, 320 // len(counts)))
    spacing = max(1, 44 // width)  # bars between labels, as these need room
    bars = []
    for power in range(first, len(counts)):
        low, left = 2**power // 2, (power - first) * width
        span = str(low) if power < 2 else f"{low:,} to {2 * low - 1:,}"
        bars.append({
            "left": left,
            "middle": left + width // 2 - 1,
            "width": width - 2,
            "height": round(heights[power]),
            "title": f"{name} {span}: {count_of(int(counts[power]), 'node')}",
            "label": "" if (power - first) % spacing else _short_number(low),
        })  # fmt: skip
    return {"bars": bars, "width": (len(counts) - first) * width + 12}


def _short_number(number: int) -> str:
    """Return a power of two in short: 512, 1k, 2M."""
    for unit, name in ((2**20, "M"), (2**10, "k")):
        if number >= unit:
            return f"{number // unit}{name}"
    return str(number)
