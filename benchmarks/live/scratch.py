"""A run from scratch with frozen parts: targets and states in float64 with NumPy and SciPy, and nothing of the kernel.

``R_i = (q / |q| - mean) W`` with ``q = sum_j (ln A_ij - ln d_i + shift_j) B_j``, and ``G = a R + (1 - a) T G`` by
Chebyshev's semi-iteration: the eigenvalues of ``(1 - a) T`` are real and at most ``1 - a`` in absolute value. The
vectors are ``F = T G``, made unit.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from graphrefine.live.model import Model

Reals = NDArray[np.float64]

RESIDUAL = 1e-7  # of a row of states: the error is at most 1 / a times that
BLOCK = 1 << 16  # rows at a time
COLUMNS = 32  # at a time


class Verdict(NamedTuple):
    """Rows held to their bounds."""

    rows: int
    without: int  # rows that have no bound
    beyond: int  # rows whose error is beyond the bound
    ratio: float  # of error to bound, the largest
    error: float  # the largest error of a row with a bound
    bound: float  # the median


def scratch_vectors(model: Model, indptr: Any, indices: Any, weights: Any) -> Reals:
    """Unit rows of a run from scratch, zeros for nodes without edges.  # (n, dim)."""
    n = len(indptr) - 1
    A = csr_array((np.asarray(weights, float), indices, indptr), shape=(n, n))
    degrees: Reals = np.asarray(A.sum(axis=1), np.float64)
    R = make_targets(model, A, degrees)
    T: Any = diags_array(1 / (degrees + model.loop)) @ (A + model.loop * diags_array(np.ones(n)))
    F = np.empty((n, model.settings.dim))
    for start in range(0, F.shape[1], COLUMNS):
        some = slice(start, min(start + COLUMNS, F.shape[1]))
        F[:, some] = T @ solve_states(T, np.ascontiguousarray(R[:, some]), model.settings.keep)
    F[degrees == 0] = 0
    lengths = np.linalg.norm(F, axis=1, keepdims=True)
    np.divide(F, lengths, out=F, where=lengths > 0)
    return F


def make_targets(model: Model, A: Any, degrees: Reals) -> Reals:
    """All rows of R; nodes that the basis does not know add nothing to the rows of others."""
    n, known = A.shape[0], len(model.basis)
    basis = np.asarray(model.basis, float)
    R = np.zeros((n, basis.shape[1]))
    for start in range(0, n, BLOCK):
        rows = A[start : start + BLOCK].tocoo()
        old = rows.coords[1] < known
        row, column = rows.coords[0][old], rows.coords[1][old]
        entries = np.log(rows.data[old]) - np.log(degrees[start + row]) + model.shifts[column]
        q = csr_array((entries, (row, column)), shape=(rows.shape[0], known)) @ basis
        lengths = np.linalg.norm(q, axis=1)
        there = lengths > 0
        R[start : start + BLOCK][there] = (q[there] / lengths[there, None] - model.mean) @ model.rotation
    return R


def solve_states(T: Any, R: Reals, keep: float) -> Reals:
    """The fixed point of ``G = a R + (1 - a) T G`` for some columns, to rounding."""
    before, G, step, columns = np.zeros_like(R), keep * R, 1.0, R.shape[1]
    while True:
        fresh: Reals = keep * R + (1 - keep) * (T @ G)
        if np.sqrt(np.square(fresh - G).sum(axis=1).max()) < RESIDUAL * np.sqrt(columns / 4096):
            return fresh
        step = 1 / (1 - (1 - keep) ** 2 * step / 4) if step != 1 else 1 / (1 - (1 - keep) ** 2 / 2)
        before, G = G, step * (fresh - before) + before


def judge(vectors: NDArray[np.float32], truth: Reals, bounds: Reals) -> Verdict:
    """The verdict on unit rows with these bounds; 2 is none, and an error of 1e-6 is rounding where the bound is 0."""
    errors = np.concatenate(
        [np.linalg.norm(vectors[s : s + BLOCK] - truth[s : s + BLOCK], axis=1) for s in range(0, len(truth), BLOCK)]
    )
    certain = bounds < 2
    errors, limits = errors[certain], np.maximum(bounds[certain], 1e-6)
    beyond = int(np.sum(errors > limits))
    largest = (float((errors / limits).max(initial=0.0)), float(errors.max(initial=0.0)))
    return Verdict(len(bounds), int(np.sum(~certain)), beyond, *largest, float(np.median(bounds)))
