"""Strict reading of requests: routes that refuse what others would ignore or read without a limit.

A parameter that is unknown or sent twice, a query that is not UTF-8, a body that is not JSON by the letter (a name
twice, NaN), is too long or takes too long: each is an error that names the way out.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from typing import Any, get_type_hints
from urllib.parse import unquote_to_bytes

from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from graphrefine.explore.limits import BODY_SECONDS
from graphrefine.explore.param_types import FACTS, QueryText
from graphrefine.explore.request_params import BODY, Params, cut
from graphrefine.explore.responses import BODY_REFUSALS, Responses, describe_raw, json_response

FIELDS = 32  # parameters of a query

Handler = Callable[..., Coroutine[Any, Any, Any]]


class StrictRoute(Route):
    """A route whose handler gives JSON content or a Response.

    It gets the parts of the path and, if it names them, `request`, `session` and `params`: a model of `request_params`,
    of the query of a GET, of the body of a POST. `api_document` describes it, and the type that the handler returns:
    JSON, or `raw` bytes of a media type; and `refusals` of its own.
    """

    def __init__(
        self, method: str, path: str, handler: Handler, *, raw: str | None = None, refusals: Responses | None = None
    ) -> None:
        hints = get_type_hints(handler)
        model: type[Params] | None = hints.get("params")
        in_body = method == "POST"

        async def respond(request: Request) -> Response:
            around = {"request": request, "session": request.app.state.session}
            FACTS.set(around["session"].facts)
            values: dict[str, Any] = read_query(request.scope["query_string"])
            (Params if in_body or model is None else model).check_names(values)
            arguments = {**request.path_params, **{name: each for name, each in around.items() if name in hints}}
            if model is not None:
                if in_body:
                    values = await read_body(request, model)
                arguments["params"] = check_values(model, values)
            content = await handler(**arguments)
            return content if isinstance(content, Response) else json_response(content)

        super().__init__(path, respond, methods=[method])
        self.handler, self.method = handler, method
        self.responses = {**(describe_raw(raw) if raw else BODY_REFUSALS if in_body else {}), **(refusals or {})}


def check_values(model: type[Params], values: dict[str, Any]) -> Params:
    """The parameters, or HTTPException with the first value that is not of its type, and the expectation."""
    try:
        return model.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        raise HTTPException(400, f"{first['loc'][0]}={cut(first['input'])}: {first['ctx']['error']}") from None


def read_query(query: bytes) -> dict[str, Any]:
    """The values of a query string by their names.

    Examples
    --------
    >>> read_query(b"node=ada%20l&k=3")
    {'node': 'ada l', 'k': '3'}
    """
    parts = query.split(b"&") if query else []
    if len(parts) > FIELDS:
        raise HTTPException(400, f"more than {FIELDS} parameters")
    values: dict[str, Any] = {}
    for part in parts:
        name, _, value = (_decode(text) for text in part.partition(b"="))
        if name in values:
            raise HTTPException(400, f"{cut(name)} is given twice; give it once, or several nodes by POST")
        values[name] = QueryText(value)
    return values


def _decode(text: bytes) -> str:
    try:
        return unquote_to_bytes(text.replace(b"+", b" ")).decode()
    except UnicodeDecodeError:
        raise HTTPException(400, "the query is not UTF-8; a node with such a name can be asked for by row") from None


async def read_body(request: Request, model: type[Params]) -> dict[str, Any]:
    """The values of a JSON object by their names."""
    body = await _receive_body(request)
    try:
        values = json.loads(body.decode(), object_pairs_hook=_distinct, parse_constant=_refuse_constant)
    except RecursionError:
        raise HTTPException(400, "the JSON is nested too deeply") from None
    except ValueError as error:  # invalid UTF-8 and JSON, and integers of thousands of digits
        raise HTTPException(400, f"the body is not JSON: {error}") from None
    if not isinstance(values, dict):
        raise HTTPException(400, f"a JSON object is expected, such as {model.example()}")
    model.check_names(values)
    return values


async def _receive_body(request: Request) -> bytes:
    """The body, if it is JSON and not too long; it is not read beyond that."""
    media_type, _, _ = request.headers.get("content-type", "").partition(";")
    if media_type.strip().lower() != "application/json":
        raise _closing_error(415, "the body must be sent as Content-Type: application/json")
    length = request.headers.get("content-length", "0")
    too_large = _closing_error(413, f"a body of more than {BODY} bytes; ask for less at once")
    if len(length) > len(str(BODY)) or not length.isdecimal() or int(length) > BODY:
        raise too_large
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for part in request.stream():
                body += part
                if len(body) > BODY:
                    raise too_large
    except TimeoutError:
        raise _closing_error(408, f"the body did not arrive within {BODY_SECONDS:g} seconds") from None
    return bytes(body)


def _closing_error(status: int, problem: str) -> HTTPException:
    """An error that leaves a body unread: the connection is of no more use."""
    return HTTPException(status, problem, {"connection": "close"})


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        raise ValueError("a name stands twice in an object")
    return values


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number in JSON")
