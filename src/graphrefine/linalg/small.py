"""Small dense algebra (k x k), and lengths of rows.

OpenBLAS changes last bits with its number of threads. So BLAS has one for the time of a run (`one_blas_thread`, around
`graphrefine.run.embed.embed_graph`), and what works outside of a run says so itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.system.threads import one_blas_thread as one_blas_thread  # for what is built on this module

Small = NDArray[np.float64]


def blocked_whitening(gram: Small, block: int) -> Small | None:
    """The upper triangular W with ``W^T G W = I``, in column blocks; None where G is singular to working precision.

    If G is the Gram matrix of Y, then ``Y W`` is what the blocked QR of Algorithm 1 makes of Y: block i is freed of its
    projections on the blocks before it (line 4), then orthonormalised. All of it happens in k x k matrices.

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
        projections = W[:, :start].T @ G[:, start:stop]  # C_j^T Y_i for all j < i
        rest = G[start:stop, start:stop] - projections.T @ projections
        try:
            lower = np.linalg.cholesky(rest)
        except np.linalg.LinAlgError:
            return None
        if np.diag(lower).min() < 1e-5:  # a column that lies in the span of those before it
            return None
        free = -W[:, :start] @ projections
        free[start:stop] += np.eye(stop - start)
        W[:, start:stop] = np.linalg.solve(lower, free.T).T
    return W / scale[:, None]


def whitening(gram: Small, *, least: float) -> Small:
    """A W with ``W^T G W = I`` on the range of G: eigenvalues below ``least`` of the largest count as zero."""
    values, vectors = descending_eigh(gram)
    positive = (values > values[0] * least) & (values > 0)
    return vectors * np.where(positive, 1.0 / np.sqrt(np.where(positive, values, 1.0)), 0.0)


def descending_eigh(gram: Small) -> tuple[Small, Small]:
    """Eigenvalues, largest first, and eigenvectors whose largest component is positive, so that signs are settled.

    Examples
    --------
    >>> values, vectors = descending_eigh(np.diag([1.0, 4.0]))
    >>> values.tolist(), vectors.tolist()
    ([4.0, 1.0], [[0.0, 1.0], [1.0, 0.0]])
    """
    values, vectors = np.linalg.eigh(gram)
    return np.maximum(values[::-1], 0.0), _settled(vectors[:, ::-1])


def principal_rotation(gram: Small, exponent: float = 0.5) -> Small:
    """The V S^(p-1) that takes F = U S V^T to U S^p, from F's Gram matrix; columns beyond its rank are zero."""
    values, vectors = descending_eigh(gram)  # values are S^2
    positive = (values > values[0] * 1e-12) & (values > 0)
    return vectors * np.where(positive, np.where(positive, values, 1.0) ** ((exponent - 1) / 2), 0.0)


def eigh_by_size(matrix: Small) -> tuple[Small, Small]:
    """Eigenvalues with their signs, the largest in size first, and eigenvectors with signs settled as above.

    Examples
    --------
    >>> values, vectors = eigh_by_size(np.diag([1.0, -4.0]))
    >>> values.tolist(), vectors.tolist()
    ([-4.0, 1.0], [[0.0, 1.0], [1.0, 0.0]])
    """
    values, vectors = np.linalg.eigh(matrix)
    order = np.argsort(-np.abs(values), kind="stable")
    return values[order], _settled(vectors[:, order])


def _settled(vectors: Small) -> Small:
    largest = vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])]
    settled: Small = vectors * np.where(largest < 0, -1.0, 1.0)
    return settled


def unit_rows(vectors: NDArray[Any]) -> NDArray[np.float32]:
    """Rows of length 1 in float32; rows of zeros stay.

    Examples
    --------
    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]])).astype(float).round(3).tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    length = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64))
    inverse = 1 / np.where(length == 0, 1, length)
    unit = np.empty(vectors.shape, np.float32)
    np.multiply(vectors, inverse[:, None], out=unit, casting="same_kind")
    return unit


def inverse_lengths(vectors: NDArray[Any]) -> NDArray[np.float32]:
    """Factors that make rows unit; zero for rows of zeros.  # (n,).

    Examples
    --------
    >>> inverse_lengths(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist()
    [0.20000000298023224, 0.0]
    """
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64))
    inverse: NDArray[np.float32] = np.where(lengths > 0, 1 / np.where(lengths > 0, lengths, 1), 0).astype(np.float32)
    return inverse
