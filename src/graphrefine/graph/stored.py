"""Graph on disk: a folder of arrays that are mapped, so that a graph of any size opens at once.

::

    manifest.json   version, counts, report, sizes and checksums of the files, and the row blocks
    indptr.npy      int64 (n + 1,)
    indices.npy     int32 (entries,), ascending within a row
    weights.npy     float32 (entries,); absent where all are 1
    degrees.npy     float64 (n,): sums of the weights of the rows; absent where all are 1
    context.npy     float64 (n,): `Graph.context`
    names.npy offsets.npy   as in an embedding's folder; absent where the names are 0, 1, ..., n - 1
    reverse_indptr.npy reverse_indices.npy reverse_weights.npy   the rows of the reversed arcs; directed graphs only

A block is consecutive rows, at most 2^20 of them, with a sixteenth of the entries (at least 2^16, at most 2^25) or a
single longer row; each has a checksum, which is compared when its entries are first used. The manifest has another one
of itself. A folder is never changed, only replaced whole.
"""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphrefine.errors import FormatError
from graphrefine.graph.adjacency import Rows, cut_rows
from graphrefine.graph.graph import Graph
from graphrefine.graph.node_ids import Names, object_array, unpack
from graphrefine.graph.stored_checks import AGAIN, check_block, check_bounds, check_file, check_manifest, check_sum
from graphrefine.graph.stored_writer import MARK, REVERSE, map_file
from graphrefine.system.digest import hash_parts
from graphrefine.system.files import read_mark
from graphrefine.system.storage import Storage, StoredArray, as_bytes

SUFFIX = ".grf"
PIECE = 1 << 20  # entries that are read at a time for a checksum


