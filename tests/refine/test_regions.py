"""Regions: every node with its nearest center, drawn by name; and draws in proportion to rates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphrefine.graph.graph import Graph
from graphrefine.linalg import unit_rows
from graphrefine.refine.regions import draw_regions, rings_of
from graphs import graphs, permuted, random_graph


def random_rows(graph: Graph, columns: int = 6) -> np.ndarray:
    rows = unit_rows(np.random.default_rng(0).standard_normal((graph.nodes, columns)))
    rows[graph.without_edges()] = 0
    return rows


@settings(deadline=None, max_examples=40)
@given(graphs(directed=False, most=150), st.integers(1, 200), st.integers(0, 5))
def test_every_node_with_edges_is_in_one_region(graph: Graph, count: int, seed: int) -> None:
    regions = draw_regions(graph, random_rows(graph), count, seed=seed)
    alone = graph.without_edges()
    assert np.all(regions.of[alone] == -1)
    assert np.all((regions.of[~alone] >= 0) & (regions.of[~alone] < max(regions.size, 1)))
    assert regions.size <= count
    assert np.array_equal(draw_regions(graph, random_rows(graph), count, seed=seed, threads=2).of, regions.of)
    if count >= np.count_nonzero(~alone):
        assert len(np.unique(regions.of[~alone])) == regions.size == np.count_nonzero(~alone)


def test_nodes_go_to_the_center_of_the_largest_cosine() -> None:
    graph = random_graph(700)
    rows = random_rows(graph)
    regions = draw_regions(graph, rows, 40, seed=1)
    assert regions.size == 40
    cosines = rows @ rows[regions.centers].T
    assert np.array_equal(regions.of, cosines.argmax(axis=1))
    assert np.array_equal(regions.of[regions.centers], np.arange(40))


def test_small_groups_get_a_region_of_their_own() -> None:
    """Ten pairs of nodes far from a crowd of 2,000: drawn at random alone, 64 centers would find few of them."""
    nodes = 2020
    rng = np.random.default_rng(0)
    rows = np.zeros((nodes, 16), np.float32)
    rows[:2000, 0] = 1
    rows[:2000, 1:6] = 0.05 * rng.standard_normal((2000, 5))
    rows[np.arange(2000, 2020), 6 + np.arange(20) // 2] = 1
    ring = Graph.from_edges(np.arange(nodes), np.roll(np.arange(nodes), 1))
    regions = draw_regions(ring, unit_rows(rows), 64, seed=0)
    pairs = regions.of[2000:].reshape(10, 2)
    assert np.all(pairs[:, 0] == pairs[:, 1]) and len(np.unique(pairs[:, 0])) == 10
    assert not np.isin(pairs, regions.of[:2000]).any()


def test_regions_depend_on_names_and_not_on_the_order_of_rows() -> None:
    graph = random_graph(400)
    order = np.random.default_rng(3).permutation(400)
    rows = random_rows(graph)
    here = draw_regions(graph, rows, 50, seed=0).of[order]
    named = replace(permuted(graph, order), names=graph.names[order])
    there = draw_regions(named, rows[order], 50, seed=0).of
    assert np.array_equal(here[:, None] == here, there[:, None] == there)


def test_draws_of_another_seed_or_turn_are_others() -> None:
    turns, rates = ((0, 0), (0, 1), (1, 0)), np.ones(900)
    draws = [rings_of(np.arange(900), seed=seed, turn=turn, rates=rates) for seed, turn in turns]
    assert np.abs(np.corrcoef(draws) - np.eye(3)).max() < 0.15


def test_draws_are_in_proportion_to_rates() -> None:
    rates = np.repeat([1.0, 3.0, 0.0], 200)
    counts = np.zeros(3)
    for seed in range(200):
        drawn = np.argsort(rings_of(np.arange(600), seed=seed, turn=0, rates=rates))[:20]
        counts += np.bincount(drawn // 200, minlength=3)
    assert counts[2] == 0 and counts[1] / counts[0] == pytest.approx(3, rel=0.15)
