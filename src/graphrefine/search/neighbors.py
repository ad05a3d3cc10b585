"""Neighbors by name: from names, labels and graphs to rows, and from rows back to names.

`find_neighbors` answers for some nodes or vectors at once; `all_neighbors` for every node, in blocks of rows, each a
table, so that no more than a block is held at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphrefine.display.table import Table
from graphrefine.errors import InputError
from graphrefine.graph.graph import Graph
from graphrefine.graph.lookup import ONE, SIDES, Lookup, Side, Sides, Unknown, warn_skipped
from graphrefine.kernels.nearest import NearestRows
from graphrefine.progress import Stages, Watcher
from graphrefine.readers.read import read
from graphrefine.search.rankings import Neighbor, Ranking, Rankings
from graphrefine.search.searcher import Search
from graphrefine.system import as_plain
from graphrefine.system.checks import check_integer

if TYPE_CHECKING:
    from graphrefine.search.vectors import VectorTable

Rows = NDArray[np.int64]
Mask = NDArray[np.bool_]
BATCH = 1 << 14  # nodes of a block, where all are asked for


def find_neighbors(
    search: Search, nodes: Any, *, vectors: ArrayLike | None, **options: Any
) -> Ranking[Neighbor] | Rankings[Neighbor]:
    """Return the neighbors of one node or vector, or of several: see `graphrefine.Embedding.neighbors`."""
    embedding = search.embedding
    one = embedding.lookup.is_name(nodes)
    names = [nodes] if one else None if nodes is None else list(nodes)
    single = one if vectors is None else np.ndim(np.asarray(vectors)) == 1
    lists = ask(search, names, vectors=None if vectors is None else np.atleast_2d(np.asarray(vectors)), **options)
    if options.get("unknown") == "skip" and names is not None:
        missing = [name for name in names if embedding.lookup.find(name, options.get("side")) is None]
        warn_skipped(missing, len(names), stacklevel=4)
    return lists[0] if single else lists


def ask(
    search: Search,
    nodes: Any,
    *,
    vectors: ArrayLike | None = None,
    k: int = 10,
    exclude_linked: Any = None,
    side: Side | None = None,
    unknown: Unknown = "error",
    **limits: Any,
) -> Rankings[Neighbor]:
    """Return the neighbors of several nodes, or vectors, by an existing `Search`: see `Embedding.neighbors`."""
    embedding = search.embedding
    if (nodes is None) == (vectors is None):
        raise InputError("give either nodes or vectors to find the neighbors of")
    if side is not None and (nodes is None or embedding.sides.kind != "rows"):
        problem = "a vector has no side" if nodes is None else "is for bipartite graphs, which have two sets of nodes"
        raise InputError(f"side={side!r}: {problem}; leave it out", argument="side")
    allowed = allowed_rows(embedding, **limits)
    if nodes is None:
        if exclude_linked is not None:
            raise InputError("exclude_linked: a vector has no edges; give nodes, or leave it out")
        lists = name_rows(embedding, search.nearest(vectors=vectors, k=k, candidates=allowed))
        return Rankings(lists, range(len(lists)), ("vector", "neighbor"))
    names = list(nodes)
    first = 0 if side is None else embedding.sides.first(side)
    rows = embedding.lookup.rows(names, side, unknown=unknown)
    rows = np.where(rows < 0, rows, rows + first)
    known = rows[rows >= 0]
    exclude = None if exclude_linked is None else LinkedRows(embedding, as_graph(embedding, exclude_linked)).of(known)
    rankings = iter(name_rows(embedding, search.nearest(rows=known, k=k, candidates=allowed, exclude=exclude)))
    every = (next(rankings) if row >= 0 else Ranking[Neighbor]() for row in rows)
    return Rankings(every, [as_plain(name) for name in names], ("node", "neighbor"))


def name_rows(embedding: VectorTable, nearest: NearestRows) -> list[Ranking[Neighbor]]:
    """Return the nearest rows as names with scores."""
    return [
        Ranking(
            Neighbor(name, score)
            for name, score in zip(embedding.names[rows[rows >= 0]].tolist(), scores[rows >= 0].tolist(), strict=True)
        )
        for rows, scores in zip(nearest.rows, nearest.scores, strict=True)
    ]


def allowed_rows(
    embedding: VectorTable, *, candidates: Any = None, labels: Any = None, label: str | None = None
) -> Mask | None:
    """Return the rows that may be answers: those of the names in `candidates`, with that label; None if all."""
    if (labels is None) != (label is None):
        raise InputError("labels and label belong together: which node has which label, and the label to keep")
    allowed = None
    if labels is not None and label is not None:
        allowed = labeled_rows(embedding, labels, label)
    if candidates is not None:
        if embedding.lookup.is_name(candidates):
            raise InputError(f"candidates={candidates!r}: several names are expected", argument="candidates")
        listed = np.zeros(len(embedding), bool)
        listed[embedding.lookup.rows(candidates)] = True
        allowed = listed if allowed is None else allowed & listed
    return allowed


def labeled_rows(embedding: VectorTable, labels: Any, label: str) -> Mask:
    """Return the rows of the nodes that have a label."""
    from graphrefine.readers.labels import align, as_labels  # and its readers, which most searches do without

    table = as_labels(labels, names=embedding.names)
    if str(label) not in table.classes:
        some = ", ".join(table.classes[:8]) + (", ..." if len(table.classes) > 8 else "")
        raise InputError(f"label={label!r}: no node of {table.source} has it; the labels are {some}", argument="label")
    aligned = align(table, embedding.names, unlabeled="drop")
    having = aligned.indicator[:, [table.classes.index(str(label))]].nonzero()[0]
    mask = np.zeros(len(embedding), bool)
    mask[aligned.order[having]] = True
    return mask


def as_graph(embedding: VectorTable, graph: Any) -> Graph:
    """Return a graph; if it is yet to be read, directed or bipartite as that of the embedding was."""
    if isinstance(graph, Graph):
        return graph
    kinds = {"directed": embedding.recipe.get("directed"), "bipartite": embedding.sides.kind == "rows"}
    options: dict[str, Any] = {name: True for name, holds in kinds.items() if holds}
    return read(graph, **options)


class LinkedRows:
    """Neighbors of an embedding's nodes in a graph, matched by name once; InputError if it has none of them."""

    def __init__(self, embedding: VectorTable, graph: Graph) -> None:
        self._graph = graph
        self._node, self._row = match_nodes(embedding, graph)

    def of(self, rows: Rows) -> list[Rows]:
        """Return the rows of the neighbors of each row of the embedding."""
        graph, row = self._graph, self._row
        lists = (row[graph.rows(at, at + 1).indices] if at >= 0 else row[:0] for at in self._node[rows].tolist())
        return [linked[linked >= 0] for linked in lists]


