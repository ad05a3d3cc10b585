"""Adjacency: rows of a graph, merged from edges with numbered ends; their weights checked and summed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import InputError
from graphrefine.graph.node_ids import Numbered
from graphrefine.kernels import edge_lists


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
    rows = edge_lists.build_rows(len(names), first, second, weights=weights, directed=directed, threads=threads)
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


def sums_of_rows(indptr: NDArray[np.int64], weights: NDArray[np.float32] | None) -> NDArray[np.float64]:
    """Sum of the weights of each row of CSR, ones where None.  # (n,)."""
    counts = np.diff(indptr)
    if weights is None:
        return counts.astype(np.float64)
    sums = np.zeros(len(counts))
    filled = counts > 0  # reduceat would give an empty row its neighbour's first weight
    if filled.any():
        sums[filled] = np.add.reduceat(weights, indptr[:-1][filled], dtype=np.float64)
    return sums


def inverses(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """1 over each value; 0 where it is 0."""
    return np.divide(1.0, values, out=np.zeros_like(values), where=values > 0)


def check_weights(weights: NDArray[Any], count: int, *, before: int = 0) -> NDArray[np.float32]:
    """Weights as float32, or an error that names the first that is not finite or is negative.

    ``before`` is the number of records before these.
    """
    if weights.shape != (count,):
        raise InputError(
            f"weights must be one for each of the {count} edges, not of shape {weights.shape}", argument="weights"
        )
    if weights.dtype.kind not in "iufb":
        try:
            weights = weights.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(f"weights must be numbers: {error}", argument="weights") from None
    with np.errstate(over="ignore", under="ignore"):
        values = np.ascontiguousarray(weights, dtype=np.float32)
    bad = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
    if bad.size:
        raise InputError(
            f"record {before + bad[0] + 1}: weight {weights[bad[0]]} is not allowed; "
            "weights must be finite float32 numbers and not negative",
            argument="weights",
        )
    return values
