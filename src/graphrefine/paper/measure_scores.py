"""Work that measures quality: the F1 of vectors by the paper's protocol (unit rows, one-vs-rest, C = 1)."""

from __future__ import annotations

from collections.abc import Mapping
from time import perf_counter
from typing import Any

import numpy as np

from graphrefine import methods, reference
from graphrefine.evaluate import evaluate_labels
from graphrefine.paper import numpy_baselines
from graphrefine.paper.cache import Outcome
from graphrefine.paper.loaded_graphs import Bench


def score(bench: Bench, asked: Mapping[str, Any]) -> Outcome:
    """Embed a graph by a method, and score the vectors at every ratio."""
    graph = bench.graph(asked["graph"])
    chosen = methods.settings(asked["method"], **asked["settings"])
    start = perf_counter()
    embedding, _ = methods.embed_graph(graph, chosen, method=asked["method"], threads=bench.threads)
    spent = perf_counter() - start
    return {"seconds": spent, **f1(bench, asked, embedding)}


def score_residual(bench: Bench, asked: Mapping[str, Any]) -> Outcome:
    """Algorithm 1 with and without the residual, the rest of REFINE after both: F1, share of M found, seconds."""
    graph = bench.graph(asked["graph"])
    A = graph.to_scipy().astype(np.float64)
    M = reference.proximity(A, 1.0, 0.75, False)
    sketch = numpy_baselines.gaussian(graph.nodes, asked["dim"], seed=asked["seed"])
    total = float((M.data**2).sum())
    found: Outcome = {}
    for name, find in (("dropped", numpy_baselines.rbqr), ("deflated", numpy_baselines.deflated)):
        start = perf_counter()
        with numpy_baselines.blas_threads(1):
            R = find(M, sketch, block=asked["block"], power=asked["power"]).R
        spent, share = perf_counter() - start, float((R**2).sum()) / total
        with numpy_baselines.blas_threads(1):
            vectors = numpy_baselines.filtered(A, R).astype(np.float32)
        found[name] = {"seconds": spent, "share": share, **f1(bench, asked, vectors)}
    return found


def f1(bench: Bench, asked: Mapping[str, Any], vectors: Any) -> Outcome:
    """Mean and spread of Micro and Macro F1 at each ratio, in percent."""
    ratios = tuple(asked["ratios"])
    scores = evaluate_labels(
        vectors,
        bench.labels(asked["graph"]),
        ratios=ratios,
        repeats=asked["repeats"],
        seed=asked.get("splits", 0),
        threads=bench.threads,
    ).ratios
    return {
        "ratios": list(ratios),
        "micro": [at.micro_mean for at in scores],
        "macro": [at.macro_mean for at in scores],
        "micro_std": [at.micro_std for at in scores],
        "macro_std": [at.macro_std for at in scores],
    }


def count(bench: Bench, asked: Mapping[str, Any]) -> Outcome:
    """The size of a graph (Table 3)."""
    graph = bench.graph(asked["graph"])
    return {
        "nodes": graph.nodes,
        "edges": graph.edges,
        "labels": len(bench.labels(asked["graph"]).classes),
        "entries": len(graph.indices),
        "self_loops": int(graph.report.get("self_loops", 0)),
        "isolated": graph.isolated,
    }
