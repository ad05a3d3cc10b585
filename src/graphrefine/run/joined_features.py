"""Node features joined to the vectors of a method: `graphrefine.refine.features` on the engine of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphrefine.methods.contract import Floats, Run
from graphrefine.refine.features import feature_vectors, join

if TYPE_CHECKING:
    from graphrefine.graph.graph import Graph
    from graphrefine.run.feature_table import Features


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
