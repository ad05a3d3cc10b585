"""A child that tries inputs one after the other, and says in shared memory which one it is at.

Input ``i`` of a target depends on the seed and on ``i`` only, however many workers there are: those of the corpus come
first, then the seeds as they are, then mutated seeds.
"""

from __future__ import annotations

import faulthandler
import gc
import json
import mmap
import os
import resource
import shutil
import signal
import struct
import sys
import time
import traceback
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random

from fuzz.findings import Finding, Kind, describe, keep_input
from fuzz.mutations import LONGEST, mutate
from fuzz.target import Target

HEAD = struct.Struct("@qdqqq")  # index, when it began, inputs done, inputs refused, length of the input
SPACE = 1 << 40  # address space beyond which a limit of it means nothing: sanitizers map terabytes


class Board:
    """Memory that a worker and its parent share: what the worker is at."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, HEAD.size + LONGEST)
        self.done = self.refused = 0
        self.begin(-1, b"")

    def begin(self, index: int, data: bytes) -> None:
        """Say which input comes next."""
        data = data[:LONGEST]
        self._memory[HEAD.size : HEAD.size + len(data)] = data
        head = HEAD.pack(index, time.monotonic(), self.done, self.refused, len(data))
        self._memory[: HEAD.size] = head  # at once: pack_into writes zeros first, and a look at these is a hang

    def read(self) -> tuple[int, float, bytes]:
        """The index, the time of its beginning, and the input; counts are read too."""
        index, began, self.done, self.refused, length = HEAD.unpack_from(self._memory, 0)
        return index, began, self._memory[HEAD.size : HEAD.size + length]

    def peek(self) -> tuple[int, float]:
        """The index and the time of its beginning."""
        index, began, self.done, self.refused, _ = HEAD.unpack_from(self._memory, 0)
        return index, began


@dataclass(frozen=True)
class Order:
    """What a worker is to do: inputs ``first``, ``first + step``, ... below ``end``, until a time."""

    seed: int
    first: int
    step: int
    end: int
    until: float  # monotonic
    memory: int  # bytes
    findings: Path


def make_inputs(target: Target, seeds: list[bytes], order: Order) -> Iterator[tuple[int, bytes]]:
    """The inputs of a worker, with their indices."""
    whole = target.list_corpus() + seeds
    for index in range(order.first, order.end, order.step):
        if index < len(whole):
            yield index, whole[index]
        else:
            rng = Random(f"{order.seed} {target.name} {index}")
            data = rng.choice(seeds)
            yield index, target.mutate(rng, data) if target.mutate is not None else mutate(rng, data, seeds)


def work(target: Target, seeds: list[bytes], order: Order, board: Board, folder: Path) -> None:
    """Try inputs until the order is done, or this process has lived long enough; never returns."""
    prepare(folder)
    place = folder / "place"
    place.mkdir(exist_ok=True)
    if target.prepare is not None:
        lasting = folder / "lasting"
        lasting.mkdir(exist_ok=True)
        target.prepare(lasting)
    limit_memory(2 * order.memory)  # the first input imports what it needs, and starts threads
    seen: set[str] = set()
    with open(folder / "found.jsonl", "a", encoding="utf-8") as found:  # noqa: PTH123 (kept open)
        for count, (index, data) in enumerate(make_inputs(target, seeds, order)):
            if count >= target.life or time.monotonic() > order.until:
                break
            board.begin(index, data)
            finding = attempt(target, data, place, board)
            used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
            if used > order.memory:
                finding = ("memory", "resident memory", f"{used} bytes were resident")
            board.done += 1
            if finding is not None:
                kind, where, detail = finding
                name = keep_input(target.name, data, order.findings)
                new = where not in seen
                seen.add(where)
                what = Finding(target.name, kind, where, index, name, detail if new else "")
                found.write(json.dumps(asdict(what)) + "\n")
                found.flush()
            empty(place)
            if count == 0:
                limit_memory(order.memory)
            if used > order.memory or (count % 256 == 255 and resident() > order.memory // 2):
                board.begin(index + order.step, b"")
                os._exit(0)
        else:
            board.begin(order.end, b"")
            os._exit(0)
    board.begin(index, b"")
    os._exit(0)


def attempt(target: Target, data: bytes, place: Path, board: Board) -> tuple[Kind, str, str] | None:
    """Run a target on an input: the kind, place and text of what is wrong, if anything."""
    try:
        target.run(data, place)
    except target.errors:
        board.refused += 1
    except MemoryError as error:
        return "memory", describe(error), traceback.format_exc()
    except BaseException as error:
        return "traceback", describe(error), traceback.format_exc()
    return None


def prepare(folder: Path) -> None:
    """Make this child quiet, deaf to the keyboard, and able to say where it is when it dies."""
    dumps = (folder / "dump").open("w")
    faulthandler.enable(dumps, all_threads=True)
    faulthandler.register(signal.SIGUSR1, dumps, all_threads=True)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if "FUZZ_LOUD" not in os.environ:
        null = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(null, number)
    os.chdir(folder)
    os.environ["TMPDIR"] = str(folder)
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    gc.freeze()
    sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: PTH123, SIM115


def limit_memory(size: int) -> None:
    """Let no more address space be taken than ``size`` above what is taken now."""
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * mmap.PAGESIZE
    if taken < SPACE:
        resource.setrlimit(resource.RLIMIT_AS, (taken + size, resource.RLIM_INFINITY))


def resident() -> int:
    """Bytes of this process in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * mmap.PAGESIZE


def empty(folder: Path) -> None:
    """Remove all that lies in a folder."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path, ignore_errors=True)
            else:
                os.unlink(entry.path)  # noqa: PTH108 (once per input)
