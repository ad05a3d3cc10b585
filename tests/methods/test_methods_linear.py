"""ProNE, FastRP, RandNE, HOPE and AROPE: each against its formula in dense NumPy, written here a second time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as checked
from hypothesis import strategies as st
from numpy.typing import NDArray

from graphrefine.engine.engine import RowSource
from graphrefine.engine.local import LocalEngine, Slab
from graphrefine.engine.sketches import gaussian, sparse_signs
from graphrefine.errors import InputError
from graphrefine.graph.graph import Graph
from graphrefine.linalg import unit_rows
from graphrefine.linalg.operators import adjacency
from graphrefine.methods.contract import Shape
from graphrefine.methods.hope import katz, series_length, spectral_radius
from graphrefine.methods.prone import propagation
from graphrefine.methods.registry import find_method, make_settings
from graphrefine.pipeline.embed_run import embed_graph
from graphs import dense, dense_walk, graphs, random_graph

Array = NDArray[Any]


def vectors(name: str, graph: Graph, *, threads: int = 2, **options: Any) -> Array:
    return embed_graph(graph, make_settings(name, **options), method=name, threads=threads)[0].vectors


def exact(name: str, graph: Graph, **options: Any) -> Array:
    return vectors(name, graph, bfloat16=False, **options).astype(np.float64)


def inverse(x: Array) -> Array:
    return np.divide(1.0, x, out=np.zeros_like(x), where=x > 0)


def similar(ours: Array, theirs: Array, tolerance: float) -> bool:
    """Whether two embeddings have the same dot products, and so are rotations of one another."""
    scale = np.abs(theirs @ theirs.T).max()
    return bool(np.abs(ours @ ours.T - theirs @ theirs.T).max() < tolerance * scale)


def chebyshev_gaussian(A: Array, a: Array, *, order: int, mu: float, theta: float) -> Array:
    """The propagation term by term, as the authors' code goes about it."""
    angle = (np.arange(200) + 0.5) * np.pi / 200
    bessel = [np.mean(np.exp(theta * np.cos(angle)) * np.cos(i * angle)) for i in range(order)]  # its integral
    loops = A + np.eye(len(A))
    L = np.eye(len(A)) - loops / loops.sum(axis=1, keepdims=True) - mu * np.eye(len(A))
    before, term = a, 0.5 * L @ (L @ a) - a
    total = bessel[0] * before - 2 * bessel[1] * term
    for i in range(2, order):
        before, term = term, L @ (L @ term) - 2 * term - before
        total += (-1) ** i * 2 * bessel[i] * term
    return np.asarray(loops @ (a - total))


def dense_prone(graph: Graph, dim: int, *, log_weights: bool) -> Array:
    A, P = dense(graph), dense_walk(graph)
    linked = A > 0
    context = P.sum(axis=0) ** 0.75
    context /= context.sum()
    bare = P if log_weights else inverse(A.sum(axis=1))[:, None] * linked
    M = np.log(np.where(linked, bare, 1)) - np.log(np.where(linked, np.broadcast_to(context, A.shape), 1))
    U, S, _ = np.linalg.svd(M)
    a = unit_rows(U[:, :dim] * np.sqrt(S[:dim]))
    U, S, _ = np.linalg.svd(chebyshev_gaussian(A, a, order=10, mu=0.2, theta=0.5), full_matrices=False)
    return unit_rows(U * np.sqrt(S))


