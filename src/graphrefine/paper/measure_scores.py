"""Measurements of quality: F1 of vectors by the paper's protocol (unit rows, one-vs-rest, C = 1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any

import numpy as np

from graphrefine.datasets import Dataset
from graphrefine.evaluate import evaluate_labels
from graphrefine.methods import registry as methods
from graphrefine.paper import numpy_baselines
from graphrefine.paper.cache import Measurement
from graphrefine.refine import reference
from graphrefine.run.embed import embed_graph


def measure_f1(
    dataset: Dataset,
    *,
    method: str,
    settings: Mapping[str, Any],
    ratios: Sequence[float],
    repeats: int,
    threads: int,
) -> Measurement:
    """F1 of a method at every ratio, and the seconds of its embedding."""
    start = perf_counter()
    embedding, _ = embed_graph(dataset.graph, methods.make_settings(method, **settings), method=method, threads=threads)
    seconds = perf_counter() - start
    return {"seconds": seconds, **score_vectors(dataset, embedding, ratios=ratios, repeats=repeats, threads=threads)}


def measure_residual(
    dataset: Dataset,
    *,
    dim: int,
    block: int,
    power: int,
    seed: int,
    ratios: Sequence[float],
    repeats: int,
    threads: int,
) -> Measurement:
    """Algorithm 1 with and without the residual, the rest of REFINE after both: F1, share of M, seconds."""
    A = dataset.graph.to_scipy().astype(np.float64)
    M = reference.proximity(A, 1.0, 0.75, False)
    sketch = numpy_baselines.draw_gaussian(M.shape[0], dim, seed=seed)
    total = float((M.data**2).sum())
    measurement: Measurement = {}
    for name, find_basis in (("dropped", numpy_baselines.rbqr), ("deflated", numpy_baselines.deflated_rbqr)):
        with numpy_baselines.limit_blas_threads(1):
            start = perf_counter()
            R = find_basis(M, sketch, block=block, power=power).R  # (n, k)
            seconds = perf_counter() - start
            vectors = numpy_baselines.filter_basis(A, R).astype(np.float32)
        scores = score_vectors(dataset, vectors, ratios=ratios, repeats=repeats, threads=threads)
        measurement[name] = {"seconds": seconds, "share": float((R**2).sum()) / total, **scores}
    return measurement


def score_vectors(
    dataset: Dataset, vectors: Any, *, ratios: Sequence[float], repeats: int, threads: int
) -> Measurement:
    """Mean and spread of Micro and Macro F1 at each ratio, in percent."""
    assert dataset.labels is not None, dataset.name
    scores = evaluate_labels(
        vectors, dataset.labels, ratios=tuple(ratios), repeats=repeats, seed=0, threads=threads
    ).ratios
    return {
        "ratios": list(ratios),
        "micro": [score.micro_mean for score in scores],
        "macro": [score.macro_mean for score in scores],
        "micro_std": [score.micro_std for score in scores],
        "macro_std": [score.macro_std for score in scores],
    }


def measure_size(dataset: Dataset) -> Measurement:
    """Size of a graph (Table 3)."""
    assert dataset.labels is not None, dataset.name
    graph = dataset.graph
    return {
        "nodes": graph.nodes,
        "edges": graph.edges,
        "labels": len(dataset.labels.classes),
        "entries": len(graph.indices),
        "self_loops": int(graph.report.get("self_loops", 0)),
        "isolated": graph.isolated,
    }
