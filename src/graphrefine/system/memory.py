"""Memory of this process: in use, at its peak, and free; sizes as people write them.

Everywhere it is the memory that belongs to the process alone: pages of mapped files are taken back when others need it.
"""

from __future__ import annotations

import ctypes
import re
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from graphrefine.errors import InputError

if TYPE_CHECKING:
    import psutil

# Limit and use of a container's memory, of version 2 and 1 of Linux's control groups. psutil asks for neither, and has
# the free memory of the whole machine, at which a container would be killed.
CGROUPS = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)
SHARE = 0.9  # of the free memory, where no budget is given: others need memory too
# Seconds between two looks at the memory in use. A buffer of a stage that lasts a few milliseconds counts in the peak;
# a look takes about 20 microseconds.
INTERVAL = 0.005


def private_bytes() -> int:
    """Return the memory of this process without the pages of mapped files."""
    import psutil  # 15 ms, which `graphrefine --help` need not wait for

    return _private(psutil.Process())


def tree_bytes(pid: int | None = None) -> int:
    """Return the memory of a process and of all processes that it started, in the measure of `private_bytes`."""
    import psutil

    process = psutil.Process(pid)
    total = 0
    for member in [process, *process.children(recursive=True)]:
        with suppress(psutil.Error):  # it has ended meanwhile
            total += _private(member)
    return total


def _private(process: psutil.Process) -> int:
    memory = process.memory_info()
    # Resident memory less what is shared, where the system counts that: Linux has both in one small file. The unique
    # set size, which is the same, adds up all mappings there, and takes milliseconds.
    if hasattr(memory, "shared"):
        return int(memory.rss - memory.shared)
    return int(process.memory_full_info().uss)


def release_free_memory() -> None:
    """Return freed memory to the system now, where the C library can keep it for later (glibc)."""
    if sys.platform.startswith("linux"):
        with suppress(OSError, AttributeError):  # another C library, which keeps less
            ctypes.CDLL(None).malloc_trim(0)


def available_bytes() -> int:
    """Return the memory that this process could still take without swapping, within the limits of its container."""
    import psutil

    free = int(psutil.virtual_memory().available)
    for limit, used in CGROUPS:
        with suppress(OSError, ValueError):  # no such file, or "max"
            free = min(free, int(Path(limit).read_text()) - int(Path(used).read_text()))
    return free


class PeakMemory:
    """The peak of memory in use while a block of code runs, sampled by a thread.

    ``tree=True`` counts the processes that this one started too (`tree_bytes`), and looks less often.
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

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._watch.join()
        self.look()

    def look(self) -> int:
        """Return the memory in use at this moment; the peak takes note of it."""
        now = self._measure()
        self.bytes = max(self.bytes, now)
        return now

    def _sample(self) -> None:
        while not self._end.wait(self._interval):
            self.look()


def gigabytes(size: float) -> str:
    """Format bytes for people."""
    return f"{size / 1e9:,.1f} GB" if size >= 1e8 else f"{size / 1e6:,.0f} MB"


def megabytes(size: int) -> str:
    """Format bytes for people who will type the number, rounded up."""
    return f"{-(-size // 10**6)}MB"


def parse_size(text: str | int) -> int:
    """Return the bytes of a number with a unit.

    Examples
    --------
    >>> parse_size("8GB"), parse_size("1.5 GiB"), parse_size("300M"), parse_size(1000)
    (8000000000, 1610612736, 300000000, 1000)
    """
    size = re.fullmatch(r"\s*([0-9]{1,30}(?:\.[0-9]+)?)\s*([kmgt]?)(i?)b?\s*", str(text), re.IGNORECASE)
    if size is None or float(size[1]) <= 0 or (size[3] and not size[2]):
        raise InputError(f"memory={text!r} is not a size; give one such as 8GB, 500MB or 16GiB", argument="memory")
    power = " kmgt".index(size[2].lower() or " ")
    return int(float(size[1]) * (1024 if size[3] else 1000) ** power)


def budget_of(memory: str | int | None) -> int:
    """Return the budget in bytes: as given, else most of the free memory."""
    if memory is not None:
        return parse_size(memory)
    return int(available_bytes() * SHARE) + private_bytes()
