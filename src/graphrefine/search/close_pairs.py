"""Pairs of rows whose cosine is above a bound, and groups of rows with the same vector.

All pairs are found, with some blocks of scores in memory at a time. Products in float32 sort out what may be above the
bound; the cosine of each pair that is left is formed again in float64 and decides. So neither the blocks nor the number
of threads change an answer.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import InputError
from graphrefine.linalg import unit_rows
from graphrefine.progress import Stages
from graphrefine.search.scores import ScoreSide
from graphrefine.system.threads import map_tasks

# A block of scores is SCORED rows by ACROSS columns: 16 MB for each thread. A task is SPAN columns, as a signal is
# answered once the tasks under way are done.
SCORED = 1024
ACROSS = 4096
SPAN = 16 * ACROSS
HASHED = 1 << 14  # rows compared for equality at a time
ROUNDING = 1e-5  # of a cosine in float32, generously
EXACT = 1e-7  # of a cosine: what float32 vectors can tell apart

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]


class ClosePairs(NamedTuple):
    """Pairs of rows, the first the smaller one, and their cosines."""

    first: Rows  # (m,)
    second: Rows  # (m,)
    cosines: Floats  # (m,)

    def pick(self, mask: NDArray[np.bool_]) -> ClosePairs:
        """Return some of the pairs."""
        return ClosePairs(self.first[mask], self.second[mask], self.cosines[mask])

    @classmethod
    def join(cls, parts: list[ClosePairs]) -> ClosePairs:
        """Return the pairs of several parts, one after the other."""
        if not parts:
            return cls(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float32))
        return cls(*(np.concatenate(each) for each in zip(*parts, strict=True)))


def find_close_pairs(
    vectors: Floats, rows: Rows, *, above: float, most: int, threads: int, stages: Stages
) -> ClosePairs:
    """Return all pairs of ascending, non-zero rows with a cosine of `above` or more; InputError beyond `most`."""
    tasks = [(start, lo) for start in range(0, len(rows), SCORED) for lo in range(start, len(rows), SPAN)]

    def compare(task: tuple[int, int]) -> ClosePairs:
        start, begin = task
        end = min(begin + SPAN, len(rows))
        mine, parts, count = unit_rows(vectors[rows[start : start + SCORED]]), [], 0
        for lo in range(begin, end, ACROSS):
            scores = mine @ unit_rows(vectors[rows[lo : min(lo + ACROSS, end)]]).T
            here, there = np.nonzero(scores >= above - ROUNDING)
            later = lo + there > start + here
            first, second = rows[start + here[later]], rows[lo + there[later]]
            cosines = pair_cosines(vectors, first, second)
            close = cosines >= above - EXACT
            parts.append(ClosePairs(first[close], second[close], cosines[close]))
            count += len(parts[-1].first)
            if count > most:
                break
        return ClosePairs.join(parts)

    parts, count = [], 0
    with stages.stage("pairs", steps=len(tasks)):
        for part in map_tasks(tasks, compare, threads):
            parts.append(part)
            count += len(part.first)
            if count > most:
                raise InputError(
                    f"above={above:g}: more than {most:,} pairs of nodes are that close; choose a higher bound, or "
                    "leave out nodes of few edges",
                    argument="above",
                )
            stages.advance()
    return ClosePairs.join(parts)


def pair_cosines(vectors: Floats, first: Rows, second: Rows) -> Floats:
    """Return the cosine of each pair of rows, summed in float64; 0 where one is zero."""
    cosines = np.empty(len(first), np.float32)
    for lo in range(0, len(first), ACROSS):
        one, other = (vectors[side[lo : lo + ACROSS]].astype(np.float64) for side in (first, second))
        squares = np.einsum("ij,ij->i", one, one) * np.einsum("ij,ij->i", other, other)
        products = np.einsum("ij,ij->i", one, other) / np.sqrt(np.where(squares > 0, squares, 1))
        cosines[lo : lo + ACROSS] = np.clip(products, -1, 1)
    return cosines


def group_equal_rows(answers: ScoreSide) -> tuple[Rows, Rows]:
    """Return rows, those with the same vector next to each other, and where each group begins; none at -inf."""
    # A sum of products modulo 2^64 with random odd numbers is a hash that NumPy forms for a block of rows at once;
    # SHA-256 of each row would be a call for each.
    hashes = np.empty(len(answers.vectors), np.uint64)
    numbers = np.random.default_rng(0).integers(0, 2**64, answers.vectors.shape[1] + 1, np.uint64) | np.uint64(1)
    for lo in range(0, len(hashes), HASHED):
        some = answers.part(slice(lo, lo + HASHED))
        bits = (some.vectors + np.float32(0)).view(np.uint32)  # -0.0 is 0.0
        hashes_here = bits.astype(np.uint64) @ numbers[:-1]
        if some.added is not None:
            hashes_here += some.added.view(np.uint32) * numbers[-1]
        hashes[lo : lo + HASHED] = hashes_here
    rows = np.arange(len(hashes)) if answers.added is None else np.flatnonzero(~np.isneginf(answers.added))
    return group_by(rows, hashes[rows])


def group_by(rows: Rows, values: NDArray[np.uint64]) -> tuple[Rows, Rows]:
    """Return ascending rows, those with equal values next to each other, and where each such group begins."""
    if not len(rows):
        return rows, np.zeros(1, np.int64)
    order = np.argsort(values, kind="stable")
    changes = np.flatnonzero(np.diff(values[order])) + 1
    return rows[order], np.concatenate([[0], changes, [len(rows)]]).astype(np.int64)