def match_nodes(embedding: VectorTable, graph: Graph) -> tuple[Rows, Rows]:
    """Return the same as `match_rows`; InputError if no node is in both."""
    node, row = match_rows(embedding, graph)
    if not (node >= 0).any() and len(embedding) and graph.nodes:
        mine, theirs = (", ".join(map(repr, names[:3].tolist())) for names in (embedding.names, graph.names))
        raise InputError(
            f"{graph.source}: none of its {graph.nodes} nodes is in the embedding, whose names are such as {mine}; "
            f"the graph's are such as {theirs}: is it another graph?"
        )
    return node, row


def match_rows(embedding: VectorTable, graph: Graph) -> tuple[Rows, Rows]:
    """Return for each row of the embedding its node in a graph, and the other way round; -1 for none."""
    sides = ONE if graph.sources is None else Sides("rows", graph.sources)
    same_sides = sides == embedding.sides or "rows" not in (sides.kind, embedding.sides.kind)
    same_type = embedding.names.dtype == graph.names.dtype
    if same_sides and same_type and np.array_equal(embedding.names, graph.names):
        here = there = np.arange(graph.nodes)  # a graph and the embedding made from it: no table of names is needed
    else:
        here, there = embedding.lookup.shared(Lookup(graph.names, sides))
    node, row = np.full(len(embedding), -1, np.int64), np.full(graph.nodes, -1, np.int64)
    node[here], row[there] = there, here
    return node, row


