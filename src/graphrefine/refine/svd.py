"""Randomized decompositions of an operator, on the verbs of an engine: singular triplets and eigenpairs.

Subspace iteration: a random sketch is multiplied by M and M^T in turn, orthonormalized after each product, until its
span Q is that of the leading singular vectors (Halko, Martinsson and Tropp, SIAM Review 2011, Algorithms 4.4 and 5.1).
What is left is k x k:

* `randomized_svd`: ``M ~ Q (M^T Q)^T``, and the Gram matrix of ``R = M^T Q`` gives ``M ~ U S V^T``.
* `randomized_eigh`: for a symmetric A the eigenpairs of ``Q^T A Q`` (Rayleigh-Ritz), signs included.

All columns of the engine take part. The last of them are the least accurate: an engine with some more columns than
are wanted (oversampling) gives better ones, and the rotations below take the leading ``columns``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Protocol

import numpy as np

from graphrefine.engine.engine import Engine, Small, T, descending_eigh, eigh_by_size, orthonormal
from graphrefine.kernels import PAD, exact

TOGETHER = 3  # products between two orthonormalizations of `symmetric_eigh`
BLOCK = 16  # columns orthonormalized together: it groups the arithmetic and changes nothing
# Columns more than wanted, as in scikit-learn's randomized SVD. The last directions of a sketch are the least accurate;
# and Theorem 1's bound needs p > 1 beyond k to be finite at all.
SPARE = 10
NOISE = 1e-9  # of the largest squared singular value; float32 sums cannot tell what is smaller from zero


class Multiply(Protocol[T]):
    """A product with an operator or its transpose; see `Engine.apply`."""

    def __call__(self, operator: Any, x: T, /, *, gram: bool, precise: bool) -> T:
        """Return ``operator @ x``."""


@dataclass(frozen=True)
class Decomposition(Generic[T]):
    """``M ~ U S V^T`` with ``U = basis @ axes`` and ``V = target @ axes / S``."""

    basis: T  # (rows, k): orthonormal
    target: T  # (columns of M, k): M^T basis
    axes: Small  # (k, k): orthogonal
    values: Small  # (k,): S, largest first; what is below `NOISE` is zero

    def left(self, *, power: float = 0.0, columns: int | None = None) -> Small:
        """Return the rotation that takes ``basis`` to the first columns of ``U S^power``; zeros without a value."""
        return self.axes[:, :columns] * _powers(self.values[:columns], power)

    def right(self, *, power: float = 0.0, columns: int | None = None) -> Small:
        """Return the rotation that takes ``target`` to the first columns of ``V S^power``; zeros without a value."""
        return self.axes[:, :columns] * _powers(self.values[:columns], power - 1.0)


@dataclass(frozen=True)
class Eigenpairs(Generic[T]):
    """``A ~ U diag(values) U^T`` with ``U = basis @ axes``."""

    basis: T  # (n, k): orthonormal
    axes: Small  # (k, k): orthogonal
    values: Small  # (k,): signed, the largest in size first


def oversampled(columns: int, rows: int) -> int:
    """Return the columns of an engine that is to find ``columns`` triplets: `SPARE` more, up to a multiple of `PAD`.

    Examples
    --------
    >>> oversampled(128, rows=10_000), oversampled(128, rows=130)
    (160, 130)
    """
    return min(-(-(columns + SPARE) // PAD) * PAD, rows)


def randomized_svd(
    engine: Engine[T],
    M: Any,
    *,
    seed: int,
    iterations: int = 5,
    advance: Callable[[], None] = lambda: None,
    multiply: Multiply[T] | None = None,
) -> Decomposition[T]:
    """Return the leading singular triplets of M, as many as the engine has columns.

    Parameters
    ----------
    engine
        Its matrices are as wide as triplets are wanted, or a little wider.
    M
        An operator of the engine's, with a transpose ``M.T``.
    seed
        Of the random sketch.
    iterations
        Rounds of M^T and M after the first product. Each shrinks what lies outside the wanted span by the square of
        the ratio of its singular values to the wanted ones.
    advance
        Called after each of the ``2 iterations + 2`` products.
    multiply
        How a matrix is multiplied by M or ``M.T``, where `Engine.apply` does not know how.

    Examples
    --------
    >>> from graphrefine.engine.local import LocalEngine
    >>> from graphrefine.graph.graph import Graph
    >>> from graphrefine.linalg.operators import adjacency
    >>> star = Graph.from_edges([0, 0, 0, 0], [1, 2, 3, 4])
    >>> decomposition = randomized_svd(LocalEngine(star, columns=3), adjacency(star), seed=0)
    >>> decomposition.values.round(5).tolist()
    [2.0, 2.0, 0.0]
    """
    turned = M.T  # once: an engine keeps what it prepares for an operator
    product: Multiply[T] = multiply or engine.apply
    Q = _span(engine, (M, turned), product, seed=seed, iterations=iterations, advance=advance)[0]
    # The last product is of the orthonormal Q itself. (M^T Y) W, with the factor W of Q = Y W, would save a pass, and
    # costs accuracy in proportion to cond(Y): a relative error of 1e-2 with bfloat16 gathers, against 8e-4.
    R = product(turned, Q, gram=True, precise=True)
    advance()
    squares, axes = descending_eigh(engine.gram(R))
    squares = np.where(squares > NOISE * squares[0], squares, 0.0)
    return Decomposition(Q, R, axes, np.sqrt(squares))


def randomized_eigh(
    engine: Engine[T],
    A: Any,
    *,
    seed: int,
    iterations: int = 5,
    advance: Callable[[], None] = lambda: None,
) -> Eigenpairs[T]:
    """Return the eigenpairs of a symmetric A with the largest eigenvalues in size, as many as the engine has columns.

    See `randomized_svd` for the parameters; ``advance`` is called ``2 iterations + 3`` times.

    Examples
    --------
    >>> from graphrefine.engine.local import LocalEngine
    >>> from graphrefine.graph.graph import Graph
    >>> from graphrefine.linalg.operators import adjacency
    >>> star = Graph.from_edges([0, 0, 0, 0], [1, 2, 3, 4])
    >>> decomposition = randomized_eigh(LocalEngine(star, columns=3), adjacency(star), seed=0)
    >>> sorted(decomposition.values.round(5).tolist())[::2]
    [-2.0, 2.0]
    """
    Q, size = _span(engine, (A, A), engine.apply, seed=seed, iterations=iterations, advance=advance)
    return _ritz(engine, A, Q, size, advance)


def symmetric_eigh(
    engine: Engine[T],
    A: Any,
    *,
    seed: int,
    products: int,
    negative: float = 1.0,
    advance: Callable[[], None] = lambda: None,
) -> Eigenpairs[T]:
    """Return the eigenpairs of `randomized_eigh`, with `TOGETHER` products between two orthonormalizations.

    ``negative`` is the weight of the size of a negative eigenvalue where the leading ones are chosen. ``advance`` is
    called ``products + 2`` times.

    Examples
    --------
    Of the eigenvalues of a path of seven nodes, ±1.85, ±1.41, ±0.77 and 0, three; one negative, or two if those count
    for more:

    >>> from graphrefine.engine.local import LocalEngine
    >>> from graphrefine.graph.graph import Graph
    >>> from graphrefine.linalg.operators import adjacency
    >>> path = Graph.from_edges(range(6), range(1, 7))
    >>> for weight in (0.8, 1.25):
    ...     engine = LocalEngine(path, columns=3)
    ...     pairs = symmetric_eigh(engine, adjacency(path), seed=0, products=120, negative=weight)
    ...     print(sorted(pairs.values.round(2).tolist()))
    [-1.85, 1.41, 1.85]
    [-1.85, -1.41, 1.85]
    """
    Q, size, shift = engine.random(seed=seed), 0.0, 0.0
    third = products - products // 3
    for left in range(products - 1, -1, -1):
        settle, last = left % TOGETHER == 0, left == 0
        Y = engine.apply(A, Q, plus=(shift, Q) if shift else None, gram=settle, precise=last)
        del Q  # its memory is wanted for the next
        advance()
        if last:
            size = float(np.sqrt(np.diag(engine.gram(Y)).max()))
        # After a third of the products, when the sizes at the cut are known well enough, a multiple of the identity is
        # added to A, so that positive and negative eigenvalues are of the same size where they are cut off.
        if negative != 1.0 and settle and third - TOGETHER < left <= third:
            shift = _even_shift(engine.gram(Y), negative)
        Q = orthonormal(engine, Y, block=BLOCK, precise=last) if settle else Y
        del Y
    return _ritz(engine, A, Q, size, advance)


def _even_shift(gram: Small, negative: float) -> float:
    """Return the c for which ``t + c = t / negative - c``, t the smallest size of an eigenvalue that the basis holds.

    ``gram`` is that of `TOGETHER` products with an orthonormal basis, so that its eigenvalues are ``t^(2 TOGETHER)``.
    """
    smallest = exact.power(float(descending_eigh(gram)[0][-1]), 0.5 / TOGETHER)
    return smallest * (1.0 / negative - 1.0) / 2.0


def _ritz(engine: Engine[T], A: Any, Q: T, size: float, advance: Callable[[], None]) -> Eigenpairs[T]:
    """Return the eigenpairs of A within the span of Q; ``size`` is a guess at the largest eigenvalue."""
    # An engine gives Gram matrices of one matrix, never Q^T (A Q): those of (A + cI) Q and (A - cI) Q differ by 4c Q^T
    # A Q. With c near the largest eigenvalue neither term drowns the other in rounding.
    grams = []
    for shift in (size, -size):
        shifted = engine.apply(A, Q, plus=(shift, Q), gram=True, precise=True)
        grams.append(engine.gram(shifted))
        engine.release(shifted)
        advance()
    projected = (grams[0] - grams[1]) / (4 * size) if size else np.zeros_like(grams[0])
    values, axes = eigh_by_size(projected)
    return Eigenpairs(Q, axes, values)


def _span(
    engine: Engine[T],
    both: tuple[Any, Any],
    product: Multiply[T],
    *,
    seed: int,
    iterations: int,
    advance: Callable[[], None],
) -> tuple[T, float]:
    """Return an orthonormal basis of the leading left singular vectors, and a guess at the largest value.

    ``both`` are the operator and its transpose.
    """
    Q, size = engine.random(seed=seed), 0.0
    for step in range(2 * iterations + 1):
        last = step == 2 * iterations
        Y = product(both[step % 2], Q, gram=True, precise=last)
        del Q  # its memory is wanted for the next
        advance()
        if last:
            size = float(np.sqrt(np.diag(engine.gram(Y)).max()))
        Q = orthonormal(engine, Y, block=BLOCK, precise=last)
        del Y
    return Q, size


def _powers(values: Small, power: float) -> Small:
    return exact.power_where(values > 0, values, power)
