"""The page and its API as an application: which address gives which answer, and how it is sent."""

from __future__ import annotations

import asyncio
import json
import zlib
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, NamedTuple

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from graphrefine.explore.answers import Answers
from graphrefine.explore.colouring import as_bytes
from graphrefine.explore.endpoints import BODY, Endpoint, endpoints
from graphrefine.explore.guard import App, Guard
from graphrefine.explore.limits import BODY_SECONDS, Limits
from graphrefine.explore.openapi import document
from graphrefine.explore.page_files import File, read_page
from graphrefine.explore.reading import RequestError, read_body, read_query
from graphrefine.explore.shown import Shown

CHUNK = 1 << 18  # bytes sent at a time, so that a slow reader is waited for
PATIENCE = 5.0  # seconds to wait for a map or column that is being made

Answer = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]


def make_app(
    shown: Shown, *, token: str | None = None, hosts: Iterable[str] = (), any_address: bool = False
) -> Starlette:
    """Make the application.

    Parameters
    ----------
    shown
        What to show; its background work is the caller's to start.
    token
        What requests must have, if anything.
    hosts
        What a Host header may say, beside names of the loopback.
    any_address
        Whether it may be any IP address.
    """
    table = endpoints(shown.facts)
    answers = Answers(shown)
    by_path: dict[str, dict[str, Endpoint]] = {}
    for endpoint in table:
        by_path.setdefault(endpoint.path, {})[endpoint.method] = endpoint
    page = read_page()
    told = _json_bytes(document(table, token=token is not None))
    found = _answers(answers)
    routes = [
        *(_route(path, methods, found) for path, methods in by_path.items() if (path in {p for p, _ in found})),
        Route("/api/openapi.json", lambda request: Response(told, media_type="application/json"), methods=["GET"]),
        Route("/api/coordinates", _coordinates(shown, by_path["/api/coordinates"]["GET"]), methods=["GET"]),
        Route("/api/columns/{name:path}", _column(shown, by_path["/api/columns/{name}"]["GET"]), methods=["GET"]),
        Route("/map.png", _image(shown, by_path["/map.png"]["GET"]), methods=["GET"]),
        *(Route(path, _static(file), methods=["GET"]) for path, file in page.items()),
    ]
    guards = [
        Middleware(Guard, refuse=_refusal, hosts=hosts, any_address=any_address, token=token),
        Middleware(Limits, refuse=_refusal),
    ]
    app = Starlette(
        routes=routes,
        middleware=guards,
        exception_handlers={RequestError: _refused, HTTPException: _not_found, ClientDisconnect: _gone},
    )
    app.router.redirect_slashes = False
    return app


def _answers(answers: Answers) -> dict[tuple[str, str], Answer]:
    return {
        ("/healthz", "GET"): answers.health,
        ("/api/info", "GET"): answers.info,
        ("/api/nodes", "GET"): answers.nodes,
        ("/api/nodes", "POST"): answers.several_nodes,
        ("/api/neighbors", "GET"): answers.neighbors,
        ("/api/neighbors", "POST"): answers.several_neighbors,
        ("/api/score", "GET"): answers.score,
        ("/api/score", "POST"): answers.several_scores,
        ("/api/ego", "GET"): answers.ego,
    }


def _route(path: str, methods: dict[str, Endpoint], answers: dict[tuple[str, str], Answer]) -> Route:
    async def answer(request: Request) -> Response:
        method = "GET" if request.method == "HEAD" else request.method
        endpoint = methods[method]
        if method == "GET":
            asked = read_query(endpoint, request.scope["query_string"])
        else:
            read_query(_WITHOUT, request.scope["query_string"])
            asked = read_body(endpoint, await _body(request))
        return _json(await answers[path, method](asked))

    return Route(path, answer, methods=list(methods))


_WITHOUT = Endpoint("POST", "", "", "")  # a query beside a body: nothing may stand in it


async def _body(request: Request) -> bytes:
    """The body, if it is JSON and not too long; it is not read beyond that."""
    kind, _, _ = request.headers.get("content-type", "").partition(";")
    if kind.strip().lower() != "application/json":
        raise _closing(415, "the body must be sent as Content-Type: application/json")
    stated = request.headers.get("content-length", "0")
    too_large = _closing(413, f"a body of more than {BODY} bytes; ask for less at once")
    if len(stated) > len(str(BODY)) or not stated.isdecimal() or int(stated) > BODY:
        raise too_large
    found = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for part in request.stream():
                found += part
                if len(found) > BODY:
                    raise too_large
    except TimeoutError:
        raise _closing(408, f"the body did not arrive within {BODY_SECONDS:g} seconds") from None
    return bytes(found)


