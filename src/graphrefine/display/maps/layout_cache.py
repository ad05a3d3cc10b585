"""Cache of layouts beside an embedding, in the folder NAME.map."""

from __future__ import annotations

import contextlib
import warnings
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.display.maps.layout import place_vectors, resolve_method
from graphrefine.embedding.table import check_finite
from graphrefine.errors import ArgumentWarning, OutputError
from graphrefine.progress import Stages, Watcher
from graphrefine.refine.settings import check_integer
from graphrefine.system import companions
from graphrefine.system.arrays import save_npy
from graphrefine.system.files import replacing_folder

if TYPE_CHECKING:
    from graphrefine.embedding.table import VectorTable

Floats = NDArray[np.float32]

MARK = "graphrefine map 1"  # a new number for a new layout of the same vectors
VERSION = 2  # of the folder; the first had no version and no digests, and is made anew
FILE = "coordinates.npy"


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
    watch: Watcher | None = None,
) -> CachedLayout:
    """The layout of an embedding: from the cache if it is of these vectors, method and seed; else computed and stored.

    An embedding that is not in a file has no cache, and a folder that cannot be written stores nothing. A layout by pca
    takes no time, and is not stored.

    Examples
    --------
    >>> from graphrefine import Embedding
    >>> obtain_layout(Embedding(None, [[1, 0], [3, 0]]), "pca").coordinates.tolist()
    [[-1.0, 0.0], [1.0, 0.0]]
    """
    method, seed = resolve_method(method), check_integer("seed", seed, least=0)
    cached = find_layout(embedding, method, seed=seed)
    if cached is not None:
        return CachedLayout(cached, method, from_cache=True)
    check_finite(embedding.vectors, embedding.names)
    coordinates, _ = place_vectors(embedding.vectors, method, seed=seed, threads=threads, stages=Stages(watch))
    if method != "pca" and embedding.path is not None:
        folder = companions.companion(embedding.path, "map")
        meta = {"format": MARK, "version": VERSION, "of": companions.stamp(embedding), "method": method, "seed": seed}
        ours = lambda place: companions.check_ours(place, MARK, FILE)
        try:
            companions.check_version(folder, MARK, VERSION)
        except OutputError as error:
            warnings.warn(ArgumentWarning(f"{error}; the layout was computed, and is not stored"), stacklevel=2)
            return CachedLayout(coordinates, method, from_cache=False)
        with contextlib.suppress(OSError), replacing_folder(folder, replaceable=ours, durable=False) as hidden:
            save_npy(hidden / FILE, coordinates)
            companions.write_meta(hidden, meta)
    return CachedLayout(coordinates, method, from_cache=False)


def find_layout(embedding: VectorTable, method: str, *, seed: int = 0) -> Floats | None:
    """The layout in the cache of an embedding; None unless it is of these vectors, method and seed."""
    if embedding.path is None:
        return None
    folder = companions.companion(embedding.path, "map")
    meta = companions.read_meta(folder, MARK)
    if meta is None or (meta.get("method"), meta.get("seed")) != (method, seed):
        return None
    if meta.get("version") != VERSION or not companions.is_current(meta.get("of"), embedding):
        return None
    if not companions.is_whole(folder, meta, FILE):
        return None
    try:
        coordinates: Floats = np.load(folder / FILE, allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return None
    fits = coordinates.shape == (len(embedding), 2) and coordinates.dtype == np.float32
    return coordinates if fits and np.isfinite(coordinates).all() else None
