"""`layout`: places of vectors in the plane, by one of the methods."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphrefine.errors import InputError
from graphrefine.kernels import kernels
from graphrefine.maps.clusters import lay_out_clusters
from graphrefine.maps.nearest import Neighbors
from graphrefine.maps.principal import project
from graphrefine.maps.rescale import rescale
from graphrefine.progress import Stages, Watcher
from graphrefine.system.threads import usable_threads
from graphrefine.vectors.table import as_vectors, check_finite

METHODS = ("auto", "clusters", "pca")
PATIENCE = 50_000  # points beyond which clusters without compiled kernels take too long

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
        See `graphrefine.maps`; ``auto`` is ``clusters``, or ``pca`` for more than 50,000 points without compiled
        kernels.
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
    return place_vectors(rows, resolve_method(method, len(rows)), seed=seed, threads=threads, stages=Stages(watch))[0]


def resolve_method(method: str, n: int) -> str:
    """The method by name; ``auto`` depends on the number of points."""
    if method not in METHODS:
        raise InputError(f"method={method!r} is not known; maps are made by {', '.join(METHODS)}")
    if method != "auto":
        return method
    return "pca" if n > PATIENCE and kernels().name == "scipy" else "clusters"


def place_vectors(
    vectors: Floats, method: str, *, seed: int, threads: int | None, stages: Stages
) -> tuple[Floats, tuple[Neighbors, NDArray[Any]] | None]:
    """Coordinates; and of clusters, the neighbours and the rows that they are numbered by."""
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
