"""Nearest neighbors in the embedding that is served: by each score, of one label, or not linked yet.

An exact search reads every vector, and reads them once for many queries as for one. So while one search runs, in
its own thread, the queries that arrive are gathered, and the next search takes those with the same options.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from math import isfinite
from typing import Any, Literal, NamedTuple

import numpy as np

from graphrefine.embedding.embedding import Embedding
from graphrefine.explore.background import Watch
from graphrefine.explore.columns import NodeLabels
from graphrefine.explore.matched_graph import MatchedGraph
from graphrefine.search.searcher import Search

QUICK = 100  # neighbors that an index finds in less than a millisecond
# Queries of one search. More would let a request for a single node wait for a batch of a thousand; these take turns.
TOGETHER = 64

Score = Literal["cosine", "dot", "link"]


class SearchOptions(NamedTuple):
    """Options that queries must share to be searched for together."""

    score: Score
    k: int
    label: str | None
    exclude_linked: bool
    by_row: bool


class Hits(NamedTuple):
    """The neighbors of one query, the nearest first."""

    rows: list[int]
    scores: list[float]


_Pending = tuple[Any, asyncio.Future[Hits]]  # a query (a row, or a vector), and the future of its hits


class SearchBatcher:
    """Searches for all requests, one search at a time.

    ``nearest`` finds the hits of queries with the same options; it is called in a thread. ``is_quick`` says whether a
    single query takes no longer than to hand it to a thread, as by an index: it is answered at once.
    """

    def __init__(
        self,
        nearest: Callable[[SearchOptions, list[Any]], list[Hits]],
        is_quick: Callable[[SearchOptions], bool] = lambda options: False,
    ) -> None:
        self._nearest, self._is_quick = nearest, is_quick
        self._thread = ThreadPoolExecutor(1, "search")
        self._pending: dict[SearchOptions, list[_Pending]] = {}
        self._running: asyncio.Task[None] | None = None

    async def find(self, options: SearchOptions, queries: list[Any]) -> list[Hits]:
        """Return the hits of each query. Many queries take turns with those of others."""
        if len(queries) == 1 and self._is_quick(options):
            return self._nearest(options, queries)
        hits: list[Hits] = []
        for start in range(0, len(queries), TOGETHER):
            hits += await asyncio.gather(*(self._add(options, query) for query in queries[start : start + TOGETHER]))
        return hits

    def _add(self, options: SearchOptions, query: Any) -> asyncio.Future[Hits]:
        loop = asyncio.get_running_loop()
        hits: asyncio.Future[Hits] = loop.create_future()
        self._pending.setdefault(options, []).append((query, hits))
        if self._running is None or self._running.done():
            self._running = loop.create_task(self._search())
        return hits

    async def _search(self) -> None:
        while self._pending:
            options = next(iter(self._pending))
            queue = self._pending.pop(options)
            if len(queue) > TOGETHER:
                self._pending[options] = queue[TOGETHER:]  # at the end, so that others have their turn
            # Queries of clients that left are done already: a search for them would only delay the others.
            batch = [(query, hits) for query, hits in queue[:TOGETHER] if not hits.done()]
            if not batch:
                continue
            search = asyncio.get_running_loop().run_in_executor(
                self._thread, self._nearest, options, [query for query, _ in batch]
            )
            (found,) = await asyncio.gather(search, return_exceptions=True)
            for at, (_, hits) in enumerate(batch):
                if hits.done():
                    continue
                if isinstance(found, BaseException):
                    hits.set_exception(found)
                else:
                    hits.set_result(found[at])


class NeighborSearch:
    """Searches by each score, exact until there is an index."""

    def __init__(self, embedding: Embedding, labels: NodeLabels | None, graph: MatchedGraph | None) -> None:
        self._embedding, self._labels, self._graph = embedding, labels, graph
        self._searches: dict[str, Search] = {}
        self.batcher = SearchBatcher(self._nearest, self._is_quick)

    def by(self, score: Score) -> Search:
        """Return the search by a score."""
        if score not in self._searches:
            self._searches[score] = Search(self._embedding, score, index=False)
        return self._searches[score]

    def kind(self, score: str) -> Literal["exact", "index"]:
        """Return the kind of the search by a score."""
        search = self._searches.get(score)
        return "exact" if search is None or search.index is None else "index"

    def make_index(self, watch: Watch) -> None:
        """Search by an index from now on: by the cosine, as most do."""
        self._searches["cosine"] = Search(self._embedding, "cosine", index=True, watcher=watch)

    def _is_quick(self, options: SearchOptions) -> bool:
        """Return whether the index alone will answer."""
        is_plain = options.label is None and not options.exclude_linked
        return options.k <= QUICK and is_plain and self.kind(options.score) == "index"

    def _nearest(self, options: SearchOptions, queries: list[Any]) -> list[Hits]:
        """Search, in the thread of the batcher."""
        among = None if options.label is None or self._labels is None else self._labels.mask(options.label)
        without = [self._graph.neighbors(row) for row in queries] if options.exclude_linked and self._graph else None
        points: dict[str, Any] = (
            {"rows": np.array(queries, np.int64)} if options.by_row else {"vectors": np.array(queries)}
        )
        nearest = self.by(options.score).nearest(**points, k=options.k, candidates=among, exclude=without)
        return [_hits(*each) for each in zip(nearest.rows, nearest.scores, strict=True)]


def _hits(rows: Any, scores: Any) -> Hits:
    found = rows >= 0
    return Hits(rows[found].tolist(), [finite(each) for each in scores[found].tolist()])


def finite(number: float) -> Any:
    """Return a number for JSON: None if it is not finite."""
    return number if isfinite(number) else None
