"""Rows of new nodes, folded into fitted vectors; and features, placed beside the rows of a graph."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array

from graphrefine.embedding.embedding import Embedding
from graphrefine.embedding.state import EmbeddingData
from graphrefine.graph.graph import Graph
from graphrefine.graph.node_ids import Names
from graphrefine.pipeline.feature_table import read_features
from graphrefine.readers.frames import is_counted


def fold_rows(
    model: Embedding, matrix: Any, columns: NDArray[np.int64], *, labels: list[str], threads: int | None
) -> NDArray[np.float32]:
    """The vectors of new nodes from the weights (m, columns) of their edges.  # (m, dim).

    ``columns`` are rows of the model, or n + i for the new node i; ``labels`` name the new nodes in messages.

    Examples
    --------
    >>> people = Embedding(["ada", "bob"], [[1, 0], [0, 1]])
    >>> fold_rows(people, [[0, 2]], np.array([0, 1]), labels=["eve"], threads=1).tolist()
    [[0.0, 1.0]]
    """
    n, entries = len(model), coo_array(matrix)
    ends = columns[entries.col]
    used = np.unique(ends[ends < n])
    edges = Graph.from_edges(
        entries.row + len(used),
        np.where(ends < n, np.searchsorted(used, ends), ends - n + len(used)),
        entries.data,
        names=[*used.tolist(), *labels],
        directed=True,
        threads=threads,
    )
    by_position = Embedding.from_data(EmbeddingData(np.arange(n), model.vectors, model.recipe, state=model.state))
    return by_position.fold_in(edges).vectors


def place_features(features: Any, graph: Graph, names: Names) -> Any:
    """Features as `graphrefine.pipeline.feature_table` takes them for a graph whose nodes users know by other names.

    Rows without names are those of the graph, in its order. The names of the others are the users' names.
    """
    if features is None or graph.names is names:
        return features
    if hasattr(features, "iloc") and hasattr(features, "index") and is_counted(features.index):
        return graph.names, features.to_numpy()
    if isinstance(features, np.ndarray | list) or hasattr(features, "tocsr"):
        return graph.names, features
    return graph.names, read_features(features, replace(graph, names=names)).matrix
