"""Adjacency: the checked rows of a graph, merged from edges with numbered ends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import InputError
from graphrefine.graph.node_ids import Numbered
from graphrefine.kernels import ingest


class Adjacency(NamedTuple):
    """The fields of a `Graph` that its edges decide; `Graph` describes them."""

    indptr: NDArray[np.int64]  # (n + 1,)
    indices: NDArray[np.int32]  # (entries,)
    weights: NDArray[np.float32] | None  # (entries,)
    names: NDArray[Any]  # (n,)
    directed: bool
    report: Mapping[str, Any]
    sources: int | None = None


def merge_edges(
    numbered: Numbered,
    weights: NDArray[np.float32] | None,
    *,
    directed: bool,
    threads: int,
    report: Mapping[str, Any] | None = None,
    sources: int | None = None,
) -> Adjacency:
    """Merge numbered edges into rows. The arrays are trusted: the reader checked them.

    Examples
    --------
    >>> ends = np.array([0, 0, 1], np.int32), np.array([1, 1, 0], np.int32)
    >>> rows = merge_edges((*ends, np.array(["a", "b"], object)), None, directed=False, threads=1)
    >>> rows.indices.tolist(), rows.weights.tolist(), rows.report["duplicates"]
    ([1, 0], [2.0, 2.0], 1)
    """
    first, second, names = numbered
    rows = ingest.build_rows(len(names), first, second, weights=weights, directed=directed, threads=threads)
    missing, loops, zeros, arcs, reciprocal = rows.tally
    merged = rows.weights
    if merged is not None and not np.isfinite(merged).all():
        raise InputError("the weights of an edge's duplicates add up to more than float32 can hold", argument="weights")
    counts = {
        "records": len(first),
        "self_loops": loops,
        "duplicates": len(first) - missing - loops - zeros - arcs,
        "reciprocal": reciprocal,
        "zero_weights": zeros,
        "missing": missing,
    }
    if merged is not None and bool((merged == 1).all()):
        merged = None
    return Adjacency(rows.indptr, rows.indices, merged, names, directed, {**counts, **(report or {})}, sources)
