"""Rows of a graph on a storage, read on demand; `graphrefine.graph.stored` lists the files."""

from __future__ import annotations

from graphrefine.graph.graph import Rows
from graphrefine.system.storage import Storage, StoredArray

REVERSE = "reverse_"  # prefix of the files of the reversed arcs


class StoredPattern:
    """A `graphrefine.engine.block_compute.Pattern` of a graph on disk.

    Examples
    --------
    >>> import tempfile
    >>> from graphrefine.system.storage import open_storage
    >>> from graphrefine.graph.graph import Graph
    >>> from graphrefine.graph.stored import store
    >>> place = f"{tempfile.mkdtemp()}/path.grf"
    >>> store(Graph.from_edges([0, 1], [1, 2]), place)
    >>> StoredPattern(open_storage(place), weighted=False).rows(1, 3)
    Rows(indptr=array([0, 2, 3]), indices=array([0, 2, 1], dtype=int32), weights=None)
    """

    def __init__(self, storage: Storage, *, weighted: bool, reverse: bool = False) -> None:
        self.storage, self.side = storage, REVERSE if reverse else ""
        self._indptr, self._indices = self.array("indptr"), self.array("indices")
        self._weights = self.array("weights") if weighted else None

    def array(self, name: str) -> StoredArray:
        """One of the files."""
        return StoredArray(self.storage, f"{self.side}{name}.npy")

    def rows(self, start: int, stop: int) -> Rows:
        """Rows from ``start`` to before ``stop``."""
        indptr = self._indptr[start : stop + 1]
        first, last = int(indptr[0]), int(indptr[-1])
        weights = None if self._weights is None else self._weights[first:last]
        return Rows(indptr - first, self._indices[first:last], weights)


def damage(file: str, block: int, entries: tuple[int, int], *, actual: int, expected: int) -> str:
    """The problem with a block whose checksum is not the one that was written."""
    first, last = entries
    return (
        f"{file}.npy, block {block} (entries {first:,} to {last:,}) has the checksum "
        f"{actual:08x}, not {expected:08x}: it is damaged; ingest it again"
    )
