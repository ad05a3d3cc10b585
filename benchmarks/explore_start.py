"""How long ``graphrefine explore`` takes to begin, on a million nodes: until it answers, until the map can be drawn.

python benchmarks/explore_start.py [--nodes 1000000] [--dim 128] [--runs 3]

The embedding is random vectors around 200 centers, in a temporary folder; a run is a process of its own. "answers" is
from its launch until ``/healthz`` does, with the vectors memory-mapped; "coordinates" from then until all of
``/api/coordinates`` has arrived. The best of the runs counts, and all are shown.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from time import perf_counter, sleep

import numpy as np

from common import machine
from explore_serving import Served, fetch, read_options
from graphrefine.embedding.embedding import Embedding

ANSWERS, COORDINATES = 2.0, 3.0  # seconds: the bars


def make_embedding(folder: Path, nodes: int, dim: int) -> Path:
    draw = np.random.default_rng(0)
    vectors = 0.3 * draw.standard_normal((nodes, dim), np.float32)
    vectors += draw.standard_normal((200, dim), np.float32)[draw.integers(0, 200, nodes)]
    Embedding([f"node {i}" for i in range(nodes)], vectors).save(folder / "random")
    return folder / "random"


def run(path: Path, nodes: int) -> tuple[float, float]:
    """Seconds until it answers, and from then until the coordinates are there."""
    start = perf_counter()
    with Served(path) as server:
        while fetch(server.port, "/healthz") is None:
            sleep(0.005)
        answers = perf_counter() - start
        while (coordinates := fetch(server.port, "/api/coordinates?layout=pca")) is None:
            sleep(0.02)
        arrived = perf_counter() - start - answers
        assert len(coordinates) == 8 * nodes, "x and y of every node"
        return answers, arrived


def main() -> None:
    options = read_options(__doc__)
    print(machine())
    with tempfile.TemporaryDirectory() as folder:
        path = make_embedding(Path(folder), options.nodes, options.dim)
        runs = [run(path, options.nodes) for _ in range(options.runs)]
    print(f"{options.nodes:,} nodes x {options.dim}, best of {options.runs}")
    passed = True
    for name, seconds, bar in zip(
        ("answers", "coordinates"), zip(*runs, strict=True), (ANSWERS, COORDINATES), strict=True
    ):
        reached = min(seconds) < bar
        passed &= reached
        every = ", ".join(f"{each:.2f}" for each in seconds)
        verdict = "reached" if reached else "MISSED"
        print(f"  {name:12} {min(seconds):6.2f} s   bar {bar:g} s: {verdict}   all runs: {every}")
    sys.exit(not passed)


if __name__ == "__main__":
    main()
