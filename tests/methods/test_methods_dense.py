"""NetMF, GraRep and NetSMF: their matrices against the formulas in float64, and their quality on real graphs."""

from __future__ import annotations

from typing import Any

import hypothesis
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import graphrefine
from graphrefine.engine.dense import dense_product
from graphrefine.engine.local import LocalEngine
from graphrefine.evaluate.links import VectorMaker
from graphrefine.graph.graph import Graph
from graphrefine.kernels import sampling
from graphrefine.linalg.operators import Operator
from graphrefine.methods import grarep, netmf, netsmf
from graphrefine.methods.contract import Resources, Shape
from graphrefine.methods.registry import make_settings
from graphrefine.methods.skipgram import steps_of
from graphrefine.progress import Stages
from graphs import dense, dense_walk, graphs, random_graph
from strategies import PATIENT

Matrix = NDArray[np.float64]
FEW = hypothesis.settings(PATIENT, max_examples=30)


def run(threads: int = 1) -> Resources:
    return Resources(threads, Stages())


def sampled(graph: Graph, chosen: Any, threads: int = 1) -> Matrix:
    """The matrix of NetSMF."""
    return np.asarray(Operator(netsmf.log_matrix(graph, chosen, run(threads)), edge="weight").to_scipy().toarray())


def walk(graph: Graph) -> tuple[Matrix, Matrix, float]:
    """P = D^-1 A, the inverse degrees and the volume."""
    degree = dense(graph).sum(axis=1)
    return dense_walk(graph), np.array([1 / d if d else 0.0 for d in degree]), float(degree.sum())


def netmf_matrix(graph: Graph, window: int, negative: float = 1.0) -> Matrix:
    P, inverse, volume = walk(graph)
    power, powers = np.eye(len(P)), np.zeros_like(P)
    for _ in range(window):
        power = power @ P
        powers += power
    return np.log(np.maximum(1.0, volume / (negative * window) * powers @ np.diag(inverse)))


def grarep_matrix(graph: Graph, step: int) -> Matrix:
    power = np.linalg.matrix_power(walk(graph)[0], step)
    with np.errstate(divide="ignore", invalid="ignore"):
        X = np.log(power / power.sum(axis=0)) - np.log(1 / graph.nodes)
    return np.where(X > 0, X, 0.0)  # also where it is not a number


@FEW
@given(graph=graphs(directed=False, most=100), window=st.integers(1, 10), negative=st.sampled_from([1.0, 5.0, 0.5]))
def test_netmf_is_its_formula(graph: Graph, window: int, negative: float) -> None:
    chosen = make_settings("netmf", window=window, negative=negative, rank=0, dim=2)
    ours = netmf.log_matrix(graph, chosen, run())
    assert ours.dtype == np.float32
    assert np.allclose(ours, netmf_matrix(graph, window, negative), atol=2e-5)


def test_netmf_is_its_formula_in_several_blocks_of_columns() -> None:
    graph = random_graph(600, weighted=True, seed=4)
    ours = netmf.log_matrix(graph, make_settings("netmf", window=2, rank=0, dim=2), run())
    assert np.allclose(ours, netmf_matrix(graph, 2), atol=2e-5)


@FEW
@given(graph=graphs(directed=False, most=100), step=st.integers(1, 5))
def test_grarep_is_its_formula(graph: Graph, step: int) -> None:
    ours = grarep.step_matrix(graph, step, run())
    assert np.allclose(ours, grarep_matrix(graph, step), atol=2e-5)


