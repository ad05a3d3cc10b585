"""Time of DeepWalk against PecanPy (walks in Numba, word2vec of gensim), with the paper's settings on BlogCatalog.

    python -m venv peers && peers/bin/pip install pecanpy
    python benchmarks/deepwalk.py --peers peers/bin/python [--threads 2] [--rounds 1] [--graph blogcatalog]

80 walks of 40 nodes from each node, window 10, 128 dimensions, 5 negatives, one epoch. Each contender runs in a process
of its own, the graph already in memory and PecanPy's walks already compiled. PecanPy has an environment of its own, as
it needs other versions of NumPy than graphrefine's tests. (The package node2vec prepares a table for every pair of
successive edges, some 10^8 entries here, and is not run.)
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def contend(contender: str, edges: Path, walks: int, threads: int) -> None:
    """Print the seconds of one contender; PecanPy's environment has no graphrefine."""
    if contender == "graphrefine":
        import graphrefine
        from graphrefine.methods.registry import make_settings
        from graphrefine.pipeline.embed_run import embed_graph

        graph = graphrefine.read(edges)
        start = time.perf_counter()
        embed_graph(graph, make_settings("deepwalk", walks=walks), method="deepwalk", threads=threads)
    else:
        from pecanpy.pecanpy import FirstOrderUnweighted

        peer = FirstOrderUnweighted(p=1, q=1, workers=threads)
        peer.read_edg(str(edges), weighted=False, directed=False)
        peer.simulate_walks(1, 5)
        start = time.perf_counter()
        peer.embed(dim=128, num_walks=walks, walk_length=39, window_size=10, epochs=1)  # 39 steps: 40 nodes
    print(json.dumps({"seconds": time.perf_counter() - start}))


def run(python: str, arguments: list[str]) -> float:
    done = subprocess.run([python, __file__, *arguments], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(arguments)} failed: {done.stderr.strip().splitlines()[-1]}")
    return float(json.loads(done.stdout.splitlines()[-1])["seconds"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", default=sys.executable, help="the Python in which pecanpy is installed")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--walks", type=int, default=80)
    parser.add_argument("--graph", default="blogcatalog")
    parser.add_argument("--contender", nargs=2, metavar=("NAME", "EDGES"))
    given = parser.parse_args()
    if given.contender:
        return contend(given.contender[0], Path(given.contender[1]), given.walks, given.threads)

    from common import graph, machine, show

    print(machine())
    seconds: dict[str, list[float]] = {"graphrefine": [], "pecanpy": []}
    with tempfile.TemporaryDirectory() as folder:
        edges, read = Path(folder) / "edges.txt", graph(given.graph).to_scipy().tocoo()
        once = read.row < read.col
        lines = (f"{u}\t{v}" for u, v in zip(read.row[once].tolist(), read.col[once].tolist(), strict=True))
        edges.write_text("\n".join(lines) + "\n")
        options = ["--walks", str(given.walks), "--threads", str(given.threads)]
        for _ in range(given.rounds):
            for name, runs in seconds.items():
                python = given.peers if name == "pecanpy" else sys.executable
                runs.append(run(python, ["--contender", name, str(edges), *options]))
    title = f"{given.graph}, DeepWalk, {given.walks} walks, {given.threads} threads: against PecanPy"
    sys.exit(0 if show(title, seconds, against="pecanpy", bars={"graphrefine": 1.0}) else 1)


if __name__ == "__main__":
    main()
