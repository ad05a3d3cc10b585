"""Writing the graph on disk that `graphrefine.graph.stored` opens: rows appended in order, then the rest in one pass.

Rows come in any portions; the files do not depend on them. Only `finish` holds memory for each node: one float64. A
writer has a `state` after every portion, and a new writer with that state goes on from there.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np
from numpy.typing import NDArray

from graphrefine.graph.adjacency import Rows, cut_rows, inverses, sums_of_rows
from graphrefine.graph.node_ids import Names, is_range, pack
from graphrefine.kernels import native
from graphrefine.system.arrays import map_npy, npy_header, save_npy
from graphrefine.system.files import check_only, listed_files, read_mark
from graphrefine.system.storage import as_bytes

MARK, VERSION = "graphrefine graph", 1
OWN_CHECKSUM = "crc32"  # of the manifest, in it
# Of a block. A part of the format: the blocks decide which entries a checksum covers, and so the bytes of the manifest.
MOST_ROWS, FEWEST_ENTRIES, MOST_ENTRIES = 1 << 20, 1 << 16, 1 << 25
REVERSE = "reverse_"  # prefix of the files of the reversed arcs
HEADER = 128  # bytes of the header of an .npy file with one axis; NumPy leaves room in it for the count to grow
NameKind = Literal["range", "integers", "strings"]


class NpyFile:
    """A one-dimensional ``.npy`` file that grows at its end."""

    def __init__(self, path: Path, dtype: Any, *, count: int | None = None) -> None:
        """Make the file, or with ``count`` go on with one behind its first ``count`` values."""
        # What a killed run wrote after its last state is cut off: it will come again.
        self.dtype, self.count = np.dtype(dtype), count or 0
        self._file: IO[bytes] = path.open("wb" if count is None else "r+b")
        if count is None:
            self._file.write(self._header())
        else:
            self._file.truncate(HEADER + self.count * self.dtype.itemsize)
            self._file.seek(0, os.SEEK_END)

    def append(self, values: NDArray[Any]) -> None:
        """Add values at the end."""
        self._file.write(np.ascontiguousarray(values, self.dtype).view(np.uint8).data)
        self.count += len(values)

    def fill(self, value: float, count: int) -> None:
        """Add the same value many times."""
        for start in range(0, count, 1 << 20):
            self.append(np.full(min(1 << 20, count - start), value, self.dtype))

    def flush(self) -> None:
        """Hand everything to the system, which has it even if this process is killed."""
        self._file.flush()

    def close(self) -> None:
        """Write the number of values into the header, and close."""
        if not self._file.closed:
            self._file.seek(0)
            self._file.write(self._header())
            self._file.close()

    def _header(self) -> bytes:
        return npy_header(self.dtype, (self.count,))


class StoredWriter:
    """Appends rows in order to the files in a folder, and finishes them with the manifest. A context manager."""

    def __init__(self, folder: Path, *, directed: bool = False, state: Mapping[str, Any] | None = None) -> None:
        """Begin in an empty folder, or go on from ``state``."""
        self.folder, self.directed = folder, directed
        sides = ("", REVERSE) if directed else ("",)
        self._sides = {side: _RowFiles(folder, side, None if state is None else state[side]) for side in sides}

    def __enter__(self) -> StoredWriter:
        return self

    def __exit__(self, *_: object) -> None:
        for rows in self._sides.values():
            rows.close()

    def append(
        self,
        counts: NDArray[np.int64],
        indices: NDArray[np.int32],
        weights: NDArray[np.float32] | None = None,
        *,
        reverse: bool = False,
    ) -> None:
        """Add rows with ``counts`` entries each; ``reverse``: of the reversed arcs, which directed graphs need too."""
        self._sides[REVERSE if reverse else ""].append(counts, indices, weights)

    def state(self) -> dict[str, Any]:
        """Return the number of rows and entries so far, ready for JSON; the system has all of them."""
        return {side: rows.state() for side, rows in self._sides.items()}

    def finish(
        self,
        *,
        names: NameKind,
        report: Mapping[str, Any] | None = None,
        source: str = "memory",
        sources: int | None = None,
        threads: int = 1,
    ) -> None:
        """Sum rows and columns, checksum every block, and write the manifest; `write_names` has written the names."""
        for rows in self._sides.values():
            rows.close()
        forward = self._sides[""].mapped()
        tables = {"blocks": _block_table(forward)}
        inverse = self._degrees(forward)
        arrivals = forward
        if self.directed:
            arrivals = self._sides[REVERSE].mapped()
            tables["reverse_blocks"] = _block_table(arrivals)
        context = NpyFile(self.folder / "context.npy", np.float64)
        for start, stop in pairwise(block_bounds(arrivals.indptr)):
            context.append(native.row_sums(*cut_rows(arrivals, start, stop), inverse, threads=threads))
        context.close()
        manifest = {
            "format": MARK,
            "version": VERSION,
            "nodes": len(forward.indptr) - 1,
            "entries": len(forward.indices),
            "directed": self.directed,
            "weighted": forward.weights is not None,
            "sources": sources,
            "names": names,
            "report": dict(report or {}),
            "source": source,
            **_files_of(self.folder),
            **tables,
        }
        # The manifest is last: a folder without one is no graph on disk.
        text = json.dumps({**manifest, OWN_CHECKSUM: sum_manifest(manifest)}, indent=1, allow_nan=False)
        (self.folder / "manifest.json").write_text(text + "\n", encoding="utf-8")

    def _degrees(self, rows: Rows) -> NDArray[np.float64]:
        """Write the degrees if they are not plain counts; return their inverses.  # (n,)."""
        inverse = np.empty(len(rows.indptr) - 1)
        file = None if rows.weights is None else NpyFile(self.folder / "degrees.npy", np.float64)
        for start, stop in pairwise(block_bounds(rows.indptr)):
            block = cut_rows(rows, start, stop)
            sums = sums_of_rows(block.indptr, block.weights)
            if file is not None:
                file.append(sums)
            inverse[start:stop] = inverses(sums)
        if file is not None:
            file.close()
        return inverse


