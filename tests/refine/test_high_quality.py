"""Vectors of higher order: landmarks against the matrix itself, the memory of walks, and the views put together."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import graphrefine
from cli_runs import check_refused, embeds, ring_of_cliques, run, write_csv
from graphrefine.datasets import block_model
from graphrefine.errors import InputError
from graphrefine.evaluate import evaluate_labels, random_control, read_labels
from graphrefine.graph.graph import Graph
from graphrefine.progress import Stages
from graphrefine.refine import landmarks
from graphrefine.refine.high_quality import by_logarithm, bytes_held, high_order, leading_axes, local_view, shares
from graphrefine.refine.landmarks import draw_landmarks, far_view, steps, walk_memory
from graphrefine.refine.settings import RefineSettings
from graphs import data_folder, graphs, permuted, random_graph

Dense = NDArray[np.float64]


def vectors(
    graph: Graph, *, dim: int = 8, threads: int = 1, landmarks: int = 4096, seed: int = 0
) -> NDArray[np.float32]:
    return high_order(graph, RefineSettings(dim=dim, seed=seed), Stages(), threads=threads, landmarks=landmarks)


def steps_of_a_walk(graph: Graph) -> tuple[Dense, Dense]:
    """P and D as dense matrices, the rows of isolated nodes zero."""
    A = graph.to_scipy().toarray().astype(np.float64)
    d = A.sum(axis=1)
    return np.divide(A, d[:, None], out=np.zeros_like(A), where=d[:, None] > 0), d


def log_matrix(graph: Graph, window: int) -> Dense:
    """M as `graphrefine.refine.landmarks` defines it, entry by entry."""
    P, d = steps_of_a_walk(graph)
    powers = sum(np.linalg.matrix_power(P, r) for r in range(3, window + 1)) / (window - 2)
    x = d.sum() * np.divide(powers, d, out=np.zeros_like(P), where=d > 0)
    M: Dense = np.log(np.maximum(x, 1.0))
    return M


@settings(deadline=None, max_examples=25)
@given(graphs(directed=False, most=120), st.integers(3, 12))
def test_with_all_nodes_as_landmarks_the_matrix_itself_is_factorised(graph: Graph, window: int) -> None:
    M = log_matrix(graph, window)
    w, U = np.linalg.eigh(M)
    chosen = np.abs(w) > landmarks.LEAST * np.abs(w).max()
    best = (U * np.where(chosen, np.abs(w), 0.0)) @ U.T  # Z Z^T of the definition
    everyone = draw_landmarks(graph, graph.nodes, seed=0)
    Z = far_view(graph, everyone, window=window, columns=graph.nodes, bfloat16=False).astype(np.float64)
    assert np.abs(Z @ Z.T - best).max() <= 1e-3 * np.abs(M).max() + 1e-5


def test_leading_axes_of_a_larger_matrix_are_found_without_all_of_its_eigenpairs() -> None:
    graph = random_graph(600, degree=5)
    M = log_matrix(graph, 10)
    w, U = np.linalg.eigh(M)
    largest = np.argsort(-np.abs(w))[:8]
    Z = far_view(graph, draw_landmarks(graph, 600, seed=0), window=10, columns=8)
    spans = np.linalg.svd(U[:, largest[:4]].T @ np.linalg.qr(Z.astype(np.float64))[0], compute_uv=False)
    assert spans.min() > 0.99


def test_some_landmarks_find_what_all_of_them_find() -> None:
    generated = block_model(3000, 18_000, classes=6, mixing=0.1, seed=1)
    graph = generated.graph
    exact, some = (far_view(graph, draw_landmarks(graph, count, seed=0), window=10, columns=6) for count in (3000, 300))
    spans = np.linalg.svd(np.linalg.qr(exact)[0].T @ np.linalg.qr(some)[0], compute_uv=False)
    assert spans.min() > 0.95
    control = np.linalg.qr(np.random.default_rng(0).standard_normal((3000, 6)))[0]
    assert np.linalg.svd(np.linalg.qr(exact)[0].T @ control, compute_uv=False).max() < 0.2


def test_columns_computed_twice_give_what_kept_ones_give(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = random_graph(500, isolated=10)
    drawn = draw_landmarks(graph, 200, seed=0)
    calls = []
    kept = far_view(graph, drawn, window=10, columns=16, advance=lambda: calls.append(1))
    assert len(calls) == steps(graph, drawn) == 4
    monkeypatch.setattr(landmarks, "CACHE_BYTES", 0)
    calls.clear()
    again = far_view(graph, drawn, window=10, columns=16, advance=lambda: calls.append(1))
    assert len(calls) == steps(graph, drawn) == 8
    assert np.array_equal(kept, again)


def test_landmarks_are_drawn_by_degree_without_replacement() -> None:
    graph = random_graph(2000, degree=8, isolated=50)
    degree = graph.degrees()
    times = np.zeros(2000)
    for seed in range(200):
        drawn = draw_landmarks(graph, 50, seed=seed)
        assert len(np.unique(drawn.nodes)) == 50 and drawn.share.sum() == pytest.approx(1)
        times[drawn.nodes] += 1
    assert times[1950:].sum() == 0
    high = degree > np.quantile(degree, 0.9)
    rates = times[high].mean() / times[~high & (degree > 0)].mean()
    assert rates == pytest.approx(degree[high].mean() / degree[~high & (degree > 0)].mean(), rel=0.15)


@settings(deadline=None, max_examples=20)
@given(graphs(directed=False, most=80))
def test_the_memory_of_walks_is_what_its_definition_says(graph: Graph) -> None:
    P, d = steps_of_a_walk(graph)
    start = d / d.sum()
    both = start[:, None] * (P @ P)  # where a walk began, and where it is
    chance = np.outer(start, start)
    where = both > 0
    information = (both[where] * np.log(both[where] / chance[where])).sum()
    entropy = -(start[start > 0] * np.log(start[start > 0])).sum()
    expected = np.sqrt(information / entropy)
    found = walk_memory(graph, draw_landmarks(graph, graph.nodes, seed=0))
    assert found == pytest.approx(expected, abs=0.02)


def test_the_memory_of_walks_is_seen_from_a_few_landmarks() -> None:
    graph = random_graph(4000, degree=8)
    exact = walk_memory(graph, draw_landmarks(graph, 4000, seed=0))
    assert walk_memory(graph, draw_landmarks(graph, 300, seed=0)) == pytest.approx(exact, abs=0.02)


def test_the_local_view_has_eigenpairs_of_both_signs() -> None:
    graph = random_graph(400, degree=8)
    view = local_view(graph, RefineSettings(dim=64), Stages()).astype(np.float64)
    A, scale = graph.to_scipy().toarray().astype(np.float64), graph.degrees() ** -0.4
    N = scale[:, None] * A * scale
    unit = view / np.linalg.norm(view, axis=0)
    values = (unit * (N @ unit)).sum(axis=0)
    assert (values > 0).any() and (values < 0).any()
    assert np.abs(N @ unit[:, :4] - unit[:, :4] * values[:4]).max() < 0.01
    assert np.linalg.norm(view, axis=0)[:4] == pytest.approx(np.abs(values[:4]), rel=0.01)


def test_weights_count_whatever_their_unit() -> None:
    graph = random_graph(300, weighted=True)
    assert graph.weights is not None
    scaled = by_logarithm(Graph(graph.indptr, graph.indices, graph.weights * np.float32(64), graph.names)).weights
    assert scaled is not None and np.array_equal(scaled, by_logarithm(graph).weights)  # type: ignore[arg-type]
    plain = Graph(graph.indptr, graph.indices, None, graph.names)
    assert by_logarithm(plain) is plain
    assert not np.allclose(vectors(graph), vectors(plain), atol=1e-3)


def test_shares_are_of_a_whole() -> None:
    for memory in (0.0, 0.3, 1.0):
        assert sum(shares(memory)) == pytest.approx(1) and shares(memory)[2] == memory


def test_principal_axes_keep_the_inner_products_of_rows() -> None:
    rng = np.random.default_rng(0)
    first, second = (rng.standard_normal((50, 4)).astype(np.float32) for _ in range(2))
    second[:, 2:] = 0  # of rank two, so four axes of six hold nearly all
    expected = [view - view.mean(axis=0) for view in (first, second)]
    expected = [view / np.linalg.norm(view, axis=1, keepdims=True) for view in expected]
    wide = np.hstack([np.sqrt(0.01) * expected[0], np.sqrt(0.99) * expected[1]])
    U, S, _ = np.linalg.svd(wide, full_matrices=False)
    best = (U * S)[:, :4] / np.linalg.norm((U * S)[:, :4], axis=1, keepdims=True)
    found = leading_axes((first.copy(), second), (0.01, 0.99))
    assert np.abs(found @ found.T - best @ best.T).max() < 1e-4


@settings(deadline=None, max_examples=15)
@given(graphs(directed=False, most=200), st.integers(1, 12), st.booleans())
def test_any_graph_has_finite_unit_vectors(graph: Graph, dim: int, few: bool) -> None:
    found = vectors(graph, dim=min(dim, graph.nodes), landmarks=5 if few else 4096)
    assert found.shape == (graph.nodes, min(dim, graph.nodes)) and np.isfinite(found).all()
    lengths = np.linalg.norm(found, axis=1)
    assert np.all(lengths[graph.degrees() == 0] == 0)
    assert np.all((np.abs(lengths - 1) < 1e-3) | (lengths == 0))


@pytest.mark.parametrize(
    "edges",
    [([0], [1]), ([0] * 9, list(range(1, 10))), ([0, 2, 4], [1, 3, 5]), (list(range(9)), list(range(1, 10)))],
    ids=["edge", "star", "pairs", "path"],
)
@pytest.mark.parametrize("whole", [False, True], ids=["short", "as wide as the graph"])
def test_odd_graphs(edges: tuple[list[int], list[int]], whole: bool) -> None:
    graph = Graph.from_edges(*edges)
    assert np.isfinite(vectors(graph, dim=graph.nodes if whole else 2)).all()


def test_a_graph_without_edges_has_zero_vectors() -> None:
    assert not vectors(Graph.from_edges([], [], names=np.arange(9)), dim=4).any()


def test_the_same_bits_on_any_number_of_threads() -> None:
    graph = random_graph(1500, weighted=True, isolated=5)
    first = vectors(graph, dim=24, landmarks=150)
    assert all(np.array_equal(vectors(graph, dim=24, landmarks=150, threads=t), first) for t in (2, 3))
    assert not np.allclose(vectors(graph, dim=24, landmarks=150, seed=1), first, atol=1e-3)


def test_the_order_of_the_nodes_does_not_matter_where_all_are_landmarks() -> None:
    graph = random_graph(300, degree=8)
    order = np.random.default_rng(0).permutation(300)
    there = far_view(permuted(graph, order), draw_landmarks(graph, 300, seed=0), window=10, columns=6)
    here = far_view(graph, draw_landmarks(graph, 300, seed=0), window=10, columns=6)[order]
    spans = np.linalg.svd(np.linalg.qr(here)[0].T @ np.linalg.qr(there)[0], compute_uv=False)
    assert spans[:5].min() > 0.999


def test_directed_graphs_are_refused() -> None:
    with pytest.raises(InputError, match="quality='high' is for undirected graphs"):
        vectors(random_graph(50, directed=True))


def test_memory_is_stated_for_a_million_nodes() -> None:
    assert bytes_held(1_000_000, 128) < 3.2e9


def test_roles_and_groups_are_both_found() -> None:
    """A bipartite block model has roles alone (no edge within a group); a block model has groups alone."""
    rng = np.random.default_rng(3)
    group = np.repeat(np.arange(4), 150)
    source, target = rng.integers(0, 600, (2, 9000))
    within = group[source] == group[target]
    for wanted in (within, (group[source] ^ 1) == group[target]):
        keep = wanted | (rng.random(9000) < 0.15)
        graph = Graph.from_edges(source[keep], target[keep], names=np.arange(600))
        score = evaluate_labels(vectors(graph, dim=16), group.tolist(), ratios=(0.2,), repeats=3).ratios[0].micro_mean
        chance = evaluate_labels(random_control(600, 16), group.tolist(), ratios=(0.2,), repeats=3)
        assert score > 90 > 40 > chance.ratios[0].micro_mean


def test_a_sparse_real_graph_gains_over_refine() -> None:
    path = data_folder() / "lastfm-asia.mat"
    graph, labels = graphrefine.read(path), read_labels(path)

    def micro(rows: NDArray[np.float32]) -> float:
        return evaluate_labels(rows, labels, ratios=(0.1,), repeats=3, C=5.0).ratios[0].micro_mean

    high = micro(vectors(graph, dim=128, landmarks=1024, threads=2))
    paper = micro(graphrefine.embed(graph, preset="paper", threads=2).vectors)
    assert high > 84 and high > paper + 1
    assert micro(random_control(graph.nodes, 128)) < 40


def test_bad_input(tmp_path: Path) -> None:
    ring = ring_of_cliques()
    with pytest.raises(InputError, match="quality='best' is not known; it is 'default' or 'high'"):
        graphrefine.embed(ring, dim=4, quality="best")
    with pytest.raises(InputError, match="undirected graphs of one set of nodes"):
        graphrefine.embed(ring, dim=4, quality="high", directed=True)
    path = write_csv(tmp_path / "g.csv", ring)
    check_refused(run("embed", path, "-o", tmp_path / "v", "--dim", "4", "--quality", "best"), "--quality 'best'")


def test_the_command_and_the_call_do_the_same(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "g.csv", ring_of_cliques())
    found = embeds(path, "--dim", "4", "--quality", "high", to=tmp_path / "v")
    assert np.array_equal(found.vectors, graphrefine.embed(path, dim=4, quality="high").vectors)
    assert not np.allclose(found.vectors, graphrefine.embed(path, dim=4).vectors, atol=1e-3)
