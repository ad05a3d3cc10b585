"""Compute time of REFINE against ProNE and FastRP, twice: the packages that people install, and ours.

    pip install fastrp nodevectors
    python benchmarks/peers.py [--graph web-google] [--rounds 3] [--prone-rounds 1] [--only paper,fastrp]

Against the packages: what a user would get. Against our own: what the method is worth; the default may take 2.5 times
as long as the preset "paper". One thread each (every contender runs in a process of its own, where no library starts
more), k = 128, the graph already in memory as a SciPy matrix; all take turns. nodevectors' ProNE takes minutes on
web-google, so it may have fewer rounds. The bars are those of web-google.

``--only`` names contenders by words of their names. Where a package does not go with the versions of this environment,
give it one of its own, and ``--python`` its interpreter:

    python -m venv peers && peers/bin/pip install fastrp numpy scipy
    python benchmarks/peers.py --only paper,fastrp --python peers/bin/python
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from common import graph, machine, show

ONE_THREAD = dict.fromkeys(
    ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "RAYON_NUM_THREADS"), "1"
)
DEFAULT, PAPER = "graphrefine refine", "graphrefine refine, preset paper"
OURS: dict[str, tuple[str, str | None]] = {
    DEFAULT: ("refine", None),
    PAPER: ("refine", "paper"),
    "graphrefine prone": ("prone", None),
    "graphrefine fastrp": ("fastrp", None),
}
SLOW = "package nodevectors: ProNE"
TOUCHED = 4 << 30  # bytes, more than any contender takes
PACKAGES = {"package fastrp": "fastrp", SLOW: "nodevectors"}
BARS = {  # how many times as fast the first must be
    (DEFAULT, PAPER): 0.4,
    (DEFAULT, "package fastrp"): 1.0,
    (DEFAULT, SLOW): 80.0,
    (PAPER, "package fastrp"): 4.0,
}


def run(contender: str, name: str, python: str, matrix: Path) -> float:
    """Seconds of one contender in a process of its own."""
    if contender in OURS:
        command = [sys.executable, __file__, "--graph", name, "--contender", contender]
    else:
        command = [python, str(Path(__file__).with_name("peer_worker.py")), PACKAGES[contender], str(matrix)]
    done = subprocess.run(command, env={**os.environ, **ONE_THREAD}, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{contender} failed: {done.stderr.strip().splitlines()[-1]}")
    return float(done.stdout.splitlines()[-1])


def contend(contender: str, name: str) -> None:
    """One run of a method of ours."""
    from graphrefine.methods.registry import make_settings
    from graphrefine.pipeline.embed_run import embed_graph

    method, preset = OURS[contender]
    read, settings = graph(name), make_settings(method, preset)
    start = time.perf_counter()
    embed_graph(read, settings, method=method, threads=1)
    print(time.perf_counter() - start)


def measure(contenders: list[str], options: argparse.Namespace) -> dict[str, list[float]]:
    """Seconds of all runs, in turns."""
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    np.ones(TOUCHED, np.uint8)  # a virtual machine gets its memory when it is first touched: not in somebody's turn
    with tempfile.TemporaryDirectory() as folder:
        matrix = Path(folder) / "graph.npz"
        sp.save_npz(matrix, sp.csr_matrix(graph(options.graph).to_scipy()), compressed=False)
        for index in range(options.rounds):
            for name, runs in seconds.items():
                if name != SLOW or index < options.prone_rounds:
                    runs.append(run(name, options.graph, options.python, matrix))
    return {name: runs for name, runs in seconds.items() if runs}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graph", default="web-google")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--prone-rounds", type=int, default=1)
    parser.add_argument("--only", default="", help="contenders with one of these words in their names")
    parser.add_argument("--python", default=sys.executable, help="the interpreter that has the packages")
    parser.add_argument("--contender", choices=OURS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.contender:
        return contend(options.contender, options.graph)
    print(machine())
    words = options.only.split(",")
    seconds = measure([name for name in (*OURS, *PACKAGES) if any(word in name for word in words)], options)
    passed = True
    for ours in (DEFAULT, PAPER):
        for against in seconds:
            bar = BARS.get((ours, against)) if options.graph == "web-google" else None
            if ours in seconds and against != ours and (ours == DEFAULT or bar is not None or DEFAULT not in seconds):
                both = {name: seconds[name] for name in (ours, against)}
                bars = {} if bar is None else {ours: bar}
                passed &= show(f"{options.graph}, one thread: against {against}", both, against=against, bars=bars)
    sys.exit(0 if passed else 1)


if __name__ == "__main__":
    main()
