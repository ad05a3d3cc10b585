"""Size of live vectors: memory of an open writer at rest and while it refreshes, and the time of `create`.

    python benchmarks/live/size.py [--graph web-google] [--changes 100000] [--dim 128] [--rounds 2] [--threads 1]
        [--folder FOLDER] [--save]

Memory is what belongs to a process alone (`graphrefine.system.memory`), in arrays of n x dim float32, less what it had
before the folder was opened, and less the graph: neighbors and weights of all rows, once. "at rest" is after changes
in groups of 1,000. Pages of mapped files, which the system can take back, are not in it, and are printed apart.
`create` and `embed` (default tier) take turns. ``--save`` writes docs/results/live-size.json.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np
import psutil

import graphrefine
import graphrefine.live
from graphrefine.graph.graph import Graph
from graphrefine.system.memory import PeakMemory, private_bytes, release_free_memory
from workload import Changes, Edges, apply, at_most, graph, machine, replace_edges, results

REST, REFRESH, TIME = 5.0, 8.0, 4.0  # arrays, arrays, times `embed`


def measure_memory(folder: Path, threads: int) -> bool:
    """Memory of a writer, in this process; whether the bars were reached."""
    sources, targets = np.load(folder / "ends.npy")
    edges = Edges(sources, targets, np.ones(len(sources), np.float32))
    changes = Changes(np.load(folder / "added.npy"), edges)
    warm_up(folder / "warm.live")
    release_free_memory()
    before = private_bytes()
    live = graphrefine.live.open(folder / "graph.live", threads=threads)
    live.auto_refresh = False
    opened = private_bytes()
    array, rows = 4 * len(live) * live.dim, 8 * live._kernel.entries + 8 * len(live)

    def arrays(size: int) -> float:
        return float((size - before - rows) / array)

    sizes = (f"{each / 1e6:.0f} MB" for each in (array, rows, before))
    print("  an array: {}; the graph: {}; before it was opened: {}".format(*sizes))
    print(f"  just opened: {arrays(opened):.2f} arrays", flush=True)
    apply(live, changes, size=1000)
    release_free_memory()
    shared = psutil.Process().memory_info().shared
    print(f"  after {len(changes):,} changes, pages of mapped files: {shared / array:.2f} arrays")
    rest = private_bytes()
    passed = at_most("at rest, beside the graph", arrays(rest), REST, " arrays")
    with PeakMemory() as peak:
        start = perf_counter()
        live.refresh()
        seconds = perf_counter() - start
    passed &= at_most("peak of a refresh, beside the graph", arrays(peak.bytes), REFRESH, " arrays")
    release_free_memory()
    print(f"  after the refresh ({seconds:.1f} s): {arrays(private_bytes()):.2f} arrays")
    live.close()
    memory = {
        "vectors alone": array,
        "graph in memory": rows,
        "memory of the writer, graph included": rest - before,
        "memory of the writer during a refresh": peak.bytes - before,
    }
    (folder / "sizes.json").write_text(json.dumps(memory))
    return passed


def warm_up(path: Path) -> None:
    """Load the modules that a refresh needs."""
    with graphrefine.live.create([(i, (i + 1) % 40) for i in range(40)], path, dim=4) as ring:
        ring.refresh()


def measure_time(whole: Graph, folder: Path, options: argparse.Namespace) -> tuple[bool, dict[str, float]]:
    """`create` against `embed`, and the best of each; the last folder is kept."""
    seconds: dict[str, list[float]] = {"create": [], "embed": []}
    for index in range(options.rounds):
        path = folder / ("graph.live" if index == options.rounds - 1 else f"{index}.live")
        start = perf_counter()
        graphrefine.live.create(whole, path, dim=options.dim, threads=options.threads).close()
        seconds["create"].append(perf_counter() - start)
        start = perf_counter()
        graphrefine.embed(whole, dim=options.dim, threads=options.threads)
        seconds["embed"].append(perf_counter() - start)
    for name, runs in seconds.items():
        print(f"  {name}: {', '.join(f'{each:.1f}' for each in runs)} s, {options.threads} threads", flush=True)
    best = {name: min(runs) for name, runs in seconds.items()}
    return at_most("create, times embed", best["create"] / best["embed"], TIME, "x"), best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graph", default="web-google")
    parser.add_argument("--changes", type=int, default=100_000)
    parser.add_argument("--dim", type=int, default=128)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="where the live vectors are made, for a while")
    parser.add_argument("--save", action="store_true", help="write docs/results/live-size.json")
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        sys.exit(0 if measure_memory(options.child, options.threads) else 1)
    whole = graph(options.graph)
    print(f"{machine()}\n{options.graph}: {whole.nodes:,} nodes, {whole.edges:,} edges, dim {options.dim}", flush=True)
    with tempfile.TemporaryDirectory(dir=options.folder) as place:
        changes = replace_edges(whole, options.changes // 2)
        np.save(Path(place) / "added.npy", changes.added)
        np.save(Path(place) / "ends.npy", np.stack([changes.edges.sources, changes.edges.targets]))
        passed, seconds = measure_time(whole, Path(place), options)
        disk = sum(file.stat().st_size for file in Path(place, "graph.live").rglob("*") if file.is_file())
        command = [sys.executable, __file__, "--child", place, "--threads", str(options.threads)]
        passed &= subprocess.run(command).returncode == 0
        if options.save:
            sizes = {"folder on disk": disk} | json.loads(Path(place, "sizes.json").read_text())
            rows = [[what, f"{size / 1e6:,.0f} MB"] for what, size in sizes.items()]
            rows += [[f"time of `{name}`", f"{each:.1f} s"] for name, each in seconds.items()]
            results.save("live-size", storage=results.Table(["", results.title(options.graph)], rows))
    sys.exit(0 if passed else 1)


if __name__ == "__main__":
    main()
