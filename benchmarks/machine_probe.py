"""The floor of a machine: memory bandwidth in order and at random, and multiplications, measured by compiled loops.

The loops of ``machine_probe.cpp`` are compiled for this processor when they are first needed, by the compiler named in
CXX, else by the first of c++, g++ and clang++ that is there. Their buffers are in huge pages where the system has them.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

LINE = 64  # bytes of a line of the cache
LINES = (1, 2, 4, 8)  # of a row, as they are compiled
AHEAD = (8, 16, 32, 64, 128)  # rows between a prefetch and its use
HINTS = ("no prefetch", "prefetch into all levels", "prefetch into L2", "prefetch for one use")
LONGEST = max(AHEAD)


class NoCompilerError(Exception):
    """There is nothing to compile the loops with."""


@dataclass(frozen=True)
class Gathering:
    """The fastest way to gather rows that was found."""

    gbps: float  # 1e9 bytes a second
    way: str


@dataclass(frozen=True)
class Floor:
    """What a number of threads can do at best on this machine; bandwidths in 1e9 bytes a second."""

    threads: int
    read: float
    write: float
    copy: float  # bytes read and bytes written
    gather: dict[int, Gathering]  # by bytes of a row
    gflops: float  # a multiplication and an addition are two operations

    def gather_gbps(self, row_bytes: int) -> float:
        """Bandwidth of random rows: of this size, else of the next smaller that was measured.

        Examples
        --------
        >>> floor = Floor(1, 10.0, 10.0, 10.0, {128: Gathering(5.0, ""), 256: Gathering(7.0, "")}, 100.0)
        >>> floor.gather_gbps(256), floor.gather_gbps(200), floor.gather_gbps(16)
        (7.0, 5.0, 5.0)
        """
        sizes = sorted(self.gather)
        return self.gather[max([size for size in sizes if size <= row_bytes] or sizes[:1])].gbps


def compiler() -> str:
    """The command that compiles C++."""
    for name in (os.environ.get("CXX"), "c++", "g++", "clang++"):
        if name and shutil.which(name):
            return name
    raise NoCompilerError("the floor needs a C++ compiler: install GCC or Clang, or name one in CXX")


def reserve(size: int) -> NDArray[np.uint8]:
    """Fresh memory, in huge pages where the system has them, and written once, so that it is there."""
    pages = mmap.mmap(-1, size)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        pages.madvise(mmap.MADV_HUGEPAGE)
    buffer = np.frombuffer(pages, np.uint8)
    buffer[:] = 1
    return buffer


@dataclass
class MachineProbe:
    """The measurements; ``size`` bytes should be many times the cache."""

    size: int = 1 << 30
    part: int = 1 << 28  # bytes of a measurement in order: short, so that other work meets few of the repeats
    gathers: int = 1 << 19  # rows of a measurement at random
    repeats: int = 7

    @cached_property
    def _loops(self) -> ctypes.CDLL:
        native = "-mcpu=native" if platform.machine() in ("aarch64", "arm64") else "-march=native"
        flags = ["-std=c++17", "-O3", native, "-ffp-contract=fast", "-fPIC", "-shared", "-pthread"]
        with tempfile.TemporaryDirectory() as folder:
            library = Path(folder) / "machine_probe.so"
            command = [compiler(), *flags, str(Path(__file__).with_suffix(".cpp")), "-o", str(library)]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                raise NoCompilerError(f"the loops could not be compiled:\n{done.stderr.strip()}")
            loops = ctypes.CDLL(str(library))
        for name in ("read_memory", "write_memory", "copy_memory", "gather_rows", "multiply_add"):
            getattr(loops, name).restype = ctypes.c_double
        return loops

    @cached_property
    def _matrix(self) -> NDArray[np.uint8]:
        return reserve(self.size)

    def _best(self, run: Callable[[], float]) -> float:
        return min(run() for _ in range(self.repeats))

    def measure(self, threads: int, *, rows: tuple[int, ...] = (128, 256)) -> Floor:
        """The floor for a number of threads; ``rows`` are sizes of gathered rows in bytes."""
        loops, part = self._loops, min(self.part, self.size // 2)
        first, second = (self._matrix[place:].ctypes.data_as(ctypes.c_void_p) for place in (0, part))
        size, count = ctypes.c_int64(part), ctypes.c_int(threads)
        read = part / self._best(lambda: loops.read_memory(first, size, count)) / 1e9
        write = part / self._best(lambda: loops.write_memory(first, size, count)) / 1e9
        copy = 2 * part / self._best(lambda: loops.copy_memory(first, second, size, count)) / 1e9
        gather = {row: self.gather(row, threads) for row in rows}
        return Floor(threads, read, write, copy, gather, self._gflops(threads))

    def gather(self, row_bytes: int, threads: int) -> Gathering:
        """The fastest way to random rows of a matrix that fills the whole buffer."""
        rows = self.size // row_bytes
        drawn = np.random.default_rng(0).integers(0, rows, self.gathers + LONGEST, dtype=np.int32)
        return self.gather_these(drawn, row_bytes, threads)

    def gather_these(
        self,
        rows: NDArray[np.int32],
        row_bytes: int,
        threads: int,
        among: Iterable[tuple[int, int]] | None = None,
        *,
        repeats: int | None = None,
    ) -> Gathering:
        """The fastest way to these rows, all but the last `LONGEST`."""
        seconds = {
            way: self._gather(rows, row_bytes, threads, *way, repeats or self.repeats) for way in among or ways()
        }
        ahead, hint = min(seconds, key=seconds.__getitem__)
        gathered = (len(rows) - LONGEST) * row_bytes
        described = HINTS[hint] + f", {ahead} rows ahead" * (hint > 0)
        return Gathering(gathered / seconds[ahead, hint] / 1e9, described)

    def _gather(
        self, rows: NDArray[np.int32], row_bytes: int, threads: int, ahead: int, hint: int, repeats: int
    ) -> float:
        lines = row_bytes // LINE
        if lines not in LINES or row_bytes % LINE:
            raise ValueError(f"rows of {row_bytes} bytes; they can have {', '.join(str(n * LINE) for n in LINES)}")
        if (int(rows.max()) + 1) * row_bytes > self.size:
            raise ValueError(f"{int(rows.max()) + 1} rows of {row_bytes} bytes are more than the buffer of {self.size}")
        matrix, numbers = (array.ctypes.data_as(ctypes.c_void_p) for array in (self._matrix, rows))
        count, distance = ctypes.c_int64(len(rows) - LONGEST), ctypes.c_int64(ahead)
        gather = self._loops.gather_rows
        return min(float(gather(matrix, lines, numbers, count, distance, hint, threads)) for _ in range(repeats))

    def _gflops(self, threads: int) -> float:
        rounds = 400_000
        seconds = self._best(lambda: self._loops.multiply_add(ctypes.c_int64(rounds), threads))
        return float(2 * rounds * self._loops.fma_width() * threads / seconds / 1e9)


def ways() -> Iterator[tuple[int, int]]:
    """Distances and hints that are tried."""
    yield 0, 0
    for ahead in AHEAD:
        for hint in range(1, len(HINTS)):
            yield ahead, hint


def cache_bytes() -> int:
    """The largest cache of the first processor; 32 MB where the system does not say.

    Examples
    --------
    >>> cache_bytes() > 0
    True
    """
    sizes = [0]
    for path in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size"):
        text = path.read_text().strip()
        sizes.append(int(text[:-1]) << {"K": 10, "M": 20, "G": 30}[text[-1]] if text[-1].isalpha() else int(text))
    return max(sizes) or 32 << 20
