"""Node features joined with the structure: an n x f matrix X, reduced, related to the graph, smoothed over it.

1. ``B = D (X W - 1 m^T)``: columns weighted and centered, rows made unit (`prepare`). X is never made dense.
2. ``Z = B Q V S^-1/2``, rows unit: the range finder again, on another operator (`leading`).
3. ``mu_j``, the correlation between a node and its neighbors in each direction of Z, known from k x k matrices; what
   lies within the reach of chance is held to be noise, and how it fades with a second step tells how much of the rest
   is (`relate`).
4. ``c Z + T^3 Z + w T^9 Z``, the filter of the structure with a share of the node itself, and its principal axes.
5. The two sides, the features by a weight, turned to the k axes that keep most of both (`join`).

The weight of a column that is 0 in a share 1 - p of the nodes is ``sqrt(p) ln(1 + 1/p) / (ln 2 sd)``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.engine.engine import Engine, T, collect_centered, descending_eigh, whitening
from graphrefine.errors import InputError
from graphrefine.graph.graph import Graph
from graphrefine.kernels import PAD, native, to_float32
from graphrefine.kernels.exact import dot, eigh, gram, log, log1p, matmul, matmul_tall, power
from graphrefine.linalg import unit_rows
from graphrefine.linalg.operators import Operator, inverse_degrees, transition, walk
from graphrefine.refine.filters import coefficients, diffuse, limit, limit_weights, smallest_weight

Floats = NDArray[np.float32]
Small = NDArray[np.float64]

ROWS = 16384  # worked on together
JOINED = 8192  # rows of both sides in a block
PIECE = 512  # rows over which products are summed at a time
CONSTANT = 1e-7  # of the largest entry: a standard deviation that is none
ROUNDS = 3  # of B^T B on the sketch
DEVIATIONS = 3.0  # beyond which a mean correlation is not chance
EDGE = 2.0  # standard deviations beyond the largest eigenvalue that chance has
OWN = 0.75  # share of a node's own features in what is smoothed, where single directions are beyond chance
AXES = 0.4  # as in the structure's vectors
# Weights of features against structure: some directions go with the graph, without noise; no single one does, but all
# taken together do; none does. Chosen on digits, Debian's packages and block models of 4,000 nodes. No label is used:
# features that do not agree with the graph count little, even where they would predict the labels.
WEIGHT, FAIR, FAINT = 1.5, 1.0, 0.5


@dataclass(frozen=True)
class Prepared:
    """``B = matrix - own mean^T`` (n, f), rows of length 1 or 0; ``own`` is None where B is stored as it is."""

    matrix: Any  # (n, f) float32: CSR, or an array
    own: Small | None  # (n,)
    mean: Small  # (f,)

    def times(self, small: NDArray[Any], start: int, stop: int) -> Floats:
        """Return the rows ``start`` to ``stop`` of ``B small``."""
        part = self.matrix[start:stop]
        if self.own is None:
            return matmul_tall(part, small)
        product = _multiply_sparse(part, small)
        product -= np.outer(self.own[start:stop], matmul(self.mean, small)).astype(np.float32)
        return product

    def turned(self, part: Floats, start: int, stop: int) -> Floats:
        """Return ``B^T part``, of the rows ``start`` to ``stop``.  # (f, k)."""
        if self.own is None:
            pieces = [slice(first, first + PIECE) for first in range(0, len(part), PIECE)]
            return _sum(matmul_tall(self.matrix[start:stop][piece].T, part[piece]) for piece in pieces)
        product = _multiply_sparse(self.matrix[start:stop].T.tocsr(), part)
        product -= np.outer(self.mean, matmul(self.own[start:stop], part)).astype(np.float32)
        return product


class Relation(NamedTuple):
    """How features go with the graph."""

    rotation: Small  # (k, k): Z with each direction times its gain
    own: float  # theta_0 of the filter
    weight: float  # of the features against the structure
    directions: int  # of those, how many are beyond chance each by itself
    correlation: float  # between neighbors, in the leading direction


def prepare(X: Any) -> Prepared:
    """Return weighted, centered columns and unit rows of a checked matrix (n, f), sparse or an array.

    Columns that are the same in every node are left out. A row of zeros stays zero: a node without features.

    Examples
    --------
    >>> B = prepare(np.array([[1.0, 7.0], [3.0, 7.0], [5.0, 7.0], [7.0, 7.0]]))
    >>> B.matrix.tolist()
    [[-1.0], [-1.0], [1.0], [1.0]]
    """
    import scipy.sparse as sp

    sparse = bool(sp.issparse(X))
    stored = X.count_nonzero() if sparse else np.count_nonzero(X)
    if 2 * stored < X.shape[0] * X.shape[1]:  # CSR takes less room, and so it is for both kinds of input
        return _prepare_sparse(X)
    return _prepare_dense(X.toarray() if sparse else X)


