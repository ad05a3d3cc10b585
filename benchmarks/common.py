"""What the benchmarks share: the real graphs, interleaved timing, and a line about the machine."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from time import perf_counter

import graphrefine
from graphrefine.graph.graph import Graph
from graphrefine.visuals.machine import describe_machine
from graphrefine.visuals.machine import machine as facts


def data(name: str) -> Path:
    folder = os.environ.get("GRAPHREFINE_DATA")
    if not folder:
        sys.exit("set GRAPHREFINE_DATA to the folder with the real graphs")
    return Path(folder) / name


def graph(name: str) -> Graph:
    return graphrefine.read(data(f"{name}.mat"))


def interleaved(contenders: Mapping[str, Callable[[], object]], *, rounds: int) -> dict[str, list[float]]:
    """Seconds of each contender in each round; within a round they take turns, so that noise meets all of them."""
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, run in contenders.items():
            start = perf_counter()
            run()
            seconds[name].append(perf_counter() - start)
    return seconds


def show(title: str, seconds: Mapping[str, list[float]], *, against: str, bars: Mapping[str, float]) -> bool:
    """Best times and their ratios to one contender, beside the bars they should reach; whether all did."""
    print(f"\n{title}")
    best, passed = {name: min(runs) for name, runs in seconds.items()}, True
    for name, runs in seconds.items():
        line = f"  {name:34} {best[name]:9.3f} s   {best[against] / best[name]:7.2f}x"
        if name in bars:
            reached = best[against] / best[name] >= bars[name]
            passed &= reached
            line += f"   bar {bars[name]:g}x: {'reached' if reached else 'MISSED'}"
        print(f"{line}   all runs: {', '.join(f'{s:.3f}' for s in runs)}", flush=True)
    return passed


def machine() -> str:
    return f"{describe_machine(facts())}, graphrefine {graphrefine.__version__}"
