"""Skip-gram for all methods that use it: two tables of vectors, the noise, and training on chunks of walks.

Skip-gram with negative sampling (Mikolov et al., NIPS 2013) gives every node u a vector x_u as a center and a vector
c_u as a context. For each pair (u, v) that is met, and b nodes w drawn from the noise, it raises

    log sigmoid(x_u . c_v) + sum_w log sigmoid(-x_u . c_w)

by a step of gradient ascent, at a rate that falls linearly to zero. The vectors of the embedding are the x_u.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import InputError
from graphrefine.kernels import PAD, native
from graphrefine.kernels.exact import power
from graphrefine.kernels.sampling import Steps, skip_gram
from graphrefine.methods.contract import Floats, Resources, Shape
from graphrefine.refine.settings import MethodSettings, setting

if TYPE_CHECKING:
    from graphrefine.graph.graph import Graph
    from graphrefine.kernels._native import SkipGram

CHUNK = 4_000_000  # pairs, noise included, that are drawn before they are trained
NOISE_POWER = 0.75  # as in word2vec: what is met often is drawn as noise less often than that
LOWEST = 1e-4  # of the rate, at the end
# Tables are cut into parts, and threads work on blocks that share no row. As many parts as threads would race or change
# bits with the machine: their number is that of the nodes alone, with 512 of them in each at least.
MOST_PARTS, PART_NODES = 8, 512


@dataclass(frozen=True)
class SkipGramSettings(MethodSettings):
    """Settings of every skip-gram method."""

    negatives: int = setting(5, "Nodes drawn from the noise for each pair.", least=1, most=1000)
    rate: float = setting(0.025, "Learning rate at the beginning.", above=0.0, most=1.0)


class Training:
    """The tables of a graph's nodes as centers and as contexts, and how far their training is.

    Parameters
    ----------
    total
        How many walks there will be: the rate falls with each.
    vectors
        What the centers begin with; small random vectors otherwise. Contexts begin with zero.
    """

    def __init__(
        self,
        graph: Graph,
        settings: SkipGramSettings,
        resources: Resources,
        *,
        total: int,
        vectors: Floats | None = None,
    ) -> None:
        self._settings, self._resources, self._total, self._done = settings, resources, total, 0
        self.centers = _pad(graph.nodes, settings, vectors)  # (n, padded dim)
        self.contexts = np.zeros_like(self.centers)

    def model(self, counts: NDArray[np.float64], *, window: int, both: bool) -> SkipGram:
        """Return a skip-gram whose noise is drawn by how often nodes are met as contexts."""
        settings, parts = self._settings, parts_of(len(counts))
        noise = noise_table(counts)
        return skip_gram(noise, window=window, negatives=settings.negatives, both=both, seed=settings.seed, parts=parts)

    def train(self, model: SkipGram, walks: NDArray[np.int32]) -> None:
        """Train on the next walks."""
        self._step(model, self.centers, self.contexts, walks)
        self._done += len(walks)
        self._resources.stages.advance()

    def train_both_ways(self, ahead: SkipGram, back: SkipGram, edges: NDArray[np.int32]) -> None:
        """Train on edges, then on the same edges reversed with the tables exchanged."""
        self._step(ahead, self.centers, self.contexts, edges)
        self._step(back, self.contexts, self.centers, np.ascontiguousarray(edges[:, ::-1]))
        self._done += len(edges)
        self._resources.stages.advance()

    def vectors(self) -> Floats:
        """Return the vectors of the nodes as centers.  # (n, dim)."""
        if not np.isfinite(self.centers).all():
            raise InputError(
                f"rate={self._settings.rate} is too high for this graph: the vectors grew beyond all bounds; "
                "choose a lower one, such as 0.025",
                argument="rate",
            )
        return np.ascontiguousarray(self.centers[:, : self._settings.dim])

    def _step(self, model: SkipGram, centers: Floats, contexts: Floats, walks: NDArray[np.int32]) -> None:
        rate, last = (self._rate(self._done + done) for done in (0, len(walks)))
        threads = self._resources.threads
        model.train(centers, contexts, walks, first=self._done, rate=rate, last_rate=last, threads=threads)

    def _rate(self, done: int) -> float:
        return self._settings.rate * max(LOWEST, 1 - done / self._total)


def _pad(nodes: int, settings: SkipGramSettings, vectors: Floats | None) -> Floats:
    table = np.zeros((nodes, -(-settings.dim // PAD) * PAD), np.float32)
    if vectors is not None:
        table[:, : settings.dim] = vectors
        return table
    for start in range(0, nodes, 65536):
        rows = min(65536, nodes - start)
        words = native.signs(settings.seed, start, rows=rows, words=settings.dim)  # 32 random bits each
        table[start : start + rows, : settings.dim] = (words * 2.0**-31 - 1) / settings.dim
    return table


def parts_of(nodes: int) -> int:
    """Return how many parts nodes are cut into.

    Examples
    --------
    >>> parts_of(34), parts_of(1500), parts_of(10_312)
    (1, 2, 8)
    """
    parts = 1
    while parts < MOST_PARTS and nodes >= 2 * parts * PART_NODES:
        parts *= 2
    return parts


def steps_of(graph: Graph) -> Steps:
    """Return the steps that walks on a graph can take."""
    if graph.weights is None:
        return Steps(graph.indptr, graph.indices, None)
    sums = np.zeros(len(graph.weights) + 1)
    np.cumsum(graph.weights, dtype=np.float64, out=sums[1:])
    return Steps(graph.indptr, graph.indices, sums)


def noise_table(counts: NDArray[np.float64]) -> NDArray[np.int32]:
    """Return nodes in random order, each about as often as its share of ``counts ** 0.75``.  # (a power of two,).

    Examples
    --------
    >>> table = noise_table(np.array([1.0, 0.0, 16.0]))
    >>> (np.bincount(table) / len(table)).round(3).tolist()
    [0.111, 0.0, 0.889]
    """
    size = _slots(len(counts))
    shares = np.cumsum(power(counts, NOISE_POWER))
    at = (np.arange(size) + 0.5) * (shares[-1] / size)
    table = np.empty(size, np.int32)
    table[_shuffle(size)] = np.minimum(np.searchsorted(shares, at, side="right"), np.flatnonzero(counts)[-1])
    return table


def _slots(nodes: int) -> int:
    """Return some sixty for each node, but no more than a million where four are more than that."""
    return 1 << (min(64 * nodes, max(2**20, 4 * nodes)) + 2**12).bit_length()


def _shuffle(size: int) -> NDArray[np.int64]:
    """Return 0 ... size - 1 in another order."""
    # Multiplying by odd numbers and folding are one to one on the bits of a number, so this is a permutation of any
    # power of two. A center's noise is a run of the table, which must not be a run of neighbors by name.
    index = np.arange(size, dtype=np.uint64)
    mask, half = np.uint64(size - 1), np.uint64(size.bit_length() // 2)
    for factor in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB):
        index = index * np.uint64(factor) & mask
        index ^= index >> half
    return index.astype(np.int64)


def memory(shape: Shape, settings: SkipGramSettings) -> int:
    """Return two tables and a copy without padding, pairs that wait, noise, sums of weights, starts and counts."""
    padded = -(-settings.dim // PAD) * PAD
    copy = shape.nodes * settings.dim * 4 if padded > settings.dim else 0
    waiting = 16 * CHUNK + 40 * _slots(shape.nodes)
    return 2 * shape.nodes * padded * 4 + copy + waiting + 40 * shape.nodes + 8 * shape.entries * shape.weighted
