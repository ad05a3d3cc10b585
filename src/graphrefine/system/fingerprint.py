"""Fingerprints: digits that differ for different arrays, bytes or values of JSON.

Graphs on disk, work folders, comparisons and measurements store them: they stay the same from version to version.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np
from numpy.typing import NDArray


def hash_parts(*parts: NDArray[Any] | bytes | None) -> str:
    """Digits of arrays and bytes, one after the other; None is a part too.

    Examples
    --------
    >>> hash_parts(np.arange(3)) == hash_parts(np.arange(3)), hash_parts(b"a", None) == hash_parts(b"a")
    (True, False)
    """
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        digest.update(part if isinstance(part, bytes) else b"-" if part is None else np.ascontiguousarray(part).data)
    return digest.hexdigest()


def hash_json(value: Any) -> str:
    """Digits of a value of JSON, whatever the order of its keys.

    Examples
    --------
    >>> hash_json({"b": 1, "a": [1, 2]}) == hash_json({"a": [1, 2], "b": 1})
    True
    """
    return hashlib.sha256(json.dumps(value, sort_keys=True, allow_nan=False).encode()).hexdigest()[:24]
