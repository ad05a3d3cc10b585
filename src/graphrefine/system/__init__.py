"""The machine: threads, files, work folders, storage, memory.

For others: `threads.usable_threads`, `threads.one_blas_thread` and `threads.map_tasks`; outputs in one step,
`files.replacing` and `files.replacing_folder`; `work_folder.WorkFolder`; `storage.open_storage`; `memory.private_bytes`
and `memory.available_bytes`; `as_plain`.
"""

from __future__ import annotations

from typing import Any


def as_plain(value: Any) -> Any:
    """The number, truth value or text that a NumPy scalar holds, as Python's own; anything else as it is.

    Examples
    --------
    >>> import numpy as np
    >>> as_plain(np.int64(8)), as_plain(np.True_), as_plain("8"), as_plain([np.int64(8)])
    (8, True, '8', [np.int64(8)])
    """
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    return value.item() if kind and kind in "biufU" and getattr(value, "ndim", 1) == 0 else value
