"""Skip-gram: the same steps in the same order, one NumPy call a batch."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from graphrefine.kernels.hashing import GOLDEN, golden, mixed
from oracles.walks import below

Floats = NDArray[np.float32]
UNITS, BATCH = 16, 8
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
    """One step: ``error = label - sigmoid(target . center)``, and both tables follow it at the rate.

    Examples
    --------
    >>> centers, contexts = np.ones((1, 2), np.float32), np.zeros((1, 2), np.float32)
    >>> step(centers, contexts, 0, [0], [1.0], rate=np.float32(0.5))
    >>> contexts.tolist(), centers.tolist()
    ([[0.25, 0.25]], [[1.0, 1.0]])
    """
    x = centers[center].copy()
    if len(set(targets)) == len(targets):
        rows = contexts[targets]
        error = _errors(rows @ x, labels) * rate
        contexts[targets] = rows + error[:, None] * x
        centers[center] += error @ rows
        return
    error = _errors(contexts[targets] @ x, labels) * rate
    for target, each in zip(targets, error, strict=True):  # a target that occurs twice gets both updates, in turn
        centers[center] += each * contexts[target]
        contexts[target] += each * x


def _errors(dots: Floats, labels: list[float]) -> Floats:
    sigmoid = 1 / (1 + np.exp(-np.clip(dots, -69.0, 69.0)))
    return (np.array(labels, np.float32) - sigmoid).astype(np.float32)
