"""The far view against the matrix itself, entry by entry; and the memory of walks against its definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from graphrefine.engine.local import LocalEngine
from graphrefine.graph.graph import Graph
from graphrefine.linalg import unit_rows
from graphrefine.linalg.operators import EdgeStrengths
from graphrefine.refine.far_view import Walks, count_blocks, far_view
from graphrefine.refine.regions import Regions, draw_regions
from graphrefine.refine.walk_memory import walk_memory
from graphs import graphs, permuted, random_graph

Dense = NDArray[np.float64]


def steps_of_a_walk(graph: Graph) -> tuple[Dense, Dense]:
    """P and D as dense matrices, the rows of isolated nodes zero."""
    A = graph.to_scipy().toarray().astype(np.float64)
    d = A.sum(axis=1)
    return np.divide(A, d[:, None], out=np.zeros_like(A), where=d[:, None] > 0), d


def ratios(graph: Graph, regions: Regions, steps: tuple[int, int]) -> Dense:
    """x as `graphrefine.refine.far_view` defines it."""
    P, d = steps_of_a_walk(graph)
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
    _, d = steps_of_a_walk(graph)
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


def test_leading_axes_of_regions_are_those_of_all_rows() -> None:
    rng = np.random.default_rng(0)
    group = rng.integers(0, 12, 3000)
    source, target = rng.integers(0, 3000, (2, 90_000))
    keep = (group[source] == group[target]) | (rng.random(90_000) < 0.05)
    graph = Graph.from_edges(source[keep], target[keep], names=np.arange(3000))
    rows = np.eye(12, dtype=np.float32)[group] + 0.2 * rng.standard_normal((3000, 12)).astype(np.float32)
    regions = draw_regions(graph, unit_rows(rows), 200, seed=0)
    logs = np.log(np.maximum(ratios(graph, regions, (3, 7)), 1.0))
    U = np.linalg.svd(logs, full_matrices=False)[0][:, :8]
    made = far_view(LocalEngine(graph, columns=64), EdgeStrengths(graph), regions, columns=8, steps=(3, 7))
    assert np.linalg.svd(U.T @ np.linalg.qr(made)[0], compute_uv=False).min() > 0.9


def test_bfloat16_is_harmless() -> None:
    graph = random_graph(900, degree=6)
    regions = some_regions(graph, 120)
    exact, half = (
        far_view(LocalEngine(graph, columns=64, bfloat16=half), EdgeStrengths(graph), regions, columns=16, steps=(3, 7))
        for half in (False, True)
    )
    cosines = (exact * half).sum(axis=1) / np.linalg.norm(exact, axis=1) / np.linalg.norm(half, axis=1)
    assert np.quantile(np.abs(cosines), 0.01) > 0.99 or np.abs(exact @ exact.T - half @ half.T).max() < 0.05


@pytest.mark.parametrize("count", [90, 300])  # axes of all regions, or of random signs
def test_rows_may_stand_in_the_order_of_the_engine(count: int) -> None:
    graph = random_graph(800, degree=5)
    regions = some_regions(graph, count)
    here, there = (
        far_view(engine, EdgeStrengths(graph), regions, columns=12, steps=(3, 7))
        for engine in (LocalEngine(graph, columns=32, bfloat16=False, reorder=reorder) for reorder in (False, True))
    )
    assert np.array_equal(here, there)


@settings(deadline=None, max_examples=25)
@given(graphs(directed=False, most=60))
def test_the_memory_of_walks_is_that_of_its_definition(graph: Graph) -> None:
    if not len(graph.indices):
        return
    P, d = steps_of_a_walk(graph)
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
    graph = random_graph(4000, degree=6)
    engine, strengths = LocalEngine(graph, columns=128), EdgeStrengths(graph)
    exact = walk_memory(engine, strengths, 4000, seed=0)
    assert walk_memory(engine, strengths, 300, seed=0) == pytest.approx(exact, abs=0.02)
    assert walk_memory(engine, strengths, 128, seed=1) == pytest.approx(exact, abs=0.03)


def test_the_order_of_the_nodes_does_not_matter() -> None:
    graph = random_graph(300, degree=8)
    order = np.random.default_rng(0).permutation(300)
    regions = some_regions(graph, 60)
    engine = LocalEngine(graph, columns=32, bfloat16=False)
    here = far_view(engine, EdgeStrengths(graph), regions, columns=6, steps=(3, 7))[order]
    moved = Regions(regions.of[order], np.argsort(order)[regions.centers])
    other = permuted(graph, order)
    engine = LocalEngine(other, columns=32, bfloat16=False)
    there = far_view(engine, EdgeStrengths(other), moved, columns=6, steps=(3, 7))
    assert np.abs(here @ here.T - there @ there.T).max() < 1e-3 * np.abs(here @ here.T).max()
