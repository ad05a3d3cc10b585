"""Sample graphs: random walks, random edges, pairs of nodes, and skip-gram; the same for any number of threads."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.kernels import native

if TYPE_CHECKING:
    from graphrefine.kernels._native import SkipGram

__all__ = ["Pairs", "Steps", "random_edges", "random_walks", "skip_gram", "walk_pairs"]


class Steps(NamedTuple):
    """Steps that walks can take: CSR rows, and the sum of the weights before each entry; None if all weights are 1."""

    indptr: NDArray[np.int64]  # (n + 1,)
    indices: NDArray[np.int32]  # (nnz,)
    sums: NDArray[np.float64] | None  # (nnz + 1,)


def random_walks(
    steps: Steps,
    starts: NDArray[np.int32],
    *,
    length: int,
    seed: int,
    round: int = 0,
    p: float = 1.0,
    q: float = 1.0,
    threads: int = 1,
) -> NDArray[np.int32]:
    """Draw walks of ``length`` nodes from each start, -1 after the last if a walk cannot go on.  # (starts, length).

    A step goes to a neighbor with probability in proportion to its weight times node2vec's bias: 1/p for the node
    before, 1 for its neighbors, 1/q for others. A walk depends on the seed, the round and its start alone.

    Examples
    --------
    >>> path = Steps(np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1], np.int32), None)
    >>> random_walks(path, np.array([0, 2], np.int32), length=3, seed=0)[:, :2].tolist()
    [[0, 1], [2, 1]]
    """
    out = np.empty((len(starts), length), np.int32)
    native.random_walks(*steps, starts, out, seed=seed, round=round, p=p, q=q, threads=threads)
    return out


def random_edges(steps: Steps, *, count: int, first: int, seed: int, threads: int = 1) -> NDArray[np.int32]:
    """Draw entries of the rows in proportion to their weights, numbered from `first`, as pairs.  # (count, 2)."""
    out = np.empty((count, 2), np.int32)
    native.random_edges(*steps, out, seed=seed, first=first, threads=threads)
    return out


class Pairs(NamedTuple):
    """Counts of the nodes that walks met, as CSR rows."""

    indptr: NDArray[np.int64]  # (rows + 1,), from 0
    columns: NDArray[np.int32]  # (pairs,), ascending within a row
    counts: NDArray[np.int32]  # (pairs,)


def walk_pairs(
    steps: Steps, first: int, walks: NDArray[np.int64], *, length: int, seed: int, threads: int = 1
) -> Pairs:
    """Count the nodes, from ``first + i`` on, that ``walks[i]`` walks from that one are at after 1 ... length steps.

    Examples
    --------
    >>> path = Steps(np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1], np.int32), None)
    >>> pairs = walk_pairs(path, 0, np.array([8, 8]), length=1, seed=0)
    >>> pairs.indptr.tolist(), pairs.columns.tolist(), pairs.counts[0]
    ([0, 1, 2], [1, 2], np.int32(8))
    """
    ends, columns, counts = native.walk_pairs(*steps, first, walks, length=length, seed=seed, threads=threads)
    return Pairs(ends.view(np.int64), columns, counts)


def skip_gram(noise: NDArray[np.int32], *, window: int, negatives: int, both: bool, seed: int, parts: int) -> SkipGram:
    """Prepare skip-gram with negative sampling on walks.

    Parameters
    ----------
    noise
        Nodes, each as often as it should be drawn, in random order; as many as a power of two.
    window
        Most steps from a center to its contexts; the number of steps is drawn for each center, from 1 to this.
    negatives
        Nodes drawn from the noise for each context.
    both
        Whether contexts are on both sides of a center, or behind it only.
    seed
        Seed of the reach of each center and of its noise.
    parts
        Number of parts of the nodes, a power of two: as many threads can work at a time.
    """
    model: SkipGram = native.SkipGram(noise, window=window, negatives=negatives, both=both, seed=seed, parts=parts)
    return model
