"""How much memory and disk ingesting takes, and how the work is cut so that it keeps to a budget."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import InputError
from graphrefine.ingestion.spool import Spool

BASE = 160_000_000  # set aside for Python, NumPy, pyarrow and what they keep
USUAL = 85_000_000  # what these really take, to which comes what a piece leaves behind
LEAST = 256_000_000
RECORD = 64  # bytes of memory for each record of a piece, at most: ids, node numbers, records of arcs


@dataclass(frozen=True)
class Budget:
    """A budget of memory, and what follows from it; ready for JSON."""

    memory: int

    @property
    def free(self) -> int:
        """What is left for the graph."""
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
        """For a bit for each possible id."""
        return self.free // 2

    @property
    def bucket(self) -> int:
        """For merging the arcs of some rows. Larger ones would leave the caches and gain nothing."""
        return min(self.free // 2, 1 << 29)

    @property
    def join(self) -> int:
        """For DuckDB, which goes a little beyond what it is told."""
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
        """The most memory that the work will take, once the pieces and the nodes are known."""
        piece = max(entry.edges for entry in spool.entries)
        merging = largest_bucket(starts, arcs, bounds, each)
        return USUAL + 32 * piece + max(16 * piece + named, merging, 9 * int(starts[-1]))


def check_memory(memory: int, nodes: int = 0) -> None:
    """Refuse a budget that is too small, once more when the number of nodes is known."""
    least = max(LEAST, BASE + 10 * nodes)  # the sums of rows, and of a block of columns
    if memory < least:
        of = f" for {nodes:,} nodes" if nodes else ""
        raise InputError(
            f"memory={memory / 1e6:,.0f}MB is too little; the least possible{of} is {-(-least // 10**6):,} MB"
        )


def disk_bytes(records: int, *, weighted: bool, wide: bool = False) -> int:
    """The most disk that is used at a time: for the pieces or for the arcs of all rows, and what is made of them.

    Pieces go as their arcs are dealt, and arcs as their rows are written, so that these do not add up.
    """
    weight = 4 * weighted
    pieces, arcs = (16 if wide else 8) + weight, 2 * (8 + weight)
    return int(records * max(pieces, arcs) * 1.05) + (64 << 20)


def bucket_bounds(
    starts: NDArray[np.int64], arcs: NDArray[np.int64], *, each: int, most: int, room: int
) -> NDArray[np.int32]:
    """Rows at which buckets begin, so that merging one takes at most ``most`` bytes where pages of rows allow it.

    ``each``: bytes for an arc; ``room``: what there is at all.

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
            f"the least possible is {-(-least // 10**6):,} MB"
        )
    bounds, total = [0], 0
    for page, cost in enumerate(costs.tolist()):
        if total and total + cost > most:
            bounds.append(int(starts[page]))
            total = 0
        total += cost
    return np.array([*bounds, int(starts[-1])], np.int32)


def largest_bucket(starts: NDArray[np.int64], arcs: NDArray[np.int64], bounds: NDArray[np.int32], each: int) -> int:
    """The most memory that merging a bucket takes."""
    ends = np.searchsorted(starts, bounds)
    sums = np.append(0, np.cumsum(arcs))
    return int(((sums[ends[1:]] - sums[ends[:-1]]) * each + np.diff(bounds) * 40).max(initial=0))
