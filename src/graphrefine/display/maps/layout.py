"""`layout`: places of vectors in the plane, by one of the methods, within [-1, 1].

Stray points stay near the rest, and points without a direction get a corner.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphrefine.display.maps.clusters import lay_out_clusters
from graphrefine.display.maps.nearest import Neighbors
from graphrefine.display.maps.principal import project
from graphrefine.embedding.table import as_vectors, check_finite
from graphrefine.errors import InputError, suggest
from graphrefine.progress import Stages, Watcher
from graphrefine.refine.settings import check_integer
from graphrefine.system.threads import usable_threads

METHODS = ("auto", "clusters", "pca")
STRAY = 0.001  # of the points, at either end of an axis, may lie outside of what decides the scale
MARGIN = 1.25  # times the usual extent: beyond it, stray points do not decide the scale
RIM = 0.9  # beyond it, the space of stray points
CORNER = 0.06  # the radius of the disc of those without a direction
TURN = np.pi * (3 - np.sqrt(5))  # the golden angle: successive points of a sunflower

Floats = NDArray[np.float32]


def layout(
    vectors: ArrayLike,
    method: str = "auto",
    *,
    seed: int = 0,
    threads: int | None = None,
    watch: Watcher | None = None,
) -> Floats:
    """Place vectors in the plane.

    Parameters
    ----------
    vectors : array of shape (n, k)
        One row a point. Rows of zeros, as isolated nodes have, get a corner of their own.
    method : {"auto", "clusters", "pca"}
        See `graphrefine.display.maps`; ``auto`` is ``clusters``.
    seed : int
        The same seed gives the same bits, for any number of threads.
    threads : int, optional
        Number of threads; by default all cores.
    watch : Watcher, optional
        Hears of the stages.

    Returns
    -------
    ndarray of float32, (n, 2)
        Within [-1, 1].

    Examples
    --------
    >>> layout([[0, 0, 1], [0, 0, 3], [0, 0, 5]], "pca").tolist()
    [[-1.0, 0.0], [0.0, 0.0], [1.0, 0.0]]
    """
    rows = as_vectors(vectors)
    check_finite(rows, np.arange(len(rows)))
    seed = check_integer("seed", seed, least=0)
    return place_vectors(rows, resolve_method(method), seed=seed, threads=threads, stages=Stages(watch))[0]


def resolve_method(method: str) -> str:
    """Return the method that a name stands for; ``auto`` is clusters."""
    if method not in METHODS:
        near = suggest(method, METHODS)
        problem = f"method={method!r} is not known{near}; maps are made by {', '.join(METHODS)}"
        raise InputError(problem, argument="method")
    return "clusters" if method == "auto" else method


def place_vectors(
    vectors: Floats, method: str, *, seed: int, threads: int | None, stages: Stages
) -> tuple[Floats, tuple[Neighbors, NDArray[Any]] | None]:
    """Coordinates; and of clusters, the neighbors and the rows that they are numbered by."""
    threads = usable_threads(threads)
    points = np.flatnonzero(_nonzero_rows(vectors))
    if method == "pca":
        with stages.stage("layout"):
            return rescale(project(vectors, points, threads=threads), points, len(vectors)), None
    places, neighbors = lay_out_clusters(vectors, points, seed=seed, threads=threads, stages=stages)
    return rescale(places, points, len(vectors)), (neighbors, points)


def _nonzero_rows(vectors: Floats) -> NDArray[np.bool_]:
    """Whether each row has a direction, some rows at a time.  # (n,)."""
    out = np.empty(len(vectors), np.bool_)
    for start in range(0, len(vectors), 1 << 16):
        out[start : start + (1 << 16)] = vectors[start : start + (1 << 16)].any(axis=1)
    return out


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
        centered: Floats = ((whole - (low + high) / 2) * (2 / reach)).astype(np.float32)
        return centered
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