def _prepare_sparse(X: Any) -> Prepared:
    import scipy.sparse as sp

    scaled = sp.csr_array(X, dtype=np.float64, copy=True)
    scaled.sum_duplicates()
    scaled.eliminate_zeros()
    nodes, columns = scaled.shape
    # Columns are divided by their largest entry before anything is squared: the unit of a column is free, and entries
    # of 1e200 have no squares in float64.
    largest = np.zeros(columns)
    np.maximum.at(largest, scaled.indices, np.abs(scaled.data))
    scaled.data /= largest[scaled.indices]
    mean = np.bincount(scaled.indices, scaled.data, columns) / nodes
    square = np.bincount(scaled.indices, np.square(scaled.data), columns) / nodes
    share = np.bincount(scaled.indices, minlength=columns) / nodes
    weight = _weights(share, np.sqrt(np.maximum(square - np.square(mean), 0.0)))
    scaled.data *= weight[scaled.indices]
    used = np.flatnonzero(weight)
    scaled, mean = scaled[:, used], (mean * weight)[used]
    counts = np.diff(scaled.indptr)
    terms = scaled.data * (scaled.data - 2 * mean[scaled.indices])
    lengths = np.bincount(np.repeat(np.arange(nodes), counts), terms, nodes) + dot(mean, mean)
    own = np.where(counts > 0, 1 / np.sqrt(np.maximum(lengths, 1e-300)), 0.0)
    scaled.data *= np.repeat(own, counts)
    return Prepared(scaled.astype(np.float32), own, mean)


def _prepare_dense(X: NDArray[Any]) -> Prepared:
    nodes = len(X)
    largest = np.maximum(X.max(axis=0).astype(np.float64), -(X.min(axis=0).astype(np.float64)))
    largest[largest == 0] = 1.0
    blocks = [slice(start, start + ROWS) for start in range(0, nodes, ROWS)]
    mean = sum((X[b] / largest).sum(axis=0) for b in blocks) / nodes
    square = sum(np.square(X[b] / largest - mean).sum(axis=0) for b in blocks) / nodes
    weight = _weights(np.count_nonzero(X, axis=0) / nodes, np.sqrt(square))
    used = np.flatnonzero(weight)
    matrix = np.empty((nodes, len(used)), np.float32)
    for b in blocks:
        fresh = (X[b][:, used] / largest[used] - mean[used]) * weight[used]
        fresh[~X[b].any(axis=1)] = 0.0
        matrix[b] = unit_rows(fresh)
    return Prepared(matrix, None, mean[used])


def _weights(share: Small, deviation: Small) -> Small:
    """Return the weights of columns, see the top of the module; zero for one with a single value."""
    # sqrt(p) ln(1 + 1/p) / (ln 2 sd) is standardization where p = 1, and for counts of words, which are mostly zero,
    # much what tf-idf is: one rule for dense and for sparse columns.
    varied = (deviation > CONSTANT) & (share > 0)
    if not varied.any():
        raise InputError(
            f"features: each of the {len(share)} columns has the same value in all nodes, which tells nothing; "
            "leave them out"
        )
    share, deviation = np.where(varied, share, 1.0), np.where(varied, deviation, 1.0)
    weights: Small = np.where(varied, np.sqrt(share) * log1p(1 / share) / log(2.0) / deviation, 0.0)
    return weights


def leading(B: Prepared, k: int, *, seed: int) -> Small:
    """Return the (f, at most k) matrix that takes B to ``U S^1/2`` of its leading singular directions.

    Examples
    --------
    >>> B = prepare(np.array([[1.0, 0.0], [2.0, 1.0], [4.0, 2.0], [5.0, 3.0]]))
    >>> leading(B, 2, seed=0).shape
    (2, 2)
    """
    nodes, columns = B.matrix.shape
    blocks = [(start, min(start + ROWS, nodes)) for start in range(0, nodes, ROWS)]
    Q = np.eye(columns, dtype=np.float32) if columns <= k else _sketch(seed, columns, k)
    for _ in range(ROUNDS if columns > k else 0):
        Q = _sum(B.turned(B.times(Q, *block), *block) for block in blocks)
        Q = matmul_tall(Q, whitening(gram(Q), least=1e-10))
    values, vectors = descending_eigh(_sum(gram(B.times(Q, *block)) for block in blocks))
    present = values > 1e-9 * values[0]
    axes: Small = matmul(Q, vectors[:, present] * power(values[present], -0.25))
    return axes


