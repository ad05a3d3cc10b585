"""A graph and vectors that do not fit into the budget, beside the same in memory: peak, prediction, time.

    python benchmarks/scale/out_of_core.py [--edges 1e8] [--nodes 1e7] [--dim 128] [--memory 6GB] [--threads 2]
        [--rounds 1] [--folder FOLDER]

In memory (a budget of all that the machine has) and within the budget take turns. `--edges 1e6 --nodes 1e5 --memory
200MB` takes a minute.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from inputs import Shape, add_folder, ingested, place
from measuring import Run, bar, command, hundreds, machine, plenty, size, watch
from model import beside


def embedded(graph: Path, folder: Path, *, memory: str, dim: int, threads: int) -> Run:
    out = folder / "vectors"
    words = command("embed", graph, "-o", out, memory=memory, dim=dim, threads=threads, work=folder / "work")
    return watch(words, folder=folder).must()


def told(name: str, run: Run) -> float:
    """Print a run; the distance of its prediction from what was measured."""
    plan = run.plan
    ratio = float(plan["predicted_mb"]) * 1e6 / run.peak
    print(
        f"  {name:10} mode {plan['mode']:9} budget {plan['budget_mb']:9,.0f} MB, "
        f"predicted {plan['predicted_mb']:8,.0f}, measured {run.peak / 1e6:8,.0f} ({hundreds(ratio)}); "
        f"{run.seconds:8.1f} s (compute {run.figures['seconds']['compute']:.1f})",
        flush=True,
    )
    print(f"  {'':10} {beside(run.figures)}")
    return abs(ratio - 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edges", type=size, default=10**8)
    parser.add_argument("--nodes", type=size, default=10**7)
    parser.add_argument("--model", choices=("powerlaw", "rmat"), default="powerlaw")
    parser.add_argument("--dim", type=int, default=128)
    parser.add_argument("--memory", default="6GB")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=1)
    add_folder(parser)
    given = parser.parse_args()
    print(machine())
    runs: dict[str, list[Run]] = {"in memory": [], "budget": []}
    off = 0.0
    with place(given.folder) as folder:
        shape = Shape(given.edges, given.nodes, given.model)
        graph, _ = ingested(shape, folder, threads=given.threads)
        for _ in range(given.rounds):
            for name, memory in (("in memory", plenty()), ("budget", given.memory)):
                runs[name].append(embedded(graph, folder, memory=memory, dim=given.dim, threads=given.threads))
                off = max(off, told(name, runs[name][-1]))
    free, held = (min(run.seconds for run in found) for found in runs.values())
    budget = runs["budget"][0].plan["budget_mb"]
    passed = [
        bar("peak within the budget, as its share", max(r.peak for r in runs["budget"]) / budget / 1e6, most=1),
        bar("prediction and measured peak differ by", 100 * off, most=15, unit="%"),
        bar("time within the budget over time in memory", held / free, most=4),
    ]
    print(f"disk, graph and all: {max(run.disk for run in runs['budget']) / 1e6:,.0f} MB at most")
    sys.exit(not all(passed))


if __name__ == "__main__":
    main()
