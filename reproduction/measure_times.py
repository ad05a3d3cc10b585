"""Measurements of time. Each runs alone, its contenders take turns, and the best of several rounds counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import svds
from sklearn.utils.extmath import randomized_svd

from graphrefine.datasets import Dataset
from graphrefine.engine.engine import orthonormal, principal_rotation
from graphrefine.engine.local import LocalEngine
from graphrefine.graph.graph import Graph
from graphrefine.linalg.operators import proximity, transition
from graphrefine.methods import registry as methods
from graphrefine.pipeline.embed_run import embed_graph
from graphrefine.progress import Stages
from graphrefine.readers.read import read
from graphrefine.refine.filters import diffuse, taylor
from graphrefine.system.files import temporary_folder
from reproduction import numpy_baselines, reference
from reproduction.cache import Measurement
from reproduction.numpy_baselines import (
    apply_powers,
    blocked_qr,
    draw_gaussian,
    limit_blas_threads,
    rbqr,
    unblocked_rbqr,
)

LONG_ROUND = 60.0  # seconds, from which on one round is enough


def time_files(
    dataset: Dataset, *, settings: Mapping[str, Mapping[str, Any]], threads: int, rounds: int
) -> Measurement:
    """Seconds from the file of a graph to the file of its vectors, by method (Table 5)."""
    with temporary_folder() as folder:
        path = dataset.path or folder / "standin.npz"
        if dataset.path is None:
            sp.save_npz(path, dataset.graph.to_scipy(), compressed=False)

        def run(method: str) -> None:
            embedding = _embed(read(path, threads=threads), method, settings[method], threads)
            embedding.save(folder / f"{method}.npy")

        return _take_turns({method: partial(run, method) for method in settings}, rounds)


def time_embedding(
    dataset: Dataset, *, method: str, settings: Mapping[str, Any], threads: int, rounds: int
) -> Measurement:
    """Seconds of a method on a graph in memory."""
    return _take_turns({method: lambda: _embed(dataset.graph, method, settings, threads)}, rounds)


def _embed(graph: Graph, method: str, settings: Mapping[str, Any], threads: int) -> Any:
    return embed_graph(graph, methods.make_settings(method, **settings), method=method, threads=threads)[0]


def time_decompositions(
    dataset: Dataset, *, dim: int, block: int, power: int, seed: int, svd_iterations: int, rounds: int
) -> Measurement:
    """Ways to a basis of one matrix M on one thread: seconds of each, and its share of ``||M||_F^2``."""
    M = _make_proximity(dataset.graph)
    factors: dict[str, NDArray[Any]] = {}  # R (n, k), or singular values (k)

    def sketch() -> NDArray[Any]:
        return draw_gaussian(M.shape[0], dim, seed=seed)

    def truncate() -> NDArray[Any]:
        start = np.random.default_rng(seed).standard_normal(M.shape[0])
        return svds(M, dim, v0=start, return_singular_vectors=True)[1]

    ways: dict[str, Callable[[], NDArray[Any]]] = {
        "rbqr": lambda: rbqr(M, sketch(), block=block, power=power).R,
        "unblocked qr": lambda: unblocked_rbqr(M, sketch(), power=power).R,
        "randomized svd": lambda: randomized_svd(M, dim, n_iter=svd_iterations, random_state=seed)[1],
        "truncated svd": truncate,
    }

    def run(way: str) -> None:
        factors[way] = ways[way]()

    with limit_blas_threads(1):
        seconds = _take_turns({way: partial(run, way) for way in ways}, rounds)
    total = float((M.data**2).sum())
    return {**seconds, "share": {way: float((factor**2).sum()) / total for way, factor in factors.items()}}


def time_qr(*, rows: int, dim: int, blocks: Sequence[int], seed: int, rounds: int) -> Measurement:
    """One QR factorization of an n x k matrix against that in blocks, by width of the blocks, on one thread."""
    Y = draw_gaussian(rows, dim, seed=seed)
    contenders: dict[str, Callable[[], Any]] = {"unblocked": lambda: np.linalg.qr(Y)}
    contenders |= {str(block): partial(blocked_qr, Y, block, Stages()) for block in blocks}
    with limit_blas_threads(1):
        return _take_turns(contenders, rounds)


def time_threads(
    dataset: Dataset,
    *,
    dim: int,
    block: int,
    power: int,
    seed: int,
    svd_iterations: int,
    threads: Sequence[int],
    rounds: int,
) -> Measurement:
    """QR and SVD of one tall matrix, and of M by range finder and randomized SVD, by number of BLAS threads."""
    M = _make_proximity(dataset.graph)
    Y = apply_powers(M, draw_gaussian(M.shape[0], dim, seed=seed), power)
    tasks: dict[str, Callable[[], Any]] = {
        "qr": lambda: np.linalg.qr(Y),
        "blocked qr": lambda: blocked_qr(Y, block, Stages()),
        "svd": lambda: np.linalg.svd(Y, full_matrices=False),
        "range finder": lambda: rbqr(M, Y, block=block, power=power),
        "randomized svd": lambda: randomized_svd(M, dim, n_iter=svd_iterations, random_state=0),
    }

    def run(task: Callable[[], Any], count: int) -> None:
        with limit_blas_threads(count):
            task()

    contenders = {f"{name}, {count}": partial(run, task, count) for name, task in tasks.items() for count in threads}
    return _take_turns(contenders, rounds)


def time_stages(dataset: Dataset, *, dim: int, block: int, power: int, seed: int, rounds: int) -> Measurement:
    """Seconds of the stages of REFINE on one thread: in plain NumPy, and in graphrefine."""
    return _time_stages(dataset.graph, rounds, dim=dim, block=block, power=power, seed=seed)


def time_sweep(
    *, vary: str, values: Sequence[int], base: Mapping[str, int], degree: int, seed: int, rounds: int
) -> Measurement:
    """The stages of REFINE on generated graphs while one size varies and the others stay: |E|, n, k, b or q."""
    points = []
    for value in values:
        sizes = {**base, vary: value}
        nodes, edges = sizes.pop("nodes"), sizes.pop("edges")
        graph = generate_graph(nodes, nodes * degree // 2 if vary == "nodes" else edges, seed=seed)
        seconds = _time_stages(graph, rounds, seed=seed, **sizes)
        points.append({vary: value, "actual_edges": graph.edges, **seconds})
    return {"points": points}


def _time_stages(graph: Graph, rounds: int, **sizes: int) -> dict[str, dict[str, float]]:
    """Smallest seconds of each stage over the rounds, by implementation."""
    A = graph.to_scipy()
    seconds: dict[str, list[dict[str, float]]] = {"plain": [], "graphrefine": []}
    with limit_blas_threads(1):
        for _ in range(rounds):
            seconds["plain"].append(numpy_baselines.run_stages(A, **sizes)[1].seconds)
            seconds["graphrefine"].append(run_stages(graph, **sizes)[1].seconds)
    return {name: {stage: min(one[stage] for one in all_) for stage in all_[0]} for name, all_ in seconds.items()}


def run_stages(graph: Graph, *, dim: int, block: int, power: int, seed: int) -> tuple[NDArray[np.float32], Stages]:
    """The work of ``embed(..., preset="paper", threads=1)``, each stage timed: vectors (n, k), and the seconds."""
    stages = Stages()
    with stages.stage("proximity"):
        engine = LocalEngine(graph, columns=dim, threads=1, bfloat16=True)
        M = proximity(graph, log_weights=False)
    with stages.stage("random"):
        Y = engine.random(seed=seed)
    with stages.stage("products"):
        for step in range(power):
            last = step == power - 1
            Y = engine.apply(M, Y, gram=last, precise=last)
    with stages.stage("qr"):
        C = orthonormal(engine, Y, block=block)
        del Y
    with stages.stage("target"):
        R = engine.apply(M.T, C, unit=True)
        del C
    with stages.stage("filter"):
        F = diffuse(engine, transition(graph), R, taylor())
        del R
    with stages.stage("axes"):
        return engine.collect(F, principal_rotation(engine.gram(F)), unit=True), stages


def generate_graph(nodes: int, edges: int, *, seed: int) -> Graph:
    """A graph of this size whose low-numbered nodes have most edges; loops and doubles are lost.

    Examples
    --------
    >>> generate_graph(100, 300, seed=0).nodes
    100
    """
    rng = np.random.default_rng(seed)
    source = (nodes * rng.random(edges) ** 2).astype(np.int64)
    target = rng.integers(0, nodes, edges)
    return Graph.from_edges(source, target, names=np.arange(nodes))


def fit_exponent(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """The p of the best fit ``seconds ~ size^p``.

    Examples
    --------
    >>> round(fit_exponent([1, 2, 4], [3.0, 12.0, 48.0]), 6)
    2.0
    """
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def _make_proximity(graph: Graph) -> sp.csr_array:
    return reference.proximity(graph.to_scipy().astype(np.float64), 1.0, 0.75, False)


def _take_turns(contenders: Mapping[str, Callable[[], Any]], rounds: int) -> Measurement:
    """Best and all seconds of each contender; a long first round is the only one."""
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, run in contenders.items():
            start = perf_counter()
            run()
            seconds[name].append(perf_counter() - start)
        if sum(rounds_of[-1] for rounds_of in seconds.values()) > LONG_ROUND:
            break
    return {"best": {name: min(rounds_of) for name, rounds_of in seconds.items()}, "all": seconds}
