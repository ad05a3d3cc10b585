"""Memory of this process: in use, at its peak, and free; sizes as people write them.

One measure everywhere, in budgets, forecasts and figures: memory that belongs to the process alone. Pages of mapped
files are the system's own, and it takes them back when others need them.
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
import threading
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from graphrefine.errors import InputError

CGROUPS = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)
STATM, MEMINFO = Path("/proc/self/statm"), Path("/proc/meminfo")  # of Linux: psutil takes longer to import than to ask
UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
SHARE = 0.9  # of the free memory, where no budget is given: others need memory too
INTERVAL = 0.005  # seconds between two looks at the memory in use


def private_bytes(pid: int | None = None) -> int:
    """Memory of a process (this one by default) without the pages of mapped files."""
    if pid is None and STATM.exists():
        resident, shared = map(int, STATM.read_bytes().split()[1:3])
        return (resident - shared) * os.sysconf("SC_PAGE_SIZE")
    import psutil

    return _private(psutil.Process(pid))


def tree_bytes(pid: int | None = None) -> int:
    """Memory of a process and of all processes that it started, in the measure of `private_bytes`."""
    import psutil

    process = psutil.Process(pid)
    total = 0
    for member in [process, *process.children(recursive=True)]:
        try:
            total += _private(member)
        except psutil.Error:  # it has ended meanwhile
            continue
    return total


def _private(process: Any) -> int:
    """Resident memory less what is shared, where the system counts that; else the unique set size."""
    memory = process.memory_info()
    if hasattr(memory, "shared"):  # Linux: pages of files, and shared memory
        return int(memory.rss - memory.shared)
    if sys.platform == "win32":
        return int(memory.private)
    return int(process.memory_full_info().uss)


def release_free_memory() -> None:
    """Give memory that was freed back to the system now, where the C library can keep it for later (glibc)."""
    if sys.platform.startswith("linux"):
        with suppress(OSError, AttributeError):  # another C library, which keeps less
            ctypes.CDLL(None).malloc_trim(0)


def available_bytes() -> int | None:
    """Memory that this process could still take without swapping, within the limits of its container."""
    free = _free_bytes()
    for limit, used in CGROUPS:
        try:
            room = int(Path(limit).read_text()) - int(Path(used).read_text())
        except (OSError, ValueError):  # no such file, or "max"
            continue
        free = min(free, room)
    return free


def _free_bytes() -> int:
    """Memory that processes could still take without swapping."""
    with suppress(OSError):
        line = next((line for line in MEMINFO.read_bytes().splitlines() if line.startswith(b"MemAvailable:")), None)
        if line is not None:
            return int(line.split()[1]) * 1024
    import psutil

    return int(psutil.virtual_memory().available)


class PeakMemory:
    """The peak of memory in use while a block of code runs, by looking again and again.

    ``tree=True`` counts the processes that this one started too (`tree_bytes`), and looks less often.

    Examples
    --------
    >>> with PeakMemory() as peak:
    ...     ballast = bytearray(50_000_000)
    >>> peak.bytes > 50_000_000
    True
    """

    def __init__(self, *, tree: bool = False) -> None:
        self.bytes = 0
        self._measure, self._interval = (tree_bytes, 20 * INTERVAL) if tree else (private_bytes, INTERVAL)
        self._end = threading.Event()
        self._watch = threading.Thread(target=self._sample, daemon=True)

    def __enter__(self) -> PeakMemory:
        self.look()
        self._watch.start()
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._end.set()
        self._watch.join()
        self.look()

    def look(self) -> int:
        """Memory in use at this moment; the peak takes note of it."""
        now = self._measure()
        self.bytes = max(self.bytes, now)
        return now

    def _sample(self) -> None:
        while not self._end.wait(self._interval):
            self.look()


def gigabytes(size: float) -> str:
    """Bytes for people.

    Examples
    --------
    >>> gigabytes(2_500_000_000), gigabytes(7_000_000)
    ('2.5 GB', '7 MB')
    """
    return f"{size / 1e9:,.1f} GB" if size >= 1e8 else f"{size / 1e6:,.0f} MB"


def megabytes(size: int) -> str:
    """Bytes for people who will type the number, rounded up.

    Examples
    --------
    >>> megabytes(1_234_500_001)
    '1235MB'
    """
    return f"{-(-size // 10**6)}MB"


def parse_size(text: str | int) -> int:
    """Bytes, from a number with a unit.

    Examples
    --------
    >>> parse_size("8GB"), parse_size("1.5 GiB"), parse_size("300M"), parse_size(1000)
    (8000000000, 1610612736, 300000000, 1000)
    """
    size = re.fullmatch(r"\s*([0-9]{1,30}(?:\.[0-9]+)?)\s*([kmgt]?)(i?)b?\s*", str(text), re.IGNORECASE)
    if size is None or float(size[1]) <= 0 or (size[3] and not size[2]):
        raise InputError(f"memory={text!r} is not a size; give one such as 8GB, 500MB or 16GiB", argument="memory")
    unit = size[2].lower()
    scale = 1024 ** " kmgt".index(unit) if size[3] else UNITS[unit]
    return int(float(size[1]) * scale)


def budget_of(memory: str | int | None) -> int:
    """Return the budget in bytes: as given, else most of the free memory."""
    if memory is not None:
        return parse_size(memory)
    free = available_bytes()
    return int((free or 1 << 62) * SHARE) + private_bytes()
