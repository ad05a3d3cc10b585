"""Live vectors whose writer is killed with SIGKILL at random moments: what was committed is there, to the bit.

    python benchmarks/live/writer_kills.py [--kills 1000] [--nodes 60] [--dim 8] [--longest 0.4] [--seed 0] [--control]

A child commits group after group, with refreshes by itself and by request, and checkpoints by itself and by closing
and opening the folder. It is killed at a moment drawn at random, and tells through a pipe what it does. The
folder is opened again here: its state (graph, vectors, lengths, and the rows and numbers of the kernel) must equal, to
the bit, that of a replay. The replay begins with a copy of the folder as it was created and makes the committed groups
again, with the refreshes and generations of the log. A reader that was open all the time must see the same, and no
file may be left over. Every group that the child knew to be committed must be there. ``--control`` changes one bit of
the replay before the last comparison, which must then fail.
"""

from __future__ import annotations

import argparse
import multiprocessing
import shutil
import sys
import tempfile
import time
from collections import Counter
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent / "tests")]  # this script is run by its path

import graphrefine.live  # noqa: E402
from common import machine  # noqa: E402
from graphrefine.live import model as fitting  # noqa: E402
from graphrefine.live import writer  # noqa: E402
from graphrefine.live.change_log import Change  # noqa: E402
from graphrefine.live.reader import LiveReader  # noqa: E402
from graphrefine.live.writer import Live  # noqa: E402
from live_states import Model, Replay, bits, generations, published_bits  # noqa: E402

AHEAD = 500  # groups that a writer gets: more than it can commit
FILES = {"live.db", "lock"}
TEMPORARY = {"live.db-shm", "live.db-wal"}  # a reader has it open


def first_edges(nodes: int) -> list[tuple[int, int]]:
    """A ring with chords."""
    return [(u, (u + step) % nodes) for u in range(nodes) for step in (1, 7)]


