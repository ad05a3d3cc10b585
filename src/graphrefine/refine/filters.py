"""Smoothing over the graph, Eq. 7: ``R* = sum_{k=0..K} theta_k T^k R``, then the scaled principal axes of R*.

A filter is its coefficients theta. The known ones are in `FILTERS`; any other sequence can be given as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.engine.engine import Engine, T
from graphrefine.errors import InputError, suggest
from graphrefine.graph.graph import Graph
from graphrefine.kernels import exact
from graphrefine.linalg.operators import Operator
from graphrefine.system.checks import check_integer, check_number, check_numbers

Theta = tuple[float, ...]


def heat(order: int = 10, scale: float = 3.0) -> Theta:
    """Return the heat kernel: ``theta_k = e^-t t^k / k!``, t = scale."""
    theta = [exact.exp(-scale)]
    for k in range(1, order + 1):
        theta.append(theta[-1] * scale / k)
    return tuple(theta)


def markov(order: int = 4, scale: float = 0.05) -> Theta:
    """Return the Markov diffusion kernel: the average of T ... T^K, with a share ``scale`` of the vector itself."""
    return (scale, *((1 - scale) / order for _ in range(order)))


def pagerank(order: int = 10, scale: float = 0.15) -> Theta:
    """Return personalized PageRank: ``theta_k = alpha (1 - alpha)^k``, alpha = scale."""
    theta = [scale]
    for _ in range(order):
        theta.append(theta[-1] * (1 - scale))
    return tuple(theta)


def taylor() -> Theta:
    """Return the filter of the authors' code: ``T^3 - 2 T^2 - T``. Its order is fixed."""
    # The paper says K = 2 and prints no coefficients; its code has order 3. It is too short for sparse graphs, where it
    # was 2 to 17 points of F1 behind ProNE and SketchNE: hence `reach`.
    return (0.0, -1.0, -2.0, 1.0)


def reach(order: int = 9, scale: float = 1.0) -> Theta:
    """Return a near and a far power: ``T^3 + scale T^order``."""
    # The best distance depends on the graph: T^16 gains 8 points of F1 on a sparse citation graph, and ruins
    # BlogCatalog. For an eigenvalue mu of T, mu^3 + w mu^9 is mu^3 where the spectrum ends early, and steep where it
    # reaches 1. Odd powers keep the signs of eigenvalues: with even ones, what sets neighbors apart would cancel.
    return (0.0, 0.0, 0.0, 1.0, *([0.0] * (order - 4)), scale) if order > NEAR else (0.0, 0.0, 0.0, 1.0)


FILTERS: dict[str, Callable[..., Theta]] = {
    "reach": reach,
    "taylor": taylor,
    "heat": heat,
    "markov": markov,
    "pagerank": pagerank,
}
MOST = {"heat": 100, "reach": 1000}  # the largest scale of those that may go beyond 1
NEAR = 3  # steps that every node's vector is averaged over by ``reach``
# Over the mean degree, the weight of the far steps of ``reach``: the fewer neighbors a node has, the more its own
# vector is noise, and the more the far ones are needed.
FAR = 40.0


