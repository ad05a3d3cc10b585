"""Layouts: vectors in the plane by one of the methods, within [-1, 1]; and their cache in the folder NAME.map.

Stray points stay near the rest, and points without a direction get a corner.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.display.maps.clusters import lay_out_clusters
from graphrefine.display.maps.nearest import Neighbors
from graphrefine.display.maps.principal import project
from graphrefine.progress import Stages, Watcher
from graphrefine.search import companions
from graphrefine.search.vectors import check_finite
from graphrefine.system.arrays import save_npy
from graphrefine.system.checks import check_choice, check_integer
from graphrefine.system.threads import usable_threads

if TYPE_CHECKING:
    from graphrefine.search.vectors import VectorTable

METHODS = ("auto", "clusters", "pca")
# A few points far from all others would shrink the rest to a dot. If the whole extent is more than MARGIN times that
# without a part STRAY of the points at either end, the rest decides the scale, and the space beyond RIM is for them.
STRAY = 0.001
MARGIN = 1.25
RIM = 0.9
CORNER = 0.06  # the radius of the disc of those without a direction
TURN = np.pi * (3 - np.sqrt(5))  # the golden angle: successive points of a sunflower
FORMAT = "graphrefine map 1"  # of the cache; a new number for a new layout of the same vectors
VERSION = 2  # of the folder of the cache
FILE = "coordinates.npy"

Floats = NDArray[np.float32]


def compute_layout(
    vectors: Floats, method: str, *, seed: int, threads: int | None, stages: Stages
) -> tuple[Floats, tuple[Neighbors, NDArray[Any]] | None]:
    """Return coordinates; and of clusters, the neighbors and the rows that they are numbered by."""
    threads = usable_threads(threads)
    points = np.flatnonzero(vectors.any(axis=1))
    if method == "pca":
        with stages.stage("layout"):
            return rescale(project(vectors, points, threads=threads), points, len(vectors)), None
    coordinates, neighbors = lay_out_clusters(vectors, points, seed=seed, threads=threads, stages=stages)
    return rescale(coordinates, points, len(vectors)), (neighbors, points)


def rescale(coordinates: Floats, points: NDArray[Any], n: int) -> Floats:
    """Return the map of n points, of which `points` have these coordinates, and the others have none.

    One scale for both axes. A few points far from all others do not shrink the rest: they are moved to the rim.
    """
    out = np.zeros((n, 2), np.float32)
    without = np.setdiff1d(np.arange(n), points, assume_unique=True)
    out[points] = _fit(coordinates)
    if len(without):
        least = -1 + 2 * CORNER + 0.01
        out[points] = (out[points] + 1) * np.float32((1 - least) / 2) + np.float32(least)
        out[without] = _sunflower(len(without)) * np.float32(CORNER) - np.float32(1 - CORNER)
    return out


def _fit(coordinates: Floats) -> Floats:
    """Scale coordinates to [-1, 1]."""
    if not len(coordinates):
        return coordinates
    whole = coordinates.astype(np.float64)
    low, high = whole.min(axis=0), whole.max(axis=0)
    most_low, most_high = np.quantile(whole, [STRAY, 1 - STRAY], axis=0)
    reach, usual = float((high - low).max()), float((most_high - most_low).max())
    if reach == 0:
        return np.zeros_like(coordinates)
    if reach <= MARGIN * usual or usual == 0:
        centered: Floats = ((whole - (low + high) / 2) * (2 / reach)).astype(np.float32)
        return centered
    # Beyond the rim distances are squeezed by an exponential, which keeps their order and never reaches the border.
    scaled = (whole - (most_low + most_high) / 2) * (2 * RIM / usual)
    beyond = np.maximum(np.abs(scaled) - RIM, 0)
    squeezed = np.sign(scaled) * (RIM + (1 - RIM) * (1 - np.exp(-beyond / (1 - RIM))))
    fitted: Floats = np.where(beyond > 0, squeezed, scaled).astype(np.float32)
    return fitted


def _sunflower(count: int) -> Floats:
    """Return points that lie evenly over a disc of radius 1."""
    number = np.arange(count)
    radius = np.sqrt(number / max(count, 1))
    directions = np.stack([np.cos(TURN * number), np.sin(TURN * number)], axis=1)
    disc: Floats = (radius[:, None] * directions).astype(np.float32)
    return disc


class CachedLayout(NamedTuple):
    """A layout, and its origin."""

    coordinates: Floats  # (n, 2)
    method: str  # "clusters" or "pca"
    from_cache: bool  # rather than computed now


def obtain_layout(
    embedding: VectorTable,
    method: str = "auto",
    *,
    seed: int = 0,
    threads: int | None = None,
    watcher: Watcher | None = None,
) -> CachedLayout:
    """Return the layout of an embedding: from the cache if it is of these vectors, method and seed; else compute it.

    ``auto`` is ``clusters``. The same seed gives the same bits, for any number of threads. A computed layout is stored
    in the cache, except one by pca, which takes no time. An embedding that is not in a file has no cache, and a folder
    that cannot be written stores nothing.

    Examples
    --------
    >>> from graphrefine import Embedding
    >>> obtain_layout(Embedding(None, [[1, 0], [3, 0]]), "pca").coordinates.tolist()
    [[-1.0, 0.0], [1.0, 0.0]]
    """
    check_choice("method", method, METHODS)
    method, seed = "clusters" if method == "auto" else method, check_integer("seed", seed, least=0)
    cached = find_layout(embedding, method, seed=seed)
    if cached is not None:
        return CachedLayout(cached, method, from_cache=True)
    check_finite(embedding.vectors, embedding.names)
    coordinates, _ = compute_layout(embedding.vectors, method, seed=seed, threads=threads, stages=Stages(watcher))
    if method != "pca" and embedding.path is not None:
        folder = companions.companion(embedding.path, "map")
        # The folder of a newer version, or one that is no cache, stays: the next run computes the layout again.
        with contextlib.suppress(OSError):
            making = companions.replacing_companion(folder, FORMAT, VERSION, embedding, FILE, method=method, seed=seed)
            with making as hidden:
                save_npy(hidden / FILE, coordinates)
    return CachedLayout(coordinates, method, from_cache=False)


def find_layout(embedding: VectorTable, method: str, *, seed: int = 0) -> Floats | None:
    """Return the layout in the cache of an embedding; None unless it is of these vectors, method and seed."""
    if embedding.path is None:
        return None
    folder = companions.companion(embedding.path, "map")
    meta = companions.find_meta(folder, FORMAT, VERSION, embedding)
    if meta is None or (meta.get("method"), meta.get("seed")) != (method, seed):
        return None
    if not companions.is_whole(folder, meta, FILE):
        return None
    coordinates: Floats = np.load(folder / FILE, allow_pickle=False)
    return coordinates
