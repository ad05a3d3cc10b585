"""The protocol of engines: tall matrices (n x k) and the verbs on them; and the algebra of small matrices (k x k).

Algorithms (the range finder, the filters, every method) are written once, against these verbs. An engine decides about
memory or disk, the order and the precision of the rows, and about the workers.

A tall matrix is opaque to its users: they hold it and hand it back to the engine that made it. Its memory is used again
once there is no reference to it; `Engine.release` does so early, while a caller further up still has one.

Only Gram matrices and sums leave an engine before the end, and rows block by block (`Engine.visit`). What is built on
sums is here: orthonormal columns, principal axes. Small algebra is that of `graphrefine.kernels.exact`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import InputError
from graphrefine.kernels import exact

if TYPE_CHECKING:
    from graphrefine.linalg.operators import Operator

T = TypeVar("T")
Small = NDArray[np.float64]
RowSource: TypeAlias = Callable[[int, int], NDArray[np.float32]]
"""Gives the rows of a matrix from ``start`` to before ``stop``.  # (stop - start, k)."""
Axes: TypeAlias = Callable[[NDArray[np.float32]], tuple[NDArray[np.float64], NDArray[np.float64] | None]]
"""Finds, from some rows of a matrix, a rotation and the row to take away after it, if any."""
RowWork: TypeAlias = Callable[[slice, NDArray[np.float32]], None]
"""Works on the rows of a block, which it may overwrite.  # (rows, at least k)."""
BLOCK_ROWS = 4096  # rows of a block that `Engine.fill` asks for
# A second pass of Cholesky-QR costs a rotation and a Gram matrix of n k^2 operations each, and is left out where the
# first one is known to do: not on short matrices, where it costs next to nothing and noise is least predictable.
SHORT = 2048
NEAR = 0.1  # largest entry of a Gram matrix less the identity, for which it counts as one of full rank
# Square of a column's length after one pass. It is 1 but for noise: beyond this, the rounding of Y to bfloat16 was
# divided by singular values so small that it is louder than Y's directions.
LOUD = 4.0
# Of the orthonormality of the basis: products gather it in bfloat16, which rounds by 4e-3, so more would not show.
TOLERANCE = 6e-5


class Engine(Protocol[T]):
    """The verbs. ``T`` is the engine's kind of tall matrix, of ``nodes`` rows."""

    nodes: int
    columns: int
    threads: int  # of this process

    @property
    def order(self) -> NDArray[np.int32] | None:
        """The row of the graph at each position; None where rows stay in their order.  # (n,)."""

    def random(self, *, seed: int) -> T:
        """Return a sketch of random signs; a node's row depends on the seed and on its name alone."""
        # Graphs that share nodes, such as one before and after some edges changed, so share their sketch.

    def fill(self, rows: RowSource, *, precise: bool = False) -> T:
        """Return the matrix whose rows a function gives, in the graph's order.

        It is called for blocks of `BLOCK_ROWS` rows, the last one shorter, in any order and from several threads.
        """

    def one_hot(self, rows: NDArray[np.int64], columns: NDArray[np.int32], values: NDArray[np.float32]) -> T:
        """Return the matrix with these values, and zeros elsewhere; ascending rows in the graph's order."""

    def array(self, columns: int, dtype: Any) -> NDArray[Any]:
        """Return an array (n, columns) for its user to fill and to read, in memory or in a file."""

    def visit(self, x: T, work: RowWork, total: NDArray[Any]) -> None:
        """Hand the rows of a precise x, in the engine's order, to a function: block after block, in this process.

        The work may add to ``total``, a small array, and fill its rows of an `array`. A run that is taken up again gets
        both back, without the work.
        """

    def apply(
        self,
        operator: Operator,
        x: T,
        *,
        scale: float = 1.0,
        plus: tuple[float, T] | None = None,
        shift: NDArray[Any] | None = None,
        unit: bool = False,
        gram: bool = False,
        precise: bool = False,
    ) -> T:
        """Return ``scale * operator @ x``, plus a multiple of another tall matrix, less a row, rows unit if asked.

        The row ``shift`` (k,) is not subtracted from rows of zeros: they stay. ``gram``: the Gram matrix of the result,
        as it is stored, will be needed. ``precise``: the result is needed in float32, not only to gather from.
        """

    def gram(self, x: T) -> NDArray[np.float64]:
        """Return ``x^T x`` (k, k), summed in float64."""

    def sums(self, x: T, weights: NDArray[np.float32] | None = None) -> NDArray[np.float64]:
        """Return ``weights @ x`` (k,), summed in float64; a weight for each node in the graph's order, 1 by default."""

    def rotate(
        self, x: T, rotation: NDArray[Any], *, triangular: bool = False, unit: bool = False, precise: bool = False
    ) -> T:
        """Return ``x @ rotation`` for a small matrix, upper triangular if ``triangular``; rows made unit if asked.

        Where the rotation has fewer than k columns, the last ones of the result are zero.
        """

    def project(
        self, operator: Operator, x: T, *, rows: NDArray[np.int64], axes: Axes, **options: Any
    ) -> NDArray[np.float32]:
        """Return the rows of `apply`, with its options, on axes of some of them, as one array like that of `collect`.

        ``axes`` gets those ``rows`` of the product and gives a rotation and the row that is taken away after it; the
        rows of the result are made unit.
        """

    def release(self, x: T) -> None:
        """Let ``x`` go, which is not used again, though its memory may be."""

    def trim(self) -> None:
        """Give the memory back that is kept for matrices to come."""

    def collect(
        self,
        x: T,
        rotation: NDArray[Any] | None = None,
        *,
        shift: NDArray[Any] | None = None,
        unit: bool = False,
    ) -> NDArray[np.float32]:
        """Return ``x @ rotation - shift`` as one array, as wide as the rotation, rows in the graph's order.

        Rows of zeros stay; the others are made unit if asked.
        """


