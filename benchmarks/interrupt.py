"""Time from Ctrl-C to the end of the process, at random moments of runs on generated graphs, by method and stage.

    python benchmarks/interrupt.py [--nodes 1e6] [--edges 1e7] [--times 12] [--methods refine deepwalk] [--threads 2]

Each run is a process of its own that says which stage it is in; after a random part of the seconds given by
``--within`` it is sent SIGINT. It must end by KeyboardInterrupt. The bar is one second, on an idle machine.
"""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from threading import Thread
from time import perf_counter, sleep

import numpy as np

from common import machine

BAR = 1.0  # seconds
RUN = """
import sys, numpy as np
from graphrefine.methods.registry import find_method, make_settings
from graphrefine.pipeline.embed_run import EmbedRun, Request
from graphrefine.pipeline.settings import RunSettings

class Teller:
    def start(self, stage, steps):
        print(stage, flush=True)
    def advance(self):
        pass

path, method, dim, threads = sys.argv[1:]
teller = Teller()
request = Request(
    path, make_settings(method, dim=int(dim)), find_method(method), run=RunSettings(threads=int(threads), learn=True)
)
with EmbedRun(request) as run:
    print("begin", flush=True)
    run.read(teller)
    run.make_plan(learn=True)
    run.embed()
print("end", flush=True)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=float, default=1e6)
    parser.add_argument("--edges", type=float, default=1e7)
    parser.add_argument("--dim", type=int, default=128)
    parser.add_argument("--times", type=int, default=12)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--within", type=float, default=60, help="seconds in which the moments lie")
    parser.add_argument("--methods", nargs="+", default=["refine"])
    typed = parser.parse_args()
    print(machine())
    random = np.random.default_rng(0)
    waits = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "edges.txt"
        write_edges(path, int(typed.nodes), int(typed.edges), random)
        for method in typed.methods:
            for _ in range(typed.times):
                moment = random.uniform(0, typed.within)
                stage, seconds = interrupt([str(path), method, str(typed.dim), str(typed.threads)], moment)
                if seconds is None:
                    print(f"{method:12} {moment:6.1f} s: the run had ended; not counted", flush=True)
                    continue
                print(f"{method:12} {moment:6.1f} s, {stage:12} ended after {seconds:.2f} s", flush=True)
                waits.append(seconds)
    if not waits:
        sys.exit("all runs had ended; say a shorter --within")
    print(f"longest {max(waits):.2f} s, median {np.median(waits):.2f} s, of {len(waits)}; bar {BAR:g} s")
    sys.exit(max(waits) > BAR)


def write_edges(path: Path, nodes: int, edges: int, random: np.random.Generator) -> None:
    """Random edges, as names that have to be hashed."""
    with path.open("w") as file:
        file.write("source target\n")
        for start in range(0, edges, 10**6):
            ends = random.integers(0, nodes, (min(10**6, edges - start), 2))
            file.writelines(f"n{a} n{b}\n" for a, b in ends.tolist())


def interrupt(arguments: list[str], moment: float) -> tuple[str, float | None]:
    """Stage at the moment of SIGINT, and the seconds until the process had ended; None if it had before."""
    stages = ["start"]
    with subprocess.Popen(
        [sys.executable, "-c", RUN, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.readline()
        listener = Thread(target=lambda: stages.extend(line.strip() for line in process.stdout or []))
        listener.start()
        sleep(moment)
        stage, start = stages[-1], perf_counter()
        process.send_signal(signal.SIGINT)
        code, seconds = process.wait(), perf_counter() - start
        listener.join()
        errors = process.stderr.read()
    if stages[-1] == "end":
        return "end", None
    if code == 0 or "KeyboardInterrupt" not in errors:
        sys.exit(f"the process ended with {code}, in the stage {stage}:\n{errors}")
    return stage, seconds


if __name__ == "__main__":
    main()
