"""The recent past of live vectors: rows that moved, names that left, and the rate of changes, for those who watch."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

ROWS = 200_000  # that are remembered, some of them more than once
WINDOW = 300  # seconds that the rate is remembered for

Rows = NDArray[np.int64]


class GroupMoves(NamedTuple):
    """Moves of one group."""

    group: int
    rows: Rows  # whose vectors are other than before
    removed: list[Any]  # names of nodes that left


class MovesSince(NamedTuple):
    """Moves after a group."""

    rows: Rows  # ascending, each once
    removed: list[Any]
    complete: bool  # False: there were more, or they are not remembered


class Moves:
    """Rows that moved, by group, back to some group.

    Examples
    --------
    >>> moves = Moves()
    >>> moves.restart(4)
    >>> moves.add(5, np.array([0, 2]), ["ann"])
    >>> moves.add(6, np.array([2, 3]), [])
    >>> moves.since(5, most=10).rows.tolist(), moves.since(4, most=10).rows.tolist(), moves.since(3, most=10).complete
    ([2, 3], [0, 2, 3], False)
    """

    def __init__(self, remembered: int = ROWS) -> None:
        self._remembered = remembered
        self._groups: deque[GroupMoves] = deque()
        self._count = 0
        self._start = 0  # moves are known after this group

    def restart(self, group: int) -> None:
        """Forget all: any row may have moved."""
        self._groups.clear()
        self._count, self._start = 0, group

    def add(self, group: int, rows: Rows, removed: Sequence[Any]) -> None:
        """Remember a group; the oldest ones are forgotten."""
        self._groups.append(GroupMoves(group, rows, list(removed)))
        self._count += len(rows) + len(removed) + 1
        while self._count > self._remembered:
            oldest = self._groups.popleft()
            self._count -= len(oldest.rows) + len(oldest.removed) + 1
            self._start = oldest.group

    def since(self, group: int, *, most: int) -> MovesSince:
        """The moves after a group: those of the newest groups, if they are more than ``most``."""
        rows, removed = np.empty(0, np.int64), list[Any]()
        for moves in reversed(self._groups):
            if moves.group <= group:
                break
            together = np.union1d(rows, moves.rows)
            if len(together) > most or len(removed) + len(moves.removed) > most:
                return MovesSince(rows, removed, False)
            rows = together
            removed += moves.removed
        return MovesSince(rows, removed, group >= self._start)


class Rate:
    """Changes a second, over the last minutes.

    Examples
    --------
    >>> rate = Rate()
    >>> rate.add(30, now=99.0), rate.add(60, now=102.5)
    (None, None)
    >>> rate.mean(60, now=103.0), rate.series(5, 2, now=103.0)
    (1.5, [6.0, 12.0])
    """

    def __init__(self) -> None:
        self._counts: deque[tuple[int, int]] = deque()  # second, changes

    def add(self, changes: int, *, now: float | None = None) -> None:
        """Count changes."""
        second = int(_clock(now))
        if self._counts and self._counts[-1][0] == second:
            changes += self._counts.pop()[1]
        self._counts.append((second, changes))
        while self._counts[0][0] < second - WINDOW:
            self._counts.popleft()

    def mean(self, seconds: int, *, now: float | None = None) -> float:
        """Changes a second over the last seconds."""
        last = int(_clock(now))
        return sum(count for second, count in self._counts if last - seconds < second <= last) / seconds

    def series(self, length: int, parts: int, *, now: float | None = None) -> list[float]:
        """Changes a second of stretches of ``length`` seconds, the newest last; stretches begin at whole multiples."""
        last = int(_clock(now)) // length
        sums = dict.fromkeys(range(last - parts + 1, last + 1), 0)
        for second, count in self._counts:
            if second // length in sums:
                sums[second // length] += count
        return [total / length for total in sums.values()]


def _clock(now: float | None) -> float:
    return time.monotonic() if now is None else now
