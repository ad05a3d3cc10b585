"""NetMF: the matrix that DeepWalk factorizes implicitly, factorized (Qiu et al., WSDM 2018).

``M = log max(1, vol / (b T) sum_{r <= T} P^r D^-1)``, vectors ``U S^1/2``. The sum is exact (their Algorithm 3), or,
where that would take long, taken through the leading eigenpairs of ``D^-1/2 A D^-1/2`` (Algorithm 4):

``sum_r P^r D^-1 ~ D^-1/2 U (sum_r L^r) U^T D^-1/2``

with the largest eigenvalues L; those below zero are left out, as in the authors' code. The recipe has the rank.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from graphrefine.engine.engine import Engine, eigh_by_size
from graphrefine.engine.local import LocalTall
from graphrefine.graph.graph import Graph
from graphrefine.linalg.operators import Operator, inverse_degrees
from graphrefine.methods.contract import Floats, Method, Resources, Shape
from graphrefine.methods.walk_matrices import (
    blocks,
    dense_bytes,
    scaled_left_vectors,
    svd_steps,
    walk_matrix,
)
from graphrefine.refine.settings import MethodSettings, setting
from graphrefine.refine.svd import randomized_eigh
from graphrefine.system.threads import ROWS_PER_TASK, in_blocks

# Eigenpairs where the exact sum would take long, as in the paper's experiments: its rows of BlogCatalog and PPI belong
# to them, that of Wikipedia to a window of 1. 10^11 products are about a minute of two cores. The exact sum is 3 points
# of Micro F1 better on coauthor-cs at 10%, and 1 to 2 worse on BlogCatalog and Wikipedia.
LONG_RANK = 256
EXACT_PRODUCTS = 10**11
# Added to all eigenvalues: [-1, 1] becomes [-1/2, 3/2]. Subspace iteration finds the largest in size, which are then
# the largest: the pairs near -1 of a bipartite graph would take columns, and are not used.
SHIFT = 0.5
EIGEN_ITERATIONS = 30


@dataclass(frozen=True)
class Settings(MethodSettings):
    """Settings of NetMF."""

    window: int = setting(10, "T, how far two nodes of a walk may be apart.", least=1, most=1000)
    negative: float = setting(1.0, "b, the number of negative samples in the matrix.", above=0, most=1e6)
    rank: int | None = setting(
        None,
        "Eigenpairs that approximate the graph; 0 sums the powers exactly.",
        least=0,
        most=2**31 - 1,
        default="0 up to 10^11 products (window x stored entries x nodes), 256 beyond",
    )

    def rank_for(self, shape: Shape) -> int:
        """Return the number of eigenpairs for a graph of this shape; 0 for the exact sum.

        Examples
        --------
        >>> Settings().rank_for(Shape(nodes=10_000, entries=600_000)), Settings().rank_for(Shape(50_000, 600_000))
        (0, 256)
        """
        if self.rank is not None:
            return self.rank
        exact = self.window == 1 or self.window * shape.entries * shape.nodes <= EXACT_PRODUCTS
        return 0 if exact else LONG_RANK


def resolve(shape: Shape, settings: Settings) -> Settings:
    """Return the settings with the rank that is used for a graph of this shape."""
    return replace(settings, rank=settings.rank_for(shape))


def fit(graph: Graph, settings: Settings, resources: Resources) -> Floats:
    """Return the vectors by NetMF."""
    matrix = log_matrix(graph, settings, resources)
    with resources.stages.stage("svd", steps=svd_steps()):
        return scaled_left_vectors(matrix, graph, resources, columns=settings.dim, seed=settings.seed)


def log_matrix(graph: Graph, settings: Settings, resources: Resources) -> Floats:
    """Return the matrix M (n, n), exact or through eigenpairs."""
    factor = graph.degrees().sum() / settings.negative
    if rank := settings.rank_for(Shape.of(graph)):
        return _through_eigenpairs(graph, settings, resources, rank=rank, factor=factor)
    scale = (factor * inverse_degrees(graph)).astype(np.float32)

    def finish(block: Floats, columns: slice) -> None:
        block *= scale[columns]
        _truncated_log(block)

    theta = [1.0 / settings.window] * settings.window
    with resources.stages.stage("matrix", steps=blocks(graph.nodes)):
        return walk_matrix(graph, theta, finish, threads=resources.threads, advance=resources.stages.advance)


def _through_eigenpairs(graph: Graph, settings: Settings, resources: Resources, *, rank: int, factor: float) -> Floats:
    with resources.stages.stage("eigenpairs", steps=2 * EIGEN_ITERATIONS + 3):
        values, vectors = leading_eigenpairs(graph, rank, resources, seed=settings.seed)
    sums = (values[:, None] ** np.arange(1, settings.window + 1)).sum(axis=1) * (factor / settings.window)
    vectors *= np.sqrt(inverse_degrees(graph)).astype(np.float32)[:, None]
    right = np.ascontiguousarray((vectors * sums.astype(np.float32)).T)
    matrix = np.empty((graph.nodes, graph.nodes), np.float32)

    def work(rows: slice) -> None:
        np.matmul(vectors[rows], right, out=matrix[rows])
        _truncated_log(matrix[rows])

    with resources.stages.stage("matrix", steps=-(-graph.nodes // ROWS_PER_TASK)):
        in_blocks(graph.nodes, work, threads=resources.threads, advance=resources.stages.advance)
    return matrix


def leading_eigenpairs(
    graph: Graph, count: int, resources: Resources, *, seed: int
) -> tuple[NDArray[np.float64], Floats]:
    """Return at most ``count`` positive eigenvalues of ``D^-1/2 A D^-1/2``, the largest, and their vectors."""
    pairs = min(count, graph.nodes)
    columns = min(pairs + max(pairs // 4, 16), graph.nodes)
    shifted = shifted_adjacency(graph)
    if columns == graph.nodes:  # a sketch of all columns would find no less, many products later
        values, axes = eigh_by_size(shifted.to_scipy().toarray().astype(np.float64))
        vectors = axes[:, :pairs].astype(np.float32)
    else:
        engine: Engine[LocalTall] = resources.engine(shifted.graph, columns=columns)
        eigenpairs = randomized_eigh(
            engine, shifted, seed=seed, iterations=EIGEN_ITERATIONS, advance=resources.stages.advance
        )
        values, vectors = eigenpairs.values, engine.collect(eigenpairs.basis, eigenpairs.axes[:, :pairs])
    values = values[:pairs] - SHIFT
    return values[values > 0], vectors[:, values > 0]


def shifted_adjacency(graph: Graph) -> Operator:
    """Return ``D^-1/2 A D^-1/2 + I / 2``, on a pattern with loops of half a node's degree.

    Examples
    --------
    >>> shifted_adjacency(Graph.from_edges([0, 0], [1, 2])).to_scipy().toarray().astype(float).round(3).tolist()
    [[0.5, 0.707, 0.707], [0.707, 0.5, 0.0], [0.707, 0.0, 0.5]]
    """
    import scipy.sparse as sp

    with_loops = sp.csr_array(graph.to_scipy() + sp.diags_array((SHIFT * graph.degrees()).astype(np.float32)))
    with_loops.sort_indices()
    pattern = Graph(
        with_loops.indptr.astype(np.int64, copy=False),
        with_loops.indices.astype(np.int32, copy=False),
        with_loops.data,
        graph.names,
    )
    scale = np.sqrt(inverse_degrees(graph)).astype(np.float32)
    return Operator(pattern, edge="weight", row_scale=scale, column_scale=scale)


def _truncated_log(entries: Floats) -> None:
    np.log(np.maximum(entries, 1.0, out=entries), out=entries)


def memory(shape: Shape, settings: Settings) -> int:
    """Return the matrix and what its SVD works with; before it, the graph with loops and the eigenvectors."""
    eigen = min(settings.rank_for(shape), shape.nodes)
    return dense_bytes(shape.nodes, settings.dim) + 12 * shape.entries + shape.nodes * 16 * (eigen + eigen // 4)


NETMF = Method(
    name="netmf",
    reference="Qiu et al., WSDM 2018",
    summary="truncated logarithm of the average of T steps of the walk, in full; its SVD",
    cost="(window m + rank n + k n) n",
    settings=Settings,
    fit=fit,
    memory=memory,
    bound="a matrix n x n",
    processor_dependence="dense products by BLAS, NumPy's logarithms",
    resolve=resolve,
)
