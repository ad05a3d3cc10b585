"""The page and its API as a Starlette application: routes, middleware, and the form of errors."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Match
from starlette.types import ASGIApp

from graphrefine.explore import handlers, raw_handlers
from graphrefine.explore.auth import Auth
from graphrefine.explore.limits import Limits
from graphrefine.explore.responses import describe_raw
from graphrefine.explore.session import Session
from graphrefine.explore.strict_route import StrictRoute, json_response

ROUTES = [
    StrictRoute("GET", "/healthz", handlers.get_health),
    StrictRoute("GET", "/api/openapi.json", handlers.get_document),
    StrictRoute("GET", "/api/info", handlers.get_info),
    StrictRoute("GET", "/api/nodes", handlers.get_nodes),
    StrictRoute("POST", "/api/nodes", handlers.post_nodes),
    StrictRoute("GET", "/api/neighbors", handlers.get_neighbors),
    StrictRoute("POST", "/api/neighbors", handlers.post_neighbors),
    StrictRoute("GET", "/api/ego", handlers.get_ego),
    StrictRoute("GET", "/api/score", handlers.get_score),
    StrictRoute("POST", "/api/score", handlers.post_score),
    StrictRoute("GET", "/api/coordinates", raw_handlers.get_coordinates, responses=describe_raw(raw_handlers.BYTES)),
    StrictRoute("GET", "/api/columns/{name:path}", raw_handlers.get_column, responses=describe_raw(raw_handlers.BYTES)),
    StrictRoute("GET", "/map.png", raw_handlers.get_image, responses=describe_raw(raw_handlers.PNG)),
]


def make_app(
    session: Session, *, token: str | None = None, hosts: Iterable[str] = (), any_address: bool = False
) -> Starlette:
    """Make the application: of a session, whose background work the caller starts, for requests that `Auth` allows."""
    app = Starlette(exception_handlers={HTTPException: _send_error, ClientDisconnect: _send_disconnect})
    app.router.redirect_slashes = False
    app.router.routes += ROUTES
    app.state.session = session
    app.state.blobs = {}
    app.state.document = cache(lambda: _make_document(has_token=token is not None))
    for path, handler in raw_handlers.page_handlers().items():
        app.add_route(path, handler, methods=["GET"])
    app.add_middleware(Limits, refuse=_refuse)
    app.add_middleware(Auth, refuse=_refuse, hosts=hosts, any_address=any_address, token=token)
    return app


def _make_document(*, has_token: bool) -> dict[str, Any]:
    from graphrefine.explore.api_document import make_document  # FastAPI is slow to load

    return make_document(ROUTES, has_token=has_token)


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
    return sorted({method for route in matching for method in route.methods})


async def _send_disconnect(request: Request, error: Any) -> Response:
    return json_response({"error": "the client has left"}, 400)