@pytest.mark.parametrize("weighted", [False, True])
def test_netmf_through_eigenpairs_is_its_formula(weighted: bool) -> None:
    graph = random_graph(300, degree=12, weighted=weighted, isolated=3, seed=4)
    _, inverse, volume = walk(graph)
    root = np.sqrt(inverse)
    values, basis = np.linalg.eigh(root[:, None] * dense(graph) * root)
    found, columns = netmf.leading_eigenpairs(graph, 40, run(), seed=0)
    assert np.allclose(found, values[::-1][:40], atol=2e-3)
    assert np.allclose(columns.T @ columns, np.eye(40), atol=1e-3)

    values, basis = values[::-1][:40], root[:, None] * basis[:, ::-1][:, :40]
    sums = sum(values**r for r in range(1, 11)) / 10
    expected = np.log(np.maximum(1.0, volume * (basis * sums) @ basis.T))
    ours = netmf.log_matrix(graph, make_settings("netmf", rank=40, dim=2), run())
    exact = netmf_matrix(graph, 10)
    assert np.abs(ours - expected).mean() < 0.02 < 0.06 < np.abs(exact - expected).mean()


@pytest.mark.parametrize("count", [22, 256], ids=["some", "all"])
def test_eigenvalues_below_zero_are_left_out(count: int) -> None:
    graph = random_graph(40, isolated=2, seed=2)
    values, columns = netmf.leading_eigenpairs(graph, count, run(), seed=0)
    inverse = np.sqrt(walk(graph)[1])
    every = np.linalg.eigvalsh(inverse[:, None] * dense(graph) * inverse)
    assert len(values) == (every > 0).sum() < 40
    assert np.allclose(values, every[::-1][: len(values)], atol=1e-3)
    assert columns.shape == (40, len(values))


def test_which_netmf_is_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    products = Shape(10**4, 10**6), Shape(10**4 + 1, 10**6)  # 10^11 with a window of 10, and more
    assert [make_settings("netmf").rank_for(shape) for shape in products] == [0, 256]
    assert make_settings("netmf", window=11).rank_for(products[0]) == 256
    assert make_settings("netmf", window=1).rank_for(Shape(10**6, 10**8)) == 0
    assert [make_settings("netmf", rank=0).rank_for(shape) for shape in products] == [0, 0]
    assert make_settings("netmf", window=1, rank=64).rank_for(products[0]) == 64

    graph = random_graph(300, seed=4)
    for limit, rank in ((10 * len(graph.indices) * 300, 0), (10 * len(graph.indices) * 300 - 1, 256)):
        monkeypatch.setattr(netmf, "EXACT_PRODUCTS", limit)
        default = graphrefine.embed(graph, 8, method="netmf")
        assert default.recipe["rank"] == rank
        assert np.array_equal(default.vectors, graphrefine.embed(graph, 8, method="netmf", rank=rank).vectors)
        assert VectorMaker.from_method("netmf", graph, {"dim": 8}).settings["rank"] == rank


def test_columns_of_grarep() -> None:
    graph = random_graph(700, isolated=1, seed=3)
    assert make_settings("grarep").shares == [32, 32, 32, 32]
    assert make_settings("grarep", dim=7, steps=3).shares == [3, 2, 2]
    assert make_settings("grarep", dim=2, steps=5).shares == [1, 1]
    found = graphrefine.embed(graph, 10, method="grarep", steps=3).vectors
    for part in (found[:, :4], found[:, 4:7], found[:, 7:]):
        assert np.allclose(np.linalg.norm(part[:-1], axis=1), 1.0, atol=1e-5)
    assert np.array_equal(found[:, :4], graphrefine.embed(graph, 4, method="grarep", steps=1).vectors)


@pytest.mark.parametrize("method", ["netmf", "netsmf"])
def test_vectors_are_scaled_singular_vectors(method: str) -> None:
    graph = random_graph(200, degree=20, weighted=True, seed=1)
    chosen = make_settings(method, dim=12)
    M = sampled(graph, chosen) if method == "netsmf" else netmf.log_matrix(graph, chosen, run())
    M = M.astype(np.float64)
    assert np.allclose(M, M.T, atol=1e-4)
    U, S, _ = np.linalg.svd(M)
    found = graphrefine.embed(graph, 12, method=method).vectors
    assert np.allclose(np.square(found).sum(axis=0), S[:12], rtol=0.02)
    assert np.allclose(np.abs(np.sum(found[:, 0] * U[:, 0])), np.sqrt(S[0]), rtol=1e-3)


