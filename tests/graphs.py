"""Graphs that the tests of the algorithms share: random ones of every kind, and the real ones if they are there."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from numpy.typing import NDArray

from graphrefine.errors import InputError
from graphrefine.graph.graph import Graph
from graphrefine.kernels.edge_lists import ASCENDING, HOLLOW, SYMMETRIC, inspect_rows


def random_graph(
    nodes: int, *, degree: float = 6.0, directed: bool = False, weighted: bool = False, isolated: int = 0, seed: int = 0
) -> Graph:
    """A graph with a few hubs, some communities' worth of structure and, if asked, isolated nodes at the end."""
    rng = np.random.default_rng(seed)
    linked = nodes - isolated
    count = int(linked * degree / 2)
    hub = (linked * rng.random(count) ** 2).astype(int)  # low numbers are drawn more often
    near = (hub + rng.integers(1, max(2, linked // 2), count)) % linked
    ring = np.arange(linked)
    source, target = np.concatenate([ring, hub]), np.concatenate([(ring + 1) % linked, near])
    weights = rng.uniform(0.2, 5.0, len(source)) if weighted else None
    return Graph.from_edges(source, target, weights, names=np.arange(nodes), directed=directed)


@st.composite
def graphs(draw: Any, *, directed: bool | None = None, least: int = 4, most: int = 300) -> Graph:
    nodes = draw(st.integers(least, most))
    return random_graph(
        nodes,
        degree=draw(st.floats(1, 20)),
        directed=draw(st.booleans()) if directed is None else directed,
        weighted=draw(st.booleans()),
        isolated=draw(st.integers(0, max(0, nodes - 4) // 4)),
        seed=draw(st.integers(0, 2**32 - 1)),
    )


def check(graph: Graph) -> None:
    """Raise InputError unless the graph keeps every promise of `Graph`.

    Examples
    --------
    >>> check(Graph.from_edges([1, 2], [2, 3]))
    """
    arrays = (graph.indptr, graph.indices, graph.weights)
    dtypes = [str(array.dtype) for array in arrays if array is not None]
    if dtypes != ["int64", "int32", "float32"][: len(dtypes)]:
        raise InputError(f"arrays must be int64, int32 and float32, not {', '.join(dtypes)}")
    if graph.weights is not None:
        if graph.weights.shape != graph.indices.shape:
            raise InputError(f"{len(graph.weights)} weights for {len(graph.indices)} entries")
        if not (np.isfinite(graph.weights) & (graph.weights > 0)).all() or (graph.weights == 1).all():
            raise InputError("weights must be finite, positive, and not all 1")
    if graph.names.dtype not in (np.int64, object) or len(graph.names) != graph.nodes:
        raise InputError(f"{len(graph.names)} names of type {graph.names.dtype} for {graph.nodes} nodes")
    sides = (graph.names[: graph.sources], graph.names[graph.nodes if graph.sources is None else graph.sources :])
    if any(len(set(side.tolist())) != len(side) for side in sides):
        raise InputError("two nodes have the same name")
    if graph.sources is not None and not _joins_sides(graph, graph.sources):
        raise InputError("every edge of a bipartite graph joins one of the first nodes, the sources, and another")
    properties = inspect_rows(graph.indptr, graph.indices, graph.weights)
    needed = ASCENDING | HOLLOW | (0 if graph.directed else SYMMETRIC)
    if properties < 0 or properties & needed != needed:
        raise InputError("rows must ascend, without self-loops, and mirror each other if undirected")


def _joins_sides(graph: Graph, sources: int) -> bool:
    split = graph.indptr[sources]
    return bool((graph.indices[:split] >= sources).all() and (graph.indices[split:] < sources).all())


def dense(graph: Graph) -> NDArray[np.float64]:
    """The adjacency matrix in float64."""
    return np.asarray(graph.to_scipy().toarray(), np.float64)


def dense_walk(graph: Graph) -> NDArray[np.float64]:
    """P = D^-1 A in float64, the rows of isolated nodes zero."""
    A = dense(graph)
    sums = A.sum(axis=1, keepdims=True)
    P: NDArray[np.float64] = np.divide(A, sums, out=np.zeros_like(A), where=sums > 0)
    return P


def permuted(graph: Graph, order: NDArray[Any]) -> Graph:
    """The same graph with node order[i] in row i."""
    rank = np.argsort(order)
    row = np.repeat(np.arange(graph.nodes), np.diff(graph.indptr))
    return Graph.from_edges(
        rank[row], rank[graph.indices], graph.weights, names=np.arange(graph.nodes), directed=graph.directed
    )


def deviations(ours: NDArray[Any], theirs: NDArray[Any]) -> NDArray[np.float64]:
    """The largest difference in each row of two embeddings, after the best rotation of one onto the other."""
    U, _, V = np.linalg.svd(ours.T.astype(np.float64) @ theirs)
    rows: NDArray[np.float64] = np.abs(ours @ (U @ V) - theirs).max(axis=1)
    return rows


def misalignment(ours: NDArray[Any], theirs: NDArray[Any]) -> float:
    """The largest of the `deviations`."""
    return float(deviations(ours, theirs).max())


def data_folder() -> Path:
    """Where the real graphs are; the test is skipped where they are not."""
    folder = os.environ.get("GRAPHREFINE_DATA")
    if not folder:
        pytest.skip("GRAPHREFINE_DATA is not set: the real graphs are not here")
    return Path(folder)
