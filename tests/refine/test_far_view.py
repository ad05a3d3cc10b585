"""The far view against the matrix itself, entry by entry; and the memory of walks against its definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from graphrefine.engine.local import LocalEngine
from graphrefine.graph.graph import Graph
from graphrefine.linalg.operators import EdgeStrengths
from graphrefine.refine.far_view import Walks, count_blocks, far_view
from graphrefine.refine.regions import Regions, draw_regions
from graphrefine.refine.walk_memory import walk_memory
from graphs import dense, dense_walk, graphs

Dense = NDArray[np.float64]


def ratios(graph: Graph, regions: Regions, steps: tuple[int, int]) -> Dense:
    """x as `graphrefine.refine.far_view` defines it."""
    P, d = dense_walk(graph), dense(graph).sum(axis=1)
    powers = sum(np.linalg.matrix_power(P, r) for r in range(steps[0], steps[1] + 1)) / (steps[1] - steps[0] + 1)
    member = np.zeros((graph.nodes, regions.size))
    inside = np.flatnonzero(regions.of >= 0)
    member[inside, regions.of[inside]] = 1
    volume = d @ member
    x: Dense = (powers @ member) * np.divide(d.sum(), volume, out=np.zeros_like(volume), where=volume > 0)
    return x


def some_regions(graph: Graph, count: int, seed: int = 0) -> Regions:
    rows = np.random.default_rng(seed).standard_normal((graph.nodes, 5)).astype(np.float32)
    return draw_regions(graph, rows / np.linalg.norm(rows, axis=1, keepdims=True), count, seed=seed)


@settings(deadline=None, max_examples=30)
@given(graphs(directed=False, most=120), st.integers(1, 60), st.integers(1, 4), st.integers(1, 6))
def test_averages_of_walks_are_those_of_the_definition(graph: Graph, count: int, start: int, more: int) -> None:
    regions, steps = some_regions(graph, count), (start, start + more)
    engine = LocalEngine(graph, columns=min(7, graph.nodes), bfloat16=False)
    expected = ratios(graph, regions, steps)
    made = np.zeros_like(expected)
    blocks = 0
    for part, columns in Walks(engine, EdgeStrengths(graph), regions).averages(*steps):
        made[:, part] = engine.collect(columns)[:, : part.stop - part.start]
        blocks += 1
    assert blocks == count_blocks(regions, engine.columns)
    assert np.abs(made - expected).max(initial=0) <= 2e-5 * max(expected.max(initial=0), 1)


@settings(deadline=None, max_examples=25)
@given(graphs(directed=False, most=120), st.integers(1, 60))
def test_vectors_have_the_inner_products_of_the_logarithms(graph: Graph, count: int) -> None:
    """With p = 1 and all axes, U S has the inner products of log max(1, x), but for the bytes that hold them."""
    regions = some_regions(graph, count)
    logs = np.log(np.maximum(ratios(graph, regions, (3, 7)), 1.0))
    d = dense(graph).sum(axis=1)
    step = np.log(max(d.sum() / max(np.bincount(regions.of[regions.of >= 0], d[regions.of >= 0]).min(), 1e-9), 1)) / 255
    engine = LocalEngine(graph, columns=min(16, graph.nodes), bfloat16=False)
    made = far_view(
        engine, EdgeStrengths(graph), regions, columns=max(regions.size, 1), steps=(3, 7), spectrum=1.0
    ).astype(np.float64)
    # Axes of the mean rows span the columns where the means do; else what is missing is within regions.
    means = np.stack([logs[regions.of == region].mean(axis=0) for region in range(regions.size)])
    basis = np.linalg.svd(means)[2][: np.linalg.matrix_rank(means, tol=2e-3 * max(np.abs(means).max(), 1e-9))]
    expected = logs @ basis.T @ basis @ logs.T
    error = np.abs(made @ made.T - expected).max()
    assert error <= 4 * np.abs(logs).max() * (step + 0.02) * regions.size + 1e-4


@settings(deadline=None, max_examples=25)
@given(graphs(directed=False, most=60))
def test_the_memory_of_walks_is_that_of_its_definition(graph: Graph) -> None:
    if not len(graph.indices):
        return
    P, d = dense_walk(graph), dense(graph).sum(axis=1)
    able = d > 0
    place = d[able] / d.sum()
    after = np.linalg.matrix_power(P, 2)[np.ix_(able, able)]
    joint = place[:, None] * after
    chance = np.outer(place, place)
    information = (joint[joint > 0] * np.log(joint[joint > 0] / chance[joint > 0])).sum()
    expected = np.sqrt(np.clip(information / -(place * np.log(place)).sum(), 0, 1))
    engine = LocalEngine(graph, columns=min(8, graph.nodes), bfloat16=False)
    assert walk_memory(engine, EdgeStrengths(graph), graph.nodes, seed=0) == pytest.approx(expected, abs=2e-3)


def test_the_memory_of_walks_is_seen_from_a_few_nodes() -> None:
    source, target = (4000 * np.random.default_rng(0).random((2, 16_000)) ** 3).astype(int)  # hubs, and many leaves
    graph = Graph.from_edges(source, target, names=range(4000))
    engine, strengths = LocalEngine(graph, columns=128), EdgeStrengths(graph)
    exact = walk_memory(engine, strengths, 4000, seed=0)
    assert walk_memory(engine, strengths, 300, seed=0) == pytest.approx(exact, abs=0.02)
    assert walk_memory(engine, strengths, 128, seed=1) == pytest.approx(exact, abs=0.03)
