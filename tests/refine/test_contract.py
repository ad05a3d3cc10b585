"""What holds for the vectors of every kind of graph and every tier: threads, seeds, units of weights, empty rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import graphrefine
from graphrefine.graph.graph import Graph
from graphs import random_graph

NODES, ISOLATED = 5000, 7  # more than one block of rows in every kernel
Floats = NDArray[np.float32]
KINDS: dict[str, dict[str, Any]] = {
    "default": {},
    "fast": {"quality": "fast"},
    "best": {"quality": "best"},
    "directed": {"directed": True},
    "directed, fast": {"directed": True, "quality": "fast"},
    "bipartite": {"bipartite": True},
    "bipartite, fast": {"bipartite": True, "quality": "fast"},
    "features": {"features": True},
}
each_kind = pytest.mark.parametrize("kind", KINDS)


def make_graph(kind: str, *, orders: float = 0.5, unit: float = 1.0, nodes: int = NODES) -> Graph:
    """A graph with weights over so many orders of magnitude, and nodes without edges at its end."""
    rng = np.random.default_rng(1)
    if kind.startswith("bipartite"):
        user, item = rng.integers(0, nodes // 2, 4 * nodes), (nodes // 3 * rng.random(4 * nodes) ** 2).astype(int)
        matrix = np.zeros((nodes // 2 + ISOLATED, nodes // 3), np.float32)
        matrix[user, item] = unit * 10.0 ** rng.uniform(-orders, orders, 4 * nodes)
        return graphrefine.read(matrix, bipartite=True)
    plain = random_graph(nodes, directed=kind.startswith("directed"), isolated=ISOLATED, seed=1)
    rows = np.repeat(np.arange(nodes), plain.out_counts)
    once = np.ones(len(rows), bool) if plain.directed else rows < plain.indices
    weights = unit * 10.0 ** rng.uniform(-orders, orders, len(rows))
    ends = rows[once], plain.indices[once]
    return Graph.from_edges(*ends, weights[once], names=np.arange(nodes), directed=plain.directed)


def vectors(kind: str, graph: Graph, **options: Any) -> Floats:
    chosen = {name: value for name, value in KINDS[kind].items() if name == "quality"}
    if kind == "features":
        rng = np.random.default_rng(2)
        numbers = rng.random((graph.nodes, 40)) + np.arange(graph.nodes)[:, None] % 5
        numbers[-ISOLATED:] = 0
        chosen["features"] = numbers
    return graphrefine.embed(graph, 24, **{"seed": 0, **chosen, **options}).vectors


@each_kind
def test_threads_change_no_bit_and_seeds_do(kind: str) -> None:
    graph = make_graph(kind)
    first = vectors(kind, graph, threads=1)
    assert np.isfinite(first).all()
    assert np.array_equal(~first.any(axis=1), graph.without_edges())
    for threads in (2, 4):
        assert np.array_equal(vectors(kind, graph, threads=threads), first)
    assert not np.allclose(vectors(kind, graph, seed=1), first, atol=1e-3)


@each_kind
@pytest.mark.parametrize("orders", [0.5, 6.0, 15.0])
def test_weights_of_any_size_whose_unit_does_not_matter(kind: str, orders: float) -> None:
    one, other = (
        vectors(kind, make_graph(kind, orders=orders, unit=unit, nodes=400), bfloat16=False) for unit in (1.0, 1024.0)
    )
    assert np.isfinite(one).all() and one.any(axis=1).sum() > 0.9 * len(one)
    similar = one @ one.T
    assert np.abs(similar - other @ other.T).max() < 0.05 * np.abs(similar).max()