def _closing(status: int, problem: str) -> RequestError:
    """A refusal that leaves a body unread: the connection is of no more use."""
    return RequestError(status, problem, {"connection": "close"})


class Blob(NamedTuple):
    """Bytes to send, and what tells them from others."""

    content: memoryview
    etag: str

    @classmethod
    def of(cls, content: bytes | memoryview) -> Blob:
        """Of bytes that do not change."""
        return cls(memoryview(content), f'"{zlib.crc32(content):08x}-{len(content):x}"')


class Raw(Response):
    """Bytes, sent in parts and only to clients that do not have them yet."""

    def __init__(self, blob: Blob, media_type: str) -> None:
        super().__init__(b"", media_type=media_type)
        self._blob = blob

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Send it."""
        content, etag = self._blob
        same = etag in dict(scope["headers"]).get(b"if-none-match", b"").decode("latin-1")
        headers = [(b"etag", etag.encode()), (b"cache-control", b"no-cache")]
        if not same:
            headers.append((b"content-type", str(self.media_type).encode()))
            headers.append((b"content-length", str(len(content)).encode()))
        await send({"type": "http.response.start", "status": 304 if same else 200, "headers": headers})
        if not same and scope["method"] != "HEAD":
            for lo in range(0, len(content), CHUNK):
                part = bytes(content[lo : lo + CHUNK])
                await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({"type": "http.response.body", "body": b""})


def _coordinates(shown: Shown, endpoint: Endpoint) -> Callable[[Request], Awaitable[Response]]:
    blobs: dict[str, Blob] = {}

    async def answer(request: Request) -> Response:
        asked = read_query(endpoint, request.scope["query_string"])
        task = shown.layouts[asked["layout"] or shown.best_layout]
        await _ready(task, f"the layout {task.name}")
        if task.name not in blobs:
            blobs[task.name] = await asyncio.to_thread(Blob.of, as_bytes(task.value, "<f4"))
        return Raw(blobs[task.name], "application/octet-stream")

    return answer


def _column(shown: Shown, endpoint: Endpoint) -> Callable[[Request], Awaitable[Response]]:
    blobs: dict[str, Blob] = {}

    async def answer(request: Request) -> Response:
        read_query(endpoint, request.scope["query_string"])
        name = request.path_params["name"]
        task = shown.columns.get(name)
        if task is None:
            raise RequestError(404, f"there is no such column; there are: {', '.join(shown.columns) or 'none'}")
        await _ready(task, f"the column {name}")
        if name not in blobs:
            blobs[name] = await asyncio.to_thread(lambda: Blob.of(task.value.raw()))
        return Raw(blobs[name], "application/octet-stream")

    return answer


def _image(shown: Shown, endpoint: Endpoint) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        read_query(endpoint, request.scope["query_string"])
        task = shown.layouts[shown.best_layout]
        await _ready(task, "the map")
        return Raw(Blob.of(await asyncio.to_thread(shown.picture)), "image/png")

    return answer


def _static(file: File) -> Callable[[Request], Awaitable[Response]]:
    blob = Blob.of(file.content)

    async def answer(request: Request) -> Response:
        return Raw(blob, file.media_type)

    return answer


async def _ready(task: Any, what: str) -> None:
    """Wait a little for what is being made."""
    for _ in range(round(PATIENCE / 0.02)):
        if task.state != "working":
            break
        await asyncio.sleep(0.02)
    if task.state == "working":
        raise RequestError(503, f"{what} is being made; try again in a second", {"retry-after": "1"})
    if task.state == "failed":
        raise RequestError(404, f"{what} could not be made: {task.error}")


def _json_bytes(content: Any) -> bytes:
    return json.dumps(content, allow_nan=False, separators=(",", ":")).encode()


def _json(content: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    kept = {"cache-control": "no-store", **(headers or {})}
    return Response(_json_bytes(content), status, kept, media_type="application/json")


def _refusal(status: int, problem: str) -> App:
    headers = {"retry-after": "1"} if status == 503 else {"www-authenticate": "Bearer"} if status == 401 else {}
    return _json({"error": problem}, status, headers)


async def _refused(request: Request, error: Any) -> Response:
    return _json({"error": error.problem}, error.status, error.headers)


async def _not_found(request: Request, error: Any) -> Response:
    """What Starlette itself refuses: an unknown path, or a method that a path does not have."""
    known = {404: "there is nothing at this address; see /api/openapi.json", 405: "this address has no such method"}
    return _json({"error": known.get(error.status_code, error.detail)}, error.status_code, error.headers)


async def _gone(request: Request, error: Any) -> Response:
    return _json({"error": "the client has left"}, 400)
