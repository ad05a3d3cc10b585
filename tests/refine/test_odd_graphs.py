"""Graphs in which little can be told apart, and weights of any size: finite vectors, sensible neighbors, any tier."""

from __future__ import annotations

import warnings
from itertools import combinations, product

import numpy as np
import pytest
from numpy.typing import NDArray

import graphrefine
from graphrefine.errors import InputError
from graphrefine.graph.graph import Graph
from graphrefine.methods.contract import Shape
from graphrefine.methods.refine import REFINE_METHOD
from graphrefine.pipeline.memory_plan import LIBRARIES
from graphrefine.refine.settings import QUALITIES, RefineSettings
from graphrefine.system.memory import PeakMemory, private_bytes
from graphs import random_graph

Edges = list[tuple[int, int]]
Floats = NDArray[np.float32]


def clique(first: int, size: int) -> Edges:
    return list(combinations(range(first, first + size), 2))


def star(hub: int, leaves: int) -> Edges:
    return [(hub, hub + leaf) for leaf in range(1, leaves + 1)]


BRIDGED = [*clique(0, 6), *clique(6, 6), (0, 6)]
ODD: dict[str, Edges] = {
    "edge": [(0, 1)],
    "two edges": [(0, 1), (2, 3)],
    "many edges": [(2 * i, 2 * i + 1) for i in range(100)],
    "path": [(i, i + 1) for i in range(20)],
    "short path": [(0, 1), (1, 2)],
    "ring": [(i, (i + 1) % 30) for i in range(30)],
    "star": star(0, 5),
    "large star": star(0, 299),
    "two stars": [*star(0, 20), *star(100, 20)],
    "triangle": clique(0, 3),
    "clique": clique(0, 40),
    "two cliques": [*clique(0, 5), *clique(5, 5)],
    "bridged cliques": BRIDGED,
    "complete bipartite": list(product(range(3), range(3, 6))),
    "lopsided complete bipartite": list(product(range(5), range(5, 45))),
    "duplicates": [(0, 2), (0, 3), (1, 2), (1, 3), (2, 4), (3, 4)],
}


def embed(graph: Graph, quality: str, dim: int) -> Floats:
    with warnings.catch_warnings(), np.errstate(all="raise", under="ignore"):
        warnings.simplefilter("error")
        return graphrefine.embed(graph, dim, quality=quality, threads=1).vectors


def check_rows(graph: Graph, vectors: Floats, *, zeros: bool = False) -> None:
    """Unit rows, zero ones for nodes without edges alone, or, with ``zeros``, for others too but not for all."""
    alone, lengths = graph.without_edges(), np.linalg.norm(vectors, axis=1)
    assert np.isfinite(vectors).all() and not lengths[alone].any()
    unit = np.abs(lengths[~alone] - 1) < 1e-3
    assert unit.any() and (unit | (lengths[~alone] == 0)).all() if zeros else unit.all()


@pytest.mark.parametrize("quality", QUALITIES)
@pytest.mark.parametrize("name", ODD)
def test_odd_graphs_have_vectors_of_any_length(name: str, quality: str) -> None:
    graph = graphrefine.read(ODD[name])
    for dim in sorted({1, 2, min(8, graph.nodes), graph.nodes}):
        # REFINE alone cannot tell a node from the mean of all where it has too few axes: such a row is zero.
        check_rows(graph, embed(graph, quality, dim), zeros=quality == "fast" or dim == 1)


@pytest.mark.parametrize("side", ["directed", "bipartite"])
@pytest.mark.parametrize("name", ODD)
def test_odd_graphs_of_two_sides_have_finite_vectors(name: str, side: str) -> None:
    """Rows of directions are unit times the first column, or zero; a first edge scores above nothing."""
    edges, directed = ODD[name], side == "directed"
    graph = graphrefine.read(edges, directed=directed, bipartite=not directed)
    for dim in (2, 4, 8):
        embedding = graphrefine.embed(graph, min(dim, graph.nodes - graph.nodes % 2))
        assert np.isfinite(embedding.vectors).all() and embedding.recipe["quality"] == "default"
        if not directed:
            u, v = embedding.index(edges[0][0], side="source"), embedding.index(edges[0][1], side="target")
            assert embedding.source[u] @ embedding.target[v] > 0
            continue
        rest = embedding.dim // 2 - 1 - (embedding.dim >= 8)
        for rows, counts in ((embedding.source, graph.out_counts), (embedding.target, graph.transposed().out_counts)):
            ratio = np.linalg.norm(rows[:, 1 : 1 + rest], axis=1)[counts > 0] / rows[counts > 0, 0]
            assert not rows[counts == 0, 1 : 1 + rest].any()
            assert (np.isclose(ratio, 1, atol=1e-5) | (ratio == 0)).all()


@pytest.mark.parametrize("quality", QUALITIES)
@pytest.mark.parametrize("edges", [BRIDGED, [*clique(0, 6), *clique(6, 6)]], ids=["bridged", "apart"])
@pytest.mark.parametrize("unit", [1e-30, 1e-6, 1.0, 1e6, 1e30])
def test_nodes_of_a_clique_are_nearest(quality: str, edges: Edges, unit: float) -> None:
    graph = graphrefine.read([(a, b, unit * (1 + (a * b) % 3)) for a, b in edges])
    for dim in (4, 12):
        vectors = embed(graph, quality, dim)
        check_rows(graph, vectors)
        cosine = vectors @ vectors.T
        of = graph.names.astype(int) // 6
        same = of[:, None] == of[None]
        assert cosine[same].min() > cosine[~same].max() + 0.5
    for weight in (3e38, 1e-40):  # beyond the arithmetic
        with pytest.raises(InputError, match="float32"):
            graphrefine.embed([(a, b, weight) for a, b in edges], 4, quality=quality)


def test_where_nothing_can_be_told_apart_nodes_are_alike() -> None:
    """A star, whose leaves and hub REFINE alone cannot tell apart by some seeds: alike, rather than without vectors."""
    graph = graphrefine.read(star(0, 299))
    for seed in range(6):
        vectors = graphrefine.embed(graph, 8, quality="fast", seed=seed).vectors
        assert (np.abs(np.linalg.norm(vectors, axis=1) - 1) < 1e-3).all()


def test_the_memory_of_a_tier_is_foreseen() -> None:
    """On a graph so small that joining the views, not the engine, is what takes the memory."""
    graph = random_graph(8000, degree=8)
    for dim in (64, 192):
        before = private_bytes()
        with PeakMemory() as peak:
            graphrefine.embed(graph, dim, threads=2)
        predicted = REFINE_METHOD.memory(Shape.of(graph), RefineSettings(dim=dim))
        assert peak.bytes - before < predicted + LIBRARIES
