"""Routes of the API: what all endpoints share, and the encoding of their responses."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from functools import wraps
from operator import attrgetter
from typing import Annotated, Any
from urllib.parse import parse_qsl

from fastapi import APIRouter, Depends, Query
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from graphrefine.explore.request_params import NoParams
from graphrefine.explore.responses import REFUSALS, json_response
from graphrefine.explore.session import Session

MAX_ECHO = 80  # characters of a refused value that an error repeats

PageHandler = Callable[[Request], Awaitable[Response]]


async def get_session(request: Request) -> Session:
    """Return the session that answers: each request keeps to the one that it began with."""
    session: Session = request.app.state.session
    return session


CurrentSession = Annotated[Session, Depends(get_session)]


async def refuse_query(query: Annotated[NoParams, Query()]) -> None:
    """Refuse parameters of an endpoint that has none, rather than ignore them."""


NO_QUERY = [Depends(refuse_query)]


async def check_query(request: Request) -> None:
    """Raise HTTPException for a query that Starlette would read as something else."""
    # It takes the last of two values with one name, and reads bytes that are not UTF-8 as replacement signs.
    query = request.scope["query_string"].decode("latin-1")
    try:
        names = [name for name, _ in parse_qsl(query, keep_blank_values=True, errors="strict")]
    except UnicodeDecodeError:
        raise HTTPException(400, "the query is not UTF-8; a node with such a name can be asked for by row") from None
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise HTTPException(400, f"{shorten_value(twice)} is given twice; give it once, or several nodes by POST")


class JsonRoute(APIRoute):
    """A route whose handler returns the content of its response, or a Response.

    The content becomes JSON here, and FastAPI passes the response through: it would check every neighbor of a batch
    against the type that the handler returns (mypy did), and it cannot encode names with halves of surrogate pairs.
    """

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        @wraps(endpoint)
        async def respond(**arguments: Any) -> Response:
            content = await endpoint(**arguments)
            return content if isinstance(content, Response) else json_response(content)

        respond.__signature__ = inspect.signature(endpoint, eval_str=True)  # type: ignore[attr-defined]
        super().__init__(path, respond, **options)


def make_router() -> APIRouter:
    """Make a router of the API, to which endpoints are added."""
    return APIRouter(
        route_class=JsonRoute,
        dependencies=[Depends(check_query)],
        responses=REFUSALS,
        generate_unique_id_function=attrgetter("name"),
    )


def shorten_value(value: Any) -> str:
    """Return a value as an error shows it: of limited length."""
    text = repr(value) if isinstance(value, str | int | float | None) else f"a {type(value).__name__}"
    return text if len(text) <= MAX_ECHO else text[:MAX_ECHO] + "..."
