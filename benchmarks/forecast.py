"""How far `graphrefine info` is off: predicted compute time and peak memory against what `embed` then measures.

    python benchmarks/forecast.py [--rounds 3] [--threads 1,2]

Each forecast and the run it foretells are processes of their own, one after the other, each after a rest: on a virtual
machine, memory that another process has just left is many times faster to take than memory that the host must find.
The bar is 25% for the median of the rounds.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from statistics import median

import scipy.sparse as sp

from command import run
from common import data, machine
from graphrefine.datasets.generate import block_model, power_law

GRAPHS = (
    "ppi", "wikipedia-pos", "blogcatalog", "flickr-8k-subset", "youtube-77k-groups", "npm-dependencies", "web-google",
)  # fmt: skip
GENERATED = {"power-law": (power_law, 100_000, 1_000_000), "groups": (block_model, 300_000, 1_100_000)}


def source(name: str, folder: Path) -> Path:
    """The file of a graph; one that is generated is written first."""
    if name not in GENERATED:
        return data("npm-dependencies.tsv.gz" if name == "npm-dependencies" else f"{name}.mat")
    path = folder / f"{name}.npz"
    if not path.exists():
        make, nodes, edges = GENERATED[name]
        sp.save_npz(path, make(nodes, edges).graph.to_scipy())
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--graphs", default=",".join([*GRAPHS, *GENERATED]))
    given = parser.parse_args()
    print(machine())
    print(f"{'graph':22} threads   predicted / measured seconds (ratio)   predicted / measured MB (ratio)")
    within = True
    with tempfile.TemporaryDirectory() as folder:
        for name in given.graphs.split(","):
            for threads in given.threads.split(","):
                seconds, memory, shown = [], [], []
                for _ in range(given.rounds):
                    path = source(name, Path(folder))
                    forecast = run("info", path, "--threads", threads)[0]["predicted"]
                    figures = run("embed", path, "-o", Path(folder) / "out", "--threads", threads)[0]
                    compute, peak = figures["seconds"]["compute"], figures["peak_mb"]
                    seconds.append(forecast["compute_seconds"] / compute)
                    memory.append(forecast["peak_mb"] / peak)
                    shown.append((forecast["compute_seconds"], compute, forecast["peak_mb"], peak))
                middle = shown[seconds.index(sorted(seconds)[len(seconds) // 2])]
                ok = abs(median(seconds) - 1) <= 0.25 and abs(median(memory) - 1) <= 0.25
                within &= ok
                print(
                    f"{name:22} {threads:>7}   {middle[0]:9.3f} / {middle[1]:8.3f} ({median(seconds):.2f})"
                    f"   {middle[2]:14,.0f} / {middle[3]:6,.0f} ({median(memory):.2f})   {'' if ok else 'MISSED'}",
                    flush=True,
                )
    sys.exit(0 if within else 1)


if __name__ == "__main__":
    main()
