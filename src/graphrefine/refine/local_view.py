"""The local view: leading eigenpairs of the graph between powers of the degrees, and how much each sign counts in them.

``U |w|`` of :math:`D^{-a} A D^{-a}`. Positive eigenvalues are groups, whose nodes are neighbors; negative ones are
roles, whose nodes have neighbors of another kind. `weight_of_negative` chooses how many of each are wanted.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from graphrefine.engine.engine import Engine, Small, T, eigh_by_size
from graphrefine.kernels import exact
from graphrefine.linalg import unit_rows
from graphrefine.linalg.operators import EdgeStrengths, edge_terms
from graphrefine.refine.svd import symmetric_eigh

Floats = NDArray[np.float32]

EXPONENT = 0.4  # a: at 1/2 hubs count for too little, and roles are lost
SMALL = 256  # nodes, up to which all eigenpairs are found
# Weight of a negative eigenvalue when the leading ones are chosen, in graphs of groups and of roles. With as many as 60
# negative ones among 128, Wikipedia gains 1.7 Micro F1 at 50% and BlogCatalog loses 1.
GROUPED, LEVELED = 0.8, 1.75
# Agreement of far view and REFINE from which a graph is one of groups, and what less of it adds. It is 0.60 on
# BlogCatalog, 0.78 on PPI and 0.83 on part of Flickr; 0.44 on Wikipedia and 0.46 on WordNet's glosses. The rule was
# chosen with a look at all five.
AGREEING, STEEP = 0.58, 8.0


def agreement(view: Floats, other: Floats, threads: int = 1) -> float:
    """Return how far two matrices of the same rows agree, 0 to 1: the linear alignment of their centered unit rows.

    Examples
    --------
    >>> rows = np.eye(3, dtype=np.float32)
    >>> agreement(rows, -rows), round(agreement(rows, np.array([[1], [1], [-2]], np.float32)), 3)
    (1.0, 0.629)
    """
    k = view.shape[1]
    gram = exact.gram(np.concatenate([_even_rows(view), _even_rows(other)], axis=1), threads=threads)
    own, others, cross = (float(np.square(part).sum()) for part in (gram[:k, :k], gram[k:, k:], gram[:k, k:]))
    return cross / math.sqrt(own * others) if own and others else 0.0


def _even_rows(view: Floats) -> Floats:
    return unit_rows(view - view.mean(axis=0, dtype=np.float64).astype(np.float32))


def weight_of_negative(agreement: float) -> float:
    """Return how much a negative eigenvalue counts at this agreement of views: less than a positive one if they agree.

    Examples
    --------
    >>> weight_of_negative(0.8), weight_of_negative(0.4), round(weight_of_negative(0.5), 2)
    (0.8, 1.75, 1.44)
    """
    # In a graph of groups, walks tell what REFINE tells. Where they do not, nodes of a kind are no neighbors but have
    # neighbors of a kind, which is what negative eigenvalues are. No label is needed to see which it is.
    return min(max(GROUPED + STEEP * (AGREEING - agreement), GROUPED), LEVELED)


def local_view(
    engine: Engine[T],
    strengths: EdgeStrengths,
    *,
    seed: int,
    products: int,
    negative: float = 1.0,
    advance: Callable[[], None] = lambda: None,
) -> Floats:
    """Return ``U |w|`` (n, columns of the engine) of the leading eigenpairs of ``D^-a A D^-a``.

    ``negative``: how much the size of a negative eigenvalue counts against that of a positive one.
    """
    if engine.nodes <= max(SMALL, engine.columns):  # a sketch may miss what few nodes have in common
        values, vectors = eigh_by_size(dense_normalized(strengths))
        sizes = np.abs(values) * np.where(values < 0, negative, 1.0)
        leading = np.argsort(-sizes, kind="stable")[: engine.columns]
        return (vectors[:, leading] * np.abs(values[leading])).astype(np.float32)
    operator = strengths.normalized(EXPONENT)
    eigenpairs = symmetric_eigh(engine, operator, seed=seed, products=products, negative=negative, advance=advance)
    return engine.collect(eigenpairs.basis, eigenpairs.axes * np.abs(eigenpairs.values))


def dense_normalized(strengths: EdgeStrengths) -> Small:
    """Return ``D^-a A D^-a`` of a small graph.

    Examples
    --------
    >>> from graphrefine.graph.graph import Graph
    >>> dense_normalized(EdgeStrengths(Graph.from_edges([0], [1], names=range(3)))).tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """
    graph, degree = strengths.graph, strengths.degrees
    matrix, terms = np.zeros((graph.nodes, graph.nodes)), edge_terms(strengths.edge, graph.weights, strengths.unit)
    rows = np.repeat(np.arange(graph.nodes), graph.out_counts)
    matrix[rows, graph.indices] = 1.0 if terms is None else terms
    scale = exact.power_where(degree > 0, degree, -EXPONENT)
    matrix *= np.outer(scale, scale)
    return matrix
