"""Smoothing over the graph, Eq. 7: ``R* = sum_{k=0..K} theta_k T^k R``, then the scaled principal axes of R*.

A filter is its coefficients theta. The known ones are in `FILTERS`; any other sequence can be given as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import exp, factorial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.engine import Engine, T
from graphrefine.errors import InputError
from graphrefine.linalg import descending_eigh, one_blas_thread
from graphrefine.operators import Operator

Theta = tuple[float, ...]


def heat(order: int = 10, scale: float = 3.0) -> Theta:
    """Heat kernel: ``theta_k = e^-t t^k / k!``, t = scale."""
    return tuple(exp(-scale) * scale**k / factorial(k) for k in range(order + 1))


def markov(order: int = 4, scale: float = 0.05) -> Theta:
    """Markov diffusion kernel: the average of T ... T^K, with a share ``scale`` of the vector itself."""
    return (scale, *((1 - scale) / order for _ in range(order)))


def pagerank(order: int = 10, scale: float = 0.15) -> Theta:
    """Personalised PageRank: ``theta_k = alpha (1 - alpha)^k``, alpha = scale."""
    return tuple(scale * (1 - scale) ** k for k in range(order + 1))


def taylor() -> Theta:
    """The filter of the authors' code: ``T^3 - 2 T^2 - T``. Its order is fixed."""
    return (0.0, -1.0, -2.0, 1.0)


FILTERS: dict[str, Callable[..., Theta]] = {"taylor": taylor, "heat": heat, "markov": markov, "pagerank": pagerank}


def coefficients(
    name: str | Sequence[float], *, order: int | None = None, scale: float | None = None
) -> Theta | None:
    """The coefficients of a filter given by name, or as they are; None for ``"none"``.

    Examples
    --------
    >>> coefficients("markov", order=2, scale=0.0)
    (0.0, 0.5, 0.5)
    >>> coefficients([1, 0.5])
    (1.0, 0.5)
    """
    given: dict[str, Any] = {k: v for k, v in (("order", order), ("scale", scale)) if v is not None}
    if not isinstance(name, str):
        theta = tuple(float(c) for c in name)
        if not theta or not np.all(np.isfinite(theta)) or not any(theta):
            raise InputError(f"filter={name!r} must be finite coefficients, not all zero")
        _refuse(given, "coefficients are given")
        return without_trailing_zeros(theta)
    if name == "none":
        _refuse(given, "filter='none'")
        return None
    if name not in FILTERS:
        known = ", ".join(repr(f) for f in (*FILTERS, "none"))
        raise InputError(f"filter={name!r} is not known; the filters are {known}, or a sequence of coefficients")
    if name == "taylor":
        _refuse(given, "filter='taylor', whose order is fixed")
    if order is not None and not 1 <= order <= 100:
        raise InputError(f"order={order} must lie between 1 and 100")
    if scale is not None and not (np.isfinite(scale) and 0 <= scale <= (1 if name != "heat" else 100)):
        raise InputError(f"scale={scale} must lie between 0 and {1 if name != 'heat' else 100} for filter={name!r}")
    return without_trailing_zeros(FILTERS[name](**given))


def without_trailing_zeros(theta: Theta) -> Theta:
    """The same filter: a power that is not wanted costs no product."""
    return theta[: max(k for k, coefficient in enumerate(theta) if coefficient) + 1]


def _refuse(given: dict[str, Any], reason: str) -> None:
    if given:
        raise InputError(f"{' and '.join(given)} cannot be set with {reason}; leave it out")


def diffuse(
    engine: Engine[T],
    transition: Operator,
    R: T,
    theta: Theta,
    *,
    last: Operator | None = None,
    advance: Callable[[], None] = lambda: None,
) -> T:
    """Eq. 7 by Horner's rule, one product for each order, the last of them with another operator if one is given.

    R is not to be used again.
    The highest coefficient must not be zero. With theta_0 alone R itself comes back: a multiple of it has the same unit
    rows and principal axes.
    """
    last_use = next(k for k, coefficient in enumerate(theta) if coefficient)
    H, scale = R, theta[-1]
    for k in range(len(theta) - 2, -1, -1):
        plus = (theta[k], R) if theta[k] else None
        step = transition if k or last is None else last
        H = engine.apply(step, H, scale=scale, plus=plus, gram=k == 0, precise=k == 0)
        if k == min(last_use, len(theta) - 2):
            engine.release(R)
        scale = 1.0
        advance()
    return H


def principal_rotation(gram: NDArray[np.float64]) -> NDArray[np.float64]:
    """The V S^-1/2 that takes F = U S V^T to U S^1/2, from F's Gram matrix; columns beyond its rank are zero."""
    with one_blas_thread():
        values, vectors = descending_eigh(gram)  # values are S^2
    kept = (values > values[0] * 1e-12) & (values > 0)
    return vectors * np.where(kept, np.where(kept, values, 1.0) ** -0.25, 0.0)
