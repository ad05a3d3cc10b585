"""Descriptions of graphs and of runs: figures, and the same in words."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.display.console import seconds
from graphrefine.embedding.embedding import Embedding
from graphrefine.graph.adjacency import list_notes
from graphrefine.graph.graph import Graph
from graphrefine.kernels import edge_lists

BLOCK = 8192  # rows looked at together


def remarks(graph: Graph, *, zero_vectors: int = 0, features: dict[str, Any] | None = None) -> list[str]:
    """Remarks on the reading of a graph that a person may not expect; and on zero vectors, once there are vectors.

    ``features`` is the entry of that name in the recipe.
    """
    counts = {"isolated": graph.isolated, "zero_vectors": max(zero_vectors - graph.isolated, 0)}
    if features:
        counts |= {"isolated": 0, "zero_vectors": 0, "alone": graph.isolated}
        counts |= {"bare": graph.nodes - features["nodes"], "unknown": features["unknown"]}
    lines = list_notes(counts, edges=graph.edges)
    if graph.directed and edge_lists.inspect_rows(graph.indptr, graph.indices, graph.weights) & edge_lists.SYMMETRIC:
        lines.append("every edge is there in both directions, so that directed says nothing; leave it out")
    return lines


def zero_rows(vectors: NDArray[np.float32]) -> int:
    """Count the rows that are zero, without a look at every number.

    Examples
    --------
    >>> zero_rows(np.array([[0, 1], [0, 0], [1, 0]], np.float32))
    1
    """
    candidates = np.flatnonzero(vectors[:, 0] == 0)
    blocks = (vectors[candidates[at : at + BLOCK]] for at in range(0, len(candidates), BLOCK))
    return sum(int((~block.any(axis=1)).sum()) for block in blocks)


def describe_result(graph: Graph, embedding: Embedding, figures: dict[str, Any]) -> list[str]:
    """Add the figures of a graph and of its vectors to those of a run; and give remarks for people."""
    figures["nodes"], figures["dim"] = embedding.vectors.shape
    figures["zero_vectors"] = zero_rows(embedding.vectors)
    lines = remarks(graph, zero_vectors=figures["zero_vectors"], features=embedding.recipe.get("features"))
    figures |= {"edges": graph.edges, "isolated": graph.isolated, "graph": graph.summary()}
    figures["recipe"] = embedding.recipe
    return lines


def summary_line(figures: dict[str, Any]) -> str:
    """One line about a run: nodes, time of its parts, peak of memory, the tier of quality; the fingerprint."""
    size = f"{figures['nodes']:,} nodes x {figures['dim']} from {figures['edges']:,} edges"
    stages = [stage for stage in ("total", "read", "compute", "learn", "write") if stage in figures["seconds"]]
    total, *parts = map(seconds, map(figures["seconds"].get, stages))
    shares = ", ".join(map(" ".join, zip(stages[1:], parts, strict=True)))
    quality = figures["recipe"].get("quality")
    tier = f"; quality {quality}" if quality else ""
    name = figures["fingerprint"]["name"]
    return f"{figures['output']}: {size} in {total} ({shares}; {figures['peak_mb']:,.0f} MB{tier}), {name}"


def dimension_line(auto_dim: dict[str, Any]) -> str:
    """Describe what numbers of axes lose, as `graphrefine.refine.dimension.Dimension` has it.

    Examples
    --------
    >>> dimension_line({"axes": 110, "lost": {"32": 0.5692, "64": 0.2917, "128": 0.0}})
    '110 axes are above the noise; lost of their energy at 32 56.9%, 64 29.2%, 128 0.0%'
    """
    if not auto_dim["axes"]:
        return "no axis can be told from noise: there are too few edges for that"
    losses = ", ".join(f"{axes} {lost:.1%}" for axes, lost in auto_dim["lost"].items())
    return f"{auto_dim['axes']} axes are above the noise; lost of their energy at {losses}"


def drift_line(aligned: dict[str, Any]) -> str:
    """One line about vectors that were rotated onto older ones.

    Examples
    --------
    >>> drift_line({"to": "old", "shared": 1200, "before": 1.0311, "after": 0.0712})
    'aligned to old by 1,200 shared nodes: mean drift 0.071 (1.031 before the rotation)'
    """
    by = f"{aligned['shared']:,} shared node{'s' * (aligned['shared'] != 1)}"
    drift = f"mean drift {aligned['after']:.3f} ({aligned['before']:.3f} before the rotation)"
    return f"aligned to {aligned['to']} by {by}: {drift}"