@pytest.mark.parametrize("log_weights", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_prone_is_its_formula(weighted: bool, log_weights: bool) -> None:
    graph = random_graph(40, weighted=weighted, degree=5)
    ours = exact("prone", graph, dim=40, log_weights=log_weights)
    assert similar(ours, dense_prone(graph, 40, log_weights=log_weights), 2e-3)
    if weighted:  # the control: the other way with weights is another result
        assert not similar(ours, dense_prone(graph, 40, log_weights=not log_weights), 2e-2)


@given(st.integers(2, 30), st.floats(-0.5, 1.5), st.floats(0.05, 3))
@checked(deadline=None, max_examples=30)
def test_the_propagation_is_a_polynomial_of_the_transition_matrix(order: int, mu: float, theta: float) -> None:
    graph = random_graph(30, weighted=True)
    A = dense(graph)
    T = (A + np.eye(30)) / (A + np.eye(30)).sum(axis=1, keepdims=True)
    a = np.random.default_rng(0).standard_normal((30, 4))
    direct = chebyshev_gaussian(A, a, order=order, mu=mu, theta=theta)
    ours = np.zeros_like(a)
    for coefficient in propagation(order, mu, theta)[::-1]:
        ours = T @ ours + coefficient * a
    ours = (A + np.eye(30)) @ ours
    assert np.abs(ours - direct).max() < 1e-6 * np.abs(A @ np.abs(direct)).max()


def drawn(rows: RowSource, nodes: int) -> Array:
    return np.concatenate([rows(s, min(s + 4096, nodes)) for s in range(0, nodes, 4096)]).astype(np.float64)


@given(graphs(directed=False, least=10, most=80), st.sampled_from([None, 0.3, 1.0]), st.floats(-1, 0.5), st.booleans())
@checked(deadline=None, max_examples=15)
def test_fastrp_is_its_formula(graph: Graph, density: float | None, beta: float, standardized: bool) -> None:
    weights = (0.5, 0.0, 2.0)
    options = {"power_weights": weights, "density": density, "beta": beta, "standardize": standardized}
    ours = exact("fastrp", graph, dim=6, seed=3, **options)
    degree = dense(graph).sum(axis=1)
    hubs = np.where(degree > 0, np.where(degree > 0, degree / degree.sum(), 1) ** beta, 0)
    share = density or graph.nodes**-0.5
    R = hubs[:, None] * drawn(sparse_signs(3, 6, density=share), graph.nodes) / np.sqrt(share * 6)
    P = dense_walk(graph)
    theirs = sum(weight * np.linalg.matrix_power(P, i + 1) @ R for i, weight in enumerate(weights))
    linked = degree > 0
    if standardized:
        theirs = theirs - theirs.mean(axis=0)
        theirs = theirs * inverse(theirs.std(axis=0))
    assert np.abs(ours[linked] - theirs[linked]).max() < 2e-3 * max(np.abs(theirs).max(), 1e-9)
    assert not ours[~linked].any()


@given(graphs(directed=False, least=10, most=80), st.booleans())
@checked(deadline=None, max_examples=15)
def test_randne_is_its_formula(graph: Graph, transitions: bool) -> None:
    weights = (1.0, 10.0, 0.0, 100.0)
    matrix = "transition" if transitions else "adjacency"
    ours = exact("randne", graph, dim=6, seed=5, power_weights=weights, matrix=matrix)
    Q, R = np.linalg.qr(drawn(gaussian(5, 6), graph.nodes))
    U = Q * np.sign(np.diag(R)) * np.sqrt(graph.nodes / 6)
    A = dense_walk(graph) if transitions else dense(graph)
    theirs = sum(weight * np.linalg.matrix_power(A, i) @ U for i, weight in enumerate(weights))
    linked = graph.out_counts > 0
    assert np.abs(ours[linked] - theirs[linked]).max() < 2e-3 * np.abs(theirs).max()


def test_standardized_randne_is_karateclubs_formula() -> None:
    """Its alphas weigh the powers 1, 2, ... of the transition matrix, and its columns are scaled last."""
    graph, alphas = random_graph(150, weighted=True, seed=2), (0.5, 3.0, 10.0)
    assert not graph.isolated
    ours = exact("randne", graph, dim=6, seed=5, power_weights=(0.0, *alphas), standardize=True)
    U, R = np.linalg.qr(drawn(gaussian(5, 6), graph.nodes))
    P, U = dense_walk(graph), U * np.sign(np.diag(R))
    theirs = sum(alpha * np.linalg.matrix_power(P, i + 1) @ U for i, alpha in enumerate(alphas)) / sum(alphas)
    theirs = (theirs - theirs.mean(axis=0)) / theirs.std(axis=0)
    assert np.abs(ours - theirs).max() < 1e-3
    plain = exact("randne", graph, dim=6, seed=5, power_weights=(0.0, *alphas))
    assert np.abs(plain.mean(axis=0)).max() > 0.1, "without it, columns have a mean"


def test_sketches_depend_on_the_seed_and_the_row_alone() -> None:
    for make in (gaussian, lambda seed, k: sparse_signs(seed, k, density=0.05)):
        rows = make(7, 20)
        assert np.array_equal(rows(0, 4096)[:100], rows(0, 100))
        assert not np.array_equal(rows(0, 4096), rows(4096, 8192))
        assert not np.array_equal(rows(0, 100), make(8, 20)(0, 100))
        many = drawn(rows, 40000)
        assert abs(many.mean()) < 5 * many.std() / np.sqrt(many.size)
        share = np.count_nonzero(many) / many.size
        assert share == 1 or abs(share - 0.05) < 5 * np.sqrt(0.05 / many.size)
    assert abs(drawn(gaussian(0, 20), 40000).std() - 1) < 0.01
    assert np.all(np.abs(sparse_signs(0, 9, density=1.0)(0, 50)) == 1)


def dense_katz(graph: Graph, beta: float) -> Array:
    A = dense(graph)
    return np.asarray(np.linalg.solve(np.eye(len(A)) - beta * A, beta * A))


@given(graphs(least=30, most=90), st.integers(3, 25))
@checked(deadline=None, max_examples=15)
def test_hope_factorizes_katz(graph: Graph, dim: int) -> None:
    radius = float(np.abs(np.linalg.eigvals(dense(graph))).max())
    beta = 0.5 / radius
    found = exact("hope", graph, dim=dim, beta=beta, iterations=20)
    sources, targets = -(-dim // 2), dim // 2
    S = dense_katz(graph, beta)
    values = np.linalg.svd(S, compute_uv=False)
    left, right = found[:, :sources], found[:, sources:]
    best = np.sqrt((values[targets:] ** 2).sum())
    assert np.linalg.norm(S - left[:, :targets] @ right.T) < 1.01 * best + 1e-3 * values[0]
    lengths = np.sort((left**2).sum(axis=0))[::-1]
    assert np.all(np.abs(lengths - values[:sources]) < 0.02 * values[0])


def test_the_default_beta_is_half_of_what_the_spectral_radius_allows() -> None:
    for graph in (random_graph(80, directed=True, weighted=True), random_graph(80, weighted=True)):
        radius = float(np.abs(np.linalg.eigvals(dense(graph))).max())
        assert spectral_radius(graph) == pytest.approx(radius, rel=1e-2)
        given_beta = exact("hope", graph, dim=6, beta=0.5 / radius, iterations=10)
        default = exact("hope", graph, dim=6, iterations=10)
        assert np.abs(given_beta[:, :3] @ given_beta[:, 3:].T - default[:, :3] @ default[:, 3:].T).max() < 1e-2
        with pytest.raises(InputError, match=r"beta=.* is too large for this graph: the Katz series needs less than"):
            vectors("hope", graph, dim=6, beta=1.01 / radius)
    star = Graph.from_edges([0] * 9, list(range(1, 10)))
    assert spectral_radius(star) == pytest.approx(3.0, rel=1e-6)
    two_cycles = Graph.from_edges([0, 1, 2, 3, 4], [1, 2, 0, 4, 3], [8.0, 1.0, 1.0, 1.5, 1.5], directed=True)
    assert spectral_radius(two_cycles) == pytest.approx(2.0, rel=1e-2)


def test_hope_on_a_graph_without_cycles() -> None:
    """Its radius is 0; the series has as many terms as the longest path has arcs."""
    dag = Graph.from_edges([0, 0, 1, 2, 3], [1, 2, 3, 3, 4], directed=True)
    assert spectral_radius(dag) == 0.0
    assert series_length(dag, 0.3) == 4  # three terms, and one that is nothing
    found = exact("hope", dag, dim=5, beta=0.3)
    S = dense_katz(dag, 0.3)
    values = np.linalg.svd(S, compute_uv=False)
    assert np.linalg.norm(S - found[:, :2] @ found[:, 3:].T) < np.sqrt((values[2:] ** 2).sum()) + 1e-4
    assert np.isfinite(vectors("hope", dag, dim=4)).all()
    engine = LocalEngine(dag, columns=5, bfloat16=False)
    unit = engine.fill(lambda start, stop: np.eye(5, dtype=np.float32)[start:stop], precise=True)
    product = katz(engine, 3)(adjacency(dag, scale=0.3), unit, gram=False, precise=True)
    assert np.abs(engine.collect(product) - S).max() < 1e-6, "three terms are enough"


@given(graphs(directed=False, least=20, most=70), st.integers(2, 12))
@checked(deadline=None, max_examples=15)
def test_arope_is_its_formula(graph: Graph, dim: int) -> None:
    dim = max(dim, (graph.nodes - 10) // 2 + 1)  # such that all eigenpairs are found, whatever the sketch
    weights = (1.0, 0.1, 0.01)
    ours = exact("arope", graph, dim=dim, power_weights=weights)
    values, X = np.linalg.eigh(dense(graph))
    F = np.sum([weight * values ** (i + 1) for i, weight in enumerate(weights)], axis=0)
    order = np.argsort(-np.abs(F))[:dim]
    cut = np.abs(F[order[-1]])
    others = np.delete(np.abs(F), order)
    if len(others) and others.max() > 0.99 * cut:  # no gap: which of two equal ones is taken is open
        order = order[np.abs(F[order]) > 1.01 * cut]
    theirs = X[:, order] * np.sqrt(np.abs(F[order]))
    linked = graph.out_counts > 0
    assert np.linalg.norm(ours[linked] @ ours[linked].T - (theirs @ theirs.T)[np.ix_(linked, linked)], 2) < 1.05 * max(
        cut, 2e-3 * np.abs(F).max()
    )


def test_arope_weighs_signs() -> None:
    """U V^T is S itself, negative eigenvalues and all; U U^T is not."""
    graph = random_graph(24, weighted=True, degree=4)
    weights = (1.0, -0.3)
    found = exact("arope", graph, dim=24, two_sided=True, power_weights=weights)
    A = dense(graph)
    S = A - 0.3 * A @ A
    U, V = found[:, :12], found[:, 12:]
    values = np.linalg.svd(S, compute_uv=False)
    best = np.sqrt((values[12:] ** 2).sum())
    assert np.linalg.norm(S - U @ V.T) < 1.01 * best + 1e-3 * values[0]
    assert np.linalg.norm(S - U @ U.T) > 2 * best
    odd = exact("arope", graph, dim=7, two_sided=True)
    assert np.allclose(np.abs(odd[:, :3]), np.abs(odd[:, 4:]), atol=1e-5)


def test_arope_takes_the_eigenpairs_that_count_after_weighing() -> None:
    """A complete bipartite graph has the eigenvalues l and -l, of which l + l^2 / l leaves one."""
    left, right = np.repeat(np.arange(4), 9), np.tile(np.arange(4, 13), 4)
    graph = Graph.from_edges(left, right)
    found = exact("arope", graph, dim=1, power_weights=(1.0, 1 / 6))
    assert np.allclose(found[:4] @ found[4:].T, 12 * np.sqrt(1 / 8) * np.sqrt(1 / 18), atol=1e-3)


@pytest.mark.parametrize("name", ["prone", "fastrp", "randne", "hope", "arope"])
def test_no_more_memory_than_was_said(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes, made = list[int](), Slab.__init__

    def counted(slab: Slab, size: int) -> None:
        sizes.append(size)
        made(slab, size)

    monkeypatch.setattr(Slab, "__init__", counted)
    for directed in (False, True) if find_method(name).directed else (False,):
        graph = random_graph(6000, degree=8, directed=directed)
        sizes.clear()
        chosen = make_settings(name, dim=64)
        embed_graph(graph, chosen, method=name)
        claimed = find_method(name).memory(Shape.of(graph), chosen)
        assert 0.3 * claimed < sum(sizes) < claimed
