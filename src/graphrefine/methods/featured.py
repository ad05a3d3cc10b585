"""Node features joined to the vectors of a method: `graphrefine.features` on the engine of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphrefine.features import feature_vectors, join
from graphrefine.methods.contract import Floats, Run

if TYPE_CHECKING:
    from graphrefine.feature_input import Features
    from graphrefine.graph import Graph


def add_features(vectors: Floats, graph: Graph, given: Features, *, seed: int, run: Run) -> dict[str, Any]:
    """Join features to the vectors (n, k) of a graph's structure, in place; what the recipe tells about them."""
    with run.stages.stage("features", steps=10):
        found, relation = feature_vectors(
            lambda columns: run.engine(graph, columns=columns),
            graph,
            given.matrix,
            dim=vectors.shape[1],
            seed=seed,
            advance=run.stages.advance,
        )
        join(vectors, found, weight=relation.weight, threads=run.threads)
    return {
        "columns": int(given.matrix.shape[1]),
        "nodes": given.nodes,
        "unknown": given.unknown,
        "weight": relation.weight,
        "directions": relation.directions,
        "correlation": round(relation.correlation, 4),
    }
