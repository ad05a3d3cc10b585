"""HOPE (Ou, Cui, Pei, Zhang and Zhu, "Asymmetric Transitivity Preserving Graph Embedding", KDD 2016), Katz proximity.

``S = sum_{l>=1} (beta A)^l = (I - beta A)^-1 beta A ~ U Sigma V^T``; the vectors are ``U Sigma^1/2`` (nodes as sources)
and ``V Sigma^1/2`` (as targets), half of the columns each; where dim is odd, the sources have one more.

S is never formed. On undirected graphs it has the eigenvectors of A, and ``beta l / (1 - beta l)`` for eigenvalues. On
directed graphs a product with S is the series itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphrefine.engine.engine import Engine, T
from graphrefine.errors import InputError
from graphrefine.graph.graph import Graph
from graphrefine.kernels import native
from graphrefine.linalg.operators import Operator, adjacency
from graphrefine.methods.arope import reweight
from graphrefine.methods.contract import Floats, Method, Resources, Shape, check_squares, engine_memory
from graphrefine.refine.settings import MethodSettings, setting
from graphrefine.refine.svd import Multiply, oversampled, randomized_eigh, randomized_svd

# Share of the sum of the series at which it ends. bfloat16 rounds what is gathered by 4e-3 and float32 by 6e-8; a
# series with beta near 1 / the spectral radius would else take thousands of products for one.
REST = 1e-5
MOST_TERMS = 2000


@dataclass(frozen=True)
class Settings(MethodSettings):
    """Settings of HOPE."""

    # Where the spectral radius is 0 (no cycles), the default is half of 1 / a bound of the norm of A.
    beta: float | None = setting(
        None,
        "Decay of the Katz proximity, below 1 / the spectral radius of A.",
        above=0,
        most=1e6,
        default="half of that, as in the authors' code",
    )
    iterations: int = setting(5, "Of the randomized decomposition.", least=0, most=1000)
    bfloat16: bool = setting(True, "Products gather from bfloat16, but for the last, which gives the values.")


def fit(graph: Graph, settings: Settings, resources: Resources) -> Floats:
    """Return the vectors of HOPE."""
    if not len(graph.indices):
        return np.zeros((graph.nodes, settings.dim), np.float32)
    return _fit_directed(graph, settings, resources) if graph.directed else _fit_undirected(graph, settings, resources)


def _fit_undirected(graph: Graph, settings: Settings, resources: Resources) -> Floats:
    check_squares(graph)
    sources = -(-settings.dim // 2)
    with resources.stages.stage("decompose", steps=2 * settings.iterations + 3):
        engine = resources.engine(graph, columns=oversampled(2 * sources, graph.nodes), bfloat16=settings.bfloat16)
        decomposition = randomized_eigh(
            engine,
            adjacency(graph),
            seed=settings.seed,
            iterations=settings.iterations,
            advance=resources.stages.advance,
        )
    radius = abs(decomposition.values[0])
    decayed = decay(settings.beta, radius=radius, bound=radius) * decomposition.values
    with resources.stages.stage("reweight"):
        return reweight(engine, decomposition, decayed / (1.0 - decayed), sources, settings.dim - sources)


def _fit_directed(graph: Graph, settings: Settings, resources: Resources) -> Floats:
    sources = -(-settings.dim // 2)
    with resources.stages.stage("radius"):
        beta = decay(settings.beta, radius=spectral_radius(graph, threads=resources.threads), bound=norm_bound(graph))
        terms = series_length(graph, beta, threads=resources.threads)
    with resources.stages.stage("decompose", steps=2 * settings.iterations + 2):
        engine = resources.engine(graph, columns=oversampled(sources, graph.nodes), bfloat16=settings.bfloat16)
        decomposition = randomized_svd(
            engine,
            adjacency(graph, scale=beta),
            seed=settings.seed,
            iterations=settings.iterations,
            advance=resources.stages.advance,
            multiply=katz(engine, terms),
        )
    with resources.stages.stage("collect"):
        source = engine.collect(decomposition.basis, decomposition.left(power=0.5, columns=sources))
        target = engine.collect(decomposition.target, decomposition.right(power=0.5, columns=settings.dim - sources))
        return np.concatenate([source, target], axis=1)


def katz(engine: Engine[T], terms: int) -> Multiply[T]:
    """Return the product with ``sum_{l=1..terms} B^l``, for an operator ``B = beta A``, by Horner's rule."""

    def multiply(B: Operator, x: T, *, gram: bool, precise: bool) -> T:
        once = series = engine.apply(B, x, gram=gram and terms == 1, precise=precise)
        for left in range(terms - 2, -1, -1):
            series = engine.apply(B, series, plus=(1.0, once), gram=gram and left == 0, precise=precise)
        return series

    return multiply


