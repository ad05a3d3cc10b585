"""Rescaling of a map to [-1, 1]: stray points stay near the rest, points without a direction get a corner."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

STRAY = 0.001  # of the points, at either end of an axis, may lie outside of what decides the scale
MARGIN = 1.25  # times the usual extent: beyond it, stray points do not decide the scale
RIM = 0.9  # beyond it, the space of stray points
CORNER = 0.06  # the radius of the disc of those without a direction
TURN = np.pi * (3 - np.sqrt(5))  # the golden angle: successive points of a sunflower


def rescale(places: Floats, points: NDArray[Any], n: int) -> Floats:
    """The map of n points, of which `points` have these places, and the others none of their own.

    One scale for both axes. A few points far from all others do not shrink the rest: they are moved to the rim.

    Examples
    --------
    >>> rescale(np.array([[0, 0], [4, 2]], np.float32), np.array([0, 2]), 3).round(2).tolist()
    [[-0.8700000047683716, -0.4000000059604645], [-0.9399999976158142, -0.9399999976158142], [1.0, 0.5299999713897705]]
    """
    out = np.zeros((n, 2), np.float32)
    without = np.setdiff1d(np.arange(n), points, assume_unique=True)
    out[points] = _fit(places)
    if len(without):
        least = -1 + 2 * CORNER + 0.01
        out[points] = (out[points] + 1) * np.float32((1 - least) / 2) + np.float32(least)
        out[without] = _sunflower(len(without)) * np.float32(CORNER) - np.float32(1 - CORNER)
    return out


def _fit(places: Floats) -> Floats:
    """Places within [-1, 1]."""
    if not len(places):
        return places
    whole = places.astype(np.float64)
    low, high = whole.min(axis=0), whole.max(axis=0)
    most_low, most_high = np.quantile(whole, [STRAY, 1 - STRAY], axis=0)
    reach, usual = float((high - low).max()), float((most_high - most_low).max())
    if reach == 0:
        return np.zeros_like(places)
    if reach <= MARGIN * usual or usual == 0:
        centred: Floats = ((whole - (low + high) / 2) * (2 / reach)).astype(np.float32)
        return centred
    scaled = (whole - (most_low + most_high) / 2) * (2 * RIM / usual)
    beyond = np.maximum(np.abs(scaled) - RIM, 0)
    squeezed = np.sign(scaled) * (RIM + (1 - RIM) * (1 - np.exp(-beyond / (1 - RIM))))
    fitted: Floats = np.where(beyond > 0, squeezed, scaled).astype(np.float32)
    return fitted


def _sunflower(count: int) -> Floats:
    """Points evenly over a disc of radius 1."""
    number = np.arange(count)
    radius = np.sqrt(number / max(count, 1))
    directions = np.stack([np.cos(TURN * number), np.sin(TURN * number)], axis=1)
    disc: Floats = (radius[:, None] * directions).astype(np.float32)
    return disc
