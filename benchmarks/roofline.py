"""The floor of this machine, and the share of it that every product and dense pass of a run reaches.

    python benchmarks/roofline.py [--graph web-google] [--dim 128] [--runs paper,fast,default] [--rounds 3] [--json]

The floor (`machine_probe.py`): memory read, written and copied in order; rows of 128 and 256 bytes gathered at random
from a matrix of 1 GB, by the best of many ways to fetch them ahead; multiplications with additions. On one thread, and
on all.

Then a graph is embedded by the paper's preset and by the tiers, and every call of a kernel is noted. A product gathers
a row of a matrix for each entry of the graph; the bytes of those rows over the seconds of the whole call are its
bandwidth, beside that of random rows of the same size. The bar is 60% of it, for products that gather from a matrix
larger than the cache. The order of the nodes helps, so it can be more than 100%; the share "of the pattern" is that of
a loop which gathers the same rows in the same order and does nothing else. A dense pass stands beside the peak of
multiplications; of a product with a Gram matrix, the seconds that this takes at the peak are not the gathers'.

``--graph`` is a graph of GRAPHREFINE_DATA, or ``generated:EDGES`` with ten edges a node.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from common import graph, machine
from graphrefine.graph.graph import Graph
from graphrefine.methods.registry import make_settings
from graphrefine.pipeline.embed_run import embed_graph
from graphrefine.system.threads import usable_threads
from kernel_calls import Call, Record, best_of, group_calls, recording
from machine_probe import LINE, LINES, LONGEST, Floor, MachineProbe, NoCompilerError, cache_bytes, ways

RUNS = {"paper": {"preset": "paper"}, "fast": {"quality": "fast"}, "default": {"quality": "default"}}
BAR = 0.6  # of the bandwidth of random rows
ROWS = (128, 256)  # bytes: 128 columns of int8 and of bfloat16


def open_graph(name: str) -> Graph:
    """A real graph, or one that is drawn."""
    kind, _, edges = name.partition(":")
    if kind != "generated":
        return graph(name)
    from graphrefine.datasets.generate import power_law

    return power_law(int(float(edges)) // 10, int(float(edges))).graph


def record_run(read: Graph, preset: dict[str, str], *, dim: int, threads: int, rounds: int) -> Record:
    """The calls of a run, each at its best."""
    settings = make_settings("refine", preset.get("preset"), dim=dim, quality=preset.get("quality"))
    each = []
    for _ in range(rounds):
        with recording() as calls:
            embed_graph(read, settings, threads=threads)
        each.append(calls)
    best = Record()
    best.extend(best_of(each))
    best.patterns = each[0].patterns
    return best


def judge(call: Call, floor: Floor, *, large: int) -> dict[str, Any]:
    """A call's bandwidth and rate beside the floor.

    ``reached`` is there for gathers from a matrix of more than ``large`` bytes, which the bar is for.

    Examples
    --------
    >>> from machine_probe import Gathering
    >>> floor = Floor(1, 10.0, 10.0, 10.0, {256: Gathering(8.0, "")}, 100.0)
    >>> call = Call("product", entries=1_000_000, row_bytes=256, matrix_bytes=1 << 30, times=2, seconds=0.1)
    >>> judge(call, floor, large=1 << 25)
    {'gbps': 5.12, 'share': 0.64, 'reached': True}
    >>> judge(Call("rotation", flops=10**9, seconds=0.02), floor, large=1 << 25)
    {'gflops': 50.0, 'peak_share': 0.5}
    """
    figures: dict[str, Any] = {}
    if call.gathered:
        dense = call.flops * call.times / floor.gflops / 1e9  # seconds that a Gram matrix takes at the peak
        figures["gbps"] = call.gathered * call.times / max(call.seconds - dense, call.seconds / 10) / 1e9
        figures["share"] = figures["gbps"] / floor.gather_gbps(call.row_bytes)
        if call.matrix_bytes > large and call.row_bytes >= LINE:
            figures["reached"] = figures["share"] >= BAR
    elif call.flops:
        figures["gflops"] = call.flops * call.times / call.seconds / 1e9
        figures["peak_share"] = figures["gflops"] / floor.gflops
    return figures


class Pattern:
    """Bandwidth of loops that gather the rows of a product in its order, and do nothing else."""

    def __init__(self, rows: NDArray[np.int32], probe: MachineProbe, threads: int) -> None:
        self._rows, self._probe, self._threads = np.concatenate([rows, rows[:1].repeat(LONGEST)]), probe, threads
        self.gbps = cache(self._gbps)

    def _gbps(self, row_bytes: int) -> float | None:
        if row_bytes not in [LINE * lines for lines in LINES]:
            return None
        return self._probe.gather_these(self._rows, row_bytes, self._threads, list(ways())[4:11], repeats=2).gbps


def print_floor(floor: dict[str, Any]) -> None:
    """What a number of threads can do, in some lines."""
    ordered = ", ".join(f"{name} {floor[name]:.1f}" for name in ("read", "write", "copy"))
    print(f"\nthreads: {floor['threads']}; {ordered} GB/s; {floor['gflops']:.0f} Gflop/s")
    for row, best in floor["gather"].items():
        print(f"  random rows of {row} bytes: {best['gbps']:.2f} GB/s ({best['way']})")


def print_call(figures: dict[str, Any]) -> None:
    """A call, or some of the same work, in a line."""
    line = f"  {figures['times']:3}x {figures['name']:44} {figures['seconds'] * 1e3:9.1f} ms"
    if "gbps" in figures:
        gathered = figures["entries"] * figures["row_bytes"] * figures["times"] / 1e9
        line += f"  {figures['rows']:>9,} rows {figures['entries']:>11,} entries {gathered:7.2f} GB gathered"
        line += f" {figures['gbps']:6.2f} GB/s = {figures['share']:4.0%} of random rows"
    elif "gflops" in figures:
        line += (
            f"  {figures['rows']:>9,} rows {figures['gflops']:6.1f} Gflop/s = {figures['peak_share']:4.0%} of the peak"
        )
    if "pattern_share" in figures:
        line += f", {figures['pattern_share']:4.0%} of the pattern"
    if "reached" in figures:
        line += f"  bar {BAR:.0%}: {'reached' if figures['reached'] else 'MISSED'}"
    print(line, flush=True)


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """All figures."""
    probe, counts = MachineProbe(), sorted({int(each) for each in options.threads.split(",")})
    floors = {threads: probe.measure(threads, rows=ROWS) for threads in counts}
    read, large = open_graph(options.graph), cache_bytes()
    runs = []
    for threads, floor in floors.items():
        for name in options.runs.split(","):
            calls = record_run(read, RUNS[name], dim=options.dim, threads=threads, rounds=options.rounds)
            judged = [{**asdict(call), **judge(call, floor, large=large)} for call in group_calls(calls)]
            longest = max(calls.patterns.values(), key=len)  # that of the whole graph
            pattern = Pattern(longest, probe, threads)
            for each in judged:
                if each["entries"] >= len(longest) and "reached" in each and (same := pattern.gbps(each["row_bytes"])):
                    each["pattern_share"] = each["gbps"] / same
            runs.append({"run": name, "threads": threads, "calls": judged})
    return {"machine": machine(), "graph": options.graph, "floors": list(map(asdict, floors.values())), "runs": runs}


def report(figures: dict[str, Any]) -> None:
    """All figures in words."""
    print(figures["machine"])
    for floor in figures["floors"]:
        print_floor(floor)
    for run in figures["runs"]:
        seconds = sum(call["seconds"] for call in run["calls"])
        print(f"\n{figures['graph']}, {run['run']}, threads: {run['threads']}; {seconds:.3f} s in kernels")
        for each in run["calls"]:
            print_call(each)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graph", default="web-google")
    parser.add_argument("--dim", type=int, default=128)
    parser.add_argument("--runs", default=",".join(RUNS))
    parser.add_argument("--threads", default=f"1,{usable_threads(None)}")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    try:
        figures = measure(options)
    except NoCompilerError as problem:
        sys.exit(str(problem))
    if options.json:
        print(json.dumps(figures, indent=2))
    else:
        report(figures)
    missed = any(call.get("reached") is False for run in figures["runs"] for call in run["calls"])
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
