"""Hashes instead of random numbers: a number that depends on its purpose alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# 2^64 over the golden ratio, SplitMix64's step: its multiples spread evenly over 64 bits, as salts of different
# purposes. There is no stream of numbers whose order could change: any row can be drawn alone, by any thread or worker.
GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def golden(times: int) -> np.uint64:
    """Return a multiple of `GOLDEN`, modulo 2^64."""
    return np.uint64(times * int(GOLDEN) % 2**64)


def mixed(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Apply the finalizer of SplitMix64: random numbers as hashes of their purpose."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
