"""The page and its API as a FastAPI application: routes, the body of requests, and the form of errors."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fastapi import APIRouter, Depends, FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.security import HTTPBearer
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from graphrefine import __version__
from graphrefine.errors import GraphRefineError, InputError, OutputError, UnknownNameError
from graphrefine.explore import handlers
from graphrefine.explore.auth import Auth
from graphrefine.explore.request_params import BODY
from graphrefine.explore.responses import refuse
from graphrefine.explore.routes import PageHandler, shorten_value
from graphrefine.explore.session import Session

# For a body to arrive. uvicorn has no such limit: a client that sends a byte a minute would hold one of its connections
# for as long as it likes.
BODY_SECONDS = 10.0


def make_app(
    session: Session,
    *,
    token: str | None = None,
    hosts: Iterable[str] = (),
    any_address: bool = False,
    routers: Sequence[APIRouter] = (),
    pages: Mapping[str, PageHandler] | None = None,
) -> FastAPI:
    """Make the application of a session, whose background work the caller starts.

    ``token``, ``hosts`` and ``any_address`` are those of `Auth`; ``routers`` are endpoints in addition to those of
    `handlers`, and ``pages`` the files of another page by their addresses. ``app.state.session`` may be replaced by a
    newer session: a request keeps to the one that it began with.
    """
    app = FastAPI(
        title="graphrefine explore",
        version=__version__,
        description="Nodes, neighbors, scores and maps of one embedding.",
        license_info={"name": "BSD-3-Clause", "identifier": "BSD-3-Clause"},
        openapi_url="/api/openapi.json",
        docs_url=None,  # these pages load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        exception_handlers={
            HTTPException: _send_http_error,
            RequestValidationError: _send_invalid,
            GraphRefineError: _send_library_error,
        },
        # `Auth` checks the token before anything else is done; here it is only described in the document.
        dependencies=[] if token is None else [Depends(HTTPBearer(auto_error=False, scheme_name="token"))],
    )
    app.state.session = session
    for router in (handlers.router, *routers):
        app.include_router(router)
    for path, handler in (handlers.page_handlers() if pages is None else pages).items():
        app.add_route(path, handler, methods=["GET"])
    # The last one added is the first one asked: no body is read before the client may send one.
    app.add_middleware(BodyLimit)
    app.add_middleware(Auth, hosts=hosts, any_address=any_address, token=token)
    return app


class BodyLimit:
    """Takes the whole body of a request before it is answered; refuses one that is too long, too slow or not JSON.

    A page of another site can make a browser post text, but not JSON without asking first, so the type is checked.
    The body of a GET is taken too: uvicorn refuses one that is malformed by itself, and must not find an answer begun.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse to."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        try:
            async with asyncio.timeout(BODY_SECONDS):
                body = await _read_body(Request(scope, receive))
        except (TimeoutError, ClientDisconnect):
            refusal = HTTPException(408, f"the body did not arrive within {BODY_SECONDS:g} seconds")
        except HTTPException as error:
            refusal = error
        else:
            return await self._app(scope, _receive_again(body, receive), send)
        # The rest of the body is left unread: the connection is of no more use.
        return await refuse(refusal.status_code, refusal.detail, {"connection": "close"})(scope, receive, send)


def _receive_again(body: bytes, receive: Receive) -> Receive:
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again() -> Message:
        return messages.pop() if messages else await receive()

    return receive_again


async def _read_body(request: Request) -> bytes:
    """Return the body, which is not read beyond its limit."""
    media_type, _, _ = request.headers.get("content-type", "").partition(";")
    if request.method == "POST" and media_type.strip().lower() != "application/json":
        raise HTTPException(415, "the body must be sent as Content-Type: application/json")
    # A large body is refused by the length that it states, before any of it is read; in chunks, it states none.
    too_large = HTTPException(413, f"a body of more than {BODY} bytes; ask for less at once")
    length = request.headers.get("content-length", "0")
    if not length.isdecimal() or len(length) > len(str(BODY)) or int(length) > BODY:
        raise too_large
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > BODY:
            raise too_large
    return bytes(body)


async def _send_http_error(request: Request, error: Any) -> Response:
    """Send an error of a handler, or one of the router: an unknown address, or a method that an address has not."""
    problem = {
        "Not Found": "there is nothing at this address; see /api/openapi.json",
        "Method Not Allowed": "this address has no such method",
    }.get(error.detail, error.detail)
    return refuse(error.status_code, problem, error.headers)


async def _send_invalid(request: Request, error: Any) -> Response:
    """Send the first problem of the parameters, with the name and the value."""
    first = error.errors()[0]
    where, *path = first["loc"]  # "query" or "body", and the path to the value in it
    problem = str(first["msg"]).removeprefix("Value error, ")
    if first["type"] == "extra_forbidden":
        return refuse(400, f"there is no parameter {shorten_value(path[-1])}; see /api/openapi.json")
    if first["type"] == "value_error" and not path:  # of `Params.check_combination`
        return refuse(400, problem)
    # The steps of a path that are no names are pydantic's own, of the types of a union.
    name = ".".join(str(step) for step in path if isinstance(step, int) or step.isidentifier()) or f"the {where}"
    if first["type"] in ("missing", "json_invalid"):  # their input is not a value, but all that was sent
        return refuse(400, f"{name}: {problem}")
    return refuse(400, f"{name}={shorten_value(first['input'])}: {problem}")


async def _send_library_error(request: Request, error: Any) -> Response:
    """Send an error of the library: a name that no node has, an argument that it refuses, or a disk that fails."""
    kinds = ((UnknownNameError, 404), (InputError, 400), (OutputError, 503))
    status = next((status for kind, status in kinds if isinstance(error, kind)), 500)
    return refuse(status, str(error))
