"""Learning from the graph: the fold map and the degree weight of an embedding, as its state.

A stage of a run with a name, after the method; what it learns are plain arrays and numbers. `learning_bytes` is its
part of the memory plan.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.embedding import degree_weight, fold_in
from graphrefine.errors import ArgumentWarning
from graphrefine.vectors.state import FOLD_BLOCKS, State

if TYPE_CHECKING:
    from graphrefine.graph.graph import Graph

NODE_BYTES = 32  # for each node: degrees, and their order
ENTRY_BYTES = 28  # for each entry of a sample: its place, its neighbour, its weight


def can_learn(graph: Graph) -> bool:
    """Whether there is something to learn: from undirected edges of one set of nodes."""
    return graph.edges > 0 and not graph.directed and graph.sources is None


def learn_state(graph: Graph, vectors: NDArray[np.float32], degrees: NDArray[np.float32], *, seed: int) -> State:
    """Degrees, fold map and degree weight of vectors (n, k) of a graph; degrees alone where `can_learn` is false.

    Examples
    --------
    >>> from graphrefine.graph.graph import Graph
    >>> ring = Graph.from_edges(range(6), [1, 2, 3, 4, 5, 0])
    >>> state = learn_state(ring, np.eye(6, 2, dtype=np.float32), np.full(6, 2.0, np.float32), seed=0)
    >>> state.fold_map.shape, state.degree_weight > 0
    ((12, 2), True)
    """
    if not can_learn(graph):
        return State(degrees)
    fold_map = fold_in.learn_from(graph, vectors, degrees, seed=seed)
    return State(degrees, fold_map, degree_weight.learn_from(graph, vectors, seed=seed))


def learning_bytes(nodes: int, entries: int, dim: int) -> int:
    """Memory that `learn_state` takes beside the graph and the vectors, at its height.

    ``entries`` are those of the adjacency matrix.
    """
    sample, width = min(nodes, fold_in.SAMPLE), FOLD_BLOCKS * dim
    near = min(nodes * dim, fold_in.NUMBERS_AT_A_TIME) * 4
    regression = max(4 * near, 28 * width**2)
    fold_map = sample * (width + 4 * dim) * 4 + min(entries, fold_in.ENTRIES) * ENTRY_BYTES + regression
    pairs = 4 * degree_weight.SAMPLE
    weight = min(pairs * degree_weight.NEIGHBOURS, pairs * -(-entries // max(nodes, 1)) * 4) * ENTRY_BYTES
    return nodes * NODE_BYTES + max(fold_map, weight)


def warn_unlearned(recipe: dict[str, Any], consequence: str, *, stacklevel: int) -> None:
    """Warn, of vectors that graphrefine made, that a graph was there to learn from, and was not used."""
    if "method" in recipe:
        text = f"nothing was learned from the graph, so {consequence}; embed with learn=True, or call learn(graph)"
        warnings.warn(ArgumentWarning(text, "learn"), stacklevel=stacklevel)
