"""Edges of new nodes, read and checked: each leads from a new node to one that has a vector, or to another new one."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.embedding.fold_in import FoldIn, Links
from graphrefine.embedding.learn import warn_unlearned
from graphrefine.embedding.new_sides import check_spelling, in_the_same_words, read_new_sides
from graphrefine.embedding.side_maps import fold_sides
from graphrefine.embedding.state import State
from graphrefine.embedding.table import Parts, VectorTable
from graphrefine.errors import ArgumentWarning, InputError
from graphrefine.graph.lookup import Lookup, Rows, Unknown, list_some, quote_name
from graphrefine.graph.node_ids import name_array
from graphrefine.readers.read import read

if TYPE_CHECKING:
    from graphrefine.graph.graph import Graph


MOST_NAMES = 5  # of nodes that were left out, in the recipe


class NewNodes(NamedTuple):
    """New nodes and their neighbors."""

    names: NDArray[Any]  # (m,)
    old_links: Links  # to nodes that have vectors, by their rows
    new_links: Links  # to each other, by their place here; in the rows of both
    skipped: dict[str, Any] | None = None  # of edges that were left out: their number, and that of their ends


def fold_new_nodes(table: VectorTable, edges: Any, *, unknown: Unknown = "error", **reading: Any) -> Parts:
    """The new nodes of edges, with vectors: see `graphrefine.Embedding.fold_in`."""
    if table.sides.kind is not None:
        return fold_new_sides(table, edges, unknown=unknown, **reading)
    if table.recipe.get("directed"):
        raise InputError(
            "the vectors are of a directed graph, without source and target: nothing says which of their arcs a new "
            "node's are like; embed it anew instead"
        )
    nodes = read_new_nodes(edges, table.lookup, unknown=unknown, **reading)
    if nodes.skipped:
        lost, names = nodes.skipped["edges"], list_some(nodes.skipped["names"])
        text = f"edges to nodes that are neither known nor new were left out: {lost:,}, such as to {names}"
        warnings.warn(ArgumentWarning(text), stacklevel=3)
    if table.fold_map is None:
        warn_unlearned(table.recipe, "vectors of new nodes are the mean of their neighbors'", stacklevel=4)
    vectors = FoldIn(table.vectors, table.degrees, table.fold_map).fold(nodes.old_links, nodes.new_links)
    _warn_of_zeros(nodes.names, vectors, stacklevel=4)
    recipe = {"method": "fold-in", "learnt": table.fold_map is not None, "into": table.recipe}
    recipe |= {"skipped": nodes.skipped} if nodes.skipped else {}
    counts = np.diff(nodes.old_links.indptr) + np.diff(nodes.new_links.indptr)
    return Parts(nodes.names, vectors, recipe, state=State(counts.astype(np.float32)))


def fold_new_sides(table: VectorTable, edges: Any, *, unknown: Unknown, **reading: Any) -> Parts:
    """The new nodes of arcs or of edges between two sets, with vectors of both sides or of their own."""
    new = read_new_sides(edges, table, unknown=unknown, **reading)
    if new.skipped:
        text = f"nodes that are not known, and have no edge to one that is, were left out: {new.skipped['nodes']:,}"
        warnings.warn(ArgumentWarning(f"{text}, such as {list_some(new.skipped['names'])}"), stacklevel=5)
    if table.fold_map is None:
        warn_unlearned(table.recipe, "vectors of new nodes are the mean of their neighbors'", stacklevel=6)
    folded = fold_sides(table.vectors, table.sides, table.degrees, table.fold_map, new.links)
    recipe = {"method": "fold-in", "learnt": table.fold_map is not None, "sides": table.sides.kind}
    if table.sides.kind == "rows":
        recipe["sources"] = len(folded["source"])
        vectors = np.concatenate([folded["source"], folded["target"]])
    else:
        vectors = np.concatenate([folded["source"], folded["target"]], axis=1)
    _warn_of_zeros(new.names, vectors, stacklevel=5)
    recipe |= {"into": table.recipe, **({"skipped": new.skipped} if new.skipped else {})}
    return Parts(new.names, vectors, recipe, state=State(new.degrees.astype(np.float32)))


def _warn_of_zeros(names: NDArray[Any], vectors: NDArray[np.float32], *, stacklevel: int) -> None:
    """Tell the caller of `Embedding.fold_in` which of these vectors came out zero."""
    zeros = np.flatnonzero(~vectors.any(axis=1))
    if zeros.size:
        warnings.warn(
            f"new nodes without a known neighbor that has a vector: {zeros.size:,} of {len(vectors):,}, such as "
            f"{quote_name(names[zeros[0]])}; their vectors are zero",
            stacklevel=stacklevel,
        )


def read_new_nodes(edges: Any, lookup: Lookup, *, unknown: Unknown = "error", **reading: Any) -> NewNodes:
    """Edges (new, known) or (new, known, weight), in anything that `graphrefine.read` takes, with its options.

    Examples
    --------
    >>> lookup = Lookup(np.array(["ada", "bob"], object))
    >>> nodes = read_new_nodes([("eve", "ada"), ("eve", "bob"), ("eve", "bob")], lookup)
    >>> nodes.names.tolist(), nodes.old_links.indices.tolist(), nodes.old_links.weights.tolist()
    (['eve'], [0, 1], [1.0, 2.0])
    """
    if unknown not in ("error", "skip"):
        raise InputError(f"unknown={unknown!r} is not known; it is 'error' or 'skip'", argument="unknown")
    graph = read(edges, **{**reading, "directed": True})
    names = in_the_same_words(graph.names, lookup)
    rows = np.fromiter((-1 if (row := lookup.find(name)) is None else row for name in names), np.int64, len(names))
    leaves = graph.out_counts > 0
    _check(graph, names, rows=rows)
    for at in np.flatnonzero(leaves & (rows < 0)):
        check_spelling(graph, names[at], lookup)
    lost = _unknown_ends(graph, rows)
    if len(lost) and unknown == "error":
        raise _unknown_error(graph, [names[at] for at in lost], lookup)
    new = np.flatnonzero(leaves | ((rows < 0) & graph.without_edges()))
    if not len(new):
        raise InputError(f"{graph.source} has no new nodes: edges (new node, known node) are expected")
    arcs = int(np.isin(graph.indices, lost).sum())
    skipped = {"edges": arcs, "nodes": len(lost), "names": [names[at] for at in lost[:MOST_NAMES]]}
    return NewNodes(_as_names(names, new), *_split(graph, new, rows), skipped if arcs else None)


def _as_names(names: list[Any], new: Rows) -> NDArray[Any]:
    """The names of the new nodes."""
    return name_array([names[place] for place in new])


def _check(graph: Graph, names: list[Any], *, rows: Rows) -> None:
    leaves = graph.out_counts > 0
    again = np.flatnonzero(leaves & (rows >= 0))
    if again.size:
        raise InputError(
            f"{graph.source}: node {quote_name(names[again[0]])} has a vector already; each edge must lead from a new "
            "node to a known one. To change known nodes, embed the whole graph anew and align_to the old vectors"
        )


def _unknown_ends(graph: Graph, rows: Rows) -> Rows:
    """The nodes that edges lead to, and that are neither known nor new."""
    reached = np.zeros(graph.nodes, np.bool_)
    reached[graph.indices] = True
    return np.flatnonzero(reached & (graph.out_counts == 0) & (rows < 0))


def _unknown_error(graph: Graph, missing: list[Any], lookup: Lookup) -> InputError:
    more = f" (and {len(missing) - 1:,} more)" if len(missing) > 1 else ""
    return InputError(
        f"{graph.source}: an edge leads to {quote_name(missing[0])}{more}, which is neither known nor a new node with "
        f"edges of its own{lookup.hint(missing[0])}; unknown='skip' (--skip-unknown) leaves such edges out",
    )


def _split(graph: Graph, new: Rows, rows: Rows) -> tuple[Links, Links]:
    """The rows of the new nodes: their known neighbors, and the new ones in the rows of both."""
    from scipy.sparse import csr_array

    whole = graph.to_scipy()[new]
    place = np.full(graph.nodes, -1, np.int64)
    place[new] = np.arange(len(new))
    row = np.repeat(np.arange(len(new)), np.diff(whole.indptr))
    is_old = rows[whole.indices] >= 0
    is_new = ~is_old & (place[whole.indices] >= 0)  # what is neither leads to a node that is left out
    count = np.concatenate([[0], np.cumsum(np.bincount(row[is_old], minlength=len(new)))])
    old_links = Links(count, rows[whole.indices[is_old]], whole.data[is_old].astype(np.float32))
    ends = row[is_new], place[whole.indices[is_new]]
    one_way = csr_array((whole.data[is_new], ends), shape=(len(new), len(new)))
    both = csr_array(one_way.maximum(one_way.T))
    return old_links, Links(both.indptr.astype(np.int64), both.indices.astype(np.int64), both.data.astype(np.float32))