class StoredGraph(Graph):
    """A graph whose arrays stay on disk until they are touched. Made by `open_stored`, or `graphrefine.read`.

    Attributes
    ----------
    path
        The folder.
    blocks
        Rows at which blocks begin, and the number of rows.  # int64 (blocks + 1,)
    fingerprint
        A hash of the manifest: equal for equal graphs.
    """

    stored = True
    path: Path
    blocks: NDArray[np.int64]
    fingerprint: str
    _manifest: dict[str, Any]
    _indices: NDArray[np.int32]  # as on disk; `indices` has been verified
    _verified: NDArray[np.bool_]  # which blocks have been
    _side: str  # "", or the prefix of the files of the reversed arcs

    def __init__(self, path: Path, manifest: dict[str, Any], fingerprint: str, *, reverse: bool = False) -> None:
        side = REVERSE if reverse else ""
        table = manifest[f"{side}blocks"]
        values: dict[str, Any] = {
            "indptr": self._load(path, f"{side}indptr", np.int64, manifest["nodes"] + 1),
            "_indices": self._load(path, f"{side}indices", np.int32, manifest["entries"]),
            "weights": None,
            "directed": manifest["directed"],
            "report": manifest["report"],
            "source": manifest["source"],
            "sources": manifest.get("sources"),
            "attributes": {},
            "path": path,
            "blocks": np.array([0, *(block["rows"][1] for block in table)], np.int64),
            "fingerprint": fingerprint,
            "nodes": manifest["nodes"],
            "edges": manifest["entries"] if manifest["directed"] else manifest["entries"] // 2,
            "entries": manifest["entries"],
            "weighted": manifest["weighted"],
            "_manifest": manifest,
            "_verified": np.zeros(len(table), np.bool_),
            "_side": side,
        }
        if manifest["weighted"]:
            values["weights"] = self._load(path, f"{side}weights", np.float32, manifest["entries"])
        self.__dict__.update(values)  # as the fields of a frozen dataclass cannot be assigned

    @staticmethod
    def _load(path: Path, name: str, dtype: Any, count: int | None = None) -> NDArray[Any]:
        """Map a file, and check its type and length."""
        try:
            array = map_file(path / f"{name}.npy")
        except (FileNotFoundError, ValueError) as error:
            raise FormatError(path, f"{name}.npy is missing or damaged: {error}; {AGAIN}") from None
        if array.dtype != dtype or array.ndim != 1 or (count is not None and len(array) != count):
            expected = f"{np.dtype(dtype)} ({count},)"
            raise FormatError(path, f"{name}.npy is {array.dtype} {array.shape}, not {expected}; {AGAIN}")
        return array

    @property
    def indices(self) -> NDArray[np.int32]:
        """Columns of all entries; on first use each block, weights too, is held to its checksum."""
        for number in self.unverified(0, self.nodes):
            self.verify_block(number)
        return self._indices

    def rows(self, start: int, stop: int) -> Rows:
        """See `Graph.rows`; of the blocks that have such rows, those that were not yet are held to their checksums."""
        for number in self.unverified(start, stop):
            self.verify_block(number)
        return cut_rows(Rows(self.indptr, self._indices, self.weights), start, stop)

    def unverified(self, start: int, stop: int) -> list[int]:
        """Return those of the blocks with such rows that were not yet held to their checksums."""
        first = max(int(np.searchsorted(self.blocks, start, side="right")) - 1, 0)
        last = int(np.searchsorted(self.blocks, stop, side="left"))
        blocks: list[int] = (first + np.flatnonzero(~self._verified[first:last])).tolist()
        return blocks

    @cached_property
    def names(self) -> Names:
        """The node of each row; strings are unpacked on first use."""
        # A run within a small budget needs no names before it writes its output: as objects, they would take several
        # times the memory of their text.
        kind, nodes = self._manifest["names"], self.nodes
        if kind == "range":
            return np.arange(nodes, dtype=np.int64)
        if kind == "integers":
            return self._load(self.path, "names", np.int64, nodes)
        text, offsets = self._load(self.path, "names", np.uint8), self._load(self.path, "offsets", np.int64, nodes + 1)
        try:
            return unpack(text, offsets)
        except ValueError as error:
            raise FormatError(self.path, f"{error}; {AGAIN}") from None

    def names_of(self, rows: ArrayLike) -> Names:
        """Return the names of these rows; no others are read."""
        if self._manifest["names"] != "strings" or "names" in self.__dict__:
            return super().names_of(rows)
        text = self._load(self.path, "names", np.uint8)
        offsets = self._load(self.path, "offsets", np.int64, self.nodes + 1)
        rows = np.asarray(rows, np.int64)
        ends = zip(offsets[rows].tolist(), offsets[rows + 1].tolist(), strict=True)
        return object_array([text[first:last].tobytes().decode("utf-8", "surrogateescape") for first, last in ends])

    @property
    def unread_text(self) -> int:
        """Bytes of names that are strings and not unpacked yet."""
        if self._manifest["names"] != "strings" or "names" in self.__dict__:
            return 0
        return len(self._load(self.path, "names", np.uint8))

    @property
    def has_row_names(self) -> bool:
        """Whether the names are 0, 1, ..., n - 1; the manifest has it, so that names need not be read."""
        return bool(self._manifest["names"] == "range")

    def degrees(self) -> NDArray[np.float64]:
        """Return the sum of the weights in each row.  # (n,)."""
        if self._side or self.weights is None:
            return super().degrees()
        return self._load(self.path, "degrees", np.float64, self.nodes)

    def context(self, *, threads: int = 1) -> NDArray[np.float64]:
        """See `Graph.context`; it is on disk.  # (n,)."""
        if self._side:
            return super().context(threads=threads)
        return self._load(self.path, "context", np.float64, self.nodes)

    @cached_property
    def _transposed(self) -> StoredGraph:
        # The reversed arcs on disk. The two share the manifest, and each is the other's reverse: neither is opened
        # twice.
        turned = StoredGraph(self.path, self._manifest, self.fingerprint, reverse=not self._side)
        turned.__dict__["_transposed"] = self
        return turned

    def neighbor_counts(self) -> NDArray[np.int64]:
        """Count the neighbors of each node: in a directed graph, successors and predecessors.  # (n,)."""
        return self.out_counts + self.transposed().out_counts if self.directed else self.out_counts

    def verify_block(self, number: int) -> None:
        """Raise FormatError unless a block's bytes are those that were written, and entries of a graph."""
        block = self._manifest[f"{self._side}blocks"][number]
        (start, stop), (first, last) = block["rows"], block["entries"]
        indptr, indices = self.indptr[start : stop + 1], self._indices[first:last]
        arrays: dict[str, NDArray[Any]] = {"indptr": indptr, "indices": indices}
        if self.weights is not None:
            arrays["weights"] = self.weights[first:last]
        check_block(self.path, self._side, block, arrays, number=number, nodes=self.nodes)
        # Set last, and never unset: two threads may both verify a block, but none uses one that was not.
        self._verified[number] = True


