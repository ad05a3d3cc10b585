"""What the benchmarks at scale share: a command run and watched from outside, bars, sizes, the machine.

Memory is what cannot be dropped: ``RssAnon + RssShmem`` of every process that the command started, summed at one
moment, some twenty times a second; the highest sum counts. What the page cache holds of files is not in it.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parent.parent))  # these scripts are run by their path

import results  # found by the line above
from common import data, machine

__all__ = [
    "Run",
    "bar",
    "command",
    "data",
    "folder_bytes",
    "hundreds",
    "machine",
    "plenty",
    "processes",
    "results",
    "size",
    "watch",
]

EVERY = 0.05  # seconds between two looks at the memory
LOOK = 1.0  # seconds between two looks at the disk


@dataclass
class Run:
    """A command that has ended."""

    code: int  # negative: the signal that ended it
    seconds: float
    peak: int  # bytes of anonymous and shared memory, the whole tree
    figures: dict[str, Any] = field(default_factory=dict)  # what `--json` printed
    errors: str = ""
    disk: int = 0  # bytes, the most that was seen in the folder watched

    @property
    def plan(self) -> dict[str, Any]:
        """What `embed` said it would do."""
        return dict(self.figures.get("plan", {}))

    def must(self) -> Run:
        """Itself; the benchmark ends here if the command failed."""
        if self.code != 0:
            sys.exit(f"the command ended with {self.code}:\n{self.errors.strip()}")
        return self


def command(*arguments: object, **options: object) -> list[str]:
    """``graphrefine ARGUMENTS --option value ... --json``, with this Python; options that are None are left out.

    The tier of ``embed`` is fast, if no other is named: the model of the cost is of that.
    """
    if arguments[0] == "embed":
        options = {"quality": "fast", **options}
    pairs = [(f"--{name.replace('_', '-')}", str(value)) for name, value in options.items() if value is not None]
    flat = [word for pair in pairs for word in pair]
    return [sys.executable, "-m", "graphrefine", *map(str, arguments), *flat, "--json"]


def watch(
    words: list[str],
    *,
    folder: Path | None = None,
    after: float | None = None,
    then: Callable[[int], None] | None = None,
    environment: dict[str, str] | None = None,
) -> Run:
    """Run a command to its end, and look at its memory (and at a folder's size) meanwhile.

    With ``after``, ``then`` is called with the command's process id once so many seconds have passed.
    """
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start, peak, disk, looked = time.perf_counter(), 0, 0, -LOOK
        child = subprocess.Popen(
            words, stdout=out, stderr=err, start_new_session=True, env={**os.environ, **(environment or {})}
        )
        try:
            while child.poll() is None:
                passed = time.perf_counter() - start
                peak = max(peak, sum(map(_held, processes(child.pid))))
                if after is not None and then is not None and passed >= after:
                    then(child.pid)
                    then = None
                if folder is not None and passed - looked >= LOOK:
                    looked, disk = passed, max(disk, folder_bytes(folder))
                time.sleep(EVERY)
        finally:
            kill(child.pid)
        seconds = time.perf_counter() - start
        out.seek(0)
        err.seek(0)
        text, errors = out.read().decode(errors="replace"), err.read().decode(errors="replace")
    return Run(child.returncode, seconds, peak, _parsed(text), errors, disk)


def _parsed(text: str) -> dict[str, Any]:
    with contextlib.suppress(ValueError):
        found = json.loads(text)
        if isinstance(found, dict):
            return found
    return {}


def kill(group: int) -> None:
    """End a whole process group with SIGKILL, if there is any of it left."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


def processes(root: int) -> list[int]:
    """A process and all that descend from it or belong to its session."""
    parents, sessions = {}, {}
    for name in os.listdir("/proc"):  # noqa: PTH208  a pseudo-folder, twenty times a second
        if name.isdigit():
            with contextlib.suppress(OSError):
                fields = Path("/proc", name, "stat").read_bytes().rpartition(b")")[2].split()
                parents[int(name)], sessions[int(name)] = int(fields[1]), int(fields[3])
    found = {pid for pid, session in sessions.items() if session == root or pid == root}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return sorted(found)


def _held(pid: int) -> int:
    """Bytes of a process that are backed by no file; 0 if it has just ended."""
    with contextlib.suppress(OSError):
        lines = Path("/proc", str(pid), "status").read_text().splitlines()
        return sum(int(line.split()[1]) for line in lines if line.startswith(("RssAnon:", "RssShmem:"))) * 1024
    return 0


def folder_bytes(folder: Path) -> int:
    """What a folder takes on disk, hidden files too."""
    total = 0
    for path in folder.rglob("*"):
        with contextlib.suppress(OSError):
            total += path.lstat().st_blocks * 512
    return total


def plenty() -> str:
    """All the memory that the machine has, as an option: a budget that is no limit."""
    return f"{os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') // 10**6}MB"


def size(text: str) -> int:
    """A number of nodes or edges as people write it: 1e8, 40000000.

    >>> size("4e7")
    40000000
    """
    number = int(float(text))
    if number < 1 or number != float(text):
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number above 0")
    return number


def hundreds(ratio: float) -> str:
    """How far a ratio is from 1, in words: +3.2%."""
    return f"{100 * (ratio - 1):+.1f}%"


def bar(what: str, value: float, *, most: float, unit: str = "") -> bool:
    """Print a figure beside the most that it may be; whether it is."""
    reached = value <= most
    print(f"{what}: {value:.3g}{unit} (bar {most:g}{unit}: {'reached' if reached else 'MISSED'})", flush=True)
    return reached
