"""An out-of-core run killed with SIGKILL at random moments and started again: the same bytes, and nothing left behind.

    python benchmarks/scale/kills.py [--edges 2e6] [--nodes 4e5] [--dim 128] [--memory SIZE] [--kills 10]
        [--mode streamed] [--seed 0] [--threads 2] [--folder FOLDER]

Each time a run is begun anew, killed (its whole process group) at a moment drawn from the length of an undisturbed run,
and resumed to its end. One more is killed again and again, after ever longer stretches, until it is through. The
budget is a little less than what is needed in memory, if none is given.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from inputs import Shape, add_folder, ingested, place
from measuring import Run, bar, command, kill, machine, plenty, size, watch


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


class Trial:
    """One output after another in a folder of their own, so that whatever else is left there is seen."""

    def __init__(self, graph: Path, room: Path, options: dict[str, Any]) -> None:
        self.graph, self.room, self.options = graph, room, options
        self.out = room / "vectors"

    def run(self, *, kill_after: float | None = None) -> Run:
        """To the end, or until it is killed."""
        words = command("embed", self.graph, "-o", self.out, **self.options)
        return watch(words, after=kill_after, then=kill)

    def strays(self) -> list[str]:
        """What lies beside the output."""
        return sorted(path.name for path in self.room.iterdir() if path != self.out)

    def clear(self) -> None:
        """An empty room again."""
        shutil.rmtree(self.room, ignore_errors=True)
        self.room.mkdir()


def one(trial: Trial, wanted: dict[str, bytes], moment: float) -> bool | None:
    """Kill once and resume; whether the result is right. None where the run was through before."""
    trial.clear()
    killed = trial.run(kill_after=moment)
    if killed.code == 0:
        return None
    left = trial.strays()
    resumed = trial.run().must()
    same, strays = contents(trial.out) == wanted, trial.strays()
    print(
        f"  killed at {killed.seconds:6.2f} s, leaving {', '.join(left) or 'nothing'}; "
        f"resumed {resumed.plan.get('resumed')}, {resumed.seconds:6.2f} s: {'identical' if same else 'DIFFERENT'}, "
        f"strays: {', '.join(strays) or 'none'}",
        flush=True,
    )
    return same and not strays


def again_and_again(trial: Trial, wanted: dict[str, bytes], stretch: float) -> bool:
    """Kill until it is through, in stretches that grow by a tenth each time."""
    trial.clear()
    for kills in range(200):
        run = trial.run(kill_after=stretch * 1.1**kills)
        if run.code == 0:
            same, strays = contents(trial.out) == wanted, trial.strays()
            print(
                f"  killed {kills} times in one run: {'identical' if same else 'DIFFERENT'}, strays: {strays or 'none'}"
            )
            return same and not strays
    print("  never through")
    return False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edges", type=size, default=2 * 10**6)
    parser.add_argument("--nodes", type=size, default=4 * 10**5)
    parser.add_argument("--dim", type=int, default=128)
    parser.add_argument("--memory")
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--mode", help="the mode that the budget should lead to; any but in memory if not given")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 2**32, help="of the moments")
    parser.add_argument("--threads", type=int, default=2)
    add_folder(parser)
    given = parser.parse_args()
    print(machine())
    with place(given.folder) as folder:
        graph, _ = ingested(Shape(given.edges, given.nodes), folder, threads=given.threads)
        trial = Trial(graph, folder / "room", {"dim": given.dim, "threads": given.threads, "memory": plenty()})
        trial.clear()
        memory = given.memory or f"{0.95 * trial.run().must().plan['predicted_mb']:.0f}MB"
        trial.options["memory"] = memory
        trial.clear()
        plain = trial.run().must()
        mode, wanted = plain.plan["mode"], contents(trial.out)
        if mode == "memory" or (given.mode and mode != given.mode):
            sys.exit(f"--memory {memory} leads to the mode {mode!r}: choose another")
        print(f"mode {mode}, undisturbed: {plain.seconds:.2f} s, strays: {trial.strays() or 'none'}; seed {given.seed}")
        rng, right = np.random.default_rng(given.seed), list[bool]()
        while len(right) < given.kills:
            survived = one(trial, wanted, rng.uniform(0, plain.seconds))
            right += [] if survived is None else [survived]
        chained = again_and_again(trial, wanted, plain.seconds / 3)
        shutil.rmtree(trial.room)
    passed = bar("kills that were not survived to the byte", len(right) - sum(right), most=0)
    sys.exit(not (passed and chained))


if __name__ == "__main__":
    main()