class StoredPattern:
    """A `graphrefine.engine.block_compute.Pattern` of a graph on disk, whose rows are read and not mapped.

    Pages of mapped files would count as the memory of a worker, which Dask ends beyond a limit.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "triangle.grf"
    >>> Graph.from_edges(["a", "b", "c"], ["b", "c", "a"]).save(path)
    >>> StoredPattern(open_stored(path)).rows(1, 3).indices.tolist()
    [0, 2, 0, 1]
    """

    def __init__(self, graph: StoredGraph) -> None:
        self.graph = graph
        names = ("indptr", "indices", "weights") if graph.weighted else ("indptr", "indices")
        storage = Storage(graph.path)
        self._arrays = {name: StoredArray(storage, f"{graph._side}{name}.npy") for name in names}

    def rows(self, start: int, stop: int) -> Rows:
        """Return the rows from ``start`` to before ``stop``; see `StoredGraph.rows`."""
        for number in self.graph.unverified(start, stop):
            self._verify(number)
        indptr = self._arrays["indptr"][start : stop + 1]
        first, last = int(indptr[0]), int(indptr[-1])
        weights = self._arrays["weights"][first:last] if self.graph.weighted else None
        return Rows(indptr - first, self._arrays["indices"][first:last], weights)

    def _verify(self, number: int) -> None:
        graph = self.graph
        block = graph._manifest[f"{graph._side}blocks"][number]
        first, last = block["entries"]
        for name, expected in block["crc32"].items():
            checksum = 0
            for start in range(first, last, PIECE):
                checksum = crc32(as_bytes(self._arrays[name][start : min(start + PIECE, last)]), checksum)
            file = f"{graph._side}{name}"
            check_sum(graph.path, file, number, (first, last), actual=checksum, expected=expected)
        graph._verified[number] = True


def read_patterns(graph: StoredGraph) -> dict[str, StoredPattern]:
    """Return the rows of a graph on disk, and those of its reversed arcs, for tasks."""
    turned = graph.transposed()
    assert isinstance(turned, StoredGraph)
    return {"rows": StoredPattern(graph), "arrivals": StoredPattern(turned)}


def open_stored(path: str | os.PathLike[str], *, verify: bool = True) -> StoredGraph:
    """Open a graph on disk.

    With ``verify`` the checksums of all files but the entries are held to the manifest, which reads these files once;
    sizes always are. Entries are verified when they are first used.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "triangle.grf"
    >>> Graph.from_edges(["a", "b", "c"], ["b", "c", "a"]).save(path)
    >>> graph = open_stored(path)
    >>> graph, graph.names.tolist(), graph.blocks.tolist()
    (Graph(3 nodes, 3 edges, undirected, unweighted), ['a', 'b', 'c'], [0, 3])
    """
    folder = Path(path)
    if not folder.exists():
        raise FormatError(path, "there is no such file or folder")
    if not folder.is_dir():
        raise FormatError(path, "is a file, and a graph on disk is a folder; graphrefine ingest makes one")
    try:
        text = (folder / "manifest.json").read_bytes()
    except FileNotFoundError:
        raise FormatError(path, f"manifest.json is missing: not a whole graph; {AGAIN}") from None
    manifest = check_manifest(folder, text)
    for name, size in manifest["files"].items():
        check_file(folder / name, size, manifest["checksums"].get(name) if verify else None)
    graph = StoredGraph(folder, manifest, hash_parts(text))
    if verify:
        for side in (graph, graph.transposed()) if graph.directed else (graph,):
            assert isinstance(side, StoredGraph)
            check_bounds(folder, side._side, side.indptr, manifest[f"{side._side}blocks"])
    return graph


def is_stored(path: str | os.PathLike[str]) -> bool:
    """Return whether a path is a graph on disk: by its suffix, or by the manifest in it."""
    return Path(path).suffix.lower() == SUFFIX or read_mark(Path(path, "manifest.json"), MARK) is not None
