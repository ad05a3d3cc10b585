"""The whole command on web-google: wall time against its own compute time, peak memory, and the forecast of `info`.

    python benchmarks/command.py [--rounds 3] [--threads 2] [--qualities fast,default] [--save]

From a .mat file and from a 4.3-million-line integer edge list to a saved native embedding. Wall time is taken from
outside, interpreter start and all; the peak is what the system says of the finished process. The bars are those of the
default tier. ``--save`` writes docs/results/command.json.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from itertools import product
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

import results
from common import data, graph, machine
from graphrefine.graph.graph import Graph

REST = 5.0  # seconds before each command, so that all find memory as a first command would: not just left by another


def write_edge_list(read: Graph, path: Path) -> None:
    row = np.repeat(np.arange(read.nodes, dtype=np.int32), np.diff(read.indptr))
    once = row < read.indices
    np.savetxt(path, np.stack([row[once], read.indices[once]], axis=1), fmt="%d", delimiter="\t")


def run(*arguments: object) -> tuple[dict[str, Any], float, float]:
    """The JSON of a command, its wall time and its peak memory in MB, both seen from outside."""
    program = [sys.executable, "-m", "graphrefine.cli.main", *map(str, arguments), "--json"]
    wrapped = [sys.executable, __file__, "--measure", *program]
    time.sleep(REST)
    done = subprocess.run(wrapped, capture_output=True, text=True, check=True)
    figures, outside = done.stdout.rsplit("\n@", 1)
    seconds, peak = map(float, outside.split())
    return json.loads(figures), seconds, peak


def measure(program: list[str]) -> None:
    """Run a program as the only child of this process, so that the system's count of the peak is its own."""
    start = time.perf_counter()
    subprocess.run(program, check=True)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    print(f"@{seconds} {peak / 1e6}")


def main() -> None:
    if sys.argv[1:2] == ["--measure"]:
        return measure(sys.argv[2:])
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--qualities", default="default")
    parser.add_argument("--save", action="store_true", help="write docs/results/command.json")
    given = parser.parse_args()
    print(machine())
    read = graph("web-google")
    held = read.indptr.nbytes + read.indices.nbytes
    limit = (held + 2.5 * read.nodes * 128 * 4) / 1e6 + 300
    passed, rows = True, list[list[str]]()
    with tempfile.TemporaryDirectory() as folder:
        listed = Path(folder) / "web-google.txt"
        write_edge_list(read, listed)
        sources = {"MATLAB file": data("web-google.mat"), "text, a line for each edge": listed}
        for quality, (title, source) in product(given.qualities.split(","), sources.items()):
            forecasts, runs = [], []
            options = ("--threads", given.threads, "--quality", quality)
            for _ in range(given.rounds):
                forecasts.append(run("info", source, *options)[0]["predicted"])
                runs.append(run("embed", source, "-o", Path(folder) / "out", *options))
            print(f"\n{source.name}, {quality}, {given.threads} threads")
            for (figures, wall, peak), forecast in zip(runs, forecasts, strict=True):
                spent = figures["seconds"]
                parts = ", ".join(f"{name} {spent[name]:.2f}" for name in ("read", "compute", "write"))
                print(
                    f"  wall {wall:.2f} s ({parts}) = {wall / spent['compute']:.2f}x compute; peak {peak:,.0f} MB; "
                    f"forecast {forecast['compute_seconds']:.2f} s "
                    f"({forecast['compute_seconds'] / spent['compute']:.2f}x), "
                    f"{forecast['peak_mb']:,.0f} MB ({forecast['peak_mb'] / peak:.2f}x)"
                )
            best = min(wall / figures["seconds"]["compute"] for figures, wall, _ in runs)
            most = max(peak for _, _, peak in runs)
            passed &= quality != "default" or (best <= 2.0 and most <= limit)
            print(f"  best wall / compute {best:.2f} (bar 2.00); highest peak {most:,.0f} MB (bar {limit:,.0f} MB)")
            figures, wall, _ = min(runs, key=itemgetter(1))
            rows.append([title, quality, f"{wall:.2f}", f"{figures['seconds']['compute']:.2f}", f"{most:,.0f} MB"])
    if given.save:
        columns = ["input", "quality", "seconds in all", "seconds of computing", "peak memory"]
        results.save("command", whole=results.Table(columns, rows))
    sys.exit(0 if passed else 1)


if __name__ == "__main__":
    main()
