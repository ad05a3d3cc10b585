"""The twin of ``native/least_squares.cpp``: rows of weighted least squares in NumPy; the same but for rounding."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.system.threads import run_tasks

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Ints = NDArray[np.int64]

ENTRIES = 4096  # of a block of rows
PIECE = 2048  # entries of a row that is solved directly, at a time


class _Edges(NamedTuple):
    indptr: Ints
    indices: NDArray[np.int32]
    weights: Floats
    others: Floats  # z


def solve_rows(
    indptr: Ints,
    indices: NDArray[np.int32],
    weights: Floats,
    solution: Floats,
    others: Floats,
    *,
    missing: Doubles,
    totals: Doubles,
    diagonal: Doubles,
    steps: int,
    hub: int,
    threads: int,
) -> None:
    """Bring each row of ``solution`` (n, k), in place, towards the v of ``(sum c z z^T + d) v = sum c z``.

    The sums are over the entries of its CSR row: c is the weight of an entry, and z the row of ``others`` (m, k) that
    it names. d is the diagonal matrix of ``missing * diagonal[0] + totals * diagonal[1]``. A row of at most ``hub``
    entries takes so many ``steps`` of conjugate gradients from where it is, others are solved directly, and rows
    without entries are zero. k is a multiple of 32.

    Examples
    --------
    One entry of weight 1, z = 2 and d = 1: v = 2 / (4 + 1), and zero where columns are padded.

    >>> solution, z = np.zeros((2, 1, 32), np.float32)
    >>> z[0, 0] = 2
    >>> row = np.array([0, 1]), np.array([0], np.int32), np.ones(1, np.float32)
    >>> one = {"missing": np.ones(1), "totals": np.ones(1), "diagonal": np.full((2, 32), 0.5)}
    >>> solve_rows(*row, solution, z, **one, steps=1, hub=9, threads=1)
    >>> solution[0, :2].round(3).tolist()
    [0.4000000059604645, 0.0]
    """
    edges = _Edges(indptr, indices, weights, others)

    def work(block: Ints) -> None:
        diagonals = (np.stack([missing[block], totals[block]], axis=1) @ diagonal).astype(np.float32)
        if indptr[block[0] + 1] - indptr[block[0]] > hub:
            for node, each in zip(block, diagonals, strict=True):
                solution[node] = _solve_directly(edges, int(node), each)
        else:
            solution[block] = _step(edges, block, diagonals, solution[block], steps)

    counts = np.diff(indptr)
    few, many = (np.flatnonzero(which) for which in ((counts > 0) & (counts <= hub), counts > hub))
    run_tasks([*_blocks(counts, few), *many[:, None]], work, threads)
    solution[counts == 0] = 0


def _blocks(counts: Ints, nodes: Ints) -> list[Ints]:
    """Nodes with like numbers of entries together: at most `ENTRIES`, or one node."""
    order = nodes[np.argsort(counts[nodes], kind="stable")]
    blocks, start = list[Ints](), 0
    while start < len(order):
        stop = start + max(ENTRIES // int(counts[order[start]]), 1)
        while stop > start + 1 and (stop - start) * counts[order[min(stop, len(order)) - 1]] > ENTRIES:
            stop = start + (stop - start) // 2
        blocks.append(order[start:stop])
        start = stop
    return blocks


def _step(edges: _Edges, block: Ints, diagonals: Floats, v: Floats, steps: int) -> Floats:
    """Conjugate gradients for the nodes of a block, from v.  # (b, k)."""
    starts, counts = edges.indptr[block], np.diff(edges.indptr)[block]
    places = np.arange(int(counts.max()))
    there = places < counts[:, None]
    entries = np.where(there, starts[:, None] + places, starts[:, None])
    near = edges.others[edges.indices[entries]]  # (b, d, k)
    weights = np.where(there, edges.weights[entries], np.float32(0))  # (b, d)

    def multiply(p: Floats) -> Floats:
        along = np.einsum("bdk,bk->bd", near, p) * weights
        product: Floats = np.einsum("bd,bdk->bk", along, near) + diagonals * p
        return product

    rest = np.einsum("bd,bdk->bk", weights, near) - multiply(v)
    p, size = rest.copy(), np.einsum("ij,ij->i", rest, rest)
    for _ in range(steps):
        product = multiply(p)
        step = _ratio(size, np.einsum("ij,ij->i", p, product))
        v += step * p
        rest -= step * product
        before, size = size, np.einsum("ij,ij->i", rest, rest)
        p *= _ratio(size, before)
        p += rest
    return v


def _ratio(above: Floats, below: Floats) -> Floats:
    ratio: Floats = np.divide(above, below, out=np.zeros_like(above), where=below > 0)[:, None]
    return ratio


def _solve_directly(edges: _Edges, node: int, diagonal: Floats) -> Floats:
    """The solution for one node of many entries, a piece of them at a time.  # (k,)."""
    matrix, wanted = np.diag(diagonal.astype(np.float64)), np.zeros(len(diagonal))
    end = int(edges.indptr[node + 1])
    for start in range(int(edges.indptr[node]), end, PIECE):
        piece = slice(start, min(start + PIECE, end))
        near = edges.others[edges.indices[piece]]
        weighted = near * edges.weights[piece, None]
        matrix += near.T @ weighted
        wanted += weighted.sum(axis=0, dtype=np.float64)
    solution: Floats = np.linalg.solve(matrix, wanted).astype(np.float32)
    return solution