def pad_rotation(rotation: NDArray[Any], padded: int) -> NDArray[np.float32]:
    """Return a rotation in float32 with zeros for the padded columns of tall matrices."""
    out = np.zeros((padded, padded), np.float32)
    out[: rotation.shape[0], : rotation.shape[1]] = rotation
    return out


def pad_row(row: NDArray[Any] | None, padded: int) -> NDArray[np.float32] | None:
    """Return a row in float32 with zeros for the padded columns of tall matrices."""
    if row is None:
        return None
    out = np.zeros(padded, np.float32)
    out[: len(row)] = row
    return out


def project_rows(
    engine: Engine[T], operator: Operator, x: T, *, rows: NDArray[np.int64], axes: Axes, **options: Any
) -> NDArray[np.float32]:
    """See `Engine.project`: by the other verbs, one after the other."""
    F = engine.apply(operator, x, precise=True, **options)
    sample = np.zeros((len(rows), engine.columns), np.float32)
    order = engine.order
    # Ascending in the graph's order, not in the engine's: the Gram matrix of the sample is summed row by row.
    positions = rows if order is None else np.argsort(order, kind="stable")[rows]

    def take(span: slice, block: NDArray[np.float32]) -> None:
        here = np.flatnonzero((positions >= span.start) & (positions < span.stop))
        sample[here] = block[positions[here] - span.start, : engine.columns]

    engine.visit(F, take, sample)
    rotation, middle = axes(sample)
    return engine.collect(F, rotation, shift=middle, unit=True)


def orthonormal(engine: Engine[T], Y: T, *, block: int, precise: bool = False) -> T:
    """Return the blocked QR of Algorithm 1, as Cholesky-QR: the Gram matrix of Y is factored, and Y rotated.

    Columns beyond the rank of Y are zero. ``precise`` keeps the basis in float32.
    """
    # Unlike the paper's QR, this needs one k x k matrix from all blocks of rows. One pass leaves the error of the Gram
    # matrix times |W|^2, for columns of length 1; where that is too much, a second pass follows. What the first pass
    # makes of a direction smaller than the noise is noise, which the second one sees: its length is not 1 but next to
    # nothing, and it comes out as zero.
    gram, rows = engine.gram(Y), engine.nodes
    W = blocked_whitening(gram, block)
    noise = 2e-5 / rows + 5e-10  # of the Gram matrix, as measured from 40 to a million rows
    if W is not None and rows > SHORT and noise * np.square(W * np.sqrt(np.diag(gram))[:, None]).sum() <= TOLERANCE:
        return engine.rotate(Y, W, triangular=True, precise=precise)
    first = whitening(gram, least=1e-9) if W is None else W
    Q = engine.rotate(Y, first, precise=True)
    again = engine.gram(Q)
    if W is None and np.diag(again).max() > LOUD:  # in the second pass it would count as the only direction
        Q = engine.rotate(Y, whitening(gram, least=1e-5), precise=True)
        again = engine.gram(Q)
    near = W is not None and bool(np.abs(again - np.eye(len(again))).max() < NEAR)
    # Near the identity its eigenvectors are noise: a triangular factor keeps every column where it is.
    second = blocked_whitening(again, block) if near else None
    if second is None:
        second = whitening(again, least=1e-2)
    return engine.rotate(Q, second, precise=precise)


