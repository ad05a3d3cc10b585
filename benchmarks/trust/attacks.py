"""Files that ask for more than they hold, in every reader: refused, or read like an honest file, in linear time.

    python benchmarks/trust/attacks.py [--only READER ...] [--kinds KIND ...] [--jobs 2] [--json] [--break limit]

Each attack is a file that somebody chose (``attack_texts.py``, ``attack_tables.py``): compressed data that unpacks to
gigabytes, counts of 2^40 in headers, names that collide in hash tables, lines of a million fields, records each with a
field of its own, endless nesting. It is read in a process of its own (``attack_child.py``) with a budget of 256 MB, in
two sizes, the second twice the first. Beside it stands an honest file of the same reader and of as many bytes; for
compressed data, which is to be refused after the 64 MB that the budget allows, one of as many bytes unpacked.

* An attack is read, or refused: exit code 2 and a message. A traceback, a signal, 20 seconds or 2 GB are none of these.
* Memory, less that for a file of a few edges, is at most twice that of the honest file (and of 16 MB at least).
* Time of the processor grows by a factor of 3 at most where the size doubles (above half a second).

``--break`` takes a limit away, as a control: that must miss bars. Exit code 1 if a bar is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Lock
from time import monotonic, sleep
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]  # this script is run by its path

from attack_child import BREAKS  # noqa: E402
from attack_kinds import Attack  # noqa: E402
from attack_list import ATTACKS  # noqa: E402
from attack_readers import BY_NAME, Reader  # noqa: E402
from common import machine  # noqa: E402

SECONDS, BYTES = 20.0, 2_000_000_000  # of the processor, and of memory, after which a child is ended
PATIENCE = 120.0  # seconds by the clock, of a child that waits
LEAST = 16_000_000  # bytes below which memory is noise
RATIO = 2.0  # of memory, to that of the honest file
QUICK = 0.5  # seconds below which growth is noise
GROWTH = 3.0  # of time, where the size doubles
TINY = 200  # bytes of the file whose memory is taken off
LOOK = 0.01  # seconds between two looks at a child


@dataclass(frozen=True)
class Run:
    """What a child did: read, refused, or something else; its time and its memory."""

    outcome: str
    seconds: float
    bytes: int
    message: str = ""


@dataclass(frozen=True)
class Cell:
    """An attack on a reader, measured."""

    reader: str
    kind: str
    outcome: str
    megabytes: float
    honest_megabytes: float
    seconds: float
    growth: float | None  # None: too quick to tell
    message: str
    problem: str  # empty: the bar is reached


class Laboratory:
    """Children on files in a folder, and the figures of honest files, which many cells need."""

    def __init__(self, place: Path, broken: str | None) -> None:
        self.place, self.broken = place, broken
        self._honest: dict[tuple[str, int], Future[Run]] = {}
        self._lock = Lock()

    def measure(self, attack: Attack) -> Cell:
        """Run an attack in both sizes, and its honest file."""
        reader = BY_NAME[attack.reader]
        runs = []
        for size in attack.sizes:
            with self._room() as room:
                attack.make(path := room / (attack.file or reader.file), size)
                held = disk_bytes(path) if attack.bytes is None else attack.bytes
                runs.append(self.run(reader.door, path))
            if runs[-1].outcome not in ("read", "refused"):
                break
        base, yard = self.honest(reader, TINY), BY_NAME[attack.like or reader.name]
        honest = self.honest(yard, held), self.honest(yard, TINY)
        return judge(attack, runs, base=base, honest=honest)

    def honest(self, reader: Reader, size: int) -> Run:
        """The run of an honest file, once for all that ask."""
        with self._lock:
            mine = (reader.name, size) not in self._honest
            future = self._honest.setdefault((reader.name, size), Future())
        if mine:
            try:
                with self._room() as room:
                    reader.honest(room / reader.file, size)
                    future.set_result(self.run(reader.door, room / reader.file, broken=False))
            except BaseException as error:  # or those that wait would wait for ever
                future.set_exception(error)
                raise
        return future.result()

    def run(self, door: str, path: Path, *, broken: bool = True) -> Run:
        """Read a file in a child."""
        command = [sys.executable, str(HERE / "attack_child.py"), door, str(path)]
        command += [self.broken] if self.broken and broken else []
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
            ended, most = watch(child)
            output, errors = child.communicate()
        if ended:
            return Run(ended, SECONDS, most)
        if child.returncode not in (0, 2) or not output:
            last = errors.decode(errors="replace").strip().rpartition("\n")[2]
            return Run(f"exit {child.returncode}", 0.0, most, last)
        about: dict[str, Any] = json.loads(output)
        return Run(about["outcome"], about["seconds"], max(about["bytes"], most), about["message"])

    @contextmanager
    def _room(self) -> Iterator[Path]:
        """An empty folder, for as long as it is needed."""
        with tempfile.TemporaryDirectory(dir=self.place) as folder:
            yield Path(folder)


def watch(child: subprocess.Popen[bytes]) -> tuple[str, int]:
    """Wait for a child, and end it where it takes too much; the reason, and the most memory of it and its own."""
    most, begin = 0, monotonic()
    while child.poll() is None:
        most = max(most, sum(map(resident_bytes, family(child.pid))))
        if most > BYTES or processor_seconds(child.pid) > SECONDS or monotonic() - begin > PATIENCE:
            for member in reversed(family(child.pid)):
                os.kill(member, 9)
            child.wait()
            return ("memory" if most > BYTES else "time"), most
        sleep(LOOK)
    return "", most


def family(pid: int) -> list[int]:
    """A process and those that it started."""
    try:
        below = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    except OSError:  # it has ended meanwhile
        return [pid]
    return [pid, *(member for each in below for member in family(int(each)))]


def resident_bytes(pid: int) -> int:
    """Memory of a process now; 0 if it has ended."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_bytes().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0


