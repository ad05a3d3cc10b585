"""RandNE (Zhang, Cui, Li, Wang and Zhu, "Billion-scale Network Embedding with Iterative Random Projection", ICDM 2018).

``U = sum_i w_i A^i U_0``, i = 0, 1, ...: U_0 is Gaussian with its columns made orthogonal and of one length (such
that its rows have length 1 on average), and A the transition matrix or the adjacency matrix.

karateclub's ``alphas`` are weights of the powers 1, 2, ...: ``power_weights=(0, *alphas)``, with ``standardize``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from graphrefine.engine.engine import orthonormal
from graphrefine.engine.sketches import gaussian
from graphrefine.graph.graph import Graph
from graphrefine.linalg import standardize_columns
from graphrefine.linalg.operators import Operator, adjacency, walk
from graphrefine.methods.contract import Floats, Method, Resources, Shape, engine_memory
from graphrefine.refine.filters import diffuse, without_trailing_zeros
from graphrefine.refine.settings import MethodSettings, setting

MATRICES: dict[str, Callable[[Graph], Operator]] = {"transition": walk, "adjacency": adjacency}
BLOCK = 16  # columns made orthogonal together: it groups the arithmetic and changes nothing


@dataclass(frozen=True)
class Settings(MethodSettings):
    """Settings of RandNE, by default those of the authors' code for classification (q = 3)."""

    power_weights: tuple[float, ...] = setting((1.0, 1e2, 1e4, 1e5), "Weights of the powers 0, 1, ... q (w).")
    matrix: str = setting(
        "transition",
        "'adjacency' is what the authors take for reconstruction and link prediction.",
        choices=MATRICES,
    )
    standardize: bool = setting(
        False, "Columns are scaled to mean 0 and variance 1, as karateclub does: higher F1 on dense graphs."
    )
    bfloat16: bool = setting(True, "Products gather from bfloat16.")


def fit(graph: Graph, settings: Settings, resources: Resources) -> Floats:
    """Return the vectors of RandNE."""
    stages = resources.stages
    with stages.stage("sketch"):
        engine = resources.engine(graph, columns=settings.dim, bfloat16=settings.bfloat16)
        G = engine.fill(gaussian(settings.seed, settings.dim), precise=True)
        U = orthonormal(engine, G, block=BLOCK)
        engine.release(G)
    length = np.sqrt(graph.nodes / settings.dim)
    theta = tuple(float(weight * length) for weight in without_trailing_zeros(settings.power_weights))
    with stages.stage("project", steps=max(len(theta) - 1, 1)):
        U = diffuse(engine, MATRICES[settings.matrix](graph), U, theta, advance=stages.advance)
        vectors = engine.collect(U)
    # High powers of the transition matrix give all nodes nearly one vector. The authors leave it in, and so does the
    # default; scaling columns takes it out, worth 7 points of Micro F1 on BlogCatalog and next to nothing on PPI,
    # lastfm-asia and amazon-photo.
    if settings.standardize:
        standardize_columns(vectors)
    return vectors


def memory(shape: Shape, settings: Settings) -> int:
    """Return three tall matrices, while U_0 is orthonormalized."""
    return engine_memory(shape, columns=settings.dim, matrices=3)


RANDNE = Method(
    name="randne",
    reference="Zhang et al., ICDM 2018",
    summary="powers of the transition matrix on an orthogonal random projection",
    cost="q m k + n k^2, q powers",
    settings=Settings,
    fit=fit,
    memory=memory,
    bound="three matrices n x k",
    processor_dependence="NumPy's normal random numbers",
)
