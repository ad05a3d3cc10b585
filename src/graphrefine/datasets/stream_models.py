"""Models of `graphrefine.datasets.edge_streams`: the start of an edge, in a range of nodes, and then its end.

A model has the part of all edges that starts before a node, so that ranges of nodes can be drawn one by one, and draws
without a table of the nodes:

* **Power law** (Chung and Lu): either end is node i in proportion to ``(i + i0)^(-1 / (exponent - 1))``, by the inverse
  ``i = floor((i0^b + u ((n + i0)^b - i0^b))^(1 / b) - i0)``, ``b = 1 - 1 / (exponent - 1)``, of a uniform u.
* **R-MAT** (Chakrabarti, Zhan and Faloutsos, SDM 2004): the adjacency matrix is cut into quarters again and again, and
  an edge falls into one of them with the probabilities ``quarters``. Sixteen random bits decide three cuts at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphrefine.datasets.edge_sampling import least_offset

CUTS = 3  # of the R-MAT matrix by one look into a table
TOP = 20  # cuts whose outcome is drawn at once, within a range of rows
STEPS = 1 << 16  # entries of a table, one for each random number

Ids = NDArray[np.uint64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class PowerLaw:
    """Independent ends, in proportion to degrees that fall as a power law."""

    nodes: int
    power: float
    offset: float  # i0

    @classmethod
    def of(cls, nodes: int, exponent: float, share: float) -> PowerLaw:
        """With the least offset for which no node has more than this share of all ends."""
        power = 1 - 1 / (exponent - 1)

        def largest(offset: float) -> float:
            return float(cls(nodes, power, offset).before(np.array([1]))[0])

        return cls(nodes, power, least_offset(largest, share, rounds=50))

    def before(self, bounds: NDArray[np.int64]) -> Floats:
        """Part of the edges that starts before each of the bounds."""
        first, last = self.offset**self.power, (self.nodes + self.offset) ** self.power
        parts: Floats = ((bounds + self.offset) ** self.power - first) / (last - first)
        return parts

    def bounds(self, parts: int) -> NDArray[np.int64]:
        """Bounds of ranges of rows with about the same number of edges each."""
        inner = self._at(np.arange(1, parts) / parts, 0, self.nodes)
        return np.unique(np.concatenate([[0], inner, [self.nodes]]).astype(np.int64))

    def draw(self, rng: np.random.Generator, rows: tuple[int, int], count: int) -> tuple[Ids, Ids]:
        """Starts and ends of at most ``count`` edges that start in a range of rows."""
        low, high = self.before(np.array(rows))
        starts = self._at(low + (high - low) * rng.random(count), *rows)
        return starts, self._at(rng.random(count), 0, self.nodes)

    def _at(self, places: Floats, start: int, stop: int) -> Ids:
        """Nodes with these parts of all ends before them, within a range: rounding may lead beyond it."""
        first, last = self.offset**self.power, (self.nodes + self.offset) ** self.power
        positions = (first + places * (last - first)) ** (1 / self.power) - self.offset
        nodes: Ids = np.clip(positions, start, stop - 1).astype(np.uint64)
        return nodes


class RecursiveMatrix:
    """R-MAT; if the number of nodes is no power of two, edges outside of the matrix are left out.

    Ranges are of prefixes: the rows that the first cuts lead to.
    """

    def __init__(self, nodes: int, quarters: Floats) -> None:
        levels, halves = bits(nodes), quarters.reshape(2, 2).sum(axis=1)
        self._nodes, self._top = np.uint64(nodes), min(levels, TOP)
        self._groups = -(-levels // CUTS)
        self._surplus = np.uint64(self._groups * CUTS - levels)  # cuts that are drawn, but not needed: the last ones
        chances = np.ones(1)
        for _ in range(self._top):
            chances = np.outer(chances, halves).ravel()
        sums = np.cumsum(chances[: (nodes - 1 >> levels - self._top) + 1])
        self._sums = np.append(0.0, sums / sums[-1])  # (prefixes + 1,)
        conditional = quarters.reshape(2, 2) / np.where(halves > 0, halves, 1)[:, None]
        self._rows = _table([halves] * CUTS)
        cuts = [[code >> cut & 1 for cut in reversed(range(CUTS))] for code in range(1 << CUTS)]
        self._columns = np.concatenate(
            [_table([conditional[row] for row in rows]) for rows in cuts]
        )  # by the rows' bits

    def before(self, bounds: NDArray[np.int64]) -> Floats:
        """See `PowerLaw.before`."""
        parts: Floats = self._sums[bounds]
        return parts

    def bounds(self, parts: int) -> NDArray[np.int64]:
        """See `PowerLaw.bounds`."""
        inner = np.searchsorted(self._sums, np.arange(1, parts) / parts)
        return np.unique(np.concatenate([[0], inner, [len(self._sums) - 1]]))

    def draw(self, rng: np.random.Generator, rows: tuple[int, int], count: int) -> tuple[Ids, Ids]:
        """See `PowerLaw.draw`."""
        starts = self._starts(rng, rows, count)  # with all cuts that are drawn
        ends = np.zeros(count, np.uint64)
        for place, group in enumerate(self._random(rng, self._groups, count)):
            own = starts >> np.uint64(CUTS * (self._groups - 1 - place)) & np.uint64((1 << CUTS) - 1)
            ends = ends << np.uint64(CUTS) | self._columns[own.astype(np.uint32) << np.uint32(16) | group]
        starts, ends = starts >> self._surplus, ends >> self._surplus
        inside = (starts < self._nodes) & (ends < self._nodes)
        return starts[inside], ends[inside]

    def _starts(self, rng: np.random.Generator, rows: tuple[int, int], count: int) -> Ids:
        first, last = rows
        low, high = self._sums[[first, last]]
        prefixes = np.searchsorted(self._sums[first + 1 : last], low + (high - low) * rng.random(count), side="right")
        starts: Ids = (prefixes + first).astype(np.uint64)
        below = self._groups * CUTS - self._top
        for group in self._random(rng, -(-below // CUTS), count):
            starts = starts << np.uint64(CUTS) | self._rows[group]
        return starts >> np.uint64(-below % CUTS)

    @staticmethod
    def _random(rng: np.random.Generator, groups: int, count: int) -> NDArray[np.uint16]:
        """Sixteen random bits for each group of cuts and each edge."""
        numbers = rng.integers(0, 2**64, size=(groups, -(-count // 4)), dtype=np.uint64)
        return numbers.view(np.uint16)[:, :count]


Model = PowerLaw | RecursiveMatrix
"""Edges of one kind, between nodes in the order of their expected degrees."""


def _table(halves: Sequence[Floats]) -> NDArray[np.uint8]:
    """Outcomes of cuts in two, as often as they are likely; the first cut is the highest bit.  # (STEPS,)."""
    chances, codes = np.ones(1), np.zeros(1, np.uint8)
    for half in halves:
        chances = np.outer(chances, half).ravel()
        codes = (codes[:, None] * np.uint8(2) + np.array([0, 1], np.uint8)).ravel()
    times = np.rint(np.append(0.0, np.cumsum(chances)) / max(chances.sum(), 1e-300) * STEPS)
    times[-1] = STEPS  # the whole table, also if all outcomes have no chance
    return np.repeat(codes, np.diff(times.astype(np.int64)))


