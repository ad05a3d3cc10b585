"""How time and memory grow with the graph, in memory: seconds and bytes per edge and per node from 1e6 to 1e8 edges.

    python benchmarks/scale/growth.py [--sizes 1e6,1e7,1e8] [--dim 128] [--threads 2] [--rounds 2] [--folder FOLDER]

A node has ten edges. Memory is told apart by a second graph with as many nodes and half of the edges: what it needs
less is the edges'; the rest, less what a tiny graph needs, is the nodes'. Caches are printed beside, for a product
gathers rows of a matrix of (nodes, dim) in bfloat16: it slows down in steps, where that outgrows them.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from inputs import Shape, add_folder, ingested, place
from measuring import Run, bar, command, machine, plenty, size, watch
from model import beside

TINY = Shape(10_000, 1_000)


def caches() -> str:
    """The caches of the first processor, as the system lists them."""
    found = []
    for cache in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        level, kind, total = ((cache / name).read_text().strip() for name in ("level", "type", "size"))
        found.append(f"L{level} {kind.lower()} {total}")
    return ", ".join(found) or "not told by the system"


def best(shape: Shape, folder: Path, *, dim: int, threads: int, rounds: int) -> Run:
    """The fastest of some runs in memory."""
    graph, _ = ingested(shape, folder, threads=threads)
    words = command("embed", graph, "-o", folder / "vectors", dim=dim, threads=threads, memory=plenty())
    return min((watch(words).must() for _ in range(rounds)), key=lambda run: run.figures["seconds"]["compute"])


def spread(values: list[float]) -> float:
    return max(values) / min(values)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=lambda text: [size(part) for part in text.split(",")], default="1e6,1e7,1e8")
    parser.add_argument("--dim", type=int, default=128)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=2)
    add_folder(parser)
    given = parser.parse_args()
    print(f"{machine()}\ncaches: {caches()}\n")
    each, per_edge, per_node = [], [], []
    with place(given.folder) as folder:
        base = best(TINY, folder, dim=given.dim, threads=given.threads, rounds=1).peak
        print(f"a graph of {TINY.nodes:,} nodes: peak {base / 1e6:,.0f} MB")
        for edges in given.sizes:
            options = {"dim": given.dim, "threads": given.threads}
            whole = best(Shape(edges, edges // 10), folder, rounds=given.rounds, **options)
            half = best(Shape(edges // 2, edges // 10), folder, rounds=1, **options)
            drawn, nodes = whole.figures["edges"], whole.figures["nodes"]
            compute = whole.figures["seconds"]["compute"]
            each.append(1e9 * compute / drawn)
            per_edge.append((whole.peak - half.peak) / (drawn - half.figures["edges"]))
            per_node.append((whole.peak - base - per_edge[-1] * drawn) / nodes)
            print(
                f"{drawn:>13,} edges, {nodes:>11,} nodes: compute {compute:8.2f} s = {each[-1]:7.1f} ns/edge; gathered "
                f"matrix {2 * nodes * given.dim / 1e6:8,.0f} MB; peak {whole.peak / 1e6:8,.0f} MB = "
                f"{per_edge[-1]:5.1f} bytes/edge + {per_node[-1]:6.0f} bytes/node",
                flush=True,
            )
            print(f"{'':14}{beside(whole.figures)}")
    print()
    passed = bar("time per edge, largest over smallest", spread(each), most=4)
    for name, values in (("edge", per_edge), ("node", per_node)):
        print(f"bytes per {name}, from size to size: {', '.join(f'{value:.1f}' for value in values)}")
    sys.exit(not passed)


if __name__ == "__main__":
    main()
