r"""Weighted factors of two sets of nodes: least squares over all pairs, those with an edge and those without.

.. math:: \sum_{ui} c_{ui} (1 - x_u \cdot y_i)^2 + a \sum_{u,i} q_i (x_u \cdot y_i)^2
          + \lambda \Big( \sum_u b_u |x_u|^2 + \sum_i b_i |y_i|^2 \Big)

The first sum is over edges, the second over all pairs: that an edge is missing says a little (Hu, Koren and Volinsky,
ICDM 2008). Here a is such that both have like weight (`MISSING`), and :math:`q_i`, in the mean 1, grows with the
popularity of i: who leaves out what everybody has may not want it. b is the weight of all pairs of a node, so that
:math:`\lambda` acts alike on nodes with many and with few edges (Rendle, Krichene, Zhang and Koren, RecSys 2022), and
is about what each singular value of the normalised edges loses. :math:`c = \log_2(1 + w / \mathrm{median})`.

Given one side, each row of the other is the solution of k equations. In coordinates in which the matrix of the missing
pairs, with :math:`\lambda`, is the identity, a few steps of conjugate gradients from the last solution are enough.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.engine.engine import descending_eigh
from graphrefine.graph.graph import Graph
from graphrefine.linalg import gram_of
from graphrefine.linalg.ties import median
from graphrefine.system.threads import in_blocks, run_tasks

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]

MISSING = 1.5  # weight of all missing pairs, relative to that of the edges
POPULARITY = 0.25  # exponent of an item's degree in q
STEPS = 3  # of conjugate gradients
ENTRIES = 4096  # of a block of rows
HUB = 2048  # edges of a row that is solved by itself
BLOCK = 2048  # rows multiplied at a time


class Rows(NamedTuple):
    """The edges of one side of the graph, by its nodes."""

    indptr: NDArray[np.int64]  # (n + 1,)
    indices: NDArray[np.int32]  # (edges,): nodes of the other side
    weights: Floats  # (edges,): c
    missing: Doubles  # (n,): q; 1 for the sources

    @property
    def sums(self) -> Doubles:
        """Weights of the edges of each node.  # (n,)."""
        sums = np.concatenate([[0.0], np.cumsum(self.weights, dtype=np.float64)])
        total: Doubles = np.where(np.diff(self.indptr) > 0, sums[self.indptr[1:]] - sums[self.indptr[:-1]], 0.0)
        return total


class Pairs(NamedTuple):
    """A bipartite graph for weighted least squares."""

    sources: Rows
    targets: Rows
    scale: float  # a

    def totals(self) -> tuple[Doubles, Doubles]:
        """Weights b of all pairs of each source and of each target."""
        return _totals(self.sources, self.targets, self.scale), _totals(self.targets, self.sources, self.scale)


def weigh_pairs(arcs: Graph, sources: int) -> Pairs:
    """The pairs of a bipartite graph from its arcs one way.

    Examples
    --------
    >>> from graphrefine.readers.read import read
    >>> from graphrefine.refine.bipartite import one_way
    >>> pairs = weigh_pairs(one_way(read([("ann", "tea"), ("bob", "tea"), ("bob", "cake")], bipartite=True)), 2)
    >>> pairs.sources.indices.tolist(), pairs.targets.indices.tolist(), pairs.scale
    ([1, 0, 1], [1, 0, 1], 1.125)
    """
    back = arcs.transposed()
    middle = 1.0 if arcs.weights is None or not len(arcs.weights) else float(median(arcs.weights))
    first = Rows(arcs.indptr[: sources + 1], arcs.indices - np.int32(sources), _levels(arcs, middle), np.ones(sources))
    indptr = back.indptr[sources:] - back.indptr[sources]
    degrees = np.maximum(np.diff(indptr), 0.5) ** POPULARITY
    second = Rows(indptr, back.indices, _levels(back, middle), degrees / degrees.mean() if len(degrees) else degrees)
    cells = float(sources) * (arcs.nodes - sources)
    return Pairs(first, second, MISSING * float(first.weights.sum(dtype=np.float64)) / max(cells, 1.0))


def start_targets(pairs: Pairs, right: Floats, values: Doubles, regularization: float) -> None:
    """Make the rows of V the solution for edges that are spread evenly, in place: ``(t / b)^1/2 V (s - r)^1/2``.

    ``right`` are right singular vectors of the normalised edges (items, k), t is the weight of all pairs. No value is
    lowered below its half: a column of zeros would stay one.
    """
    totals = pairs.totals()[1]
    rest = np.maximum(values - regularization, values / 2) * float(totals.sum())
    right *= np.sqrt(rest).astype(np.float32)
    right *= (1 / np.sqrt(np.maximum(totals, 1e-30)))[:, None].astype(np.float32)


def solve_sources(
    pairs: Pairs, x: Floats, y: Floats, regularization: float, *, steps: int = STEPS, threads: int = 1
) -> None:
    """Bring the vectors x of the sources, in place, towards the solution for the vectors y of the targets."""
    _solve(pairs.sources, pairs.targets, pairs.scale, x, y, regularization, steps=steps, threads=threads)


