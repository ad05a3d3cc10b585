"""Layouts kept beside an embedding, in the folder NAME.map, so that they need not be made again."""

from __future__ import annotations

import contextlib
import json
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import OutputError
from graphrefine.maps.layout import choose, placed
from graphrefine.progress import Stages, Watcher
from graphrefine.system.files import replacing_folder
from graphrefine.vectors import companions as beside
from graphrefine.vectors.checks import check_finite

if TYPE_CHECKING:
    from graphrefine.vectors.table import VectorTable

Floats = NDArray[np.float32]

MARK = "graphrefine map 1"  # another number where the same vectors would be laid out otherwise
FILE = "coordinates.npy"


class Kept(NamedTuple):
    """A layout."""

    coordinates: Floats  # (n, 2)
    method: str  # "clusters" or "pca"
    found: bool  # beside the embedding, rather than made now


def kept_layout(
    embedding: VectorTable,
    method: str = "auto",
    *,
    seed: int = 0,
    threads: int | None = None,
    watch: Watcher | None = None,
) -> Kept:
    """The layout that is kept beside an embedding if it is of these vectors, method and seed; else made, and kept.

    An embedding that is not in a file has nothing beside it, and a folder that cannot be written keeps nothing. A
    layout by pca is made in no time, and not kept.

    Examples
    --------
    >>> from graphrefine import Embedding
    >>> kept_layout(Embedding(None, [[1, 0], [3, 0]]), "pca").coordinates.tolist()
    [[-1.0, 0.0], [1.0, 0.0]]
    """
    method = choose(method, len(embedding))
    found = find_layout(embedding, method, seed=seed)
    if found is not None:
        return Kept(found, method, found=True)
    check_finite(embedding.vectors, embedding.names)
    made, _ = placed(embedding.vectors, method, seed=seed, threads=threads, stages=Stages(watch))
    if method != "pca" and embedding.path is not None:
        with contextlib.suppress(OutputError):
            _keep(embedding, made, method, seed)
    return Kept(made, method, found=False)


def find_layout(embedding: VectorTable, method: str, *, seed: int = 0) -> Floats | None:
    """The layout that is kept beside an embedding, if there is such a one of these vectors."""
    if embedding.path is None:
        return None
    folder = beside.companion(embedding.path, "map")
    meta = beside.read_meta(folder, MARK)
    if meta is None or (meta.get("method"), meta.get("seed")) != (method, seed):
        return None
    if not beside.is_current(meta.get("of"), embedding):
        return None
    try:
        found = np.load(folder / FILE, allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return None
    whole = found.shape == (len(embedding), 2) and found.dtype == np.float32 and np.isfinite(found).all()
    return found if whole else None


def _keep(embedding: VectorTable, made: Floats, method: str, seed: int) -> None:
    if embedding.path is None:
        return
    folder = beside.companion(embedding.path, "map")
    meta = {"format": MARK, "of": beside.stamp(embedding), "method": method, "seed": seed}
    with replacing_folder(folder, replaceable=partial(beside.check_ours, mark=MARK)) as hidden:
        np.save(hidden / FILE, made)
        (hidden / beside.META).write_text(json.dumps(meta, indent=2), encoding="utf-8")
