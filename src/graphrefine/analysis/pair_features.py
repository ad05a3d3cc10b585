r"""Features of pairs of nodes: what the rest of a graph says about an edge between them.

With A the adjacency matrix without weights, from sources to targets, and S the same without directions:

=======================  =============================================================================================
degree product           :math:`d_u d_v`, out of u and into v
common neighbors        :math:`S S`
Adamic-Adar              :math:`S \,\mathrm{diag}(1 / \ln d)\, S`
resource allocation      :math:`S \,\mathrm{diag}(1 / d)\, S`
two steps                :math:`A \,\mathrm{diag}(d^{-1/2})\, A`, of directed graphs
three steps              :math:`A \,\mathrm{diag}(d_{in}^{-1/2})\, A^T \,\mathrm{diag}(d_{out}^{-1/2})\, A`: v is what nodes like
                         u have; strong where edges join nodes that differ, as proteins and parties of a trade do
low rank a, r            :math:`D_{out}^a U_r \Sigma_r V_r^T D_{in}^a`, where :math:`U \Sigma V^T` are the singular triplets
                         of :math:`D_{out}^{-a} A D_{in}^{-a}`: A without what r triplets cannot hold
=======================  =============================================================================================

They are computed for all pairs of some nodes (rows) with all nodes (columns), in blocks.
"""  # noqa: E501  a table

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphrefine.engine.local import LocalEngine
from graphrefine.graph.graph import Graph
from graphrefine.linalg.operators import Operator
from graphrefine.progress import Stages
from graphrefine.refine.svd import oversampled, randomized_svd
from graphrefine.system.threads import one_blas_thread

RANKS = {0.3: (16, 32, 128), 0.5: (16, 128)}  # exponent of the degrees -> numbers of triplets
ITERATIONS = 3
DENSE = 1000  # nodes of a graph whose matrix is decomposed as it is, to the last triplet
SMALLEST = {  # added before a logarithm, for pairs that have nothing of a feature
    "degree product": 1.0,
    "common neighbors": 0.1,
    "Adamic-Adar": 0.03,
    "resource allocation": 1e-3,
    "two steps": 1e-3,
    "three steps": 1e-2,
}
SMALLEST_RANK = 3e-3
BASELINES = ("degree product", "common neighbors", "Adamic-Adar", "resource allocation")

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]


class PairFeatures:
    """The features of a graph's pairs, ready to be computed for rows of nodes."""

    def __init__(self, graph: Graph, *, seed: int, threads: int, stages: Stages) -> None:
        self.graph = graph
        plain = replace(graph, weights=None, report={})
        self._A = plain.to_scipy()
        self._AT = plain.transposed().to_scipy()
        self._S = _without_directions(self._A, self._AT) if graph.directed else self._A
        self.out, self.into = (_counts(matrix) for matrix in (self._A, self._AT))
        degree = _counts(self._S)
        with np.errstate(divide="ignore"):
            adamic = np.where(degree > 1, 1 / np.log(degree), 1 / np.log(1.5))
        weights = {"common neighbors": degree**0, "Adamic-Adar": adamic, "resource allocation": 1 / degree}
        self._shared = {} if graph.sources is not None else {  # two steps do not cross from side to side
            name: _scale_rows(self._S, weight) for name, weight in weights.items()
        }  # fmt: skip
        self._steps = _scale_rows(self._A, degree**-0.5) if graph.directed else None
        self._back = _scale_rows(self._AT, self.into**-0.5)
        self._forth = _scale_rows(self._A, self.out**-0.5).T.tocsr()
        self._sides = {a: _low_rank(plain, a, (self.out, self.into), max(ranks), seed, threads, stages)
                       for a, ranks in RANKS.items()}  # fmt: skip
        self.names = [
            "degree product",
            *self._shared,
            *(["two steps"] if graph.directed else []),
            "three steps",
            *(f"low rank {a:g}, {rank}" for a, ranks in RANKS.items() for rank in ranks),
        ]

    def block(self, rows: Rows) -> list[Floats]:
        """Every feature of these rows with all columns.  # (rows, n) each."""
        own, around = self._A[rows], self._S[rows]
        features = [np.multiply.outer(self.out[rows], self.into)]
        features += [(around @ matrix).toarray() for matrix in self._shared.values()]
        if self._steps is not None:
            features.append((own @ self._steps).toarray())
        features.append(np.ascontiguousarray((self._forth @ (own @ self._back).toarray().T).T))
        for a, ranks in RANKS.items():
            left, right = self._sides[a]
            total, before = np.zeros((len(rows), len(right)), np.float32), 0
            for rank in ranks:
                total = total + left[rows, before:rank] @ right[:, before:rank].T
                before = rank
                features.append(total)
        return features

    def describe(self, values: Floats, first: Rows, second: Rows) -> NDArray[np.float64]:
        """What a model takes of pairs: logarithms of the features, and facts of their ends.  # (m, columns)."""
        low = [SMALLEST.get(name, SMALLEST_RANK) for name in self.names]
        columns = [np.log(np.maximum(values[:, place], 0) + least) for place, least in enumerate(low)]
        if self.graph.weighted:
            sums, arrivals = self.graph.degrees(), self.graph.transposed().degrees()
            columns.append(np.log1p(sums[first]) + np.log1p(arrivals[second]))
        if self.graph.directed:
            columns += [np.log(self.out[first]), np.log1p(_zeroed(self.into, self._AT)[first]),
                        np.log1p(_zeroed(self.out, self._A)[second])]  # fmt: skip
            back = np.asarray(self._A[second, first]).ravel()
            columns.append(back.astype(np.float64))
        return np.column_stack(columns).astype(np.float64)


