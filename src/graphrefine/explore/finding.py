"""Nearest neighbours for requests that come at the same time: what waits is searched for together.

An exact search reads every vector, and reads them once for many queries as for one. So while one search runs, in a
thread of its own, the queries that arrive are gathered, and the next search takes those that ask in the same way.
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


class Ask(NamedTuple):
    """What queries must have in common to be searched for together."""

    score: Literal["cosine", "dot", "link"]
    k: int
    label: str | None
    unlinked: bool
    by_row: bool


class Hits(NamedTuple):
    """The neighbours of one query, the nearest first."""

    rows: list[int]
    scores: list[float]


class Waiting(NamedTuple):
    """A query, and where its hits go."""

    query: int | Floats
    hits: asyncio.Future[Hits]


class Finder:
    """Searches for all requests, one search at a time.

    Parameters
    ----------
    nearest
        Finds the hits of queries that have an `Ask` in common; called in a thread.
    is_quick
        Whether a single query takes no longer than to hand it to a thread, as by an index; it is answered at once.
    """

    def __init__(
        self, nearest: Callable[[Ask, list[Any]], list[Hits]], is_quick: Callable[[Ask], bool] = lambda ask: False
    ) -> None:
        self._nearest, self._is_quick = nearest, is_quick
        self._thread = ThreadPoolExecutor(1, "search")
        self._waiting: dict[Ask, list[Waiting]] = {}
        self._running: asyncio.Task[None] | None = None

    async def find(self, ask: Ask, queries: list[Any]) -> list[Hits]:
        """The hits of each query. Many queries take turns with those of others."""
        if len(queries) == 1 and self._is_quick(ask):
            return self._nearest(ask, queries)
        found: list[Hits] = []
        for lo in range(0, len(queries), TOGETHER):
            found += await asyncio.gather(*(self._one(ask, query) for query in queries[lo : lo + TOGETHER]))
        return found

    def _one(self, ask: Ask, query: Any) -> asyncio.Future[Hits]:
        loop = asyncio.get_running_loop()
        waiting = Waiting(query, loop.create_future())
        self._waiting.setdefault(ask, []).append(waiting)
        if self._running is None or self._running.done():
            self._running = loop.create_task(self._search())
        return waiting.hits

    async def _search(self) -> None:
        while self._waiting:
            ask = next(iter(self._waiting))
            queue = self._waiting.pop(ask)
            if len(queue) > TOGETHER:
                self._waiting[ask] = queue[TOGETHER:]  # at the end, so that others have their turn
            batch = [each for each in queue[:TOGETHER] if not each.hits.done()]  # whoever waited may have left
            if not batch:
                continue
            loop = asyncio.get_running_loop()
            try:
                hits = await loop.run_in_executor(self._thread, self._nearest, ask, [each.query for each in batch])
            except Exception as error:
                for each in batch:
                    if not each.hits.done():
                        each.hits.set_exception(error)
                continue
            for each, found in zip(batch, hits, strict=True):
                if not each.hits.done():
                    each.hits.set_result(found)
