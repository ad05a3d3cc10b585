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
    "NodeVectors": "estimators.node_vectors",
    "REFINE": "estimators.refine_estimator",
    "check": "answers.check",
    "embed": "run.embed",
    "find_communities": "answers.communities",
    "find_duplicates": "answers.duplicates",
    "ingest": "ingestion.ingest",
    "load": "embedding.embedding",
    "measure_drift": "answers.drift",
    "predict_labels": "answers.label_prediction",
    "predict_links": "answers.link_prediction",
    "read": "readers.read",
    "split_edges": "answers.edge_split",
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
    from graphrefine.answers.check import check
    from graphrefine.answers.communities import find_communities
    from graphrefine.answers.drift import measure_drift
    from graphrefine.answers.duplicates import find_duplicates
    from graphrefine.answers.edge_split import split_edges
    from graphrefine.answers.label_prediction import predict_labels
    from graphrefine.answers.link_prediction import predict_links
    from graphrefine.embedding.embedding import Embedding, load
    from graphrefine.errors import GraphRefineError
    from graphrefine.estimators.node_vectors import NodeVectors
    from graphrefine.estimators.refine_estimator import REFINE
    from graphrefine.evaluate.tune import tune
    from graphrefine.graph.graph import Graph
    from graphrefine.ingestion.ingest import ingest
    from graphrefine.readers.read import read
    from graphrefine.run.embed import embed


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
