"""Neighbors of every node: blocks of rows, each a table, so that no more than a block is held at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from graphrefine.display.table import Table
from graphrefine.graph.lookup import SIDES
from graphrefine.progress import Stages, Watcher
from graphrefine.search.neighbors import LinkedRows, allowed_rows, as_graph
from graphrefine.search.searcher import Search
from graphrefine.system.checks import check_integer

if TYPE_CHECKING:
    from graphrefine.search.vectors import VectorTable

BATCH = 1 << 14  # nodes of a block


def all_neighbors(
    embedding: VectorTable,
    k: int = 10,
    *,
    score: Literal["cosine", "dot", "link"] = "cosine",
    index: bool | None = None,
    among: Any = None,
    labels: Any = None,
    label: str | None = None,
    unlinked: Any = None,
    batch: int = BATCH,
    threads: int | None = None,
    watch: Watcher | None = None,
) -> Iterator[Table]:
    """Return the k nearest nodes of every node, in blocks of nodes: an iterator of tables.

    Options are checked, and an index is made, before the first block is asked for.

    Parameters
    ----------
    embedding : VectorTable
        Names and vectors.
    k : int
        Number of neighbors of a node; fewer, if there are no more.
    score, index, among, labels, label, unlinked, threads
        As in `graphrefine.Embedding.neighbors`.
    batch : int
        Number of nodes whose neighbors are in one table.
    watch : Watcher, optional
        Receives a stage ``neighbors`` with a step for each block.

    Returns
    -------
    iterator of Table
        Columns ``node``, ``neighbor``, ``rank`` (from 1) and ``score``, in the order of the embedding's rows. A
        bipartite graph's tables have a column ``side``, that of the node. A node without neighbors has no row.

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
    allowed = allowed_rows(embedding, among=among, labels=labels, label=label)
    linked = None if unlinked is None else LinkedRows(embedding, as_graph(embedding, unlinked))
    search = Search(embedding, score, index=index, threads=threads, watcher=watch)
    return _search_blocks(search, k, allowed, linked, batch=batch, stages=Stages(watch))


def join_tables(tables: Iterator[Table]) -> Table:
    """One table of the rows of several with the same columns."""
    first, *more = tables
    if not more:
        return first
    return Table({name: np.concatenate([table[name] for table in (first, *more)]) for name in first.columns})


def _search_blocks(
    search: Search,
    k: int,
    allowed: NDArray[np.bool_] | None,
    linked: LinkedRows | None,
    *,
    batch: int,
    stages: Stages,
) -> Iterator[Table]:
    count = len(search.embedding)
    starts = range(0, count, batch)
    with stages.stage("neighbors", steps=max(len(starts), 1)):
        for start in starts or (0,):  # an empty embedding has one table, without rows
            rows = np.arange(start, min(start + batch, count))
            without = None if linked is None else linked.of(rows)
            nearest = search.nearest(rows=rows, k=k, among=allowed, without=without)
            yield _as_table(search.embedding, rows, nearest.rows, nearest.scores)
            stages.advance()


def _as_table(
    embedding: VectorTable, rows: NDArray[np.int64], nearest: NDArray[np.int64], scores: NDArray[np.float32]
) -> Table:
    """Return the neighbors of some rows; those that are -1 are none."""
    there = nearest >= 0
    query, place = np.nonzero(there)
    columns: dict[str, Any] = {"node": embedding.names[rows[query]]}
    if embedding.sides.kind == "rows":
        on_target = rows[query] >= embedding.sides.start
        columns["side"] = np.array(SIDES, object)[on_target.astype(np.int64)]
    columns |= {"neighbor": embedding.names[nearest[there]], "rank": place + 1, "score": scores[there]}
    return Table(columns)
