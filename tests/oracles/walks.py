"""Random walks and edges, in NumPy: the same bits as ``native/walks.cpp``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphrefine.kernels.hashing import GOLDEN, golden, mixed

Nodes = NDArray[np.int32]
Words = NDArray[np.uint64]
Counts = NDArray[np.int64]
Sums = NDArray[np.float64]


def random_walks(
    indptr: Counts,
    indices: Nodes,
    sums: Sums | None,
    starts: Nodes,
    out: Nodes,
    *,
    seed: int,
    round: int,
    p: float,
    q: float,
    threads: int,
) -> None:
    """See `graphrefine.kernels.sampling.random_walks`."""
    rows = Rows(indptr, indices, sums)
    key = mixed(_salt(seed) ^ (np.uint64(round << 32) | starts.astype(np.uint64)))
    out[:] = -1
    out[:, :1] = starts[:, None]
    for step in range(1, out.shape[1]):
        random = mixed(key + golden(step))
        node = out[:, step - 1]
        able = np.flatnonzero((node >= 0) & (np.diff(indptr)[node] > 0))
        if step == 1 or p == q == 1:
            entries = rows.draw(indptr[node[able]], indptr[node[able] + 1], random[able])
            out[able, step] = indices[entries]
        else:
            out[able, step] = _biased(rows, out[able, step - 2], node[able], random[able], p, q)


def random_edges(
    indptr: Counts, indices: Nodes, sums: Sums | None, out: Nodes, *, seed: int, first: int, threads: int
) -> None:
    """See `graphrefine.kernels.sampling.random_edges`."""
    random = mixed(_salt(seed) ^ (np.uint64(first) + np.arange(len(out), dtype=np.uint64)))
    ends = np.zeros(len(out), np.int64), np.full(len(out), len(indices))
    entries = Rows(indptr, indices, sums).draw(*ends, random)
    out[:, 0] = np.searchsorted(indptr, entries, side="right") - 1
    out[:, 1] = indices[entries]


def below(random: Words, limit: NDArray[np.integer] | int) -> Counts:
    """The upper 64 bits of the products: numbers from 0 to below the limits (under 2^32).

    Examples
    --------
    >>> below(np.array([0, 2**63, 2**64 - 1], np.uint64), 10).tolist()
    [0, 5, 9]
    """
    most, half = np.asarray(limit).astype(np.uint64), np.uint64(32)
    low = (random & np.uint64(0xFFFFFFFF)) * most >> half
    return (((random >> half) * most + low) >> half).astype(np.int64)


class Rows:
    """CSR rows to draw from."""

    def __init__(self, indptr: Counts, indices: Nodes, sums: Sums | None) -> None:
        self.indptr, self.indices, self.sums = indptr, indices, sums
        row = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
        self.keys = row * (len(indptr) - 1) + indices  # ascending, as columns ascend in a row

    def draw(self, start: Counts, end: Counts, random: Words) -> Counts:
        """The entry from start to before end that each random number falls on."""
        if self.sums is None:
            return start + below(random, end - start)
        at = self.sums[start] + _fraction(random) * (self.sums[end] - self.sums[start])
        entry = np.searchsorted(self.sums, at, side="right") - 1
        return np.minimum(np.maximum(entry, start), end - 1)

    def entry(self, source: Nodes, target: Nodes) -> Counts:
        """The place of the entries (source, target), or -1."""
        key = source.astype(np.int64) * (len(self.indptr) - 1) + target
        at = np.minimum(np.searchsorted(self.keys, key), len(self.keys) - 1)
        return np.where(self.keys[at] == key, at, -1)

    def weight(self, start: Counts, end: Counts) -> Sums:
        """The weights from start to before end, added up."""
        return (end - start).astype(np.float64) if self.sums is None else self.sums[end] - self.sums[start]


def _biased(rows: Rows, before: Nodes, node: Nodes, random: Words, p: float, q: float) -> Nodes:
    """The next node of walks at `node` that came from `before`, by rejection."""
    bound = max(1.0, 1 / q)
    back, near, far = (np.uint64(min(bias, bound) / bound * 2.0**32) for bias in (1 / p, 1.0, 1 / q))
    start, end = rows.indptr[node], rows.indptr[node + 1]
    again = np.zeros(len(node))
    extra = max(0.0, 1 / p - bound)
    if extra > 0:
        way = rows.entry(node, before)
        excess = np.where(way < 0, 0.0, extra * rows.weight(np.maximum(way, 0), np.maximum(way, 0) + 1))
        again = excess / (bound * rows.weight(start, end) + excess)
    out, walks, trial = np.full(len(node), -1, np.int32), np.arange(len(node)), 0
    while len(walks):
        trial += 1
        other = rows.indices[rows.draw(start[walks], end[walks], random[walks])]
        close = rows.entry(before[walks], other) >= 0
        limit = np.where(other == before[walks], back, np.where(close, near, far))
        takes = mixed(~random[walks]) >> np.uint64(32) < limit
        returns = _fraction(mixed(random[walks] ^ GOLDEN)) < again[walks]
        out[walks] = np.where(returns, before[walks], other)
        walks = walks[~(takes | returns)]
        random[walks] = mixed(random[walks] + golden(trial))
    return out


def _fraction(random: Words) -> Sums:
    return (random >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _salt(seed: int) -> Words:
    return mixed(np.array([seed], np.uint64) + GOLDEN)