def processor_seconds(pid: int) -> float:
    """Time of the processor that a process has taken, by its own threads alone; 0 if it has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def disk_bytes(path: Path) -> int:
    """Bytes of a file, or of all files of a folder."""
    files = [each for each in path.rglob("*") if each.is_file()] if path.is_dir() else [path]
    return sum(each.stat().st_size for each in files)


def judge(attack: Attack, runs: list[Run], *, base: Run, honest: tuple[Run, Run]) -> Cell:
    """Hold the runs of an attack to the bars; ``honest`` are the runs of the honest file, and of its tiny one."""
    last, (whole, tiny) = runs[-1], honest
    taken, allowed = max(last.bytes - base.bytes, 0), max(whole.bytes - tiny.bytes, 0)
    spent = [max(run.seconds - base.seconds, 0.01) for run in runs]
    growth = spent[1] / max(spent[0], QUICK / 2) if len(spent) == 2 and spent[1] > QUICK else None
    problem = ""
    if last.outcome not in ("read", "refused"):
        problem = f"ended by {last.outcome}" if last.outcome in ("time", "memory") else f"{last.outcome}: no refusal"
    elif whole.outcome != "read":
        problem = f"its honest file is not read: {whole.outcome} {whole.message}"
    elif taken > RATIO * max(allowed, LEAST):
        problem = f"memory {taken / max(allowed, 1):.1f} times that of an honest file"
    elif growth is not None and growth > GROWTH:
        problem = f"time grows by {growth:.1f}"
    elif attack.refused and last.outcome != "refused":
        problem = "not refused"
    return Cell(
        attack.reader, attack.kind, last.outcome, taken / 1e6, allowed / 1e6, spent[-1], growth, last.message, problem
    )


def show(cell: Cell) -> str:
    """A line of the table."""
    growth = "-" if cell.growth is None else f"{cell.growth:.1f}"
    figures = f"{cell.megabytes:8.0f} {cell.honest_megabytes:8.0f} {cell.seconds:7.2f} {growth:>7}"
    return f"  {cell.reader:20} {cell.kind:18} {cell.outcome:8} {figures}   {cell.problem or 'reached'}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=list(BY_NAME), metavar="READER", help="these readers alone")
    kinds = sorted({attack.kind for attack in ATTACKS})
    parser.add_argument("--kinds", nargs="+", choices=kinds, metavar="KIND", help=", ".join(kinds))
    parser.add_argument("--jobs", type=int, default=2, help="children at a time")
    parser.add_argument("--json", action="store_true", help="print the cells as JSON")
    parser.add_argument("--break", choices=list(BREAKS), dest="broken", help="take a limit away: bars must be missed")
    given = parser.parse_args()
    wanted = [
        attack
        for attack in ATTACKS
        if (not given.only or attack.reader in given.only) and (not given.kinds or attack.kind in given.kinds)
    ]
    if not given.json:
        print(machine())
        print(f"{len(wanted)} attacks{f', without the {given.broken}' if given.broken else ''}; memory in MB")
        print(f"  {'reader':20} {'attack':18} {'outcome':8} {'memory':>8} {'honest':>8} {'s':>7} {'growth':>7}   bar")
    cells = []
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(given.jobs) as pool:
        for cell in pool.map(Laboratory(Path(folder), given.broken).measure, wanted):
            cells.append(cell)
            if not given.json:
                print(show(cells[-1]), flush=True)
                if cells[-1].problem and cells[-1].message:
                    print(f"      {cells[-1].message[:160]}")
    missed = [f"{cell.reader}/{cell.kind}" for cell in cells if cell.problem]
    if given.json:
        print(json.dumps([asdict(cell) for cell in cells], indent=1))
    else:
        print(f"{len(missed)} of {len(cells)} beyond their bar (bar none: {'MISSED' if missed else 'reached'})")
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