def blocked_whitening(gram: Small, block: int) -> Small | None:
    """Return the upper triangular W with ``W^T G W = I``, in column blocks; None where G is numerically singular.

    If G is the Gram matrix of Y, then ``Y W`` is what the blocked QR of Algorithm 1 makes of Y: block i is freed of its
    projections on the blocks before it (line 4), then orthonormalized. All of it happens in k x k matrices.

    Examples
    --------
    >>> G = np.array([[4.0, 2.0], [2.0, 5.0]])
    >>> blocked_whitening(G, 1).round(12).tolist()
    [[0.5, -0.25], [0.0, 0.5]]
    """
    k = len(gram)
    scale = np.sqrt(np.diag(gram))
    if not np.all(scale > 0):
        return None
    G = gram / np.outer(scale, scale)
    W = np.zeros((k, k))
    for start in range(0, k, block):
        stop = min(start + block, k)
        before = W[:start, :start]
        projections = exact.matmul(before.T, G[:start, start:stop])  # C_j^T Y_i for all j < i
        rest = G[start:stop, start:stop] - exact.matmul(projections.T, projections)
        try:
            lower = exact.cholesky(rest)
        except np.linalg.LinAlgError:
            return None
        if np.diag(lower).min() < 1e-5:  # a column in the span of those before it
            return None
        free = np.concatenate([-exact.matmul(before, projections), np.eye(stop - start)])
        W[:stop, start:stop] = exact.solve_lower(lower, free.T).T
    return W / scale[:, None]


def whitening(gram: Small, *, least: float) -> Small:
    """Return a W with ``W^T G W = I`` on the range of G: eigenvalues below ``least`` of the largest count as zero."""
    values, vectors = descending_eigh(gram)
    positive = (values > values[0] * least) & (values > 0)
    return vectors * np.where(positive, 1.0 / np.sqrt(np.where(positive, values, 1.0)), 0.0)


def descending_eigh(gram: Small) -> tuple[Small, Small]:
    """Return eigenvalues, largest first, and eigenvectors whose largest component is positive.

    Examples
    --------
    >>> values, vectors = descending_eigh(np.diag([1.0, 4.0]))
    >>> values.tolist(), vectors.tolist()
    ([4.0, 1.0], [[0.0, 1.0], [1.0, 0.0]])
    """
    if not np.isfinite(gram).all():
        raise InputError(
            "squares of the weights are beyond float32; multiply them all by one number, as their unit does not matter",
            argument="weights",
        )
    values, vectors = exact.eigh(gram)
    return np.maximum(values[::-1], 0.0), _settled(vectors[:, ::-1])


def principal_rotation(gram: Small, exponent: float = 0.5) -> Small:
    """Return the V S^(p-1) that takes F = U S V^T to U S^p, from F's Gram matrix; columns beyond its rank are zero."""
    values, vectors = descending_eigh(gram)  # values are S^2
    # From the Gram matrix and not from an SVD of F: all of it is k x k, and F is n x k. It squares the condition, so
    # directions below 1e-6 of the largest are lost; they would be rounding in float32 rows anyway.
    positive = (values > values[0] * 1e-12) & (values > 0)
    return vectors * exact.power_where(positive, values, (exponent - 1) / 2)


def eigh_by_size(matrix: Small) -> tuple[Small, Small]:
    """Return eigenvalues with their signs, the largest in size first, and eigenvectors as of `descending_eigh`.

    Examples
    --------
    >>> values, vectors = eigh_by_size(np.diag([1.0, -4.0]))
    >>> values.tolist(), vectors.tolist()
    ([-4.0, 1.0], [[0.0, 1.0], [1.0, 0.0]])
    """
    values, vectors = exact.eigh(matrix)
    order = np.argsort(-np.abs(values), kind="stable")
    return values[order], _settled(vectors[:, order])


def _settled(vectors: Small) -> Small:
    # An eigenvector's sign is arbitrary: without a rule, two runs with other last bits would have opposite columns.
    largest = vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])]
    settled: Small = vectors * np.where(largest < 0, -1.0, 1.0)
    return settled


def collect_centered(engine: Engine[T], F: T, *, nodes: int, axes: float) -> NDArray[np.float32]:
    """Return unit rows of ``U S^axes`` of F, its rows centered, of which ``nodes`` are not zero."""
    rotation, middle = centered_rotation(engine.gram(F), engine.sums(F), nodes=nodes, axes=axes)
    return engine.collect(F, rotation, shift=middle, unit=True)


def centered_rotation(gram: Small, sums: Small, *, nodes: int, axes: float) -> tuple[Small, Small]:
    """Return the `principal_rotation` of centered rows, and their mean after it, from the sums of ``nodes`` rows."""
    # Centered in k x k: sum (x - m)(x - m)^T = G - n m m^T, without a pass over the rows. Not centered, the first axis
    # would be the mean itself, which tells no node from another.
    middle = sums / nodes
    rotation = principal_rotation(gram - nodes * np.outer(middle, middle), axes)
    return rotation, exact.matmul(middle, rotation)
