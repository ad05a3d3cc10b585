"""Time and quality of graphrefine beside the packages that people install: 128 dimensions, one thread, their defaults.

    python -m venv peers && peers/bin/pip install fastrp pycleora scikit-network nodevectors pecanpy
    python benchmarks/peers.py --python peers/bin/python [--rounds 3] [--limit 20] [--only fastrp,pycleora] [--save]

Each run has a process of its own, and the tools take turns. Seconds are those of the computation on an adjacency matrix
in memory, the best of the rounds on a graph. A tool that takes more than a minute on a graph has one round there, and
one that takes longer than the limit in minutes has none. F1 is the Micro F1 with half of the labels known (10 splits,
C = 1, unit rows), of the same vectors. ``--save`` writes docs/results/peers.json.
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

import results
from common import data, graph, machine
from graphrefine.evaluate import evaluate_labels, read_labels
from peer_worker import TOOLS

ONE_THREAD = dict.fromkeys(
    ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "RAYON_NUM_THREADS"), "1"
)
TITLES = {
    "graphrefine-fast": 'graphrefine, `quality="fast"`',
    "graphrefine-default": "graphrefine, default",
    "fastrp": "fastrp",
    "pycleora": "pycleora",
    "scikit-network-GSVD": "scikit-network, GSVD",
    "scikit-network-Spectral": "scikit-network, Spectral",
    "nodevectors-ProNE": "nodevectors, ProNE",
    "pecanpy-node2vec": "PecanPy, node2vec",
}
LABELED = {"ppi": "PPI", "blogcatalog": "BlogCatalog", "wikipedia-pos": "Wikipedia", "coauthor-cs": "coauthor-cs"}
LARGE = "web-google"
SLOW = 60.0  # seconds: one round is enough

Seconds = dict[str, float]


def run(tool: str, matrix: Path, vectors: Path, given: argparse.Namespace) -> float | None:
    """Run a tool once; return its seconds, or None beyond the limit."""
    python = sys.executable if tool.startswith("graphrefine") else given.python
    command = [python, str(Path(__file__).with_name("peer_worker.py")), tool, str(matrix), str(vectors)]
    try:
        done = subprocess.run(
            command, env={**os.environ, **ONE_THREAD}, capture_output=True, text=True, timeout=60 * given.limit
        )
    except subprocess.TimeoutExpired:
        return None
    if done.returncode:
        sys.exit(f"{tool} failed: {done.stderr.strip().splitlines()[-1]}")
    return float(done.stdout.splitlines()[-1])


def measure(name: str, tools: list[str], given: argparse.Namespace) -> tuple[Seconds, dict[str, float]]:
    """Run all tools on a graph; return the best seconds of each, and its Micro F1 where there are labels."""
    best: Seconds = {}
    f1: dict[str, float] = {}
    labels = read_labels(data(f"{name}.mat")) if name in LABELED else None
    with tempfile.TemporaryDirectory() as folder:
        matrix, vectors = Path(folder) / "graph.npz", Path(folder) / "vectors.npy"
        sp.save_npz(matrix, sp.csr_matrix(graph(name).to_scipy()), compressed=False)
        left = list(tools)
        for index in range(given.rounds):
            for tool in list(left):
                seconds = run(tool, matrix, vectors, given)
                if seconds is None or seconds > SLOW:
                    left.remove(tool)
                if seconds is None:
                    print(f"{name}: {tool} took more than {given.limit:g} minutes", flush=True)
                    continue
                best[tool] = min(seconds, best.get(tool, seconds))
                if labels is not None and index == 0:
                    rows = np.nan_to_num(np.load(vectors))
                    f1[tool] = evaluate_labels(rows, labels, ratios=(0.5,), repeats=10, C=1.0).ratios[0].micro_mean
                print(f"{name}: {tool} {seconds:.3f} s, Micro F1 {f1.get(tool, float('nan')):.2f}", flush=True)
    return best, f1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--limit", type=float, default=20.0, help="minutes of a run")
    parser.add_argument("--only", help="some of the tools")
    parser.add_argument("--graphs", default=",".join((*LABELED, LARGE)))
    parser.add_argument("--python", default=sys.executable, help="the interpreter that has the packages")
    parser.add_argument("--save", action="store_true", help="write docs/results/peers.json")
    given = parser.parse_args()
    print(machine())
    tools = given.only.split(",") if given.only else list(TOOLS)
    seconds, f1 = dict[str, Seconds](), dict[str, dict[str, float]]()
    for name in given.graphs.split(","):
        seconds[name], f1[name] = measure(name, tools, given)
    if given.save:
        save(tools, seconds, f1, given)


def save(
    tools: list[str], seconds: dict[str, Seconds], f1: dict[str, dict[str, float]], given: argparse.Namespace
) -> None:
    rows, times = [], []
    for tool in tools:
        scores = [f"{f1[name][tool]:.1f}" if tool in f1[name] else "-" for name in LABELED]
        large = f"{seconds[LARGE][tool]:.1f}" if tool in seconds[LARGE] else f"> {60 * given.limit:.0f}"
        rows.append([TITLES[tool], large, *scores])
        times.append([TITLES[tool], *(f"{each[tool]:.2f}" if tool in each else "-" for each in seconds.values())])
    script = "from importlib.metadata import version as v; print(*(f'{n} {v(n)}' for n in %r), sep='; ')"
    names = ["fastrp", "pycleora", "scikit-network", "nodevectors", "pecanpy"]
    packages = subprocess.check_output([given.python, "-c", script % names], text=True).strip().split("; ")
    results.save(
        "peers",
        packages,
        tools=results.Table(["", "seconds on web-google", *(f"F1 on {title}" for title in LABELED.values())], rows),
        seconds=results.Table(["seconds", *(LABELED.get(name, name) for name in seconds)], times),
    )


if __name__ == "__main__":
    main()
