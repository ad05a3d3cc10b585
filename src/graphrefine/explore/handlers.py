"""Handlers of requests: one function for each endpoint, and the files of the page.

A new endpoint is a function here, with a model of `request_params` and a type of `responses`. Coordinates, columns and
images are raw bytes, which are sent in parts, without a copy of the whole, and only to clients that do not have them.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated, Any, TypeVar, cast

from fastapi import Query
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from graphrefine import __version__
from graphrefine.errors import InputError
from graphrefine.explore import request_params, responses
from graphrefine.explore.background import Task
from graphrefine.explore.columns import as_bytes
from graphrefine.explore.matched_graph import MatchedGraph
from graphrefine.explore.neighbor_search import Hits, SearchOptions, finite
from graphrefine.explore.routes import NO_QUERY, CurrentSession, PageHandler, make_router
from graphrefine.explore.session import Session
from graphrefine.graph.lookup import SIDES
from graphrefine.search.scores import SCORES
from graphrefine.search.vectors import STATE_FORMATS

PATIENCE = 5.0  # seconds to wait for a map or column that is being made
# Bytes sent at a time. uvicorn waits between them for a slow client; what it is given at once, it copies at once.
CHUNK = 1 << 18
BYTES, PNG = "application/octet-stream", "image/png"
PAGE = Path(__file__).parent / "page"
PAGE_TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".txt": "text/plain"}
# For work of more than a moment. Two: one long request does not hold up all others, and many do not take every core
# from the search for neighbors, which has its own thread.
_THREADS = ThreadPoolExecutor(2, "handlers")
_Value = TypeVar("_Value")

router = make_router()


async def _run_in_thread(work: Callable[..., _Value], *arguments: Any) -> _Value:
    """Run work in a thread, so that other requests are answered meanwhile."""
    return await asyncio.get_running_loop().run_in_executor(_THREADS, work, *arguments)


@router.get("/healthz", dependencies=NO_QUERY)
async def get_health() -> responses.Health:
    """Return the state of the server; needs no token."""
    return {"status": "ok"}


@router.get("/api/info", dependencies=NO_QUERY)
async def get_info(session: CurrentSession) -> responses.Info:
    """Describe the embedding, its recipe, and the requests that it answers."""
    embedding, labels, graph = session.embedding, session.labels, session.graph
    return {
        "name": session.name,
        "nodes": len(embedding),
        "dim": embedding.dim,
        "version": __version__,
        "recipe": embedding.recipe,
        "method": embedding.recipe.get("method"),
        "named": session.named,
        "graph": None if graph is None else graph.describe(),
        "labels": None if labels is None else {"classes": len(labels.classes), "labeled": labels.labeled},
        "layouts": [_state(task) for task in session.layouts.values()],
        "layout": session.best_layout,
        "columns": [_column(task) for task in session.columns.values()],
        "scores": [_quality(task) for task in session.quality],
        "search": session.search.kind("cosine"),
        "score_names": [score for score in SCORES if score != "link" or not session.embedding.is_bare],
        "score": embedding.score_name,
        "limits": request_params.LIMITS,
        "sides": embedding.sides.kind,
    }


@router.get("/api/nodes")
async def get_nodes(session: CurrentSession, params: Annotated[request_params.NodeList, Query()]) -> responses.Nodes:
    """List nodes whose names begin with a text, and then those that contain it; all nodes without a text; or one node.

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


@router.post("/api/nodes", dependencies=NO_QUERY)
async def post_nodes(session: CurrentSession, params: request_params.NodeBatch) -> responses.Nodes:
    """List several nodes by their names or rows."""
    return {"nodes": [session.node(row) for row in _rows(session, params)]}


@router.get("/api/neighbors")
async def get_neighbors(
    session: CurrentSession, params: Annotated[request_params.NeighborQuery, Query()]
) -> responses.Neighbors:
    """Find the nodes nearest to one."""
    return await _neighbors(session, params, [_row(session, params)], by_row=True)


@router.post("/api/neighbors", dependencies=NO_QUERY)
async def post_neighbors(session: CurrentSession, params: request_params.NeighborBatch) -> responses.Neighbors:
    """Find the nodes nearest to each of several nodes or vectors."""
    if params.vectors is not None:
        dim = session.embedding.dim
        if any(len(vector) != dim for vector in params.vectors):
            raise InputError(f"vectors of {dim} numbers are expected", argument="vectors")
        return await _neighbors(session, params, params.vectors, by_row=False)
    return await _neighbors(session, params, _rows(session, params), by_row=True)


