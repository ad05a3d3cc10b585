"""``quality="high"``: the logarithm of walks seen from landmarks, beside dense NumPy; odd graphs; real ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import graphrefine
from cli_runs import check_refused, ring_of_cliques, run, write_csv
from graphrefine.errors import InputError
from graphrefine.evaluate import evaluate_labels, random_control, read_labels
from graphrefine.graph import Graph
from graphrefine.high_order import HighSettings, high_order, shares
from graphrefine.landmarks import draw_landmarks, landmark_views
from graphrefine.progress import Stages
from graphs import data_folder, graphs, permuted, random_graph


def log_matrix(graph: Graph, powers: range) -> NDArray[Any]:
    A = graph.to_scipy().toarray().astype(np.float64)
    degree = A.sum(axis=1)
    inverse = np.where(degree > 0, 1 / np.where(degree > 0, degree, 1), 0)
    P = inverse[:, None] * A
    mean = np.mean([np.linalg.matrix_power(P, r) for r in powers], axis=0)
    logs: NDArray[Any] = np.log(np.maximum(mean * inverse * degree.sum(), 1.0))
    return logs


@pytest.mark.parametrize("weighted", [False, True])
def test_with_every_node_a_landmark_it_is_the_matrix_itself(weighted: bool) -> None:
    graph = random_graph(150, degree=8, weighted=weighted, isolated=4)
    views = landmark_views(graph, draw_landmarks(graph, 200, seed=0), window=6, columns=150)
    for view, powers in ((views.near, range(2, 3)), (views.far, range(3, 7))):
        M = log_matrix(graph, powers)
        values, vectors = np.linalg.eigh(M)
        size = (vectors * np.abs(values)) @ vectors.T  # what Z Z^T is: signs aside
        error = np.linalg.norm(view @ view.T - size) / np.linalg.norm(size)
        assert error < 0.03
        assert np.linalg.norm(view @ view.T - np.roll(size, 1, axis=0)) / np.linalg.norm(size) > 0.3  # the control


@given(graphs(directed=False, least=6), st.integers(1, 6))
@hypothesis_settings(deadline=None, max_examples=25)
def test_any_graph_has_unit_rows_or_zeros(graph: Graph, dim: int) -> None:
    vectors = high_order(graph, HighSettings(dim=dim, landmarks=8, window=4), Stages())
    length = np.linalg.norm(vectors, axis=1)
    assert np.isfinite(vectors).all() and vectors.shape == (graph.nodes, dim)
    assert np.all((np.abs(length - 1) < 1e-4) | (length == 0))
    assert np.all(length[graph.without_edges()] == 0)


def test_same_bits_for_any_number_of_threads() -> None:
    graph = random_graph(2500, degree=10, weighted=True)
    chosen = HighSettings(dim=24, landmarks=200)
    first = high_order(graph, chosen, Stages(), threads=1)
    for threads in (2, 3):
        assert np.array_equal(high_order(graph, chosen, Stages(), threads=threads), first)
    assert not np.array_equal(high_order(graph, HighSettings(dim=24, landmarks=200, seed=1), Stages()), first)


def test_permuted_nodes_have_the_same_cosines() -> None:
    graph = random_graph(120, degree=8)
    order = np.random.default_rng(0).permutation(graph.nodes)
    chosen = HighSettings(dim=120, landmarks=200)  # all nodes and all axes: nothing is left to chance
    here, there = high_order(graph, chosen, Stages()), high_order(permuted(graph, order), chosen, Stages())
    np.testing.assert_allclose(there @ there.T, (here @ here.T)[np.ix_(order, order)], atol=1e-2)


def test_shares_add_up_to_one() -> None:
    for memory in (0.0, 0.3, 1.0):
        assert sum(shares(memory)) == pytest.approx(1)


def test_bad_input(tmp_path: Any) -> None:
    ring = ring_of_cliques()
    with pytest.raises(InputError, match="quality='best' is not known; it is 'default' or 'high'"):
        graphrefine.embed(ring, dim=4, quality="best")
    with pytest.raises(InputError, match="filter='heat' has no effect with quality='high'; leave it out"):
        graphrefine.embed(ring, dim=4, quality="high", filter="heat")
    with pytest.raises(InputError, match="undirected graphs of one set of nodes"):
        graphrefine.embed(ring, dim=4, quality="high", directed=True)
    path = write_csv(tmp_path / "g.csv", ring)
    check_refused(run("embed", path, "-o", tmp_path / "v", "--dim", "4", "--quality", "best"), "--quality 'best'")


def test_better_than_the_default_on_a_sparse_real_graph() -> None:
    path = data_folder() / "lastfm-asia.mat"
    graph, labels = graphrefine.read(path), read_labels(path)
    high, default, control = (
        evaluate_labels(vectors, labels, ratios=[0.1], repeats=3).ratios[0].micro_mean
        for vectors in (
            graphrefine.embed(graph, quality="high").vectors,
            graphrefine.embed(graph).vectors,
            random_control(graph.nodes, 128),
        )
    )
    assert high > 84 and default > 83 and control < 25
