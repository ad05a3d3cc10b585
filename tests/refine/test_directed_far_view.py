"""The far view of directed graphs against dense matrices, on odd graphs, and what it is worth."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from graphrefine.engine.local import LocalEngine
from graphrefine.evaluate import evaluate_links
from graphrefine.graph.graph import Graph
from graphrefine.linalg import unit_rows
from graphrefine.linalg.operators import by_logarithm
from graphrefine.refine.directed_far_view import REGIONS, SHARE, ArcWalks, count_blocks, join_far_view, target_regions
from graphrefine.refine.far_view import LEVELS
from graphrefine.refine.regions import Regions
from graphs import graphs

Dense = NDArray[np.float64]


def with_ends(nodes: int, arcs: int, *, weighted: bool = False, seed: int = 0) -> Graph:
    """Arcs at random, none into the first third of the nodes and none out of the last: sources, sinks, and both."""
    rng = np.random.default_rng(seed)
    source, target = rng.integers(0, nodes - nodes // 3, arcs), rng.integers(nodes // 3, nodes, arcs)
    weights = rng.uniform(0.2, 5.0, arcs) if weighted else None
    return Graph.from_edges(source, target, weights, names=np.arange(nodes), directed=True)


ANY = st.one_of(
    graphs(directed=True, least=12, most=120),
    st.builds(with_ends, st.integers(12, 120), st.integers(9, 400), weighted=st.booleans(), seed=st.integers(0, 99)),
)


def dense_columns(graph: Graph, regions: Regions) -> tuple[Dense, Dense]:
    """X and Y as `graphrefine.refine.directed_far_view` defines them; weights count by their logarithm."""
    A = graph.to_scipy().toarray().astype(np.float64)
    if graph.weights is not None:
        A = np.log1p(A / np.median(graph.weights))
    out, into = A.sum(axis=1), A.sum(axis=0)
    P = np.divide(A, out[:, None], out=np.zeros_like(A), where=out[:, None] > 0)
    Q = np.divide(A.T, into[:, None], out=np.zeros_like(A), where=into[:, None] > 0)
    H = np.zeros((graph.nodes, regions.size))
    inside = np.flatnonzero(regions.of >= 0)
    H[inside, regions.of[inside]] = 1
    H *= A.sum() / (into @ H)
    return (P @ H + P @ Q @ P @ H) / 2, (Q @ P @ H + Q @ P @ Q @ P @ H) / 2


def some_regions(graph: Graph, count: int, seed: int) -> Regions:
    """Nodes with arcs in, each in any of the regions that has a node."""
    able = np.flatnonzero(graph.transposed().out_counts > 0)
    drawn = np.random.default_rng(seed).integers(0, count, len(able))
    of = np.full(graph.nodes, -1, np.int32)
    of[able] = np.unique(drawn, return_inverse=True)[1]
    return Regions(of, np.unique(drawn))


def rows_of_sides(graph: Graph, k: int, seed: int = 0) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Unit rows at random, zero on the side where a node has no arcs."""
    rng = np.random.default_rng(seed)
    source, target = (unit_rows(rng.standard_normal((graph.nodes, k))) for _ in range(2))
    source[graph.out_counts == 0] = 0
    target[graph.transposed().out_counts == 0] = 0
    return source, target


@settings(deadline=None, max_examples=40)
@given(ANY, st.integers(1, 40), st.integers(1, 9))
def test_columns_are_those_of_the_definition(graph: Graph, count: int, width: int) -> None:
    regions = some_regions(graph, count, seed=1)
    engine = LocalEngine(graph, columns=min(width, graph.nodes), bfloat16=False)
    expected = dense_columns(graph, regions)
    made = tuple(np.zeros_like(each) for each in expected)
    for part, columns in ArcWalks(engine, by_logarithm(graph), regions).averages():
        for whole, each in zip(made, columns, strict=True):
            whole[:, part] = engine.collect(each)[:, : part.stop - part.start]
    for ours, theirs in zip(made, expected, strict=True):
        assert np.abs(ours - theirs).max(initial=0) <= 2e-5 * max(theirs.max(initial=0), 1)


@pytest.mark.parametrize("reorder", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_joint_rows_are_those_of_the_definition(weighted: bool, reorder: bool) -> None:
    """Cosines of both sides, by dense matrices, but for the bytes that hold logarithms; whatever the order of rows."""
    graph, k = with_ends(90, 240, weighted=weighted, seed=4), 7
    source, target = rows_of_sides(graph, k)
    regions = target_regions(graph, target, seed=0)
    columns = [np.log(np.maximum(each, 1)) for each in dense_columns(graph, regions)]
    sides = [
        np.hstack([np.sqrt(1 - SHARE) * near, np.sqrt(SHARE) * unit_rows(far)])
        for near, far in zip((source, target), columns, strict=True)
    ]
    gram = sum(side.T @ side / np.count_nonzero(side.any(axis=1)) for side in sides)
    axes = np.linalg.eigh(gram)[1][:, ::-1][:, :k]
    x, y = (unit_rows(side @ axes) for side in sides)
    engine = LocalEngine(graph, columns=32, bfloat16=False, reorder=reorder)
    assert (engine.order is not None and (engine.order != np.arange(90)).any()) == reorder
    join_far_view(engine, graph, source, target, seed=0)
    assert np.abs(source @ target.T - x @ y.T).max() < 8 / LEVELS
    assert np.abs(source @ source.T - x @ x.T).max() < 8 / LEVELS


def test_regions_are_of_targets() -> None:
    """As many as said, of nodes that have arcs in, each node with a center that is near it."""
    graph = with_ends(900, 3000, seed=2)
    _, target = rows_of_sides(graph, 6)
    regions = target_regions(graph, target, seed=0)
    into = graph.transposed().out_counts
    assert regions.size == REGIONS and np.count_nonzero(into == 0) > 50
    assert np.array_equal(regions.of < 0, into == 0)
    cosines = target @ target[regions.centers].T
    there = into > 0
    assert np.allclose(cosines[np.arange(900), regions.of][there], cosines[there].max(axis=1), atol=1e-6)
    assert count_blocks(graph, 96) == 3


def layers(nodes: int = 1500, depth: int = 8, groups: int = 8, seed: int = 3) -> Graph:
    """A DAG like a food web: arcs lead one to three layers down, nearly all within a group."""
    rng = np.random.default_rng(seed)
    layer, group = rng.integers(0, depth, nodes), rng.integers(0, groups, nodes)
    source, target = rng.integers(0, nodes, (2, 150 * nodes))
    down = layer[source] - layer[target]
    chance = np.where((down >= 1) & (down <= 3), np.where(group[source] == group[target], 1.0, 0.02), 0.0)
    there = rng.random(len(source)) < chance
    return Graph.from_edges(source[there], target[there], names=np.arange(nodes), directed=True)


def test_held_out_arcs_are_found_better_than_by_the_fast_tier() -> None:
    """On a DAG whose degrees tell little; that swapped sides fail is in `test_directed`."""
    graph = layers()
    how: dict[str, Any] = {"scores": ["dot"], "ranked": 200, "dim": 32}
    fast, default = (
        evaluate_links(graph, quality=quality, **how)["dot"].mean("auc") for quality in ("fast", "default")
    )
    assert default > fast + 0.005
