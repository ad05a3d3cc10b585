"""Clusters of vectors: k-means of unit rows, found in a sample, the same for any number of threads."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.linalg import unit_rows
from graphrefine.system.threads import one_blas_thread

SAMPLE = 10_000  # rows by which centers are found
BLOCK = 1 << 14  # rows that are assigned to centers at a time

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]


class Clusters(NamedTuple):
    """The cluster of each row, and the cosine to its center."""

    groups: Ints  # (n,): from 0 in the order of their first rows; -1 for zero rows
    cosines: Floats  # (n,): NaN for zero rows

    @property
    def total(self) -> int:
        """Number of clusters."""
        return int(self.groups.max(initial=-1)) + 1


def sample_rows(count: int, most: int) -> Ints:
    """Return at most ``most`` of ``count`` rows, evenly spaced."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).astype(np.int64)) if count else np.empty(0, np.int64)


def find_clusters(vectors: Floats, *, count: int, seed: int = 0, starts: int = 1, sample: int = SAMPLE) -> Clusters:
    """Return the nearest of ``count`` centers, or fewer if there are not as many different rows.

    Centers are those of the lowest sum of squares from several starts (k-means++), in ``sample`` rows at most.

    Examples
    --------
    >>> find_clusters(np.array([[1, 0], [2, 0.1], [0, 1], [0, 0]], np.float32), count=2).groups.tolist()
    [0, 0, 1, -1]
    """
    groups, cosines = np.full(len(vectors), -1, np.int64), np.full(len(vectors), np.nan, np.float32)
    centers = find_centers(vectors[sample_rows(len(vectors), sample)], count, seed=seed, starts=starts)
    if not len(centers):
        return Clusters(groups, cosines)
    halves, lengths = (centers**2).sum(axis=1) / 2, np.linalg.norm(centers, axis=1)
    with one_blas_thread():
        for lo in range(0, len(vectors), BLOCK):
            block = unit_rows(vectors[lo : lo + BLOCK])
            products = block @ centers.T
            nearest, there = np.argmax(products - halves, axis=1), block.any(axis=1)
            own = products[np.arange(len(block)), nearest] / np.maximum(lengths[nearest], 1e-30)
            groups[lo : lo + BLOCK] = np.where(there, nearest, -1)
            cosines[lo : lo + BLOCK] = np.where(there, np.clip(own, -1, 1), np.nan)
    return Clusters(_number_in_order(groups), cosines)


def find_centers(
    sample: Floats,
    count: int,
    *,
    seed: int,
    starts: int = 1,
    rounds: int = 300,
    begin: Floats | None = None,
) -> Floats:
    """Find centers by k-means of unit rows, from given ones or by k-means++.  # (count or fewer, k)."""
    from sklearn.cluster import KMeans
    from threadpoolctl import threadpool_limits

    sample = unit_rows(sample)
    sample = sample[sample.any(axis=1)]
    count = min(count, len(np.unique(sample, axis=0)))
    if count == 0:
        return sample[:0]
    init = "k-means++" if begin is None else begin
    # Sums of several threads differ in the last bits, and k-means can end in other clusters for that: the same seed
    # must give the same clusters on any number of threads.
    with one_blas_thread(), threadpool_limits(1, user_api="openmp"):
        best = KMeans(count, init=init, n_init=starts, max_iter=rounds, random_state=seed).fit(sample)
    centers: Floats = best.cluster_centers_.astype(np.float32)
    return centers


def _number_in_order(groups: Ints) -> Ints:
    """Return groups numbered from 0 in the order of their first rows."""
    in_group = groups >= 0
    _, first, inverse = np.unique(groups[in_group], return_index=True, return_inverse=True)
    groups[in_group] = np.argsort(np.argsort(first))[inverse.reshape(-1)]
    return groups
