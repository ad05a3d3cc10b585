"""The page and its API as a Starlette application: routes, middleware, and the form of errors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Match

from graphrefine.explore.auth import Auth
from graphrefine.explore.handlers import ROUTES
from graphrefine.explore.limits import Limits
from graphrefine.explore.param_types import Facts
from graphrefine.explore.raw_handlers import PageHandler, page_handlers
from graphrefine.explore.responses import refuse
from graphrefine.explore.session import Session
from graphrefine.explore.strict_route import StrictRoute


def make_app(
    session: Session,
    *,
    token: str | None = None,
    hosts: Iterable[str] = (),
    any_address: bool = False,
    routes: Sequence[StrictRoute] = ROUTES,
    pages: Mapping[str, PageHandler] | None = None,
) -> Starlette:
    """Make the application: of a session, whose background work the caller starts, for requests that `Auth` allows.

    ``routes`` are those of the API, and ``pages`` the files of the page by their addresses. `app.state.session` may be
    replaced by a newer one: each request keeps to the one that it began with.
    """
    app = Starlette(exception_handlers={HTTPException: _send_error, ClientDisconnect: _send_disconnect})
    app.router.redirect_slashes = False
    app.router.routes += routes
    app.state.session = session
    app.state.document = _document_maker(routes, has_token=token is not None)
    for path, handler in (page_handlers() if pages is None else pages).items():
        app.add_route(path, handler, methods=["GET"])
    app.add_middleware(Limits)
    app.add_middleware(Auth, hosts=hosts, any_address=any_address, token=token)
    return app


def _document_maker(routes: Sequence[StrictRoute], *, has_token: bool) -> Callable[[Facts], dict[str, Any]]:
    @lru_cache(maxsize=1)
    def make_document(facts: Facts) -> dict[str, Any]:
        """The document for an embedding of these facts, which are those of the request (`param_types.FACTS`)."""
        from graphrefine.explore import api_document  # FastAPI is slow to load

        return api_document.make_document(routes, has_token=has_token)

    return make_document


async def _send_error(request: Request, error: Any) -> Response:
    """Send an error of a handler, or one of the router: an unknown address, or a method that an address has not."""
    problem, headers = error.detail, error.headers
    if problem == "Not Found":
        problem = "there is nothing at this address; see /api/openapi.json"
    if error.status_code == 405:
        problem, headers = "this address has no such method", {"allow": ", ".join(_methods(request))}
    return refuse(error.status_code, problem, headers)


def _methods(request: Request) -> list[str]:
    """The methods of an address, of all its routes."""
    matching = [route for route in request.app.routes if route.matches(request.scope)[0] is not Match.NONE]
    return sorted({method for route in matching for method in route.methods})


async def _send_disconnect(request: Request, error: Any) -> Response:
    return refuse(400, "the client has left")
