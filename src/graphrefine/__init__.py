"""Node embeddings for any graph, in seconds: REFINE, fast and reproducible.

>>> import graphrefine
>>> embedding = graphrefine.embed([("ann", "bob"), ("bob", "cleo"), ("cleo", "ann")], dim=2)
>>> embedding.names.tolist()
['ann', 'bob', 'cleo']
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOME = {  # public name -> its module, loaded on first use
    "Embedding": "embedding",
    "Graph": "graph",
    "GraphRefineError": "errors",
    "REFINE": "estimator",
    "embed": "methods",
    "ingest": "ingesting.run",
    "load": "embedding",
    "read": "reader",
    "tune": "tuning.search",
}
__all__ = ["REFINE", "Embedding", "Graph", "GraphRefineError", "__version__", "embed", "ingest", "load", "read", "tune"]

if TYPE_CHECKING:
    from graphrefine.embedding import Embedding, load
    from graphrefine.errors import GraphRefineError
    from graphrefine.estimator import REFINE
    from graphrefine.graph import Graph
    from graphrefine.ingesting.run import ingest
    from graphrefine.methods import embed
    from graphrefine.reader import read
    from graphrefine.tuning.search import tune


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'graphrefine' has no attribute {name!r}")
    value = getattr(import_module(f"graphrefine.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
