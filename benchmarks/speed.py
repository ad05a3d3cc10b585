"""Compute time of REFINE against `reference.py` on one thread: web-google and BlogCatalog, k = 128, b = 16, q = 3.

    python benchmarks/speed.py [--rounds 3] [--graphs web-google,blogcatalog]

Reading and writing are not counted. The reference is timed in float32 and in float64; the faster of the two divides.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np
from common import graph, interleaved, machine, show

from graphrefine import reference
from graphrefine.linalg import one_blas_thread
from graphrefine.refine import embed_graph, settings

BARS = {"web-google": {1: 15.0, 2: 25.0}, "blogcatalog": {1: 5.0}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--graphs", default="web-google,blogcatalog")
    given = parser.parse_args()
    print(machine())
    passed = True
    for name in given.graphs.split(","):
        read = graph(name)
        adjacency, chosen = read.to_scipy(), settings("paper")

        def plain(dtype: type, adjacency=adjacency, nodes=read.nodes):  # type: ignore[no-untyped-def]
            sketch = np.random.default_rng(0).choice(np.array([-1, 1], dtype), size=(nodes, 128))
            with one_blas_thread():
                return reference.refine(adjacency, sketch)

        contenders = {
            "reference float64": lambda: plain(np.float64),
            "reference float32": lambda: plain(np.float32),
        }
        for threads in (1, 2):
            contenders[f"graphrefine, {threads} thread{'s' * (threads > 1)}"] = lambda read=read, threads=threads: (  # type: ignore[misc]
                embed_graph(read, chosen, threads=threads)
            )
        rounds = given.rounds if name == "web-google" else 5 * given.rounds
        seconds = interleaved(contenders, rounds=rounds)
        faster = min(("reference float64", "reference float32"), key=lambda key: min(seconds[key]))
        bars = {f"graphrefine, {t} thread{'s' * (t > 1)}": bar for t, bar in BARS.get(name, {}).items()}
        passed &= show(f"{name}: compute only, against {faster}", seconds, against=faster, bars=bars)
    sys.exit(0 if passed else 1)


if __name__ == "__main__":
    main()