def coefficients(
    name: str | Sequence[float],
    *,
    order: int | None = None,
    scale: float | None = None,
    degree: float | None = None,
) -> Theta | None:
    """Return the coefficients of a filter given by name, or as they are; None for ``"none"``.

    ``degree``, the mean number of neighbors in the graph, decides the scale of ``reach`` where none is given.

    Examples
    --------
    >>> coefficients("markov", order=2, scale=0.0)
    (0.0, 0.5, 0.5)
    >>> coefficients([1, 0.5])
    (1.0, 0.5)
    """
    options: dict[str, Any] = {k: v for k, v in (("order", order), ("scale", scale)) if v is not None}
    if not isinstance(name, str):
        theta = check_numbers("filter", name)
        _refuse(options, "coefficients are given")
        return without_trailing_zeros(theta)
    if name == "none":
        _refuse(options, "filter='none'")
        return None
    if name not in FILTERS:
        names = ", ".join(repr(f) for f in (*FILTERS, "none"))
        raise InputError(
            f"filter={name!r} is not known{suggest(name, (*FILTERS, 'none'))}; the filters are {names}, or a sequence "
            "of coefficients",
            argument="filter",
        )
    if name == "taylor":
        _refuse(options, "filter='taylor', whose order is fixed")
    if order is not None:
        check_integer("order", order, least=1, most=100)
    if scale is not None:
        check_number("scale", scale, least=0, most=MOST.get(name, 1))
    if name == "reach" and order is not None and order < NEAR:
        raise InputError(f"order={order} must be at least {NEAR} for filter='reach'", argument="order")
    if name == "reach" and scale is None and degree is not None:
        options["scale"] = FAR / max(degree, 1.0)
    return without_trailing_zeros(FILTERS[name](**options))


def without_trailing_zeros(theta: Theta) -> Theta:
    """Return the same filter: a power that is not wanted costs no product."""
    return theta[: max(k for k, coefficient in enumerate(theta) if coefficient) + 1]


def _refuse(options: dict[str, Any], reason: str) -> None:
    if options:
        problem = f"{' and '.join(options)} cannot be set with {reason}; leave it out"
        raise InputError(problem, argument=next(iter(options)))


def diffuse(
    engine: Engine[T],
    transition: Operator,
    R: T,
    theta: Theta,
    *,
    last: Operator | None = None,
    shift: NDArray[np.float64] | None = None,
    unit: bool = False,
    keep: bool = False,
    finish: Callable[..., Any] | None = None,
    advance: Callable[[], None] | None = None,
) -> Any:
    """Compute Eq. 7 by Horner's rule, one product for each order, the last with the operator ``last`` if it is given.

    ``shift`` is subtracted from every row at the end, and ``unit`` makes them unit then. R is not to be used again,
    except with ``keep``. The highest coefficient must not be zero. With theta_0 alone R itself comes back: a
    multiple of it has the same unit rows and principal axes. ``finish`` replaces the last `Engine.apply`.
    """
    # Horner's rule holds two tall matrices, R and the sum, where the powers T^k R one by one would take three; and a
    # coefficient that is zero costs no addition.
    finish = partial(engine.apply, gram=True, precise=True) if finish is None else finish
    last_use = next(k for k, coefficient in enumerate(theta) if coefficient)
    H: Any = R
    scale = theta[-1]
    for k in range(len(theta) - 2, -1, -1):
        plus = (theta[k], R) if theta[k] else None
        step = transition if k or last is None else last
        if k:
            H = engine.apply(step, H, scale=scale, plus=plus)
        else:
            H = finish(step, H, scale=scale, plus=plus, shift=shift, unit=unit)
        if k == min(last_use, len(theta) - 2) and not keep:
            engine.release(R)
        scale = 1.0
        if advance is not None:
            advance()
    return H


def smallest_weight(graph: Graph) -> float:
    """Return the default weight of T's loops: 1 without weights."""
    # The authors' code has loops of 1 for weights of any size: in one unit of weights they are nothing, in another they
    # are all of T. The smallest weight leaves the unit free, and is their 1 on unweighted graphs.
    return 1.0 if graph.weights is None or not len(graph.weights) else float(graph.weights.min())


def limit_weights(alone: NDArray[np.bool_], degrees: NDArray[np.float64] | None, *, loop: float) -> NDArray[np.float64]:
    """Return the weights of nodes in `limit`, 0 without edges: their degrees in T, or 1 if None.  # (n,)."""
    return np.where(alone, 0.0, 1.0 if degrees is None else degrees + loop)


def limit(sums: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the row that every row of ``T^s R`` tends to, from the sums of R's rows by the `limit_weights`."""
    mean: NDArray[np.float64] = sums / max(float(weights.sum()), 1e-300)
    return mean
