"""A map as a parquet file that Embedding Atlas opens.

``embedding-atlas map.parquet --x x --y y --neighbors neighbors --text id`` shows it.

A row for each node: ``id`` its name, ``x`` and ``y``, ``label`` its class and ``degree`` where they are known, and
``neighbors``, a struct of ``ids``, which are rows counted from 0, and ``distances``, 1 minus the cosine, nearest first.
Rows without neighbours, as those of zero vectors, have -1.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.maps.nearest import COUNT, nearest
from graphrefine.progress import Stages
from graphrefine.system.threads import usable_threads

if TYPE_CHECKING:
    from graphrefine.maps.map import Map

FARTHEST = 2.0  # the largest distance: beside -1


def write_table(drawn: Map, path: Path, *, threads: int | None = None) -> None:
    """Write the map as parquet."""
    import pyarrow as pa
    from pyarrow import parquet

    columns: dict[str, Any] = {
        "id": pa.array(_texts(drawn.names)),
        "x": pa.array(drawn.coordinates[:, 0]),
        "y": pa.array(drawn.coordinates[:, 1]),
    }
    if drawn.classes is not None:
        codes = pa.array(drawn.classes.codes, mask=drawn.classes.codes < 0)
        classes = pa.array([*drawn.classes.names], pa.string())
        columns["label"] = pa.DictionaryArray.from_arrays(codes, classes).cast(pa.string())
    if drawn.degrees is not None:
        columns["degree"] = pa.array(np.asarray(drawn.degrees))
    if drawn.vectors is not None:
        columns["neighbors"] = _neighbours(drawn.vectors, usable_threads(threads))
    parquet.write_table(pa.table(columns), path, compression="zstd")


def _texts(names: NDArray[Any]) -> Any:
    """Names as Arrow takes them: what was not valid UTF-8 in its file with a replacement sign."""
    if names.dtype != object:
        return names
    return [name.encode("utf-8", "replace").decode() for name in names.tolist()]


def _neighbours(vectors: NDArray[np.float32], threads: int) -> Any:
    import pyarrow as pa

    points = np.flatnonzero(vectors.any(axis=1))
    k = max(1, min(COUNT, len(points) - 1))
    ids, distances = np.full((len(vectors), k), -1, np.int32), np.full((len(vectors), k), FARTHEST, np.float32)
    if len(points) > 1:
        near = nearest(vectors, points, threads=threads, stages=Stages())
        ids[points] = np.where(near.rows >= 0, points[near.rows], -1)
        distances[points] = np.where(near.rows >= 0, 1 - near.cosines, FARTHEST)
    ends = pa.array(np.arange(0, k * (len(vectors) + 1), k, dtype=np.int32))
    lists = (pa.ListArray.from_arrays(ends, pa.array(each.ravel())) for each in (ids, distances))
    return pa.StructArray.from_arrays([*lists], names=["ids", "distances"])
