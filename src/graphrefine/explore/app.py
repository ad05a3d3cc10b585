"""The page and its API as a FastAPI application: routes, middleware, and the form of errors."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from fastapi import FastAPI, Request, Response
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.routing import Match
from starlette.types import ASGIApp

from graphrefine import __version__
from graphrefine.explore.auth import OPEN, Auth
from graphrefine.explore.handlers import router
from graphrefine.explore.limits import Limits
from graphrefine.explore.page_files import File, read_page
from graphrefine.explore.raw_handlers import raw_router
from graphrefine.explore.raw_response import Blob, RawResponse
from graphrefine.explore.session import Session
from graphrefine.explore.strict_route import json_response


def make_app(
    session: Session, *, token: str | None = None, hosts: Iterable[str] = (), any_address: bool = False
) -> FastAPI:
    """Make the application.

    Parameters
    ----------
    session
        The embedding with all that belongs to it; the caller starts its background work.
    token
        The token that requests must send, if any.
    hosts
        Hosts that requests may name, beside those of the loopback.
    any_address
        Whether requests may name any IP address as their Host.
    """
    app = _Application(
        title="graphrefine explore",
        version=__version__,
        description="Nodes, neighbours, scores and maps of one embedding.",
        license_info={"name": "BSD-3-Clause", "identifier": "BSD-3-Clause"},
        openapi_url=None,  # it has a route of its own, and no page that would load code from elsewhere
        redirect_slashes=False,
        exception_handlers={HTTPException: _send_error, ClientDisconnect: _send_disconnect},
    )
    app.state.session = session
    app.state.blobs = {}
    app.state.has_token = token is not None
    app.router.routes += [*router.routes, *raw_router.routes]
    for path, file in read_page().items():
        app.add_route(path, _page_handler(file), methods=["GET"])
    app.add_middleware(Limits, refuse=_refuse)
    app.add_middleware(Auth, refuse=_refuse, hosts=hosts, any_address=any_address, token=token)
    return app


class _Application(FastAPI):
    """FastAPI that answers HEAD as GET, without its body, and describes its errors and its token."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope.get("method") == "HEAD":
            scope = {**scope, "method": "GET"}  # the server, which has the scope as it was, sends no body
        await super().__call__(scope, receive, send)

    def openapi(self) -> dict[str, Any]:
        if self.openapi_schema is None:
            document = super().openapi()
            for path, operations in document["paths"].items():
                for operation in operations.values():
                    operation["responses"].pop("422", None)  # 400 here, in another form
                    if self.state.has_token and path not in OPEN:
                        operation["security"] = [{"token": []}]
            for name in ("HTTPValidationError", "ValidationError"):
                document["components"]["schemas"].pop(name, None)
            if self.state.has_token:
                document["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        return super().openapi()


def _page_handler(file: File) -> Callable[[Request], Awaitable[Response]]:
    blob = Blob.of(file.content)

    async def send_file(request: Request) -> Response:
        return RawResponse(blob, file.media_type)

    return send_file


def _refuse(status: int, problem: str) -> ASGIApp:
    headers = {503: {"retry-after": "1"}, 401: {"www-authenticate": "Bearer"}}.get(status)
    return json_response({"error": problem}, status, headers)


async def _send_error(request: Request, error: Any) -> Response:
    """Send an error of a handler, or one of the router: an unknown address, or a method that an address has not."""
    problem, headers = error.detail, error.headers
    if problem == "Not Found":
        problem = "there is nothing at this address; see /api/openapi.json"
    if error.status_code == 405:
        problem, headers = "this address has no such method", {"allow": ", ".join(_methods(request))}
    return json_response({"error": problem}, error.status_code, headers)


def _methods(request: Request) -> list[str]:
    """The methods of an address, of all its routes."""
    matching = [route for route in request.app.routes if route.matches(request.scope)[0] is not Match.NONE]
    methods = {method for route in matching for method in route.methods}
    return sorted(methods | ({"HEAD"} if "GET" in methods else set()))


async def _send_disconnect(request: Request, error: Any) -> Response:
    return json_response({"error": "the client has left"}, 400)