@pytest.mark.parametrize("weighted", [False, True])
def test_pairs_have_the_expected_counts(weighted: bool) -> None:
    """The squared deviation from the expected count is about the count itself; not so if a step were missing."""
    graph = random_graph(30, degree=5, weighted=weighted, seed=5)
    P = walk(graph)[0]
    walks = 400 * graph.out_counts
    pairs = sampling.walk_pairs(steps_of(graph), 0, walks, length=6, seed=1)
    counts = np.zeros((30, 30))
    counts[np.repeat(np.arange(30), np.diff(pairs.indptr)), pairs.columns] = pairs.counts

    def excess(length: int) -> float:
        expected = np.triu(walks[:, None] * sum(np.linalg.matrix_power(P, r) for r in range(1, length + 1)))
        often = expected > 5
        return float(np.mean((counts - expected)[often] ** 2 / expected[often]))

    assert excess(6) < 2.0
    assert excess(5) > 10 and excess(7) > 10
    if weighted:
        P = walk(Graph(graph.indptr, graph.indices, None, graph.names))[0]
        assert excess(6) > 10


@pytest.mark.parametrize("weighted", [False, True])
def test_the_sampled_matrix_converges_to_netmf(weighted: bool) -> None:
    graph = random_graph(120, degree=8, weighted=weighted, isolated=2, seed=6)
    exact = netmf_matrix(graph, 10)

    def error(rounds: int, against: Matrix) -> float:
        found = sampled(graph, make_settings("netsmf", rounds=rounds, dim=2))
        return float(np.sqrt(np.mean((found - against) ** 2)))

    errors = [error(rounds, exact) for rounds in (5, 80, 1280)]
    assert errors[0] > 3 * errors[1] > 9 * errors[2], "sixteen times the samples, a quarter of the error"
    assert errors[2] < 0.03
    assert error(1280, netmf_matrix(graph, 5)) > 4 * errors[2], "another window is told apart"


def test_rounds_of_netsmf(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = random_graph(50, weighted=True, isolated=1)
    chosen = make_settings("netsmf", rounds=30)
    walks = netsmf.walks_from(graph, chosen)
    assert walks[-1] == 0 and np.all(walks[:-1] > 0)
    assert 0 <= walks.sum() - 2 * 30 * len(graph.indices) <= 50
    bare = Graph(graph.indptr, graph.indices, None, graph.names)
    assert np.array_equal(netsmf.walks_from(bare, chosen), 60 * graph.out_counts)
    assert make_settings("netsmf").rounds_for(10**9, 10**8) == 1
    hub = Graph.from_edges(np.zeros(5000, int), np.arange(1, 5001))
    assert netsmf.walks_from(hub, make_settings("netsmf", rounds=10**6)).max() * 10 < 2**31
    graph, chosen = random_graph(200, seed=8), make_settings("netsmf", rounds=5)
    whole = sampled(graph, chosen)
    monkeypatch.setattr(netsmf, "BLOCK", 1000)
    assert np.array_equal(whole, sampled(graph, chosen, threads=2))


def test_the_dense_product_is_that_of_the_operator() -> None:
    graph = random_graph(700, directed=True, weighted=True, seed=11)
    operator = Operator(graph, edge="weight")
    matrix: Any = operator.to_scipy().toarray()
    engine = LocalEngine(graph, columns=40, bfloat16=False, reorder=False, threads=2)
    multiply, sketch = dense_product(engine), engine.random(seed=3)
    first = engine.apply(operator, sketch)
    for array, own, x in ((matrix, operator, sketch), (matrix, operator, first), (matrix.T, operator.T, first)):
        ours, theirs = multiply(array, x, precise=True), engine.apply(own, x, gram=True)
        assert np.allclose(engine.collect(ours), engine.collect(theirs), rtol=1e-4, atol=1e-3)
        assert np.allclose(engine.gram(ours), engine.gram(theirs), rtol=1e-4, atol=1e-2)
