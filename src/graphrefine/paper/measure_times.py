"""Work that measures time. Each kind runs alone, its contenders take turns, and the best of several rounds counts."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine import methods, reference
from graphrefine.engine.local import LocalEngine
from graphrefine.filters import diffuse, principal_rotation, taylor
from graphrefine.graph import Graph
from graphrefine.operators import proximity, transition
from graphrefine.paper import numpy_baselines
from graphrefine.paper.cache import Outcome
from graphrefine.paper.loaded_graphs import Bench
from graphrefine.paper.numpy_baselines import Clock, blas_threads
from graphrefine.rangefinder import orthonormal

ENDLESS = 60.0  # seconds, from which on one round has to do


def time_with_io(bench: Bench, asked: Mapping[str, Any]) -> Outcome:
    """Seconds from the file of a graph to the file of its vectors, by method (Table 5)."""
    from graphrefine.reader import read

    with tempfile.TemporaryDirectory() as folder:
        path = bench.file(asked["graph"], Path(folder))

        def run(method: str) -> None:
            graph = read(path, threads=asked["threads"])
            chosen = methods.settings(method, **asked["settings"].get(method, {}))
            embedding, _ = methods.embed_graph(graph, chosen, method=method, threads=asked["threads"])
            embedding.save(Path(folder) / f"{method}.npy")

        return _timed({method: partial(run, method) for method in asked["methods"]}, asked["rounds"])


def time_embedding(bench: Bench, asked: Mapping[str, Any]) -> Outcome:
    """Seconds of each method on a graph in memory."""
    graph = bench.graph(asked["graph"])

    def run(method: str) -> None:
        chosen = methods.settings(method, **asked["settings"].get(method, {}))
        methods.embed_graph(graph, chosen, method=method, threads=asked["threads"])

    return _timed({method: partial(run, method) for method in asked["methods"]}, asked["rounds"])


def time_decompositions(bench: Bench, asked: Mapping[str, Any]) -> Outcome:
    """Ways to a basis of one matrix M, on one thread: their seconds, and the share of ``||M||_F^2`` that each finds."""
    from scipy.sparse.linalg import svds
    from sklearn.utils.extmath import randomized_svd

    graph, (k, b, q) = bench.graph(asked["graph"]), _shape_of(asked)
    M = reference.proximity(graph.to_scipy().astype(np.float64), 1.0, 0.75, False)
    seed, found = asked["seed"], dict[str, Any]()

    def sketch() -> NDArray[Any]:
        return numpy_baselines.gaussian(M.shape[0], k, seed=seed)

    def rbqr() -> None:
        found["rbqr"] = numpy_baselines.rbqr(M, sketch(), block=b, power=q).R

    def unblocked() -> None:
        found["unblocked qr"] = numpy_baselines.unblocked(M, sketch(), power=q).R

    def randomized() -> None:
        found["randomized svd"] = randomized_svd(M, k, n_iter=asked["svd_iterations"], random_state=seed)[1]

    def truncated() -> None:
        start = np.random.default_rng(seed).standard_normal(M.shape[0])
        found["truncated svd"] = svds(M, k, v0=start, return_singular_vectors=True)[1]

    contenders = {"rbqr": rbqr, "unblocked qr": unblocked, "randomized svd": randomized, "truncated svd": truncated}
    with blas_threads(1):
        seconds = _timed(contenders, asked["rounds"])
    total = float((M.data**2).sum())
    return {**seconds, "share": {name: float((np.asarray(X) ** 2).sum()) / total for name, X in found.items()}}


def time_qr(bench: Bench, asked: Mapping[str, Any]) -> Outcome:
    """One QR factorisation of an n x k matrix against that in blocks, by width of the blocks; on one thread."""
    Y = numpy_baselines.gaussian(asked["rows"], asked["dim"], seed=asked["seed"])
    contenders: dict[str, Callable[[], Any]] = {"unblocked": lambda: np.linalg.qr(Y)}
    for block in asked["blocks"]:
        contenders[str(block)] = partial(numpy_baselines.blocked_qr, Y, block, Clock())
    with blas_threads(1):
        return _timed(contenders, asked["rounds"])


def time_threads(bench: Bench, asked: Mapping[str, Any]) -> Outcome:
    """QR and SVD of one tall matrix, and of M by range finder and randomized SVD, by number of BLAS threads."""
    from sklearn.utils.extmath import randomized_svd

    graph, (k, b, q) = bench.graph(asked["graph"]), _shape_of(asked)
    M = reference.proximity(graph.to_scipy().astype(np.float64), 1.0, 0.75, False)
    Y = numpy_baselines.powers(M, numpy_baselines.gaussian(M.shape[0], k, seed=asked["seed"]), q)
    tasks: dict[str, Callable[[], Any]] = {
        "qr": lambda: np.linalg.qr(Y),
        "blocked qr": lambda: numpy_baselines.blocked_qr(Y, b, Clock()),
        "svd": lambda: np.linalg.svd(Y, full_matrices=False),
        "range finder": lambda: numpy_baselines.rbqr(M, Y, block=b, power=q),
        "randomized svd": lambda: randomized_svd(M, k, n_iter=asked["svd_iterations"], random_state=0),
    }

    def threaded(task: Callable[[], Any], threads: int) -> Callable[[], None]:
        def run() -> None:
            with blas_threads(threads):
                task()

        return run

    contenders = {
        f"{name}, {threads}": threaded(task, threads) for name, task in tasks.items() for threads in asked["threads"]
    }
    return _timed(contenders, asked["rounds"])


def time_stages(bench: Bench, asked: Mapping[str, Any]) -> Outcome:
    """Seconds of the stages of REFINE on one thread: in plain NumPy, and in graphrefine."""
    graph = bench.graph(asked["graph"])
    return stages_of(graph, _shape_of(asked), seed=asked["seed"], rounds=asked["rounds"])


def time_sweep(bench: Bench, asked: Mapping[str, Any]) -> Outcome:
    """The stages of REFINE on generated graphs while one size is varied and the others stay: |E|, n, k, b or q."""
    points = []
    for value in asked["values"]:
        sizes = {**asked["base"], asked["vary"]: value}
        edges = sizes["nodes"] * asked["degree"] // 2 if asked["vary"] == "nodes" else sizes["edges"]
        graph = random_graph(sizes["nodes"], edges, seed=asked["seed"])
        shape = (sizes["dim"], sizes["block"], sizes["power"])
        found = stages_of(graph, shape, seed=asked["seed"], rounds=asked["rounds"])
        points.append({asked["vary"]: value, "actual_edges": graph.edges, **found})
    return {"points": points}


def stages_of(graph: Graph, shape: tuple[int, int, int], *, seed: int, rounds: int) -> Outcome:
    """The least seconds of each stage over some rounds, by implementation."""
    (k, b, q), A = shape, graph.to_scipy()
    plain_rounds, own_rounds = [], []
    with blas_threads(1):
        for _ in range(rounds):
            plain_rounds.append(numpy_baselines.staged_refine(A, dim=k, block=b, power=q, seed=seed)[1].seconds)
            own_rounds.append(staged_own(graph, dim=k, block=b, power=q, seed=seed)[1].seconds)
    return {"plain": _least(plain_rounds), "graphrefine": _least(own_rounds)}


def staged_own(graph: Graph, *, dim: int, block: int, power: int, seed: int) -> tuple[NDArray[np.float32], Clock]:
    """What ``embed(..., preset="paper", threads=1)`` does, with a clock at every stage."""
    clock = Clock()
    with clock("proximity"):
        engine = LocalEngine(graph, columns=dim, threads=1, bfloat16=True)
        M = proximity(graph, log_weights=False)
    with clock("random"):
        Y = engine.random(seed=seed)
    with clock("products"):
        for step in range(power):
            last = step == power - 1
            Y = engine.apply(M, Y, gram=last, precise=last)
    with clock("qr"):
        C = orthonormal(engine, Y, rows=graph.nodes, block=block)
        del Y
    with clock("target"):
        R = engine.apply(M.T, C, unit=True)
        del C
    with clock("filter"):
        F = diffuse(engine, transition(graph), R, taylor())
        del R
    with clock("axes"):
        return engine.collect(F, principal_rotation(engine.gram(F)), unit=True), clock


def random_graph(nodes: int, edges: int, *, seed: int) -> Graph:
    """A graph of this size whose low-numbered nodes have most edges; loops and doubles are lost.

    Examples
    --------
    >>> random_graph(100, 300, seed=0).nodes
    100
    """
    rng = np.random.default_rng(seed)
    source = (nodes * rng.random(edges) ** 2).astype(np.int64)
    target = rng.integers(0, nodes, edges)
    return Graph.from_edges(source, target, names=np.arange(nodes))


def exponent(sizes: list[float], seconds: list[float]) -> float:
    """The p of the best fit ``seconds ~ size^p``.

    Examples
    --------
    >>> round(exponent([1, 2, 4], [3.0, 12.0, 48.0]), 6)
    2.0
    """
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def _timed(contenders: Mapping[str, Callable[[], Any]], rounds: int) -> Outcome:
    """Best and all seconds of each; after a long first round there is no second."""
    all_seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, run in contenders.items():
            start = perf_counter()
            run()
            all_seconds[name].append(perf_counter() - start)
        if sum(seconds[-1] for seconds in all_seconds.values()) > ENDLESS:
            break
    return {"best": {name: min(seconds) for name, seconds in all_seconds.items()}, "all": all_seconds}


def _least(rounds: list[dict[str, float]]) -> dict[str, float]:
    return {stage: min(seconds[stage] for seconds in rounds) for stage in rounds[0]}


def _shape_of(asked: Mapping[str, Any]) -> tuple[int, int, int]:
    return asked["dim"], asked["block"], asked["power"]
