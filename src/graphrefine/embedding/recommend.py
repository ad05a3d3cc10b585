"""Top-N recommendation: the targets that score highest for a source, without those that are known already."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.embedding.state import StatefulVectors
from graphrefine.errors import InputError
from graphrefine.graph.graph import Graph
from graphrefine.graph.lookup import Unknown, quote_name, warn_skipped
from graphrefine.kernels.nearest import ExcludedRows, nearest
from graphrefine.readers.objects import Kind, find_kind
from graphrefine.search.neighbors import LinkedRows, as_graph
from graphrefine.search.rankings import Ranking, Rankings, Recommendation
from graphrefine.search.vectors import check_origin
from graphrefine.system import as_plain
from graphrefine.system.checks import check_integer
from graphrefine.system.threads import usable_threads
from graphrefine.tables.vocabulary import find_pair

Rows = NDArray[np.int64]


def recommend(
    table: StatefulVectors, nodes: Any, k: int, *, exclude: Any, unknown: Unknown = "error"
) -> Ranking[Recommendation] | Rankings[Recommendation]:
    """Return the targets with the highest scores for sources; see `graphrefine.Embedding.recommend`."""
    check_integer("k", k, least=1)
    check_origin(table, "recommend", instead="ask for neighbors(score='dot')")
    one = table.lookup.is_name(nodes)
    names = [nodes] if one else list(nodes)
    rows = table.lookup.rows(names, "source", unknown=unknown)
    warn_skipped([names[at] for at in np.flatnonzero(rows < 0)], len(names), stacklevel=4)
    known = rows[rows >= 0]
    lists = iter(_rank_targets(table, known, int(k), exclude) if len(known) else [])
    rankings = [Ranking[Recommendation]() if row < 0 else next(lists) for row in rows.tolist()]
    return rankings[0] if one else Rankings(rankings, [as_plain(name) for name in names], ("source", "target"))


def _rank_targets(table: StatefulVectors, rows: Rows, k: int, exclude: Any) -> list[Ranking[Recommendation]]:
    exclusions = find_exclusions(table, exclude)
    own = table.sides.kind != "rows"  # then a source is a target too, and is never recommended to itself
    excluded = [np.unique(np.array([*exclusions(row), *[row] * own], np.int64)) for row in rows.tolist()]
    # All sources are one search: the targets, perhaps mapped, are read once. The kernel needs whole rows, and the
    # targets of a directed graph are halves of the vectors.
    targets = np.ascontiguousarray(table.target)
    queries = np.ascontiguousarray(table.source[rows])
    without, threads = ExcludedRows.from_lists(excluded), usable_threads(None)
    best = nearest(queries, targets, min(k, len(targets)), excluded_rows=without, threads=threads)
    return [
        Ranking(map(Recommendation, table.target_names[found[found >= 0]].tolist(), scores[found >= 0].tolist()))
        for found, scores in zip(best.rows, best.scores, strict=True)
    ]


def find_exclusions(table: StatefulVectors, exclude: Any) -> Callable[[int], list[int]]:
    """Read the targets to leave out, and return a function from the row of a source to the rows of its targets."""
    is_frame = isinstance(exclude, Mapping) and all(isinstance(key, str) for key in exclude)
    if isinstance(exclude, Mapping) and not (is_frame and find_pair(list(exclude))):
        if exclude and not any(table.lookup.find(key, "source") is not None for key in exclude):
            raise InputError(
                f"exclude=: no key of the mapping, such as {next(iter(exclude))!r}, is a source; "
                f"sources are such as {quote_name(table.source_names[0])}",
                argument="exclude",
            )
        return lambda row: _find_targets(table, _listed_targets(table.source_names.item(row), exclude))
    if not isinstance(exclude, Graph | PathLike) and _find_kind(exclude).may_be_names:
        exclude = exclude if len(getattr(exclude, "shape", ())) == 2 else list(exclude)
        first = exclude[0] if isinstance(exclude, list) and exclude else None
        is_pair = isinstance(first, tuple | list) and len(first) in (2, 3) and not table.lookup.is_name(first)
        if isinstance(exclude, list) and not is_pair:
            for_all = _find_targets(table, exclude)
            return lambda _: for_all
    linked, start = LinkedRows(table, as_graph(table, exclude)), table.sides.first("target")
    return lambda row: [at - start for at in linked.of(np.array([row]))[0].tolist() if at >= start]


def _find_kind(exclude: Any) -> Kind:
    """Return the kind of object, names or edges; InputError if it is neither."""
    try:
        return find_kind(exclude)
    except InputError:
        raise InputError(
            f"exclude={exclude!r}: give a list of targets, the graph or the table of pairs (source, target) that has "
            "them, or a mapping of sources to targets",
            argument="exclude",
        ) from None


def _find_targets(table: StatefulVectors, names: Iterable[Any]) -> list[int]:
    """Return the rows of the names that are targets; others cannot be recommended anyway."""
    rows = (table.lookup.find(name, "target") for name in names)
    return [row for row in rows if row is not None]


def _listed_targets(source: Any, mapping: Mapping[Any, Any]) -> list[Any]:
    """Return the targets that a mapping has for a source; InputError if they are no list."""
    targets = mapping.get(source, ())
    if isinstance(targets, str | bytes) or not isinstance(targets, Iterable):
        raise InputError(f"exclude=: {source!r} has {targets!r}; a list of targets is expected", argument="exclude")
    return list(targets)
