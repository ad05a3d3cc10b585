"""DeepWalk, node2vec, LINE and PTE: what each is, what it takes, and how good it is beside gensim and the paper."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from graphrefine.errors import InputError
from graphrefine.graph.graph import Graph
from graphrefine.kernels import sampling
from graphrefine.methods.contract import Resources, Shape
from graphrefine.methods.random_walks import Walks
from graphrefine.methods.registry import find_method, make_settings
from graphrefine.methods.skipgram import Training, steps_of
from graphrefine.pipeline.embed_run import embed_graph
from graphrefine.progress import Stages
from graphrefine.system.memory import private_bytes
from graphs import random_graph

FEW: dict[str, Any] = {"walks": 4, "length": 10}
QUICK = {"deepwalk": FEW, "node2vec": FEW, "line": {"samples": 0.02}, "pte": {"samples": 0.02}}
EVERY = pytest.mark.parametrize("name", QUICK)


def vectors(name: str, graph: Graph, *, threads: int = 1, **options: Any) -> NDArray[np.float32]:
    chosen = make_settings(name, **{**QUICK[name], **options})
    return embed_graph(graph, chosen, method=name, threads=threads)[0].vectors


def test_node2vec_without_a_bias_is_deepwalk_and_with_one_is_not() -> None:
    graph = random_graph(80, weighted=True)
    plain = vectors("deepwalk", graph, dim=8)
    assert np.array_equal(vectors("node2vec", graph, dim=8, p=1.0, q=1.0), plain)
    assert not np.allclose(vectors("node2vec", graph, dim=8), plain, atol=0.01)


def test_p_keeps_walks_from_going_back_and_q_from_going_on() -> None:
    ring = Graph.from_edges(range(50), [*range(1, 50), 0])

    def back(p: float, q: float) -> float:
        walks = Walks(ring, make_settings("node2vec", length=40, p=p, q=q), threads=1).chunk(0, 0)
        return float(np.mean(walks[:, 2:] == walks[:, :-2]))

    assert back(100.0, 1.0) < 0.05 and back(1.0, 100.0) > 0.95


@EVERY
def test_resuming_goes_on_from_the_vectors_given(name: str) -> None:
    graph = random_graph(60)
    begin = np.random.default_rng(0).standard_normal((60, 5)).astype(np.float32)
    kept = begin.copy()

    def resumed(begin: NDArray[np.float32], **options: Any) -> NDArray[np.float32]:
        resume = find_method(name).resume
        assert resume is not None
        return resume(graph, make_settings(name, **QUICK[name], dim=5, **options), Resources(1, Stages()), begin)

    assert np.allclose(resumed(begin, rate=1e-7), begin, atol=1e-3)
    far = resumed(begin)
    assert np.array_equal(begin, kept)
    assert 0.01 < np.abs(far - begin).max() < 5
    assert not np.allclose(far, resumed(begin[::-1].copy()), atol=0.01)


@EVERY
def test_sinks_and_sources_have_vectors(name: str) -> None:
    arcs = random_graph(80, directed=True, seed=1)
    assert not np.allclose(vectors(name, arcs, dim=8), vectors(name, arcs.transposed(), dim=8), atol=0.01)
    star = Graph.from_edges([0] * 5, range(1, 6), names=range(7), directed=True)  # 6 is isolated
    found = vectors(name, star, dim=4)
    assert np.isfinite(found).all()
    assert np.all(found[6] == 0) and np.all(np.abs(found[:6]).max(axis=1) > 0)
    if name in ("line", "pte"):  # a sink is never on the left of an edge: its vector is the random one it began with
        assert np.abs(found[1:6]).max() <= 1 / 4


@EVERY
def test_a_rate_too_high_is_named_where_it_leads_beyond_all_bounds(name: str) -> None:
    graph = random_graph(40)
    with pytest.raises(InputError, match=r"rate=1.0 is too high for this graph.*choose a lower one"):
        vectors(name, graph, dim=8, rate=1.0)
    assert np.isfinite(vectors(name, graph, dim=8, rate=0.1)).all()


def test_the_defaults_are_the_papers() -> None:
    walk, other, edge = (make_settings(name) for name in ("deepwalk", "node2vec", "line"))
    assert (walk.dim, walk.walks, walk.length, walk.window, walk.negatives, walk.rate) == (128, 80, 40, 10, 5, 0.025)
    assert (edge.dim, edge.samples, edge.edges, edge.negatives, edge.rate) == (128, 10.0, 10_000_000, 5, 0.025)
    assert (other.walks, other.length, other.window, other.epochs) == (10, 80, 10, 1)
    assert (other.p, other.q) != (1.0, 1.0)


def test_a_round_starts_once_from_every_node_with_edges_in_another_order_each_time() -> None:
    graph = random_graph(5000, isolated=7)
    walks = Walks(graph, make_settings("deepwalk"), threads=1)
    assert len(walks.chunks) > 1
    rounds = [np.concatenate([walks.chunk(round, at) for at in walks.chunks]) for round in (0, 1)]
    orders = [each[:, 0] for each in rounds]
    for order in orders:
        assert np.array_equal(np.sort(order), np.arange(4993))
    first, second = (each[np.argsort(each[:, 0])] for each in rounds)
    assert (first[:, 1:] == second[:, 1:]).mean() < 0.5, "walks from a node differ from round to round"
    assert (orders[0] == orders[1]).mean() < 0.01 and (np.diff(orders[0]) == 1).mean() < 0.01


def test_memory_is_what_is_held() -> None:
    """In a process of its own: what an earlier test has freed would be taken again unseen."""
    code = "from methods.test_methods_walks import check_memory; check_memory()"
    subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[1], check=True)


def check_memory() -> None:
    """Two tables of 80,000 nodes; the forecast is not below, and not twice of it."""
    graph = random_graph(80_000, degree=2)
    chosen = make_settings("line", samples=0.7)
    before = private_bytes()
    training = Training(graph, chosen, Resources(1, Stages()), total=700_000)
    model = training.model(graph.degrees(), window=1, both=False)
    edges = sampling.random_edges(steps_of(graph), count=chosen.chunks.step, first=0, seed=0)
    training.train(model, edges)
    held = private_bytes() - before
    forecast = find_method("line").memory(Shape.of(graph), chosen)
    assert held < forecast < 2 * held
