"""Handlers of the requests that are answered in JSON: one function for each endpoint.

A new endpoint is a function here, with a model of `request_params` and a type of `responses`, and a line in `ROUTES`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar, cast

from starlette.exceptions import HTTPException
from starlette.requests import Request

import graphrefine
from graphrefine.embedding.state import STATE_FORMATS
from graphrefine.errors import InputError
from graphrefine.explore import raw_handlers, request_params, responses
from graphrefine.explore.background import Task
from graphrefine.explore.matched_graph import MatchedGraph
from graphrefine.explore.neighbor_search import Hits, SearchOptions, finite
from graphrefine.explore.session import Session
from graphrefine.explore.strict_route import StrictRoute
from graphrefine.search.scores import SCORES

_THREADS = ThreadPoolExecutor(2, "handlers")  # for work of more than a moment, searches of neighbors aside
_Value = TypeVar("_Value")


async def _run_in_thread(work: Callable[..., _Value], *arguments: Any) -> _Value:
    """Do some work in a thread, so that other requests are answered meanwhile."""
    return await asyncio.get_running_loop().run_in_executor(_THREADS, work, *arguments)


async def get_health() -> responses.Health:
    """State of the server; needs no token."""
    return {"status": "ok"}


async def get_document(request: Request, session: Session) -> dict[str, Any]:
    """The API as an OpenAPI document."""
    return await asyncio.to_thread(request.app.state.document, session.facts)


async def get_info(session: Session) -> responses.Info:
    """The embedding, its recipe, and the requests that it answers."""
    embedding, labels, graph = session.embedding, session.labels, session.graph
    return {
        "name": session.name,
        "nodes": len(embedding),
        "dim": embedding.dim,
        "version": graphrefine.__version__,
        "recipe": embedding.recipe,
        "method": embedding.recipe.get("method"),
        "named": session.named,
        "graph": None if graph is None else graph.describe(),
        "labels": None if labels is None else {"classes": len(labels.classes), "labeled": labels.labeled},
        "layouts": [_state(task) for task in session.layouts.values()],
        "layout": session.best_layout,
        "columns": [_column(task) for task in session.columns.values()],
        "scores": [_figure(task) for task in session.figures],
        "search": session.search.kind("cosine"),
        "score_names": [score for score in SCORES if score != "link" or not session.embedding.is_bare],
        "score": embedding.score_name,
        "limits": request_params.LIMITS,
        "sides": embedding.sides.kind,
    }


async def get_nodes(session: Session, params: request_params.NodeList) -> responses.Nodes:
    """Nodes whose names begin with a text, and then those that contain it; all nodes without a text; or one node.

    Upper and lower case are the same. A single node has its values in every column.
    """
    if params.node is not None or params.row is not None:
        row = _row(session, params)
        return {"nodes": [{**session.node(row), "values": session.values(row)}]}
    start, stop, count = params.offset, params.offset + params.limit, len(session.embedding)
    if params.prefix:
        matches = await _run_in_thread(session.autocomplete.find, params.prefix)
        rows, count = matches[start:stop].tolist(), len(matches)
    else:
        rows = list(range(start, min(stop, count)))
    return {"nodes": [session.node(row) for row in rows], "total": count}


async def post_nodes(session: Session, params: request_params.NodeBatch) -> responses.Nodes:
    """Several nodes at once."""
    return {"nodes": [session.node(row) for row in _rows(session, params)]}


async def get_neighbors(session: Session, params: request_params.NeighborQuery) -> responses.Neighbors:
    """The nodes nearest to one."""
    return await _neighbors(session, params, [_row(session, params)], by_row=True)


async def post_neighbors(session: Session, params: request_params.NeighborBatch) -> responses.Neighbors:
    """The nodes nearest to each of several nodes or vectors."""
    if params.vectors is not None:
        return await _neighbors(session, params, params.vectors, by_row=False)
    return await _neighbors(session, params, _rows(session, params), by_row=True)


async def _neighbors(
    session: Session, params: request_params.Search, queries: list[Any], *, by_row: bool
) -> responses.Neighbors:
    labels = session.labels
    if params.label is not None and (labels is None or params.label not in labels):
        sample = "" if labels is None else f", such as {labels.classes[0]!r}"
        raise HTTPException(404, f"no node has the label {params.label[:80]!r}; labels come from --labels{sample}")
    if params.unlinked:
        _graph(session)
    if params.score == "link" and session.embedding.is_bare:
        problem = "the file that is served has no degrees, and does not say whether edges have a direction or two sides"
        raise HTTPException(400, f"score=link: {problem}; {', '.join(STATE_FORMATS)} files do; or take score=cosine")
    options = SearchOptions(params.score, params.k, params.label, params.unlinked, by_row)
    hits = await session.search.batcher.find(options, queries)
    results = [_result(session, query if by_row else None, each) for query, each in zip(queries, hits, strict=True)]
    return {"results": results, "score": params.score, "search": session.search.kind(params.score)}


def _result(session: Session, row: int | None, hits: Hits) -> responses.NeighborResult:
    """The neighbors of a row, or of a vector."""
    neighbors = zip(hits.rows, hits.scores, strict=True)
    result: responses.NeighborResult = {"node": None, "row": None, "neighbors": []}
    if row is not None:
        node = session.node(row)
        result = {"node": node["node"], "row": row, "side": node["side"], "neighbors": []}
    result["neighbors"] = [{**session.node(each), "score": score} for each, score in neighbors]
    return result


async def get_ego(session: Session, params: request_params.EgoQuery) -> responses.EgoNetwork:
    """A node, its neighbors in the graph, and the edges among them."""
    graph, row = _graph(session), _row(session, params)
    ego = await _run_in_thread(lambda: graph.ego(row, limit=params.limit))
    return {"nodes": [session.node(each) for each in ego.rows], "edges": ego.edges, "of": ego.of}


async def get_score(session: Session, params: request_params.PairQuery) -> responses.Scores:
    """Likelihood of an edge; of directed and bipartite graphs, from u to v."""
    return await _scores(session, [[params.u, params.v]])


async def post_score(session: Session, params: request_params.PairBatch) -> responses.Scores:
    """Likelihood of each of several edges."""
    return await _scores(session, params.pairs)


async def _scores(session: Session, pairs: list[list[str | int]]) -> responses.Scores:
    embedding = session.embedding
    sides = ("source", "target") if embedding.sides.kind == "rows" else (None, None)
    first, second = (list(names) for names in zip(*pairs, strict=True))
    for names, side in zip((first, second), sides, strict=True):
        for name in names:
            _find_row(session, name, side)
    scores = await _run_in_thread(lambda: embedding.score(first, second))
    return {"score": embedding.score_name, "scores": [finite(each) for each in scores.tolist()]}


def _graph(session: Session) -> MatchedGraph:
    if session.graph is None:
        raise HTTPException(404, "without a graph no links are known; start graphrefine explore with --graph")
    return session.graph


def _row(session: Session, params: request_params.NodeChoice) -> int:
    return _find_row(session, params.node, params.side) if params.row is None else params.row


def _rows(session: Session, params: request_params.NodeBatch | request_params.NeighborBatch) -> list[int]:
    if params.rows is not None:
        return params.rows
    return [_find_row(session, name, params.side) for name in params.nodes or ()]


def _find_row(session: Session, name: Any, side: Any) -> int:
    try:
        row = session.embedding.lookup.find(name, side)
    except InputError as error:  # a name on both sides
        raise HTTPException(400, str(error)) from None
    if row is None:
        place = f" on the {side} side" if side else ""
        raise HTTPException(
            404, f"no node is called {repr(name)[:80]}{place}; /api/nodes?prefix= finds names by a part"
        )
    return row + (0 if side is None else session.embedding.sides.first(side))


def _state(task: Task) -> responses.TaskState:
    return {"name": task.name, "state": task.state, "error": task.error}


def _figure(task: Task) -> responses.Figure:
    figure = task.value or {"value": None, "note": None}
    return {**_state(task), "value": figure["value"], "note": figure["note"]}


def _column(task: Task) -> responses.Column:
    facts: dict[str, Any] = {"kind": "category", "categories": []}  # of a column that is being made
    if task.state == "ready":
        facts = {"kind": task.value.kind, **task.value.describe()}
    return cast(responses.Column, {**_state(task), **facts})


ROUTES = [
    StrictRoute("GET", "/healthz", get_health),
    StrictRoute("GET", "/api/openapi.json", get_document),
    StrictRoute("GET", "/api/info", get_info),
    StrictRoute("GET", "/api/nodes", get_nodes),
    StrictRoute("POST", "/api/nodes", post_nodes),
    StrictRoute("GET", "/api/neighbors", get_neighbors),
    StrictRoute("POST", "/api/neighbors", post_neighbors),
    StrictRoute("GET", "/api/ego", get_ego),
    StrictRoute("GET", "/api/score", get_score),
    StrictRoute("POST", "/api/score", post_score),
    StrictRoute("GET", "/api/coordinates", raw_handlers.get_coordinates, raw=raw_handlers.BYTES),
    StrictRoute("GET", "/api/columns/{name:path}", raw_handlers.get_column, raw=raw_handlers.BYTES),
    StrictRoute("GET", "/map.png", raw_handlers.get_image, raw=raw_handlers.PNG),
]
