"""ProNE (Zhang, Dong, Wang, Tang and Ding, "ProNE: Fast and Scalable Network Representation Learning", IJCAI 2019).

1. Factorization: the randomized SVD of ``M_ij = ln p_ij - ln(negative * phi_j)`` on the edges; ``a = U S^1/2``, unit
   rows.
2. Propagation: ``(A + I)(a - g(L) a)``, where g is a Gaussian of the eigenvalues of ``L = I - D^-1 (A + I)``, as a
   series of Chebyshev polynomials with Bessel functions for coefficients; then ``U S^1/2`` of that, unit rows.

Weights count as in the authors' code: through the degrees and in the propagation; in M, ``ln A_ij`` cancels there.
``log_weights=True`` keeps it, as the paper writes M.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import factorial

import numpy as np
from numpy.polynomial import Polynomial

from graphrefine.engine.engine import principal_rotation
from graphrefine.graph.graph import Graph
from graphrefine.linalg.operators import adjacency, proximity, transition
from graphrefine.methods.contract import Floats, Method, Resources, Shape, engine_memory
from graphrefine.refine.filters import Theta, diffuse
from graphrefine.refine.settings import MethodSettings, setting
from graphrefine.refine.svd import oversampled, randomized_svd

# Share of the sum of coefficients below which the tail of the series is left out: the rounding of float32 in a product
# is as large. T averages rows, so a coefficient bounds what its power could have added.
NEGLIGIBLE = 3e-7


@dataclass(frozen=True)
class Settings(MethodSettings):
    """Settings of ProNE, by default those of the authors' code."""

    order: int = setting(10, "Terms of the Chebyshev series; 1 leaves the propagation out.", least=1, most=100)
    mu: float = setting(0.2, "Center of the Gaussian.", least=-1000, most=1000)
    theta: float = setting(0.5, "Width of the Gaussian.", above=0, most=10)
    iterations: int = setting(5, "Of the randomized SVD.", least=0, most=1000)
    negative: float = setting(1.0, "Weight of negative samples (lambda).", above=0, most=1e6)
    exponent: float = setting(0.75, "Exponent of the context distribution.", least=-100, most=100)
    log_weights: bool = setting(False, "ln A_ij stays in M.")
    bfloat16: bool = setting(True, "Products gather from bfloat16: twice as fast, with a relative rounding of 0.4%.")


def propagation(order: int, mu: float, theta: float) -> Theta:
    """Return the coefficients c of ``sum_k c_k T^k = 1 - g``, of degree ``2 (order - 1)``.

    Examples
    --------
    >>> [round(c, 4) for c in propagation(10, 0.2, 0.5)[:3]]  # of 1 - exp(0.5 - (0.8 - T)^2 / 4)
    [-0.4049, -0.562, 0.2388]
    """
    # g runs over Chebyshev polynomials of (L - mu)^2 / 2 - 1, where L = 1 - T. The authors' code takes two products for
    # each term; formed once as a polynomial in T, Horner's rule takes one for each power.
    inner = Polynomial([1 - mu, -1.0]) ** 2 / 2 - 1
    before, term = Polynomial([1.0]), inner
    series = bessel(0, theta) * before
    for i in range(1, order):
        series += 2 * (-1) ** i * bessel(i, theta) * term
        before, term = term, 2 * inner * term - before
    coefficients = (1 - series).coef
    tails = np.cumsum(np.abs(coefficients[::-1]))[::-1]
    length = int(np.count_nonzero(tails > NEGLIGIBLE * tails[0]))
    return tuple(float(c) for c in coefficients[:length])


def bessel(order: int, x: float) -> float:
    """Return the modified Bessel function I of the first kind, by its power series.

    Examples
    --------
    >>> round(bessel(0, 0.5), 6), round(bessel(1, 0.5), 6)
    (1.063483, 0.257894)
    """
    return float(sum((x / 2) ** (2 * m + order) / (factorial(m) * factorial(m + order)) for m in range(40)))


def fit(graph: Graph, settings: Settings, resources: Resources) -> Floats:
    """Return the vectors of ProNE."""
    stages = resources.stages
    with stages.stage("proximity"):
        engine = resources.engine(graph, columns=oversampled(settings.dim, graph.nodes), bfloat16=settings.bfloat16)
        M = proximity(
            graph,
            negative=settings.negative,
            exponent=settings.exponent,
            log_weights=settings.log_weights,
            threads=resources.threads,
        )
    with stages.stage("factorize", steps=2 * settings.iterations + 2):
        svd = randomized_svd(engine, M, seed=settings.seed, iterations=settings.iterations, advance=stages.advance)
        engine.release(svd.target)
        leading = svd.left(power=0.5, columns=settings.dim)
        if settings.order == 1:
            return engine.collect(svd.basis, leading, unit=True)
        a = engine.rotate(svd.basis, leading, unit=True)
        engine.release(svd.basis)
    theta = (0.0, *propagation(settings.order, settings.mu, settings.theta))  # the 0 for the product with A + I
    with stages.stage("propagate", steps=len(theta) - 1):
        F = diffuse(engine, transition(graph), a, theta, last=adjacency(graph, loop=1.0), advance=stages.advance)
        return engine.collect(F, principal_rotation(engine.gram(F))[:, : settings.dim], unit=True)


def memory(shape: Shape, settings: Settings) -> int:
    """Return three tall matrices, while the basis is orthonormalized."""
    return engine_memory(shape, columns=oversampled(settings.dim, shape.nodes), matrices=3)


PRONE = Method(
    name="prone",
    reference="Zhang et al., IJCAI 2019",
    summary="randomized SVD of the log-proximity matrix, and a Chebyshev-Gaussian filter",
    cost="(2 i + 2 + order) m k + i n k^2, i iterations",
    settings=Settings,
    fit=fit,
    memory=memory,
    bound="three matrices n x k",
    processor_dependence="powers of the C library, products of polynomials by BLAS",
    principal=True,
)
