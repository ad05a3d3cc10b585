"""Compute time of REFINE against packages that people install: fastrp and ProNE of nodevectors, on web-google.

    pip install fastrp nodevectors
    python benchmarks/peers.py [--rounds 3] [--prone-rounds 1]

One thread each (every contender runs in a process of its own, where no library starts more), k = 128, the graph already
in memory as a SciPy matrix. ProNE takes minutes, so it may have fewer rounds.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial

import numpy as np
import scipy.sparse as sp

from common import graph, machine, show

ONE_THREAD = dict.fromkeys(
    ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "RAYON_NUM_THREADS"), "1"
)


def run(contender: str) -> float:
    """Seconds of one contender in a process of its own."""
    done = subprocess.run(
        [sys.executable, __file__, "--contender", contender],
        env={**os.environ, **ONE_THREAD},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        sys.exit(f"{contender} failed: {done.stderr.strip().splitlines()[-1]}")
    return float(json.loads(done.stdout.splitlines()[-1])["seconds"])


def contend(contender: str) -> None:
    read = graph("web-google")
    adjacency = sp.csr_matrix(read.to_scipy().astype(np.float64))
    if contender == "graphrefine":
        from graphrefine.methods import embed_graph
        from graphrefine.refine import settings

        work: Callable[[], object] = partial(embed_graph, read, settings("paper"), threads=1)
    elif contender == "fastrp":
        import fastrp

        parts = (adjacency.indptr, adjacency.indices, adjacency.data, read.nodes, 128)
        work = partial(fastrp.fit_csr, *parts, seed=0, undirected=False)
    else:
        from nodevectors import ProNE

        work = partial(ProNE(n_components=128, verbose=False).fit_transform, adjacency)
    start = time.perf_counter()
    work()
    print(json.dumps({"seconds": time.perf_counter() - start}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--prone-rounds", type=int, default=1)
    parser.add_argument("--contender", choices=["graphrefine", "fastrp", "ProNE"])
    given = parser.parse_args()
    if given.contender:
        return contend(given.contender)
    print(machine())
    seconds: dict[str, list[float]] = {"graphrefine": [], "fastrp": [], "ProNE": []}
    for index in range(given.rounds):
        for name, runs in seconds.items():
            if name != "ProNE" or index < given.prone_rounds:
                runs.append(run(name))
    bars = {"graphrefine": 80.0}
    passed = show("web-google, one thread: against ProNE of nodevectors", seconds, against="ProNE", bars=bars)
    seconds.pop("ProNE")
    passed &= show("web-google, one thread: against fastrp", seconds, against="fastrp", bars={"graphrefine": 1.0})
    sys.exit(0 if passed else 1)


if __name__ == "__main__":
    main()
