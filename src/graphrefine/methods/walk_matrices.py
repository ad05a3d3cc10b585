"""Dense matrices of random walks, for NetMF and GraRep: ``sum_r theta_r P^r`` with ``P = D^-1 A``, and ``U S^1/2``.

There is one matrix of n x n float32 at a time, made in blocks of columns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from graphrefine.engine.dense import dense_product
from graphrefine.engine.local import LocalEngine
from graphrefine.graph.graph import Graph
from graphrefine.kernels import PAD, native
from graphrefine.linalg.operators import inverse_degrees
from graphrefine.methods.contract import Floats, Resources
from graphrefine.refine.svd import randomized_svd

# Columns in a block of the matrix: one product with P for each step, and what a method does to its entries (scaling,
# the logarithm) is done to the block while it is in the cache.
COLUMNS = 256
OVERSAMPLING = 32  # columns that the SVD works with beyond those wanted
ITERATIONS = 4  # rounds of the SVD: more changed no F1 by 0.1


def walk_matrix(
    graph: Graph,
    theta: Sequence[float],
    finish: Callable[[Floats, slice], None],
    *,
    threads: int,
    advance: Callable[[], None] = lambda: None,
) -> Floats:
    """Return the matrix ``sum_r theta_r P^r`` for r = 1, 2, ..., each block of columns after ``finish``.

    ``advance`` is called once for each of the `blocks`.

    Examples
    --------
    >>> path = Graph.from_edges([0, 1], [1, 2])
    >>> walk_matrix(path, (0.5, 0.5), lambda block, columns: None, threads=1).tolist()
    [[0.25, 0.5, 0.25], [0.25, 0.5, 0.25], [0.25, 0.5, 0.25]]
    """
    nodes = graph.nodes
    P = native.Product(
        graph.indptr,
        graph.indices,
        columns=nodes,
        value=graph.weights,
        constant=0.0 if graph.weighted else 1.0,
        row_scale=inverse_degrees(graph).astype(np.float32),
    )
    matrix = np.empty((nodes, nodes), np.float32)
    width = min(COLUMNS, -(-nodes // PAD) * PAD)
    start, power, next_power = (np.zeros((nodes, width), np.float32) for _ in range(3))
    for first in range(0, nodes, width):
        columns = slice(first, min(first + width, nodes))
        count = columns.stop - columns.start
        diagonal = (np.arange(columns.start, columns.stop), np.arange(count))
        start[diagonal] = 1.0
        P.apply(start, out=power, scale=theta[-1], threads=threads)
        for coefficient in theta[-2::-1]:  # Horner's rule: power = P (power + coefficient I)
            power[diagonal] += np.float32(coefficient)
            P.apply(power, out=next_power, threads=threads)
            power, next_power = next_power, power
        finish(power[:, :count], columns)
        matrix[:, columns] = power[:, :count]
        start[diagonal] = 0.0
        advance()
    return matrix


def blocks(nodes: int) -> int:
    """Return the number of blocks of columns that `walk_matrix` makes."""
    return -(-nodes // COLUMNS)


def scaled_left_vectors(matrix: Floats, graph: Graph, resources: Resources, *, columns: int, seed: int) -> Floats:
    """Return ``U S^1/2`` (n, columns) of the leading singular vectors of a dense matrix on the nodes of a graph."""
    width, advance = min(columns + OVERSAMPLING, graph.nodes), resources.stages.advance
    engine = LocalEngine(graph, columns=width, threads=resources.threads, bfloat16=False, reorder=False)
    product = dense_product(engine)
    svd = randomized_svd(engine, matrix, seed=seed, iterations=ITERATIONS, advance=advance, multiply=product)
    engine.release(svd.target)
    return engine.collect(svd.basis, svd.left(power=0.5, columns=columns))


def svd_steps() -> int:
    """Return how often `scaled_left_vectors` advances its stage."""
    return 2 * ITERATIONS + 2


def dense_bytes(nodes: int, columns: int) -> int:
    """Return what a dense matrix takes, with the three tall ones and the expanded sketch that its SVD works with."""
    padded = -(-(columns + OVERSAMPLING) // PAD) * PAD
    return nodes * (4 * nodes + 16 * max(padded, COLUMNS) + 64)
