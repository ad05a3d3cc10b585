"""Node features joined to the vectors of a method: `graphrefine.refine.features` with the resources of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphrefine.methods.contract import Floats, Resources
from graphrefine.refine.features import feature_vectors, join

if TYPE_CHECKING:
    from graphrefine.graph.graph import Graph
    from graphrefine.run.feature_table import Features


def add_features(vectors: Floats, graph: Graph, table: Features, *, seed: int, resources: Resources) -> dict[str, Any]:
    """Join features to the vectors (n, k) of a graph's structure, in place; what the recipe tells about them."""
    with resources.stages.stage("features", steps=10):
        vectors_of_features, relation = feature_vectors(
            lambda columns: resources.engine(graph, columns=columns),
            graph,
            table.matrix,
            dim=vectors.shape[1],
            seed=seed,
            advance=resources.stages.advance,
        )
        join(vectors, vectors_of_features, weight=relation.weight, threads=resources.threads)
    return {
        "columns": int(table.matrix.shape[1]),
        "nodes": table.nodes,
        "unknown": table.unknown,
        "weight": relation.weight,
        "directions": relation.directions,
        "correlation": round(relation.correlation, 4),
    }
