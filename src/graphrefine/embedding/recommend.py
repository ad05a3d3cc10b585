"""Top-N recommendation: the targets that score highest for a source, without those that are known already."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import InputError
from graphrefine.graph.graph import Graph
from graphrefine.graph.lookup import Name, Unknown, quote_name, warn_skipped
from graphrefine.readers.layout import find_pair
from graphrefine.readers.objects import Kind, find_kind
from graphrefine.search.neighbors import as_graph, linked_rows
from graphrefine.system import as_plain
from graphrefine.vectors.table import VectorTable

Rows = NDArray[np.int64]


def recommend(
    table: VectorTable, source: Name, n: int, *, exclude: Any, unknown: Unknown = "error"
) -> list[tuple[Any, float]]:
    """The targets with the highest score for a source; see `graphrefine.Embedding.recommend`."""
    n = as_plain(n)
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise InputError(f"n={n!r}: a positive number of recommendations is expected", argument="n")
    (row,) = table.lookup.rows([source], "source", unknown=unknown).tolist()
    if row < 0:
        warn_skipped([source], 1, stacklevel=4)
        return []
    own = [] if table.sides.kind == "rows" else [row]
    without = np.array([*find_excluded(table, row, exclude), *own], np.int64)
    target_scores = table.target @ table.source[row]
    top = best(target_scores, n, without=without)
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


def find_excluded(table: VectorTable, row: int, exclude: Any) -> list[int]:
    """The rows of targets that are not to be recommended to the source in this row."""
    source = table.source_names.item(row)
    if isinstance(exclude, Mapping) and not (_is_text_keyed(exclude) and find_pair(list(exclude))):
        return _find_targets(table, _listed_targets(table, source, exclude))
    if not isinstance(exclude, Graph | PathLike) and _find_kind(exclude).may_be_names:
        exclude = exclude if len(getattr(exclude, "shape", ())) == 2 else list(exclude)
        if isinstance(exclude, list) and not (exclude and _is_pair(table, exclude[0])):
            return _find_targets(table, exclude)
    linked = linked_rows(table, np.array([row]), as_graph(table, exclude))[0] - table.sides.first("target")
    return [at for at in linked.tolist() if at >= 0]


def _find_kind(exclude: Any) -> Kind:
    """The kind of object, names or edges; InputError if it is neither."""
    try:
        return find_kind(exclude)
    except InputError:
        raise InputError(
            f"exclude={exclude!r}: give a list of targets, the graph or the table of pairs (source, target) that has "
            "them, or a mapping of sources to targets",
            argument="exclude",
        ) from None


def _find_targets(table: VectorTable, names: Iterable[Any]) -> list[int]:
    """The rows of the names that are targets; others cannot be recommended anyway."""
    rows = (table.lookup.find(name, "target") for name in names)
    return [row for row in rows if row is not None]


def _is_text_keyed(mapping: Mapping[Any, Any]) -> bool:
    return all(isinstance(key, str) for key in mapping)


def _listed_targets(table: VectorTable, source: Any, mapping: Mapping[Any, Any]) -> list[Any]:
    """The targets that a mapping has for a source; InputError if its keys are no sources, or its values no lists."""
    if mapping and not any(table.lookup.find(key, "source") is not None for key in mapping):
        raise InputError(
            f"exclude=: no key of the mapping, such as {next(iter(mapping))!r}, is a source; "
            f"sources are such as {quote_name(table.source_names[0])}",
            argument="exclude",
        )
    targets = mapping.get(source, ())
    if isinstance(targets, str | bytes) or not isinstance(targets, Iterable):
        raise InputError(f"exclude=: {source!r} has {targets!r}; a list of targets is expected", argument="exclude")
    return list(targets)


def _is_pair(table: VectorTable, value: Any) -> bool:
    """Whether this is (source, target), with a weight or without, rather than the name of a node."""
    return isinstance(value, tuple | list) and len(value) in (2, 3) and not table.lookup.is_name(value)
