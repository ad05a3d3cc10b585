"""The machine: threads, files, work folders, storage, memory; and the checks of arguments.

For others: `checks`; `threads.usable_threads`, `threads.one_blas_thread` and `threads.map_tasks`; outputs in one step,
`files.replacing` and `files.replacing_folder`; `work_folder.WorkFolder`; `storage.Storage`; `digest`, the one
module of hashes; `memory.private_bytes` and `memory.available_bytes`; `as_plain`; `distinct_keys`.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from graphrefine.errors import InputError


def as_plain(value: Any) -> Any:
    """Return a NumPy scalar as Python's own number, bool or text; anything else as it is."""
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    return value.item() if kind and kind in "biufU" and getattr(value, "ndim", 1) == 0 else value


def distinct_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object by its pairs, for ``object_pairs_hook``; InputError for a duplicate key."""
    # JSON allows a key twice, and Python takes the last: two values for one node, of which one would be lost.
    record = dict(pairs)
    if len(record) < len(pairs):
        ((twice, _),) = Counter(key for key, _ in pairs).most_common(1)
        raise InputError(f"duplicate key {twice!r} in an object")
    return record
