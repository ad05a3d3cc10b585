"""Edges of new nodes of a directed or bipartite graph, read and checked: each has a node at one end that is known.

Edges are listed as in the graph: from a source to a target. So one that leads from a new user to a known item tells of
the user, one from a known user to a new item tells of the item, and of a directed graph arcs out of and into a new node
do. Edges between new nodes count too, if each of them has a known neighbor: else a name that was misspelt would become
a node.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.embedding.fold_in import Links
from graphrefine.embedding.side_maps import NewSide
from graphrefine.embedding.table import VectorTable
from graphrefine.errors import InputError
from graphrefine.graph.lookup import SIDES, Lookup, Side, Unknown, quote_name
from graphrefine.graph.node_ids import is_text, name_array
from graphrefine.readers.read import read

if TYPE_CHECKING:
    from graphrefine.graph.graph import Graph

MOST_NAMES = 5  # of nodes that were left out, in the recipe

Rows = NDArray[np.int64]


class NewSides(NamedTuple):
    """New nodes, and the other ends of their edges by side."""

    names: NDArray[Any]  # (m,): of a bipartite graph the new sources, then the new targets
    degrees: Rows  # (m,)
    links: dict[Side, NewSide]
    skipped: dict[str, Any] | None


class Arcs(NamedTuple):
    """Edges from sources to targets, by the node of the graph that was read."""

    source: Rows
    target: Rows
    weights: NDArray[np.float32]

    def pick(self, mask: NDArray[np.bool_]) -> Arcs:
        """Some of them."""
        return Arcs(self.source[mask], self.target[mask], self.weights[mask])


def read_new_sides(edges: Any, table: VectorTable, *, unknown: Unknown = "error", **reading: Any) -> NewSides:
    """Edges (source, target) or (source, target, weight), of which one end at least is new.

    Examples
    --------
    >>> from graphrefine import Embedding
    >>> shop = Embedding(["ann", "tea", "cake"], [[1, 2], [1, 0], [1, 1]], {"sides": "rows", "sources": 1})
    >>> new = read_new_sides([("bob", "tea"), ("bob", "cake"), ("ann", "beer")], shop)
    >>> new.names.tolist(), new.links["source"].links.indices.tolist(), new.links["target"].links.indices.tolist()
    (['bob', 'beer'], [1, 0], [0])
    """
    if unknown not in ("error", "skip"):
        raise InputError(f"unknown={unknown!r} is not known; it is 'error' or 'skip'", argument="unknown")
    bipartite = table.sides.kind == "rows"
    kind = {"bipartite": True} if bipartite else {"directed": True}
    graph = read(edges, **{**{name: value for name, value in reading.items() if name != "directed"}, **kind})
    names = in_the_same_words(graph.names, table.lookup)
    row = _find_rows(graph, names, table)
    arcs = _list_arcs(graph)
    both = np.flatnonzero((row[arcs.source] >= 0) & (row[arcs.target] >= 0))
    if len(both):
        ends = [quote_name(names[int(side[both[0]])]) for side in (arcs.source, arcs.target)]
        raise InputError(
            f"{graph.source}: {ends[0]} and {ends[1]} both have vectors already; each edge must have a new node at one "
            "end. To change known nodes, embed the whole graph anew and align_to the old vectors"
        )
    beside = np.zeros(graph.nodes, np.bool_)  # nodes with a known neighbor
    beside[arcs.source[row[arcs.target] >= 0]] = True
    beside[arcs.target[row[arcs.source] >= 0]] = True
    lost = np.flatnonzero((row < 0) & ~beside & ~graph.without_edges())
    if len(lost) and unknown == "error":
        raise _lost_error(graph, names, lost, table)
    apart = np.isin(arcs.source, lost) | np.isin(arcs.target, lost)
    new = np.flatnonzero((row < 0) & ~np.isin(np.arange(graph.nodes), lost))
    if not len(new):
        raise InputError(f"{graph.source} has no new nodes: edges between a new and a known node are expected")
    skipped = {"edges": int(apart.sum()), "nodes": len(lost), "names": [names[at] for at in lost[:MOST_NAMES]]}
    return _make_sides(arcs.pick(~apart), row, new, names, graph, table, skipped if len(lost) else None)


def in_the_same_words(names: NDArray[Any], lookup: Lookup) -> list[Any]:
    """Names as the embedding has them, where one side has 7 and the other "7"."""
    listed: list[Any] = names.tolist()
    if lookup.names.dtype == object:
        return [str(name) for name in listed] if is_text(lookup.names) else listed
    return [lookup.as_name(name) if isinstance(name, str) else name for name in listed]


def check_spelling(graph: Graph, name: Any, lookup: Lookup, side: Side | None = None) -> None:
    """Refuse a name such as "007" where names are integers and 7 has a vector: it would be a new node."""
    meant = lookup.meant_integer(name)
    if meant is not None and lookup.find(meant, side) is not None:
        raise InputError(
            f"{graph.source}: {quote_name(name)} is not known{lookup.hint(name, side)}; write {meant} if that is "
            "meant, or call the new node otherwise"
        )


def _find_rows(graph: Graph, names: list[Any], table: VectorTable) -> Rows:
    """The row of each node within its side, or among all of a directed graph; -1 for a new one."""
    sources = graph.sources if graph.sources is not None else graph.nodes
    two = SIDES if table.sides.kind == "rows" else (None, None)
    sides = [two[at >= sources] for at in range(graph.nodes)]
    places = [table.lookup.find(name, side) for name, side in zip(names, sides, strict=True)]
    for name, side, row in zip(names, sides, places, strict=True):
        if row is None:
            check_spelling(graph, name, table.lookup, side)
    return np.fromiter((-1 if row is None else row for row in places), np.int64, graph.nodes)


def _list_arcs(graph: Graph) -> Arcs:
    """Every edge once, from its source to its target."""
    rows = graph.nodes if graph.sources is None else graph.sources
    count = int(graph.indptr[rows])
    source = np.repeat(np.arange(rows), graph.out_counts[:rows])
    weights = np.ones(count, np.float32) if graph.weights is None else graph.weights[:count]
    return Arcs(source, graph.indices[:count].astype(np.int64), weights)


def _lost_error(graph: Graph, names: list[Any], lost: Rows, table: VectorTable) -> InputError:
    """The error of nodes that are not known, and have no known neighbor; the first that stands on the wrong side."""
    if table.sides.kind == "rows":
        assert graph.sources is not None
        for at in lost:
            side, other = SIDES if at < graph.sources else SIDES[::-1]
            if table.lookup.find(names[at], other) is not None:
                return InputError(
                    f"{graph.source}: {quote_name(names[at])} is a {other}, and stands where a {side} is expected: "
                    f"edges lead from a source, such as {quote_name(table.source_names[0])}, to a target, such as "
                    f"{quote_name(table.target_names[0])}; source= and target= name their columns",
                )
    more = f" (and {len(lost) - 1:,} more)" if len(lost) > 1 else ""
    return InputError(
        f"{graph.source}: {quote_name(names[lost[0]])}{more} is not known, and has no edge to a node that is"
        f"{table.lookup.hint(names[lost[0]])}; unknown='skip' (--skip-unknown) leaves such nodes out",
    )


def _make_sides(
    arcs: Arcs, row: Rows, new: Rows, names: list[Any], graph: Graph, table: VectorTable, skipped: dict[str, Any] | None
) -> NewSides:
    start = graph.nodes if graph.sources is None else graph.sources
    members = {"source": new[new < start], "target": new[new >= start]} if graph.sources is not None else {
        "source": new, "target": new,
    }  # fmt: skip
    place = np.full(graph.nodes, -1, np.int64)  # of a new node among those of its side
    for nodes in members.values():
        place[nodes] = np.arange(len(nodes))
    links: dict[Side, NewSide] = {}
    ends = {"source": (arcs.source, arcs.target), "target": (arcs.target, arcs.source)}
    for number, side in enumerate(SIDES):
        own, other = ends[side]
        known = len(table.sides.names(table.names, SIDES[1 - number]))
        mine = row[own] < 0
        near = np.where(row[other[mine]] >= 0, row[other[mine]], known + place[other[mine]])
        links[side] = NewSide(_as_links(place[own[mine]], near, arcs.weights[mine], len(members[side])), known)
    counts = [np.diff(links[side].links.indptr) for side in SIDES]
    degrees = np.concatenate(counts) if graph.sources is not None else counts[0] + counts[1]
    return NewSides(name_array([names[at] for at in new.tolist()]), degrees, links, skipped)


def _as_links(rows: Rows, near: Rows, weights: NDArray[np.float32], count: int) -> Links:
    """Neighbors in the order of their rows."""
    order = np.argsort(rows, kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=count))]).astype(np.int64)
    return Links(indptr, near[order], weights[order])
