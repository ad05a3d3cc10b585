"""Weighted least squares of bipartite graphs: the dense formula, the same bits for any threads, odd graphs."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import graphrefine
from graphrefine.graph.graph import Graph
from graphrefine.refine.bipartite import hold_out, one_way, score_vectors
from graphrefine.refine.weighted_factors import Pairs, solve_sources, solve_targets, start_targets, weigh_pairs
from strategies import PATIENT

ENDS = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 6)), min_size=1, max_size=40, unique=True)


def arcs_of(edges: list[tuple[Any, ...]]) -> tuple[Graph, int]:
    graph = graphrefine.read(edges, bipartite=True)
    return one_way(graph), int(graph.sources or 0)


def dense(pairs: Pairs, y: NDArray[np.float32], regularization: float) -> NDArray[np.float64]:
    """The minimum over the sources for given targets, row by row, from the formula of the module."""
    rows, q, a = pairs.sources, pairs.targets.missing, pairs.scale
    y64, out = y.astype(np.float64), np.zeros((len(rows.indptr) - 1, y.shape[1]))
    for node in range(len(out)):
        part = slice(rows.indptr[node], rows.indptr[node + 1])
        near, c = y64[rows.indices[part]], rows.weights[part].astype(np.float64)
        total = c.sum() + a * q.sum()
        matrix = a * (y64.T * q) @ y64 + (near.T * c) @ near + regularization * total * np.eye(y.shape[1])
        out[node] = np.linalg.solve(matrix, c @ near)
    return out


@PATIENT
@given(ends=ENDS, regularization=st.sampled_from([0.02, 0.3]), weighted=st.booleans())
def test_rows_solve_the_dense_equations(ends: list[tuple[int, int]], regularization: float, weighted: bool) -> None:
    edges = [(u, i, 1.0 + u + 3 * i) if weighted else (u, i) for u, i in ends]
    arcs, sources = arcs_of(edges)
    pairs = weigh_pairs(arcs, sources)
    y = np.random.default_rng(1).normal(size=(arcs.nodes - sources, 5)).astype(np.float32)
    x = np.zeros((sources, 5), np.float32)
    solve_sources(pairs, x, y, regularization, steps=12)
    assert x == pytest.approx(dense(pairs, y, regularization), rel=2e-3, abs=2e-4)


def test_targets_count_by_their_popularity() -> None:
    """Missing pairs of a popular item weigh more; in the mean they weigh 1."""
    arcs, sources = arcs_of([(u, 0) for u in range(16)] + [(0, 1)])
    missing = weigh_pairs(arcs, sources).targets.missing
    assert missing[0] == pytest.approx(2 * missing[1]) and missing.mean() == pytest.approx(1.0)


def test_sweeps_lower_the_loss() -> None:
    """Each half of a sweep brings the sum of squares down, and the start is far below nothing learnt."""
    rng = np.random.default_rng(2)
    arcs, sources = arcs_of([(u, i) for u in range(60) for i in range(30) if (u + i) % 5 == 0 or rng.random() < 0.05])
    pairs, taken = weigh_pairs(arcs, sources), arcs.to_scipy().toarray()[:sources, sources:]
    b_source, b_target = pairs.totals()

    def loss() -> float:
        scores = x.astype(np.float64) @ y.T
        squares = (taken * (1 - scores) ** 2).sum() + pairs.scale * (pairs.targets.missing * scores**2).sum()
        return float(squares + 0.05 * (b_source @ (x**2).sum(axis=1) + b_target @ (y**2).sum(axis=1)))

    scale = 1 / np.sqrt(np.outer(b_source, b_target))
    _, values, right = np.linalg.svd(taken * scale, full_matrices=False)
    x, y = np.zeros((sources, 8), np.float32), right[:8].T.astype(np.float32).copy()
    start_targets(pairs, y, values[:8], 0.05)
    nothing, losses = float(taken.sum()), list[float]()
    for _ in range(3):
        solve_sources(pairs, x, y, 0.05)
        losses.append(loss())
        solve_targets(pairs, x, y, 0.05)
        losses.append(loss())
    assert losses[0] < 0.8 * nothing
    assert all(after <= before * (1 + 1e-5) for before, after in pairwise(losses))


@PATIENT
@given(ends=ENDS, seed=st.integers(0, 3))
def test_held_out_edges_are_edges_and_are_gone(ends: list[tuple[int, int]], seed: int) -> None:
    arcs, sources = arcs_of(ends)
    held = hold_out(arcs, sources, seed=seed)
    counts = arcs.out_counts[:sources]
    if held is None:
        assert counts.max() < 2
        return
    whole, rest = arcs.to_scipy().toarray(), held.rest.to_scipy().toarray()
    apart = np.zeros_like(whole)
    apart[held.nodes[held.source], held.target] = 1
    assert np.array_equal(whole, rest + apart) and (rest[held.nodes].sum(axis=1) > 0).all()
    assert len(held.nodes) <= -(-np.count_nonzero(counts > 1) // 2)


def test_score_of_ranks() -> None:
    """1 where the edges apart come first, 1/2 at rank 20, and next to nothing for reversed scores."""
    arcs, sources = arcs_of([(u, i) for u in range(4) for i in range(100) if i % 4 == u])
    held = hold_out(arcs, sources, seed=0)
    assert held is not None
    truth = arcs.to_scipy().toarray()[:sources, sources:].astype(np.float32)
    x = np.eye(sources, dtype=np.float32)
    assert score_vectors(held, x, truth.T.copy(), sources) == 1.0
    assert score_vectors(held, -x, truth.T.copy(), sources) < 0.01