async def _neighbors(
    session: Session, params: request_params.Search, queries: list[Any], *, by_row: bool
) -> responses.Neighbors:
    labels = session.labels
    if params.label is not None and (labels is None or params.label not in labels):
        sample = "" if labels is None else f", such as {labels.classes[0]!r}"
        raise HTTPException(404, f"no node has the label {params.label[:80]!r}; labels come from --labels{sample}")
    if params.exclude_linked:
        _graph(session)
    if params.score == "link" and session.embedding.is_bare:
        problem = "the file that is served has no degrees, and does not say whether edges have a direction or two sides"
        raise HTTPException(400, f"score=link: {problem}; {', '.join(STATE_FORMATS)} files do; or take score=cosine")
    options = SearchOptions(params.score, params.k, params.label, params.exclude_linked, by_row)
    hits = await session.search.batcher.find(options, queries)
    results = [_result(session, query if by_row else None, each) for query, each in zip(queries, hits, strict=True)]
    return {"results": results, "score": params.score, "search": session.search.kind(params.score)}


def _result(session: Session, row: int | None, hits: Hits) -> responses.NeighborResult:
    """Return the neighbors of a row, or of a vector."""
    neighbors = zip(hits.rows, hits.scores, strict=True)
    result: responses.NeighborResult = {"node": None, "row": None, "neighbors": []}
    if row is not None:
        node = session.node(row)
        result = {"node": node["node"], "row": row, "side": node["side"], "neighbors": []}
    result["neighbors"] = [{**session.node(each), "score": score} for each, score in neighbors]
    return result


@router.get("/api/ego")
async def get_ego(session: CurrentSession, params: Annotated[request_params.EgoQuery, Query()]) -> responses.EgoNetwork:
    """Return a node, its neighbors in the graph, and the edges among them."""
    graph, row = _graph(session), _row(session, params)
    ego = await _run_in_thread(lambda: graph.ego(row, limit=params.limit))
    return {"nodes": [session.node(each) for each in ego.rows], "edges": ego.edges, "of": ego.of}


@router.get("/api/score")
async def get_score(session: CurrentSession, params: Annotated[request_params.PairQuery, Query()]) -> responses.Scores:
    """Return the score of an edge; of directed and bipartite graphs, from u to v."""
    return await _scores(session, [[params.u, params.v]])


@router.post("/api/score", dependencies=NO_QUERY)
async def post_score(session: CurrentSession, params: request_params.PairBatch) -> responses.Scores:
    """Return the scores of several edges."""
    return await _scores(session, params.pairs)


async def _scores(session: Session, pairs: list[list[str | int]]) -> responses.Scores:
    embedding = session.embedding
    has_two_sides = embedding.sides.kind == "rows"
    for side, names in zip(SIDES, zip(*pairs, strict=True), strict=True):
        for name in names:
            session.find_row(name, side if has_two_sides else None)
    u, v = (list(map(session.parse_name, names)) for names in zip(*pairs, strict=True))
    scores = await _run_in_thread(lambda: embedding.score(u, v))
    return {"score": embedding.score_name, "scores": [finite(each) for each in scores.tolist()]}


def _graph(session: Session) -> MatchedGraph:
    if session.graph is None:
        raise HTTPException(404, "without a graph no links are known; start graphrefine explore with --graph")
    return session.graph


def _row(session: Session, params: request_params.NodeChoice) -> int:
    if params.row is not None:
        return session.check_row(params.row)
    return session.find_row(params.node, params.side)


def _rows(session: Session, params: request_params.NodeBatch | request_params.NeighborBatch) -> list[int]:
    if params.rows is not None:
        return [session.check_row(row) for row in params.rows]
    return [session.find_row(name, params.side) for name in params.nodes or ()]


def _state(task: Task) -> responses.TaskState:
    return {"name": task.name, "state": task.state, "error": task.error}


def _quality(task: Task) -> responses.QualityScore:
    score = task.value or {"value": None, "note": None}
    return {**_state(task), "value": score["value"], "note": score["note"]}


