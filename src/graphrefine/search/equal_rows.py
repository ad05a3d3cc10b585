"""Rows with the same vector, as the leaves of a hub have it: groups, found by a number for each vector."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphrefine.search.scores import ScoreSide

BLOCK = 1 << 14  # rows looked at in one go

Rows = NDArray[np.int64]


def group_equal_rows(answers: ScoreSide) -> tuple[Rows, Rows]:
    """Rows, those with the same vector beside each other, ascending; and where each such group begins.

    Rows that are never an answer (``added`` is -inf) are in no group.

    Examples
    --------
    >>> vectors = np.array([[1, 0], [0, 1], [1, 0], [2, 0]], np.float32)
    >>> members, starts = group_equal_rows(ScoreSide(vectors, None, None))
    >>> sorted(members[lo:hi].tolist() for lo, hi in zip(starts[:-1], starts[1:], strict=True))
    [[0, 2], [1], [3]]
    """
    hashes = np.empty(len(answers.vectors), np.uint64)
    numbers = np.random.default_rng(0).integers(0, 2**64, answers.vectors.shape[1] + 1, np.uint64) | np.uint64(1)
    for lo in range(0, len(hashes), BLOCK):
        some = answers.part(slice(lo, lo + BLOCK))
        bits = (some.vectors + np.float32(0)).view(np.uint32)  # -0.0 is 0.0
        hashes_here = bits.astype(np.uint64) @ numbers[:-1]
        if some.added is not None:
            hashes_here += some.added.view(np.uint32) * numbers[-1]
        hashes[lo : lo + BLOCK] = hashes_here
    rows = np.arange(len(hashes)) if answers.added is None else np.flatnonzero(~np.isneginf(answers.added))
    return group_by(rows, hashes[rows])


def group_by(rows: Rows, values: NDArray[np.uint64]) -> tuple[Rows, Rows]:
    """Ascending rows, those with equal values beside each other, and where each such group begins.

    Examples
    --------
    >>> members, starts = group_by(np.array([4, 7, 9]), np.array([8, 6, 8], np.uint64))
    >>> members.tolist(), starts.tolist()
    ([7, 4, 9], [0, 1, 3])
    """
    if not len(rows):
        return rows, np.zeros(1, np.int64)
    order = np.argsort(values, kind="stable")
    changes = np.flatnonzero(np.diff(values[order])) + 1
    return rows[order], np.concatenate([[0], changes, [len(rows)]]).astype(np.int64)
