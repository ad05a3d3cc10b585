"""Node features joined to the vectors of a method: `graphrefine.refine.features` with the resources of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphrefine.errors import InputError
from graphrefine.methods.contract import Floats, Method, Resources
from graphrefine.methods.registry import METHODS, find_method
from graphrefine.refine.features import feature_vectors, join
from graphrefine.refine.method_settings import MethodSettings
from graphrefine.run.feature_table import Features, read_features

if TYPE_CHECKING:
    from graphrefine.graph.graph import Graph


def read_table(features: Any, contract: Method[Any], graph: Graph, settings: MethodSettings) -> Features:
    """The features of a graph's nodes; InputError where a method cannot use them."""
    if not contract.features:
        able = ", ".join(name for name in METHODS if find_method(name).features)
        raise InputError(f"features= cannot be used with method={contract.name!r}; it can with {able}")
    if contract.sides(graph, settings):
        raise InputError(
            f"features= cannot be used with {graph.source}, whose vectors have two sides; read it as undirected"
        )
    return read_features(features, graph)


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