def _column(task: Task) -> responses.Column:
    facts: dict[str, Any] = {"kind": "category", "categories": []}  # of a column that is being made
    if task.state == "ready":
        facts = {"kind": task.value.kind, **task.value.describe()}
    return cast(responses.Column, {**_state(task), **facts})


class Blob:
    """Bytes of a media type that do not change, with a tag that tells them from others."""

    def __init__(self, content: bytes | memoryview, media_type: str) -> None:
        self._content, self._media_type = memoryview(content), media_type
        self._etag = f'"{zlib.crc32(content):08x}-{len(content):x}"'

    async def respond(self, request: Request) -> Response:
        """Return the bytes, or 304 for a client that has them."""
        headers = {"etag": self._etag, "cache-control": "no-cache"}
        if self._etag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        headers["content-length"] = str(len(self._content))
        return StreamingResponse(self._parts(), headers=headers, media_type=self._media_type)

    async def _parts(self) -> AsyncIterator[bytes]:
        for start in range(0, len(self._content), CHUNK):
            yield bytes(self._content[start : start + CHUNK])


def _raw_route(media_type: str) -> dict[str, Any]:
    """Return the options of a route that sends bytes of a media type."""
    described: responses.Responses = {
        200: {"description": "The bytes.", "content": {media_type: {}}},
        304: {"description": "The bytes that the client has are current."},
    }
    return {"responses": described, "response_class": Response}


@router.get("/api/coordinates", **_raw_route(BYTES))
async def get_coordinates(
    request: Request, session: CurrentSession, params: Annotated[request_params.LayoutQuery, Query()]
) -> Response:
    """Return the coordinates of nodes on the map: x and y of each row, little-endian float32 from -1 to 1."""
    task = session.layouts[params.layout or session.best_layout]
    await _wait_for(task, f"the layout {task.name}")
    return await _respond(request, session, ("layout", task.name), lambda: as_bytes(task.value, "<f4"))


@router.get("/api/columns/{name:path}", dependencies=NO_QUERY, **_raw_route(BYTES))
async def get_column(request: Request, session: CurrentSession, name: str) -> Response:
    """Return a column to color by: one value for each row, little-endian.

    uint16 codes of categories (65535: none) or float32 (NaN: none); `/api/info` has the kind of each column.
    """
    task = session.columns.get(name)
    if task is None:
        raise HTTPException(404, f"there is no such column; there are: {', '.join(session.columns) or 'none'}")
    await _wait_for(task, f"the column {name}")
    return await _respond(request, session, ("column", name), task.value.raw)


@router.get("/map.png", dependencies=NO_QUERY, **_raw_route(PNG))
async def get_image(request: Request, session: CurrentSession) -> Response:
    """Draw the map as an image."""
    await _wait_for(session.layouts[session.best_layout], "the map")
    return await Blob(await asyncio.to_thread(session.draw), PNG).respond(request)


async def _respond(
    request: Request, session: Session, key: tuple[str, str], content: Callable[[], memoryview]
) -> Response:
    """Return a blob that is made once, in a thread."""
    blobs: dict[tuple[str, str], Blob] = session.blobs
    if key not in blobs:
        blobs[key] = await asyncio.to_thread(lambda: Blob(content(), BYTES))
    return await blobs[key].respond(request)


async def _wait_for(task: Task, name: str) -> None:
    """Wait up to PATIENCE for background work; raise HTTPException if it is not ready then."""
    for _ in range(round(PATIENCE / 0.02)):
        if task.state != "working":
            break
        await asyncio.sleep(0.02)
    if task.state == "working":
        raise HTTPException(503, f"{name} is being made; try again in a second")
    if task.state == "failed":
        raise HTTPException(404, f"{name} could not be made: {task.error}")


def page_handlers(folder: Path = PAGE) -> dict[str, PageHandler]:
    """Return a handler for each file of the page, read now: an address is looked up here, and never becomes a path."""
    pages = {
        f"/{path.relative_to(folder).as_posix()}": Blob(path.read_bytes(), PAGE_TYPES[path.suffix]).respond
        for path in sorted(folder.rglob("*"))
        if path.suffix in PAGE_TYPES
    }
    return {"/": pages.pop("/index.html"), **pages}
