"""FastRP (Chen et al., "Fast and Accurate Network Embeddings via Very Sparse Random Projection", CIKM 2019).

``N = sum_i w_i (D^-1 A)^i L R``, i = 1, 2, ...: a very sparse random projection R (entries 0 except for a share
of ``1 / sqrt(n)``, which are + or - a constant), ``L = diag(d_j / 2m)^beta`` against the weight of hubs. Last, as the
authors' code does, each column is scaled to mean 0 and variance 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphrefine.engine.sketches import sparse_signs
from graphrefine.graph.graph import Graph
from graphrefine.linalg import standardize_columns
from graphrefine.linalg.operators import walk
from graphrefine.methods.contract import Floats, Method, Resources, Shape, engine_memory
from graphrefine.refine.filters import diffuse, without_trailing_zeros
from graphrefine.refine.settings import MethodSettings, setting


@dataclass(frozen=True)
class Settings(MethodSettings):
    """Settings of FastRP, by default those published with the authors' code."""

    power_weights: tuple[float, ...] = setting(
        (1.0, 1.0, 7.81, 45.28), "Of the first, second, ... power of the transition matrix."
    )
    beta: float = setting(-0.628, "Exponent of the degrees in L; negative against hubs.", least=-100, most=100)
    density: float | None = setting(
        None, "Share of the entries of R that are not zero.", above=0, most=1, default="1 / sqrt(n)"
    )
    standardize: bool = setting(True, "Columns are scaled to mean 0 and variance 1.")
    bfloat16: bool = setting(True, "Products gather from bfloat16.")


def fit(graph: Graph, settings: Settings, resources: Resources) -> Floats:
    """Return the vectors of FastRP."""
    stages = resources.stages
    density = graph.nodes**-0.5 if settings.density is None else settings.density
    with stages.stage("sketch"):
        engine = resources.engine(graph, columns=settings.dim, bfloat16=settings.bfloat16)
        # R's entries are +-1 / sqrt(density k): its rows have length 1 on average, for any density.
        scale = _hubs(graph, settings.beta) / np.float32(np.sqrt(density * settings.dim))
        R = engine.fill(sparse_signs(settings.seed, settings.dim, density=density, scale=scale))
    theta = (0.0, *without_trailing_zeros(settings.power_weights))
    with stages.stage("project", steps=len(theta) - 1):
        N = diffuse(engine, walk(graph), R, theta, advance=stages.advance)
        vectors = engine.collect(N)
    if settings.standardize:
        standardize_columns(vectors)
    return vectors


def _hubs(graph: Graph, beta: float) -> Floats:
    """Return the diagonal of L; zero for nodes without edges."""
    degree = graph.degrees()
    share = degree / max(degree.sum(), 1e-300)
    hubs: Floats = np.power(share, beta, out=np.zeros_like(share), where=share > 0).astype(np.float32)
    return hubs


def memory(shape: Shape, settings: Settings) -> int:
    """Return two tall matrices and a half: the projection, and what a product makes of another."""
    return engine_memory(shape, columns=settings.dim, matrices=2.5)


FASTRP = Method(
    name="fastrp",
    reference="Chen et al., CIKM 2019",
    summary="powers of the transition matrix on a very sparse random projection",
    cost="q m k, q weights",
    settings=Settings,
    fit=fit,
    memory=memory,
    bound="two and a half matrices n x k",
    processor_dependence="NumPy's powers and geometric random numbers",
)
