r"""Logistic regression for many classes that share their rows: liblinear's optimum, all classes at once.

For each class c, with targets :math:`t_i \in \{0, 1\}` and rows :math:`x_i` that end in a one (the intercept,
which liblinear regularizes like any other weight), the minimum over :math:`w` of

.. math:: f(w) = \tfrac12 |w|^2 + C \sum_i \left[\log(1 + e^{w \cdot x_i}) - t_i\, w \cdot x_i\right]

is found by Newton steps, each solved by preconditioned conjugate gradients. Three things make it fast:

* Every product is a matrix product over all unfinished classes.
* The rows are first rotated to the eigenvectors of :math:`X^T X`, which changes neither the optimum nor the
  penalty. If all rows of a class had one curvature :math:`d`, its Hessian would then be the diagonal matrix
  :math:`1 + d \lambda`: a preconditioner that is nearly exact for rare classes.
* Products with the Hessian are in float32, because an error only costs a step; loss and gradient in float64.

"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Float32 = NDArray[np.float32]
Float64 = NDArray[np.float64]
Bool = NDArray[np.bool_]

BLOCK = 2048  # rows a block: its float64 copy and the values of 40 classes stay in the cache
# Limits that only rows of very different lengths reach: then a warning says how many classes are not at their optimum.
NEWTON_STEPS = 100
CG_STEPS = 50
SHORTEST_STEP = 2.0**-20


@dataclass(frozen=True)
class Classifiers:
    """One linear classifier for each class.

    An intercept is minus infinity for a class that had no positive row, infinity for one that had no negative row.
    """

    weights: Float64  # (classes, features)
    intercepts: Float64  # (classes,)

    def decision(self, rows: NDArray[Any]) -> Float64:
        """Return the scores of rows (n, features) for every class: (n, classes)."""
        return np.asarray(rows @ self.weights.T + self.intercepts, dtype=np.float64)


def fit_logistic(
    rows: NDArray[Any], targets: Bool, *, C: float = 1.0, tol: float = 1e-4, start: Classifiers | None = None
) -> Classifiers:
    """Fit one logistic regression for each class, penalized as liblinear does (the intercept too).

    Parameters
    ----------
    rows : ndarray, (n, features)
        Converted to float32.
    targets : ndarray of bool, (n, classes)
        Classes of the rows. A class without a positive or without a negative row has nothing to learn: its
        intercept is minus infinity or infinity.
    C : float
        Weight of the data against the penalty.
    tol : float
        Largest length of the gradient, and so (the Hessian is at least the identity) distance from the exact weights.
    start : Classifiers, optional
        Start of the iteration, for example the fit at a nearby `C`.
    """
    n, features = rows.shape
    positives = targets.sum(axis=0)
    weights = np.zeros((targets.shape[1], features + 1))
    weights[:, -1] = np.where(positives == 0, -np.inf, np.inf)
    mixed = np.flatnonzero((positives > 0) & (positives < n))
    if mixed.size:
        design = np.concatenate([rows, np.ones((n, 1), rows.dtype)], axis=1).astype(np.float32)  # (n, p)
        spectrum, rotation = np.linalg.eigh(_gram(design))
        design = design @ rotation.astype(np.float32)
        if start is None:
            first = np.zeros((mixed.size, features + 1))
            first[:, -1] = _intercept_alone(positives[mixed], n, C)
        else:
            first = np.column_stack([start.weights[mixed], start.intercepts[mixed]])
        mixed_targets = np.ascontiguousarray(targets[:, mixed].T)
        solution = _newton(design, mixed_targets, first @ rotation, C=C, tol=tol, spectrum=spectrum)
        weights[mixed] = solution @ rotation.T
    return Classifiers(weights[:, :-1], weights[:, -1])


def _gram(design: Float32) -> Float64:
    gram = np.zeros((design.shape[1], design.shape[1]))
    for lo in range(0, len(design), BLOCK):
        block = design[lo : lo + BLOCK].astype(np.float64)
        gram += block.T @ block
    return gram


def _intercept_alone(positives: NDArray[Any], n: int, C: float) -> Float64:
    """Return log-odds pulled towards zero by the penalty: nearly the best intercepts for zero weights."""
    share = positives / n
    odds = np.log(share / (1 - share))
    stiffness = C * n * share * (1 - share)
    return np.asarray(odds * stiffness / (1 + stiffness))


class _Point(NamedTuple):
    """State of the unfinished classes: one row for each class."""

    weights: Float64  # (classes, p)
    loss: Float64  # (classes,)
    gradient: Float64  # (classes, p)
    curvature: Float32  # (classes, n): C p (1 - p) of every row

    def take(self, classes: NDArray[Any]) -> _Point:
        return _Point(*(part[classes] for part in self))

    def put(self, classes: NDArray[Any], other: _Point) -> None:
        own: tuple[NDArray[Any], ...] = self
        for part, replacement in zip(own, other, strict=True):
            part[classes] = replacement


def _newton(design: Float32, targets: Bool, weights: Float64, *, C: float, tol: float, spectrum: Float64) -> Float64:
    """Minimize for every class (a row of `targets` and of `weights`), with `weights` as the start."""
    solution = weights.copy()
    active = np.arange(len(weights))
    point = _evaluate(design, targets, weights, C)
    for _ in range(NEWTON_STEPS):
        unfinished = np.linalg.norm(point.gradient, axis=1) > tol
        if not unfinished.all():
            active, point = active[unfinished], point.take(unfinished)
        if not active.size:
            return solution
        step = _conjugate_gradients(design, point, tol=tol, spectrum=spectrum)
        point = _descend(design, targets[active], point, step, C=C)
        solution[active] = point.weights
    warnings.warn(
        f"logistic regression: {active.size} of {len(weights)} classes are not within tol={tol:g} of their "
        f"optimum after {NEWTON_STEPS} steps; scale the rows to a similar length, or lower C={C:g}",
        RuntimeWarning,
        stacklevel=3,
    )
    return solution


def _evaluate(design: Float32, targets: Bool, weights: Float64, C: float) -> _Point:
    loss = 0.5 * (weights**2).sum(axis=1)
    gradient = weights.copy()
    curvature = np.empty(targets.shape, np.float32)
    for lo in range(0, len(design), BLOCK):
        block = design[lo : lo + BLOCK].astype(np.float64)  # (b, p)
        target = targets[:, lo : lo + BLOCK]
        score = weights @ block.T  # (classes, b)
        small = np.exp(-np.abs(score))
        share = 1.0 / (1.0 + small)
        # log(1 + e^s) = max(s, 0) + log(1 + e^-|s|) never overflows.
        loss += C * (np.maximum(score, 0.0) - np.log(share) - target * score).sum(axis=1)
        curvature[:, lo : lo + BLOCK] = C * small * share * share
        probability = np.where(score >= 0, share, small * share)
        gradient += C * ((probability - target) @ block)
    return _Point(weights, loss, gradient, curvature)


def _conjugate_gradients(design: Float32, point: _Point, *, tol: float, spectrum: Float64) -> Float64:
    """Find Newton steps, -H^-1 gradient, solved more exactly the nearer a class is to its optimum."""
    curvature = point.curvature
    # The preconditioner takes each class's mean curvature for that of all its rows; the columns are the eigenvectors of
    # X^T X, so it is a diagonal. A goal looser than the gradient, by its root, keeps Newton's fast convergence.
    inverse = 1.0 / (1.0 + curvature.mean(axis=1, dtype=np.float64)[:, None] * spectrum)
    length = np.linalg.norm(point.gradient, axis=1)
    goal = np.maximum(0.1 * length * np.minimum(1.0, np.sqrt(length)), 0.3 * tol)
    step = np.zeros_like(point.gradient)
    going = np.arange(len(step))
    residual = -point.gradient
    direction = inverse * residual
    energy = (residual * direction).sum(axis=1)
    for _ in range(CG_STEPS):
        image = _hessian_product(design, curvature, direction)
        reach = energy / (direction * image).sum(axis=1)
        step[going] += reach[:, None] * direction
        residual = residual - reach[:, None] * image
        scaled = inverse * residual
        energy, before = (residual * scaled).sum(axis=1), energy
        direction = scaled + (energy / before)[:, None] * direction
        keep = np.linalg.norm(residual, axis=1) > goal[going]
        if not keep.any():
            break
        if not keep.all():
            going, residual, direction, energy = going[keep], residual[keep], direction[keep], energy[keep]
            inverse, curvature = inverse[keep], curvature[keep]
    return step


def _hessian_product(design: Float32, curvature: Float32, direction: Float64) -> Float64:
    """Return ``H v = v + X^T (curvature * X v)`` for every class."""
    product = direction.copy()
    thin = direction.astype(np.float32)
    for lo in range(0, len(design), BLOCK):
        block = design[lo : lo + BLOCK]
        product += ((thin @ block.T) * curvature[:, lo : lo + BLOCK]) @ block
    return product


def _descend(design: Float32, targets: Bool, point: _Point, step: Float64, *, C: float) -> _Point:
    """Move by `step`, halved again and again for the classes whose loss it does not lower; usually none."""
    slope = (step * point.gradient).sum(axis=1)
    slack = 1e-12 * np.abs(point.loss)  # rounding of the loss near the optimum is no reason to stop
    moved = _evaluate(design, targets, point.weights + step, C)
    size = 1.0
    while size > SHORTEST_STEP:
        failed = np.flatnonzero(moved.loss > point.loss + 1e-4 * size * slope + slack)
        if not failed.size:
            break
        size /= 2
        shorter = point.weights[failed] + size * step[failed]
        moved.put(failed, _evaluate(design, targets[failed], shorter, C))
    return moved
