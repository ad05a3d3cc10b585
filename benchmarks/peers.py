"""Compute time of REFINE against ProNE and FastRP, twice: the packages that people install, and ours.

    pip install fastrp nodevectors
    python benchmarks/peers.py [--graph web-google] [--rounds 3] [--prone-rounds 1]

Against the packages: what a user would get. Against our own: what the method is worth; the default may take 2.5 times
as long as the preset "paper". One thread each (every contender runs in a process of its own, where no library starts
more), k = 128, the graph already in memory as a SciPy matrix. nodevectors' ProNE takes minutes on web-google, so it may
have fewer rounds. The bars are those of web-google.
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
OURS: dict[str, tuple[str, str | None]] = {
    "graphrefine refine": ("refine", None),
    "graphrefine refine, preset paper": ("refine", "paper"),
    "graphrefine prone": ("prone", None),
    "graphrefine fastrp": ("fastrp", None),
}
SLOW = "nodevectors ProNE"
CONTENDERS = (*OURS, "fastrp", SLOW)


def run(contender: str, name: str) -> float:
    """Seconds of one contender in a process of its own."""
    done = subprocess.run(
        [sys.executable, __file__, "--graph", name, "--contender", contender],
        env={**os.environ, **ONE_THREAD},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        sys.exit(f"{contender} failed: {done.stderr.strip().splitlines()[-1]}")
    return float(json.loads(done.stdout.splitlines()[-1])["seconds"])


def contend(contender: str, name: str) -> None:
    read = graph(name)
    adjacency = sp.csr_matrix(read.to_scipy().astype(np.float64))
    if contender in OURS:
        from graphrefine.methods.registry import make_settings
        from graphrefine.run.embed_run import embed_graph

        method, preset = OURS[contender]
        work: Callable[[], object] = partial(embed_graph, read, make_settings(method, preset), method=method, threads=1)
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
    parser.add_argument("--graph", default="web-google")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--prone-rounds", type=int, default=1)
    parser.add_argument("--contender", choices=CONTENDERS)
    given = parser.parse_args()
    if given.contender:
        return contend(given.contender, given.graph)
    print(machine())
    seconds: dict[str, list[float]] = {name: [] for name in CONTENDERS}
    for index in range(given.rounds):
        for name, runs in seconds.items():
            if name != SLOW or index < given.prone_rounds:
                runs.append(run(name, given.graph))
    passed = True
    bars_of: dict[str, float | None] = {"graphrefine refine, preset paper": 0.4, "fastrp": 1.0, SLOW: 80.0}
    for against in (*OURS, "fastrp", SLOW):
        bar = bars_of.get(against)
        if against == "graphrefine refine":
            continue
        both = {name: seconds[name] for name in ("graphrefine refine", against) if seconds[name]}
        bars = {"graphrefine refine": bar} if bar is not None and given.graph == "web-google" else {}
        if against in both:
            passed &= show(f"{given.graph}, one thread: against {against}", both, against=against, bars=bars)
    sys.exit(0 if passed else 1)


if __name__ == "__main__":
    main()