def bits(nodes: int) -> int:
    """Number of bits of the largest node number."""
    return (nodes - 1).bit_length()


def bijection(nodes: int, seed: int) -> Callable[[Ids], Ids]:
    """New numbers for nodes, one for each: products and shifts modulo a power of two, until they are below `nodes`.

    Examples
    --------
    >>> sorted(bijection(5, seed=0)(np.arange(5, dtype=np.uint64)).tolist())
    [0, 1, 2, 3, 4]
    """
    width = bits(nodes)
    mask, shift, limit = np.uint64(2**width - 1), np.uint64((width + 1) // 2), np.uint64(nodes)
    rng = np.random.default_rng(seed)
    factors = rng.integers(0, 2**63, size=3, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    terms = rng.integers(0, 2**64, size=3, dtype=np.uint64)

    def mix(ids: Ids) -> Ids:
        for factor, term in zip(factors, terms, strict=True):
            ids = (ids * factor + term) & mask
            ids ^= ids >> shift
        return ids

    def renumber(ids: Ids) -> Ids:
        ids = mix(ids)
        beyond = np.flatnonzero(ids >= limit)
        while len(beyond):
            ids[beyond] = mix(ids[beyond])
            beyond = beyond[ids[beyond] >= limit]
        return ids

    return renumber
