"""Threads: how many a run uses."""

from __future__ import annotations

import os

from graphrefine.errors import InputError


def usable_threads(threads: int | None) -> int:
    """The number of threads to use: as given, else one for each core that this process may run on."""
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if threads < 1:
        raise InputError(f"threads must be at least 1, not {threads}")
    return threads
