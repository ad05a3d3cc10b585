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
    "REFINE": "estimator",
    "embed": "run.embed",
    "ingest": "ingestion.ingest",
    "load": "embedding.embedding",
    "read": "readers.read",
    "tune": "evaluate.tune",
}
__all__ = ["REFINE", "Embedding", "Graph", "GraphRefineError", "__version__", "embed", "ingest", "load", "read", "tune"]

if TYPE_CHECKING:
    from graphrefine.embedding.embedding import Embedding, load
    from graphrefine.errors import GraphRefineError
    from graphrefine.estimator import REFINE
    from graphrefine.evaluate.tune import tune
    from graphrefine.graph.graph import Graph
    from graphrefine.ingestion.ingest import ingest
    from graphrefine.readers.read import read
    from graphrefine.run.embed import embed


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'graphrefine' has no attribute {name!r}")
    value = getattr(import_module(f"graphrefine.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
