"""Batches of searches for requests that come at the same time: queries that wait are searched for together.

An exact search reads every vector, and reads them once for many queries as for one. So while one search runs, in a
thread of its own, the queries that arrive are gathered, and the next search takes those with the same options.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

TOGETHER = 64  # queries of one search

Floats = NDArray[np.float32]


class SearchOptions(NamedTuple):
    """Options that queries must share to be searched for together."""

    score: Literal["cosine", "dot", "link"]
    k: int
    label: str | None
    unlinked: bool
    by_row: bool


class Hits(NamedTuple):
    """The neighbours of one query, the nearest first."""

    rows: list[int]
    scores: list[float]


class PendingQuery(NamedTuple):
    """A query, and the future of its hits."""

    query: int | Floats
    hits: asyncio.Future[Hits]


class SearchBatcher:
    """Searches for all requests, one search at a time.

    Parameters
    ----------
    nearest
        Finds the hits of queries with the same options; called in a thread.
    is_quick
        Whether a single query takes no longer than to hand it to a thread, as by an index; it is answered at once.
    """

    def __init__(
        self,
        nearest: Callable[[SearchOptions, list[Any]], list[Hits]],
        is_quick: Callable[[SearchOptions], bool] = lambda options: False,
    ) -> None:
        self._nearest, self._is_quick = nearest, is_quick
        self._thread = ThreadPoolExecutor(1, "search")
        self._pending: dict[SearchOptions, list[PendingQuery]] = {}
        self._running: asyncio.Task[None] | None = None

    async def find(self, options: SearchOptions, queries: list[Any]) -> list[Hits]:
        """The hits of each query. Many queries take turns with those of others."""
        if len(queries) == 1 and self._is_quick(options):
            return self._nearest(options, queries)
        hits: list[Hits] = []
        for start in range(0, len(queries), TOGETHER):
            hits += await asyncio.gather(*(self._add(options, query) for query in queries[start : start + TOGETHER]))
        return hits

    def _add(self, options: SearchOptions, query: Any) -> asyncio.Future[Hits]:
        loop = asyncio.get_running_loop()
        pending = PendingQuery(query, loop.create_future())
        self._pending.setdefault(options, []).append(pending)
        if self._running is None or self._running.done():
            self._running = loop.create_task(self._search())
        return pending.hits

    async def _search(self) -> None:
        while self._pending:
            options = next(iter(self._pending))
            queue = self._pending.pop(options)
            if len(queue) > TOGETHER:
                self._pending[options] = queue[TOGETHER:]  # at the end, so that others have their turn
            batch = [each for each in queue[:TOGETHER] if not each.hits.done()]  # a client that waited may be gone
            if not batch:
                continue
            loop = asyncio.get_running_loop()
            try:
                hits = await loop.run_in_executor(self._thread, self._nearest, options, [each.query for each in batch])
            except Exception as error:
                for each in batch:
                    if not each.hits.done():
                        each.hits.set_exception(error)
                continue
            for each, query_hits in zip(batch, hits, strict=True):
                if not each.hits.done():
                    each.hits.set_result(query_hits)