def write_names(folder: Path, names: Names) -> NameKind:
    """Write names as `graphrefine.embedding.formats.folder` does, and say of which kind they are."""
    if is_range(names):
        return "range"
    if names.dtype != object:
        save_npy(folder / "names.npy", names)
        return "integers"
    text, offsets = pack(names)
    save_npy(folder / "names.npy", text)
    save_npy(folder / "offsets.npy", offsets)
    return "strings"


def block_bounds(indptr: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the rows at which blocks begin, and the number of rows: see `stored`.  # (blocks + 1,)."""
    rows, entries = len(indptr) - 1, int(indptr[-1])
    most = min(max(entries // 16, FEWEST_ENTRIES), MOST_ENTRIES)
    bounds = [0]
    while bounds[-1] < rows:
        start = bounds[-1]
        stop = int(np.searchsorted(indptr, indptr[start] + most, side="right")) - 1
        bounds.append(min(max(stop, start + 1), start + MOST_ROWS, rows))
    return np.array(bounds, np.int64)


def crc_of(path: Path) -> int:
    """Return the checksum of a whole file."""
    crc = 0
    with path.open("rb") as file:
        while chunk := file.read(1 << 22):
            crc = zlib.crc32(chunk, crc)
    return crc


def sum_manifest(manifest: Mapping[str, Any]) -> int:
    """Return the checksum of a manifest but for the one in it, however its text is laid out."""
    rest = {name: value for name, value in manifest.items() if name != OWN_CHECKSUM}
    return zlib.crc32(json.dumps(rest, sort_keys=True).encode())


def map_file(path: Path) -> NDArray[Any]:
    """Map an ``.npy`` file, read-only; ValueError if it is damaged."""
    with path.open("rb") as file:
        return map_npy(file)


class _RowFiles:
    """The files of CSR rows. Weights are written from the first that is not 1, with ones for all before."""

    def __init__(self, folder: Path, side: str, state: Mapping[str, Any] | None) -> None:
        self._folder, self._side = folder, side
        self._indptr = self._file("indptr", np.int64, None if state is None else state["rows"] + 1)
        self._indices = self._file("indices", np.int32, None if state is None else state["entries"])
        self._weights: NpyFile | None = None
        if state is None:
            self._indptr.append(np.zeros(1, np.int64))
        elif state["weighted"]:
            self._weights = self._file("weights", np.float32, state["entries"])
        else:
            (folder / f"{side}weights.npy").unlink(missing_ok=True)

    def _file(self, name: str, dtype: Any, count: int | None = None) -> NpyFile:
        return NpyFile(self._folder / f"{self._side}{name}.npy", dtype, count=count)

    def append(
        self, counts: NDArray[np.int64], indices: NDArray[np.int32], weights: NDArray[np.float32] | None
    ) -> None:
        before = self._indices.count
        if self._weights is None and weights is not None and not bool((weights == 1).all()):
            self._weights = self._file("weights", np.float32)
            self._weights.fill(1, before)
        if self._weights is not None:
            self._weights.fill(1, len(indices)) if weights is None else self._weights.append(weights)
        self._indptr.append(np.cumsum(counts) + before)
        self._indices.append(indices)

    def _open(self) -> list[NpyFile]:
        return [file for file in (self._indptr, self._indices, self._weights) if file is not None]

    def state(self) -> dict[str, Any]:
        for file in self._open():
            file.flush()
        rows, entries = self._indptr.count - 1, self._indices.count
        return {"rows": rows, "entries": entries, "weighted": self._weights is not None}

    def close(self) -> None:
        for file in self._open():
            file.close()

    def mapped(self) -> Rows:
        indptr, indices = (map_file(self._folder / f"{self._side}{name}.npy") for name in ("indptr", "indices"))
        weights = None if self._weights is None else map_file(self._folder / f"{self._side}weights.npy")
        return Rows(indptr, indices, weights)


def _block_table(rows: Rows) -> list[dict[str, Any]]:
    table = []
    for start, stop in pairwise(block_bounds(rows.indptr).tolist()):
        block = cut_rows(rows, start, stop)
        crc = {"indices": zlib.crc32(as_bytes(block.indices))}
        if block.weights is not None:
            crc["weights"] = zlib.crc32(as_bytes(block.weights))
        entries = [int(rows.indptr[start]), int(rows.indptr[stop])]
        table.append({"rows": [start, stop], "entries": entries, "crc32": crc})
    return table


def npy_files(folder: Path) -> list[Path]:
    """Return the ``.npy`` files in a folder, by name; unlike ``glob``, with an error where it cannot be looked into."""
    return sorted(path for path in folder.iterdir() if path.suffix == ".npy")


def _files_of(folder: Path) -> dict[str, dict[str, int]]:
    """Return the sizes of all files, and checksums of those that the blocks do not cover."""
    paths = npy_files(folder)
    covered = {f"{side}{name}.npy" for side in ("", REVERSE) for name in ("indices", "weights")}
    return {
        "files": {path.name: path.stat().st_size for path in paths},
        "checksums": {path.name: crc_of(path) for path in paths if path.name not in covered},
    }


def check_replaceable(path: Path) -> None:
    """Raise OutputError unless the folder ``path`` is empty or a graph on disk and nothing else."""
    manifest = read_mark(path / "manifest.json", MARK)
    check_only(path, manifest and listed_files(manifest, "manifest.json"), kind="graph on disk")
