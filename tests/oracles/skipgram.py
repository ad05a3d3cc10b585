"""Skip-gram to the bit: the same steps in the same order, each operation rounded as the kernel rounds it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from graphrefine.kernels.hashing import GOLDEN, golden, mixed
from oracles.fused import Floats, dots, fma
from oracles.walks import below

UNITS, BATCH = 16, 8
COEFFICIENTS = (1.5403530e-4, 1.3333558e-3, 9.6181291e-3, 5.5504109e-2, 2.4022651e-1, 6.9314718e-1, 1.0)
Block = list[tuple[int, list[int], list[float]]]
"""Groups: a center, its targets, and 1 for each that is a context, 0 for noise."""


class SkipGram:
    """Skip-gram with negative sampling; see `graphrefine.kernels.sampling.skip_gram`."""

    def __init__(
        self, noise: NDArray[np.int32], *, window: int, negatives: int, both: bool, seed: int, parts: int
    ) -> None:
        self.noise, self.window, self.negatives, self.both, self.parts = noise, window, negatives, both, parts
        self.salt = mixed(np.array([seed], np.uint64) + golden(2))

    def train(
        self,
        centers: Floats,
        contexts: Floats,
        walks: NDArray[np.int32],
        *,
        first: int,
        rate: float,
        last_rate: float,
        threads: int,
    ) -> None:
        """Train both tables (n, columns padded to a multiple of 32) in place on walks numbered from `first`.

        The rate falls in sixteen steps from `rate` towards `last_rate`.
        """
        edges = len(walks) * np.arange(UNITS + 1) // UNITS
        units = [self._scatter(walks[a:b], first + int(a)) for a, b in pairwise(edges)]
        for diagonal in range(self.parts):
            for part in range(self.parts):
                for unit, blocks in enumerate(units):
                    at = np.float32(rate + (last_rate - rate) * (unit / UNITS))
                    for center, targets, labels in blocks[part][(part + diagonal) % self.parts]:
                        for start in range(0, len(targets), BATCH):
                            batch = slice(start, start + BATCH)
                            step(centers, contexts, center, targets[batch], labels[batch], rate=at)

    def _scatter(self, walks: NDArray[np.int32], first: int) -> list[list[Block]]:
        """The pairs of some walks, by the parts of center and target."""
        blocks: list[list[Block]] = [[[] for _ in range(self.parts)] for _ in range(self.parts)]
        for number, row in enumerate(walks, start=first):
            walk = row[: (row >= 0).sum()].tolist()
            for center, pairs in self._groups(walk, number):
                groups: list[tuple[list[int], list[float]]] = [([], []) for _ in range(self.parts)]
                for target, label in pairs:
                    targets, labels = groups[self._part(target)]
                    targets.append(target)
                    labels.append(label)
                for part, (targets, labels) in enumerate(groups):
                    if targets:
                        blocks[self._part(center)][part].append((center, targets, labels))
        return blocks

    def _groups(self, walk: list[int], number: int) -> Iterator[tuple[int, list[tuple[int, float]]]]:
        """Each center of a walk, with its contexts and its noise."""
        key = mixed(self.salt ^ np.uint64(number))
        random = mixed(key + np.arange(1, len(walk) + 1, dtype=np.uint64) * GOLDEN)
        reach = 1 + below(random, self.window)
        for at, center in enumerate(walk):
            start = max(0, at - int(reach[at])) if self.both else at
            pairs, drawn = [], int(random[at])
            for j in range(start, min(len(walk), at + int(reach[at]) + 1)):
                if j == at:
                    continue
                pairs.append((walk[j], 1.0))
                for _ in range(self.negatives):
                    other = int(self.noise[drawn % len(self.noise)])
                    drawn += 1
                    if other != walk[j]:
                        pairs.append((other, 0.0))
            if pairs:
                yield center, pairs

    def _part(self, node: int) -> int:
        return (node * 0x9E3779B1 % 2**32) * self.parts >> 32


def step(
    centers: Floats, contexts: Floats, center: int, targets: list[int], labels: list[float], *, rate: np.float32
) -> None:
    """One step: ``error = label - sigmoid(target . center)``, and both tables follow it, target after target."""
    x = centers[center].copy()
    errors = (np.array(labels, np.float32) - sigmoid(dots(x, contexts[targets]))) * rate
    for target, error in zip(targets, errors, strict=True):
        old = contexts[target].copy()
        centers[center] = fma(old, error, centers[center])
        contexts[target] = fma(x, error, old)


def sigmoid(x: Floats) -> Floats:
    """``1 / (1 + 2^y)`` in float32: a whole power of two and a polynomial."""
    y = np.clip(x * np.float32(-1.44269504), np.float32(-100), np.float32(100))
    whole = np.rint(y)
    power = np.full_like(y, COEFFICIENTS[0])
    for next_one in COEFFICIENTS[1:]:
        power = fma(power, y - whole, np.float32(next_one))
    exponent = ((whole.astype(np.int32) + 127) << 23).view(np.float32)
    return np.float32(1) / fma(power, exponent, np.float32(1))