def decay(beta: float | None, *, radius: float, bound: float) -> float:
    """Return the beta that was asked for, if the series converges with it, or the default.

    Examples
    --------
    >>> decay(None, radius=4.0, bound=9.0), decay(None, radius=0.0, bound=5.0)
    (0.125, 0.1)
    """
    if beta is None:
        return 0.5 / (radius or bound)
    if beta * radius >= 0.999:
        raise InputError(
            f"beta={beta!r} is too large for this graph: the Katz series needs less than {1 / radius:.4g}",
            argument="beta",
        )
    return beta


def spectral_radius(graph: Graph, *, threads: int = 1, most: int = 512) -> float:
    """Return the largest size of an eigenvalue of A, from the growth of the number of walks; 0 where there is no cycle.

    Examples
    --------
    >>> round(spectral_radius(Graph.from_edges([0, 1, 2], [1, 2, 0], directed=True)), 6)
    1.0
    >>> spectral_radius(Graph.from_edges([0, 1], [1, 2], directed=True))
    0.0
    """
    logs, estimate = [0.0], np.inf
    walks: NDArray[np.float64] = np.ones(graph.nodes)
    while len(logs) <= most:
        walks = native.row_sums(graph.indptr, graph.indices, graph.weights, walks, threads=threads)
        largest = float(walks.max())
        if largest == 0:
            return 0.0
        logs.append(logs[-1] + np.log(largest))
        walks /= largest
        steps = len(logs) - 1
        # Growth over k steps against the next k, k = 4, 8, ...: from one step to the next it need not converge, as
        # where walks alternate between the parts of a bipartite graph.
        if steps >= 8 and steps & (steps - 1) == 0:
            before, estimate = estimate, float(np.exp((logs[steps] - logs[steps // 2]) * 2 / steps))
            if abs(before - estimate) < 1e-4 * estimate:
                break
    return estimate


def norm_bound(graph: Graph) -> float:
    """Return a bound of the singular values of A: the root of its largest row sum times its largest column sum."""
    return float(np.sqrt(graph.degrees().max() * graph.transposed().degrees().max()))


def series_length(graph: Graph, beta: float, *, threads: int = 1) -> int:
    """Return the terms of the series until the next ones are below `REST` of its sum, in rows and in columns."""
    longest = 1
    for arcs in (graph, graph.transposed()):
        walks: NDArray[np.float64] = np.ones(graph.nodes)
        total = 0.0
        for terms in range(1, MOST_TERMS + 1):
            walks = beta * native.row_sums(arcs.indptr, arcs.indices, arcs.weights, walks, threads=threads)
            largest = float(walks.max())
            total += largest
            if largest <= REST * total:
                longest = max(longest, terms)
                break
        else:
            raise InputError(f"beta={beta!r} is too near to the largest that is allowed; choose less", argument="beta")
    return longest


def memory(shape: Shape, settings: Settings) -> int:
    """Return four tall matrices, and on directed graphs the vectors besides their halves."""
    tall = engine_memory(shape, columns=oversampled(settings.dim + 1, shape.nodes), matrices=4)
    return tall + shape.nodes * settings.dim * 4


HOPE = Method(
    name="hope",
    reference="Ou et al., KDD 2016",
    summary="singular vectors of the Katz proximity: nodes as sources, nodes as targets",
    cost="2 i m k + 2 i n k^2, i iterations; directed: 15 i m k",
    settings=Settings,
    fit=fit,
    memory=memory,
    bound="four matrices n x k",
    processor_dependence="NumPy's logarithms and exponentials",
    directed=True,
    sided=lambda settings: settings.dim % 2 == 0,
)
