"""Marks of output folders: a file of JSON says what a folder is (``format``), and which files belong to it (``files``).

`files.check_only` refuses to replace a folder that holds any other.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def read_mark(path: Path, mark: str) -> dict[str, Any] | None:
    """The file of JSON that says what its folder is; None unless it can be read, and says ``format``: `mark`."""
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) and content.get("format") == mark else None


def listed_files(content: Mapping[str, Any], *more: str) -> set[str]:
    """The names under ``files``, and those of `more`.

    Examples
    --------
    >>> sorted(listed_files({"files": {"indptr.npy": 136}}, "manifest.json"))
    ['indptr.npy', 'manifest.json']
    """
    files = content.get("files")
    return {*(files if isinstance(files, dict) else ()), *more}