def all_neighbors(
    embedding: VectorTable,
    k: int = 10,
    *,
    score: Literal["cosine", "dot", "link"] = "cosine",
    index: bool | None = None,
    candidates: Any = None,
    labels: Any = None,
    label: str | None = None,
    exclude_linked: Any = None,
    batch: int = BATCH,
    threads: int | None = None,
    watcher: Watcher | None = None,
) -> Iterator[Table]:
    """Return the k nearest nodes of every node, as an iterator of tables for blocks of nodes.

    Options are checked, and an index is made, before the first block is asked for.

    Parameters
    ----------
    embedding : VectorTable
        Names and vectors.
    k : int
        Number of neighbors of a node; fewer where there are no more.
    score, index, candidates, labels, label, exclude_linked, threads
        As in `graphrefine.Embedding.neighbors`.
    batch : int
        Number of nodes whose neighbors are in one table.
    watcher : Watcher, optional
        Receives a stage ``neighbors`` with a step for each block.

    Returns
    -------
    iterator of Table
        Columns ``node``, ``neighbor``, ``rank`` (from 1) and ``score``, in the order of the rows; of a bipartite graph
        also ``side``, that of the node. A node without neighbors has no row.

    Examples
    --------
    >>> from graphrefine import Embedding
    >>> people = Embedding(["ada", "bob", "cy"], [[1, 0], [0.6, 0.8], [0, 1]])
    >>> for table in all_neighbors(people, 1, batch=2):
    ...     table
    node  neighbor  rank  score
    ada   bob          1    0.6
    bob   cy           1    0.8
    node  neighbor  rank  score
    cy    bob          1    0.8
    """
    batch, k = check_integer("batch", batch, least=1), check_integer("k", k, least=1)
    allowed = allowed_rows(embedding, candidates=candidates, labels=labels, label=label)
    linked = None if exclude_linked is None else LinkedRows(embedding, as_graph(embedding, exclude_linked))
    search = Search(embedding, score, index=index, threads=threads, watcher=watcher)
    return _search_blocks(search, k, allowed, linked, batch=batch, stages=Stages(watcher))


def join_tables(tables: Iterator[Table]) -> Table:
    """Return one table of the rows of several with the same columns."""
    first, *more = tables
    if not more:
        return first
    return Table({name: np.concatenate([table[name] for table in (first, *more)]) for name in first.columns})


def _search_blocks(
    search: Search, k: int, allowed: Mask | None, linked: LinkedRows | None, *, batch: int, stages: Stages
) -> Iterator[Table]:
    embedding, count = search.embedding, len(search.embedding)
    starts = range(0, count, batch)
    with stages.stage("neighbors", steps=max(len(starts), 1)):
        for start in starts or (0,):  # an empty embedding has one table, without rows
            rows = np.arange(start, min(start + batch, count))
            exclude = None if linked is None else linked.of(rows)
            nearest = search.nearest(rows=rows, k=k, candidates=allowed, exclude=exclude)
            there = nearest.rows >= 0
            query, rank = np.nonzero(there)
            columns: dict[str, Any] = {"node": embedding.names[rows[query]]}
            if embedding.sides.kind == "rows":
                on_target = rows[query] >= embedding.sides.start
                columns["side"] = np.array(SIDES, object)[on_target.astype(np.int64)]
            columns |= {"neighbor": embedding.names[nearest.rows[there]], "rank": rank + 1}
            yield Table({**columns, "score": nearest.scores[there]})
            stages.advance()
