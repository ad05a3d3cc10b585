"""Named vectors: what search and maps need of an embedding, and the checks of vectors that all of them share."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphrefine.errors import InputError
from graphrefine.graph.lookup import Lookup, Sides
from graphrefine.graph.node_ids import Names

# The file formats that keep degrees and the sides of a graph; `embedding.formats.FORMATS` is held to it by a test.
STATE_FORMATS = ("folder", "npz", "parquet", "arrow", "safetensors", "pgvector")

Stamp = dict[str, Any]  # of vectors: nodes, dim, crc32; size and mtime_ns of their file where there is one


class VectorTable(Protocol):
    """Rows of float32 with names; `graphrefine.Embedding` is one, and the search knows no more of it than this."""

    names: Names  # (n,)
    vectors: NDArray[np.float32]  # (n, k), in memory or mapped
    recipe: dict[str, Any]
    sides: Sides
    path: Path | None  # the file that the vectors were loaded from; an index or a map is kept next to it
    file_stamp: Stamp | None  # size and time of that file when it was opened
    is_bare: bool  # whether that file has names and numbers alone, so that nothing says what their graph was

    def __len__(self) -> int: ...

    @property
    def dim(self) -> int:
        """Length of a vector."""

    @property
    def lookup(self) -> Lookup:
        """Rows by the names of their nodes."""

    @property
    def degrees(self) -> NDArray[np.float32] | None:
        """Number of neighbors of each node; None if not known.  # (n,)."""

    @property
    def degree_weight(self) -> float:
        """Weight of the degrees in a score."""

    @property
    def source(self) -> NDArray[np.float32]:
        """Vectors of nodes as sources."""

    @property
    def target(self) -> NDArray[np.float32]:
        """Vectors of nodes as targets."""

    @property
    def source_names(self) -> NDArray[Any]:
        """The node of each row of `source`."""

    @property
    def target_names(self) -> NDArray[Any]:
        """The node of each row of `target`."""


def check_origin(table: VectorTable, use: str, *, instead: str, argument: str | None = None) -> None:
    """Refuse a use that needs degrees and sides where the vectors come from a file that keeps neither."""
    if table.is_bare:
        raise InputError(
            f"{table.path}: {use} needs the degrees, and whether edges have a direction or two sides, and the file "
            f"does not say; take a format that keeps them ({', '.join(STATE_FORMATS)}), or {instead}",
            argument=argument,
        )


def has_finite_sum(vectors: NDArray[np.float32]) -> bool:
    """Return whether the sum of all numbers is finite: then each of them is."""
    # 15 times as fast as a look at each, and without an array of truth values.
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(vectors.sum()))


def check_finite(vectors: NDArray[np.float32], names: Names) -> None:
    """Raise InputError, which names the node, if a number of its vector is NaN or infinite."""
    if has_finite_sum(vectors):
        return
    # Large finite numbers can add up to infinity, so only a look at each row decides.
    for row, vector in enumerate(vectors):
        if not np.isfinite(vector).all():
            bad, name = vector[~np.isfinite(vector)][0], names.tolist()[row]
            raise InputError(f"the vector of node {name!r} (row {row}) has {bad}, not a number")


def as_vectors(vectors: ArrayLike) -> NDArray[np.float32]:
    """Return vectors as float32 (n, k), not copied if they are that."""
    try:
        with np.errstate(over="ignore"):
            array = np.ascontiguousarray(vectors, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise InputError(f"vectors cannot be made an array of float32: {error}") from error
    if np.ndim(vectors) != 2:
        raise InputError(f"vectors has the shape {np.shape(vectors)}; it must be (nodes, dim)")
    return array


def log_degrees(degrees: NDArray[Any]) -> NDArray[np.float64]:
    """Return the logarithm of degrees; a node without edges counts as one of half a neighbor."""
    logs: NDArray[np.float64] = np.log(np.maximum(degrees, 0.5), dtype=np.float64)
    return logs
