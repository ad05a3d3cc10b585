"""Top-N recommendation: the targets that score highest for a source, without those that are known already."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import InputError
from graphrefine.vectors.lookup import Name
from graphrefine.vectors.table import VectorTable

if TYPE_CHECKING:
    from graphrefine.graph.graph import Graph

Rows = NDArray[np.int64]


def recommend(table: VectorTable, source: Name, n: int, *, exclude: Any) -> list[tuple[int | str, float]]:
    """The targets with the highest score for a source; see `graphrefine.Embedding.recommend`."""
    if not isinstance(n, int) or n < 1:
        raise InputError(f"n={n!r}: a positive number of recommendations is expected", argument="n")
    row = table.lookup.row(source, "source")
    rows = [table.lookup.find(name, "target") for name in excluded_names(exclude, source)]
    without = [at for at in rows if at is not None] + ([] if table.sides.kind == "rows" else [row])
    target_scores = table.target @ table.source[row]
    top = best(target_scores, n, without=np.array(without, np.int64))
    return list(zip(table.target_names[top].tolist(), target_scores[top].tolist(), strict=True))


def best(scores: NDArray[np.float32], count: int, *, without: Rows) -> Rows:
    """The rows of the highest scores, highest first, equal ones by row; `without` are left out.

    Examples
    --------
    >>> best(np.array([3.0, 9.0, 5.0, 5.0], np.float32), 2, without=np.array([1])).tolist()
    [2, 3]
    """
    rows = np.delete(np.arange(len(scores)), without)
    if len(rows) > count:  # those at or above the last one that is wanted: few, unless most are equal
        least = np.partition(scores[rows], len(rows) - count)[len(rows) - count]
        rows = rows[scores[rows] >= least]
    order = np.argsort(-scores[rows], kind="stable")
    return rows[order][:count]


def linked_targets(graph: Graph, source: Any) -> list[Any]:
    """The names of the nodes to which a graph has an edge from this one; none if the graph does not have it.

    Examples
    --------
    >>> from graphrefine.readers.read import read
    >>> linked_targets(read([(1, 1), (1, 7), (2, 7)], bipartite=True), 1)
    [1, 7]
    """
    names = graph.names[: graph.sources]
    rows = np.flatnonzero(names == source)
    if not len(rows):
        return []
    row = int(rows[0])
    targets: list[Any] = graph.names[graph.indices[graph.indptr[row] : graph.indptr[row + 1]]].tolist()
    return targets


def excluded_names(exclude: Any, source: Any) -> list[Any]:
    """The names that are not to be recommended, from what was given: a graph, or names."""
    if hasattr(exclude, "indptr") and hasattr(exclude, "names"):
        return linked_targets(exclude, source)
    if isinstance(exclude, str | bytes) or not isinstance(exclude, Iterable):
        raise InputError(
            f"exclude={exclude!r}: give the names that are not wanted, or the graph that has them", argument="exclude"
        )
    return list(exclude)
