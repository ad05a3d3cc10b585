"""Orthonormal columns of a tall matrix, on any engine: Cholesky-QR in column blocks, in one pass or two."""

from __future__ import annotations

import numpy as np

from graphrefine.engine.engine import Engine, T
from graphrefine.linalg.small import blocked_whitening, whitening

SHORT = 2048  # rows, up to which a second pass costs next to nothing and the noise is least predictable
NEAR = 0.1  # to the identity, for a Gram matrix of full rank whatever the noise
TOLERANCE = 6e-5  # of the orthonormality of the basis: bfloat16 rounds what is gathered from it by 4e-3


def orthonormal(engine: Engine[T], Y: T, *, rows: int, block: int, precise: bool = False) -> T:
    """The blocked QR of Algorithm 1, as Cholesky-QR: the Gram matrix of Y is factored, and Y rotated.

    One pass leaves the error of the Gram matrix times |W|^2, for columns of length 1; where that is too much, a second
    pass follows. What the first pass makes of a direction smaller
    than the noise is noise, which the second one sees: its length is not 1 but next to nothing, and it comes out as
    zero, like every column beyond the rank of Y. ``precise`` keeps the basis in float32.
    """
    gram = engine.gram(Y)
    W = blocked_whitening(gram, block)
    noise = 2e-5 / rows + 5e-10  # of the Gram matrix, as measured
    if W is not None and rows > SHORT and noise * np.square(W * np.sqrt(np.diag(gram))[:, None]).sum() <= TOLERANCE:
        return engine.rotate(Y, W, triangular=True, precise=precise)
    first = whitening(gram, least=1e-9) if W is None else W
    Q = engine.rotate(Y, first, precise=True)
    again = engine.gram(Q)
    near = W is not None and bool(np.abs(again - np.eye(len(again))).max() < NEAR)
    # Near the identity its eigenvectors are noise: a triangular factor keeps every column where it is.
    second = blocked_whitening(again, block) if near else None
    if second is None:
        second = whitening(again, least=1e-2)
    return engine.rotate(Q, second, precise=precise)
