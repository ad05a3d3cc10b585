"""Descriptions of graphs and of runs: stats, and the same in words."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.display.console import seconds
from graphrefine.embedding.embedding import Embedding
from graphrefine.graph import adjacency
from graphrefine.graph.graph import Graph
from graphrefine.kernels import edge_lists

BLOCK = 8192  # rows that are read together: few MB even of long vectors, which may be mapped from a file
PARTS = ("read", "compute", "learn", "write")  # of a run, whose times add up to the total


def list_notes(graph: Graph, *, zero_vectors: int = 0, features: dict[str, Any] | None = None) -> list[str]:
    """Return notes on what a user may not expect of the reading of a graph; and on zero vectors, if there are vectors.

    ``features`` is the entry of that name in the recipe.
    """
    counts = {"isolated": graph.isolated, "zero_vectors": max(zero_vectors - graph.isolated, 0)}
    if features:
        # With features, a node without edges may have a vector, and one without features an incomplete one.
        counts |= {"isolated": 0, "zero_vectors": 0, "alone": graph.isolated}
        counts |= {"bare": graph.nodes - features["nodes"], "unknown": features["unknown"]}
    lines = adjacency.list_notes(counts, edges=graph.edges)
    if graph.directed and edge_lists.inspect_rows(graph.indptr, graph.indices, graph.weights) & edge_lists.SYMMETRIC:
        lines.append("every edge is there in both directions, so that directed says nothing; leave it out")
    return lines


def zero_rows(vectors: NDArray[np.float32]) -> int:
    """Count the rows that are zero.

    Examples
    --------
    >>> zero_rows(np.array([[0, 1], [0, 0], [1, 0]], np.float32))
    1
    """
    # The first number of nearly all other rows is not zero: few rows are compared in full.
    candidates = np.flatnonzero(vectors[:, 0] == 0)
    blocks = (vectors[candidates[at : at + BLOCK]] for at in range(0, len(candidates), BLOCK))
    return sum(int((~block.any(axis=1)).sum()) for block in blocks)


def describe_result(graph: Graph, embedding: Embedding, stats: dict[str, Any]) -> list[str]:
    """Add the counts of a graph and of its vectors to the stats of a run, and return notes for people."""
    stats["nodes"], stats["dim"] = embedding.vectors.shape
    stats["zero_vectors"] = zero_rows(embedding.vectors)
    stats |= {"edges": graph.edges, "isolated": graph.isolated, "graph": graph.summary(), "recipe": embedding.recipe}
    return list_notes(graph, zero_vectors=stats["zero_vectors"], features=embedding.recipe.get("features"))


def describe_run(stats: dict[str, Any]) -> str:
    """Return one line about a run: nodes, time of its parts, peak of memory, the tier of quality, the fingerprint."""
    size = f"{stats['nodes']:,} nodes x {stats['dim']} from {stats['edges']:,} edges"
    spent = {name: seconds(stats["seconds"][name]) for name in ("total", *PARTS) if name in stats["seconds"]}
    parts = ", ".join(f"{name} {spent[name]}" for name in PARTS if name in spent)
    quality = stats["recipe"].get("quality")
    tier = f"; quality {quality}" if quality else ""
    memory, name = f"{stats['peak_mb']:,.0f} MB", stats["fingerprint"]["name"]
    return f"{stats['output']}: {size} in {spent['total']} ({parts}; {memory}{tier}), {name}"


def describe_dimension(auto_dim: dict[str, Any]) -> str:
    """Describe what numbers of axes lose, as `graphrefine.refine.dimension.Dimension` has it.

    Examples
    --------
    >>> describe_dimension({"axes": 110, "lost": {"32": 0.5692, "64": 0.2917, "128": 0.0}})
    '110 axes are above the noise; lost of their energy at 32 56.9%, 64 29.2%, 128 0.0%'
    """
    if not auto_dim["axes"]:
        return "no axis is above the noise: there are too few edges for that"
    losses = ", ".join(f"{axes} {lost:.1%}" for axes, lost in auto_dim["lost"].items())
    return f"{auto_dim['axes']} axes are above the noise; lost of their energy at {losses}"
