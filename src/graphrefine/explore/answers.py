"""The answers to requests, as data: what `app` sends as JSON."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from math import isfinite
from typing import Any

import numpy as np

import graphrefine
from graphrefine.errors import InputError
from graphrefine.explore.endpoints import BATCH, BODY, ROWS, K
from graphrefine.explore.finding import Ask, Finder, Hits
from graphrefine.explore.making import Task
from graphrefine.explore.reading import RequestError
from graphrefine.explore.shown import Shown
from graphrefine.search import SCORES

QUICK = 100  # neighbours that an index finds in less than a millisecond
THREADS = 2  # for what takes longer than a moment, searches of neighbours aside


class Answers:
    """What is answered about what is shown."""

    def __init__(self, shown: Shown) -> None:
        self.shown = shown
        self._finder = Finder(self._nearest, self._is_quick)
        self._threads = ThreadPoolExecutor(THREADS, "answers")

    async def _apart(self, work: Any, *arguments: Any) -> Any:
        """Do something in a thread, so that others are answered meanwhile."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work, *arguments)

    async def health(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Answer `/healthz`."""
        return {"status": "ok"}

    async def info(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Answer `/api/info`."""
        shown = self.shown
        embedding, labels = shown.embedding, shown.labels
        return {
            "name": shown.name,
            "nodes": len(embedding),
            "dim": embedding.dim,
            "version": graphrefine.__version__,
            "recipe": embedding.recipe,
            "method": embedding.recipe.get("method"),
            "named": shown.named,
            "graph": None if shown.linked is None else shown.linked.about(),
            "labels": None if labels is None else {"classes": len(labels.classes), "labelled": labels.labelled},
            "layouts": [_told(task) for task in shown.layouts.values()],
            "layout": shown.best_layout,
            "columns": [_column(task) for task in shown.columns.values()],
            "scores": [{**_told(task), **(task.value or {"value": None, "note": None})} for task in shown.scores],
            "search": shown.searched("cosine"),
            "score_names": list(SCORES),
            "score": embedding.score_name,
            "limits": {"k": K, "batch": BATCH, "rows": ROWS, "body": BODY},
            "sides": embedding.sides.kind,
        }

    async def nodes(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Answer `GET /api/nodes`."""
        if asked["node"] is not None or asked["row"] is not None:
            row = self._row(asked)
            return {"nodes": [{**self.shown.node(row), "values": self.shown.values(row)}]}
        start, count = asked["offset"], len(self.shown.embedding)
        if asked["prefix"]:
            found = await self._apart(self.shown.completion.find, asked["prefix"])
            rows, count = found[start : start + asked["limit"]].tolist(), len(found)
        else:
            rows = list(range(start, min(start + asked["limit"], count)))
        return {"nodes": [self.shown.node(row) for row in rows], "total": count}

    async def several_nodes(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Answer `POST /api/nodes`."""
        return {"nodes": [self.shown.node(row) for row in self._rows(asked)]}

    async def neighbors(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Answer `GET /api/neighbors`."""
        return await self._neighbors(asked, [self._row(asked)], by_row=True)

    async def several_neighbors(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Answer `POST /api/neighbors`."""
        if asked["vectors"] is not None:
            return await self._neighbors(asked, asked["vectors"], by_row=False)
        return await self._neighbors(asked, self._rows(asked), by_row=True)

    async def _neighbors(self, asked: dict[str, Any], queries: list[Any], *, by_row: bool) -> dict[str, Any]:
        label, unlinked = asked["label"], asked["unlinked"]
        if label is not None and (self.shown.labels is None or label not in self.shown.labels):
            known = "" if self.shown.labels is None else f", such as {self.shown.labels.classes[0]!r}"
            raise RequestError(404, f"no node has the label {label[:80]!r}; labels come from --labels{known}")
        if unlinked and self.shown.linked is None:
            raise RequestError(404, "which nodes are linked is not known; start graphrefine explore with --graph")
        hits = await self._finder.find(Ask(asked["score"], asked["k"], label, unlinked, by_row), queries)
        results = [
            {**self._query(query, by_row), "neighbors": [self._hit(*each) for each in zip(*found, strict=True)]}
            for query, found in zip(queries, hits, strict=True)
        ]
        return {"results": results, "score": asked["score"], "search": self.shown.searched(asked["score"])}

    def _query(self, query: Any, by_row: bool) -> dict[str, Any]:
        if not by_row:
            return {"node": None, "row": None}
        node = self.shown.node(query)
        return {"node": node["node"], "row": query, "side": node["side"]}

    def _hit(self, row: int, score: float) -> dict[str, Any]:
        return {**self.shown.node(row), "score": score}

    def _is_quick(self, ask: Ask) -> bool:
        """Whether the index alone will answer."""
        return ask.k <= QUICK and ask.label is None and not ask.unlinked and self.shown.searched(ask.score) == "index"

    def _nearest(self, ask: Ask, queries: list[Any]) -> list[Hits]:
        """Search, in the thread of the `Finder`."""
        shown = self.shown
        among = None if ask.label is None or shown.labels is None else shown.labels.mask(ask.label)
        without = [shown.linked.neighbours(row) for row in queries] if ask.unlinked and shown.linked else None
        which: dict[str, Any] = {"rows": np.array(queries, np.int64)} if ask.by_row else {"vectors": np.array(queries)}
        found = shown.search(ask.score).nearest(**which, k=ask.k, among=among, without=without)
        return [_hits(*each) for each in zip(found.rows, found.scores, strict=True)]

    async def ego(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Answer `/api/ego`."""
        linked = self.shown.linked
        if linked is None:
            raise RequestError(404, "who is linked to whom is not known; start graphrefine explore with --graph")
        row = self._row(asked)
        found = await self._apart(lambda: linked.ego(row, limit=asked["limit"]))
        return {"nodes": [self.shown.node(each) for each in found.rows], "edges": found.edges, "of": found.of}

    async def score(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Answer `GET /api/score`."""
        return await self.several_scores({"pairs": [[asked["u"], asked["v"]]]})

    async def several_scores(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Answer `POST /api/score`."""
        embedding = self.shown.embedding
        sides = ("source", "target") if embedding.sides.kind == "rows" else (None, None)
        for ends, side in zip(zip(*asked["pairs"], strict=True), sides, strict=True):
            for name in ends:
                self._find(name, side)
        first, second = (list(ends) for ends in zip(*asked["pairs"], strict=True))
        scores = await self._apart(embedding.score, first, second)
        return {"score": embedding.score_name, "scores": [_finite(each) for each in scores.tolist()]}

    def _row(self, asked: dict[str, Any]) -> int:
        if asked["row"] is not None:
            return int(asked["row"])
        return self._find(asked["node"], asked.get("side"))

    def _rows(self, asked: dict[str, Any]) -> list[int]:
        if asked["rows"] is not None:
            rows: list[int] = asked["rows"]
            return rows
        return [self._find(name, asked.get("side")) for name in asked["nodes"]]

    def _find(self, name: Any, side: Any) -> int:
        lookup = self.shown.embedding.lookup
        try:
            row = lookup.find(name, side)
        except InputError as error:  # on both sides
            raise RequestError(400, str(error)) from None
        if row is None:
            where = f" on the {side} side" if side else ""
            raise RequestError(
                404, f"no node is called {repr(name)[:80]}{where}; /api/nodes?prefix= finds names by a part"
            )
        return row + (0 if side is None else self.shown.embedding.sides.first(side))


def _told(task: Task) -> dict[str, Any]:
    return {"name": task.name, "state": task.state, "error": task.error}


def _column(task: Task) -> dict[str, Any]:
    about = {"kind": "category", "categories": []}  # what is made in the background, before it is ready
    if task.state == "ready":
        about = {"kind": task.value.kind, **task.value.about()}
    return {**_told(task), **about}


def _hits(rows: Any, scores: Any) -> Hits:
    found = np.flatnonzero(rows >= 0)
    return Hits(rows[found].tolist(), [_finite(each) for each in scores[found].tolist()])


def _finite(number: float) -> Any:
    return number if isfinite(number) else None