def solve_targets(
    pairs: Pairs, x: Floats, y: Floats, regularization: float, *, steps: int = STEPS, threads: int = 1
) -> None:
    """Bring the vectors y of the targets, in place, towards the solution for the vectors x of the sources.

    Examples
    --------
    One user, one item: y = x c / (x^2 (c + a) + r (c + a)), with c = 1 and a = 1.5.

    >>> from graphrefine.readers.read import read
    >>> from graphrefine.refine.bipartite import one_way
    >>> pairs = weigh_pairs(one_way(read([("ann", "tea")], bipartite=True)), 1)
    >>> x, y = np.full((1, 1), 2, np.float32), np.zeros((1, 1), np.float32)
    >>> solve_targets(pairs, x, y, 0.1)
    >>> round(float(y[0, 0]), 4), round(2 / (2.5 * 4 + 0.1 * 2.5), 4)
    (0.1951, 0.1951)
    """
    _solve(pairs.targets, pairs.sources, pairs.scale, y, x, regularization, steps=steps, threads=threads)


def _levels(arcs: Graph, middle: float) -> Floats:
    if arcs.weights is None:
        return np.ones(len(arcs.indices), np.float32)
    return np.log2(1.0 + arcs.weights.astype(np.float64) / middle).astype(np.float32)


def _totals(rows: Rows, others: Rows, scale: float) -> Doubles:
    return rows.sums + scale * rows.missing * float(others.missing.sum())


def _solve(
    rows: Rows, others: Rows, scale: float, x: Floats, y: Floats, regularization: float, *, steps: int, threads: int
) -> None:
    totals, mass = _totals(rows, others, scale), max(scale * float(others.missing.sum()), 1e-30)
    weighted = y * np.sqrt(others.missing)[:, None].astype(np.float32)
    values, axes = descending_eigh(scale * gram_of(weighted, threads=threads))
    values = np.maximum(values, 0.0)
    level = np.sqrt(values / mass + regularization)  # (k,): the length of the equations, for a node of total 1
    del weighted
    z = _multiply(y, axes / level, threads)
    v = _multiply(x, axes * level, threads)
    diagonal = np.stack([values / level**2, regularization / level**2])  # times q, and times b

    def work(block: NDArray[np.int64]) -> None:
        diagonals = (np.stack([rows.missing[block], totals[block]], axis=1) @ diagonal).astype(np.float32)
        if rows.indptr[block[0] + 1] - rows.indptr[block[0]] > HUB:
            v[block[0]] = _solve_hub(rows, int(block[0]), z, diagonals[0])
        else:
            v[block] = _solve_block(rows, block, z, diagonals, v[block], steps)

    run_tasks(_blocks(rows), work, threads)
    v[np.diff(rows.indptr) == 0] = 0
    back = axes.T / level[:, None]

    def turn(block: slice) -> None:
        x[block] = v[block] @ back.astype(np.float32)

    in_blocks(len(x), turn, threads=threads, rows=BLOCK)


def _multiply(x: Floats, rotation: Doubles, threads: int) -> Floats:
    out, small = np.empty_like(x), rotation.astype(np.float32)

    def work(block: slice) -> None:
        np.matmul(x[block], small, out=out[block])

    in_blocks(len(x), work, threads=threads, rows=BLOCK)
    return out


def _blocks(rows: Rows) -> list[NDArray[np.int64]]:
    """Nodes with edges, those with like numbers of them together: at most `ENTRIES` edges, or one node."""
    counts = np.diff(rows.indptr)
    order = np.argsort(counts, kind="stable")[np.count_nonzero(counts == 0) :]
    blocks, start = list[NDArray[np.int64]](), 0
    while start < len(order):
        stop = start + max(ENTRIES // int(counts[order[start]]), 1)
        while stop > start + 1 and (stop - start) * counts[order[min(stop, len(order)) - 1]] > ENTRIES:
            stop = start + (stop - start) // 2
        blocks.append(order[start:stop])
        start = stop
    return blocks


def _solve_block(rows: Rows, block: NDArray[np.int64], z: Floats, diagonals: Floats, v: Floats, steps: int) -> Floats:
    """Conjugate gradients for the nodes of a block, from v.  # (b, k)."""
    starts, counts = rows.indptr[block], np.diff(rows.indptr)[block]
    places = np.arange(int(counts.max()))
    there = places < counts[:, None]
    entries = np.where(there, starts[:, None] + places, starts[:, None])
    near = z[rows.indices[entries]]  # (b, d, k)
    weights = np.where(there, rows.weights[entries], np.float32(0))  # (b, d)

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


def _solve_hub(rows: Rows, node: int, z: Floats, diagonal: Floats) -> Floats:
    """The solution for one node of many edges, a part of them at a time.  # (k,)."""
    matrix, wanted = np.diag(diagonal.astype(np.float64)), np.zeros(len(diagonal))
    for start in range(int(rows.indptr[node]), int(rows.indptr[node + 1]), HUB):
        part = slice(start, min(start + HUB, int(rows.indptr[node + 1])))
        near = z[rows.indices[part]]
        weighted = near * rows.weights[part, None]
        matrix += near.T @ weighted
        wanted += weighted.sum(axis=0, dtype=np.float64)
    solution: Floats = np.linalg.solve(matrix, wanted).astype(np.float32)
    return solution
