"""A map as a parquet file that Embedding Atlas opens.

``embedding-atlas map.parquet --x x --y y --neighbors neighbors --text id`` shows it.

A row for each node: ``id`` its name, ``x`` and ``y``, ``label`` its class and ``degree`` if the map has them, and
``neighbors``, a struct of ``ids``, which are rows counted from 0, and ``distances``, 1 minus the cosine, nearest first.
Rows without neighbors, as those of zero vectors, have -1.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.display.maps.nearest import COUNT, find_nearest
from graphrefine.display.maps.points import MapPoints
from graphrefine.progress import Stages
from graphrefine.system.threads import usable_threads

FARTHEST = 2.0  # the largest distance: beside -1


def write_table(node_map: MapPoints, path: Path, *, threads: int | None = None) -> None:
    """Write the map as parquet."""
    import pyarrow as pa
    from pyarrow import parquet

    columns: dict[str, Any] = {
        "id": pa.array(_texts(node_map.names)),
        "x": pa.array(node_map.coordinates[:, 0]),
        "y": pa.array(node_map.coordinates[:, 1]),
    }
    if node_map.classes is not None:
        codes = pa.array(node_map.classes.codes, mask=node_map.classes.codes < 0)
        classes = pa.array([*node_map.classes.names], pa.string())
        columns["label"] = pa.DictionaryArray.from_arrays(codes, classes).cast(pa.string())
    if node_map.degrees is not None:
        columns["degree"] = pa.array(np.asarray(node_map.degrees))
    if node_map.vectors is not None:
        columns["neighbors"] = _neighbor_lists(node_map.vectors, usable_threads(threads))
    parquet.write_table(pa.table(columns), path, compression="zstd")


def _texts(names: NDArray[Any]) -> Any:
    """Names as Arrow takes them: bytes that were not UTF-8 become a replacement sign."""
    if names.dtype != object:
        return names
    return [str(name).encode("utf-8", "replace").decode() for name in names.tolist()]


def _neighbor_lists(vectors: NDArray[np.float32], threads: int) -> Any:
    import pyarrow as pa

    points = np.flatnonzero(vectors.any(axis=1))
    k = max(1, min(COUNT, len(points) - 1))
    ids, distances = np.full((len(vectors), k), -1, np.int32), np.full((len(vectors), k), FARTHEST, np.float32)
    if len(points) > 1:
        neighbors = find_nearest(vectors, points, threads=threads, stages=Stages())
        ids[points] = np.where(neighbors.rows >= 0, points[neighbors.rows], -1)
        distances[points] = np.where(neighbors.rows >= 0, 1 - neighbors.cosines, FARTHEST)
    ends = pa.array(np.arange(0, k * (len(vectors) + 1), k, dtype=np.int32))
    lists = (pa.ListArray.from_arrays(ends, pa.array(each.ravel())) for each in (ids, distances))
    return pa.StructArray.from_arrays([*lists], names=["ids", "distances"])
