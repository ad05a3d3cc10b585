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

Theta = tuple[float, ...]


def heat(order: int = 10, scale: float = 3.0) -> Theta:
    """Heat kernel: ``theta_k = e^-t t^k / k!``, t = scale."""
    theta = [exact.exp(-scale)]
    for k in range(1, order + 1):
        theta.append(theta[-1] * scale / k)
    return tuple(theta)


def markov(order: int = 4, scale: float = 0.05) -> Theta:
    """Markov diffusion kernel: the average of T ... T^K, with a share ``scale`` of the vector itself."""
    return (scale, *((1 - scale) / order for _ in range(order)))


def pagerank(order: int = 10, scale: float = 0.15) -> Theta:
    """Personalized PageRank: ``theta_k = alpha (1 - alpha)^k``, alpha = scale."""
    theta = [scale]
    for _ in range(order):
        theta.append(theta[-1] * (1 - scale))
    return tuple(theta)


def taylor() -> Theta:
    """The filter of the authors' code: ``T^3 - 2 T^2 - T``. Its order is fixed."""
    return (0.0, -1.0, -2.0, 1.0)


def reach(order: int = 9, scale: float = 1.0) -> Theta:
    """Three steps and as many as ``order``, that many times ``scale``: ``T^3 + scale T^order``.

    Odd powers keep the signs that the eigenvalues of T have, so that what neighbors have in common and what sets them
    apart are both kept; a sum of odd and even powers would cancel the latter.
    """
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
FAR = 40.0  # over the mean degree, the weight of its far steps: the fewer neighbors, the more they are needed


def coefficients(
    name: str | Sequence[float],
    *,
    order: int | None = None,
    scale: float | None = None,
    degree: float | None = None,
) -> Theta | None:
    """The coefficients of a filter given by name, or as they are; None for ``"none"``.

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
        theta = tuple(float(c) for c in name)
        if not theta or not np.all(np.isfinite(theta)) or not any(theta):
            raise InputError(f"filter={name!r} must be finite coefficients, not all zero", argument="filter")
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
    if order is not None and (isinstance(order, bool) or not isinstance(order, int)):
        raise InputError(f"order={order!r} must be a whole number", argument="order")
    if order is not None and not 1 <= order <= 100:
        raise InputError(f"order={order} must lie between 1 and 100", argument="order")
    if scale is not None and (isinstance(scale, bool) or not isinstance(scale, int | float)):
        raise InputError(f"scale={scale!r} must be a number", argument="scale")
    if scale is not None and not 0 <= scale <= MOST.get(name, 1):
        raise InputError(
            f"scale={scale} must lie between 0 and {MOST.get(name, 1)} for filter={name!r}",
            argument="scale",
        )
    if name == "reach" and order is not None and order < NEAR:
        raise InputError(f"order={order} must be at least {NEAR} for filter='reach'", argument="order")
    if name == "reach" and scale is None and degree is not None:
        options["scale"] = FAR / max(degree, 1.0)
    return without_trailing_zeros(FILTERS[name](**options))


def without_trailing_zeros(theta: Theta) -> Theta:
    """The same filter: a power that is not wanted costs no product."""
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
    """Eq. 7 by Horner's rule, one product for each order, the last of them with another operator if one is given.

    ``shift`` is taken away from every row at the end, and ``unit`` makes them unit then. R is not to be used again,
    unless ``keep`` is said. The highest coefficient must not be zero. With theta_0 alone R itself comes back: a
    multiple of it has the same unit rows and principal axes. ``finish`` takes the last product over from
    `Engine.apply`, and gives what is returned.
    """
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
    """The weight of T's loops that leaves the unit of weights free: 1 without weights."""
    return 1.0 if graph.weights is None or not len(graph.weights) else float(graph.weights.min())


def limit_weights(alone: NDArray[np.bool_], degrees: NDArray[np.float64] | None, *, loop: float) -> NDArray[np.float64]:
    """Weights of the nodes in `limit`, none for those without edges: their degrees in T, or 1 if None.  # (n,)."""
    return np.where(alone, 0.0, 1.0 if degrees is None else degrees + loop)


def limit(sums: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The row that every row of ``T^s R`` tends to, from the sums of R's rows by the `limit_weights`."""
    mean: NDArray[np.float64] = sums / max(float(weights.sum()), 1e-300)
    return mean
