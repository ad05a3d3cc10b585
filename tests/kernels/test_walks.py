"""Random walks and edges: they follow the graph and its weights, and are the same for any threads and kernels."""

from __future__ import annotations

from collections import Counter
from itertools import chain, pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats
from scipy.sparse import block_diag

from graphrefine.graph.graph import Graph
from graphrefine.kernels import sampling
from graphrefine.methods.skipgram import steps_of
from graphs import graphs, random_graph
from oracles import walks as walks_oracle

BIASES = st.sampled_from([(1.0, 1.0), (1.0, 0.5), (0.25, 4.0), (4.0, 0.25), (0.05, 1.0), (2.0, 1.0)])


def walk_by(graph: Graph, starts: NDArray[np.int32], **options: Any) -> NDArray[np.int32]:
    return sampling.random_walks(steps_of(graph), starts, **options)


def tight() -> Graph:
    """Six nodes with triangles, a tail and weights that differ."""
    source, target = [0, 0, 0, 1, 1, 2, 3, 4], [1, 2, 3, 2, 3, 4, 4, 5]
    return Graph.from_edges(source, target, [1.0, 2.0, 3.0, 0.5, 1.0, 4.0, 1.5, 2.5])


def transitions(graph: Graph, p: float, q: float) -> dict[tuple[int, int], NDArray[np.float64]]:
    """The exact probabilities of the node after (before, node), from the definition."""
    weights = graph.to_scipy().toarray().astype(float)
    rows = {}
    for before, node in zip(*np.nonzero(weights), strict=True):
        bias = np.where(weights[before] > 0, 1.0, 1 / q)
        bias[before] = 1 / p
        row = weights[node] * bias
        rows[int(before), int(node)] = row / row.sum()
    return rows


def p_value(walks: NDArray[np.int32], rows: dict[tuple[int, int], NDArray[np.float64]]) -> float:
    """How likely the steps of walks are to differ this much from these probabilities: chi-square over all of them."""
    seen = Counter(step for walk in walks.tolist() for step in zip(walk, walk[1:], walk[2:], strict=False))
    total, freedom = 0.0, 0
    for (before, node), row in rows.items():
        counts = np.array([seen[before, node, after] for after in range(len(row))])
        possible = row > 0
        assert counts[~possible].sum() == 0
        expected = row[possible] * counts.sum()
        total += float(((counts[possible] - expected) ** 2 / expected).sum())
        freedom += int(possible.sum()) - 1
    return float(stats.chi2.sf(total, freedom))


@pytest.mark.parametrize(("p", "q"), [(1.0, 1.0), (0.5, 2.0), (4.0, 0.25), (0.1, 1.5)])
@pytest.mark.parametrize("weighted", [True, False])
def test_steps_are_as_likely_as_the_definition_says(p: float, q: float, weighted: bool) -> None:
    one = tight() if weighted else Graph(tight().indptr, tight().indices, None, tight().names)
    copies = 200  # side by side: a walk from each node of each is a walk on the one graph
    graph = Graph.from_matrix(block_diag([one.to_scipy()] * copies, format="csr"))
    walks = walk_by(graph, np.arange(6 * copies, dtype=np.int32), length=30, seed=3, p=p, q=q) % 6
    assert p_value(walks, transitions(one, p, q)) > 1e-3
    assert p_value(walks, transitions(one, p * 1.4, q)) < 1e-6  # the control: a bias that was not asked for


@settings(deadline=None, max_examples=40)
@given(graphs(), BIASES, st.integers(0, 2**64 - 1), st.integers(0, 100))
def test_walks_follow_edges_and_end_only_where_none_leads_on(
    graph: Graph, bias: tuple[float, float], seed: int, round: int
) -> None:
    starts = np.arange(graph.nodes, dtype=np.int32)
    walks = walk_by(graph, starts, length=7, seed=seed, round=round, p=bias[0], q=bias[1])
    assert walks.shape == (graph.nodes, 7)
    assert np.array_equal(walks[:, 0], starts)
    edges = set(zip(np.repeat(starts, graph.out_counts).tolist(), graph.indices.tolist(), strict=True))
    for here, there in chain.from_iterable(map(pairwise, walks.tolist())):
        assert (here, there) in edges if there >= 0 else here < 0 or graph.out_counts[here] == 0


@settings(deadline=None, max_examples=40)
@given(graphs(), BIASES, st.integers(0, 2**64 - 1), st.integers(0, 100), st.integers(2, 5))
def test_walks_are_the_same_for_any_kernel_threads_and_pieces(
    graph: Graph, bias: tuple[float, float], seed: int, round: int, threads: int
) -> None:
    starts = np.random.default_rng(round).permutation(graph.nodes).astype(np.int32)
    options: dict[str, Any] = {"seed": seed, "round": round, "p": bias[0], "q": bias[1]}
    walks = walk_by(graph, starts, length=9, **options)
    assert np.array_equal(walk_by(graph, starts, length=9, threads=threads, **options), walks)
    half = graph.nodes // 2
    assert np.array_equal(walk_by(graph, starts[half:], length=9, **options), walks[half:])
    assert np.array_equal(walk_by(graph, starts, length=4, **options), walks[:, :4])
    theirs = np.empty_like(walks)
    walks_oracle.random_walks(*steps_of(graph), starts, theirs, threads=1, **options)
    assert np.array_equal(theirs, walks)


@pytest.mark.parametrize("weighted", [True, False])
def test_edges_are_drawn_by_weight(weighted: bool) -> None:
    graph = random_graph(12, weighted=weighted, directed=True, isolated=2, seed=4)
    edges = sampling.random_edges(steps_of(graph), count=100_000, first=0, seed=0)
    row = np.repeat(np.arange(12), graph.out_counts)
    keys = row * 12 + graph.indices
    counts = np.bincount(edges[:, 0] * 12 + edges[:, 1], minlength=144)
    assert counts.sum() == counts[keys].sum()
    weights = np.ones(len(keys)) if graph.weights is None else graph.weights.astype(float)
    assert stats.chisquare(counts[keys], weights / weights.sum() * 100_000).pvalue > 1e-3
    other = np.roll(weights, 1) if weighted else np.linspace(1, 1.2, len(keys))
    assert stats.chisquare(counts[keys], other / other.sum() * 100_000).pvalue < 1e-6


@settings(deadline=None, max_examples=30)
@given(graphs(), st.integers(0, 2**64 - 1), st.integers(0, 2**40), st.integers(1, 4))
def test_edges_are_the_same_for_any_kernel_threads_and_pieces(
    graph: Graph, seed: int, first: int, threads: int
) -> None:
    steps = steps_of(graph)
    edges = sampling.random_edges(steps, count=50, first=first, seed=seed)
    later = sampling.random_edges(steps, count=20, first=first + 30, seed=seed, threads=threads)
    assert np.array_equal(later, edges[30:])
    theirs = np.empty_like(edges)
    walks_oracle.random_edges(*steps, theirs, seed=seed, first=first, threads=1)
    assert np.array_equal(theirs, edges)
