"""Dask with two local workers: the in-memory vectors, both workers busy, a worker killed and survived, the overhead.

    python benchmarks/scale/cluster.py [--edges 1e6] [--nodes 6e4] [--dim 128] [--threads 1] [--rounds 3]
        [--skip-overhead] [--folder FOLDER]

The graph is small enough for the engine in memory to leave its rows in their order: then the bits are the same. Larger
ones are put into another order there, sums over all nodes differ in their last bits, and bfloat16 makes those visible.
The overhead is that on web-google (GRAPHREFINE_DATA): the computing of both, and beside it the whole commands, in which
the cluster has to be started.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import graphrefine
from inputs import Shape, add_folder, ingested, place
from measuring import Run, bar, command, data, machine, plenty, processes, size, watch

DASK = {"executor": "dask", "workers": 2}
WORKING = (b"multiprocessing.spawn", b"multiprocessing.forkserver", b"distributed", b"dask")


def vectors(path: Path) -> NDArray[np.float32]:
    return np.asarray(graphrefine.load(path).vectors)


def difference(ours: NDArray[Any], theirs: NDArray[Any]) -> float:
    """The largest difference after the best rotation of one onto the other."""
    U, _, V = np.linalg.svd(ours.T.astype(np.float64) @ theirs)
    return float(np.abs(ours @ (U @ V) - theirs).max())


def compared(name: str, ours: NDArray[Any], theirs: NDArray[Any]) -> bool:
    """Print how far two embeddings are apart; whether it is within the bar."""
    if np.array_equal(ours.view(np.uint32), theirs.view(np.uint32)):
        print(f"{name}: the same to the bit")
        return True
    plain = float(np.abs(ours - theirs).max())
    print(f"{name}: not the same to the bit; largest difference {plain:.2e} as they are")
    return bar(f"{name}: after alignment", difference(ours, theirs), most=1e-3)


def kill_a_worker(root: int) -> None:
    """SIGKILL for the process below `root` that works as a worker and holds the most memory; without one, the end."""
    found = []
    for pid in processes(root):
        with contextlib.suppress(OSError):
            words = Path("/proc", str(pid), "cmdline").read_bytes()
            pages = int(Path("/proc", str(pid), "statm").read_text().split()[1])
            if pid != root and any(word in words for word in WORKING) and b"resource_tracker" not in words:
                found.append((pages, pid))
    if not found:
        sys.exit("no worker was found to kill: nothing was shown")
    print(f"  one of {len(found)} workers killed")
    os.kill(max(found)[1], signal.SIGKILL)


def busy(run: Run) -> bool:
    """Print what each worker did; whether all did something."""
    workers = run.figures.get("workers", [])
    for worker in workers:
        read, written = worker["bytes_read"] / 1e6, worker["bytes_written"] / 1e6
        print(f"  {worker['name']}: {worker['blocks']:,} blocks, {read:,.0f} MB read, {written:,.0f} MB written")
    return len(workers) >= 2 and all(worker["blocks"] > 0 for worker in workers)


def overhead(folder: Path, *, dim: int, threads: int, rounds: int) -> bool:
    """Print the times of both on web-google, in turn; whether the ratio is within the bar."""
    graph = folder / "web-google.grf"
    watch(command("ingest", data("web-google.mat"), "-o", graph)).must()
    compute: dict[str, list[float]] = {"local": [], "dask": []}
    whole: dict[str, list[float]] = {"local": [], "dask": []}
    for _ in range(rounds):
        for name, options in (("local", {"threads": 2 * threads}), ("dask", {"threads": threads, **DASK})):
            run = watch(command("embed", graph, "-o", folder / name, dim=dim, memory=plenty(), **options)).must()
            compute[name].append(run.figures["seconds"]["compute"])
            whole[name].append(run.seconds)
    for title, seconds in (("computing", compute), ("whole command", whole)):
        for name, runs in seconds.items():
            print(f"  web-google, {title}, {name:5}: {', '.join(f'{one:.2f}' for one in runs)} s")
    print(f"  whole commands: {min(whole['dask']) / min(whole['local']):.2f}x")
    return bar("web-google: Dask over local, computing", min(compute["dask"]) / min(compute["local"]), most=2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edges", type=size, default=10**6)
    parser.add_argument("--nodes", type=size, default=6 * 10**4)
    parser.add_argument("--dim", type=int, default=128)
    parser.add_argument("--threads", type=int, default=1, help="of each worker")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--skip-overhead", action="store_true", help="for want of web-google")
    add_folder(parser)
    given = parser.parse_args()
    print(machine())
    options: dict[str, object] = {"dim": given.dim, "memory": plenty(), "threads": given.threads}
    with place(given.folder) as folder:
        graph, _ = ingested(Shape(given.edges, given.nodes), folder, threads=given.threads)
        local = watch(command("embed", graph, "-o", folder / "local", **options)).must()
        wanted = vectors(folder / "local")
        words = command("embed", graph, "-o", folder / "dask", **options, **DASK)
        run = watch(words).must()
        print(f"local {local.seconds:.1f} s, dask {run.seconds:.1f} s, {run.plan.get('blocks')} blocks")
        passed = compared("two workers", vectors(folder / "dask"), wanted)
        passed &= busy(run)
        first = vectors(folder / "dask").copy()
        survived = watch(words, after=run.seconds / 2, then=kill_a_worker).must()
        passed &= compared("a worker killed", vectors(folder / "dask"), wanted)
        same = np.array_equal(first, vectors(folder / "dask"))
        print(f"  beside the undisturbed one: {'identical' if same else 'DIFFERENT'}")
        busy(survived)
        if not given.skip_overhead:
            passed &= overhead(folder, dim=given.dim, threads=given.threads, rounds=given.rounds)
    sys.exit(not passed)


if __name__ == "__main__":
    main()
