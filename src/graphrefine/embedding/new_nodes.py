"""Edges of new nodes, read and checked, and the vectors of these nodes.

Of one set of nodes, each edge leads from a new node to one that has a vector, or to another new one. Of a directed or
bipartite graph, edges are listed as in the graph, from a source to a target, and one end is known. Edges between new
nodes count too, if each of them has a known neighbor: else a name that was misspelt would become a node.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.embedding.fold_in import Links, fold
from graphrefine.embedding.learn import warn_unlearned
from graphrefine.embedding.side_maps import NewSide, fold_sides
from graphrefine.embedding.state import EmbeddingData, State, StatefulVectors
from graphrefine.errors import ArgumentWarning, InputError
from graphrefine.graph.lookup import SIDES, Lookup, Rows, Side, Unknown, list_some, quote_name
from graphrefine.graph.node_ids import is_text, name_array
from graphrefine.readers.read import read
from graphrefine.system.checks import check_choice

if TYPE_CHECKING:
    from graphrefine.graph.graph import Graph

MOST_NAMES = 5  # of nodes that were left out, in the recipe


class NewNodes(NamedTuple):
    """New nodes and their neighbors."""

    names: NDArray[Any]  # (m,)
    old_links: Links  # to nodes that have vectors, by their rows
    new_links: Links  # to each other, numbered by `names`; in the rows of both
    skipped: dict[str, Any] | None = None  # of edges that were left out: their number, and that of their ends


def fold_new_nodes(table: StatefulVectors, edges: Any, *, unknown: Unknown = "error", **reading: Any) -> EmbeddingData:
    """Return the new nodes of edges, with vectors: see `graphrefine.Embedding.fold_in`."""
    check_choice("unknown", unknown, ("error", "skip"))
    kind = table.sides.kind
    if kind is None and table.recipe.get("directed"):
        raise InputError(
            "the vectors are of a directed graph, without source and target: nothing says which of their arcs a new "
            "node's are like; embed it again instead"
        )
    new: NewNodes | NewSides
    recipe: dict[str, Any] = {"method": "fold-in", "learnt": table.fold_map is not None, "into": table.recipe}
    if kind is None:
        new = read_new_nodes(edges, table.lookup, unknown=unknown, **reading)
        vectors = fold(table.vectors, table.degrees, table.fold_map, new.old_links, new.new_links)
        degrees = np.diff(new.old_links.indptr) + np.diff(new.new_links.indptr)
    else:
        new = read_new_sides(edges, table, unknown=unknown, **reading)
        folded = fold_sides(table.vectors, table.sides, table.degrees, table.fold_map, new.links)
        vectors = np.concatenate([folded[side] for side in SIDES], axis=0 if kind == "rows" else 1)
        degrees = new.degrees
        recipe |= {"sides": kind, **({"sources": len(folded["source"])} if kind == "rows" else {})}
    if new.skipped:
        recipe["skipped"] = new.skipped
        text = f"{new.skipped['edges']:,} edges were left out, to nodes that are neither known nor new: such as "
        warnings.warn(ArgumentWarning(text + list_some(new.skipped["names"])), stacklevel=3)
    if table.fold_map is None:
        warn_unlearned(table.recipe, "vectors of new nodes are the mean of their neighbors'", stacklevel=4)
    zeros = np.flatnonzero(~vectors.any(axis=1))
    if zeros.size:
        text = f"new nodes without a known neighbor that has a vector: {zeros.size:,} of {len(vectors):,}, such as "
        warnings.warn(f"{text}{quote_name(new.names[zeros[0]])}; their vectors are zero", stacklevel=3)
    return EmbeddingData(new.names, vectors, recipe, state=State(degrees.astype(np.float32)))


def read_new_nodes(edges: Any, lookup: Lookup, *, unknown: Unknown = "error", **reading: Any) -> NewNodes:
    """Read edges (new, known) or (new, known, weight) from anything that `graphrefine.read` takes."""
    graph = read(edges, **{**reading, "directed": True})
    names = in_the_same_words(graph.names, lookup)
    rows = np.fromiter((-1 if (row := lookup.find(name)) is None else row for name in names), np.int64, len(names))
    leaves = graph.out_counts > 0
    again = np.flatnonzero(leaves & (rows >= 0))
    if again.size:
        raise InputError(
            f"{graph.source}: node {quote_name(names[again[0]])} has a vector already; each edge must lead from a new "
            "node to a known one. To change known nodes, embed the whole graph again and align_to the old vectors"
        )
    for at in np.flatnonzero(leaves & (rows < 0)):
        check_spelling(graph, names[at], lookup)
    reached = np.zeros(graph.nodes, np.bool_)
    reached[graph.indices] = True
    lost = np.flatnonzero(reached & ~leaves & (rows < 0))
    if len(lost) and unknown == "error":
        first, more = names[lost[0]], f" (and {len(lost) - 1:,} more)" if len(lost) > 1 else ""
        raise InputError(
            f"{graph.source}: an edge leads to {quote_name(first)}{more}, which is neither known nor a new node with "
            f"edges{lookup.hint(first)}; unknown='skip' (--skip-unknown) leaves such edges out",
        )
    new = np.flatnonzero(leaves | ((rows < 0) & graph.without_edges()))
    if not len(new):
        raise InputError(f"{graph.source} has no new nodes: edges (new node, known node) are expected")
    arcs = int(np.isin(graph.indices, lost).sum())
    skipped = {"edges": arcs, "nodes": len(lost), "names": [names[at] for at in lost[:MOST_NAMES]]}
    return NewNodes(
        name_array([names[at] for at in new.tolist()]), *_split(graph, new, rows), skipped if arcs else None
    )


def _split(graph: Graph, new: Rows, rows: Rows) -> tuple[Links, Links]:
    """Return the rows of the new nodes: their known neighbors, and the new ones in the rows of both."""
    from scipy.sparse import csr_array

    whole = graph.to_scipy()[new]
    number = np.full(graph.nodes, -1, np.int64)
    number[new] = np.arange(len(new))
    row = np.repeat(np.arange(len(new)), np.diff(whole.indptr))
    is_old = rows[whole.indices] >= 0
    is_new = ~is_old & (number[whole.indices] >= 0)  # what is neither leads to a node that is left out
    count = np.concatenate([[0], np.cumsum(np.bincount(row[is_old], minlength=len(new)))])
    old_links = Links(count, rows[whole.indices[is_old]], whole.data[is_old].astype(np.float32))
    ends = row[is_new], number[whole.indices[is_new]]
    one_way = csr_array((whole.data[is_new], ends), shape=(len(new), len(new)))
    both = csr_array(one_way.maximum(one_way.T))
    return old_links, Links(both.indptr.astype(np.int64), both.indices.astype(np.int64), both.data.astype(np.float32))


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


def read_new_sides(edges: Any, table: StatefulVectors, *, unknown: Unknown = "error", **reading: Any) -> NewSides:
    """Read edges (source, target) or (source, target, weight), of which one end at least is new."""
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
            "end. To change known nodes, embed the whole graph again and align_to the old vectors"
        )
    near = np.zeros(graph.nodes, np.bool_)  # nodes with a known neighbor
    near[arcs.source[row[arcs.target] >= 0]] = True
    near[arcs.target[row[arcs.source] >= 0]] = True
    lost = np.flatnonzero((row < 0) & ~near & ~graph.without_edges())
    if len(lost) and unknown == "error":
        raise _lost_error(graph, names, lost, table)
    apart = np.isin(arcs.source, lost) | np.isin(arcs.target, lost)
    new = np.flatnonzero((row < 0) & ~np.isin(np.arange(graph.nodes), lost))
    if not len(new):
        raise InputError(f"{graph.source} has no new nodes: edges between a new and a known node are expected")
    skipped = {"edges": int(apart.sum()), "nodes": len(lost), "names": [names[at] for at in lost[:MOST_NAMES]]}
    arcs = Arcs(arcs.source[~apart], arcs.target[~apart], arcs.weights[~apart])
    return _make_sides(arcs, row, new, names, graph, table, skipped if len(lost) else None)


def in_the_same_words(names: NDArray[Any], lookup: Lookup) -> list[Any]:
    """Return names as the embedding has them, where one side has 7 and the other "7"."""
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


def _find_rows(graph: Graph, names: list[Any], table: StatefulVectors) -> Rows:
    """Return the row of each node within its side, or among all of a directed graph; -1 for a new one."""
    sources = graph.sources if graph.sources is not None else graph.nodes
    two = SIDES if table.sides.kind == "rows" else (None, None)
    sides = [two[at >= sources] for at in range(graph.nodes)]
    rows = [table.lookup.find(name, side) for name, side in zip(names, sides, strict=True)]
    for name, side, row in zip(names, sides, rows, strict=True):
        if row is None:
            check_spelling(graph, name, table.lookup, side)
    return np.fromiter((-1 if row is None else row for row in rows), np.int64, graph.nodes)


def _list_arcs(graph: Graph) -> Arcs:
    """Return every edge once, from its source to its target."""
    rows = graph.nodes if graph.sources is None else graph.sources
    count = int(graph.indptr[rows])
    source = np.repeat(np.arange(rows), graph.out_counts[:rows])
    weights = np.ones(count, np.float32) if graph.weights is None else graph.weights[:count]
    return Arcs(source, graph.indices[:count].astype(np.int64), weights)


def _lost_error(graph: Graph, names: list[Any], lost: Rows, table: StatefulVectors) -> InputError:
    """Return the error of unknown nodes without a known neighbor; of the first on the wrong side, if there is one."""
    for at in lost if graph.sources is not None else ():
        side, other = SIDES if at < graph.sources else SIDES[::-1]
        if table.lookup.find(names[at], other) is not None:
            return InputError(
                f"{graph.source}: {quote_name(names[at])} is a {other} where a {side} is expected: edges lead from a "
                f"source, such as {quote_name(table.source_names[0])}, to a target, such as "
                f"{quote_name(table.target_names[0])}; source= and target= name their columns",
            )
    more = f" (and {len(lost) - 1:,} more)" if len(lost) > 1 else ""
    return InputError(
        f"{graph.source}: {quote_name(names[lost[0]])}{more} is not known, and has no edge to a node that is"
        f"{table.lookup.hint(names[lost[0]])}; unknown='skip' leaves such nodes out",
    )


def _make_sides(
    arcs: Arcs,
    row: Rows,
    new: Rows,
    names: list[Any],
    graph: Graph,
    table: StatefulVectors,
    skipped: dict[str, Any] | None,
) -> NewSides:
    start = graph.nodes if graph.sources is None else graph.sources
    bipartite = graph.sources is not None
    members = {"source": new[new < start], "target": new[new >= start]} if bipartite else dict.fromkeys(SIDES, new)
    number = np.full(graph.nodes, -1, np.int64)  # of a new node among those of its side
    for nodes in members.values():
        number[nodes] = np.arange(len(nodes))
    links: dict[Side, NewSide] = {}
    ends = {"source": (arcs.source, arcs.target), "target": (arcs.target, arcs.source)}
    for at, side in enumerate(SIDES):
        own, other = ends[side]
        known = len(table.sides.names(table.names, SIDES[1 - at]))
        mine = row[own] < 0
        near = np.where(row[other[mine]] >= 0, row[other[mine]], known + number[other[mine]])
        links[side] = NewSide(_as_links(number[own[mine]], near, arcs.weights[mine], len(members[side])), known)
    counts = [np.diff(links[side].links.indptr) for side in SIDES]
    degrees = np.concatenate(counts) if bipartite else counts[0] + counts[1]
    return NewSides(name_array([names[at] for at in new.tolist()]), degrees, links, skipped)


def _as_links(rows: Rows, near: Rows, weights: NDArray[np.float32], count: int) -> Links:
    """Return the neighbors in the order of their rows."""
    order = np.argsort(rows, kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=count))]).astype(np.int64)
    return Links(indptr, near[order], weights[order])
