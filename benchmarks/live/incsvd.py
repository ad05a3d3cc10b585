"""Processor time of a new row: live vectors against IncSVD of the package index, on BlogCatalog.

    python -m venv peers && peers/bin/pip install IncSVD==0.2.7
    python benchmarks/live/incsvd.py [--python peers/bin/python] [--graph blogcatalog] [--rows 180] [--dim 128]
        [--tolerance 0.1]

Some nodes, drawn uniformly, are held out and come back with their edges: singly, and all in one go. IncSVD appends rows
to a truncated SVD of the adjacency matrix, by the faster of its exact way ("ZhaSimon") and its approximate ones ("GKL",
"RPI", of rank 10, in two rounds). Live vectors commit each node's edges as a group, on the disk and published, and
bring the vectors of all other nodes up to date, too. One thread; seconds of the processor.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

import graphrefine.live
from graphrefine.graph.graph import Graph
from workload import Changes, Edges, apply, at_least, edges_of, graph, machine

ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
BAR = 50.0  # times as fast, a new row


def peer_seconds(whole: Graph, held: NDArray[np.int64], options: argparse.Namespace) -> dict[str, float]:
    """Seconds of a row by IncSVD, singly and all at once."""
    adjacency = sp.csr_matrix(whole.to_scipy().astype(np.float64))
    stays = np.setdiff1d(np.arange(whole.nodes), held)
    worker = Path(__file__).with_name("incsvd_worker.py")
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{name}.npz" for name in ("first", "later")]
        for path, rows in zip(paths, (stays, held), strict=True):
            sp.save_npz(path, adjacency[rows])
        command = [options.python, str(worker), *map(str, paths), str(options.dim)]
        done = subprocess.run(command, env={**os.environ, **ONE_THREAD}, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"IncSVD failed: {done.stderr.strip().splitlines()[-1]}")
    lines = [line.split() for line in done.stdout.splitlines() if line.startswith("seconds")]
    for _, way, method, seconds in lines:
        print(f"  IncSVD {method:9} {way:7} {float(seconds) * 1e3:9.3f} ms a row")
    return {way: min(float(line[3]) for line in lines if line[1] == way) for way in ("singly", "at-once")}


def live_seconds(whole: Graph, held: NDArray[np.int64], options: argparse.Namespace) -> dict[str, float]:
    """Seconds of a node by live vectors, singly and all at once."""
    first = whole.subgraph(whole.names[np.setdiff1d(np.arange(whole.nodes), held)])
    groups = held_edges(whole, held)
    seconds = {}
    for way in ("singly", "at-once"):
        with tempfile.TemporaryDirectory() as folder:
            live = graphrefine.live.create(
                first, Path(folder) / "first.live", dim=options.dim, tolerance=options.tolerance, threads=1
            )
            live.auto_refresh, made = False, live._kernel.made
            edges = groups if way == "singly" else [Edges.join(groups)]
            changes = [Changes.additions(each) for each in edges if len(each)]
            times = [apply(live, each, size=len(each)) for each in changes]
            seconds[way] = float(sum(each.processor.sum() for each in times)) / len(held)
            wall = float(sum(each.wall.sum() for each in times)) / len(held)
            count, bounds = sum(len(each) for each in edges), live.bounds()
            print(
                f"  live             {way:7} {seconds[way] * 1e3:9.3f} ms a row ({wall * 1e3:.3f} ms of the clock); "
                f"{count / len(held):.1f} edges and {(live._kernel.made - made) / len(held):.0f} vectors made anew a "
                f"row, {np.mean(bounds <= options.tolerance):.1%} of bounds within {options.tolerance:g}",
                flush=True,
            )
            live.close()
    return seconds


def held_edges(whole: Graph, held: NDArray[np.int64]) -> list[Edges]:
    """Edges of each held-out node to the nodes that are there before it, by names."""
    edges = edges_of(whole)
    place = np.full(whole.nodes, -1)
    place[held] = np.arange(len(held))
    last = np.maximum(place[edges.sources], place[edges.targets])
    return [
        Edges(whole.names[edges.sources[last == i]], whole.names[edges.targets[last == i]], edges.weights[last == i])
        for i in range(len(held))
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default=sys.executable, help="the interpreter that has IncSVD")
    parser.add_argument("--graph", default="blogcatalog")
    parser.add_argument("--rows", type=int, default=180)
    parser.add_argument("--dim", type=int, default=128)
    parser.add_argument("--tolerance", type=float, default=0.1)
    options = parser.parse_args()
    whole = graph(options.graph)
    print(f"{machine()}, one thread")
    print(f"{options.graph}: {whole.nodes:,} nodes, {whole.edges:,} edges, {options.rows} held out")
    held = np.random.default_rng(0).choice(whole.nodes, options.rows, replace=False)
    theirs, ours = peer_seconds(whole, held, options), live_seconds(whole, held, options)
    ratios = [at_least(f"{way}: times as fast as IncSVD", theirs[way] / ours[way], BAR, "x") for way in ours]
    sys.exit(0 if all(ratios) else 1)


if __name__ == "__main__":
    main()
