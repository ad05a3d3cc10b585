"""Memory of `graphrefine embed` within a budget: predicted, and measured from outside, stage by stage.

    python benchmarks/memory.py [--budgets 400MB,150MB] [--nodes 60000] [--edges 300000] [--formats npy,csv] [--save]
        [-- OPTION ...]

A random graph, as a file of text and as a graph on disk, is embedded into every format of a file. The measure is memory
that belongs to the processes alone (`graphrefine.system.memory`), of the command and all that it starts, looked at
every 5 ms by another process. A run is OK if neither its prediction nor its peak in any stage is above the budget,
and the prediction is not below the peak. ``--save`` writes docs/results/memory.json.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import psutil

import results
from graphrefine.embedding.formats import FORMATS
from graphrefine.system.memory import INTERVAL, parse_size, tree_bytes

# The command, with a note of each stage's beginning in a file: the clock is the same in all processes.
COMMAND = """
import sys, time
from contextlib import contextmanager
from graphrefine import progress
plain, notes = progress.Stages.stage, open(sys.argv.pop(1), "w", buffering=1)
@contextmanager
def stage(self, name, *, steps=1):
    notes.write(f"{time.monotonic()} {name}\\n")
    with plain(self, name, steps=steps):
        yield
    notes.write(f"{time.monotonic()} between\\n")
progress.Stages.stage = stage
from graphrefine.cli.main import main
sys.exit(main())
"""


@dataclass(frozen=True)
class Measurement:
    """One run of the command: what it said, and its memory."""

    code: int
    figures: dict[str, Any]  # of --json
    words: str  # on standard error
    peaks: dict[str, int]  # bytes, by stage

    @property
    def peak(self) -> int:
        """Bytes at the height."""
        return max(self.peaks.values())


def measure(*arguments: object) -> Measurement:
    """Run the command in a process of its own, and look at its memory until it ends."""
    with tempfile.TemporaryDirectory() as folder:
        notes, output, errors = (Path(folder) / name for name in ("notes", "output", "errors"))
        command = [sys.executable, "-c", COMMAND, str(notes), *map(str, arguments), "--json"]
        samples = []
        with output.open("w") as out, errors.open("w") as err:
            process = subprocess.Popen(command, stdout=out, stderr=err)
            while process.poll() is None:
                try:
                    samples.append((time.monotonic(), tree_bytes(process.pid)))
                except psutil.Error:  # it has ended meanwhile
                    continue
                time.sleep(INTERVAL)
        stages = [line.split() for line in notes.read_text().splitlines()]
        starts, names = [float(at) for at, _ in stages], ["start", *(name for _, name in stages)]
        peaks: dict[str, int] = {}
        for at, size in samples:
            name = names[int(np.searchsorted(starts, at))]
            peaks[name] = max(peaks.get(name, 0), size)
        figures = json.loads(output.read_text()) if process.returncode == 0 else {}
        return Measurement(process.returncode, figures, errors.read_text(), peaks)


def write_graph(path: Path, *, nodes: int, edges: int) -> None:
    """A random graph with hubs, one edge a line."""
    rng = np.random.default_rng(0)
    ends = [rng.integers(0, nodes, edges), (nodes * rng.random(edges) ** 2).astype(np.int64)]
    np.savetxt(path, np.column_stack(ends), fmt="%d")


def judge(run: Measurement, budget: int) -> str:
    """OK, or what was missed."""
    if run.code != 0:
        return f"MISSED: {run.words.strip().splitlines()[-1]}"
    predicted = run.figures["plan"]["predicted_mb"] * 1e6
    if max(run.peak, predicted) > budget:
        return "MISSED: above the budget"
    return "OK" if run.peak <= predicted else "MISSED: above the prediction"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--budgets", default="400MB,150MB")
    parser.add_argument("--nodes", type=int, default=60_000)
    parser.add_argument("--edges", type=int, default=300_000)
    parser.add_argument("--formats", default=",".join(each.name for each in FORMATS))
    parser.add_argument("--save", action="store_true", help="write docs/results/memory.json")
    parser.add_argument("options", nargs="*", help="Further options of the command.")
    options = parser.parse_args()
    within, rows = True, list[list[str]]()
    with tempfile.TemporaryDirectory() as folder:
        listed, stored = Path(folder) / "graph.txt", Path(folder) / "graph.grf"
        write_graph(listed, nodes=options.nodes, edges=options.edges)
        measure("ingest", listed, "-o", stored)
        for graph, budget in product((listed, stored), options.budgets.split(",")):
            print(f"\n{graph.suffix} ({options.nodes:,} nodes, {options.edges:,} edges), budget {budget}")
            print(f"{'format':16} {'mode':9} predicted   peak  printed   by stage, MB")
            for name in options.formats.split(","):
                out = Path(folder) / f"out.{name}"
                run = measure("embed", graph, "-o", out, "--output-format", name, "--memory", budget, *options.options)
                verdict = judge(run, parse_size(budget))
                within &= verdict == "OK"
                plan = run.figures.get("plan", {"mode": "-", "predicted_mb": 0.0})
                peaks = ", ".join(f"{stage} {size / 1e6:.0f}" for stage, size in run.peaks.items())
                print(
                    f"{name:16} {plan['mode']:9} {plan['predicted_mb']:9.1f} {run.peak / 1e6:6.1f} "
                    f"{run.figures.get('peak_mb', 0.0):8.1f}   {peaks}   {verdict}",
                    flush=True,
                )
                sizes = (f"{size:.1f} MB" for size in (plan["predicted_mb"], run.peak / 1e6))
                rows.append([f"`{graph.suffix}`", name, plan["mode"], budget, *sizes])
    if options.save:
        columns = ["input", "format", "mode", "budget", "predicted", "measured"]
        results.save("memory", peak=results.Table(columns, rows))
    sys.exit(0 if within else 1)


if __name__ == "__main__":
    main()
