"""GraRep: the logarithms of the powers of the walk, each with its own vectors (Cao, Lu and Xu, CIKM 2015).

For r = 1 ... K: ``X_ij = max(0, log(P^r_ij / sum_i P^r_ij) - log(b / n))``, vectors ``U S^1/2`` of X with rows scaled
to length 1; the vectors of all r are next to each other. b is the number of negative samples, 1 in the paper.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphrefine.graph.graph import Graph
from graphrefine.linalg import unit_rows
from graphrefine.methods.contract import Floats, Method, Resources, Shape
from graphrefine.methods.walk_matrices import blocks, dense_bytes, scaled_left_vectors, svd_steps, walk_matrix
from graphrefine.refine.settings import MethodSettings, setting


@dataclass(frozen=True)
class Settings(MethodSettings):
    """Settings of GraRep."""

    steps: int = setting(4, "K, the longest walk.", least=1, most=100)
    negative: float = setting(1.0, "b, the number of negative samples in the matrices.", above=0, most=1e6)

    @property
    def shares(self) -> list[int]:
        """The columns of each step: the first ones get one more where ``dim`` does not divide evenly.

        Examples
        --------
        >>> Settings(dim=10, steps=4).shares
        [3, 3, 2, 2]
        """
        return [self.dim // self.steps + (step < self.dim % self.steps) for step in range(min(self.steps, self.dim))]


def fit(graph: Graph, settings: Settings, resources: Resources) -> Floats:
    """Return the vectors by GraRep."""
    vectors = np.zeros((graph.nodes, settings.dim), np.float32)
    start = 0
    for step, share in enumerate(settings.shares, 1):
        with resources.stages.stage("matrix", steps=blocks(graph.nodes)):
            matrix = step_matrix(graph, step, resources, negative=settings.negative)
        with resources.stages.stage("svd", steps=svd_steps()):
            part = scaled_left_vectors(matrix, graph, resources, columns=share, seed=settings.seed)
        del matrix  # before the next one is made
        vectors[:, start : start + share] = unit_rows(part)
        start += share
    return vectors


def step_matrix(graph: Graph, step: int, resources: Resources, *, negative: float = 1.0) -> Floats:
    """Return the positive logarithm X of the walk of ``step`` steps (n, n)."""
    factor = np.float64(graph.nodes / negative)

    def finish(block: Floats, columns: slice) -> None:
        # Over rows, not columns: the paper divides by the mean of P^r_ij over all starts i.
        sums = block.sum(axis=0, dtype=np.float64)
        block *= np.divide(factor, sums, out=np.zeros_like(sums), where=sums > 0).astype(np.float32)
        np.log(np.maximum(block, 1.0, out=block), out=block)

    theta = [0.0] * (step - 1) + [1.0]
    return walk_matrix(graph, theta, finish, threads=resources.threads, advance=resources.stages.advance)


def memory(shape: Shape, settings: Settings) -> int:
    """Return one matrix with what its SVD works with, and the vectors."""
    return dense_bytes(shape.nodes, settings.dim // settings.steps + 1) + 8 * shape.nodes * settings.dim


GRAREP = Method(
    name="grarep",
    reference="Cao et al., CIKM 2015",
    summary="positive logarithm of each power of the walk, in full; their SVDs side by side",
    cost="(steps^2 m + k n) n",
    settings=Settings,
    fit=fit,
    memory=memory,
    bound="a matrix n x n",
    processor_dependence="dense products by BLAS, NumPy's logarithms",
)
