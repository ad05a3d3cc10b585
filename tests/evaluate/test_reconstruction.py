"""Reconstruction: precision@K against brute force over all pairs, ties, samples, and the command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from cli_runs import refuses, ring_of_cliques, works, write_csv
from graphrefine.embedding.embedding import Embedding
from graphrefine.evaluate import evaluate_reconstruction, random_control, reconstruction
from graphrefine.graph.graph import Graph
from graphs import graphs, random_graph
from strategies import PATIENT


def by_brute_force(graph: Graph, scores: NDArray[Any], nodes: list[int], k: int) -> float:
    """The mean precision over all orders of pairs with equal scores."""
    edge = graph.to_scipy().toarray() > 0
    pairs = {(min(u, v), max(u, v)) for u in nodes for v in range(graph.nodes) if u != v}
    told = sorted(((scores[pair], edge[pair]) for pair in pairs), key=lambda one: -one[0])
    last = told[k - 1][0]
    above = [is_edge for score, is_edge in told if score > last]
    level = [is_edge for score, is_edge in told if score == last]
    return float((sum(above) + (k - len(above)) * np.mean(level)) / k)


@settings(PATIENT, max_examples=40)
@given(graphs(directed=False, most=40), st.integers(0, 9), st.data())
def test_precision_is_that_of_brute_force(graph: Graph, seed: int, data: st.DataObject) -> None:
    X = np.random.default_rng(seed).integers(-1, 2, (graph.nodes, 2)).astype(np.float32)  # many ties
    sample = data.draw(st.none() | st.integers(1, graph.nodes))
    sample_nodes = reconstruction._sample_nodes(graph, sample or graph.nodes, seed)
    pairs = len({tuple(sorted((u, v))) for u in sample_nodes.tolist() for v in range(graph.nodes) if u != v})
    top = data.draw(st.lists(st.integers(1, pairs), min_size=1, max_size=3))
    figures = evaluate_reconstruction(graph, X, top=top, sample=sample, seed=seed)
    assert (figures.pairs, figures.top) == (pairs, tuple(sorted(set(top))))
    degrees = graph.out_counts.astype(np.float32)
    for name, scores in (("dot", X @ X.T), ("degree", np.outer(degrees, degrees))):
        expected = [by_brute_force(graph, scores, sample_nodes.tolist(), k) for k in figures.top]
        assert figures.precision[name] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("sample", [None, 40])
def test_blocks_and_threads_change_nothing(sample: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    graph, X = random_graph(200), random_control(200, 8)
    whole = evaluate_reconstruction(graph, X, sample=sample, threads=1).to_dict()
    monkeypatch.setattr(reconstruction, "BLOCK", 900)  # a few rows at a time
    assert len(reconstruction._SampledPairs.from_sample(graph, np.arange(sample or 200)).blocks()) > 8
    for threads in (1, 3):
        assert evaluate_reconstruction(graph, X, sample=sample, threads=threads).to_dict() == whole


def test_all_eigenvectors_give_the_graph_back_and_random_vectors_do_not() -> None:
    graph = random_graph(150, degree=16)
    values, vectors = np.linalg.eigh(graph.to_scipy().toarray())
    shifted = (vectors * np.sqrt(values - values.min())).astype(np.float32)  # A + c I: the same off the diagonal
    figures = evaluate_reconstruction(graph, shifted)
    assert figures.top == (100, 1000, graph.edges) and figures.precision["dot"] == (1.0, 1.0, 1.0)
    control = evaluate_reconstruction(graph, random_control(150, 64))
    assert control.chance == graph.edges / (150 * 149 / 2)
    assert control.precision["dot"][-1] < 2 * control.chance


def test_rows_are_found_by_name_and_large_graphs_are_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = Graph.from_edges(["a", "b", "c", "a"], ["b", "c", "d", "c"])
    vectors = np.random.default_rng(0).standard_normal((4, 3)).astype(np.float32)
    order = [2, 0, 3, 1]
    turned = Embedding([*np.array(["a", "b", "c", "d"])[order], "z"], [*vectors[order], [9, 9, 9]])
    plain, named = (evaluate_reconstruction(graph, v, top=[1, 3]) for v in (vectors, turned))
    assert plain.precision == named.precision and (plain.extra_nodes, named.extra_nodes) == (0, 1)
    assert "1 nodes of the embedding are not in the graph" in str(named)
    monkeypatch.setattr(reconstruction, "MOST_PAIRS", 30_000)
    figures, other = (evaluate_reconstruction(random_graph(1000), random_control(1000, 4), seed=s) for s in (0, 1))
    assert figures.sampled == 30 and figures.pairs == 30 * 970 + 30 * 29 // 2
    assert "30 random nodes" in figures.protocol
    assert other.edges != figures.edges or other.precision != figures.precision


def test_the_command(tmp_path: Path) -> None:
    graph, vectors, other = write_csv(tmp_path / "g.csv", ring_of_cliques(6, 8)), tmp_path / "v", tmp_path / "other"
    works("embed", graph, "-o", vectors, "--dim", "8")
    typed = ("evaluate", "reconstruction", graph)
    figures = works(*typed, vectors, "--json", "--top", "20,100").figures
    assert figures["embedding"] == str(vectors) and figures["top"] == [20, 100]
    assert figures["precision"]["cosine"][1] > 0.9 > figures["precision"]["degree"][1]
    by_method = works(*typed, "--dim", "8", "--top", "20,100", "--json").figures
    assert by_method["precision"] == figures["precision"] and by_method["method"] == "refine"
    shown = works(*typed, vectors).out.splitlines()
    assert shown[0].split() == ["precision@K", "dot", "cosine", "degree", "chance", "possible"]
    assert shown[-1] == "48 nodes; all pairs: 1,128, of which 174 are edges"
    Embedding([f"n{i}" for i in range(48)], random_control(48, 4)).save(other)
    for arguments, fact in (
        ((vectors, "--method", "rbqr"), "--method"),
        (("--embedding-format", "npy"), "--embedding-format"),
        ((vectors, "--top", "99999"), "--top 99999"),
        ((other,), "48 of the 48 nodes"),
    ):
        refuses(*typed, *arguments, folder=tmp_path, expected=(fact,))
