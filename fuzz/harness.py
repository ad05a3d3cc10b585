"""The parent: starts workers, ends those that hang or grow, starts others in their place, and counts.

It imports no package that starts threads and calls nothing of a target, so that its children are clean forks.
"""

from __future__ import annotations

import json
import os
import pickle
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from fuzz.findings import FOLDER, Finding, Kind, describe_dump, keep_input, merge, save
from fuzz.target import Target
from fuzz.worker import Board, Order, work

TICK = 0.02  # seconds between two looks at the workers
SEEDING = 300  # seconds that the seeds of a target may take


@dataclass(frozen=True)
class Limits:
    """What a run may take, and what an input may."""

    count: int | None = None  # inputs
    seconds: float | None = None
    workers: int = 2
    hang: float = 10.0  # seconds
    memory: int = 2_000_000_000  # bytes
    findings: Path = FOLDER


@dataclass
class Result:
    """What came of a target."""

    target: str
    group: str
    inputs: int = 0
    refused: int = 0
    seconds: float = 0.0
    findings: list[Finding] = field(default_factory=list)

    def count(self, *kinds: Kind) -> int:
        """Places of these kinds."""
        return sum(finding.kind in kinds for finding in self.findings)


def fuzz(target: Target, limits: Limits, seed: int = 0) -> Result:
    """Try inputs on a target until the count or the time is reached."""
    result = Result(target.name, target.group)
    start = time.monotonic()
    with make_folder() as folder:
        seeds = make_seeds(target, folder)
        end = limits.count if limits.count is not None else 1 << 62
        until = time.monotonic() + limits.seconds if limits.seconds is not None else float("inf")
        count = min(limits.workers, end)
        whole = Order(seed, 0, count, end, until, limits.memory, limits.findings.resolve())
        runners = [Runner(target, seeds, replace(whole, first=number), folder / str(number)) for number in range(count)]
        try:
            while sum(runner.watch(limits) for runner in runners):
                time.sleep(TICK)
        finally:
            for runner in runners:
                runner.end()
        for runner in runners:
            result.inputs += runner.inputs
            result.refused += runner.refused
            result.findings += runner.findings
    result.findings = merge(result.findings)
    save(result.findings, limits.findings)
    result.seconds = time.monotonic() - start
    return result


class Runner:
    """One worker after another, on one share of the inputs."""

    def __init__(self, target: Target, seeds: list[bytes], order: Order, folder: Path) -> None:
        self.target, self.seeds, self.order, self.folder = target, seeds, order, folder
        self.inputs = self.refused = 0
        self.findings: list[Finding] = []
        self.child: int | None = None
        self.start()

    def start(self) -> None:
        """Fork a worker for what is left."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        self.board = Board()
        self.suspect = (-1, 0.0)  # an input that takes long
        self.waits: dict[str, float] = {}
        self.child = os.fork()
        if self.child == 0:
            try:
                work(self.target, self.seeds, self.order, self.board, self.folder)
            finally:
                os._exit(70)  # an error of the harness

    def watch(self, limits: Limits) -> bool:
        """Look at the worker, and see that there is one as long as there is something to do; whether there is."""
        if self.child is None:
            return False
        done, status = os.waitpid(self.child, os.WNOHANG)
        if done:
            self.collect(status, limits)
        else:
            seen = index, began = self.board.peek()
            spent = time.monotonic() - began
            if index >= 0 and spent > min(1.0, limits.hang / 2):
                if seen != self.suspect:
                    self.suspect, self.waits = seen, self.waiting()
                elif spent - self.starved() > limits.hang:
                    self.stop("hang", limits)
            if self.child is not None and self.resident() > limits.memory:
                self.stop("memory", limits)
        return self.child is not None

    def waiting(self) -> dict[str, float]:
        """Seconds that each thread of the worker could have run and was not given a processor."""
        waits = {}
        for path in Path(f"/proc/{self.child}/task").glob("*/schedstat"):
            try:
                waits[path.parent.name] = int(path.read_text().split()[1]) / 1e9
            except (OSError, IndexError, ValueError):
                continue
        return waits

    def starved(self) -> float:
        """Seconds that a busy machine took from an input: what the thread that waited most has waited since."""
        return max((after - self.waits.get(name, 0.0) for name, after in self.waiting().items()), default=0.0)

    def resident(self) -> int:
        """Bytes of the worker in memory."""
        try:
            return int(Path(f"/proc/{self.child}/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")
        except OSError:
            return 0

    def stop(self, kind: Kind, limits: Limits) -> None:
        """End a worker that does too much, after it has said where it is."""
        assert self.child is not None
        os.kill(self.child, signal.SIGUSR1)
        time.sleep(0.2)
        os.kill(self.child, signal.SIGKILL)
        _, status = os.waitpid(self.child, 0)
        self.collect(status, limits, kind)

    def collect(self, status: int, limits: Limits, kind: Kind | None = None) -> None:
        """Count what a worker did that has ended, blame its death on its last input, and start another if need be."""
        index, _, data = self.board.read()
        self.child = None
        self.inputs += self.board.done
        self.refused += self.board.refused
        found = self.folder / "found.jsonl"
        lines = found.read_text(encoding="utf-8").splitlines() if found.exists() else []
        self.findings += [Finding(**json.loads(line)) for line in lines]
        code = os.waitstatus_to_exitcode(status)
        first = index
        if kind is not None or code != 0:
            if code == 70 or index < 0:
                problem = f"the worker of {self.target.name} ended with {code} at {index}"
                raise RuntimeError(f"{problem}; with FUZZ_LOUD=1 it says why")
            dump = (self.folder / "dump").read_text(errors="replace")
            sort: Kind = kind or ("signal" if code < 0 else "exit")
            place = describe_dump(dump) if kind or code < 0 else ""
            if kind is None:
                place = f"{signal.Signals(-code).name} at {place}" if code < 0 else f"exit code {code}"
            name = keep_input(self.target.name, data, limits.findings)
            self.findings.append(Finding(self.target.name, sort, place, index, name, dump))
            self.inputs += 1
            first = index + self.order.step
        if first < self.order.end and time.monotonic() < self.order.until:
            self.order = replace(self.order, first=first)
            self.start()

    def end(self) -> None:
        """Kill the worker, if there is one: after an error, or a key."""
        if self.child is not None:
            os.kill(self.child, signal.SIGKILL)
            os.waitpid(self.child, 0)
            self.child = None


def make_seeds(target: Target, folder: Path) -> list[bytes]:
    """The seeds, made by a child: what makes them may start threads, which a fork does not survive."""
    path = folder / "seeds"
    child = os.fork()
    if child == 0:
        code = 1
        try:
            signal.alarm(SEEDING)
            os.chdir(folder)
            path.write_bytes(pickle.dumps(target.seeds()))
            code = 0
        except BaseException:
            import traceback

            traceback.print_exc()
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    if status != 0:
        raise RuntimeError(f"the seeds of {target.name} could not be made")
    seeds: list[bytes] = pickle.loads(path.read_bytes())
    if not seeds:
        raise RuntimeError(f"{target.name} has no seeds")
    return seeds


@contextmanager
def make_folder() -> Iterator[Path]:
    """A folder in memory, where there is such, until the end of the block."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(prefix="fuzz-", dir=memory if memory.is_dir() else None) as folder:
        yield Path(folder)
