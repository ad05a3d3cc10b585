"""A billion edges on two cores, 24 GB of memory and 70 GB of disk: draw, ingest, embed.

    python benchmarks/scale/billion.py --folder FOLDER [--edges 1e9] [--nodes 4e7] [--dim 64] [--memory 16GB]
        [--stages draw,ingest,embed] [--keep-edges] [--threads 2]

What a stage makes stays in the folder for the next one; the drawn edges are removed once they are ingested, unless they
are to be kept. The bar is that of `embed`: an hour, within the budget. The record to compare with is a graph of a
billion edges in under four hours on one core.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from inputs import Shape, drawn, ingested
from measuring import Run, bar, command, hundreds, machine, size, watch
from model import beside

STAGES = ("draw", "ingest", "embed")


def stages(text: str) -> list[str]:
    chosen = text.split(",")
    if set(chosen) - set(STAGES):
        raise argparse.ArgumentTypeError(f"{text!r}: choose of {', '.join(STAGES)}")
    return chosen


def told(name: str, run: Run) -> None:
    print(
        f"{name}: {run.seconds:,.0f} s, peak {run.peak / 1e6:,.0f} MB, disk at most {run.disk / 1e9:,.1f} GB; "
        f"{', '.join(f'{stage} {seconds:,.1f}' for stage, seconds in run.figures.get('seconds', {}).items())}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--edges", type=size, default=10**9)
    parser.add_argument("--nodes", type=size, default=4 * 10**7)
    parser.add_argument("--model", choices=("powerlaw", "rmat"), default="powerlaw")
    parser.add_argument("--dim", type=int, default=64)
    parser.add_argument("--memory", default="16GB")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--stages", type=stages, default=list(STAGES))
    parser.add_argument("--keep-edges", action="store_true")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    print(machine())
    shape, passed = Shape(given.edges, given.nodes, given.model), True
    if "draw" in given.stages:
        drawn(shape, given.folder, threads=given.threads)
    if "ingest" in given.stages:
        _, run = ingested(shape, given.folder, threads=given.threads, memory=given.memory, keep=given.keep_edges)
        if run is not None:
            told("ingest", run)
    if "embed" in given.stages:
        graph, out = given.folder / f"{shape}.grf", given.folder / "vectors"
        words = command("embed", graph, "-o", out, memory=given.memory, dim=given.dim, threads=given.threads)
        run = watch(words, folder=given.folder).must()
        told(f"embed, mode {run.plan['mode']}, {run.figures['nodes']:,} nodes, {run.figures['edges']:,} edges", run)
        predicted = run.plan["predicted_mb"] * 1e6 / run.peak
        print(beside(run.figures))
        print(f"predicted {run.plan['predicted_mb']:,.0f} MB ({hundreds(predicted)})")
        passed &= bar("peak within the budget, as its share", run.peak / run.plan["budget_mb"] / 1e6, most=1)
        passed &= bar("prediction and measured peak differ by", 100 * abs(predicted - 1), most=15, unit="%")
        passed &= bar("seconds of embed", run.seconds, most=3600, unit=" s")
    sys.exit(not passed)


if __name__ == "__main__":
    main()
