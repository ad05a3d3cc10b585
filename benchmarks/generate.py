"""Time and memory of generating graphs, from a thousand edges up, each in a process of its own.

    python benchmarks/generate.py [--edges 1e3,1e6,1e7,1e8] [--threads 2]

Ten edges a node; a block model of 50 communities with 1.3 labels a node, and a power law. Seconds by the clock and of
the processor (on a machine that others use, the second is the one to compare); memory at its height, and the graph's.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from time import perf_counter, process_time

from common import machine
from graphrefine.datasets import block_model, power_law
from graphrefine.system.memory import PeakMemory, private_bytes


def measure(model: str, edges: int, threads: int) -> dict[str, float]:
    before, start, used = private_bytes(), perf_counter(), process_time()
    nodes = max(edges // 10, 100)
    with PeakMemory() as peak:
        if model == "blocks":
            drawn = block_model(nodes, edges, classes=50, mixing=0.4, labels_per_node=1.3, threads=threads)
        else:
            drawn = power_law(nodes, edges, threads=threads)
    graph = drawn.graph
    assert graph.edges == edges
    return {
        "clock": perf_counter() - start,
        "processor": process_time() - used,
        "peak_mb": (peak.bytes - before) / 1e6,
        "graph_mb": (graph.indptr.nbytes + graph.indices.nbytes + graph.names.nbytes) / 1e6,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--edges", default="1e3,1e6,1e7,1e8")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)  # a model and a number of edges: one measurement
    given = parser.parse_args()
    if given.one:
        print(json.dumps(measure(given.one[0], int(float(given.one[1])), given.threads)))
        return
    print(machine())
    print(f"{'model':8} {'edges':>13} {'clock s':>8} {'processor s':>12} {'peak MB':>9} {'graph MB':>9}")
    for edges in given.edges.split(","):
        for model in ("blocks", "power"):
            typed = [sys.executable, __file__, "--threads", str(given.threads), "--one", model, edges]
            found = json.loads(subprocess.run(typed, capture_output=True, check=True, text=True).stdout)
            seconds = f"{found['clock']:8.2f} {found['processor']:12.2f}"
            memory = f"{found['peak_mb']:9,.1f} {found['graph_mb']:9,.1f}"
            print(f"{model:8} {float(edges):13,.0f} {seconds} {memory}", flush=True)


if __name__ == "__main__":
    main()
