"""Pairs of nodes have numbers of 64 bits: with more than 46,341 nodes, one of 32 bits would be another pair's."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest

import graphrefine
from graphrefine.evaluate.held_out_edges import find_entries, hold_out
from graphrefine.graph.graph import Graph

NODES = 70_000


@pytest.fixture(scope="module")
def wide() -> Graph:
    """A ring of nodes with large numbers, and a few edges among all; rows are not in the order of names."""
    last = np.arange(NODES - 400, NODES)
    first = np.concatenate([last, np.arange(0, NODES, 1000)])
    second = np.concatenate([np.roll(last, -1), np.arange(0, NODES, 1000) + 1])
    return Graph.from_edges(NODES - 1 - first, NODES - 1 - second, names=np.arange(NODES)[::-1])


def test_held_out_edges_of_a_graph_with_many_nodes(wide: Graph) -> None:
    held = hold_out(wide, 0.5, repeat=0, seed=0)
    assert (find_entries(wide, held.edges) >= 0).all()
    assert (find_entries(wide, held.others) < 0).all()
    assert held.rest.edges + len(held.edges.first) == wide.edges
    assert len(np.unique(np.stack(held.edges), axis=1).T) == len(held.edges.first)


@pytest.mark.parametrize("by", ["uniform", "degree"])
def test_negatives_of_a_graph_with_many_nodes(wide: Graph, by: Literal["uniform", "degree"]) -> None:
    split = graphrefine.split_edges(wide, test=0.3, negatives_by=by)
    alone = wide.without_edges()[::-1]  # by name
    for table in split.negatives.values():
        pairs = np.stack([table["source"], table["target"]])
        assert pairs.min() >= 0 and pairs.max() < NODES
        assert by == "uniform" or not alone[pairs].any(), "both ends are ends of edges"


def test_duplicates_among_many_nodes() -> None:
    first, second = NODES - 2, NODES - 1
    shared, own = list(range(100, 109)), {first: 200, second: 201}
    edges = [(row, leaf) for row in own for leaf in [*shared, own[row]]]
    graph = Graph.from_edges(*zip(*edges, strict=True), names=np.arange(NODES))
    vectors = np.zeros((NODES, 3), np.float32)
    vectors[[*shared, *own.values()]] = np.random.default_rng(0).standard_normal((11, 3))
    vectors[first], vectors[second] = (1, 0, 0), (1, 0.1, 0)
    embedding = graphrefine.Embedding(np.arange(NODES), vectors)
    (pair,) = graphrefine.find_duplicates(embedding, graph)
    assert (pair.node, pair.other) == (first, second) and pair.overlap == pytest.approx(9 / 11)
    assert len(graphrefine.find_duplicates(embedding, graph, overlap=float(np.float32(9 / 11)))) == 1, "at least"
    assert len(graphrefine.find_duplicates(embedding, graph, overlap=0.82)) == 0
