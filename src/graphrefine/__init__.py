"""Node embeddings for any graph, in seconds: REFINE, fast and reproducible.

>>> import graphrefine
>>> embedding = graphrefine.embed([("ann", "bob"), ("bob", "cleo"), ("cleo", "ann")], dim=2)
>>> embedding.names.tolist()
['ann', 'bob', 'cleo']
"""

from __future__ import annotations

import logging
from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

logging.getLogger(__name__).addHandler(logging.NullHandler())  # silent, unless the program around it listens

_HOME = {  # public name -> its module, loaded on first use
    "Embedding": "embedding.embedding",
    "Graph": "graph.graph",
    "GraphRefineError": "errors",
    "NodeVectors": "sklearn.node_vectors",
    "REFINE": "sklearn.refine",
    "check": "analysis.check",
    "embed": "pipeline.embed",
    "find_communities": "analysis.communities",
    "find_duplicates": "analysis.duplicates",
    "ingest": "ingestion.ingest",
    "load": "embedding.embedding",
    "measure_drift": "analysis.drift",
    "predict_labels": "analysis.label_prediction",
    "predict_links": "analysis.link_prediction",
    "read": "readers.read",
    "split_edges": "analysis.edge_split",
    "tune": "evaluate.tune",
}
__all__ = [
    "REFINE",
    "Embedding",
    "Graph",
    "GraphRefineError",
    "NodeVectors",
    "__version__",
    "check",
    "embed",
    "find_communities",
    "find_duplicates",
    "ingest",
    "load",
    "measure_drift",
    "predict_labels",
    "predict_links",
    "read",
    "split_edges",
    "tune",
]

if TYPE_CHECKING:
    from graphrefine.analysis.check import check
    from graphrefine.analysis.communities import find_communities
    from graphrefine.analysis.drift import measure_drift
    from graphrefine.analysis.duplicates import find_duplicates
    from graphrefine.analysis.edge_split import split_edges
    from graphrefine.analysis.label_prediction import predict_labels
    from graphrefine.analysis.link_prediction import predict_links
    from graphrefine.embedding.embedding import Embedding, load
    from graphrefine.errors import GraphRefineError
    from graphrefine.evaluate.tune import tune
    from graphrefine.graph.graph import Graph
    from graphrefine.ingestion.ingest import ingest
    from graphrefine.pipeline.embed import embed
    from graphrefine.readers.read import read
    from graphrefine.sklearn.node_vectors import NodeVectors
    from graphrefine.sklearn.refine import REFINE


def __getattr__(name: str) -> Any:
    if name == "live":  # a module of functions that would be ambiguous without its name
        return import_module("graphrefine.live")
    if name not in _HOME:
        raise AttributeError(f"module 'graphrefine' has no attribute {name!r}")
    value = getattr(import_module(f"graphrefine.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
