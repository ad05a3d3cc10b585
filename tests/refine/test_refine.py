"""REFINE as a whole: it is the paper's method, whatever engine, order, kernel and number of threads compute it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from engines import engine_in
from graphrefine.engine.local import LocalEngine
from graphrefine.graph.graph import Graph
from graphrefine.kernels import native, to_float32
from graphrefine.linalg import unit_rows
from graphrefine.linalg.operators import proximity
from graphrefine.methods.contract import Shape, engine_memory
from graphrefine.methods.refine import REFINE_METHOD
from graphrefine.progress import Stages
from graphrefine.refine import refine as refine_module
from graphrefine.refine.refine import find_range, refine, smooth
from graphrefine.refine.settings import RefineSettings, refine_settings
from graphs import deviations, graphs, misalignment, random_graph
from reproduction import reference


def run(graph: Graph, chosen: RefineSettings, **engine: Any) -> NDArray[np.float32]:
    engine.setdefault("bfloat16", chosen.bfloat16)
    return refine(LocalEngine(graph, columns=chosen.dim, **engine), graph, chosen, Stages())


def signs(graph: Graph, chosen: RefineSettings) -> NDArray[np.float64]:
    words = -(-chosen.dim // 32)
    return to_float32(native.signs(chosen.seed, 0, rows=graph.nodes, words=words))[:, : chosen.dim].astype(np.float64)


def oracle(graph: Graph, chosen: RefineSettings, **options: Any) -> NDArray[Any]:
    return reference.refine(graph.to_scipy(), signs(graph, chosen), **options)


@given(graphs(directed=False, least=60), st.integers(4, 20), st.integers(1, 20), st.integers(1, 4), st.booleans())
@hypothesis_settings(deadline=None, max_examples=40)
def test_paper_preset_is_the_reference(graph: Graph, dim: int, block: int, power: int, filtered: bool) -> None:
    chosen = refine_settings(
        "paper", dim=dim, block=block, power=power, bfloat16=False, filter="taylor" if filtered else "none"
    )
    theta = reference.TAYLOR if filtered else None
    theirs = oracle(graph, chosen, power=power, block=block, theta=theta)
    if np.linalg.matrix_rank(theirs, tol=1e-4) < dim:
        return  # where the sketch has lost rank, so has the question of which vectors are right
    # A row whose length was next to nothing before it became 1 says nothing; such rows are few.
    assert np.quantile(deviations(run(graph, chosen), theirs), 0.97) < 1e-3


@pytest.mark.parametrize("weighted", [False, True])
def test_paper_preset_is_the_reference_to_1e_4(weighted: bool) -> None:
    graph = random_graph(1000, degree=12, weighted=weighted, isolated=20)
    chosen = refine_settings("paper", dim=48, bfloat16=False, seed=3)
    assert misalignment(run(graph, chosen), oracle(graph, chosen)) < 1e-4
    kept = replace(chosen, log_weights=True)
    assert misalignment(run(graph, kept), oracle(graph, kept, weighted=True)) < 1e-4
    rounded = misalignment(run(graph, replace(chosen, bfloat16=True)), oracle(graph, chosen))
    assert 1e-4 < rounded < 0.05  # bfloat16 is on, and does little
    for other in ({"negative": 3.0}, {"seed": 0}):  # the controls
        assert misalignment(run(graph, replace(chosen, **other)), oracle(graph, chosen)) > 0.05


def in_numpy(graph: Graph, chosen: RefineSettings) -> NDArray[Any]:
    """The default in dense NumPy, as `docs/explanation/method.md` has it."""
    A, live = graph.to_scipy().toarray().astype(np.float64), ~graph.without_edges()
    M = proximity(graph).to_scipy().toarray().astype(np.float64)
    Y = signs(graph, chosen)
    for matrix in (M, M.T, M, M.T, M):
        Y = np.linalg.qr(matrix @ Y)[0]
    V, s, _ = np.linalg.svd(M.T @ Y, full_matrices=False)
    R = unit_rows(V * s**0.5).astype(np.float64)
    loop = A[A > 0].min()
    T = (A + loop * np.eye(len(A))) / (A.sum(axis=1, keepdims=True) + loop)
    weights = np.where(live, A.sum(axis=1) + loop, 0)
    R = (R - weights @ R / weights.sum()) * live[:, None]
    degree = (A > 0).sum() / live.sum()
    near = np.linalg.matrix_power(T, 3) @ R
    F = unit_rows(near + 40 / degree * np.linalg.matrix_power(T, 9) @ R).astype(np.float64)
    F = (F - F[live].mean(axis=0)) * live[:, None]
    U, s, _ = np.linalg.svd(F, full_matrices=False)
    return unit_rows(U * s**0.4)


@pytest.mark.parametrize("weighted", [False, True])
def test_default_is_what_the_documentation_says(weighted: bool) -> None:
    graph = random_graph(700, degree=9, weighted=weighted, isolated=15)
    chosen = refine_settings(dim=40, bfloat16=False)
    assert misalignment(run(graph, chosen), in_numpy(graph, chosen)) < 1e-3
    # The controls: no mean taken away, another exponent, another loop are all seen.
    for other in ({"center": False}, {"spectrum": 0.9}, {"axes": 0.9}, {"loop": 9.0}, {"two_sided": False}):
        vectors = run(graph, refine_settings(dim=40, bfloat16=False, **other))
        assert misalignment(vectors, in_numpy(graph, chosen)) > 0.02


@pytest.mark.parametrize("bfloat16", [False, True])
def test_one_range_serves_several_filters(bfloat16: bool) -> None:
    graph, stages = random_graph(500, degree=9, isolated=5), Stages()
    first, second = (refine_settings(dim=24, bfloat16=bfloat16, filter=name) for name in ("reach", "heat"))
    engine = LocalEngine(graph, columns=24, bfloat16=bfloat16)
    R = find_range(engine, graph, first, stages)
    for chosen in (first, second, first):
        kept = smooth(engine, graph, chosen, R, stages, keep=True)
        np.testing.assert_array_equal(kept, run(graph, chosen))


@pytest.mark.parametrize("options", [{}, {"preset": "paper"}, {"bfloat16": False}], ids=str)
@pytest.mark.parametrize("directed", [False, True])
def test_axes_of_a_sample_are_the_same_for_every_engine(
    options: dict[str, Any], directed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = random_graph(3000, degree=8, isolated=20, weighted=True, directed=directed)
    settings = refine_settings(dim=40, **options)
    whole = run(graph, settings)
    monkeypatch.setattr(refine_module, "SAMPLE", 700)
    ours = run(graph, settings)
    assert not np.array_equal(ours, whole)
    assert np.array_equal(ours, run(graph, settings, reorder=True, threads=2))
    bounds = np.array([0, 1024, 1536, 3000])
    blocks = engine_in(tmp_path, graph, 40, bounds=bounds, chunk=1600, bfloat16=settings.bfloat16)
    assert np.array_equal(ours, refine(blocks, graph, settings, Stages()))


def test_memory_stays_within_two_tall_matrices() -> None:
    graph = random_graph(5000)
    engine = LocalEngine(graph, columns=64)
    settings, shape = refine_settings(dim=64, quality="fast"), Shape.of(graph)
    vectors = refine(engine, graph, settings, Stages())
    counted = REFINE_METHOD.memory(shape, settings) - engine_memory(shape, columns=64, matrices=0)
    assert len(engine._slabs) + 1 == counted / vectors.nbytes == 2  # one of them is the result's
    assert all(not any(slab.used) for slab in engine._slabs)
    assert vectors.nbytes == 5000 * 64 * 4
