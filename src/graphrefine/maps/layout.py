"""`layout`: vectors to points in the plane, by one of the methods."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphrefine.errors import InputError
from graphrefine.kernels import kernels
from graphrefine.maps.clusters import clusters
from graphrefine.maps.nearest import Near
from graphrefine.maps.principal import principal
from graphrefine.maps.rescale import framed
from graphrefine.progress import Stages, Watcher
from graphrefine.system.threads import usable_threads
from graphrefine.vectors.checks import as_vectors, check_finite

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
        See `graphrefine.maps`; ``auto`` is ``clusters``, or ``pca`` where there are more than 50,000 points and no
        compiled kernels.
    seed : int
        The same seed gives the same bits, for any number of threads.
    threads : int, optional
        At most so many; all cores if not given.
    watch : Watcher, optional
        Is told about the stages.

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
    return placed(rows, choose(method, len(rows)), seed=seed, threads=threads, stages=Stages(watch))[0]


def choose(method: str, n: int) -> str:
    """The method that is meant, for so many points."""
    if method not in METHODS:
        raise InputError(f"method={method!r} is not known; maps are made by {', '.join(METHODS)}")
    if method != "auto":
        return method
    return "pca" if n > PATIENCE and kernels().name == "scipy" else "clusters"


def placed(
    vectors: Floats, method: str, *, seed: int, threads: int | None, stages: Stages
) -> tuple[Floats, tuple[Near, NDArray[Any]] | None]:
    """Coordinates; and, where the method found them, neighbours and the rows that they are numbered by."""
    threads = usable_threads(threads)
    points = np.flatnonzero(_directed(vectors))
    if method == "pca":
        with stages.stage("layout"):
            return framed(principal(vectors, points, threads=threads), points, len(vectors)), None
    found, near = clusters(vectors, points, seed=seed, threads=threads, stages=stages)
    return framed(found, points, len(vectors)), (near, points)


def _directed(vectors: Floats) -> NDArray[np.bool_]:
    """Which rows have a direction, some rows at a time."""
    out = np.empty(len(vectors), np.bool_)
    for start in range(0, len(vectors), 1 << 16):
        out[start : start + (1 << 16)] = vectors[start : start + (1 << 16)].any(axis=1)
    return out
