"""Missing edges by `predict_links`, beside plain scores: precision on edges that were held out of real graphs.

Some edges of each graph are hidden, the first 1,000 pairs are predicted from the rest, and those that were hidden edges
are counted. Beside it, over all pairs of the same rest, computed here by sparse products: the degree product, common
neighbors, Adamic-Adar, resource allocation, and paths of three steps (on graphs of at most 20,000 nodes). npm is read
as directed: degrees are those out of the source and into the target, common neighbors are counted without directions,
and a pair is right only in its direction::

    GRAPHREFINE_DATA=... python benchmarks/predict_links.py
    GRAPHREFINE_DATA=... python benchmarks/predict_links.py --graphs ppi.mat --held-out 0.1,0.3 --seeds 0,1,2

``--save`` writes the means over the seeds to docs/results/predict-links.json.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

import graphrefine
import results
from graphrefine.display.console import show_table
from graphrefine.embedding.scores import Pairs
from graphrefine.evaluate.held_out_edges import find_entries, hold_out
from graphrefine.graph.graph import Graph

GRAPHS = "ppi.mat,wikipedia-pos.mat,blogcatalog.mat,npm-dependencies.tsv.gz"
DENSE = 20_000  # nodes up to which paths of three steps are counted
SCORES = ("degree product", "common neighbors", "Adamic-Adar", "resource allocation", "three steps")

Entries = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]  # rows, columns, values


class Best:
    """The pairs with the highest values so far."""

    def __init__(self, count: int) -> None:
        self.count, self.entries = count, (np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float32))

    def add(self, graph: Graph, entries: Entries) -> None:
        """Take entries in, without those that are edges or, in an undirected graph, stand there twice."""
        first, second, values = entries
        if len(self.entries[0]) == self.count:
            first, second, values = (each[values > self.entries[2].min()] for each in entries)
        free = (first < second) | graph.directed & (first != second)
        first, second, values = (each[free] for each in (first, second, values))
        order = np.argsort(-values, kind="stable")
        places: list[int] = []
        for start in range(0, len(order), 100_000):
            part = order[start : start + 100_000]
            places += part[find_entries(graph, Pairs(first[part], second[part])) < 0].tolist()
            if len(places) >= self.count:
                break
        parts = (np.concatenate([own, new[places[: self.count]]]) for own, new in
                 zip(self.entries, (first, second, values), strict=True))  # fmt: skip
        first, second, values = parts
        top = np.argsort(-values, kind="stable")[: self.count]
        self.entries = first[top], second[top], values[top]


def _two_steps(S: sp.csr_array, weighted: sp.csr_array, block: NDArray[Any]) -> sp.csr_array:
    return sp.csr_array(S[block] @ weighted)


def plain_scores(graph: Graph, top: int) -> dict[str, Pairs]:
    A = sp.csr_array(graph.to_scipy().astype(np.float32))
    A.data[:] = 1
    S = sp.csr_array((A + A.T).astype(bool).astype(np.float32)) if graph.directed else A
    degree = np.diff(S.indptr)
    log = np.log(np.maximum(degree, 2))
    weights = {
        "common neighbors": degree > 0,
        "Adamic-Adar": 1 / log,
        "resource allocation": 1 / np.maximum(degree, 1),
    }
    scaled = {name: sp.csr_array(sp.diags_array(weight.astype(np.float32)) @ S) for name, weight in weights.items()}
    best = {name: Best(top) for name in SCORES}
    best["degree product"].add(graph, _products(A, top))
    rows = np.flatnonzero(np.diff(A.indptr))
    back, forth = ((sp.diags_array(np.maximum(np.diff(each.indptr), 1) ** -0.5) @ each).tocsr().astype(np.float32)
                   for each in (A.T.tocsr(), A))  # fmt: skip
    steps: dict[str, Callable[[NDArray[Any]], sp.csr_array]] = {
        name: partial(_two_steps, S, matrix) for name, matrix in scaled.items()
    }
    if graph.nodes <= DENSE:
        steps["three steps"] = lambda block: sp.csr_array(A[block] @ back) @ forth
    for start in range(0, len(rows), 500):
        block = rows[start : start + 500]
        for name, step in steps.items():
            matrix = step(block).tocoo()
            best[name].add(graph, (block[matrix.row], matrix.col.astype(np.int64), matrix.data))
    return {name: Pairs(*each.entries[:2]) for name, each in best.items() if len(each.entries[0])}


def _products(A: sp.csr_array, top: int) -> Entries:
    """The pairs of the 2,000 nodes with the most edges, which hold the highest products."""
    counts = np.diff(A.indptr), np.diff(A.T.tocsr().indptr)
    first, second = (np.argsort(-count, kind="stable")[: max(2000, top)] for count in counts)
    grid = np.meshgrid(first, second, indexing="ij")
    return (
        grid[0].ravel(),
        grid[1].ravel(),
        np.multiply.outer(counts[0][first], counts[1][second]).ravel().astype(float),
    )


def measure(graph: Graph, part: float, seed: int, top: int) -> tuple[list[float], float]:
    """Return the precision of `predict_links` and of the plain scores, and the seconds of the former."""
    held = hold_out(graph, part, repeat=0, seed=seed)
    start = time.perf_counter()
    table = graphrefine.predict_links(held.rest, top=top, seed=seed)
    seconds = time.perf_counter() - start
    place = {node: row for row, node in enumerate(graph.names.tolist())}
    ours = Pairs(*(np.array([place[node] for node in table[side].tolist()]) for side in ("source", "target")))
    assert (find_entries(held.rest, ours) < 0).all()
    plain = plain_scores(held.rest, top)
    by_score = [precision(graph, plain[name], top) if name in plain else np.nan for name in SCORES]
    return [precision(graph, ours, top), *by_score], seconds


def show(values: Sequence[float]) -> list[str]:
    return ["" if np.isnan(value) else f"{value:.3f}" for value in values]


def precision(graph: Graph, pairs: Pairs, top: int) -> float:
    return float((find_entries(graph, pairs) >= 0).sum() / top)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", default=GRAPHS, help="files of GRAPHREFINE_DATA")
    parser.add_argument("--held-out", default="0.1", help="parts of the edges, with commas between")
    parser.add_argument("--seeds", default="0,1,2")
    parser.add_argument("--top", type=int, default=1000)
    parser.add_argument("--save", action="store_true", help="write docs/results/predict-links.json")
    arguments = parser.parse_args()
    if "GRAPHREFINE_DATA" not in os.environ:
        sys.exit("set GRAPHREFINE_DATA to the folder with the graphs")
    titles = ("graph", "hidden", "seed", "predict_links", *SCORES, "seconds")
    lines, rows = [], []
    for name in arguments.graphs.split(","):
        graph = graphrefine.read(Path(os.environ["GRAPHREFINE_DATA"]) / name, directed=name.startswith("npm") or None)
        for part in map(float, arguments.held_out.split(",")):
            found = []
            for seed in map(int, arguments.seeds.split(",")):
                precisions, seconds = measure(graph, part, seed, arguments.top)
                found.append(precisions)
                lines.append((name, f"{part:g}", str(seed), *show(precisions), f"{seconds:.0f}"))
                print(*lines[-1], file=sys.stderr, flush=True)
            rows.append([results.title(name.split(".")[0]), f"{part:.0%}", *show(np.mean(found, axis=0))])
    show_table([titles, *lines])
    if arguments.save:
        columns = ["graph", "hidden edges", "`predict_links`", *SCORES]
        results.save("predict-links", precision=results.Table(columns, rows))


if __name__ == "__main__":
    main()
