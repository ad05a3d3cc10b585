"""Memory and disk that ingesting takes, and sizes of pieces and buckets that keep to a budget."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import InputError
from graphrefine.ingestion.spool import Spool

BASE = 160_000_000  # bytes set aside for Python, NumPy, pyarrow and their caches
USUAL = 85_000_000  # bytes that these really take, to which the remains of a piece are added
LEAST = 256_000_000
RECORD = 64  # bytes of memory for each record of a piece, at most: ids, node numbers, records of arcs


@dataclass(frozen=True)
class Budget:
    """A budget of memory in bytes, and the sizes that follow from it."""

    memory: int

    @property
    def free(self) -> int:
        """Bytes for the graph."""
        return self.memory - BASE

    @property
    def rows(self) -> int:
        """Records of a table in a piece."""
        return int(min(max(self.free // 8 // RECORD, 1 << 12), 1 << 22))

    @property
    def text(self) -> int:
        """Bytes of text in a piece; a record takes at least four."""
        return int(min(max(self.free // 8 // (RECORD // 4), 1 << 16), 1 << 25))

    @property
    def bits(self) -> int:
        """Bytes for sets with a bit for each possible id."""
        return self.free // 2

    @property
    def bucket(self) -> int:
        """Bytes for merging the arcs of a bucket of rows. Larger ones would leave the caches and gain nothing."""
        return min(self.free // 2, 1 << 29)

    @property
    def join(self) -> int:
        """Bytes for DuckDB, which goes a little beyond its limit."""
        return max(self.free // 2, 64 << 20)

    def predicted(
        self,
        spool: Spool,
        starts: NDArray[np.int64],
        arcs: NDArray[np.int64],
        bounds: NDArray[np.int32],
        *,
        each: int,
        named: int,
    ) -> int:
        """Bytes of memory that the work will take at most, from its pieces and nodes."""
        piece = max(entry.edges for entry in spool.entries)
        merging = largest_bucket(starts, arcs, bounds, each)
        return USUAL + 32 * piece + max(16 * piece + named, merging, 9 * int(starts[-1]))


def check_memory(memory: int, nodes: int = 0) -> None:
    """Refuse a budget that is too small, and again with the number of nodes."""
    least = max(LEAST, BASE + 10 * nodes)  # the sums of rows, and of a block of columns
    if memory < least:
        of = f" for {nodes:,} nodes" if nodes else ""
        raise InputError(
            f"memory={memory / 1e6:,.0f}MB is too little; the least possible{of} is {-(-least // 10**6):,} MB",
            argument="memory",
        )


def disk_bytes(records: int, *, weighted: bool) -> int:
    """Bytes of disk at the fullest moment: the arcs of all rows, and the files made of them.

    Pieces, which are smaller, go as their arcs are dealt, and arcs as their rows are written: these do not add up.
    """
    return int(records * 2 * (8 + 4 * weighted) * 1.05) + (64 << 20)


def bucket_bounds(
    starts: NDArray[np.int64], arcs: NDArray[np.int64], *, each: int, most: int, room: int
) -> NDArray[np.int32]:
    """Rows at which buckets begin, so that merging one takes at most ``most`` bytes where pages of rows allow it.

    ``each``: bytes for an arc; ``room``: bytes that no page may exceed.

    Examples
    --------
    >>> starts, arcs = np.array([0, 10, 20, 30]), np.array([5, 5, 20])
    >>> bucket_bounds(starts, arcs, each=16, most=1000, room=2000).tolist()
    [0, 20, 30]
    """
    costs = arcs * each + np.diff(starts) * 40
    if len(costs) and costs.max() > room:
        least = int(BASE + 2 * costs.max())
        raise InputError(
            "the budget of memory is too small for the nodes with most edges; "
            f"the least possible is {-(-least // 10**6):,} MB",
            argument="memory",
        )
    bounds, total = [0], 0
    for page, cost in enumerate(costs.tolist()):
        if total and total + cost > most:
            bounds.append(int(starts[page]))
            total = 0
        total += cost
    return np.array([*bounds, int(starts[-1])], np.int32)


def largest_bucket(starts: NDArray[np.int64], arcs: NDArray[np.int64], bounds: NDArray[np.int32], each: int) -> int:
    """Bytes of memory that merging the largest bucket takes."""
    ends = np.searchsorted(starts, bounds)
    sums = np.append(0, np.cumsum(arcs))
    return int(((sums[ends[1:]] - sums[ends[:-1]]) * each + np.diff(bounds) * 40).max(initial=0))