def _counts(matrix: sp.csr_array) -> Floats:
    """Entries of each row, at least 1, so that powers are finite: a row without entries is zero whatever its scale."""
    counts: Floats = np.maximum(np.diff(matrix.indptr), 1).astype(np.float32)
    return counts


def _zeroed(counts: Floats, matrix: sp.csr_array) -> Floats:
    zeroed: Floats = np.where(np.diff(matrix.indptr) > 0, counts, 0).astype(np.float32)
    return zeroed


def _without_directions(A: sp.csr_array, AT: sp.csr_array) -> sp.csr_array:
    both: sp.csr_array = (A + AT).tocsr()
    both.data[:] = 1
    return both


def _scale_rows(matrix: sp.csr_array, scale: NDArray[np.floating]) -> sp.csr_array:
    data = matrix.data * np.repeat(scale.astype(np.float32), np.diff(matrix.indptr))
    return sp.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape, copy=False)


@one_blas_thread()
def _low_rank(
    graph: Graph, exponent: float, counts: tuple[Floats, Floats], rank: int, seed: int, threads: int, stages: Stages
) -> tuple[Floats, Floats]:
    """Two tall matrices whose product is the part of A that the leading triplets hold.  # (n, rank) each."""
    rank = min(rank, graph.nodes)
    scales = [count**-exponent for count in counts]
    operator = Operator(graph, edge="weight", row_scale=scales[0], column_scale=scales[1])
    if graph.nodes <= DENSE:
        U, values, V = np.linalg.svd(operator.to_scipy().toarray().astype(np.float64))
        roots = np.sqrt(values[:rank])
        left, right = ((side * roots).astype(np.float32) for side in (U[:, :rank], V[:rank].T))
        return left / scales[0][:, None], right / scales[1][:, None]
    engine = LocalEngine(graph, columns=oversampled(rank, graph.nodes), threads=threads)
    with stages.stage("triplets", steps=2 * ITERATIONS + 2):
        triplets = randomized_svd(engine, operator, seed=seed, iterations=ITERATIONS, advance=stages.advance)
    left = engine.collect(triplets.basis, triplets.left(power=0.5, columns=rank))
    right = engine.collect(triplets.target, triplets.right(power=0.5, columns=rank))
    for side, scale in ((left, scales[0]), (right, scales[1])):
        side /= scale[:, None]
    return left, right
