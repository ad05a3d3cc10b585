"""What the skip-gram methods share: their two tables of vectors, the noise, and training in chunks.

Skip-gram with negative sampling (Mikolov et al., NeurIPS 2013) gives every node u a vector x_u as a center and a vector
c_u as a context. For each pair (u, v) that is met and b nodes w drawn from the noise it raises

    log sigmoid(x_u . c_v) + sum_w log sigmoid(-x_u . c_w)

at a rate that falls linearly to zero. The vectors of the embedding are the x_u.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from graphrefine.kernels import PAD, kernels
from graphrefine.kernels.sampling import Steps
from graphrefine.methods.contract import Floats, Shape
from graphrefine.settings import MethodSettings, check_integer, check_number

if TYPE_CHECKING:
    from graphrefine.graph import Graph

NOISE_POWER = 0.75  # frequent nodes are drawn as noise less often than they are met
CHUNK = 4_000_000  # pairs that wait to be trained, noise included
LOWEST = 1e-4  # of the rate, at the end
LEAST_SLOTS, MOST_PARTS, PART_NODES = 2**20, 8, 512


@dataclass(frozen=True)
class SkipGramSettings(MethodSettings):
    """Settings of every skip-gram method.

    Parameters
    ----------
    negatives
        Nodes drawn from the noise for each pair.
    rate
        The learning rate at the beginning; it falls linearly.
    """

    negatives: int = 5
    rate: float = 0.025

    def __post_init__(self) -> None:
        super().__post_init__()
        check_integer("negatives", self.negatives, least=1, most=1000)
        check_number("rate", self.rate, above=0.0, most=1.0)


def parts_of(nodes: int) -> int:
    """Into how many parts nodes are cut: a function of their number alone, so that threads change nothing.

    Examples
    --------
    >>> parts_of(34), parts_of(1500), parts_of(10_312)
    (1, 2, 8)
    """
    return 2 ** min(MOST_PARTS.bit_length() - 1, max(0, (nodes // PART_NODES).bit_length() - 1))


def steps_of(graph: Graph) -> Steps:
    """Where walks on a graph can go."""
    if graph.weights is None:
        return Steps(graph.indptr, graph.indices, None)
    sums = np.zeros(len(graph.weights) + 1)
    np.cumsum(graph.weights, dtype=np.float64, out=sums[1:])
    return Steps(graph.indptr, graph.indices, sums)


def tables(nodes: int, chosen: SkipGramSettings, vectors: Floats | None = None) -> tuple[Floats, Floats]:
    """The vectors as centers, random and small unless given, and as contexts, zero.  # (n, padded dim) each."""
    padded = -(-chosen.dim // PAD) * PAD
    centers, contexts = np.zeros((nodes, padded), np.float32), np.zeros((nodes, padded), np.float32)
    for start in range(0, nodes, 65536) if vectors is None else ():
        rows = min(65536, nodes - start)
        words = kernels().signs(chosen.seed, start, rows=rows, words=chosen.dim)  # 32 random bits each
        centers[start : start + rows, : chosen.dim] = (words * 2.0**-32 - 0.5) / chosen.dim
    if vectors is not None:
        centers[:, : chosen.dim] = vectors
    return centers, contexts


def noise_table(counts: NDArray[np.float64]) -> NDArray[np.int32]:
    """Nodes in random order, each about as often as its share of ``counts ** 0.75``.  # (a power of two,).

    Examples
    --------
    >>> table = noise_table(np.array([1.0, 0.0, 16.0]))
    >>> (np.bincount(table) / len(table)).round(3).tolist()
    [0.111, 0.0, 0.889]
    """
    bits = max(LEAST_SLOTS, 4 * len(counts) - 1).bit_length()
    share = np.cumsum(counts**NOISE_POWER)
    size = 2**bits if len(counts) > 1000 else 2**16
    at = (np.arange(size) + 0.5) * (share[-1] / size)
    nodes = np.minimum(np.searchsorted(share, at, side="right"), np.flatnonzero(counts)[-1])
    table = np.empty(size, np.int32)
    table[_shuffled(size)] = nodes
    return table


def _shuffled(size: int) -> NDArray[np.int64]:
    """0 ... size - 1 in another order; each round of multiplying and folding is one to one on the bits of a number."""
    place = np.arange(size, dtype=np.uint64)
    mask, half = np.uint64(size - 1), np.uint64(size.bit_length() // 2)
    for factor in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB):
        place = place * np.uint64(factor) & mask
        place ^= place >> half
    return place.astype(np.int64)


def memory(shape: Shape, chosen: SkipGramSettings) -> int:
    """Two tables, the vectors if they are narrower, the pairs that wait, the noise, sums of weights, starts and counts."""
    padded = -(-chosen.dim // PAD) * PAD
    held = 2 * shape.nodes * padded * 4 + (shape.nodes * chosen.dim * 4 if padded > chosen.dim else 0)
    waiting = 16 * CHUNK + 4 * max(2 * LEAST_SLOTS, 8 * shape.nodes)
    return held + waiting + shape.nodes * 24 + (8 * shape.entries if shape.weighted else 0)
