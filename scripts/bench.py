"""What can be measured (``benchmarks/``), and a quick measurement that needs no data.

This library and its reference embed a generated graph (20,000 nodes in 200 groups, about 200,000 edges) in
turn, three times, on one thread; the best time of each counts. Published figures come from ``benchmarks/``
and real graphs instead.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import numpy as np
from threadpoolctl import threadpool_limits

from graphrefine.graph.graph import Graph
from graphrefine.kernels import native
from graphrefine.pipeline.embed_run import embed_graph
from graphrefine.refine.settings import refine_settings

sys.path.append(str(Path(__file__).resolve().parent.parent))  # this script is run by its path

from reproduction import reference

NODES, GROUPS, EDGES, REPEATS = 20_000, 200, 200_000, 3


def main() -> None:
    """List the benchmarks, then run the quick ones."""
    folder = Path(__file__).resolve().parent.parent / "benchmarks"
    for path in [path for place in (".", "scale", "live", "trust") for path in sorted((folder / place).glob("*.py"))]:
        text = path.read_text(encoding="utf-8")
        if "__main__" not in text:
            continue  # shared by the others
        about = ast.get_docstring(ast.parse(text)) or ""
        print(f"benchmarks/{path.relative_to(folder).as_posix():24} {about.partition(chr(10))[0]}")
    print("Each says in its docstring how it is run; those on real graphs need GRAPHREFINE_DATA.\n")
    quick()


def quick() -> None:
    """The library over its reference, on a generated graph."""
    graph = generated(seed=0)
    adjacency = graph.to_scipy()
    sketch = np.random.default_rng(0).standard_normal((graph.nodes, 128)).astype(np.float32)
    paper = refine_settings("paper")
    with threadpool_limits(1):
        times = interleaved(lambda: embed_graph(graph, paper, threads=1), lambda: reference.refine(adjacency, sketch))
    ours, plain = times
    print(f"quick: {graph.nodes:,} nodes, {graph.edges:,} edges, 128 columns, one thread, best of {REPEATS}")
    print(f"  graphrefine   {ours:.3f} s  ({native.simd()})")
    print(f"  reference.py  {plain:.3f} s  {plain / ours:.1f}x")


def generated(*, seed: int) -> Graph:
    """Edges within groups of equal size, and a fifth of them anywhere."""
    rng = np.random.default_rng(seed)
    source = rng.integers(NODES, size=EDGES)
    near = source // (NODES // GROUPS) * (NODES // GROUPS) + rng.integers(NODES // GROUPS, size=EDGES)
    target = np.where(rng.random(EDGES) < 0.2, rng.integers(NODES, size=EDGES), near)
    return Graph.from_edges(source, target)


def interleaved(*runs: Callable[[], object]) -> list[float]:
    """The best time of each, all of them in turn."""
    best = [np.inf] * len(runs)
    for _ in range(REPEATS):
        for place, run in enumerate(runs):
            start = perf_counter()
            run()
            best[place] = min(best[place], perf_counter() - start)
    return best


if __name__ == "__main__":
    main()
