"""AROPE (Zhang, Cui, Wang, Pei, Yao and Zhu, "Arbitrary-Order Proximity Preserved Network Embedding", KDD 2018).

The proximity ``S = sum_i w_i A^i`` (i = 1, 2, ...) has the eigenvectors X of A and the eigenvalues
``F(l) = sum_i w_i l^i``: one eigen-decomposition serves every order. ``S ~ U V^T`` with ``U = X |F|^1/2``, the
vectors, and ``V = U sign(F)``.

"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphrefine.engine.engine import Engine, Small, T
from graphrefine.graph.graph import Graph
from graphrefine.linalg.operators import adjacency
from graphrefine.methods.contract import Floats, Method, Resources, Shape, check_squares, engine_memory
from graphrefine.refine.settings import MethodSettings, setting
from graphrefine.refine.svd import Eigenpairs, oversampled, randomized_eigh


@dataclass(frozen=True)
class Settings(MethodSettings):
    """Settings of AROPE, by default the third order of the authors' example."""

    power_weights: tuple[float, ...] = setting((1.0, 0.1, 0.01), "Weights of the first, second, ... order (w).")
    two_sided: bool = setting(False, "Vectors half U, half V, each of dim / 2 columns (U one more where dim is odd).")
    iterations: int = setting(8, "Of the randomized eigen-decomposition.", least=0, most=1000)
    bfloat16: bool = setting(True, "Products gather from bfloat16, but for the last, which gives the eigenvalues.")


def fit(graph: Graph, settings: Settings, resources: Resources) -> Floats:
    """Return the vectors of AROPE."""
    # The eigenpairs of S with the largest |F| need not be those of A with the largest |l|: with positive weights, a
    # negative l is worth less than a positive one. Twice as many of A as are wanted are enough for a spectrum with
    # about as many large positive eigenvalues as negative ones.
    check_squares(graph)
    stages, sources = resources.stages, -(-settings.dim // 2) if settings.two_sided else settings.dim
    with stages.stage("decompose", steps=2 * settings.iterations + 3):
        engine = resources.engine(graph, columns=oversampled(2 * sources, graph.nodes), bfloat16=settings.bfloat16)
        eigenpairs = randomized_eigh(
            engine,
            adjacency(graph),
            seed=settings.seed,
            iterations=settings.iterations,
            advance=stages.advance,
        )
    proximity = np.polynomial.Polynomial([0.0, *settings.power_weights])(eigenpairs.values)
    with stages.stage("reweight"):
        target = settings.dim - sources if settings.two_sided else 0
        return reweight(engine, eigenpairs, proximity, sources, target)


def reweight(engine: Engine[T], eigenpairs: Eigenpairs[T], F: Small, left: int, right: int) -> Floats:
    """Return ``left`` columns of ``X |F|^1/2``, the largest |F| first, and ``right`` ones of ``X |F|^1/2 sign(F)``."""
    order = np.argsort(-np.abs(F), kind="stable")
    roots: NDArray[np.float64] = np.sqrt(np.abs(F))
    both = np.concatenate([order[:left], order[:right]])
    signs = np.concatenate([np.ones(left), np.sign(F[order[:right]])])
    return engine.collect(eigenpairs.basis, eigenpairs.axes[:, both] * (roots[both] * signs))


def memory(shape: Shape, settings: Settings) -> int:
    """Return three tall matrices of twice the width, while the basis is orthonormalized."""
    sources = -(-settings.dim // 2) if settings.two_sided else settings.dim
    return engine_memory(shape, columns=oversampled(2 * sources, shape.nodes), matrices=3)


AROPE = Method(
    name="arope",
    reference="Zhang et al., KDD 2018",
    summary="eigenvectors of the adjacency matrix, weighted by a polynomial of the eigenvalues",
    cost="4 i m k + 8 i n k^2, i iterations",
    settings=Settings,
    fit=fit,
    memory=memory,
    bound="three matrices n x 2k",
    processor_dependence=None,
)
