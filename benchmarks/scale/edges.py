"""Draw the edges of a random graph straight to disk, and say how fast.

    python benchmarks/scale/edges.py --model powerlaw --nodes 4e7 --edges 1e9 -o FOLDER [--threads 2] [--seed 0]

The bar is that of a billion edges in eight minutes on two cores.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from time import perf_counter

from edge_streams import write_edges
from graphrefine.display.console import progress_bar
from graphrefine.system.threads import usable_threads
from measuring import bar, folder_bytes, machine, size


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=("powerlaw", "rmat"), default="powerlaw")
    parser.add_argument("--nodes", type=size, required=True)
    parser.add_argument("--edges", type=size, required=True)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int)
    given = parser.parse_args()
    print(machine())
    start = perf_counter()
    with progress_bar() as watcher:
        write_edges(
            given.output,
            given.model,
            nodes=given.nodes,
            edges=given.edges,
            seed=given.seed,
            threads=given.threads,
            watcher=watcher,
        )
    seconds = perf_counter() - start
    print(
        f"{given.model}, {given.nodes:,} nodes, {given.edges:,} edges, {usable_threads(given.threads)} threads: "
        f"{seconds:.1f} s, {given.edges / seconds / 1e6:.1f} million edges/s, "
        f"{folder_bytes(given.output) / 1e6:,.0f} MB of files"
    )
    sys.exit(not bar("seconds for a billion edges", 1e9 * seconds / given.edges, most=480, unit=" s"))


if __name__ == "__main__":
    main()
