"""Groups of changes as the log of live vectors holds them, with a checksum, and the mark of their source."""

from __future__ import annotations

import json
import zlib
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

REMOVE_NODE = 3  # operation of the kernel, see `graphrefine.live.changes`


class LoggedGroup(NamedTuple):
    """A group of changes as it is logged: rows of nodes in place of names."""

    operations: NDArray[np.uint8]
    sources: NDArray[np.int32]
    targets: NDArray[np.int32]
    weights: NDArray[np.float32]
    names: list[Any]  # of the nodes that are new with it, integers or strings
    skip: bool = False  # whether edges that are not there were passed over

    def removed(self) -> NDArray[np.int32]:
        """Rows of nodes that are removed with it."""
        return np.unique(self.sources[self.operations == REMOVE_NODE])

    def make(self, live: Any) -> tuple[int, int]:
        """Make the changes in the kernel's graph and settle it: what `LiveGraph.change` gives; not committed."""
        live.add_nodes(len(self.names))
        place, problem = live.change(*self[:4], skip=self.skip)
        if not problem:
            live.settle()
        return place, problem

    def to_bytes(self) -> bytes:
        """The changes, with a checksum; names apart."""
        head = np.array([len(self.operations), self.skip], "<i8")
        parts = (head, self.operations, self.sources.astype("<i4"), self.targets.astype("<i4"))
        data = b"".join(part.tobytes() for part in (*parts, self.weights.astype("<f4")))
        return np.array([_checksum(data, self.names)], "<u4").tobytes() + data

    @classmethod
    def from_bytes(cls, data: bytes, names: list[Any]) -> LoggedGroup:
        """The group whose `to_bytes` these are; a ValueError if they are not as they were.

        Examples
        --------
        >>> ends = np.array([0, 1], np.int32), np.array([1, 2], np.int32)
        >>> group = LoggedGroup(np.zeros(2, np.uint8), *ends, np.ones(2, np.float32), ["ann"])
        >>> LoggedGroup.from_bytes(group.to_bytes(), ["ann"]).targets.tolist()
        [1, 2]
        """
        if len(data) < 20 or _checksum(data[4:], names) != np.frombuffer(data, "<u4", 1)[0]:
            raise ValueError("a group of changes is not as it was written")
        count, skip = (int(each) for each in np.frombuffer(data, "<i8", 2, 4))
        at = 20
        parts = list[NDArray[Any]]()
        for dtype in ("<u1", "<i4", "<i4", "<f4"):
            part = np.frombuffer(data, dtype, count, at)
            parts.append(part.astype(part.dtype.newbyteorder("="), copy=False))
            at += part.nbytes
        return cls(parts[0], parts[1], parts[2], parts[3], names, bool(skip))


def _checksum(data: bytes, names: list[Any]) -> int:
    return zlib.crc32(json.dumps(names).encode(), zlib.crc32(data))


class Mark(NamedTuple):
    """Where a group comes from: a request, or a stream of changes up to some record."""

    request: str | None = None
    stream: str | None = None
    records: int | None = None
    digest: str | None = None
