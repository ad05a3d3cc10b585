"""NetSMF: NetMF's matrix sampled, so that it is sparse (Qiu et al., WWW 2019).

Of ``M = log max(1, vol / (b T) sum_{r <= T} P^r D^-1)`` the sum is estimated from walks: with w_i walks from node i,
``sum_r P^r_ij / (T d_j) ~ c_ij / (T w_i d_j)``. As the left side is symmetric, each pair of nodes is taken from the
walks of one of them. What is more than 1 is kept, its logarithm taken; vectors are ``U S^1/2``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphrefine.graph.graph import Graph
from graphrefine.kernels import PAD, sampling
from graphrefine.linalg.operators import Operator, inverse_degrees
from graphrefine.methods.contract import Floats, Method, Resources, Shape
from graphrefine.methods.skipgram import steps_of
from graphrefine.methods.walk_matrices import ITERATIONS, OVERSAMPLING, svd_steps
from graphrefine.refine.settings import MethodSettings, setting
from graphrefine.refine.svd import randomized_svd

# The authors take 1,000 rounds on PPI and 10,000 on BlogCatalog: more are closer to NetMF. With 200 PPI is within 0.2
# Micro F1 of the matrix in full, and BlogCatalog 1.5 below it.
ROUNDS = 200
MOST_PAIRS = 1 << 28  # for which the default draws fewer rounds
BLOCK = 1 << 21  # samples drawn between two advances
PAIR_BYTES = 40  # of a pair at the height: in a triangle, in its transpose, and twice in their sum


@dataclass(frozen=True)
class Settings(MethodSettings):
    """Settings of NetSMF. There are 2 rounds T m samples in all."""

    window: int = setting(10, "T, how far two nodes of a walk may be apart.", least=1, most=1000)
    negative: float = setting(1.0, "b, the number of negative samples in the matrix.", above=0, most=1e6)
    rounds: int | None = setting(
        None,
        "Samples of each length for each edge and direction.",
        least=1,
        most=1_000_000,
        default="200, and fewer on graphs so large that 2^28 pairs of nodes could be met",
    )

    def rounds_for(self, entries: int, nodes: int) -> int:
        """Return the number of rounds on a graph of this size.

        Examples
        --------
        >>> Settings().rounds_for(668_000, 10_312), Settings().rounds_for(8_600_000, 900_000)
        (200, 3)
        """
        if self.rounds is not None:
            return self.rounds
        if nodes**2 // 4 <= MOST_PAIRS:
            return ROUNDS
        return max(1, min(ROUNDS, MOST_PAIRS // max(1, self.window * entries)))


def fit(graph: Graph, settings: Settings, resources: Resources) -> Floats:
    """Return the vectors by NetSMF."""
    M = Operator(log_matrix(graph, settings, resources), edge="weight")
    with resources.stages.stage("svd", steps=svd_steps()):
        engine = resources.engine(M.graph, columns=min(settings.dim + OVERSAMPLING, graph.nodes))
        svd = randomized_svd(engine, M, seed=settings.seed, iterations=ITERATIONS, advance=resources.stages.advance)
        engine.release(svd.target)
        return engine.collect(svd.basis, svd.left(power=0.5, columns=settings.dim))


def log_matrix(graph: Graph, settings: Settings, resources: Resources) -> Graph:
    """Return the sampled M: a symmetric matrix with a diagonal, in the rows of a graph."""
    # The paper draws an edge, a length r and a split point, and walks from both ends of the edge. A path has the same
    # probability wherever the edge is put in it, since d_i P_ij = d_j P_ji. So all paths that begin at a node can be
    # drawn as walks from it, in proportion to its degree, with all lengths along one walk: a sample has the law of the
    # paper's, a row is counted at once, and nothing is sorted or merged.
    steps, walks, inverse = steps_of(graph), walks_from(graph, settings), inverse_degrees(graph)
    scale = graph.degrees().sum() / (settings.negative * settings.window) / np.maximum(walks, 1)
    starts = list(_starts(walks * settings.window))
    parts: list[sp.csr_array] = []
    with resources.stages.stage("sampling", steps=len(starts)):
        for start, stop in starts:
            pairs = sampling.walk_pairs(
                steps, start, walks[start:stop], length=settings.window, seed=settings.seed, threads=resources.threads
            )
            parts.append(_above_one(pairs, start, scale[start:stop], inverse))
            resources.stages.advance()
    triangle = sp.vstack(parts, format="csr")
    parts.clear()  # before the sum, which holds all pairs three times
    whole = sp.csr_array(triangle + triangle.T.tocsr())
    indptr, indices = whole.indptr.astype(np.int64, copy=False), whole.indices.astype(np.int32, copy=False)
    return Graph(indptr, indices, whole.data, graph.names)


def walks_from(graph: Graph, settings: Settings) -> NDArray[np.int64]:
    """Return the number of walks that begin at each node, in proportion to its degree.  # (n,)."""
    degrees, entries = graph.degrees(), len(graph.indices)
    # Twice as many as the paper's samples: a pair is counted from one of its ends only.
    each = 2 * settings.rounds_for(entries, graph.nodes) * entries / max(degrees.sum(), 1e-300)
    most = (2**31 - 1) // settings.window  # counts are int32
    walks: NDArray[np.int64] = np.minimum(np.ceil(each * degrees - 1e-6), most).astype(np.int64)
    return walks


def _above_one(
    pairs: sampling.Pairs, first: int, scale: NDArray[np.float64], inverse: NDArray[np.float64]
) -> sp.csr_array:
    """Return the logarithms of the entries above 1, from the diagonal on, of the rows from `first` on.  # (rows, n)."""
    row = np.repeat(np.arange(len(scale)), np.diff(pairs.indptr))
    entries = pairs.counts * scale[row] * inverse[pairs.columns]
    above = entries > 1
    row, columns = row[above], pairs.columns[above]
    logs = np.log(entries[above]).astype(np.float32)
    logs[columns == row + first] /= 2  # the diagonal comes once more with the transpose
    ends = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=len(scale)))])
    return sp.csr_array((logs, columns, ends), shape=(len(scale), len(inverse)))


def _starts(samples: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Yield blocks of rows with about `BLOCK` samples each."""
    total = np.cumsum(samples)
    start = 0
    while start < len(samples):
        before = total[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(total, before + BLOCK, side="right")))
        yield start, stop
        start = stop


def memory(shape: Shape, settings: Settings) -> int:
    """Return the pairs that are kept, and what the SVD works with."""
    # No more pairs than samples; and since entries are 1 on average, about half of all pairs are below 1 and dropped.
    rounds = settings.rounds_for(shape.entries, shape.nodes)
    samples = rounds * settings.window * shape.entries
    if settings.rounds is None:  # rounds fall in whole numbers as graphs grow; memory should not
        samples = max(settings.window * shape.entries, min(ROUNDS * settings.window * shape.entries, MOST_PAIRS))
    pairs = min(shape.nodes**2 // 4 + 16 * shape.nodes, samples)
    padded = -(-(settings.dim + OVERSAMPLING) // PAD) * PAD
    return PAIR_BYTES * pairs + shape.nodes * (3 * 4 * padded + 64) + 32 * BLOCK + 8 * shape.entries


NETSMF = Method(
    name="netsmf",
    reference="Qiu et al., WWW 2019",
    summary="NetMF's matrix sampled by random walks, so that it is sparse; its SVD",
    cost="rounds window m + pairs k + n k^2",
    settings=Settings,
    fit=fit,
    memory=memory,
    bound="the pairs of nodes that walks meet",
    processor_dependence="NumPy's logarithms",
)
