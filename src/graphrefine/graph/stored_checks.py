"""Checks of a graph on disk: its manifest, its files, the bounds of its rows and the entries of each block.

Checksums find damage; the others hold for every file, so that one that was made to deceive is refused too.
"""

from __future__ import annotations

import json
import zlib
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import FormatError
from graphrefine.graph.adjacency import describe_reading
from graphrefine.graph.stored_writer import MARK, OWN_CHECKSUM, REVERSE, VERSION, crc_of, sum_manifest
from graphrefine.system.checks import version_problem

AGAIN = "ingest it again"
MOST = np.iinfo(np.int32).max  # nodes, whose numbers are int32
STEP = 1 << 20  # rows whose bounds are compared at a time
_FIELDS = {"nodes": int, "entries": int, "directed": bool, "weighted": bool, "names": str, "report": dict}
_FIELDS |= {"source": str, "files": dict, "checksums": dict, "blocks": list}


def check_manifest(folder: Path, text: bytes) -> dict[str, Any]:
    """Return the manifest of a folder, if it is whole and of a layout that is known here."""
    try:
        manifest = json.loads(text)
        mark, version = manifest["format"], manifest["version"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise FormatError(folder, f"manifest.json is damaged or not of a graph on disk; {AGAIN}") from None
    if mark != MARK:
        raise FormatError(folder, f"manifest.json is of {mark!r}, not of a graph on disk")
    if problem := version_problem(version, VERSION):
        raise FormatError(folder, f"{problem}, or {AGAIN}")
    expected = manifest.get(OWN_CHECKSUM)
    if expected is not None and expected != (actual := sum_manifest(manifest)):
        raise damage(folder, f"manifest.json has the checksum {actual}, not {expected}")
    if problem := _find_problem(manifest):
        raise damage(folder, f"manifest.json has no proper {problem!r}")
    return dict(manifest)


def _find_problem(manifest: dict[str, Any]) -> str | None:
    """Return the first field that is not as it must be."""
    for name, kind in _FIELDS.items():
        if type(manifest.get(name)) is not kind:
            return name
    nodes, entries, sources = manifest["nodes"], manifest["entries"], manifest.get("sources")
    if not 0 <= nodes <= MOST or entries < 0:
        return "nodes"
    if manifest["names"] not in ("range", "integers", "strings"):
        return "names"
    if sources is not None and (type(sources) is not int or not 0 <= sources <= nodes):
        return "sources"
    for table in ("files", "checksums"):
        if any(type(value) is not int or Path(name).name != name for name, value in manifest[table].items()):
            return table
    columns = {"indices", "weights"} if manifest["weighted"] else {"indices"}
    for table in ("blocks", f"{REVERSE}blocks") if manifest["directed"] else ("blocks",):
        if not _is_table(manifest.get(table), nodes, entries, columns):
            return table
    try:
        describe_reading(manifest["report"], directed=manifest["directed"], weights=None, edges=entries)
    except (TypeError, ValueError, AttributeError, LookupError, OverflowError):
        return "report"
    return None


def _is_table(table: Any, nodes: int, entries: int, columns: set[str]) -> bool:
    """Return whether blocks follow each other from the first row and entry to the last, each with its checksums."""
    try:
        rows = [0, *(block["rows"][1] for block in table)]
        ends = [0, *(block["entries"][1] for block in table)]
        whole = [block["rows"] for block in table] == [list(pair) for pair in pairwise(rows)]
        whole &= [block["entries"] for block in table] == [list(pair) for pair in pairwise(ends)]
        whole &= all(set(block["crc32"]) == columns for block in table)
        sums = [value for block in table for value in block["crc32"].values()]
    except (KeyError, IndexError, TypeError):
        return False
    if not whole or any(type(value) is not int for value in (*rows, *ends, *sums)):
        return False
    return (rows[-1], ends[-1]) == (nodes, entries) and rows == sorted(rows) and ends == sorted(ends)


def check_file(path: Path, size: int, crc: int | None) -> None:
    """Check the size of a file and, unless None, its checksum."""
    try:
        actual = path.stat().st_size
    except FileNotFoundError:
        raise FormatError(path.parent, f"{path.name} is missing: not a whole graph; {AGAIN}") from None
    if actual != size:
        raise FormatError(path.parent, f"{path.name} has {actual} bytes, not {size}: cut short or changed; {AGAIN}")
    if crc is not None and (actual := crc_of(path)) != crc:
        raise damage(path.parent, f"{path.name} has the checksum {actual:08x}, not {crc:08x}")


def check_bounds(path: Path, side: str, indptr: NDArray[np.int64], table: list[dict[str, Any]]) -> None:
    """Check that bounds of rows ascend, and are those of the blocks."""
    # Some rows at a time: the comparison of all would take a byte for each node of a graph that may not fit memory.
    for start in range(0, len(indptr) - 1, STEP):
        some = indptr[start : start + STEP + 1]
        falls = np.flatnonzero(some[1:] < some[:-1])
        if len(falls):
            row = start + int(falls[0])
            raise damage(path, f"{side}indptr.npy, row {row:,} runs from {indptr[row]} to {indptr[row + 1]}")
    for rows, entries in ((block["rows"], block["entries"]) for block in ({"rows": [0], "entries": [0]}, *table)):
        if int(indptr[rows[-1]]) != entries[-1]:
            raise damage(path, f"{side}indptr.npy has {indptr[rows[-1]]} at row {rows[-1]:,}, not {entries[-1]}")


def check_block(
    path: Path, file: str, block: dict[str, Any], arrays: dict[str, NDArray[Any]], *, number: int, nodes: int
) -> None:
    """Check the checksums of a block; then that columns are in range and ascend, and that weights are positive.

    `arrays` are ``indptr``, from the first row of the block to the end of its last, and the block's ``indices`` and
    ``weights``; `file` is the prefix of their files.
    """
    first, last = block["entries"]
    for name, expected in block["crc32"].items():
        actual = zlib.crc32(arrays[name].view(np.uint8).data)
        check_sum(path, f"{file}{name}", number, (first, last), actual=actual, expected=expected)
    bad = _find_entry(arrays, nodes)
    if bad is not None:
        name, at, fault = bad
        row = block["rows"][0] + int(np.searchsorted(arrays["indptr"] - first, at, side="right")) - 1
        problem = f"{file}{name}.npy, entry {first + at:,} (row {row:,}) is {arrays[name][at]}, {fault}"
        raise FormatError(path, f"{problem}: no graph on disk that graphrefine has written; {AGAIN}")


def _find_entry(arrays: dict[str, NDArray[Any]], nodes: int) -> tuple[str, int, str] | None:
    """Return file, position and fault of the first entry of a block that no graph has; None if all are sound."""
    indices, weights = arrays["indices"], arrays.get("weights")
    if len(indices) == 0:
        return None
    # One comparison for both ends: as unsigned numbers, negative ones are larger than any count of nodes. An entry that
    # passed would make the kernels, which check no index, read or write outside of their arrays.
    beyond = indices.view(np.uint32) >= np.uint32(nodes)
    if beyond.any():
        return "indices", int(beyond.argmax()), f"and there are {nodes:,} nodes"
    # The first column of a row need not be larger than the last of the row before.
    falls = indices[1:] <= indices[:-1]
    starts = arrays["indptr"][1:-1] - arrays["indptr"][0]  # of the rows but the first
    falls[starts[(starts > 0) & (starts < len(indices))] - 1] = False
    if falls.any():
        return "indices", int(falls.argmax()) + 1, "and the columns of a row ascend"
    if weights is not None and not (weights.min() > 0 and weights.max() < np.inf):
        return "weights", int((~((weights > 0) & (weights < np.inf))).argmax()), "and weights are positive and finite"
    return None


def check_sum(path: Path | str, file: str, block: int, entries: tuple[int, int], *, actual: int, expected: int) -> None:
    """Raise FormatError unless the checksum of a block is the one that was written."""
    if actual != expected:
        first, last = entries
        where = f"{file}.npy, block {block} (entries {first:,} to {last:,})"
        raise damage(path, f"{where} has the checksum {actual:08x}, not {expected:08x}")


def damage(path: Path | str, problem: str) -> FormatError:
    """Return the error of a graph on disk that is not as it was written."""
    return FormatError(path, f"{problem}: it is damaged; {AGAIN}")
