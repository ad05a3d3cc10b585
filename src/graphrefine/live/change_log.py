"""What one group of changes leaves in the database: the changes for the log, and an update for readers."""

from __future__ import annotations

import json
import zlib
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

REMOVE_NODE = 3  # operation of the kernel, see `graphrefine.live.changes`


class ChangeGroup(NamedTuple):
    """A group of changes by rows of nodes in place of names."""

    operations: NDArray[np.uint8]
    sources: NDArray[np.int32]
    targets: NDArray[np.int32]
    weights: NDArray[np.float32]
    names: list[Any]  # of the nodes that are new with it, integers or strings
    skip: bool = False  # whether edges that are not there were skipped

    def removed(self) -> NDArray[np.int64]:
        """Return the rows of nodes that are removed with it."""
        return np.unique(self.sources[self.operations == REMOVE_NODE]).astype(np.int64)

    def apply(self, kernel: Any) -> tuple[int, int]:
        """Apply the changes to the kernel's graph and settle it, without a commit; return what `change` returns."""
        kernel.add_nodes(len(self.names))
        outcome: tuple[int, int] = kernel.change(*self[:4], skip=self.skip)
        if not outcome[1]:
            kernel.settle()
        return outcome

    def to_bytes(self) -> bytes:
        """Return the changes as bytes with a checksum; names are stored apart."""
        head = np.array([len(self.operations), self.skip], "<i8")
        parts = (head, self.operations, self.sources.astype("<i4"), self.targets.astype("<i4"))
        data = b"".join(part.tobytes() for part in (*parts, self.weights.astype("<f4")))
        return np.array([_checksum(self.names, data)], "<u4").tobytes() + data

    @classmethod
    def from_bytes(cls, data: bytes, names: list[Any]) -> ChangeGroup:
        """Return the group that `to_bytes` wrote; ValueError if the bytes or the names have changed.

        Examples
        --------
        >>> ends = np.array([0, 1], np.int32), np.array([1, 2], np.int32)
        >>> group = ChangeGroup(np.zeros(2, np.uint8), *ends, np.ones(2, np.float32), ["ann"])
        >>> ChangeGroup.from_bytes(group.to_bytes(), ["ann"]).targets.tolist()
        [1, 2]
        """
        if len(data) < 20 or _checksum(names, data[4:]) != np.frombuffer(data, "<u4", 1)[0]:
            raise ValueError("its checksum is another one")
        count, skip = (int(each) for each in np.frombuffer(data, "<i8", 2, 4))
        offset = 20
        parts = list[NDArray[Any]]()
        for dtype in ("<u1", "<i4", "<i4", "<f4"):
            part = np.frombuffer(data, dtype, count, offset)
            parts.append(part.astype(part.dtype.newbyteorder("="), copy=False))
            offset += part.nbytes
        return cls(parts[0], parts[1], parts[2], parts[3], names, bool(skip))


class Origin(NamedTuple):
    """The origin of a group: a request, or a file of changes up to some record."""

    request: str | None = None
    stream: str | None = None
    records: int | None = None
    digest: str | None = None


def vector_records(rows: NDArray[Any], dim: int) -> NDArray[Any]:
    """Return an array of records, one for each row whose vector moved; all fields but ``row`` are to be filled.

    Examples
    --------
    >>> vector_records(np.array([4, 7]), 2).dtype.names
    ('row', 'group', 'length', 'degree', 'vector')
    """
    records = np.zeros(len(rows), _record_dtype(dim))
    records["row"] = rows
    return records


def _record_dtype(dim: int) -> np.dtype[Any]:
    # The group is the one that moved the vector, the length that before it was made unit.
    fields = [("row", "<i8"), ("group", "<i8"), ("length", "<f8"), ("degree", "<f8"), ("vector", "<f4", (dim,))]
    return np.dtype(fields)


class Update(NamedTuple):
    """What readers need to go from the moment before a group to the moment after it."""

    first: int  # row of the first name
    names: list[Any]  # of nodes that are new, in the order of their rows
    removed: NDArray[np.int64]  # rows whose node was removed
    moved: NDArray[Any]  # `vector_records`

    def to_row(self) -> tuple[Any, ...]:
        """Return the columns of the table ``updates`` after the group."""
        parts = json.dumps(self.names), self.removed.astype("<i8").tobytes(), self.moved.tobytes()
        return self.first, *parts, len(self.moved), _checksum(self.names, parts[1], parts[2])

    @classmethod
    def from_row(cls, first: int, names: str, removed: bytes, moved: bytes, count: int, checksum: int) -> Update:
        """Return the update of a row of the table; ValueError if it is not as it was written.

        Examples
        --------
        >>> update = Update(5, ["ann"], np.array([2]), vector_records(np.array([1, 3]), 4))
        >>> Update.from_row(*update.to_row()).moved["row"].tolist()
        [1, 3]
        """
        listed = json.loads(names)
        if _checksum(listed, removed, moved) != checksum:
            raise ValueError("its checksum is another one")
        dtype = _record_dtype((len(moved) // count - 32) // 4 if count else 0)
        return cls(first, listed, np.frombuffer(removed, "<i8").astype(np.int64), np.frombuffer(moved, dtype))


def _checksum(names: list[Any], *blobs: bytes) -> int:
    """SQLite has no checksums of its pages: a flipped bit in a blob would be a wrong vector without this one."""
    crc = 0
    for blob in blobs:
        crc = zlib.crc32(blob, crc)
    return zlib.crc32(json.dumps(names).encode(), crc)
