"""How much memory this process holds, has held at most, and could still have."""

from __future__ import annotations

import os
import sys
from pathlib import Path

CGROUPS = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)


def peak_bytes() -> int:
    """The most memory that this process has held so far; 0 where the system does not tell (Windows)."""
    try:
        # getrusage counts what the process that started this one held at that moment; this counts from there on.
        with open("/proc/self/status", "rb") as status:  # noqa: PTH123  a pseudo-file
            return next(int(line.split()[1]) * 1024 for line in status if line.startswith(b"VmHWM:"))
    except (OSError, StopIteration):
        pass
    try:
        import resource
    except ImportError:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def held_bytes() -> int:
    """What this process holds now."""
    try:
        with open("/proc/self/statm") as statm:  # noqa: PTH123  a pseudo-file
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGESIZE")
    except OSError:
        return peak_bytes()


def private_bytes() -> int:
    """What this process holds for itself alone now, pages of mapped files aside."""
    try:
        with open("/proc/self/status", "rb") as status:  # noqa: PTH123  a pseudo-file
            return sum(int(line.split()[1]) * 1024 for line in status if line.startswith((b"RssAnon:", b"RssShmem:")))
    except OSError:
        return held_bytes()


def available_bytes() -> int | None:
    """What this process could still take without swapping, the limits of its container respected; None if unknown."""
    free = _free_bytes()
    for limit, used in CGROUPS:
        try:
            room = int(Path(limit).read_text()) - int(Path(used).read_text())
        except (OSError, ValueError):  # no such file, or "max"
            continue
        free = room if free is None else min(free, room)
    return free


def _free_bytes() -> int | None:
    try:
        with open("/proc/meminfo", "rb") as meminfo:  # noqa: PTH123  a pseudo-file
            return next(int(line.split()[1]) * 1024 for line in meminfo if line.startswith(b"MemAvailable:"))
    except (OSError, StopIteration):
        pass
    try:  # macOS and other Unixes: all there is, for want of what is free
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGESIZE")
    except (AttributeError, OSError, ValueError):
        return None


def gigabytes(size: float) -> str:
    """Bytes for people.

    Examples
    --------
    >>> gigabytes(2_500_000_000), gigabytes(7_000_000)
    ('2.5 GB', '7 MB')
    """
    return f"{size / 1e9:,.1f} GB" if size >= 1e8 else f"{size / 1e6:,.0f} MB"
