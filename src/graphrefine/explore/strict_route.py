"""Strict reading of requests: FastAPI's route, which refuses what FastAPI would ignore or read without a limit.

A parameter that is unknown or sent twice, a query that is not UTF-8, a body that is not JSON by the letter (a name
twice, NaN), is too long or takes too long: each is an error that names the way out.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from functools import cached_property, wraps
from typing import Any, get_type_hints
from urllib.parse import unquote_to_bytes

from fastapi import HTTPException, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.datastructures import ImmutableMultiDict

from graphrefine.explore.limits import BODY_SECONDS
from graphrefine.explore.param_types import FACTS, QueryText
from graphrefine.explore.request_params import BODY, Params, cut

FIELDS = 32  # parameters of a query


class StrictRoute(APIRoute):
    """A route whose handler gets `params`, a model of `request_params`, and gives what is sent as JSON, or a Response.

    The type that the handler returns is described in the OpenAPI document, and held by mypy; it is not checked again
    for each answer.
    """

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        self._params: type[Params] = get_type_hints(endpoint).get("params", Params)
        super().__init__(path, _with_json(endpoint), **options)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """FastAPI's handler, which gets a strict request."""
        handle = super().get_route_handler()

        async def handle_strictly(request: Request) -> Response:
            FACTS.set(request.app.state.session.facts)
            strict = StrictRequest(request.scope, request.receive)
            strict.params_model = self._params
            in_body = request.method == "POST"
            (Params if in_body else self._params).check_names(strict.query_params)
            return await handle(strict)

        return handle_strictly


def _with_json(endpoint: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(endpoint)
    async def answer(*arguments: Any, **named: Any) -> Response:
        content = await endpoint(*arguments, **named)
        return content if isinstance(content, Response) else json_response(content)

    return answer


def json_response(content: Any, status: int = 200, headers: Any = None) -> Response:
    """A response in JSON. ASCII, as names of nodes may have characters that UTF-8 has no bytes for."""
    text = json.dumps(content, allow_nan=False, separators=(",", ":"))
    return Response(text.encode(), status, headers, media_type="application/json")


class StrictRequest(Request):
    """A request whose query and body are read strictly."""

    params_model: type[Params] = Params

    @cached_property
    def query_params(self) -> Any:
        """The values of the query string by their names."""
        query: bytes = self.scope["query_string"]
        parts = query.split(b"&") if query else []
        if len(parts) > FIELDS:
            raise HTTPException(400, f"more than {FIELDS} parameters")
        values: dict[str, QueryText] = {}
        for part in parts:
            name, _, value = (_decode(text) for text in part.partition(b"="))
            if name in values:
                raise HTTPException(400, f"{cut(name)} is given twice; give it once, or several nodes by POST")
            values[name] = QueryText(value)
        return ImmutableMultiDict(values)

    async def body(self) -> bytes:
        """The body, if it is JSON and not too long; it is not read beyond that."""
        media_type, _, _ = self.headers.get("content-type", "").partition(";")
        if media_type.strip().lower() != "application/json":
            raise _closing_error(415, "the body must be sent as Content-Type: application/json")
        length = self.headers.get("content-length", "0")
        too_large = _closing_error(413, f"a body of more than {BODY} bytes; ask for less at once")
        if len(length) > len(str(BODY)) or not length.isdecimal() or int(length) > BODY:
            raise too_large
        content = bytearray()
        try:
            async with asyncio.timeout(BODY_SECONDS):
                async for part in self.stream():
                    content += part
                    if len(content) > BODY:
                        raise too_large
        except TimeoutError:
            raise _closing_error(408, f"the body did not arrive within {BODY_SECONDS:g} seconds") from None
        self._values = _parse(bytes(content))
        if not isinstance(self._values, dict):
            raise HTTPException(400, f"a JSON object is expected, such as {self.params_model.example()}")
        self.params_model.check_names(self._values)
        return bytes(content)

    async def json(self) -> Any:
        """The values of the body by their names; `body` has read them."""
        return self._values


def _closing_error(status: int, problem: str) -> HTTPException:
    """An error that leaves a body unread: the connection is of no more use."""
    return HTTPException(status, problem, {"connection": "close"})


def _decode(text: bytes) -> str:
    try:
        return unquote_to_bytes(text.replace(b"+", b" ")).decode()
    except UnicodeDecodeError:
        raise HTTPException(400, "the query is not UTF-8; a node with such a name can be asked for by row") from None


def _parse(body: bytes) -> Any:
    try:
        return json.loads(body.decode(), object_pairs_hook=_distinct, parse_constant=_refuse_constant)
    except RecursionError:
        raise HTTPException(400, "the JSON is nested too deeply") from None
    except ValueError as error:  # invalid UTF-8 and JSON, and integers of thousands of digits
        raise HTTPException(400, f"the body is not JSON: {error}") from None


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        raise ValueError("a name stands twice in an object")
    return values


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number in JSON")


def value_problem(error: RequestValidationError) -> str:
    """The first value that is not of its type, and the expectation."""
    first = error.errors()[0]
    expectation = first.get("ctx", {}).get("error", first["msg"])
    return f"{first['loc'][-1]}={cut(first['input'])}: {expectation}"
