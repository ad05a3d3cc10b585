"""Compute time of REFINE against `reference.py`: web-google and BlogCatalog, k = 128; the preset paper, and the tiers.

    python benchmarks/speed.py [--rounds 5] [--graphs web-google,blogcatalog] [--tree OTHER/bin/python] [--save]

Reading and writing are not counted. The reference has one thread and works in float32, as graphrefine does: in float64
it takes half as long again. The preset is the paper's own work (b = 16, q = 3) and has the bars; tiers do more of it.
All take turns, and the best of each counts. Beside the wall time stands the processor's, of all threads: on a busy
machine the ratio of the latter is the better measure, but the bars are of the wall.

``--tree`` is the Python of another installation, such as an earlier version: it makes the same runs in a process of its
own, in turn with the others, and the ratio of before to after is printed. ``--save`` writes docs/results/speed.json.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from typing import Any

import numpy as np

import results
from common import data, graph, machine, show
from compute_worker import Seconds, Stopwatch, Worker
from graphrefine.graph.graph import Graph
from graphrefine.system.threads import one_blas_thread
from reproduction import reference

BARS = {
    "web-google": {"paper, 1 thread": 40.0, "paper, 2 threads": 65.0},
    "blogcatalog": {"paper, 1 thread": 8.0},
}
RUNS: dict[str, dict[str, Any]] = {
    f"{name}, {threads} thread{'s' * (threads > 1)}": {**settings, "threads": threads}
    for name, settings in {
        "paper": {"preset": "paper"},
        "fast": {"quality": "fast"},
        "default": {"quality": "default"},
    }.items()
    for threads in (1, 2)
}
TITLES = {"paper": '`preset="paper"`', "fast": '`quality="fast"`', "default": "default"}


def reference_run(read: Graph) -> Callable[[], Seconds]:
    """The method on one page of NumPy, timed."""
    adjacency = read.to_scipy()

    def run() -> Seconds:
        watch = Stopwatch()
        sketch = np.random.default_rng(0).choice(np.array([-1, 1], np.float32), size=(read.nodes, 128))
        with one_blas_thread():
            reference.refine(adjacency, sketch)
        return watch.read()

    return run


def compare(
    name: str, runs: dict[str, dict[str, Any]], tree: str | None, rounds: int
) -> tuple[bool, dict[str, list[float]]]:
    """Time all of them on one graph; whether the bars are reached, and the wall time of each run."""
    with ExitStack() as stack:
        contenders = {"reference": reference_run(graph(name))}
        for label, python in {"": sys.executable, " (other)": tree}.items():
            if python is not None:
                worker = Worker(python, data(f"{name}.mat"))
                stack.callback(worker.close)
                contenders |= {each + label: partial(worker.run, **settings) for each, settings in runs.items()}
        times: dict[str, list[Seconds]] = {each: [] for each in contenders}
        for _ in range(rounds):
            for each, run in contenders.items():
                times[each].append(run())
    wall = {each: [seconds.wall for seconds in runs] for each, runs in times.items()}
    cpu = {each: [seconds.cpu for seconds in runs] for each, runs in times.items()}
    title = f"{name}: compute only, against the reference"
    reached = show(title, wall, against="reference", bars=BARS.get(name, {}), cpu=cpu)
    if tree is not None:
        print(f"\n{name}: {tree} over this installation")
        for each in runs:
            ratios = (min(of[f"{each} (other)"]) / min(of[each]) for of in (wall, cpu))
            print("  {:34} {:7.2f}x of the wall, {:7.2f}x of the processor".format(each, *ratios))
    return reached, wall


def tabulate(runs: dict[str, dict[str, Any]], wall: dict[str, list[float]]) -> results.Table:
    """Best times, and how many times as fast as the reference."""
    best = {name: min(seconds) for name, seconds in wall.items()}
    rows = [["`reference.py`", "1", f"{best['reference']:.3f}", "1"]]
    for name, settings in runs.items():
        ratio = f"{best['reference'] / best[name]:.2f}"
        rows.append([TITLES[name.split(",")[0]], str(settings["threads"]), f"{best[name]:.3f}", ratio])
    return results.Table(["", "threads", "seconds", "times as fast"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="for web-google; five times as many for smaller graphs")
    parser.add_argument("--graphs", default="web-google,blogcatalog")
    parser.add_argument("--runs", default="paper,fast,default", help="some of the presets and tiers")
    parser.add_argument("--tree", metavar="PYTHON", help="the Python of another installation")
    parser.add_argument("--save", action="store_true", help="write docs/results/speed.json")
    options = parser.parse_args()
    print(machine())
    runs = {name: settings for name, settings in RUNS.items() if name.split(",")[0] in options.runs.split(",")}
    found = {
        name: compare(name, runs, options.tree, options.rounds if name == "web-google" else 5 * options.rounds)
        for name in options.graphs.split(",")
    }
    if options.save:
        results.save("speed", (), **{name.replace("-", "_"): tabulate(runs, wall) for name, (_, wall) in found.items()})
    sys.exit(0 if all(reached for reached, _ in found.values()) else 1)


if __name__ == "__main__":
    main()
