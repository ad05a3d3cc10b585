"""Edges of new nodes, read and checked, and the vectors of these nodes.

Of one set of nodes, each edge leads from a new node to one that has a vector, or to another new one. Of a directed or
bipartite graph, edges are listed as in the graph, from a source to a target, and one end is known. Edges between new
nodes count too, if each of them has a known neighbor: else a name that was misspelt would become a node.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.embedding.fold_in import Links, fold
from graphrefine.embedding.learn import warn_unlearned
from graphrefine.embedding.side_maps import fold_sides
from graphrefine.embedding.state import EmbeddingData, State, StatefulVectors
from graphrefine.errors import ArgumentWarning, InputError
from graphrefine.graph.lookup import SIDES, Lookup, Rows, Side, Unknown, list_some, quote_name
from graphrefine.graph.node_ids import is_text, name_array
from graphrefine.readers.read import read
from graphrefine.system.checks import check_choice

if TYPE_CHECKING:
    from graphrefine.graph.graph import Graph

Floats = NDArray[np.float32]
Arcs = tuple[Rows, Rows, Floats]  # edges from sources to targets, by the node of the graph that was read
MOST_NAMES = 5  # of nodes that were left out, in the recipe


def fold_new_nodes(table: StatefulVectors, edges: Any, *, unknown: Unknown = "error", **reading: Any) -> EmbeddingData:
    """Return the new nodes of edges, with vectors: see `graphrefine.Embedding.fold_in`."""
    check_choice("unknown", unknown, ("error", "skip"))
    kind = table.sides.kind
    if kind is None and table.recipe.get("directed"):
        raise InputError(
            "the vectors are of a directed graph, without source and target: nothing says which of their arcs a new "
            "node's are like; embed it again instead"
        )
    names, links, skipped = read_new_nodes(edges, table, unknown=unknown, **reading)
    recipe: dict[str, Any] = {"method": "fold-in", "learnt": table.fold_map is not None, "into": table.recipe}
    if kind is None:
        vectors = fold(table.vectors, table.degrees, table.fold_map, links[None])
    else:
        by_side = {side: links[side] for side in SIDES}
        folded = fold_sides(table.vectors, table.sides, table.degrees, table.fold_map, by_side)
        vectors = np.concatenate([folded[side] for side in SIDES], axis=0 if kind == "rows" else 1)
        recipe |= {"sides": kind, **({"sources": len(folded["source"])} if kind == "rows" else {})}
    if skipped["nodes"]:
        recipe["skipped"] = skipped
        text = f"{skipped['edges']:,} edges were left out, to nodes that are neither known nor new: such as "
        warnings.warn(ArgumentWarning(text + list_some(skipped["names"])), stacklevel=3)
    if table.fold_map is None:
        warn_unlearned(table.recipe, "vectors of new nodes are the mean of their neighbors'", stacklevel=4)
    zeros = np.flatnonzero(~vectors.any(axis=1))
    if zeros.size:
        text = f"new nodes without a known neighbor that has a vector: {zeros.size:,} of {len(vectors):,}, such as "
        warnings.warn(f"{text}{quote_name(names[zeros[0]])}; their vectors are zero", stacklevel=3)
    counts = [np.diff(each.indptr) for each in links.values()]
    degrees = np.concatenate(counts) if kind == "rows" else np.sum(counts, axis=0)
    return EmbeddingData(names, vectors, recipe, state=State(degrees.astype(np.float32)))


def read_new_nodes(
    edges: Any, table: StatefulVectors, *, unknown: Unknown = "error", **reading: Any
) -> tuple[NDArray[Any], dict[Side | None, Links], dict[str, Any]]:
    """Read edges of new nodes, with or without weights, from anything that `graphrefine.read` takes.

    Return the names of the new nodes, of a bipartite graph the sources first; the other ends of their edges for each
    side, under None where there is one set of nodes; and the numbers of edges and of nodes that were left out.
    """
    kind = table.sides.kind
    options: dict[str, Any] = {name: value for name, value in reading.items() if name != "directed"}
    graph = read(edges, **options, bipartite=True) if kind == "rows" else read(edges, **options, directed=True)
    names = in_the_same_words(graph.names, table.lookup)
    row = _find_rows(graph, names, table)
    source, target, weights = _list_arcs(graph)
    to_known = row[target] >= 0
    again = np.flatnonzero((row[source] >= 0) & (to_known | (kind is None)))
    if len(again):
        one, other = (quote_name(names[int(side[again[0]])]) for side in (source, target))
        both = f"{one} and {other} both have vectors already; each edge must have a new node at one end"
        first = f"node {one} has a vector already; each edge must lead from a new node to a known one"
        raise InputError(
            f"{graph.source}: {first if kind is None else both}. To change known nodes, embed the whole graph again "
            "and align_to the old vectors"
        )
    # Of one set of nodes, a new node may have edges to other new nodes alone; of two sides it needs a known neighbor.
    near = graph.out_counts > 0 if kind is None else np.zeros(graph.nodes, np.bool_)
    near[source[to_known]] = True
    near[target[row[source] >= 0]] = True
    lost = np.flatnonzero((row < 0) & ~near & ~graph.without_edges())
    if len(lost) and unknown == "error":
        raise _lost_error(graph, names, lost, table)
    is_new = row < 0
    is_new[lost] = False
    new = np.flatnonzero(is_new)
    if not len(new):
        raise InputError(f"{graph.source} has no new nodes: edges between a new and a known node are expected")
    for at in new.tolist():
        side = None if graph.sources is None else SIDES[at >= graph.sources]
        check_spelling(graph, names[at], table.lookup, side)
    apart = np.isin(source, lost) | np.isin(target, lost)
    skipped = {"edges": int(apart.sum()), "nodes": len(lost), "names": [names[at] for at in lost[:MOST_NAMES]]}
    links = _link_sides((source[~apart], target[~apart], weights[~apart]), row, new, graph, table)
    return name_array([names[at] for at in new.tolist()]), links, skipped


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
    """Return the row of each node within its side, or among all nodes; -1 for a new one."""
    sources = graph.nodes if graph.sources is None else graph.sources
    sides = (None, None) if graph.sources is None else SIDES
    rows = [table.lookup.find(name, sides[at >= sources]) for at, name in enumerate(names)]
    return np.fromiter((-1 if row is None else row for row in rows), np.int64, graph.nodes)


def _list_arcs(graph: Graph) -> Arcs:
    """Return every edge once, from its source to its target."""
    rows = graph.nodes if graph.sources is None else graph.sources
    count = int(graph.indptr[rows])
    source = np.repeat(np.arange(rows), graph.out_counts[:rows])
    weights = np.ones(count, np.float32) if graph.weights is None else graph.weights[:count]
    return source, graph.indices[:count].astype(np.int64), weights


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
        f"{table.lookup.hint(names[lost[0]])}; pass unknown='skip' to leave such nodes out",
    )


def _link_sides(arcs: Arcs, row: Rows, new: Rows, graph: Graph, table: StatefulVectors) -> dict[Side | None, Links]:
    """Return the other ends of the new nodes' edges, for each side."""
    source, target, weights = arcs
    members: dict[Side | None, Rows] = {None: new} if table.sides.kind is None else dict.fromkeys(SIDES, new)
    if graph.sources is not None:
        members = {"source": new[new < graph.sources], "target": new[new >= graph.sources]}
    number = np.full(graph.nodes, -1, np.int64)  # of a new node among those of its side
    for nodes in members.values():
        number[nodes] = np.arange(len(nodes))
    links: dict[Side | None, Links] = {}
    for side, nodes in members.items():
        own, other = (target, source) if side == "target" else (source, target)
        known = len(table.source_names if side == "target" else table.target_names)
        mine = row[own] < 0
        near = np.where(row[other[mine]] >= 0, row[other[mine]], known + number[other[mine]])
        rows, near, values = number[own[mine]], near, weights[mine]
        if side is None:
            rows, near, values = _both_ways(rows, near, values, known, len(nodes))
        order = np.argsort(rows, kind="stable")
        indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(nodes)))]).astype(np.int64)
        links[side] = Links(indptr, near[order], values[order])
    return links


def _both_ways(rows: Rows, near: Rows, weights: Floats, known: int, count: int) -> Arcs:
    """Return edges to known nodes, then those among the new ones in both directions, by the larger weight."""
    from scipy.sparse import csr_array

    old = near < known
    one_way = csr_array((weights[~old], (rows[~old], near[~old] - known)), shape=(count, count))
    both = csr_array(one_way.maximum(one_way.T)).tocoo()
    every = np.concatenate([weights[old], both.data]).astype(np.float32)
    return np.concatenate([rows[old], both.row]), np.concatenate([near[old], both.col + known]), every
