"""The machine: threads, files, work folders, storage, memory.

For others: `usable_threads`; outputs in one step, `files.replacing` and `files.replacing_folder`;
`work_folder.WorkFolder`; `storage.open_storage`; `memory.private_bytes` and `memory.available_bytes`.
"""

from __future__ import annotations

import os

from graphrefine.errors import InputError


def usable_threads(threads: int | None) -> int:
    """The number of threads to use: the number that was set, else one for each core this process may run on."""
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if threads < 1:
        raise InputError(f"threads must be at least 1, not {threads}", argument="threads")
    return threads