def relate(engine: Engine[T], graph: Graph, Z: T) -> Relation:
    """Measure which directions of Z go with the graph, and by how much, by the correlation between neighbors.

    With Y the whitened Z and S the walk between neighbors taken both ways, the eigenvalues mu of ``Y^T S Y / n`` are
    those correlations (Moran's I in each direction).
    """
    nodes, step = graph.nodes - graph.isolated, walk(graph)
    within = engine.gram(Z) / graph.nodes
    once, twice = _correlations(engine, step, Z)
    Y = whitening(within, least=1e-6)
    Y = Y[:, Y.any(axis=0)]
    values, vectors = eigh(matmul(Y.T, matmul(once, Y)) / nodes)
    mu, axes = values[::-1], vectors[:, ::-1]  # largest first
    squares, returns = _returns(graph)
    # Were features drawn without regard to the graph, mu would fill a semicircle of radius 2 sqrt(k) |S| / n. A
    # direction beyond it is kept with gain mu; the others share one gain, their mean correlation less what chance could
    # give it. Where none is beyond, all count alike, with a weight that grows with that mean.
    noise = np.sqrt(squares) / nodes
    beyond = mu > (2 * np.sqrt(len(mu)) + EDGE) * noise
    others = mu[~beyond]
    chance = DEVIATIONS * noise * np.sqrt(2 / max(len(others), 1))  # of their mean
    mean = float(others.mean()) if len(others) else 0.0
    if not beyond.any():
        weight = FAINT + (FAIR - FAINT) * float(np.clip(mean / chance, 0, 1))
        return Relation(np.eye(len(within)), own=0.0, weight=weight, directions=0, correlation=float(mu[0]))
    gain = np.where(beyond, mu, max(mean - chance, 0.0))
    Y = matmul(Y, axes)
    later = ((Y * matmul(twice, Y)).sum(axis=0) - returns) / nodes
    rotation = matmul(Y * gain, matmul(Y.T, within))  # to the directions, and back: Y^T within is the inverse of Y
    share = _trust(mu[beyond], later[beyond])
    trust = share * share  # half a trust in both loses where structure is enough
    own = OWN * trust * float(gain[beyond].sum() / gain.sum())
    weight = FAINT + (WEIGHT - FAINT) * trust
    return Relation(rotation, own, weight, directions=int(beyond.sum()), correlation=float(mu[0]))


def _trust(once: Small, twice: Small) -> float:
    """Return how much of a node's own features its surroundings share, from correlations one and two steps away."""
    # If a share s of the variance fades by a factor e at each step and the rest is the node's own noise, these are s e
    # and s e^2. With one e for all directions, this is the mean of s where directions count by their gains.
    return float(np.clip(dot(once, once) / max(float(twice.sum()), 1e-12), 0.0, 1.0))


def _correlations(engine: Engine[T], step: Operator, Z: T) -> tuple[Small, Small]:
    """Return ``Z^T S Z`` for one step and for two, each taken both ways."""
    # An engine has Gram matrices of one matrix, not of two: those of S Z + Z and S Z - Z differ by 4 Z^T S Z, made
    # symmetric. On disk and on a cluster nothing else leaves the blocks.
    halves, ahead = [], Z
    for _ in range(2):
        grams = [engine.gram(engine.apply(step, ahead, plus=(sign, Z), gram=True, precise=True)) for sign in (1, -1)]
        halves.append((grams[0] - grams[1]) / 4)
        ahead = engine.apply(step, Z, precise=True)
    return halves[0], halves[1]


def _returns(graph: Graph) -> tuple[float, float]:
    """Return the sum of the walk's squared entries, and that of the chances to be back after two steps."""
    inverse, squares = inverse_degrees(graph), None if graph.weights is None else np.square(graph.weights)
    rows = graph.indptr, graph.indices, squares
    lengths = native.row_sums(*rows, np.ones(graph.nodes))
    if graph.directed:
        both = graph.to_scipy().multiply(graph.transposed().to_scipy()).tocsr()
        rows = both.indptr.astype(np.int64), both.indices.astype(np.int32), both.data
    return dot(np.square(inverse), lengths), dot(inverse, native.row_sums(*rows, inverse))


