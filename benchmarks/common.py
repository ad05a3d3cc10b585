"""What the benchmarks share: the real graphs, interleaved timing, and a line about the machine."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from time import perf_counter

import graphrefine
from graphrefine.display.machine import describe_machine
from graphrefine.display.machine import machine as facts
from graphrefine.graph.graph import Graph

sys.path.append(str(Path(__file__).resolve().parent.parent))  # of `reproduction`: these scripts are run by their path


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


def cpu_seconds(command: list[str]) -> float:
    """Seconds of the processor, user and system, that a command takes in a process of its own.

    Python's compiled modules are written, as they are where packages are installed: the first of some runs may be slow.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def show(
    title: str,
    seconds: Mapping[str, list[float]],
    *,
    against: str,
    bars: Mapping[str, float],
    cpu: Mapping[str, list[float]] | None = None,
) -> bool:
    """Best times and their ratios to one contender, beside the bars they should reach; whether all did.

    ``cpu`` are seconds of the processor, printed beside the others.
    """
    print(f"\n{title}")
    best, passed = {name: min(runs) for name, runs in seconds.items()}, True
    for name, runs in seconds.items():
        line = f"  {name:34} {best[name]:9.3f} s   {best[against] / best[name]:7.2f}x"
        if cpu is not None:
            used = min(cpu[name])
            line += f"   processor {used:9.3f} s {min(cpu[against]) / max(used, 1e-9):7.2f}x"
        if name in bars:
            reached = best[against] / best[name] >= bars[name]
            passed &= reached
            line += f"   bar {bars[name]:g}x: {'reached' if reached else 'MISSED'}"
        print(f"{line}   all runs: {', '.join(f'{s:.3f}' for s in runs)}", flush=True)
    return passed


def machine() -> str:
    return f"{describe_machine(facts())}, graphrefine {graphrefine.__version__}"
