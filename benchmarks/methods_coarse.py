"""HARP, MILE and LouvainNE beside their published figures, their bases and an independent implementation.

    python benchmarks/methods_coarse.py [--repeats 10] [--seeds 1] [--threads 2] [--graphs ppi,blogcatalog]
                                        [--methods harp,mile]

Table 4 of the paper is Micro F1 on BlogCatalog at 80 %. Unit rows, C = 1, mean over embedding seeds and splits.

No package has HARP or MILE to compare with; the base methods stand beside them. scikit-network had LouvainNE up to
version 0.28 (Python up to 3.10); where it is installed, its vectors are scored on the same splits.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from common import data, graph, machine
from graphrefine.evaluate import evaluate_labels, read_labels
from graphrefine.graph.graph import Graph
from graphrefine.methods.registry import make_settings
from graphrefine.pipeline.embed_run import embed_graph

RATIOS = (0.5, 0.8)
TABLE4 = {"harp": 31.6, "mile": 26.4, "louvainne": 30.6}
# A line of its own for each: the method, its settings.
LINES: list[tuple[str, dict[str, Any]]] = [
    ("deepwalk", {"walks": 40, "length": 10}),
    ("harp", {}),
    ("harp", {"base": "refine"}),
    ("deepwalk", {}),
    ("mile", {}),
    ("mile", {"levels": 1}),
    ("mile", {"base": "refine"}),
    ("refine", {}),
    ("louvainne", {}),
    ("louvainne", {"decay": 0.5}),
]


def ours(read: Graph, method: str, options: dict[str, Any], threads: int, seed: int) -> NDArray[np.float32]:
    return embed_graph(read, make_settings(method, seed=seed, **options), method=method, threads=threads)[0].vectors


def theirs(read: Graph, decay: float, seed: int) -> NDArray[np.float64] | None:
    """LouvainNE of scikit-network, where it still has it."""
    try:
        from sknetwork.embedding import LouvainNE
    except ImportError:
        return None
    found: NDArray[np.float64] = LouvainNE(128, scale=decay, random_state=seed).fit_transform(read.to_scipy())
    return found


def line(label: str, make: Callable[[int], NDArray[Any] | None], labels: Any, given: argparse.Namespace) -> None:
    cells, seconds = [], []
    for seed in range(given.seeds):
        start = perf_counter()
        vectors = make(seed)
        seconds.append(perf_counter() - start)
        if vectors is None:
            print(f"  {label:44} not installed")
            return
        scores = evaluate_labels(vectors, labels, ratios=RATIOS, repeats=given.repeats).ratios
        cells.append([[at.micro_mean, at.macro_mean] for at in scores])
    half, most = np.mean(cells, axis=0)
    published = TABLE4.get(label.split()[0]) if given.published else None
    beside = "" if published is None else f"   {published:5.1f}  {most[0] - published:+6.2f}"
    figures = f"{half[0]:6.2f}/{half[1]:6.2f}   {most[0]:6.2f}/{most[1]:6.2f}"
    print(f"  {label:44} {min(seconds):8.2f}   {figures}{beside}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--graphs", default="ppi,blogcatalog")
    parser.add_argument("--methods", default="deepwalk,harp,mile,refine,louvainne,peer")
    given = parser.parse_args()
    wanted = given.methods.split(",")
    print(machine())
    for name in given.graphs.split(","):
        read, labels = graph(name), read_labels(data(f"{name}.mat"))
        given.published = name == "blogcatalog"
        print(f"\n{name}: {given.threads} threads, {given.repeats} splits, {given.seeds} seeds")
        print(f"  {'':44} {'seconds':>8}   {'50 %':^13}   {'80 %':^13}   Table 4, difference")
        for method, options in LINES:
            if method not in wanted:
                continue
            label = " ".join([method, *(f"{key}={value}" for key, value in options.items())])
            line(label, partial(ours, read, method, options, given.threads), labels, given)
        for decay in (0.01, 0.5) if "peer" in wanted else ():
            line(f"LouvainNE of scikit-network, scale={decay}", partial(theirs, read, decay), labels, given)


if __name__ == "__main__":
    main()