def feature_vectors(
    engine_of: Callable[[int], Engine[T]],
    graph: Graph,
    X: Any,
    *,
    dim: int,
    seed: int,
    advance: Callable[[], None] = lambda: None,
) -> tuple[Floats, Relation]:
    """Return the vectors (n, at most dim) of the features alone, smoothed over the graph, and how they go with it."""
    B = prepare(X)
    axes = leading(B, dim, seed=seed)
    engine = engine_of(axes.shape[1])
    loop = smallest_weight(graph)
    degrees = None if graph.directed else graph.degrees()
    weights = limit_weights(graph.without_edges(), degrees, loop=loop)
    float_weights = weights.astype(np.float32)
    theta = coefficients("reach", degree=graph.mean_count) or ()

    def rows(start: int, stop: int) -> Floats:
        return unit_rows(B.times(axes, start, stop))

    plain = engine.fill(rows, precise=True)
    mean = limit(engine.sums(plain, float_weights), weights).astype(np.float32)
    engine.release(plain)
    Z = engine.fill(lambda start, stop: unit_rows(_less(rows(start, stop), mean)), precise=True)
    advance()
    relation = relate(engine, graph, Z)
    related = engine.rotate(Z, relation.rotation, unit=True)
    engine.release(Z)
    theta = (relation.own, *theta[1:])
    shift = sum(theta) * limit(engine.sums(related, float_weights), weights)
    F = diffuse(engine, transition(graph, loop=loop), related, theta, shift=shift, unit=True, advance=advance)
    return collect_centered(engine, F, nodes=graph.nodes, axes=AXES), relation


def join(structure: Floats, features: Floats, *, weight: float, threads: int) -> None:
    """Put into ``structure`` (n, k) the unit rows of both sides on their k leading principal axes.

    Examples
    --------
    >>> structure = np.array([[1, 0], [1, 0], [0, 1], [0, 0]], np.float32)
    >>> join(structure, np.array([[1], [1], [-1], [1]], np.float32), weight=1.0, threads=1)
    >>> (structure @ structure.T > 0).astype(int).tolist()  # the last has no edge: its feature says where it belongs
    [[1, 1, 0, 1], [1, 1, 0, 1], [0, 0, 1, 0], [1, 1, 0, 1]]
    """
    n, k = structure.shape
    columns = k + features.shape[1]
    width = -(-columns // PAD) * PAD
    pair = np.zeros((2, width, width))
    whole, rotated = np.zeros((min(JOINED, n), width), np.float32), np.empty((min(JOINED, n), width), np.float32)
    blocks = [slice(start, min(start + JOINED, n)) for start in range(0, n, JOINED)]

    def read(block: slice) -> Floats:
        wide = whole[: block.stop - block.start]
        wide[:, :k] = structure[block]
        np.multiply(features[block], np.float32(weight), out=wide[:, k:columns])
        return wide

    # Both sides next to each other are never in memory as a whole: a block is made twice, and is read before it is
    # written.
    for block in blocks:
        native.rotate(read(block), None, out=None, gram=pair, threads=threads)
    axes = np.zeros((width, width), np.float32)
    axes[:, :k] = descending_eigh(pair[0] + pair[1])[1][:, :k]
    for block in blocks:
        fresh = rotated[: block.stop - block.start]
        native.rotate(read(block), axes, out=fresh, unit=True, threads=threads)
        structure[block] = fresh[:, :k]


def _sketch(seed: int, rows: int, columns: int) -> Floats:
    return to_float32(native.signs(seed, 0, rows=rows, words=-(-columns // 32)))[:, :columns]


def _multiply_sparse(matrix: Any, small: NDArray[Any]) -> Floats:
    """Return ``matrix @ small`` of a CSR matrix, each row summed in the order of its entries."""
    columns = small.shape[1]
    padded = np.zeros((len(small), -(-columns // PAD) * PAD), np.float32)
    padded[:, :columns] = small
    out = np.empty((matrix.shape[0], padded.shape[1]), np.float32)
    rows = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32)
    native.Product(*rows, columns=len(small), value=matrix.data).apply(padded, out=out)
    return out[:, :columns]


def _sum(parts: Iterable[NDArray[Any]]) -> NDArray[Any]:
    parts = iter(parts)
    total = next(parts)
    for part in parts:
        total += part
    return total


def _less(x: Floats, row: Floats) -> Floats:
    """Subtract a row from rows; rows of zeros stay."""
    return np.where(np.any(x, axis=1)[:, None], x - row, np.float32(0.0))
