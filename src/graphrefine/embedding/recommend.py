"""Top-N recommendation: the targets that score highest for a source, without those that are known already."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.embedding.state import StatefulVectors
from graphrefine.errors import InputError
from graphrefine.graph.graph import Graph
from graphrefine.graph.lookup import Unknown, quote_name, warn_skipped
from graphrefine.readers.objects import Kind, find_kind
from graphrefine.search.neighbors import LinkedRows, as_graph
from graphrefine.search.rankings import Ranking, Rankings, Recommendation
from graphrefine.search.vectors import check_origin
from graphrefine.system import as_plain
from graphrefine.system.checks import check_integer
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
    exclusions = Exclusions(table, exclude) if (rows >= 0).any() else None
    rankings = [
        Ranking() if row < 0 or exclusions is None else _rank_targets(table, row, int(k), exclusions.of(row))
        for row in rows.tolist()
    ]
    return rankings[0] if one else Rankings(rankings, [as_plain(name) for name in names], ("source", "target"))


def _rank_targets(table: StatefulVectors, row: int, k: int, excluded: list[int]) -> Ranking[Recommendation]:
    own = [] if table.sides.kind == "rows" else [row]
    target_scores = table.target @ table.source[row]
    top = best(target_scores, k, without=np.array([*excluded, *own], np.int64))
    pairs = zip(table.target_names[top].tolist(), target_scores[top].tolist(), strict=True)
    return Ranking(map(Recommendation._make, pairs))


def best(scores: NDArray[np.float32], count: int, *, without: Rows) -> Rows:
    """Return the rows of the highest scores, highest first, equal ones by row; `without` are left out.

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


class Exclusions:
    """The targets to leave out for a source: what `graphrefine.Embedding.recommend` takes, read once."""

    def __init__(self, table: StatefulVectors, exclude: Any) -> None:
        self._table = table
        self._by_source: Mapping[Any, Any] | None = None
        self._for_all: list[int] | None = None
        self._linked: LinkedRows | None = None
        if isinstance(exclude, Mapping) and not (_is_text_keyed(exclude) and find_pair(list(exclude))):
            _check_sources(table, exclude)
            self._by_source = exclude
            return
        if not isinstance(exclude, Graph | PathLike) and _find_kind(exclude).may_be_names:
            exclude = exclude if len(getattr(exclude, "shape", ())) == 2 else list(exclude)
            if isinstance(exclude, list) and not (exclude and _is_pair(table, exclude[0])):
                self._for_all = _find_targets(table, exclude)
                return
        self._linked = LinkedRows(table, as_graph(table, exclude))

    def of(self, row: int) -> list[int]:
        """Return the rows of the targets to leave out for the source in this row."""
        if self._for_all is not None:
            return self._for_all
        if self._by_source is not None:
            return _find_targets(self._table, _listed_targets(self._table.source_names.item(row), self._by_source))
        assert self._linked is not None
        linked = self._linked.of(np.array([row]))[0] - self._table.sides.first("target")
        return [at for at in linked.tolist() if at >= 0]


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


def _is_text_keyed(mapping: Mapping[Any, Any]) -> bool:
    return all(isinstance(key, str) for key in mapping)


def _check_sources(table: StatefulVectors, mapping: Mapping[Any, Any]) -> None:
    """Refuse a mapping of which no key is a source."""
    if mapping and not any(table.lookup.find(key, "source") is not None for key in mapping):
        raise InputError(
            f"exclude=: no key of the mapping, such as {next(iter(mapping))!r}, is a source; "
            f"sources are such as {quote_name(table.source_names[0])}",
            argument="exclude",
        )


def _listed_targets(source: Any, mapping: Mapping[Any, Any]) -> list[Any]:
    """Return the targets that a mapping has for a source; InputError if they are no list."""
    targets = mapping.get(source, ())
    if isinstance(targets, str | bytes) or not isinstance(targets, Iterable):
        raise InputError(f"exclude=: {source!r} has {targets!r}; a list of targets is expected", argument="exclude")
    return list(targets)


def _is_pair(table: StatefulVectors, value: Any) -> bool:
    """Whether this is (source, target), with a weight or without, rather than the name of a node."""
    return isinstance(value, tuple | list) and len(value) in (2, 3) and not table.lookup.is_name(value)
