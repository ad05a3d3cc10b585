"""Seconds per edge in memory, from a million edges to a hundred million: tier fast, 128 numbers a node.

    python benchmarks/per_edge.py [--sizes 1e6,1e7,1e8] [--threads 2] [--model power] [--rounds 5]

A generated graph with ten edges a node: a power law without any structure, the hardest order of memory there is, or
``--model blocks``, 50 communities. Each size has a process of its own; drawing the graph is not counted, and small
sizes have more rounds. A product gathers rows of a matrix of (nodes, dim): where that outgrows the cache an edge costs
more. The bars: the largest within three times the smallest per edge, and its memory within 24 GB.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from typing import Any

from common import machine
from compute_worker import Stopwatch
from graphrefine.datasets import block_model, power_law
from graphrefine.methods.registry import make_settings
from graphrefine.pipeline.embed_run import embed_graph
from graphrefine.system.memory import PeakMemory

EDGES_A_NODE = 10
WORK = 50_000_000  # edges in all rounds of a size, if there are several
GROWTH = 3.0  # the bar: largest over smallest, per edge
MEMORY = 24e9  # the bar: bytes of the largest


def count_rounds(edges: int, most: int) -> int:
    """Rounds of a size: more where one is short, as a short one is disturbed more easily.

    Examples
    --------
    >>> count_rounds(1_000_000, 5), count_rounds(10_000_000, 5), count_rounds(100_000_000, 5)
    (5, 5, 1)
    """
    return max(1, min(most, WORK // edges))


def measure(edges: int, options: argparse.Namespace) -> dict[str, Any]:
    """The best round of a size, and the peak of memory; the graph is held meanwhile."""
    nodes = edges // EDGES_A_NODE
    if options.model == "blocks":
        graph = block_model(nodes, edges, classes=50, threads=options.threads).graph
    else:
        graph = power_law(nodes, edges, threads=options.threads).graph
    settings, times = make_settings("refine", None, dim=options.dim, quality="fast"), []
    with PeakMemory() as peak:
        for _ in range(count_rounds(edges, options.rounds)):
            watch = Stopwatch()
            embed_graph(graph, settings, threads=options.threads)
            times.append(watch.read())
    best = {"wall": min(each.wall for each in times), "cpu": min(each.cpu for each in times)}
    return {"edges": graph.edges, "nodes": graph.nodes, "rounds": len(times), "peak": peak.bytes, **best}


def report(sizes: list[dict[str, Any]], dim: int) -> bool:
    """Figures of all sizes beside those of the first; whether the bars are reached."""
    first = sizes[0]
    for each in sizes:
        wall, cpu = (each[name] / each["edges"] * 1e9 for name in ("wall", "cpu"))
        growth, used = (each[name] / each["edges"] * first["edges"] / first[name] for name in ("wall", "cpu"))
        print(
            f"{each['edges']:>13,} edges, {each['nodes']:>11,} nodes: {each['wall']:8.2f} s = {wall:7.1f} ns/edge "
            f"({growth:.2f}x the first), processor {each['cpu']:8.2f} s = {cpu:7.1f} ns/edge ({used:.2f}x); "
            f"gathered matrix {2 * each['nodes'] * dim / 1e6:7,.0f} MB in bfloat16; peak {each['peak'] / 1e9:5.2f} GB",
            flush=True,
        )
    last = sizes[-1]
    growth = last["wall"] / last["edges"] * first["edges"] / first["wall"]
    figures = {f"per edge {growth:.2f}x, bar {GROWTH:g}x": growth <= GROWTH}
    figures[f"memory {last['peak'] / 1e9:.1f} GB, bar {MEMORY / 1e9:g} GB"] = last["peak"] <= MEMORY
    for text, reached in figures.items():
        print(f"{last['edges']:,} edges: {text}: {'reached' if reached else 'MISSED'}")
    return all(figures.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="1e6,1e7,1e8")
    parser.add_argument("--dim", type=int, default=128)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--model", choices=("power", "blocks"), default="power")
    parser.add_argument("--one", type=float, help=argparse.SUPPRESS)  # a number of edges: one measurement
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(int(options.one), options)))
        return
    print(f"{machine()}, threads: {options.threads}")
    sizes = []
    for edges in options.sizes.split(","):
        command = [sys.executable, __file__, *sys.argv[1:], "--one", edges]
        sizes.append(json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout))
    sys.exit(0 if report(sizes, options.dim) else 1)


if __name__ == "__main__":
    main()
