"""What a request asks for: its query or its body, checked against the table of `endpoints`, or refused."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any
from urllib.parse import unquote_to_bytes

from graphrefine.explore.endpoints import Endpoint
from graphrefine.explore.kinds import Kind

SHOWN = 80  # characters of a refused value that are shown again
FIELDS = 32  # parameters of a query


class RequestError(Exception):
    """A request that is not answered: the status, and what to do about it."""

    def __init__(self, status: int, problem: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(problem)
        self.status, self.problem, self.headers = status, problem, headers


def read_query(endpoint: Endpoint, query: bytes) -> dict[str, Any]:
    """The values of a query string, with defaults for those that are not given.

    Examples
    --------
    >>> from graphrefine.explore.endpoints import Facts, endpoints
    >>> table = endpoints(Facts(9, 2, integers=False, two_sides=False, layouts=("pca",)))
    >>> nearest = next(each for each in table if each.path == "/api/neighbors")
    >>> read_query(nearest, b"node=ada%20l&k=3")["node"]
    'ada l'
    >>> read_query(nearest, b"node=ada&k=0")
    Traceback (most recent call last):
    graphrefine.explore.reading.RequestError: k='0': a whole number from 1 to 1000 is expected
    """
    parts = query.split(b"&") if query else []
    if len(parts) > FIELDS:
        raise RequestError(400, f"more than {FIELDS} parameters")
    given: dict[str, str] = {}
    for part in parts:
        name, _, value = (_decoded(text) for text in part.partition(b"="))
        if name in given:
            raise RequestError(400, f"{_cut(name)} is given twice; give it once, or several nodes by POST")
        given[name] = value
    return _values(endpoint, given, lambda kind, value: kind.from_text(value))


def read_body(endpoint: Endpoint, body: bytes) -> dict[str, Any]:
    """The values of a JSON object, with defaults for those that are not given."""
    try:
        given = json.loads(body.decode(), object_pairs_hook=_distinct, parse_constant=_refuse_constant)
    except RecursionError:
        raise RequestError(400, "the JSON is nested too deeply") from None
    except ValueError as error:  # invalid UTF-8 and JSON, and integers of thousands of digits
        raise RequestError(400, f"the body is not JSON: {error}") from None
    if not isinstance(given, dict):
        raise RequestError(400, f"a JSON object is expected, such as {_example(endpoint)}")
    return _values(endpoint, given, lambda kind, value: kind.from_json(value))


def _decoded(text: bytes) -> str:
    try:
        return unquote_to_bytes(text.replace(b"+", b" ")).decode()
    except UnicodeDecodeError:
        raise RequestError(400, "the query is not UTF-8; a node with such a name can be asked for by row") from None


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name stands twice in an object")
    return found


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number in JSON")


def _example(endpoint: Endpoint) -> str:
    return f'{{"{endpoint.parameters[0].name}": [...]}}'


def _values(endpoint: Endpoint, given: dict[str, Any], read: Any) -> dict[str, Any]:
    _check_names(endpoint, given)
    values: dict[str, Any] = {parameter.name: parameter.default for parameter in endpoint.parameters}
    for parameter in endpoint.parameters:
        if parameter.name in given:
            values[parameter.name] = _read(parameter.name, given[parameter.name], parameter.kind, read)
    return values


def _read(name: str, value: Any, kind: Kind, read: Any) -> Any:
    try:
        return read(kind, value)
    except ValueError as error:
        raise RequestError(400, f"{name}={_cut(value)}: {error}") from None


def _check_names(endpoint: Endpoint, given: Iterable[str]) -> None:
    known = [parameter.name for parameter in endpoint.parameters]
    for name in given:
        if name not in known:
            allowed = f"it can be {', '.join(known)}" if known else "there is none here"
            raise RequestError(400, f"there is no parameter {_cut(name)}; {allowed}")
    for parameter in endpoint.parameters:
        if parameter.required and parameter.name not in given:
            raise RequestError(400, f"{parameter.name} is missing: {parameter.about}")
    if endpoint.one_of and sum(name in given for name in endpoint.one_of) != 1:
        raise RequestError(400, f"exactly one of {', '.join(endpoint.one_of)} is expected")
    for one, other in endpoint.apart:
        if one in given and other in given:
            raise RequestError(400, f"{one} and {other} do not go together; leave one out")
    for one, other in endpoint.needs:
        if one in given and other not in given:
            raise RequestError(400, f"{one} goes with {other} only")


def _cut(value: Any) -> str:
    """A value for people, not longer than it is worth."""
    text = repr(value) if isinstance(value, str | int | float | bool | None) else f"a {type(value).__name__}"
    return text if len(text) <= SHOWN else text[:SHOWN] + "..."
