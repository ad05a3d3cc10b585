"""Compute time of REFINE against `reference.py` on one thread: web-google and BlogCatalog, k = 128, b = 16, q = 3.

    python benchmarks/speed.py [--rounds 3] [--graphs web-google,blogcatalog]

Reading and writing are not counted. The reference works in float32, as graphrefine does: in float64 it takes half as
long again.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from functools import partial

import numpy as np

from common import graph, interleaved, machine, show
from graphrefine.refine import reference
from graphrefine.refine.settings import refine_settings
from graphrefine.run.embed_run import embed_graph
from graphrefine.system.threads import one_blas_thread

BARS = {
    "web-google": {"graphrefine, 1 thread": 15.0, "graphrefine, 2 threads": 25.0},
    "blogcatalog": {"graphrefine, 1 thread": 5.0},
}


def compare(name: str, rounds: int) -> bool:
    """Time both on one graph; whether the bars are reached."""
    read = graph(name)
    adjacency, chosen = read.to_scipy(), refine_settings("paper")

    def plain() -> None:
        sketch = np.random.default_rng(0).choice(np.array([-1, 1], np.float32), size=(read.nodes, 128))
        with one_blas_thread():
            reference.refine(adjacency, sketch)

    contenders: dict[str, Callable[[], object]] = {
        "reference": plain,
        "graphrefine, 1 thread": partial(embed_graph, read, chosen, threads=1),
        "graphrefine, 2 threads": partial(embed_graph, read, chosen, threads=2),
    }
    seconds = interleaved(contenders, rounds=rounds if name == "web-google" else 5 * rounds)
    return show(f"{name}: compute only, against the reference", seconds, against="reference", bars=BARS.get(name, {}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--graphs", default="web-google,blogcatalog")
    given = parser.parse_args()
    print(machine())
    reached = {name: compare(name, given.rounds) for name in given.graphs.split(",")}
    sys.exit(0 if all(reached.values()) else 1)


if __name__ == "__main__":
    main()