class Workload:
    """Groups of changes: group n is a function of the groups before it and of the seed."""

    def __init__(self, nodes: int, seed: int) -> None:
        self._nodes, self._seed = nodes, seed
        self._groups: list[list[Change]] = []
        edges = {frozenset(edge): 1.0 for edge in first_edges(nodes)}
        self._model = Model(edges, set(range(nodes)))

    def __call__(self, number: int) -> list[Change]:
        """The changes of a group."""
        while len(self._groups) < number:
            self._groups.append(self._draw(len(self._groups) + 1))
        return self._groups[number - 1]

    def _draw(self, number: int) -> list[Change]:
        rng, model = np.random.default_rng((self._seed, number)), self._model
        operations = []
        for _ in range(int(rng.integers(1, 9))):
            kind = rng.choice(["+", "+", "=", "-", "-", "n", "n-"])
            u, v = (int(each) for each in rng.integers(0, 2 * self._nodes, 2))
            if kind == "-" and model.edges:
                u, v = sorted(list(model.edges)[int(rng.integers(len(model.edges)))])
            elif kind == "-" or (kind == "n-" and (u not in model.names or u < self._nodes // 2)) or u == v:
                continue
            if kind in ("n", "n-"):
                operation = Change("+" if kind == "n" else "-", u, None, 0.0)
            else:
                operation = Change(str(kind), u, v, 0.0 if kind == "-" else float(rng.choice([0.5, 1.0, 2.5])))
            model.apply(*operation)
            operations.append(operation)
        return operations or [Change("+", 0, None, 0.0)]  # a node that is there: a group that changes nothing


def lower_thresholds() -> None:
    """Refreshes and checkpoints after a few changes."""
    writer.LOOK, writer.LOGGED = 40, 40
    fitting.MOST_NEW = 0.05


def write(path: Path, groups: dict[int, list[Change]], tell: Connection) -> None:
    """Commit groups, by their number, until this process is killed."""
    lower_thresholds()
    rng = np.random.default_rng(time.time_ns())
    tell.send(("open", -1))
    while True:
        live = Live(path, threads=1)
        tell.send(("opened", live.group))
        for _ in range(int(rng.integers(1, 40))):
            live.collect(groups[live.group + 1])
            tell.send(("commit", live.group))
            live.commit()
            tell.send(("committed", live.group))
            if rng.random() < 0.04:
                tell.send(("refresh", live.group))
                live.refresh()
        tell.send(("close", live.group))
        live.close()


def heard(pipe: Connection) -> tuple[str, int]:
    """The last that a process told."""
    last = ("start", -1)
    try:
        while pipe.poll(0):
            last = pipe.recv()
    except EOFError:
        pass
    return last


class Trial:
    """A folder, its replay, and a reader that stays."""

    def __init__(self, room: Path, nodes: int, dim: int, seed: int) -> None:
        self.path, self._groups = room / "graph.live", Workload(nodes, seed)
        graphrefine.live.create(first_edges(nodes), self.path, dim=dim, threads=1).close()
        shutil.copytree(self.path, room / "replay.live")
        self.replay = Replay(room / "replay.live", self._groups)
        self.reader = LiveReader(self.path, threads=1)
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(["graphrefine.live.writer", "scipy.sparse", "filelock"])

    def kill_after(self, seconds: float) -> tuple[str, int]:
        """Start a writer and kill it so many seconds after it begins to open; what it told last."""
        ours, theirs = self._context.Pipe(duplex=False)
        done = self.replay.live.group
        groups = {number: self._groups(number) for number in range(done + 1, done + 1 + AHEAD)}
        child = self._context.Process(target=write, args=(self.path, groups, theirs), daemon=True)
        child.start()
        theirs.close()
        ours.recv()
        time.sleep(seconds)
        child.kill()
        child.join()
        if child.exitcode != -9:
            sys.exit(f"the writer ended by itself, with {child.exitcode}")
        return heard(ours)

    def check(self, told: int, *, spoil: bool = False) -> list[str]:
        """What is wrong with the folder now; with ``spoil``, one bit of the replay is."""
        self.reader.update()  # what the database of the killed writer has
        moment = (self.reader._generation, self.reader.group)
        seen, problems = published_bits(self.reader), list[str]()
        with Live(self.path, threads=1) as live:
            live.auto_refresh = False
            if live.group < told:
                problems.append(f"group {told} was committed, and the folder ends with {live.group}")
            self.replay.follow(live)
            if spoil:
                self._spoil()
            if bits(live) != bits(self.replay.live):
                problems.append(f"group {live.group}: other bits than the replay's")
            if moment == (live._store.generation, live.group) and seen != published_bits(live):
                problems.append(f"group {live.group}: other vectors in the database")
            self.reader.update()
            if published_bits(self.reader) != published_bits(live):
                problems.append(f"group {live.group}: a reader sees other vectors")
            keep = {f"generation-{live._store.generation:06d}"}
        left = {each.name for each in self.path.iterdir()} - FILES - TEMPORARY - keep
        return problems + ([f"left over: {sorted(left)}"] if left else [])

    def _spoil(self) -> None:
        table = self.replay.live._table
        row = table.present()[0]
        table.lengths[row] = np.nextafter(table.lengths[row], np.inf)  # also of a length of zero

    def close(self) -> None:
        """Close all folders."""
        self.reader.close()
        self.replay.live.close()


def run(given: argparse.Namespace, room: Path) -> int:
    """Kill as often as asked; the number of kills that were not survived."""
    trial = Trial(room, given.nodes, given.dim, given.seed)
    rng, failures, moments = np.random.default_rng(given.seed), 0, Counter[str]()
    start = time.perf_counter()
    for kill in range(given.kills):
        moment, told = trial.kill_after(float(rng.uniform(0, given.longest)))
        moments[moment] += 1
        problems = trial.check(told, spoil=given.control and kill == given.kills - 1)
        failures += bool(problems)
        for problem in problems:
            print(f"  kill {kill + 1}, after {moment!r}: {problem}", flush=True)
    seconds, last_state = time.perf_counter() - start, trial.replay.live
    counts = f"{len(last_state.drift())} refreshes, {len(generations(last_state))} checkpoints"
    last = ", ".join(f"{name} {count}" for name, count in moments.most_common())
    print(f"{given.kills} kills in {seconds:.0f} s; {trial.replay.live.group:,} groups, {counts}")
    print(f"the last that the writer told before it was killed: {last}")
    trial.close()
    return failures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--nodes", type=int, default=60)
    parser.add_argument("--dim", type=int, default=8)
    parser.add_argument("--longest", type=float, default=0.4, help="seconds of a writer's life")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--control", action="store_true")
    given = parser.parse_args()
    print(machine())
    with tempfile.TemporaryDirectory() as room:
        failures = run(given, Path(room))
    word = "reached" if failures == 0 else "MISSED"
    print(f"kills that were not survived to the bit: {failures} (bar 0: {word})", flush=True)
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
